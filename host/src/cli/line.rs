//! Words of others in one line, and the beginning of long ones. Pure.

/// A text in one line, in which nothing moves the cursor: others wrote it, and it may contain anything.
pub(super) fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
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
    fn only_what_is_too_long_is_shortened() {
        assert_eq!(shortened("äöü", 3), "äöü");
        assert_eq!(shortened("äöüß", 3), "äöü…");
    }
}
