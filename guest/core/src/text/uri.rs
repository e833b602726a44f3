//! Names of resources.

/// Whether a text can be the scheme of a URI.
///
/// *Source:* RFC 3986, Scheme.
pub(crate) fn is_scheme(text: &str) -> bool {
    let is_allowed = |it: char| it.is_ascii_alphanumeric() || "+-.".contains(it);
    text.starts_with(|first: char| first.is_ascii_alphabetic()) && text.chars().all(is_allowed)
}
