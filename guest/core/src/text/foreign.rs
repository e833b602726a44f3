//! The words of others as parts of our own text: of a model, a client, a job or a configuration.

use super::hidden::revealed;
use super::shorten::shorten;
use crate::limits::ECHOED_CHARS;

/// What stands before each line of others that stands between lines of our own.
pub(crate) const INSET: &str = "    ";

/// A text of others which goes on a line of ours. Lines behind its first one are indented, so that none of them can look
/// like what we say.
pub(crate) fn indented(text: &str) -> String {
    text.replace('\n', &format!("\n{INSET}"))
}

/// A text of others on one line, of at most this many characters, with what is hidden in it.
pub(crate) fn in_one_line(text: &str, limit: usize) -> String {
    shorten(&revealed(text), limit)
}

/// A text of others that is longer than so many characters, without its middle, as either end may be what matters.
pub(crate) fn middle_left_out(text: &str, limit: usize) -> String {
    match Ends::of(text, limit) {
        None => text.to_owned(),
        Some(Ends { head, note, tail }) => format!("{head} {note} {tail}"),
    }
}

/// The ends of a text that is too long.
pub(crate) struct Ends {
    /// Its beginning, three quarters of what is shown.
    pub(crate) head: String,
    /// How much is left out.
    pub(crate) note: String,
    /// Its end.
    pub(crate) tail: String,
}

impl Ends {
    /// Those of a text that has more than so many characters.
    pub(crate) fn of(text: &str, limit: usize) -> Option<Self> {
        let count = text.chars().count();
        let (head, tail) = (limit * 3 / 4, limit / 4);
        let left_out = count.checked_sub(head + tail).filter(|_| count > limit)?;
        Some(Self {
            head: text.chars().take(head).collect(),
            note: format!("[… {left_out} characters are not shown …]"),
            tail: text.chars().skip(count - tail).collect(),
        })
    }
}

/// A text of others, whose lines stay, with what is hidden in it.
pub(crate) fn revealed_lines(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(revealed).collect();
    lines.join("\n")
}

/// A client's own words as an error repeats them to it.
pub(crate) fn echoed(words: &str) -> String {
    in_one_line(words, ECHOED_CHARS)
}

#[cfg(test)]
mod tests {
    use super::{ECHOED_CHARS, echoed, indented, middle_left_out, revealed_lines};

    #[test]
    fn no_line_of_others_begins_where_ours_do() {
        let shown = |text| indented(&revealed_lines(text));
        assert_eq!(shown("a"), "a");
        assert_eq!(shown("a\n\nb\r\n"), "a\n    \n    b\\u000d\n    ");
        assert_eq!(shown("a\u{2028}b\u{85}c"), "a\\u2028b\\u0085c");
    }

    #[test]
    fn of_what_is_long_both_ends_are_shown_and_how_much_is_not() {
        assert_eq!(middle_left_out("äöüß", 4), "äöüß");
        let shown = middle_left_out("äöüß56789", 4);
        assert_eq!(shown, "äöü [… 5 characters are not shown …] 9");
    }

    #[test]
    fn words_are_repeated_in_one_short_line() {
        assert_eq!(echoed("a\n\u{202e}b"), "a\\u000a\\u202eb");
        assert_eq!(echoed(&"x".repeat(1_000)).chars().count(), ECHOED_CHARS);
    }
}
