//! The writing side: takes whatever comes, keeps what the limit and the disk allow, counts the rest.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use cap_std::fs::Dir;

use super::super::files;
use super::super::limits::{
    ENTRY_SPAN_MS, LEAST_OUTPUT_LIMIT_BYTES, OUTPUT_RETRY_MS, TAIL_SEGMENTS,
};
use super::super::model::Stream;
use super::index::{ENTRY_BYTES, Entry};
use super::segments::{self, data_name, delete, index_name};

/// When something was read from the job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// In milliseconds since 1970, to be shown.
    pub(crate) wall_ms: u64,
    /// On the clock that does not jump, to measure with.
    pub(crate) monotonic_ms: u64,
}

/// Records a job's output. Never fails: what cannot be written is counted as dropped, and the disk is tried
/// again a little later, so that a job never waits for a full disk.
pub(crate) struct Recorder {
    dir: Dir,
    limit_bytes: u64,
    written_bytes: u64,
    dropped_bytes: u64,
    open: Option<OpenSegment>,
    head: Option<Closed>,
    tail: VecDeque<Closed>,
    retry_at_ms: u64,
}

/// A segment that is complete.
#[derive(Clone, Copy)]
struct Closed {
    start: u64,
    len: u64,
}

impl Recorder {
    /// Records into an empty directory at most `limit_bytes`, indexes included.
    pub(crate) fn new(dir: Dir, limit_bytes: u64) -> Self {
        Self {
            dir,
            limit_bytes: limit_bytes.max(LEAST_OUTPUT_LIMIT_BYTES),
            written_bytes: 0,
            dropped_bytes: 0,
            open: None,
            head: None,
            tail: VecDeque::new(),
            retry_at_ms: 0,
        }
    }

    /// How many bytes the job wrote, kept or not.
    pub(crate) fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    /// How many of them are not kept.
    pub(crate) fn dropped_bytes(&self) -> u64 {
        // What the disk refused counts already when it is deleted.
        self.dropped_bytes.min(self.written_bytes)
    }

    /// Makes what is kept survive a power failure. What the disk refuses counts as dropped.
    pub(crate) fn sync(&mut self) {
        // Most jobs of a busy machine write nothing, and pay nothing.
        if self.written_bytes > self.dropped_bytes {
            // A directory that cannot be listed has no output that could be read.
            let refused_bytes = segments::sync(&self.dir).unwrap_or(self.written_bytes);
            self.dropped_bytes += refused_bytes;
        }
    }

    /// Takes bytes that follow all earlier ones.
    pub(crate) fn record(&mut self, stream: Stream, bytes: &[u8], now: Moment) {
        let mut rest = bytes;
        while !rest.is_empty() {
            match self.append(stream, rest, now) {
                Ok(taken) => {
                    self.written_bytes += taken as u64;
                    rest = &rest[taken..];
                }
                Err(_full_or_broken) => {
                    self.close();
                    if now.monotonic_ms >= self.retry_at_ms {
                        self.retry_at_ms = now.monotonic_ms + OUTPUT_RETRY_MS;
                    }
                    self.written_bytes += rest.len() as u64;
                    self.dropped_bytes += rest.len() as u64;
                    return;
                }
            }
        }
    }

    /// Deletes the oldest part of the output to make room on a full disk, the beginning last. Whether there
    /// was anything.
    pub(crate) fn sacrifice(&mut self) -> bool {
        self.close();
        let Some(closed) = self.tail.pop_front().or_else(|| self.head.take()) else {
            return false;
        };
        self.drop_segment(closed);
        true
    }

    /// Writes the first of `bytes`, at least one, into the open segment or a new one.
    fn append(&mut self, stream: Stream, bytes: &[u8], now: Moment) -> io::Result<usize> {
        let room = self
            .open
            .as_ref()
            .map_or(0, |open| open.room(stream, now.wall_ms));
        if room == 0 {
            self.close();
            if now.monotonic_ms < self.retry_at_ms {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.open = Some(self.begin_segment()?);
        }
        let open = self
            .open
            .as_mut()
            .expect("it was there or has just been made");
        open.append(stream, bytes, now.wall_ms)
    }

    fn begin_segment(&mut self) -> io::Result<OpenSegment> {
        let is_head = self.written_bytes == 0;
        if !is_head && self.tail.len() == TAIL_SEGMENTS {
            let oldest = self.tail.pop_front().expect("there are some");
            self.drop_segment(oldest);
        }
        let share = if is_head { 2 } else { 8 };
        OpenSegment::create(&self.dir, self.written_bytes, self.limit_bytes / share)
    }

    /// Ends the open segment, if there is one. One without a byte leaves nothing.
    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let closed = Closed {
            start: open.start,
            len: open.len,
        };
        if closed.len == 0 {
            self.drop_segment(closed);
        } else if closed.start == 0 {
            self.head = Some(closed);
        } else {
            self.tail.push_back(closed);
        }
    }

    fn drop_segment(&mut self, closed: Closed) {
        // A segment that cannot be deleted stays readable; it counts as dropped all the same, since
        // whoever adds up the outcome must not be told more than is certain to be there.
        let _kept = delete(&self.dir, closed.start);
        self.dropped_bytes += closed.len;
    }
}

/// The segment that is being written.
struct OpenSegment {
    start: u64,
    capacity: u64,
    data: File,
    index: File,
    len: u64,
    entries: u64,
    last: Option<Entry>,
}

impl OpenSegment {
    fn create(dir: &Dir, start: u64, capacity: u64) -> io::Result<Self> {
        // The index first: whoever finds the bytes finds it too.
        let index = files::create(dir, &index_name(start))?;
        let data = match files::create(dir, &data_name(start)) {
            Ok(data) => data,
            Err(error) => {
                files::remove(dir, &index_name(start))?;
                return Err(error);
            }
        };
        Ok(Self {
            start,
            capacity,
            data,
            index,
            len: 0,
            entries: 0,
            last: None,
        })
    }

    /// The last entry, where more bytes of this stream may be added to it.
    fn extensible(&self, stream: Stream, at: u64) -> Option<Entry> {
        let last = self.last?;
        let young = at
            .checked_sub(last.at)
            .is_some_and(|age| age < ENTRY_SPAN_MS);
        (last.stream == stream && young).then_some(last)
    }

    /// How many bytes of this stream still fit.
    fn room(&self, stream: Stream, at: u64) -> u64 {
        let added = u64::from(self.extensible(stream, at).is_none());
        let used = self.len + (self.entries + added) * ENTRY_BYTES;
        self.capacity.saturating_sub(used)
    }

    /// Writes at least one byte and its entry, or nothing.
    fn append(&mut self, stream: Stream, bytes: &[u8], at: u64) -> io::Result<usize> {
        let room = usize::try_from(self.room(stream, at)).unwrap_or(usize::MAX);
        let taken = self.write_some(&bytes[..room.min(bytes.len())])?;
        let end = self.start + self.len + taken as u64;
        let (number, entry) = match self.extensible(stream, at) {
            Some(last) => (self.entries - 1, Entry { end, ..last }),
            None => (self.entries, Entry { end, at, stream }),
        };
        if let Err(error) = self
            .index
            .write_all_at(&entry.encode(), number * ENTRY_BYTES)
        {
            // Bytes whose stream nobody would know are not kept.
            self.data.set_len(self.len)?;
            return Err(error);
        }
        self.len += taken as u64;
        self.entries = number + 1;
        self.last = Some(entry);
        Ok(taken)
    }

    /// A full disk often takes a part; the next call then finds out that it takes no more.
    fn write_some(&self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.data.write_at(bytes, self.len) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => return other,
            }
        }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
