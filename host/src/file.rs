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
