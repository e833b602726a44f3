//! Jobs that break one promise each, and the checks that say so.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use backburner::jobs::{
    End, Failure, Fragment, Jobs, Report, Spec, StartError, State, StopReason, Stream,
    SupervisedJobs,
};
use backburner_tests::TestDir;
use backburner_tests::conformance::{Opened, Subject, checks};
use uuid::Uuid;

use super::{native_offers, open_native};

/// What is wrong with jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// A second start succeeds.
    AllowsSecondStart,
    /// A job that is stopped before its start is not remembered.
    ForgetsEarlyStops,
    /// An exit status from 128 on is taken for a signal.
    TakesStatusForSignal,
    /// A program that cannot be executed is an error of the shell.
    HidesMissingPrograms,
    /// Times are in seconds.
    CountsSeconds,
    /// A duration is not known.
    HasNoDuration,
    /// Limits are numbers of 32 bits.
    WrapsLimits,
    /// A first variable wins.
    KeepsFirstVariable,
    /// Standard input is trimmed.
    TrimsInput,
    /// A directory that does not exist is some other error.
    HidesBadDirectory,
    /// What is no UTF-8 is replaced.
    ReplacesBytes,
    /// All output is standard output.
    MixesStreams,
    /// Output is read from its beginning, whatever the offset.
    IgnoresOffset,
    /// What is dropped is not counted.
    HidesDropped,
    /// A job that runs has written nothing yet.
    HasNoProgress,
    /// Nobody has any grace.
    HasNoGrace,
    /// A grace of 0 is one of some seconds.
    AlwaysHasGrace,
    /// Nothing says why a job was stopped.
    HidesCause,
    /// No leftovers are named.
    HidesLeftovers,
    /// A job seems to say something of itself that it does not.
    AsksByItself,
    /// An answer to a question that is not open is an error.
    RefusesAnswers,
    /// A job that runs can be forgotten, or so it says.
    ForgetsRunning,
    /// When they are opened again, nothing is known.
    ForgetsAll,
}

/// Each fault, and the check that has to find it.
const FAULTS: [(Fault, &str); 23] = [
    (Fault::AllowsSecondStart, "jobs/once"),
    (Fault::ForgetsEarlyStops, "jobs/stopped-before-start"),
    (Fault::TakesStatusForSignal, "jobs/exit-status"),
    (Fault::HidesMissingPrograms, "jobs/not-started"),
    (Fault::CountsSeconds, "jobs/times"),
    (Fault::HasNoDuration, "jobs/times"),
    (Fault::WrapsLimits, "jobs/greatest-numbers"),
    (Fault::KeepsFirstVariable, "jobs/environment"),
    (Fault::TrimsInput, "jobs/stdin"),
    (Fault::HidesBadDirectory, "jobs/bad-directory"),
    (Fault::ReplacesBytes, "jobs/bytes"),
    (Fault::MixesStreams, "jobs/arrival"),
    (Fault::IgnoresOffset, "jobs/offsets"),
    (Fault::HidesDropped, "jobs/output-limit"),
    (Fault::HasNoProgress, "jobs/progress"),
    (Fault::HasNoGrace, "jobs/grace"),
    (Fault::AlwaysHasGrace, "jobs/no-grace"),
    (Fault::HidesCause, "jobs/cancelled"),
    (Fault::HidesLeftovers, "jobs/leftovers"),
    (Fault::AsksByItself, "jobs/asks-nothing"),
    (Fault::RefusesAnswers, "jobs/answers-to-nothing"),
    (Fault::ForgetsRunning, "jobs/forget-running"),
    (Fault::ForgetsAll, "jobs/outcome-lasts"),
];

/// Supervised jobs with a fault.
struct Faulty {
    jobs: SupervisedJobs,
    fault: Fault,
}

impl Faulty {
    /// What is started instead of a spec.
    fn altered(&self, spec: &Spec) -> Spec {
        let mut spec = spec.clone();
        match self.fault {
            Fault::WrapsLimits => {
                let wrapped = |ms: u64| ms & u64::from(u32::MAX);
                spec.timeout_ms = spec.timeout_ms.map(wrapped);
            }
            Fault::KeepsFirstVariable => spec.environment.reverse(),
            Fault::TrimsInput => spec.stdin = spec.stdin.trim_end_matches('\0').to_owned(),
            Fault::HasNoGrace => spec.grace_ms = 0,
            Fault::AlwaysHasGrace => spec.grace_ms = spec.grace_ms.max(2_000),
            _ => {}
        }
        spec
    }

