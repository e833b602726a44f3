//! One index entry: where a run of bytes ends, when it began, and which stream it came from.

use super::super::model::Stream;

/// The size of an entry on disk, in bytes.
pub(super) const ENTRY_BYTES: u64 = 16;

/// A run of bytes of one stream, which begins where the entry before it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The offset, in the whole output, after its last byte.
    pub(super) end: u64,
    /// When its first byte was seen, in milliseconds since 1970; below 2^63.
    pub(super) at: u64,
    /// Which stream.
    pub(super) stream: Stream,
}

impl Entry {
    /// The form on disk: two little-endian numbers, the time shifted by one with the stream below it.
    pub(super) fn encode(self) -> [u8; 16] {
        let stream = match self.stream {
            Stream::Stdout => 0,
            Stream::Stderr => 1,
        };
        let packed = self.at << 1 | stream;
        (u128::from(packed) << 64 | u128::from(self.end)).to_le_bytes()
    }

    /// The opposite of [`Entry::encode`]; every 16 bytes are an entry.
    pub(super) fn decode(bytes: [u8; 16]) -> Self {
        let number = u128::from_le_bytes(bytes);
        let end = (number & u128::from(u64::MAX)) as u64;
        let packed = (number >> 64) as u64;
        let stream = if packed & 1 == 0 {
            Stream::Stdout
        } else {
            Stream::Stderr
        };
        Self {
            end,
            at: packed >> 1,
            stream,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_read_as_it_was_written() {
        for stream in [Stream::Stdout, Stream::Stderr] {
            for end in [0, 1, 255, 1 << 40, u64::MAX] {
                for at in [0, 1, 1_790_000_000_000, (1 << 63) - 1] {
                    let entry = Entry { end, at, stream };
                    assert_eq!(Entry::decode(entry.encode()), entry);
                }
            }
        }
    }
}
