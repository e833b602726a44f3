//! The words of others as parts of our own text: of a model, a client, a job or a configuration.

use super::hidden::revealed;
use super::shorten::shorten;
use crate::limits::ECHOED_CHARS;

/// What stands before each line of others that stands between lines of our own.
pub(crate) const INSET: &str = "    ";

/// A text of others which goes on a line of ours. Lines behind its first one are set in, so that none of them can look like
/// what we say. What is hidden in it is shown.
pub(crate) fn set_in(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(revealed).collect();
    lines.join(&format!("\n{INSET}"))
}

/// A text of others on one line, of at most this many characters, with what is hidden in it.
pub(crate) fn in_one_line(text: &str, limit: usize) -> String {
    shorten(&revealed(text), limit)
}

/// The beginning and the end of a text of others that is longer than so many characters, as either may be what matters, with
/// how much is left out between them.
pub(crate) fn middle_left_out(text: &str, limit: usize) -> String {
    let count = text.chars().count();
    if count <= limit {
        return text.to_owned();
    }
    let (head, tail) = (limit * 3 / 4, limit / 4);
    let beginning: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(count - tail).collect();
    let left_out = count - head - tail;
    format!("{beginning} [… {left_out} characters are not shown …] {end}")
}

/// A client's own words as an error repeats them to it.
pub(crate) fn echoed(words: &str) -> String {
    in_one_line(words, ECHOED_CHARS)
}

#[cfg(test)]
mod tests {
    use super::{ECHOED_CHARS, echoed, middle_left_out, set_in};

    #[test]
    fn no_line_of_others_begins_where_ours_do() {
        assert_eq!(set_in("a"), "a");
        assert_eq!(set_in("a\n\nb\r\n"), "a\n    \n    b\\u000d\n    ");
        assert_eq!(set_in("a\u{2028}b\u{85}c"), "a\\u2028b\\u0085c");
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
