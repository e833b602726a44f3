//! Each value of the interface as the core's value of the same name, and back.

use backburner_core as core;
use backburner_core::imports as model;

use crate::bindings::backburner::server::{jobs, store};
use crate::bindings::exports::backburner::server::protocol;

impl From<store::Versioned> for model::Versioned {
    fn from(it: store::Versioned) -> Self {
        Self {
            value: it.value,
            version: it.version,
        }
    }
}

impl From<store::Entry> for model::Entry {
    fn from(it: store::Entry) -> Self {
        Self {
            key: it.key,
            value: it.value,
            version: it.version,
        }
    }
}

impl From<store::Error> for model::StoreError {
    fn from(it: store::Error) -> Self {
        let kind = match it.kind {
            store::ErrorKind::Conflict => model::StoreErrorKind::Conflict,
            store::ErrorKind::NoSpace => model::StoreErrorKind::NoSpace,
            store::ErrorKind::TooLarge => model::StoreErrorKind::TooLarge,
            store::ErrorKind::Corrupt => model::StoreErrorKind::Corrupt,
            store::ErrorKind::Other => model::StoreErrorKind::Other,
        };
        Self {
            kind,
            detail: it.detail,
        }
    }
}

impl From<model::Expectation> for store::Expectation {
    fn from(it: model::Expectation) -> Self {
        match it {
            model::Expectation::Anything => Self::Anything,
            model::Expectation::Absent => Self::Absent,
            model::Expectation::WrittenBy(version) => Self::WrittenBy(version),
        }
    }
}

impl From<model::Change> for store::Change {
    fn from(it: model::Change) -> Self {
        match it {
            model::Change::Put { key, value, expect } => Self::Put(store::Put {
                key,
                value,
                expect: expect.into(),
            }),
            model::Change::Remove { key, expect } => Self::Remove(store::Remove {
                key,
                expect: expect.into(),
            }),
        }
    }
}

impl From<&model::JobSpec> for jobs::Spec {
    fn from(it: &model::JobSpec) -> Self {
        Self {
            command: match &it.command {
                model::Command::Shell(line) => jobs::Command::Shell(line.clone()),
                model::Command::Program(words) => jobs::Command::Program(words.clone()),
            },
            directory: it.directory.clone(),
            environment: it.environment.clone(),
            stdin: it.stdin.clone(),
            interactive: it.interactive,
            timeout_ms: it.timeout_ms,
            lifetime_ms: it.lifetime_ms,
            grace_ms: it.grace_ms,
            output_limit_bytes: it.output_limit_bytes,
        }
    }
}

impl From<jobs::StartError> for model::StartError {
    fn from(it: jobs::StartError) -> Self {
        let kind = match it.kind {
            jobs::StartErrorKind::AlreadyKnown => model::StartErrorKind::AlreadyKnown,
            jobs::StartErrorKind::BadDirectory => model::StartErrorKind::BadDirectory,
            jobs::StartErrorKind::BadSpec => model::StartErrorKind::BadSpec,
            jobs::StartErrorKind::NoSpace => model::StartErrorKind::NoSpace,
            jobs::StartErrorKind::Other => model::StartErrorKind::Other,
        };
        Self {
            kind,
            detail: it.detail,
        }
    }
}

impl From<model::StopReason> for jobs::StopReason {
    fn from(it: model::StopReason) -> Self {
        match it {
            model::StopReason::Cancelled => Self::Cancelled,
            model::StopReason::Expired => Self::Expired,
        }
    }
}

impl From<jobs::StopCause> for model::StopCause {
    fn from(it: jobs::StopCause) -> Self {
        match it {
            jobs::StopCause::TimedOut => Self::TimedOut,
            jobs::StopCause::Cancelled => Self::Cancelled,
            jobs::StopCause::Expired => Self::Expired,
            jobs::StopCause::ShutDown => Self::ShutDown,
        }
    }
}

impl From<jobs::Failure> for model::Failure {
    fn from(it: jobs::Failure) -> Self {
        Self { detail: it.detail }
    }
}

impl From<jobs::State> for model::JobState {
    fn from(it: jobs::State) -> Self {
        match it {
            jobs::State::Unknown => Self::Unknown,
            jobs::State::Running(progress) => Self::Running(progress.into()),
            jobs::State::Ended(outcome) => Self::Ended(outcome.into()),
        }
    }
}

impl From<jobs::Progress> for model::Progress {
    fn from(it: jobs::Progress) -> Self {
        Self {
            started_at: it.started_at,
            running_ms: it.running_ms,
            output_bytes: it.output_bytes,
            last_output_at: it.last_output_at,
            stopping: it.stopping.map(model::StopCause::from),
            questions: it
                .questions
                .into_iter()
                .map(model::Question::from)
                .collect(),
            prompt: it.prompt.map(model::Prompt::from),
            report: it.report.map(model::Report::from),
        }
    }
}

