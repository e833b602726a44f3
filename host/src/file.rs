//! Files by their paths, opened in ways that the standard library has no words for.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// Opens what is there for reading, with more flags of `open(2)`.
///
/// # Errors
/// As `open(2)`.
pub(crate) fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    let flags = i32::try_from(flags.bits()).expect("flags of open are positive numbers of C's int");
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// Whether an error means that there is no room for anybody on this disk: it, or a quota, is full.
pub(crate) fn is_disk_full(error: &io::Error) -> bool {
    use io::ErrorKind::{QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded)
}
