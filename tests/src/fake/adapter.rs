//! The host's traits as the core's: what the bindings of guest and host do, without a component between them.

use std::sync::Arc;

use backburner::jobs as host_jobs;
use backburner::jobs::Jobs as _;
use backburner::store as host_store;
use backburner::store::Store as _;
use backburner_core::imports as core;
use uuid::Uuid;

use super::{Machine, ScriptedJobs};

/// Everything that the core needs, from a [`Machine`].
#[derive(Debug)]
pub struct CoreWorld {
    store: Arc<host_store::MemoryStore>,
    jobs: Arc<ScriptedJobs>,
}

impl CoreWorld {
    /// What the core sees of `machine`.
    #[must_use]
    pub fn new(machine: &Machine) -> Self {
        Self {
            store: Arc::clone(&machine.store),
            jobs: Arc::clone(&machine.jobs),
        }
    }
}

impl core::Entropy for CoreWorld {
    fn random_bytes(&mut self) -> [u8; 16] {
        *Uuid::new_v4().as_bytes()
    }
}

impl core::Store for CoreWorld {
    fn get(&mut self, key: &str) -> Result<Option<core::Versioned>, core::StoreError> {
        let found = self.store.get(key).map_err(|error| store_error(&error))?;
        Ok(found.map(|found| core::Versioned {
            value: found.value,
            version: found.version,
        }))
    }

    fn scan(
        &mut self,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<core::Entry>, core::StoreError> {
        let entries = self
            .store
            .scan(prefix, after, limit)
            .map_err(|error| store_error(&error))?;
        let converted = entries.into_iter().map(|entry| core::Entry {
            key: entry.key,
            value: entry.value,
            version: entry.version,
        });
        Ok(converted.collect())
    }

    fn commit(&mut self, changes: Vec<core::Change>) -> Result<(), core::StoreError> {
        let changes: Vec<_> = changes.into_iter().map(change).collect();
        self.store
            .commit(&changes)
            .map_err(|error| store_error(&error))
    }
}

impl core::Jobs for CoreWorld {
    fn start(&mut self, id: &str, spec: &core::JobSpec) -> Result<(), core::StartError> {
        self.jobs
            .start(named(id), &job_spec(spec))
            .map_err(|error| start_error(&error))
    }

    fn stop(&mut self, id: &str, reason: core::StopReason) -> Result<(), core::Failure> {
        let reason = match reason {
            core::StopReason::Cancelled => host_jobs::StopReason::Cancelled,
            core::StopReason::Expired => host_jobs::StopReason::Expired,
        };
        self.jobs.stop(named(id), reason).map_err(failure)
    }

    fn inspect(&mut self, id: &str) -> Result<core::JobState, core::Failure> {
        Ok(match self.jobs.inspect(named(id)).map_err(failure)? {
            host_jobs::State::Unknown => core::JobState::Unknown,
            host_jobs::State::Running(running) => core::JobState::Running(progress(&running)),
            host_jobs::State::Ended(ended) => core::JobState::Ended(outcome(ended)),
        })
    }

    fn answer(&mut self, id: &str, key: &str, answer: &str) -> Result<(), core::Failure> {
        self.jobs.answer(named(id), key, answer).map_err(failure)
    }

    fn enter(&mut self, id: &str, key: &str, line: Option<&str>) -> Result<(), core::Failure> {
        self.jobs.enter(named(id), key, line).map_err(failure)
    }

    fn read(
        &mut self,
        id: &str,
        offset: u64,
        limit: u32,
    ) -> Result<Vec<core::Fragment>, core::Failure> {
        let fragments = self.jobs.read(named(id), offset, limit).map_err(failure)?;
        Ok(fragments.into_iter().map(fragment).collect())
    }

