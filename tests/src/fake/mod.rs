//! A machine that is not there: a clock that moves when it is told to, and jobs that only pretend to run.

mod adapter;
mod by_hand;
mod jobs;
mod script;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use backburner::store::MemoryStore;

pub use adapter::CoreWorld;
pub use by_hand::JobsByHand;
pub use jobs::ScriptedJobs;
pub use script::{Answer, Timeline, Write, timeline};

/// A moment to begin with, in milliseconds since 1970: 2026-07-28T00:00:00Z.
const BEGINNING_MS: u64 = 1_785_196_800_000;

/// Virtual time. Clones show the same time.
#[derive(Clone, Debug)]
pub struct Clock {
    now_ms: Arc<AtomicU64>,
}

impl Clock {
    /// The present, in milliseconds since 1970.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.now_ms.load(Ordering::SeqCst)
    }

    /// Lets time pass until `moment`, in milliseconds since 1970; not at all where it has passed already.
    pub fn advance_to(&self, moment: u64) {
        self.now_ms.fetch_max(moment, Ordering::SeqCst);
    }
}

/// Everything that outlives a server, without a disk or a process.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The time.
    pub clock: Clock,
    /// What the server stores.
    pub store: Arc<MemoryStore>,
    /// What it runs.
    pub jobs: Arc<ScriptedJobs>,
}

impl Machine {
    /// A new one, with nothing stored and nothing running.
    #[expect(
        clippy::new_without_default,
        reason = "there is nothing default about a machine"
    )]
    #[must_use]
    pub fn new() -> Self {
        let clock = Clock {
            now_ms: Arc::new(AtomicU64::new(BEGINNING_MS)),
        };
        let jobs = Arc::new(ScriptedJobs::new(clock.clone()));
        Self {
            clock,
            store: Arc::new(MemoryStore::new()),
            jobs,
        }
    }
}
