//! Wakes who waits for what jobs ask, as soon as that changes: the system tells of names that come and go.
//!
//! **Knows** the names of the files of questions. **Does not know** what is in them. Where the system gives no watch, or a
//! change comes before there is one, nobody is woken, and finds out when they look the next time.

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;

use cap_std::fs::Dir;
use rustix::fs::inotify::{self, CreateFlags, Event, ReadFlags, WatchFlags};
use rustix::io::Errno;
use tokio::sync::watch;

use super::{QUESTIONS, Questions};

/// What is waited for in a directory: that something gets a name there, or loses it.
const NAMES: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::ONLYDIR);

/// Enough for many events at once; the kernel keeps what does not fit.
const EVENT_BYTES: usize = 4096;

/// Enough for a thread that reads events and wakes others.
const STACK_BYTES: usize = 128 << 10;

/// Resolves when what a job asks may have changed after this call; never where that cannot be seen.
pub(in crate::jobs) fn changed(job: &Dir) -> impl Future<Output = ()> + Send + 'static {
    let at_questions = || Waiting::at(&Questions::open(job).ok()??.dir);
    // The directory of questions comes with the first one, perhaps just now.
    let waiting = at_questions().or_else(|| {
        let waiting = Waiting::at(job);
        at_questions().or(waiting)
    });
    async {
        match waiting {
            Some(waiting) => waiting.until_told().await,
            None => std::future::pending().await,
        }
    }
}

/// The directories that this process watches.
#[derive(Debug)]
struct Watches {
    events: OwnedFd,
    /// By the number that the system gives them.
    places: Mutex<HashMap<i32, watch::Sender<()>>>,
}

