//! Waiting until what a path leads to may have changed.
//!
//! Knows file systems. Does not read the file: whoever waits looks, and finds out what there is now.

#[cfg(target_os = "linux")]
mod inotify;
mod look;

use std::path::Path;
use std::time::Duration;

use crate::limits::{CONFIG_SETTLED, CONFIG_UNSETTLED};

/// Watches a path, from when it is made.
///
/// On Linux the kernel tells of changes, and nothing is done until it does. Elsewhere, and where the kernel has no watch to
/// give, the file is looked at once a second. The crate `notify` was not taken: it brings six others and a thread with a
/// queue, watches no chain of links, and its parts for other systems could not be tried here either.
pub(super) struct Watch(Means);

enum Means {
    #[cfg(target_os = "linux")]
    Told(inotify::Watches),
    Looking(look::Look),
}

/// What happened, as far as it says whether more is about to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// Something was finished: a file was closed after it was written, or something got its name.
    Settled,
    /// Something was begun, or taken away: a file was created and is likely being written, or it was deleted and is likely
    /// about to be replaced.
    Unsettled,
}

impl Change {
    /// How long nothing more has to happen until the change is over.
    fn quiet(self) -> Duration {
        match self {
            Self::Settled => CONFIG_SETTLED,
            Self::Unsettled => CONFIG_UNSETTLED,
        }
    }
}

impl Watch {
    /// Watches from now on: what is read after this and changes later is noticed.
    pub(super) fn start(path: &Path) -> Self {
        #[cfg(target_os = "linux")]
        match inotify::Watches::new(path) {
            Ok(watches) => return Self(Means::Told(watches)),
            Err(error) => crate::log::warn(format_args!(
                "{}: is looked at once a second, since the system does not tell of its changes: {error}",
                path.display()
            )),
        }
        Self::looking(path)
    }

    /// One that is not told of changes.
    fn looking(path: &Path) -> Self {
        Self(Means::Looking(look::Look::new(path)))
    }

    /// Waits until something has happened, and then nothing more for a while. To be dropped then: what the path leads
    /// through may be other directories now.
    pub(super) fn changed(&mut self) {
        let mut last = self.next(None);
        while let Some(change) = last {
            last = self.next(Some(change.quiet()));
        }
    }

    /// Waits for the next change; `None` where there is none for so long.
    fn next(&mut self, patience: Option<Duration>) -> Option<Change> {
        match &mut self.0 {
            #[cfg(target_os = "linux")]
            Means::Told(watches) => watches.next(patience),
            Means::Looking(look) => look.next(patience),
        }
    }
}

#[cfg(test)]
mod tests;
