//! Bytes as the text that JSON can carry.
//!
//! *Source:* RFC 4648, section 4: the alphabet, and padding that is always there.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes as base64.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let digit = (bits >> (18 - 6 * place)) & 63;
            text.push(if place <= chunk.len() {
                char::from(ALPHABET[digit as usize])
            } else {
                '='
            });
        }
    }
    text
}

/// Whether a text is base64 that a strict reader takes.
pub(crate) fn is_valid(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = text.trim_end_matches('=').as_bytes();
    let padding = bytes.len() - digits.len();
    let value = |byte: &u8| ALPHABET.iter().position(|digit| digit == byte);
    let unused_bits = match padding {
        0 => 0,
        1 => 0b11,
        2 => 0b1111,
        _ => return false,
    };
    let last_is_clean = match digits.last() {
        None => padding == 0,
        Some(last) => value(last).is_some_and(|value| value & unused_bits == 0),
    };
    bytes.len().is_multiple_of(4)
        && last_is_clean
        && digits.iter().all(|byte| value(byte).is_some())
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
