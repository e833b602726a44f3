//! Jobs that run until a test ends them.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use backburner::jobs::{
    End, Failure, Fragment, Jobs, Outcome, Progress, Spec, StartError, State, StopReason,
};
use tokio::sync::watch;
use uuid::Uuid;

/// Jobs in real time that do nothing. Each exits with code 7 when the test says so. Clones are the same jobs.
#[derive(Clone, Debug, Default)]
pub struct JobsByHand(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    started: Mutex<Vec<Uuid>>,
    /// Who starts a job waits for it.
    gate: Mutex<()>,
    ended: watch::Sender<BTreeSet<Uuid>>,
    cannot_be_waited_for: AtomicBool,
}

impl JobsByHand {
    /// How many jobs have been asked for, also those that are held up.
    #[must_use]
    pub fn asked_for(&self) -> usize {
        self.started().len()
    }

    /// How many ends of jobs are being waited for.
    #[must_use]
    pub fn waited_for(&self) -> usize {
        self.0.ended.receiver_count()
    }

    /// Ends all jobs that have been asked for.
    pub fn end(&self) {
        let started = self.started().clone();
        self.0.ended.send_modify(|ended| ended.extend(started));
    }

    /// Holds up whoever starts a job, for as long as what it gives lives.
    pub fn hold_up(&self) -> MutexGuard<'_, ()> {
        self.0.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on it panics to wait for the end of a job.
    pub fn forbid_to_wait(&self) {
        self.0.cannot_be_waited_for.store(true, Ordering::SeqCst);
    }

    fn started(&self) -> MutexGuard<'_, Vec<Uuid>> {
        self.0
            .started
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn has_ended(&self, id: Uuid) -> bool {
        self.0.ended.borrow().contains(&id)
    }
}

impl Jobs for JobsByHand {
    fn start(&self, id: Uuid, _: &Spec) -> Result<(), StartError> {
        self.started().push(id);
        drop(self.hold_up());
        Ok(())
    }

    fn stop(&self, id: Uuid, _: StopReason) -> Result<(), Failure> {
        self.0.ended.send_modify(|ended| {
            ended.insert(id);
        });
        Ok(())
    }

    fn inspect(&self, id: Uuid) -> Result<State, Failure> {
        if !self.started().contains(&id) {
            return Ok(State::Unknown);
        }
        if !self.has_ended(id) {
            return Ok(State::Running(Progress {
                started_at: 0,
                running_ms: 0,
                output_bytes: 0,
                last_output_at: None,
                stopping: None,
                questions: Vec::new(),
                prompt: None,
                report: None,
            }));
        }
        Ok(State::Ended(Outcome {
            started_at: 0,
            ended_at: 0,
            duration_ms: 0,
            end: End::Exited { code: 7 },
            stopped: None,
            output_bytes: 0,
            dropped_bytes: 0,
            leftovers: Vec::new(),
        }))
    }

    fn read(&self, _: Uuid, _: u64, _: u32) -> Result<Vec<Fragment>, Failure> {
        Ok(Vec::new())
    }

    fn forget(&self, _: Uuid) -> Result<(), Failure> {
        Ok(())
    }

    fn ended(&self, id: Uuid) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        let is_allowed = !self.0.cannot_be_waited_for.load(Ordering::SeqCst);
        assert!(is_allowed, "a test wants this panic");
        let mut ended = self.0.ended.subscribe();
        Box::pin(async move {
            // Fails where the jobs are gone, and nobody waits for one.
            let _ = ended.wait_for(|ended| ended.contains(&id)).await;
        })
    }
}
