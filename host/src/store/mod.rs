//! Durable, ordered, transactional storage of small text values.
//!
//! What is promised (durability, atomicity, isolation, order, limits) is said once, in the WIT interface
//! `store`; [`Store`] is that interface as a trait, and every implementation passes the same contract
//! tests. This module knows nothing of what the keys and values mean.

mod check;
mod error;
mod limits;
mod memory;
mod sqlite;

use std::sync::Arc;

pub use error::{Cause, Error, OpenError};
pub(crate) use limits::PATIENT_COMMITS;
pub use limits::{CHANGES_MAX, KEY_BYTES_MAX, SCAN_BYTES_MAX, SCAN_ENTRIES_MAX, VALUE_BYTES_MAX};
pub use memory::MemoryStore;
pub use sqlite::SqliteStore;
pub(crate) use sqlite::{can_be_store, is_begun};

/// Storage as the guest sees it; shared by all threads that run instances.
pub trait Store: Send + Sync {
    /// Reads one key; `None` where it does not exist, which is so for every key that could not be written.
    ///
    /// # Errors
    /// [`Error::Corrupt`], [`Error::Lost`], [`Error::Unopened`], [`Error::Busy`] or [`Error::Other`].
    fn get(&self, key: &str) -> Result<Option<Versioned>, Error>;

    /// Reads keys that start with `prefix` and are greater than `after`, in ascending order of their bytes.
    ///
    /// Gives at most `limit` entries (clamped to 1 to [`SCAN_ENTRIES_MAX`]) and stops early, after at least
    /// one, where they exceed [`SCAN_BYTES_MAX`]; none only where there are no more.
    ///
    /// # Errors
    /// As for [`Store::get`].
    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Vec<Entry>, Error>;

    /// Makes all changes, or none; they survive a power failure when it returns success.
    ///
    /// Blocks for one synchronisation of the disk. No changes at all are a success without one.
    ///
    /// # Errors
    /// Any [`Error`]; then nothing has changed, or, after [`Error::Lost`], nobody will find that it has.
    fn commit(&self, changes: &[Change]) -> Result<(), Error>;

    /// Puts in order what is kept, when nothing more is to come: for a store in files, so that they can be copied.
    ///
    /// Whatever was committed is there without this too. Calls after it may fail. Does nothing by default.
    fn close(&self) {}
}

/// One store for several servers, or for whoever looks at it beside one.
impl<S: Store + ?Sized> Store for Arc<S> {
    fn get(&self, key: &str) -> Result<Option<Versioned>, Error> {
        (**self).get(key)
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Vec<Entry>, Error> {
        (**self).scan(prefix, after, limit)
    }

    fn commit(&self, changes: &[Change]) -> Result<(), Error> {
        (**self).commit(changes)
    }

    fn close(&self) {
        (**self).close();
    }
}

/// A value and the writing that it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versioned {
    /// What was written, unchanged.
    pub value: String,
    /// The writing, for a later [`Expectation::WrittenBy`].
    pub version: u64,
}

/// One row of a scan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The whole key, the scanned prefix included.
    pub key: String,
    /// What was written under it.
    pub value: String,
    /// The writing, for a later [`Expectation::WrittenBy`].
    pub version: u64,
}

/// What has to be true of a key at the moment of the commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// Nothing: write in any case.
    Anything,
    /// The key does not exist.
    Absent,
    /// The key exists and was last written by this writing.
    WrittenBy(u64),
}

impl Expectation {
    /// Whether a key meets this that was last written by `version`; `None` where it does not exist.
    #[must_use]
    pub fn is_met_by(self, version: Option<u64>) -> bool {
        match self {
            Self::Anything => true,
            Self::Absent => version.is_none(),
            Self::WrittenBy(expected) => version == Some(expected),
        }
    }
}

/// One step of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Write a value, whether the key exists or not.
    Put {
        /// 1 to [`KEY_BYTES_MAX`] bytes, without NUL.
        key: String,
        /// At most [`VALUE_BYTES_MAX`] bytes.
        value: String,
        /// The precondition.
        expect: Expectation,
    },
    /// Remove a key; one that does not exist is no error unless the expectation says so.
    Remove {
        /// 1 to [`KEY_BYTES_MAX`] bytes, without NUL.
        key: String,
        /// The precondition.
        expect: Expectation,
    },
}

impl Change {
    /// The key that is written or removed.
    #[must_use]
    pub fn key(&self) -> &str {
        match self {
            Self::Put { key, .. } | Self::Remove { key, .. } => key,
        }
    }

    /// What has to be true of the key.
    #[must_use]
    pub fn expect(&self) -> Expectation {
        match self {
            Self::Put { expect, .. } | Self::Remove { expect, .. } => *expect,
        }
    }
}
