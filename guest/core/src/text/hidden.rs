//! Characters that nobody sees, and that change how those around them are read.

/// Whether a character is a control or format character, or separates lines or paragraphs: with them a text can
/// look like another one, run backwards, or break out of its line.
///
/// *Source:* Unicode 17, `DerivedGeneralCategory.txt`: Cc, Cf, Zl and Zp.
pub(crate) fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{600}'..='\u{605}'
                | '\u{61c}'
                | '\u{6dd}'
                | '\u{70f}'
                | '\u{890}'..='\u{891}'
                | '\u{8e2}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                // 2065 is not assigned yet, and reserved for one more of them.
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{110bd}'
                | '\u{110cd}'
                | '\u{13430}'..='\u{1343f}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0001}'
                | '\u{e0020}'..='\u{e007f}'
        )
}

/// The text without its hidden characters. A joiner between two characters that show stays, as it is seen by what it
/// makes of them: one picture of a family, or two Persian letters that do not join.
pub(crate) fn visible(text: &str) -> String {
    let kept: Vec<char> = text
        .chars()
        .filter(|character| is_joiner(*character) || !is_hidden(*character))
        .collect();
    let shows = |index: usize| {
        let character = kept.get(index).copied();
        character.is_some_and(|character| !is_joiner(character) && !character.is_whitespace())
    };
    let is_seen = |index: usize| index > 0 && shows(index - 1) && shows(index + 1);
    let seen = kept
        .iter()
        .enumerate()
        .filter(|(index, character)| !is_joiner(**character) || is_seen(*index));
    seen.map(|(_, character)| character).collect()
}

/// A text of several lines without their hidden characters.
pub(crate) fn visible_lines(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(visible).collect();
    lines.join("\n")
}

/// Whether a character decides whether those beside it join to one form.
///
/// *Source:* Unicode 17, chapter 23, Special Areas and Format Characters, Cursive Connection and Ligatures.
fn is_joiner(character: char) -> bool {
    matches!(character, '\u{200c}' | '\u{200d}')
}

/// The text with every hidden character written as JSON escapes it, so that a reader sees that it is there.
pub(crate) fn revealed(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_hidden(character) {
            let units = character.encode_utf16(&mut [0; 2]).to_vec();
            shown.extend(units.iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            shown.push(character);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::{is_hidden, revealed, visible};

    #[test]
    fn control_and_format_characters_and_separators_are_hidden() {
        for character in "\0\n\t\x1b\x7f\u{85}\u{9b}\u{ad}\u{61c}\u{180e}\u{200b}\u{200d}\u{200f}\u{2028}\u{2029}\
            \u{202a}\u{202e}\u{2060}\u{2066}\u{2069}\u{feff}\u{fff9}\u{e0001}\u{e0041}"
            .chars()
        {
            assert!(is_hidden(character), "{character:?}");
        }
    }

    #[test]
    fn what_shows_or_is_a_space_is_not_hidden() {
        for character in " ~\u{a0}äß…٠ا漢\u{301}\u{2003}\u{202f}\u{205f}\u{3000}\u{fe0f}😀".chars()
        {
            assert!(!is_hidden(character), "{character:?}");
        }
    }

    #[test]
    fn a_joiner_is_visible_between_what_shows_and_nowhere_else() {
        let family = "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}";
        let persian = "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}";
        for text in [family, persian, "\u{2764}\u{fe0f}\u{200d}\u{1f525}", "a b"] {
            assert_eq!(visible(text), text);
        }
        for (text, expect) in [
            ("\u{200d}", ""),
            ("\u{200c}a\u{200d}", "a"),
            ("a \u{200d}b", "a b"),
            ("a\u{200d}\u{200d}b", "ab"),
            ("a\u{200b}b\u{202e}", "ab"),
            ("a\u{200b}\u{200d}b", "a\u{200d}b"),
        ] {
            assert_eq!(visible(text), expect, "{text:?}");
        }
    }

    #[test]
    fn hidden_characters_are_shown_as_json_escapes_them() {
        assert_eq!(revealed("a\u{202e}b\n"), "a\\u202eb\\u000a");
        assert_eq!(revealed("\u{e0041}"), "\\udb40\\udc41");
        assert_eq!(revealed("äß …"), "äß …");
    }
}
