//! The environment of this process.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

/// A variable; an empty one counts as unset.
pub(crate) fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// The user's home directory. One that is relative is none: it would be another one for each directory that a program
/// is started in.
pub(crate) fn home() -> Option<PathBuf> {
    env::home_dir().filter(|home| home.is_absolute())
}
