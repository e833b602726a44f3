//! Waiting until what a path leads to may have changed.
//!
//! Knows file systems. Does not read the file: whoever waits looks, and finds out what there is now.

#[cfg(target_os = "linux")]
mod inotify;
mod look;

use std::io;
use std::path::Path;
use std::time::Duration;

use crate::limits::{CONFIG_SETTLED, CONFIG_UNSETTLED};

/// Watches a path, from when it is made.
///
/// On Linux the kernel tells of changes, and nothing is done until it does. Elsewhere, and where the kernel has no
/// watch to give, the file is looked at once a second. The crate `notify` was not taken: it brings six others and a
/// thread with a queue, watches no chain of links, and its parts for other systems could not be tried here either.
pub(super) struct Watch {
    means: Means,
    /// Why nobody tells of changes, where somebody could.
    refusal: Option<io::Error>,
}

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
    /// Something was begun, or taken away: a file was created and is likely being written, or it was deleted and is
    /// likely about to be replaced.
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
        {
            match inotify::Watches::new(path) {
                Ok(watches) => Self {
                    means: Means::Told(watches),
                    refusal: None,
                },
                Err(error) => Self::looking(path, Some(error)),
            }
        }
        #[cfg(not(target_os = "linux"))]
        {
            Self::looking(path, None)
        }
    }

    /// One that is not told of changes, for this reason.
    pub(super) fn looking(path: &Path, refusal: Option<io::Error>) -> Self {
        Self {
            means: Means::Looking(look::Look::new(path)),
            refusal,
        }
    }

    /// Why the system does not tell of changes; `None` where it does, or never does.
    pub(super) fn refusal(&self) -> Option<&io::Error> {
        self.refusal.as_ref()
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
        match &mut self.means {
            #[cfg(target_os = "linux")]
            Means::Told(watches) => watches.next(patience),
            Means::Looking(look) => look.next(patience),
        }
    }
}

#[cfg(test)]
mod tests;
