//! Fits a text into a number of characters.

/// The first `limit` characters, at least 1, of `text`; where there are more, the last one shown is `…`.
pub(crate) fn shorten(text: &str, limit: usize) -> String {
    if text.chars().nth(limit).is_none() {
        return text.to_owned();
    }
    text.chars()
        .take(limit.saturating_sub(1))
        .chain(['…'])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::shorten;

    #[test]
    fn only_what_is_too_long_is_shortened() {
        assert_eq!(shorten("", 3), "");
        assert_eq!(shorten("äöü", 3), "äöü");
        assert_eq!(shorten("äöüß", 3), "äö…");
        assert_eq!(shorten("ab", 1), "…");
    }
}
