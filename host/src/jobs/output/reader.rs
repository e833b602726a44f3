//! The reading side: any range, at any time, while the supervisor writes and deletes.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use cap_std::fs::Dir;

use super::super::files;
use super::super::limits::{READ_ATTEMPTS, READ_FRAGMENTS};
use super::super::model::{Fragment, Stream};
use super::index::Entry;
use super::segments::{Segment, data_name, entry, index_name, list};

/// Whether the output can still grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writer {
    /// A supervisor lives: bytes without an entry are about to get one.
    Alive,
    /// None does: bytes without an entry will never have one, and count as standard output.
    Gone,
}

/// What to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    /// From the first kept byte at or after this offset.
    pub(crate) offset: u64,
    /// At most so many bytes.
    pub(crate) limit: usize,
    /// Whether the output can still grow.
    pub(crate) writer: Writer,
}

/// What has been read, and what may still be.
struct Collected {
    fragments: Vec<Fragment>,
    next: u64,
    left: usize,
    writer: Writer,
}

/// Reads kept output in order.
pub(crate) fn read(dir: &Dir, request: Request) -> io::Result<Vec<Fragment>> {
    let mut collected = Collected {
        fragments: Vec::new(),
        next: request.offset,
        left: request.limit,
        writer: request.writer,
    };
    for _attempt in 0..READ_ATTEMPTS {
        let complete = collected.add_all(dir, &list(dir)?)?;
        if complete || !collected.fragments.is_empty() {
            break;
        }
        // Everything that was listed has been deleted meanwhile, so there is something newer.
    }
    Ok(collected.fragments)
}

impl Collected {
    /// Reads what these segments have; false where one of them is not there any more.
    fn add_all(&mut self, dir: &Dir, segments: &[Segment]) -> io::Result<bool> {
        let mut complete = true;
        for (number, segment) in segments.iter().enumerate() {
            if self.is_full() {
                break;
            }
            // The last one may have grown since it was listed.
            let is_last = number + 1 == segments.len();
            if !is_last && segment.end() <= self.next {
                continue;
            }
            match OpenSegment::open(dir, *segment)? {
                Some(open) => open.collect(self)?,
                None => complete = false,
            }
        }
        Ok(complete)
    }

    fn is_full(&self) -> bool {
        self.left == 0 || self.fragments.len() >= READ_FRAGMENTS
    }

    /// Adds what is wanted of a run that ends at `run.end`, out of `bytes`, which start at `bytes_start`.
    fn add(&mut self, run: Entry, bytes: &[u8], bytes_start: u64) {
        let from = usize::try_from(self.next - bytes_start).unwrap_or(usize::MAX);
        let to = usize::try_from(run.end.saturating_sub(bytes_start)).unwrap_or(usize::MAX);
        let Some(wanted) = bytes.get(from..to.min(bytes.len())) else {
            return;
        };
        if wanted.is_empty() {
            return;
        }
        self.fragments.push(Fragment {
            offset: self.next,
            at: run.at,
            stream: run.stream,
            bytes: wanted.to_vec(),
        });
        self.next += wanted.len() as u64;
        self.left -= wanted.len();
    }
}

struct OpenSegment {
    segment: Segment,
    data: File,
    index: Option<File>,
}

impl OpenSegment {
    /// Opens a segment; `None` where it has been deleted.
    fn open(dir: &Dir, segment: Segment) -> io::Result<Option<Self>> {
        // The index first: bytes are deleted before their index, so bytes without one never had one.
        let index = files::open_file(dir, &index_name(segment.start))?;
        let Some(data) = files::open_file(dir, &data_name(segment.start))? else {
            return Ok(None);
        };
        Ok(Some(Self {
            segment,
            data,
            index,
        }))
    }

    fn collect(&self, into: &mut Collected) -> io::Result<()> {
        into.next = into.next.max(self.segment.start);
        let first = self.first_entry_after(into.next)?;
        let start = into.next;
        let bytes = self.bytes(start, into.left)?;
        let mut number = first;
        while !into.is_full() {
            let Some(entry) = self.entry(number)? else {
                break;
            };
            into.add(entry, &bytes, start);
            number += 1;
            if into.next < entry.end {
                return Ok(());
            }
        }
        if into.writer == Writer::Gone && !into.is_full() {
            self.add_unindexed(&bytes, start, into);
        }
        Ok(())
    }

    fn add_unindexed(&self, bytes: &[u8], start: u64, into: &mut Collected) {
        let end = start + bytes.len() as u64;
        let run = Entry {
            end,
            at: self.segment.modified_at,
            stream: Stream::Stdout,
        };
        into.add(run, bytes, start);
    }

    /// Reads bytes from `offset` on, at most `limit`.
    fn bytes(&self, offset: u64, limit: usize) -> io::Result<Vec<u8>> {
        let held = self.data.metadata()?.len();
        let skip = offset - self.segment.start;
        let there = usize::try_from(held.saturating_sub(skip)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; there.min(limit)];
        let mut filled = 0;
        while filled < bytes.len() {
            match self
                .data
                .read_at(&mut bytes[filled..], skip + filled as u64)?
            {
                0 => break,
                more => filled += more,
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }

    fn entry(&self, number: u64) -> io::Result<Option<Entry>> {
        self.index
            .as_ref()
            .map_or(Ok(None), |index| entry(index, number))
    }

    /// The number of the first entry whose run ends after `offset`.
    fn first_entry_after(&self, offset: u64) -> io::Result<u64> {
        let Some(index) = &self.index else {
            return Ok(0);
        };
        let mut low = 0;
        let mut high = index.metadata()?.len() / super::index::ENTRY_BYTES;
        while low < high {
            let middle = low + (high - low) / 2;
            match entry(index, middle)? {
                Some(entry) if entry.end <= offset => low = middle + 1,
                _ => high = middle,
            }
        }
        Ok(low)
    }
}
