//! Words of others in one line, and the beginning of long ones. Pure.

/// A text in one line, in which nothing moves the cursor: others wrote it, and it may contain anything.
pub(super) fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// A text of several lines without the characters that nobody sees, which may make it look like another one: what the
/// server sends has none of them.
pub(super) fn visible(text: &str) -> String {
    let shows = |it: char| match it {
        '\n' => Some(it),
        it if it.is_whitespace() => Some(' '),
        it if is_printable(it) => Some(it),
        _ => None,
    };
    text.chars().filter_map(shows).collect()
}

/// Whether the standard library would write it as it is where a person is to see what is there.
fn is_printable(character: char) -> bool {
    // A mark that stands on a letter shows behind one only.
    let behind_another = format!("a{character}");
    matches!(character, '\\' | '"' | '\'')
        || behind_another.escape_debug().eq(behind_another.chars())
}

/// A text, or its beginning of so many characters where it is longer.
pub(super) fn shortened(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_no_control_characters() {
        assert_eq!(one_line("Sure?\n\u{1b}[2J"), "Sure?  [2J");
    }

    #[test]
    fn what_nobody_sees_is_left_out() {
        let text =
            "a\u{202e}b\u{200b}c\u{2066}\u{feff}\u{e0041}\u{ad}\u{61c}\u{1b}d\u{2028}\u{a0}e\nf";
        assert_eq!(visible(text), "abcd  e\nf");
        let text = "Größe e\u{301} \\ \" ' 日本 😀?";
        assert_eq!(visible(text), text);
    }

    #[test]
    fn only_what_is_too_long_is_shortened() {
        assert_eq!(shortened("äöü", 3), "äöü");
        assert_eq!(shortened("äöüß", 3), "äöü…");
    }
}
