//! Names of resources.

use std::fmt::Write as _;

/// Whether a text can be the scheme of a URI.
///
/// *Source:* RFC 3986, Scheme.
pub(crate) fn is_scheme(text: &str) -> bool {
    let is_allowed = |it: char| it.is_ascii_alphanumeric() || "+-.".contains(it);
    text.starts_with(|first: char| first.is_ascii_alphabetic()) && text.chars().all(is_allowed)
}

/// A text as a part of the path or of the query of a URI: each byte of it that may mean something else there, or may not
/// stand there, is percent-encoded, and a `%` is one of them. A `/` is left, so that a path stays one.
///
/// *Source:* RFC 3986, Percent-Encoding, Path, and Query.
pub(crate) fn as_path(text: &str) -> String {
    let is_allowed = |it: u8| it.is_ascii_alphanumeric() || b"-._~:@/".contains(&it);
    let mut path = String::with_capacity(text.len());
    for byte in text.bytes() {
        if is_allowed(byte) {
            path.push(char::from(byte));
        } else {
            // Text takes everything.
            let _ = write!(path, "%{byte:02X}");
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_not_stand_in_a_path_is_percent_encoded() {
        assert_eq!(as_path("/a-b_c.d~1/x@2:y"), "/a-b_c.d~1/x@2:y");
        let encoded = "my%20file%3F%23%5B100%25%5D%26x%3D1.txt";
        assert_eq!(as_path("my file?#[100%]&x=1.txt"), encoded);
        assert_eq!(as_path("ä\n"), "%C3%A4%0A");
    }
}
