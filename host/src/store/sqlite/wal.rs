//! Whether the log of an open store still is what was written to it.
//!
//! Knows how a log begins, and that it only grows while anybody uses the store: a checkpoint begins it anew in place,
//! and only the last one that closes the store takes it away. SQLite does not look: it goes on behind the place where
//! it wrote last, also where nothing is before that any more, and nobody would ever find what it writes there.
//!
//! SQLite has no locks on this file, so that it does no harm to close it.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// With what a log begins, but for the last bit, which is for the order of bytes in its checksums.
const MAGIC: u32 = 0x377f_0682;

/// The log that a store was opened with.
#[derive(Debug)]
pub(super) struct Log {
    file: File,
    /// The most bytes that it was ever seen to have.
    seen_bytes: AtomicU64,
    /// Whether it was ever seen to begin as a log does. One that a power failure left need not, until it is written to.
    had_header: AtomicBool,
}

impl Log {
    /// The log at `path`, from which a connection that is still open has read.
    pub(super) fn remember(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let seen_bytes = file.metadata()?.len().into();
        let had_header = has_header(&file)?.into();
        Ok(Self {
            file,
            seen_bytes,
            had_header,
        })
    }

    /// Whether nothing was taken from it. Costs two system calls.
    pub(super) fn is_whole(&self) -> io::Result<bool> {
        // Before the look: what another thread sees after this one has looked may be more.
        let seen_bytes = self.seen_bytes.load(Ordering::SeqCst);
        let had_header = self.had_header.load(Ordering::SeqCst);
        let bytes = self.file.metadata()?.len();
        // One that was emptied, and written to behind the gap, has its length again.
        let has_header = has_header(&self.file)?;
        self.seen_bytes.fetch_max(bytes, Ordering::SeqCst);
        self.had_header.fetch_or(has_header, Ordering::SeqCst);
        Ok(bytes >= seen_bytes && (has_header || !had_header))
    }
}

fn has_header(file: &File) -> io::Result<bool> {
    let mut begin = [0; 4];
    match file.read_exact_at(&mut begin, 0) {
        Ok(()) => Ok(u32::from_be_bytes(begin) & !1 == MAGIC),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}
