//! Looking at a file now and then, where nobody tells of its changes.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::Change;
use crate::limits::CONFIG_LOOK;

/// A file, and what it was like when it was last looked at.
pub(super) struct Look {
    path: PathBuf,
    seen: Option<Likeness>,
}

/// What is another where the file, or what is in it, is another.
#[derive(PartialEq, Eq)]
struct Likeness {
    device: u64,
    inode: u64,
    length: u64,
    /// In nanoseconds.
    modified: (i64, i64),
    /// In nanoseconds; also of its mode and owner.
    changed: (i64, i64),
}

impl Look {
    pub(super) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            seen: likeness(path),
        }
    }

    /// Looks until it is another file than before; `None` where it is not for so long.
    pub(super) fn next(&mut self, patience: Option<Duration>) -> Option<Change> {
        let begun = Instant::now();
        loop {
            let left = match patience {
                Some(patience) => patience.saturating_sub(begun.elapsed()),
                None => CONFIG_LOOK,
            };
            if left.is_zero() {
                return None;
            }
            thread::sleep(left.min(CONFIG_LOOK));
            let now = likeness(&self.path);
            if now != self.seen {
                self.seen = now;
                // It may be only half of what is being written.
                return Some(Change::Unsettled);
            }
        }
    }
}

/// What there is now, through links; `None` for nothing.
fn likeness(path: &Path) -> Option<Likeness> {
    let found = fs::metadata(path).ok()?;
    Some(Likeness {
        device: found.dev(),
        inode: found.ino(),
        length: found.len(),
        modified: (found.mtime(), found.mtime_nsec()),
        changed: (found.ctime(), found.ctime_nsec()),
    })
}
