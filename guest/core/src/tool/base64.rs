//! Bytes as the text that JSON can carry.
//!
//! *Source:* RFC 4648, section 4: the alphabet, and padding that is always there.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Bytes as base64.
pub(crate) fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Whether a text is base64 that a strict reader takes.
pub(crate) fn is_valid(text: &str) -> bool {
    STANDARD.decode(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::{encode, is_valid};

    #[test]
    fn bytes_become_text() {
        // RFC 4648, section 10.
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert!(is_valid(text), "{text}");
        }
        assert_eq!(encode(&[0xff, 0xfe, 0xfb]), "//77");
    }

    #[test]
    fn other_text_is_not_valid() {
        for text in [
            "Z", "Zg", "Zg=", "Zg===", "====", "=", "Zh==", "Zm9=", "Zm 9v", "Zm9v\n", "Zm9-",
            "Zg==Zg==",
        ] {
            assert!(!is_valid(text), "{text}");
        }
    }
}
