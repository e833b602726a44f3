//! Other systems: nothing announces writes.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

/// There is none.
pub(super) enum Announcer {}

/// There is none.
pub(super) struct Basin {
    /// Never used.
    pub(super) out: OwnedFd,
    /// Never used.
    pub(super) bytes: usize,
    /// Never used.
    pub(super) page_bytes: usize,
}

impl Basin {
    /// Not made, since nothing would be announced.
    ///
    /// # Errors
    /// Always.
    pub(super) fn new() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Never called, since there is none.
    pub(super) fn fill_from(&self, _pipe: &OwnedFd) -> rustix::io::Result<usize> {
        Err(rustix::io::Errno::NOSYS)
    }
}

/// Not made, since nothing would be announced.
///
/// # Errors
/// Always.
pub(super) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    Err(io::ErrorKind::Unsupported.into())
}

impl Announcer {
    /// Not made.
    ///
    /// # Errors
    /// Always.
    pub(super) fn new(_pipes: [&OwnedFd; 2]) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Never called, since there is none.
    pub(super) fn queue(&self) -> BorrowedFd<'_> {
        match *self {}
    }

    /// Never called, since there is none.
    pub(super) fn hear(&self) -> Vec<Option<usize>> {
        match *self {}
    }
}
