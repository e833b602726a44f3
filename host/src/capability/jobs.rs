//! The import `jobs`, on whatever [`Jobs`](crate::jobs::Jobs) the server was made with.

use uuid::Uuid;

use crate::bindings::backburner::server::jobs as wit;
use crate::engine::State;
use crate::jobs::{
    Command, End, Failure, Fragment, Loss, Outcome, Process, Progress, Prompt, Question, Report,
    Spec, StartError, StopCause, StopReason, Stream,
};

impl wit::Host for State {
    fn start(&mut self, id: String, spec: wit::Spec) -> Result<(), wit::StartError> {
        let Some(id) = parse(&id) else {
            return Err(StartError::BadSpec("a job's name is a UUID".into()).into());
        };
        let spec = Spec::from(spec);
        Ok(self.on_host(|state| state.jobs.start(id, &spec))?)
    }

    fn stop(&mut self, id: String, reason: wit::StopReason) -> Result<(), wit::Failure> {
        let id = parse(&id).ok_or_else(no_such_name)?;
        Ok(self.on_host(|state| state.jobs.stop(id, reason.into()))?)
    }

    fn inspect(&mut self, id: String) -> Result<wit::State, wit::Failure> {
        let Some(id) = parse(&id) else {
            return Ok(wit::State::Unknown);
        };
        Ok(self.on_host(|state| state.jobs.inspect(id))?.into())
    }

    fn answer(&mut self, id: String, key: String, answer: String) -> Result<(), wit::Failure> {
        let Some(id) = parse(&id) else {
            return Ok(());
        };
        Ok(self.on_host(|state| state.jobs.answer(id, &key, &answer))?)
    }

    fn enter(&mut self, id: String, key: String, line: Option<String>) -> Result<(), wit::Failure> {
        let Some(id) = parse(&id) else {
            return Ok(());
        };
        Ok(self.on_host(|state| state.jobs.enter(id, &key, line.as_deref()))?)
    }

    fn read(
        &mut self,
        id: String,
        offset: u64,
        limit: u32,
    ) -> Result<Vec<wit::Fragment>, wit::Failure> {
        let Some(id) = parse(&id) else {
            return Ok(Vec::new());
        };
        let fragments = self.on_host(|state| state.jobs.read(id, offset, limit))?;
        Ok(fragments.into_iter().map(wit::Fragment::from).collect())
    }

    fn forget(&mut self, id: String) -> Result<(), wit::Failure> {
        let Some(id) = parse(&id) else {
            return Ok(());
        };
        Ok(self.on_host(|state| state.jobs.forget(id))?)
    }
}

/// A job's name, if it is one in the only form that the contract knows.
fn parse(id: &str) -> Option<Uuid> {
    let parsed = Uuid::try_parse(id).ok()?;
    (parsed.hyphenated().encode_lower(&mut Uuid::encode_buffer()) == id).then_some(parsed)
}

fn no_such_name() -> wit::Failure {
    wit::Failure {
        detail: "a job's name is a UUID".into(),
    }
}

impl From<wit::Spec> for Spec {
    fn from(it: wit::Spec) -> Self {
        Self {
            command: match it.command {
                wit::Command::Shell(line) => Command::Shell(line),
                wit::Command::Program(words) => Command::Program(words),
            },
            directory: it.directory,
            environment: it.environment,
            stdin: it.stdin,
            interactive: it.interactive,
            timeout_ms: it.timeout_ms,
            lifetime_ms: it.lifetime_ms,
            grace_ms: it.grace_ms,
            output_limit_bytes: it.output_limit_bytes,
        }
    }
}

impl From<StartError> for wit::StartError {
    fn from(error: StartError) -> Self {
        let kind = match error {
            StartError::AlreadyKnown => wit::StartErrorKind::AlreadyKnown,
            StartError::NoDirectory(_)
            | StartError::NotADirectory(_)
            | StartError::DirectoryDenied(_)
            | StartError::DirectoryUnusable(..) => wit::StartErrorKind::BadDirectory,
            StartError::BadSpec(_) => wit::StartErrorKind::BadSpec,
            StartError::NoSpace => wit::StartErrorKind::NoSpace,
            StartError::Files(_) | StartError::Supervisor(_) => wit::StartErrorKind::Other,
        };
        Self {
            kind,
            detail: error.to_string(),
        }
    }
}