impl From<jobs::Question> for model::Question {
    fn from(it: jobs::Question) -> Self {
        Self {
            key: it.key,
            form: it.form,
            asked_at: it.asked_at,
        }
    }
}

impl From<jobs::Prompt> for model::Prompt {
    fn from(it: jobs::Prompt) -> Self {
        Self {
            key: it.key,
            text: it.text,
            hidden: it.hidden,
            asked_at: it.asked_at,
        }
    }
}

impl From<jobs::Report> for model::Report {
    fn from(it: jobs::Report) -> Self {
        Self {
            percent: it.percent,
            text: it.text,
            at: it.at,
        }
    }
}

impl From<jobs::Outcome> for model::JobOutcome {
    fn from(it: jobs::Outcome) -> Self {
        Self {
            started_at: it.started_at,
            ended_at: it.ended_at,
            duration_ms: it.duration_ms,
            end: it.end.into(),
            stopped: it.stopped.map(model::StopCause::from),
            output_bytes: it.output_bytes,
            dropped_bytes: it.dropped_bytes,
            leftovers: it.leftovers.into_iter().map(model::Process::from).collect(),
        }
    }
}

impl From<jobs::End> for model::End {
    fn from(it: jobs::End) -> Self {
        match it {
            jobs::End::Exited(exit) => Self::Exited(exit.code),
            jobs::End::Signalled(death) => Self::Signalled {
                signal: death.signal,
                core_dumped: death.core_dumped,
            },
            jobs::End::NotStarted(failure) => Self::NotStarted(failure.detail),
            jobs::End::Lost(loss) => Self::Lost(match loss.kind {
                jobs::LossKind::Supervisor => model::Loss::Supervisor,
                jobs::LossKind::Machine => model::Loss::Machine,
                jobs::LossKind::Files => model::Loss::Files,
                jobs::LossKind::NeverStarted => model::Loss::NeverStarted,
            }),
        }
    }
}

impl From<jobs::Process> for model::Process {
    fn from(it: jobs::Process) -> Self {
        Self {
            pid: it.pid,
            command: it.command,
        }
    }
}

impl From<jobs::Fragment> for model::Fragment {
    fn from(it: jobs::Fragment) -> Self {
        Self {
            offset: it.offset,
            at: it.at,
            stream: match it.stream {
                jobs::Stream::Stdout => model::Stream::Stdout,
                jobs::Stream::Stderr => model::Stream::Stderr,
            },
            bytes: it.bytes,
        }
    }
}

impl From<core::ConfigError> for protocol::ConfigError {
    fn from(it: core::ConfigError) -> Self {
        Self {
            at: it.at,
            reason: it.reason,
        }
    }
}

impl From<protocol::Context> for core::Context {
    fn from(it: protocol::Context) -> Self {
        Self {
            now: it.now,
            principal: it.principal,
        }
    }
}

impl From<protocol::Wake> for core::Wake {
    fn from(it: protocol::Wake) -> Self {
        match it {
            protocol::Wake::JobEnded => Self::JobEnded,
            protocol::Wake::Deadline => Self::Deadline,
            protocol::Wake::Configured => Self::Configured,
            protocol::Wake::Cancelled => Self::Cancelled,
            protocol::Wake::Shutdown => Self::Shutdown,
        }
    }
}

impl From<protocol::Refusal> for core::Refusal {
    fn from(it: protocol::Refusal) -> Self {
        match it {
            protocol::Refusal::Trapped => Self::Trapped,
            protocol::Refusal::TooLarge => Self::TooLarge,
            protocol::Refusal::NotUtf8 => Self::NotUtf8,
        }
    }
}

impl From<core::Pending> for protocol::Pending {
    fn from(it: core::Pending) -> Self {
        Self {
            request: it.request,
            ticket: it.ticket,
            jobs: it.jobs,
            deadline: it.deadline,
            until_configured: it.until_configured,
        }
    }
}

impl From<core::Outcome> for protocol::Outcome {
    fn from(it: core::Outcome) -> Self {
        match it {
            core::Outcome::Nothing => Self::Nothing,
            core::Outcome::Reply(body) => Self::Reply(body),
            core::Outcome::Wait(pending) => Self::Wait(pending.into()),
            core::Outcome::Notify { messages, pending } => Self::Notify(protocol::Notice {
                messages,
                pending: pending.into(),
            }),
            core::Outcome::Cancel { request } => Self::Cancel(protocol::Cancellation { request }),
        }
    }
}
