//! Other systems: no way to list processes that works on all of them. Only the command's group is known,
//! which its supervisor signals as a whole, and a lost job's processes are not found.

use std::io;

use rustix::process::Signal;
use uuid::Uuid;

use super::{Glance, Seen};

/// None is ever seen.
pub(crate) fn all() -> io::Result<Vec<Seen>> {
    Ok(Vec::new())
}

/// Nobody says so.
pub(crate) fn newest() -> io::Result<Option<i32>> {
    Ok(None)
}

/// There is only one, or none is known.
pub(crate) fn namespace() -> Option<u64> {
    None
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

/// None is known.
pub(crate) fn recognize(_seen: &Seen, _id: Uuid) -> io::Result<Glance> {
    Ok(Glance::Other)
}

/// Nothing is known of any number.
pub(crate) fn glance(_pid: i32, _id: Uuid) -> io::Result<Glance> {
    Ok(Glance::Other)
}

/// None is known to.
pub(crate) fn supervises(_seen: &Seen, _id: Uuid) -> io::Result<bool> {
    Ok(false)
}

/// Never asked, since none is seen.
pub(crate) fn command_line(_seen: &Seen) -> String {
    String::new()
}
