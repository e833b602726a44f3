//! Whether the files of an open store are still where others look for them, and have what was written to them.
//!
//! A file that was deleted, moved or replaced stays as it was for whoever has it open: SQLite reads and writes it
//! as before and says that all is well, while nobody else will ever find what it wrote. Each of the three files
//! matters: without the log others cannot read, and with another index others have other locks, so that two
//! processes write over each other's commits. What was done to them in place shows where it cost the log something.
//!
//! Looks by name, and into the log alone. Closing any descriptor of the database or of the index would drop all locks
//! that the process has on it.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::super::Error;
use super::super::limits::FILES_SEEN_FOR;
use super::file::{INDEX, LOG, beside};
use super::wal::Log;
use super::writer;

/// A store has tables, so its database is never empty. One that was emptied SQLite takes for new, and it deletes
/// the log with all that is only there.
const DATABASE_BYTES_MIN: u64 = 1;

/// The files that a store was opened on.
///
/// They stay the same as long as a connection is open, which the pool sees to: only the last one that closes
/// removes the log and its index.
#[derive(Debug)]
pub(super) struct Files {
    files: Vec<Known>,
    /// On which SQLite has its locks.
    index: Identity,
    log: Log,
    log_path: PathBuf,
    /// Set for ever, since what was written meanwhile went elsewhere: that a file comes back makes it no better.
    lost: OnceLock<Error>,
    remembered_at: Instant,
    /// When the files were last seen to be there, in nanoseconds from `remembered_at`.
    seen_ns: AtomicU64,
    seen_for: Duration,
}

/// A file and what it is known by.
#[derive(Debug)]
struct Known {
    path: PathBuf,
    identity: Identity,
    bytes_min: u64,
}

/// What tells a file from every other one that exists at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
}

impl Files {
    /// Remembers the files of the store at `path`, from which a connection that is still open has read.
    ///
    /// # Errors
    /// Where one of them is missing already, or cannot be looked at.
    pub(super) fn remember(path: &Path) -> io::Result<Self> {
        // SQLite keeps its two files beside the database itself, also where its directory was named by a link.
        let resolved = fs::canonicalize(path)?;
        let [log_path, index_path] = [LOG, INDEX].map(|suffix| beside(&resolved, suffix));
        let log = Log::remember(&log_path)?;
        let index = Known::at(index_path, 0)?;
        let index_identity = index.identity;
        let files = vec![
            Known::at(path.to_owned(), DATABASE_BYTES_MIN)?,
            Known::at(log_path.clone(), 0)?,
            index,
        ];
        Ok(Self {
            files,
            index: index_identity,
            log,
            log_path,
            lost: OnceLock::new(),
            remembered_at: Instant::now(),
            seen_ns: AtomicU64::new(0),
            seen_for: FILES_SEEN_FOR,
        })
    }

    /// Fails where a file is not what was remembered, and from then on always.
    ///
    /// Costs one system call a file, and two for the log. What was done before this succeeds was done where others find
    /// it.
    ///
    /// # Errors
    /// [`Error::Lost`]; [`Error::Other`] where it cannot be told, which may be otherwise the next time.
    pub(super) fn check(&self) -> Result<(), Error> {
        self.fail_if_lost()?;
        let now_ns = self.now_ns();
        let lost = self.find_lost();
        if let Some(path) = lost.map_err(|error| Error::Other(Arc::new(error)))? {
            let path = path.to_owned();
            return Err(self.lost.get_or_init(|| Error::Lost { path }).clone());
        }
        self.seen_ns.store(now_ns, Ordering::Relaxed);
        Ok(())
    }

    /// The process that has the lock to write, if it is stopped: waiting for it helps nobody.
    pub(super) fn stopped_writer(&self) -> Option<u32> {
        writer::stopped((self.index.device, self.index.inode))
    }

    /// The first file that is not what was remembered.
    fn find_lost(&self) -> io::Result<Option<&Path>> {
        for file in &self.files {
            if !file.is_there()? {
                return Ok(Some(&file.path));
            }
        }
        Ok((!self.log.is_whole()?).then_some(&self.log_path))
    }

    /// As [`Files::check`], but believes for [`FILES_SEEN_FOR`] that files which were there still are.
    pub(super) fn check_lately(&self) -> Result<(), Error> {
        let age_ns = self
            .now_ns()
            .saturating_sub(self.seen_ns.load(Ordering::Relaxed));
        if Duration::from_nanos(age_ns) < self.seen_for {
            return self.fail_if_lost();
        }
        self.check()
    }

    fn fail_if_lost(&self) -> Result<(), Error> {
        self.lost.get().map_or(Ok(()), |lost| Err(lost.clone()))
    }

    fn now_ns(&self) -> u64 {
        // Saturates after five hundred years.
        u64::try_from(self.remembered_at.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// From now on a look serves only once, so that tests need not wait.
    #[cfg(test)]
    pub(super) fn look_always(&mut self) {
        self.seen_for = Duration::ZERO;
    }
}

impl Known {
    fn at(path: PathBuf, bytes_min: u64) -> io::Result<Self> {
        let identity = Identity::of(&fs::metadata(&path)?);
        Ok(Self {
            path,
            identity,
            bytes_min,
        })
    }

    fn is_there(&self) -> io::Result<bool> {
        match fs::metadata(&self.path) {
            Ok(found) => Ok(Identity::of(&found) == self.identity && found.len() >= self.bytes_min),
            Err(error) if is_absence(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl Identity {
    fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
        }
    }
}

fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