impl Watches {
    /// Those of this process, which has one thread for them; `None` where the system gives none now.
    fn of_this_process() -> Option<&'static Self> {
        static WATCHES: Mutex<Option<&'static Watches>> = Mutex::new(None);
        let mut watches = WATCHES.lock().unwrap_or_else(PoisonError::into_inner);
        if watches.is_none() {
            *watches = Self::begin().ok();
        }
        *watches
    }

    fn begin() -> io::Result<&'static Self> {
        let events = inotify::init(CreateFlags::CLOEXEC)?;
        // The thread gets them when it is there, so that nothing is left of them where there is none.
        let (give, take) = mpsc::sync_channel::<&'static Self>(1);
        thread::Builder::new()
            .name("questions".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || take.recv().map(Self::tell))?;
        let watches: &'static Self = Box::leak(Box::new(Self {
            events,
            places: Mutex::default(),
        }));
        // It waits for them.
        let _given = give.send(watches);
        Ok(watches)
    }

    fn places(&self) -> MutexGuard<'_, HashMap<i32, watch::Sender<()>>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes who waits, for as long as this process lives.
    fn tell(&self) {
        let mut buffer = [const { MaybeUninit::uninit() }; EVENT_BYTES];
        let mut events = inotify::Reader::new(&self.events, &mut buffer);
        loop {
            match events.next() {
                Ok(event) => self.told(&event),
                Err(Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }

    fn told(&self, event: &Event<'_>) {
        let mut places = self.places();
        if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
            places.values().for_each(|place| place.send_replace(()));
        } else if event.events().contains(ReadFlags::IGNORED) {
            // The directory is gone. Who waits hears that there is no sender any more.
            places.remove(&event.wd());
        } else if event
            .file_name()
            .is_some_and(|name| is_news(name.to_bytes()))
            && let Some(place) = places.get(&event.wd())
        {
            place.send_replace(());
        }
    }
}

/// Whether a name says that something was asked, answered or taken back, or that something may be asked now.
fn is_news(name: &[u8]) -> bool {
    let ends = [".asked", ".prompt", ".answer"];
    name == QUESTIONS.as_bytes() || ends.iter().any(|end| name.ends_with(end.as_bytes()))
}

/// One who waits at a directory. The system watches it as long as there is any.
struct Waiting {
    watches: &'static Watches,
    place: i32,
    /// `None` when it waits no more.
    told: Option<watch::Receiver<()>>,
}

impl Waiting {
    /// `None` where the system gives no watch.
    fn at(dir: &Dir) -> Option<Self> {
        let watches = Watches::of_this_process()?;
        // The directory that is open, whatever has its name by now.
        let path = format!("/proc/self/fd/{}", dir.as_raw_fd());
        // Held until it is noted, so that nobody takes the watch away in between.
        let mut places = watches.places();
        let place = inotify::add_watch(&watches.events, path, NAMES).ok()?;
        let told = places
            .entry(place)
            .or_insert_with(|| watch::Sender::new(()));
        let told = Some(told.subscribe());
        Some(Self {
            watches,
            place,
            told,
        })
    }

    async fn until_told(mut self) {
        if let Some(told) = &mut self.told {
            // That nobody tells any more is news as well.
            let _told_or_gone = told.changed().await;
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        drop(self.told.take());
        let mut places = self.watches.places();
        if places
            .get(&self.place)
            .is_some_and(watch::Sender::is_closed)
        {
            places.remove(&self.place);
            // It may be gone already, with its directory.
            let _gone = inotify::remove_watch(&self.watches.events, self.place);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn job() -> (tempfile::TempDir, Dir) {
        let place = tempfile::tempdir().expect("there is room");
        let dir = Dir::open_ambient_dir(place.path(), cap_std::ambient_authority());
        (place, dir.expect("it was just made"))
    }

    /// Whether it resolves in time; how long nothing is waited for that is not to come.
    async fn comes(changed: impl Future<Output = ()>, ms: u64) -> bool {
        tokio::time::timeout(Duration::from_millis(ms), changed)
            .await
            .is_ok()
    }

    const PATIENCE_MS: u64 = 60_000;

    #[tokio::test]
    async fn each_of_those_who_wait_hears_of_each_change() {
        let (_place, job) = job();
        for name in [
            QUESTIONS,
            "questions/k.asked",
            "questions/k.answer",
            "questions/k.prompt",
        ] {
            let (one, other) = (changed(&job), changed(&job));
            match name.strip_prefix("questions/") {
                None => job.create_dir(name).expect("it is new"),
                Some(_) => drop(job.create(name).expect("it is new")),
            }
            assert!(
                comes(one, PATIENCE_MS).await && comes(other, PATIENCE_MS).await,
                "{name}"
            );
        }
        let taken_back = changed(&job);
        job.remove_file("questions/k.asked").expect("it is there");
        assert!(comes(taken_back, PATIENCE_MS).await);
    }

    #[tokio::test]
    async fn what_is_no_question_wakes_nobody() {
        let (_place, job) = job();
        let before = changed(&job);
        for name in ["out-1", "progress.json", "asked", "k.asked.draft"] {
            drop(job.create(name).expect("it is new"));
        }
        // What comes behind these is told behind them.
        let (_other_place, other) = self::job();
        let after = changed(&other);
        other.create_dir(QUESTIONS).expect("it is new");
        assert!(comes(after, PATIENCE_MS).await);
        assert!(!comes(before, 0).await);
    }

    #[tokio::test]
    async fn a_directory_that_goes_wakes_who_waits_for_it() {
        let (place, job) = job();
        job.create_dir(QUESTIONS).expect("it is new");
        let gone = changed(&job);
        drop(place);
        assert!(comes(gone, PATIENCE_MS).await);
    }

    #[test]
    fn nobody_is_left_who_waits() {
        let (_place, job) = job();
        let watches = Watches::of_this_process().expect("the system has them");
        let waiting = Waiting::at(&job).expect("there is a watch");
        let place = waiting.place;
        let same = Waiting::at(&job).expect("there is a watch");
        assert_eq!(same.place, place, "one for each directory");
        drop(waiting);
        assert!(watches.places().contains_key(&place));
        drop(same);
        assert!(!watches.places().contains_key(&place));
    }
}
