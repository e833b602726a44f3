//! Why a call on a store failed, and why one could not be opened.

use std::path::PathBuf;
use std::sync::Arc;

/// What lies below a failure, for a log. Shared, because commits that were made together fail together.
pub type Cause = Arc<dyn std::error::Error + Send + Sync>;

/// Why a call failed. After any of them nothing of the call has happened. Names no value.
///
/// [`Error::Lost`] and an [`Error::Other`] that says that a file cannot be looked at mean less: nothing of the call
/// is certain to be found.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An expectation did not hold: read again and decide anew.
    #[error("the key `{key}` is not as expected: read it again")]
    Conflict {
        /// The first key whose expectation did not hold.
        key: String,
    },
    /// The disk or a quota is full, of bytes or of files.
    #[error(
        "no space or no inodes are left for the store: make room on its disk (`df` and `df -i` tell), then try again"
    )]
    NoSpace(#[source] Cause),
    /// This process may write no larger files, however much room there is.
    #[error(
        "a file of the store cannot grow beyond the limit on the size of files: raise it (`ulimit -f unlimited`), \
         then start the server again"
    )]
    FileSize(#[source] Cause),
    /// Something is longer than the contract allows.
    #[error("{what} of {found} is more than the allowed {limit}")]
    TooLarge {
        /// What is too long, with its unit.
        what: &'static str,
        /// How much was given.
        found: usize,
        /// How much is allowed.
        limit: usize,
    },
    /// The changes break the contract in another way than by their size: a caller's mistake.
    #[error("{0}")]
    Invalid(&'static str),
    /// What is stored cannot be read.
    #[error("the store is damaged: restore it from a copy, or move it away to begin anew")]
    Corrupt(#[source] Cause),
    /// A file of the store is not any more what it was when the store was opened: all calls fail from now on.
    #[error(
        "{path} was deleted, emptied, shortened, moved or replaced while this server used it: start the server again",
        path = path.display()
    )]
    Lost {
        /// The database, or one of the two files that SQLite keeps beside it.
        path: PathBuf,
    },
    /// A newer version of this program has changed the store's schema.
    #[error(
        "the store has schema {found} and this version knows {known}: install the newer backburner \
         that wrote it, or choose another directory with --data-dir"
    )]
    Newer {
        /// The schema of the file.
        found: i64,
        /// The newest schema that this program knows.
        known: i64,
    },
    /// Another process held its lock for too long.
    #[error(
        "the store was locked by another process for too long: try again later, and where that does not help, \
         look for a backburner that is stopped or hangs, and let it go on or kill it"
    )]
    Busy(#[source] Cause),
    /// The process that holds its lock is stopped, so that waiting for it helps nobody.
    #[error(
        "process {pid} holds the lock of the store and is stopped: let it go on (`kill -CONT {pid}`) or kill it, then try \
         again"
    )]
    Stopped {
        /// Its process id.
        pid: u32,
    },
    /// It can be read and not written.
    #[error(
        "the store cannot be written: its file system can only be read (`mount` tells), or this user may not write its \
         files: mend that, or choose another directory with --data-dir"
    )]
    ReadOnly(#[source] Cause),
    /// Its disk takes too long to write what other calls of this process have given it.
    #[error(
        "the disk of the store is slow, and this call was not written in time: try again later, and where that does not \
         help, look at what else keeps the disk busy"
    )]
    Slow(#[source] Cause),
    /// One of its files cannot be opened. SQLite does not say why.
    #[error(
        "a file of the store cannot be opened: it is gone, or this user may not open it, or its file system can only be \
         read, or too few file descriptors are left, then raise the limit (`ulimit -n`) or ask for less at once"
    )]
    Unopened(#[source] Cause),
    /// It was closed, as nothing more was to come.
    #[error("the store is closed, since the server ends: ask the next one")]
    Closed,
    /// Anything else, for example an I/O error.
    #[error("the store failed")]
    Other(#[source] Cause),
}

impl Error {
    /// The message followed by those of its causes, in one line for a log.
    #[must_use]
    pub fn detail(&self) -> String {
        let mut detail = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(next) = cause {
            detail.push_str(": ");
            detail.push_str(&next.to_string());
            cause = next.source();
        }
        detail
    }
}

/// Why a store could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The file could not be created or made private.
    #[error("cannot create {path}", path = path.display())]
    Create {
        /// The store's file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file, or one that SQLite would keep beside it, is a link, another user's, or no file at all.
    #[error(
        "{path} is not a file of your own, and what it leads to is left as it is: move it away, or choose another \
         directory with --data-dir",
        path = path.display()
    )]
    NotAFile {
        /// What is no file.
        path: PathBuf,
    },
    /// The file is a database of another program, or none.
    #[error(
        "{path} is not a store of backburner: move it away, or choose another directory with --data-dir",
        path = path.display()
    )]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file is there and cannot be used.
    #[error("cannot open {path}", path = path.display())]
    Unusable {
        /// The store's file.
        path: PathBuf,
        /// What is wrong with it.
        source: Error,
    },
}
