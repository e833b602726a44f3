//! From bytes that arrive in pieces to characters.

/// Decodes UTF-8 whose characters may be split anywhere.
///
/// What is not UTF-8 becomes one U+FFFD for each maximal piece, as [`String::from_utf8_lossy`] does it.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    /// The beginning of a character whose rest has not come: valid so far, at most three bytes.
    pending: Vec<u8>,
    /// Whether bytes that can only continue a character belong to one whose beginning is not known.
    joins_midway: bool,
}

impl Decoder {
    /// A decoder for bytes that begin somewhere in the middle: the rest of a character at their beginning
    /// is left out, since it was not the job that broke it.
    pub(super) fn midway() -> Self {
        Self {
            pending: Vec::new(),
            joins_midway: true,
        }
    }

    /// Takes one byte, and gives what is certain by it to `emit`: nothing, a character, or replacements.
    pub(super) fn push(&mut self, byte: u8, mut emit: impl FnMut(char)) {
        if std::mem::take(&mut self.joins_midway) && is_continuation(byte) {
            self.joins_midway = true;
            return;
        }
        // Most bytes by far; no need to collect and check them.
        if self.pending.is_empty() && byte.is_ascii() {
            emit(char::from(byte));
            return;
        }
        self.pending.push(byte);
        while !self.pending.is_empty() {
            match str::from_utf8(&self.pending) {
                Ok(text) => {
                    text.chars().for_each(&mut emit);
                    self.pending.clear();
                }
                Err(error) => match error.error_len() {
                    None => return,
                    Some(invalid) => {
                        emit(char::REPLACEMENT_CHARACTER);
                        self.pending.drain(..invalid);
                    }
                },
            }
        }
    }

    /// Says that no more bytes come: an unfinished character will never be one.
    pub(super) fn finish(&mut self, mut emit: impl FnMut(char)) {
        if !self.pending.is_empty() {
            emit(char::REPLACEMENT_CHARACTER);
            self.pending.clear();
        }
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

#[cfg(test)]
mod tests {
    use super::Decoder;
    use crate::text::lcg::Lcg;

    fn decode(mut decoder: Decoder, bytes: &[u8]) -> String {
        let mut text = String::new();
        for &byte in bytes {
            decoder.push(byte, |character| text.push(character));
        }
        decoder.finish(|character| text.push(character));
        text
    }

    #[test]
    fn it_agrees_with_the_standard_library_on_any_bytes() {
        // Bytes from every class that UTF-8 tells apart, so that short inputs reach all of its rules.
        const CLASSES: &[u8] =
            b"a\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0\xc1\xc2\xdf\xe0\xe1\xed\xef\xf0\xf3\xf4\xf5\xff";
        let mut random = Lcg::new(1);
        for _ in 0..20_000 {
            let bytes: Vec<u8> = (0..random.below(9))
                .map(|_| *random.pick(CLASSES))
                .collect();
            let expect = String::from_utf8_lossy(&bytes);
            assert_eq!(decode(Decoder::default(), &bytes), expect, "{bytes:x?}");
        }
    }

    #[test]
    fn a_character_whose_beginning_was_dropped_is_left_out() {
        assert_eq!(decode(Decoder::midway(), b"\x82\xacb\x80"), "b\u{fffd}");
        assert_eq!(decode(Decoder::midway(), "€".as_bytes()), "€");
    }
}
