//! Other systems: no way to list processes that works on all of them. Only the command's group is known,
//! which its supervisor signals as a whole, and a lost job's processes are not found.

use std::io;
use std::time::Duration;

use rustix::process::Signal;
use uuid::Uuid;

use super::Seen;

/// None is ever seen.
pub(crate) fn all() -> io::Result<Vec<Seen>> {
    Ok(Vec::new())
}

/// None is ever seen.
pub(crate) fn watch_new(
    _duration: Duration,
    _find: impl Fn(&Seen) -> io::Result<bool>,
) -> io::Result<Option<Seen>> {
    Ok(None)
}

/// They are not.
pub(crate) fn are_listed() -> io::Result<bool> {
    Ok(false)
}

/// None is ever seen.
pub(crate) fn look(_pid: i32) -> io::Result<Option<Seen>> {
    Ok(None)
}

/// There is nobody to signal.
pub(crate) fn signal(_seen: &Seen, _signal: Signal) {}

/// None is known to.
pub(crate) fn belongs_to(_seen: &Seen, _id: Uuid) -> io::Result<bool> {
    Ok(false)
}

/// None is known to.
pub(crate) fn supervises(_seen: &Seen, _id: Uuid) -> io::Result<bool> {
    Ok(false)
}

/// Never asked, since none is seen.
pub(crate) fn command_line(_seen: &Seen) -> String {
    String::new()
}