    fn forget(&mut self, id: &str) -> Result<(), core::Failure> {
        self.jobs.forget(named(id)).map_err(failure)
    }
}

/// The core never names a job otherwise: the ids are its own.
fn named(id: &str) -> Uuid {
    Uuid::parse_str(id).unwrap_or_else(|_| panic!("the core named a job {id:?}, which is no UUID"))
}

fn store_error(error: &host_store::Error) -> core::StoreError {
    let kind = match error {
        host_store::Error::Conflict { .. } => core::StoreErrorKind::Conflict,
        host_store::Error::NoSpace(_) => core::StoreErrorKind::NoSpace,
        host_store::Error::TooLarge { .. } => core::StoreErrorKind::TooLarge,
        host_store::Error::Corrupt(_) | host_store::Error::Lost { .. } => {
            core::StoreErrorKind::Corrupt
        }
        _ => core::StoreErrorKind::Other,
    };
    core::StoreError {
        kind,
        detail: error.to_string(),
    }
}

fn change(change: core::Change) -> host_store::Change {
    match change {
        core::Change::Put { key, value, expect } => host_store::Change::Put {
            key,
            value,
            expect: expectation(expect),
        },
        core::Change::Remove { key, expect } => host_store::Change::Remove {
            key,
            expect: expectation(expect),
        },
    }
}

fn expectation(expectation: core::Expectation) -> host_store::Expectation {
    match expectation {
        core::Expectation::Anything => host_store::Expectation::Anything,
        core::Expectation::Absent => host_store::Expectation::Absent,
        core::Expectation::WrittenBy(version) => host_store::Expectation::WrittenBy(version),
    }
}

fn job_spec(spec: &core::JobSpec) -> host_jobs::Spec {
    host_jobs::Spec {
        command: match &spec.command {
            core::Command::Shell(line) => host_jobs::Command::Shell(line.clone()),
            core::Command::Program(words) => host_jobs::Command::Program(words.clone()),
        },
        directory: spec.directory.clone(),
        environment: spec.environment.clone(),
        stdin: spec.stdin.clone(),
        interactive: spec.interactive,
        timeout_ms: spec.timeout_ms,
        lifetime_ms: spec.lifetime_ms,
        grace_ms: spec.grace_ms,
        output_limit_bytes: spec.output_limit_bytes,
    }
}

fn start_error(error: &host_jobs::StartError) -> core::StartError {
    let kind = match error {
        host_jobs::StartError::AlreadyKnown => core::StartErrorKind::AlreadyKnown,
        host_jobs::StartError::NoDirectory(_)
        | host_jobs::StartError::NotADirectory(_)
        | host_jobs::StartError::DirectoryDenied(_)
        | host_jobs::StartError::DirectoryUnusable(..) => core::StartErrorKind::BadDirectory,
        host_jobs::StartError::BadSpec(_) => core::StartErrorKind::BadSpec,
        host_jobs::StartError::NoSpace => core::StartErrorKind::NoSpace,
        host_jobs::StartError::Files(_) | host_jobs::StartError::Supervisor(_) => {
            core::StartErrorKind::Other
        }
    };
    core::StartError {
        kind,
        detail: error.to_string(),
    }
}

fn failure(failure: host_jobs::Failure) -> core::Failure {
    core::Failure {
        detail: failure.detail,
    }
}

fn stop_cause(cause: host_jobs::StopCause) -> core::StopCause {
    match cause {
        host_jobs::StopCause::TimedOut => core::StopCause::TimedOut,
        host_jobs::StopCause::Cancelled => core::StopCause::Cancelled,
        host_jobs::StopCause::Expired => core::StopCause::Expired,
        host_jobs::StopCause::ShutDown => core::StopCause::ShutDown,
    }
}

fn progress(progress: &host_jobs::Progress) -> core::Progress {
    core::Progress {
        started_at: progress.started_at,
        running_ms: progress.running_ms,
        output_bytes: progress.output_bytes,
        last_output_at: progress.last_output_at,
        stopping: progress.stopping.map(stop_cause),
        questions: progress.questions.iter().map(question).collect(),
        prompt: progress.prompt.as_ref().map(prompt),
        report: progress.report.as_ref().map(report),
    }
}

fn question(question: &host_jobs::Question) -> core::Question {
    core::Question {
        key: question.key.clone(),
        form: question.form.clone(),
        asked_at: question.asked_at,
    }
}

fn prompt(prompt: &host_jobs::Prompt) -> core::Prompt {
    core::Prompt {
        key: prompt.key.clone(),
        text: prompt.text.clone(),
        hidden: prompt.hidden,
        asked_at: prompt.asked_at,
    }
}

fn report(report: &host_jobs::Report) -> core::Report {
    core::Report {
        percent: report.percent,
        text: report.text.clone(),
        at: report.at,
    }
}

fn outcome(outcome: host_jobs::Outcome) -> core::JobOutcome {
    core::JobOutcome {
        started_at: outcome.started_at,
        ended_at: outcome.ended_at,
        duration_ms: outcome.duration_ms,
        end: end(outcome.end),
        stopped: outcome.stopped.map(stop_cause),
        output_bytes: outcome.output_bytes,
        dropped_bytes: outcome.dropped_bytes,
        leftovers: outcome.leftovers.into_iter().map(process).collect(),
    }
}

fn end(end: host_jobs::End) -> core::End {
    match end {
        host_jobs::End::Exited { code } => core::End::Exited(code),
        host_jobs::End::Signalled {
            signal,
            core_dumped,
        } => core::End::Signalled {
            signal,
            core_dumped,
        },
        host_jobs::End::NotStarted { detail } => core::End::NotStarted(detail),
        host_jobs::End::Lost { kind } => core::End::Lost(match kind {
            host_jobs::Loss::Supervisor => core::Loss::Supervisor,
            host_jobs::Loss::Machine => core::Loss::Machine,
            host_jobs::Loss::Files => core::Loss::Files,
            host_jobs::Loss::NeverStarted => core::Loss::NeverStarted,
        }),
    }
}

fn process(process: host_jobs::Process) -> core::Process {
    core::Process {
        pid: process.pid,
        command: process.command,
    }
}

fn fragment(fragment: host_jobs::Fragment) -> core::Fragment {
    core::Fragment {
        offset: fragment.offset,
        at: fragment.at,
        stream: match fragment.stream {
            host_jobs::Stream::Stdout => core::Stream::Stdout,
            host_jobs::Stream::Stderr => core::Stream::Stderr,
        },
        bytes: fragment.bytes,
    }
}
