//! Being told by Linux of changes in directories.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

use super::Change;
use crate::config::chain::{Chain, chain};

/// How often the way to a file may change while its directories are being watched. Whoever changes it more often is at
/// it for ever.
const TRIES: usize = 20;

/// How much of what happened is read at once, in bytes: a few dozen events.
const BUFFER_BYTES: usize = 4096;

/// Watches on the directories that a path depends on.
pub(super) struct Watches {
    inotify: OwnedFd,
    /// By its watch, which entries of a directory matter.
    entries: BTreeMap<i32, BTreeSet<OsString>>,
}

impl Watches {
    /// Watches all of them.
    ///
    /// # Errors
    /// Where the system does not let us, or they change all the time.
    pub(super) fn new(path: &Path) -> io::Result<Self> {
        for _ in 0..TRIES {
            let before = chain(path);
            let watches = Self::on(&before, path);
            // What was changed before it was watched is seen now.
            if chain(path) == before {
                return watches;
            }
        }
        Err(io::Error::other("its directories change all the time"))
    }

    fn on(chain: &Chain, path: &Path) -> io::Result<Self> {
        let flags = CreateFlags::NONBLOCK | CreateFlags::CLOEXEC;
        let mut watches = Self {
            inotify: inotify::init(flags)?,
            entries: BTreeMap::new(),
        };
        for (directory, names) in chain {
            match watches.add(directory, names) {
                // That a directory above is moved is the lesser danger: it may be one that we cannot list.
                Err(error) if !names.is_empty() => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        // A file with several names, or one that is mounted here alone, is told of where it was written. It may be
        // missing.
        let of_file = WatchFlags::CLOSE_WRITE | WatchFlags::ATTRIB | WatchFlags::MASK_ADD;
        let _ = inotify::add_watch(&watches.inotify, path, of_file);
        Ok(watches)
    }

    fn add(&mut self, directory: &Path, names: &BTreeSet<OsString>) -> io::Result<()> {
        // What is closed after it was written counts, and not each write: half a file is none.
        let of_entries = WatchFlags::CLOSE_WRITE
            | WatchFlags::MOVED_TO
            | WatchFlags::MOVED_FROM
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::ATTRIB;
        let of_place = WatchFlags::MOVE_SELF | WatchFlags::DELETE_SELF | WatchFlags::ONLYDIR;
        let flags = if names.is_empty() {
            of_place
        } else {
            of_place | of_entries
        };
        // The same directory may have two names, where it is mounted twice.
        let flags = flags | WatchFlags::MASK_ADD;
        let watch = inotify::add_watch(&self.inotify, directory, flags)?;
        let entries = self.entries.entry(watch).or_default();
        entries.extend(names.iter().cloned());
        Ok(())
    }

    /// Waits for the next change that matters; `None` where there is none for so long.
    pub(super) fn next(&mut self, patience: Option<Duration>) -> Option<Change> {
        let until = patience.map(|patience| Instant::now() + patience);
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            self.wait(left);
            if let Some(change) = self.read() {
                return Some(change);
            }
            if left.is_some_and(|left| left.is_zero()) {
                return None;
            }
        }
    }

    fn wait(&self, patience: Option<Duration>) {
        let patience = patience.map(|patience| {
            Timespec::try_from(patience).expect("a delay of ours is shorter than an age")
        });
        let mut ready = [PollFd::new(&self.inotify, PollFlags::IN)];
        // After an error, which is a signal's, the next read finds nothing, and it is waited again.
        let _ = rustix::event::poll(&mut ready, patience.as_ref());
    }

    /// The last of the changes that have been told of and matter.
    fn read(&mut self) -> Option<Change> {
        let mut buffer = [const { MaybeUninit::uninit() }; BUFFER_BYTES];
        let mut events = Reader::new(&self.inotify, &mut buffer);
        let mut last = None;
        loop {
            match events.next() {
                Ok(event) => {
                    let name = event
                        .file_name()
                        .map(|name| OsStr::from_bytes(name.to_bytes()));
                    let entries = self.entries.get(&event.wd());
                    let matters = match name {
                        Some(name) => entries.is_some_and(|entries| entries.contains(name)),
                        // Not that the watch of a file has ended: another one in its place has been told of.
                        None => event.events() != ReadFlags::IGNORED,
                    };
                    if matters {
                        last = Some(change(event.events()));
                    }
                }
                Err(Errno::INTR) => {}
                Err(_) => return last,
            }
        }
    }
}

/// Whether more is to be expected after it.
fn change(events: ReadFlags) -> Change {
    let finished = ReadFlags::CLOSE_WRITE | ReadFlags::MOVED_TO | ReadFlags::ATTRIB;
    if events.intersects(finished) {
        Change::Settled
    } else {
        Change::Unsettled
    }
}