    /// What is said of a job instead of the truth.
    fn told(&self, state: State) -> State {
        match state {
            State::Ended(mut outcome) => {
                match (self.fault, &outcome.end) {
                    (Fault::TakesStatusForSignal, End::Exited { code: 128.. }) => {
                        outcome.end = End::Signalled {
                            signal: "SIGKILL".to_owned(),
                            core_dumped: false,
                        };
                    }
                    (Fault::HidesMissingPrograms, End::NotStarted { .. }) => {
                        outcome.end = End::Exited { code: 127 };
                    }
                    (Fault::CountsSeconds, _) => outcome.started_at /= 1000,
                    (Fault::HasNoDuration, _) => outcome.duration_ms = 0,
                    (Fault::HidesDropped, _) => outcome.dropped_bytes = 0,
                    (Fault::HidesCause, _) => outcome.stopped = None,
                    (Fault::HidesLeftovers, _) => outcome.leftovers.clear(),
                    _ => {}
                }
                State::Ended(outcome)
            }
            State::Running(mut progress) if self.fault == Fault::HasNoProgress => {
                progress.output_bytes = 0;
                State::Running(progress)
            }
            State::Running(mut progress) if self.fault == Fault::AsksByItself => {
                progress.report = Some(Report {
                    percent: Some(0),
                    text: String::new(),
                    at: 0,
                });
                State::Running(progress)
            }
            other => other,
        }
    }

    /// What is said of output instead of the truth.
    fn heard(&self, mut fragment: Fragment) -> Fragment {
        match self.fault {
            Fault::ReplacesBytes => {
                fragment.bytes = String::from_utf8_lossy(&fragment.bytes)
                    .into_owned()
                    .into_bytes();
            }
            Fault::MixesStreams => fragment.stream = Stream::Stdout,
            _ => {}
        }
        fragment
    }
}

impl Jobs for Faulty {
    fn start(&self, id: Uuid, spec: &Spec) -> Result<(), StartError> {
        match (self.fault, self.jobs.start(id, &self.altered(spec))) {
            (Fault::AllowsSecondStart, Err(StartError::AlreadyKnown)) => Ok(()),
            (Fault::HidesBadDirectory, Err(StartError::NoDirectory(_))) => {
                Err(StartError::BadSpec("something is wrong".to_owned()))
            }
            (_, result) => result,
        }
    }

    fn stop(&self, id: Uuid, reason: StopReason) -> Result<(), Failure> {
        if self.fault == Fault::ForgetsEarlyStops && self.jobs.inspect(id)? == State::Unknown {
            return Ok(());
        }
        self.jobs.stop(id, reason)
    }

    fn inspect(&self, id: Uuid) -> Result<State, Failure> {
        Ok(self.told(self.jobs.inspect(id)?))
    }

    fn answer(&self, id: Uuid, key: &str, answer: &str) -> Result<(), Failure> {
        if self.fault == Fault::RefusesAnswers {
            let detail = "there is no such question".to_owned();
            return Err(Failure { detail });
        }
        self.jobs.answer(id, key, answer)
    }

    fn read(&self, id: Uuid, offset: u64, limit: u32) -> Result<Vec<Fragment>, Failure> {
        let offset = if self.fault == Fault::IgnoresOffset {
            0
        } else {
            offset
        };
        let fragments = self.jobs.read(id, offset, limit)?;
        Ok(fragments.into_iter().map(|it| self.heard(it)).collect())
    }

    fn forget(&self, id: Uuid) -> Result<(), Failure> {
        let result = self.jobs.forget(id);
        if self.fault == Fault::ForgetsRunning {
            return Ok(());
        }
        result
    }

    fn ended(&self, id: Uuid) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        self.jobs.ended(id)
    }
}

fn subject(fault: Fault) -> Subject {
    // All of them are kept until the end: what is forgotten is not what is deleted.
    let dirs = Mutex::new(vec![TestDir::new()]);
    Subject {
        open: Box::new(move || -> Opened {
            let mut dirs = dirs.lock().unwrap_or_else(PoisonError::into_inner);
            if fault == Fault::ForgetsAll {
                dirs.push(TestDir::new());
            }
            let (store, jobs) = open_native(dirs.last().expect("there is one from the beginning"));
            (Arc::new(store), Arc::new(Faulty { jobs, fault }))
        }),
        offers: native_offers(),
    }
}

#[test]
fn each_fault_of_jobs_is_found() {
    let missed: Vec<String> = FAULTS
        .iter()
        .filter_map(|(fault, check)| missed(*fault, check))
        .collect();
    assert!(missed.is_empty(), "{missed:?}");
}

/// How a check failed to find a fault; that it could not be run says nothing of the jobs.
fn missed(fault: Fault, check: &str) -> Option<String> {
    assert!(
        checks().iter().any(|known| known.name == check),
        "there is no check {check}"
    );
    match subject(fault).run(check) {
        Ok(()) => Some(format!("{fault:?} passes {check}")),
        Err(reason) if reason.starts_with("the kit") => {
            Some(format!("{fault:?} breaks {check}: {reason}"))
        }
        Err(_found) => None,
    }
}
