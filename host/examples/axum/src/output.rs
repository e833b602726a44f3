//! What is kept of a job's output: of more than its limit the beginning and the end.
//!
//! **Knows** bytes, streams and offsets. **Does not know** who writes.

use std::collections::VecDeque;

use backburner::jobs::{Fragment, Stream};

/// Less than this is not worth cutting for; a host may keep a kilobyte of each job.
const LIMIT_BYTES_MIN: u64 = 1024;

/// How long a fragment grows before another one begins. Many short lines would take more room than their bytes if each
/// was a fragment, and a long one cannot be dropped in parts that cost nothing.
const FRAGMENT_BYTES: usize = 4096;

/// The output of one job.
#[derive(Debug)]
pub(crate) struct Kept {
    /// Never changed once it is full.
    head: Vec<Fragment>,
    head_bytes: u64,
    /// What came after that, as much of its end as there is room for.
    tail: VecDeque<Fragment>,
    tail_bytes: u64,
    /// How many bytes each of the two may have.
    half: u64,
    written: u64,
    last_at: Option<u64>,
}

impl Kept {
    /// Nothing yet, and room for so many bytes.
    pub(crate) fn new(limit_bytes: u64) -> Self {
        Self {
            head: Vec::new(),
            head_bytes: 0,
            tail: VecDeque::new(),
            tail_bytes: 0,
            half: limit_bytes.max(LIMIT_BYTES_MIN) / 2,
            written: 0,
            last_at: None,
        }
    }

    /// How many bytes were written, kept or not.
    pub(crate) fn written_bytes(&self) -> u64 {
        self.written
    }

    /// How many of them were not kept.
    pub(crate) fn dropped_bytes(&self) -> u64 {
        self.written - self.head_bytes - self.tail_bytes
    }

    /// When something was last written; `None` where nothing was.
    pub(crate) fn last_at(&self) -> Option<u64> {
        self.last_at
    }

    /// Takes what was written at this moment.
    pub(crate) fn push(&mut self, stream: Stream, at: u64, bytes: &[u8]) {
        let room = usize::try_from(self.half - self.head_bytes).unwrap_or(usize::MAX);
        let (head, tail) = bytes.split_at(bytes.len().min(room));
        for bytes in head.chunks(FRAGMENT_BYTES) {
            let fragment = self.fragment(stream, at, bytes);
            self.head_bytes += length(&fragment);
            if let Some(more) = append(self.head.last_mut(), fragment) {
                self.head.push(more);
            }
        }
        for bytes in tail.chunks(FRAGMENT_BYTES) {
            let fragment = self.fragment(stream, at, bytes);
            self.tail_bytes += length(&fragment);
            if let Some(more) = append(self.tail.back_mut(), fragment) {
                self.tail.push_back(more);
            }
            self.make_room();
        }
        self.last_at = Some(at);
    }

    fn fragment(&mut self, stream: Stream, at: u64, bytes: &[u8]) -> Fragment {
        let offset = self.written;
        self.written += bytes.len() as u64;
        Fragment {
            offset,
            at,
            stream,
            bytes: bytes.to_vec(),
        }
    }

    /// Drops the beginning of the end, where that is too long.
    fn make_room(&mut self) {
        while self.tail_bytes > self.half {
            let Some(mut first) = self.tail.pop_front() else {
                return;
            };
            let dropped = length(&first).min(self.tail_bytes - self.half);
            self.tail_bytes -= dropped;
            if dropped < length(&first) {
                first
                    .bytes
                    .drain(..usize::try_from(dropped).unwrap_or(usize::MAX));
                first.offset += dropped;
                self.tail.push_front(first);
            }
        }
    }

    /// At most `limit` bytes from the first kept one at or after `offset`.
    pub(crate) fn read(&self, offset: u64, limit: usize) -> Vec<Fragment> {
        let mut left = limit;
        let mut found = Vec::new();
        for fragment in self.head.iter().chain(&self.tail) {
            if fragment.offset + length(fragment) <= offset {
                continue;
            }
            if left == 0 {
                break;
            }
            let skip = offset.saturating_sub(fragment.offset);
            let rest = &fragment.bytes[usize::try_from(skip).unwrap_or(usize::MAX)..];
            let bytes = rest[..rest.len().min(left)].to_vec();
            left -= bytes.len();
            found.push(Fragment {
                offset: fragment.offset + skip,
                bytes,
                ..fragment.clone()
            });
        }
        found
    }
}

