//! The environment of this process.

use std::env;
use std::ffi::OsString;

/// A variable; an empty one counts as unset.
pub(crate) fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}