impl From<wit::StopReason> for StopReason {
    fn from(it: wit::StopReason) -> Self {
        match it {
            wit::StopReason::Cancelled => Self::Cancelled,
            wit::StopReason::Expired => Self::Expired,
        }
    }
}

impl From<StopCause> for wit::StopCause {
    fn from(it: StopCause) -> Self {
        match it {
            StopCause::TimedOut => Self::TimedOut,
            StopCause::Cancelled => Self::Cancelled,
            StopCause::Expired => Self::Expired,
            StopCause::ShutDown => Self::ShutDown,
        }
    }
}

impl From<Failure> for wit::Failure {
    fn from(it: Failure) -> Self {
        Self { detail: it.detail }
    }
}

impl From<crate::jobs::State> for wit::State {
    fn from(it: crate::jobs::State) -> Self {
        match it {
            crate::jobs::State::Unknown => Self::Unknown,
            crate::jobs::State::Running(progress) => Self::Running(progress.into()),
            crate::jobs::State::Ended(outcome) => Self::Ended(outcome.into()),
        }
    }
}

impl From<Progress> for wit::Progress {
    fn from(it: Progress) -> Self {
        Self {
            started_at: it.started_at,
            running_ms: it.running_ms,
            output_bytes: it.output_bytes,
            last_output_at: it.last_output_at,
            stopping: it.stopping.map(wit::StopCause::from),
            questions: it.questions.into_iter().map(wit::Question::from).collect(),
            prompt: it.prompt.map(wit::Prompt::from),
            report: it.report.map(wit::Report::from),
        }
    }
}

impl From<Question> for wit::Question {
    fn from(it: Question) -> Self {
        Self {
            key: it.key,
            form: it.form,
            asked_at: it.asked_at,
        }
    }
}

impl From<Prompt> for wit::Prompt {
    fn from(it: Prompt) -> Self {
        Self {
            key: it.key,
            text: it.text,
            hidden: it.hidden,
            asked_at: it.asked_at,
        }
    }
}

impl From<Report> for wit::Report {
    fn from(it: Report) -> Self {
        Self {
            percent: it.percent,
            text: it.text,
            at: it.at,
        }
    }
}

impl From<Outcome> for wit::Outcome {
    fn from(it: Outcome) -> Self {
        Self {
            started_at: it.started_at,
            ended_at: it.ended_at,
            duration_ms: it.duration_ms,
            end: it.end.into(),
            stopped: it.stopped.map(wit::StopCause::from),
            output_bytes: it.output_bytes,
            dropped_bytes: it.dropped_bytes,
            leftovers: it.leftovers.into_iter().map(wit::Process::from).collect(),
        }
    }
}

impl From<End> for wit::End {
    fn from(it: End) -> Self {
        match it {
            End::Exited { code } => Self::Exited(wit::Exit { code }),
            End::Signalled {
                signal,
                core_dumped,
            } => Self::Signalled(wit::Death {
                signal,
                core_dumped,
            }),
            End::NotStarted { detail } => Self::NotStarted(wit::StartFailure { detail }),
            End::Lost { kind } => Self::Lost(wit::Loss {
                kind: match kind {
                    Loss::Supervisor => wit::LossKind::Supervisor,
                    Loss::Machine => wit::LossKind::Machine,
                    Loss::Files => wit::LossKind::Files,
                    Loss::NeverStarted => wit::LossKind::NeverStarted,
                },
            }),
        }
    }
}

impl From<Process> for wit::Process {
    fn from(it: Process) -> Self {
        Self {
            pid: it.pid,
            command: it.command,
        }
    }
}

impl From<Fragment> for wit::Fragment {
    fn from(it: Fragment) -> Self {
        Self {
            offset: it.offset,
            at: it.at,
            stream: match it.stream {
                Stream::Stdout => wit::Stream::Stdout,
                Stream::Stderr => wit::Stream::Stderr,
            },
            bytes: it.bytes,
        }
    }
}