fn length(fragment: &Fragment) -> u64 {
    fragment.bytes.len() as u64
}

/// Adds a fragment to the one before it; gives it back where it is to be one of its own.
fn append(last: Option<&mut Fragment>, fragment: Fragment) -> Option<Fragment> {
    match last {
        Some(last)
            if last.stream == fragment.stream
                && last.bytes.len() + fragment.bytes.len() <= FRAGMENT_BYTES =>
        {
            last.bytes.extend(fragment.bytes);
            None
        }
        _ => Some(fragment),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes these pieces, and gives what is kept of them, with offsets, and how much was dropped.
    fn kept(limit_bytes: u64, pieces: &[&[u8]]) -> (Vec<(u64, usize)>, u64) {
        let mut output = Kept::new(limit_bytes);
        for (piece, at) in pieces.iter().zip(1..) {
            output.push(Stream::Stdout, at, piece);
        }
        let found = output.read(0, usize::MAX);
        let found = found.iter().map(|it| (it.offset, it.bytes.len()));
        (found.collect(), output.dropped_bytes())
    }

    #[test]
    fn of_much_output_the_beginning_and_the_end_are_kept() {
        let mut output = Kept::new(100_000);
        output.push(Stream::Stdout, 1, b"first\n");
        for _ in 0..500_000 {
            output.push(Stream::Stdout, 2, b"y\n");
        }
        output.push(Stream::Stdout, 3, b"last\n");
        assert_eq!(output.written_bytes(), 1_000_011);
        assert_eq!(output.dropped_bytes(), 900_011);
        let found = output.read(0, usize::MAX);
        assert_eq!(found.iter().map(length).sum::<u64>(), 100_000);
        let text: Vec<u8> = found.iter().flat_map(|it| it.bytes.clone()).collect();
        assert!(text.starts_with(b"first\ny\n") && text.ends_with(b"y\nlast\n"));
        let end = found.last().map(|it| it.offset + length(it));
        assert_eq!(end, Some(1_000_011));
    }

    #[test]
    fn what_fits_is_kept_whole() {
        assert_eq!(
            kept(1024, &[&[0; 512], &[0; 512]]),
            (vec![(0, 512), (512, 512)], 0)
        );
        assert_eq!(kept(0, &[&[0; 1024]]), (vec![(0, 512), (512, 512)], 0));
        assert_eq!(kept(1024, &[b"a", b"", b"b"]), (vec![(0, 2)], 0));
    }

    #[test]
    fn what_does_not_fit_is_cut_between_bytes() {
        assert_eq!(kept(1024, &[&[0; 1025]]), (vec![(0, 512), (513, 512)], 1));
        assert_eq!(
            kept(1024, &[&[0; 600], &[0; 500]]),
            (vec![(0, 512), (588, 512)], 76)
        );
        assert_eq!(
            kept(20_000, &[&[0; 50_000]]),
            (
                vec![
                    (0, 4096),
                    (4096, 4096),
                    (8192, 1808),
                    (40_000, 2768),
                    (42_768, 4096),
                    (46_864, 3136)
                ],
                30_000
            )
        );
    }

    #[test]
    fn reading_begins_at_an_offset_and_ends_at_a_limit() {
        let mut output = Kept::new(1024);
        output.push(Stream::Stdout, 1, &[b'a'; 512]);
        output.push(Stream::Stdout, 2, &[b'b'; 1000]);
        let read = |offset, limit| {
            let found = output.read(offset, limit);
            found
                .into_iter()
                .map(|it| (it.offset, it.bytes.len()))
                .collect::<Vec<_>>()
        };
        assert_eq!(read(500, 100), [(500, 12), (1000, 88)]);
        assert_eq!(read(512, 10), [(1000, 10)]);
        assert_eq!(read(1511, 10), [(1511, 1)]);
        assert!(read(1512, 10).is_empty());
        assert!(read(u64::MAX, 10).is_empty());
    }
}
