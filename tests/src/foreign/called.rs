//! The program of another host by the name that the native one has.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::workbench::Workbench;

/// A directory of the workbench in which this program is called `backburner`, as jobs call it.
///
/// # Panics
/// Where the workbench cannot be written.
pub(super) fn called(bench: &Workbench, program: &Path) -> PathBuf {
    let directory = bench.path().join("called");
    fs::create_dir_all(&directory).expect("the workbench can be written");
    match symlink(program, directory.join("backburner")) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        other => other.expect("the workbench can be written"),
    }
    directory
}
