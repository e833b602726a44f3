//! Store, jobs, entropy, time and faults in one value.

use backburner_core::Outcome;
use backburner_core::imports::{
    Change, Entropy, Entry, Failure, Fragment, JobSpec, JobState, Jobs, StartError, StartErrorKind,
    StopReason, Store, StoreError, StoreErrorKind, Versioned,
};

use super::faults::{Fault, Faults, Import, Verdict};
use super::interference::Interference;
use super::jobs::FakeJobs;
use super::random::Random;
use super::store::{FakeStore, error};

/// When a fake world begins: 2026-07-28T00:00:00Z, in milliseconds since 1970.
pub(crate) const EPOCH: u64 = 1_785_196_800_000;

/// One machine. Cloning it gives a second one in which the same will happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FakeWorld {
    /// What is stored.
    pub(crate) store: FakeStore,
    /// What runs.
    pub(crate) jobs: FakeJobs,
    /// What goes wrong next.
    pub(crate) faults: Faults,
    /// The present, in milliseconds since 1970: true time, which only goes on.
    pub(crate) clock: u64,
    /// What another server does in the middle of the next call.
    pub(crate) interference: Option<Interference>,
    /// What came of that.
    pub(crate) interfered: Option<Outcome>,
    random: Random,
}

impl FakeWorld {
    /// An empty machine at [`EPOCH`]; the seed decides its random bytes.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            store: FakeStore::default(),
            jobs: FakeJobs::default(),
            faults: Faults::default(),
            clock: EPOCH,
            interference: None,
            interfered: None,
            random: Random::new(seed),
        }
    }

    fn store_call<T>(
        &mut self,
        import: Import,
        call: impl FnOnce(&mut FakeStore) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.interfere();
        match self.faults.next(import) {
            Verdict::Work => call(&mut self.store),
            Verdict::Fail(fault) => Err(error(match fault {
                Fault::Conflict => StoreErrorKind::Conflict,
                Fault::NoSpace => StoreErrorKind::NoSpace,
                Fault::TooLarge => StoreErrorKind::TooLarge,
                Fault::Corrupt => StoreErrorKind::Corrupt,
                _ => StoreErrorKind::Other,
            })),
            Verdict::WorkThenFail => {
                // A store that fails has done nothing; only a server that dies may not learn of success.
                if self.faults.is_crashed() {
                    call(&mut self.store)?;
                }
                Err(error(StoreErrorKind::Other))
            }
        }
    }

    /// Starts nothing; other servers may see a job until that is certain.
    fn fail_to_start(&mut self, id: &str, spec: &JobSpec) {
        if self.faults.is_crashed() || !self.jobs.appear(self.clock, id, spec) {
            return;
        }
        self.interfere();
        self.jobs.vanish(id);
    }

    fn jobs_call<T>(
        &mut self,
        import: Import,
        call: impl FnOnce(&mut FakeJobs, u64) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let failure = || Failure {
            detail: "made up by the fake jobs".to_owned(),
        };
        self.interfere();
        match self.faults.next(import) {
            Verdict::Work => call(&mut self.jobs, self.clock),
            Verdict::Fail(_) => Err(failure()),
            Verdict::WorkThenFail => {
                call(&mut self.jobs, self.clock)?;
                Err(failure())
            }
        }
    }
}

impl Store for FakeWorld {
    fn get(&mut self, key: &str) -> Result<Option<Versioned>, StoreError> {
        self.store_call(Import::Get, |store| store.get(key))
    }

    fn scan(
        &mut self,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<Entry>, StoreError> {
        self.store_call(Import::Scan, |store| store.scan(prefix, after, limit))
    }

    fn commit(&mut self, changes: Vec<Change>) -> Result<(), StoreError> {
        self.store_call(Import::Commit, |store| store.commit(changes))
    }
}

impl Jobs for FakeWorld {
    fn start(&mut self, id: &str, spec: &JobSpec) -> Result<(), StartError> {
        let failed = |kind| {
            Err(StartError {
                kind,
                detail: "made up by the fake jobs".to_owned(),
            })
        };
        self.interfere();
        match self.faults.next(Import::Start) {
            Verdict::Work => self.jobs.start(self.clock, id, spec),
            Verdict::Fail(Fault::AlreadyKnown) => {
                // It is so: somebody else was faster.
                self.jobs.stop(self.clock, id, StopReason::Cancelled);
                failed(StartErrorKind::AlreadyKnown)
            }
            Verdict::Fail(fault) => {
                self.fail_to_start(id, spec);
                failed(match fault {
                    Fault::BadDirectory => StartErrorKind::BadDirectory,
                    Fault::BadSpec => StartErrorKind::BadSpec,
                    Fault::NoSpace => StartErrorKind::NoSpace,
                    _ => StartErrorKind::Other,
                })
            }
            Verdict::WorkThenFail => {
                // A start that fails has started nothing; only a server that dies may not learn of success.
                if self.faults.is_crashed() {
                    self.jobs.start(self.clock, id, spec)?;
                }
                failed(StartErrorKind::Other)
            }
        }
    }

    fn stop(&mut self, id: &str, reason: StopReason) -> Result<(), Failure> {
        self.jobs_call(Import::Stop, |jobs, now| {
            jobs.stop(now, id, reason);
            Ok(())
        })
    }

    fn inspect(&mut self, id: &str) -> Result<JobState, Failure> {
        self.jobs_call(Import::Inspect, |jobs, now| Ok(jobs.inspect(now, id)))
    }

    fn answer(&mut self, id: &str, key: &str, answer: &str) -> Result<(), Failure> {
        self.jobs_call(Import::Answer, |jobs, now| {
            jobs.answer(now, id, key, answer);
            Ok(())
        })
    }

    fn enter(&mut self, id: &str, key: &str, line: Option<&str>) -> Result<(), Failure> {
        self.jobs_call(Import::Answer, |jobs, now| {
            jobs.enter(now, id, key, line);
            Ok(())
        })
    }

    fn read(&mut self, id: &str, offset: u64, limit: u32) -> Result<Vec<Fragment>, Failure> {
        self.jobs_call(Import::Read, |jobs, now| {
            Ok(jobs.read(now, id, offset, limit))
        })
    }

    fn forget(&mut self, id: &str) -> Result<(), Failure> {
        self.jobs_call(Import::Forget, |jobs, now| jobs.forget(now, id))
    }
}

impl Entropy for FakeWorld {
    fn random_bytes(&mut self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.random.next().to_le_bytes());
        bytes[8..].copy_from_slice(&self.random.next().to_le_bytes());
        bytes
    }
}
