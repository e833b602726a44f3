//! What crosses the boundary of this module, mirroring the WIT interface `jobs`.
//!
//! The same types are written to disk, always inside something that carries a format number; a field
//! that is added needs a default, one that changes its meaning needs a new number.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// A line for the host's shell: bash where there is one, else sh.
    Shell(String),
    /// A program and its arguments, without a shell; at least one element, the program, which is looked
    /// up in the job's `PATH` where it has no separator.
    Program(Vec<String>),
}

/// Everything that a job needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// What to run.
    pub command: Command,
    /// The working directory, an absolute path; `None` for that of the process that starts the job.
    pub directory: Option<String>,
    /// Variables beside the environment of the process that starts the job; a later one wins.
    pub environment: Vec<(String, String)>,
    /// What the job reads before end of file; where it is interactive, what is typed first.
    pub stdin: String,
    /// Whether it has a terminal.
    #[serde(default)]
    pub interactive: bool,
    /// How long it may run, in milliseconds from its start; `None` for no limit.
    pub timeout_ms: Option<u64>,
    /// After how many milliseconds from its start nobody wants it any more; `None` for never.
    pub lifetime_ms: Option<u64>,
    /// How long it may take to end when it is stopped, in milliseconds; 0 kills at once.
    pub grace_ms: u64,
    /// How many bytes of output are kept; of more, the beginning and the end. Fewer than a kilobyte
    /// count as a kilobyte.
    pub output_limit_bytes: u64,
}

#[cfg(test)]
impl Spec {
    /// A job that runs this shell line, without any limit but one of 4 KiB on its output.
    pub(crate) fn of_line(line: &str) -> Self {
        Self {
            command: Command::Shell(line.to_owned()),
            directory: None,
            environment: Vec::new(),
            stdin: String::new(),
            interactive: false,
            timeout_ms: None,
            lifetime_ms: None,
            grace_ms: 0,
            output_limit_bytes: 4096,
        }
    }
}

/// Why a job did not start. Its words may be shown to who asked for the job.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The id was started or stopped before.
    #[error("this job was started or stopped before; look at it instead")]
    AlreadyKnown,
    /// There is no such working directory.
    #[error("the directory {} does not exist; create it or name another one", .0.display())]
    NoDirectory(PathBuf),
    /// The working directory is something else.
    #[error("{} is not a directory; name a directory", .0.display())]
    NotADirectory(PathBuf),
    /// The working directory may not be entered.
    #[error("the directory {} may not be entered; change its permissions or name another one", .0.display())]
    DirectoryDenied(PathBuf),
    /// The working directory cannot be entered for another reason.
    #[error("the directory {} cannot be entered: {}; name another one", .0.display(), .1)]
    DirectoryUnusable(PathBuf, #[source] std::io::Error),
    /// The spec cannot be carried out; why, in words.
    #[error("{0}")]
    BadSpec(String),
    /// The disk or a quota is full, of bytes or of files.
    #[error(
        "no space or no inodes are left for the jobs; make room (`df` and `df -i` tell) and try again"
    )]
    NoSpace,
    /// The job's files could not be made.
    #[error("the job's files cannot be written: {0}")]
    Files(#[source] std::io::Error),
    /// Its supervisor could not be made.
    #[error("the job's supervisor cannot be started: {0}")]
    Supervisor(#[source] std::io::Error),
}

/// Why somebody wants a job to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// Its owner asked for it.
    Cancelled,
    /// Its task's time to live has passed.
    Expired,
}

/// Why a job was stopped instead of ending by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopCause {
    /// It ran for its timeout.
    TimedOut,
    /// Its owner asked for it.
    Cancelled,
    /// It reached its lifetime, or was stopped because it expired.
    Expired,
    /// Its supervisor was asked to end, as at the machine's shutdown.
    ShutDown,
}

impl From<StopReason> for StopCause {
    fn from(reason: StopReason) -> Self {
        match reason {
            StopReason::Cancelled => Self::Cancelled,
            StopReason::Expired => Self::Expired,
        }
    }
}

/// A failure of the machine or of the job's files, for a log. Trying again is safe.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct Failure {
    /// What happened, in words.
    pub detail: String,
}

/// What is known of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// No such id was started or stopped here, or it was forgotten.
    Unknown,
    /// It runs, or is about to, or its last processes are being stopped.
    Running(Progress),
    /// It has ended.
    Ended(Outcome),
}

/// What is known of a job that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// When it was started, in milliseconds since 1970.
    pub started_at: u64,
    /// How long it has run, in milliseconds.
    pub running_ms: u64,
    /// How many bytes it has written to both streams.
    pub output_bytes: u64,
    /// When it last wrote, in milliseconds since 1970; `None` if it has not.
    pub last_output_at: Option<u64>,
    /// Why it is being stopped; `None` if it is not.
    pub stopping: Option<StopCause>,
    /// What it asks and nobody has answered, oldest first; at most 32. Empty where jobs have no way to ask.
    pub questions: Vec<Question>,
    /// What it waits to be typed at its terminal; `None` where it has none, waits for nothing there, or nobody sees
    /// that.
    pub prompt: Option<Prompt>,
    /// What it last said of itself; `None` where it has said nothing, or has no way to.
    pub report: Option<Report>,
}

/// Something that a job waits to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Its name among all questions that this job ever asks: 1 to 64 of `a` to `z`, `0` to `9` and `-`.
    pub key: String,
    /// What is asked, as JSON text of at most 64 KiB, which nothing here reads.
    pub form: String,
    /// When it was asked, in milliseconds since 1970.
    pub asked_at: u64,
}

/// What is written of a question.
#[derive(Serialize, Deserialize)]
pub(crate) struct QuestionRecord {
    /// What is asked.
    pub(crate) form: String,
    /// When, in milliseconds since 1970.
    pub(crate) asked_at: u64,
}

/// That a job with a terminal waits for something to be typed there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// Its name among all questions and prompts that this job ever has, as that of a question.
    pub key: String,
    /// What the job wrote last, as its terminal shows it, at most 4000 characters; empty where that says nothing.
    pub text: String,
    /// Whether what is typed is a secret, which [`Jobs::enter`](super::Jobs::enter) does not take.
    pub hidden: bool,
    /// Since when it has been told, in milliseconds since 1970.
    pub asked_at: u64,
}

/// What is written of a prompt.
#[derive(Serialize, Deserialize)]
pub(crate) struct PromptRecord {
    /// What the terminal shows.
    pub(crate) text: String,
    /// Whether what is typed is a secret.
    pub(crate) hidden: bool,
    /// Whether the program takes single keys, and so may show them by itself.
    pub(crate) takes_keys: bool,
    /// Since when, in milliseconds since 1970.
    pub(crate) asked_at: u64,
}

/// What is to be typed, as it is written.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Entered {
    /// A line, with Enter behind it.
    Line(String),
    /// The end of the file.
    End,
}

/// How far a job is, in its own words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// How much of it is done, 0 to 100; `None` where it did not say.
    pub percent: Option<u8>,
    /// What it does, at most 1000 bytes; empty where it did not say.
    pub text: String,
    /// When it said so, in milliseconds since 1970.
    pub at: u64,
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// With an exit status.
    Exited {
        /// 0 to 255.
        code: u8,
    },
    /// By a signal.
    Signalled {
        /// The name with its prefix, such as `SIGKILL`; `SIG` and the number where it has no name.
        signal: String,
        /// Whether a core dump was written.
        core_dumped: bool,
    },
    /// Without ever being executed.
    NotStarted {
        /// In words that may be shown to who asked for the job.
        detail: String,
    },
    /// Nobody knows.
    Lost {
        /// What happened.
        kind: Loss,
    },
}

/// What happened to a job whose end nobody saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// Its supervisor ended without leaving an outcome; what remained of the job was killed afterwards.
    Supervisor,
    /// The machine was started anew meanwhile.
    Machine,
    /// Its files were deleted or damaged by somebody else; what remained of it was killed.
    Files,
    /// It was stopped before it was started, and never will be.
    NeverStarted,
}

/// A process of the job that was still there when its command had ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its process id, which may be in use again.
    pub pid: u32,
    /// Its command line as the system showed it, at most 200 characters.
    pub command: String,
}

/// All there is to know of a job that ended. It never changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// When it started, or was to start, in milliseconds since 1970.
    pub started_at: u64,
    /// When the last of it ended, or its loss was noticed, in milliseconds since 1970.
    pub ended_at: u64,
    /// How long it ran, in milliseconds, on a clock that does not jump; 0 where it is not known.
    pub duration_ms: u64,
    /// How it ended.
    pub end: End,
    /// Why it was stopped; `None` where it ended by itself.
    pub stopped: Option<StopCause>,
    /// How many bytes it wrote to both streams, kept or not.
    pub output_bytes: u64,
    /// How many of them were not kept.
    pub dropped_bytes: u64,
    /// What was left when its command had ended by itself, and was then stopped; at most 20.
    pub leftovers: Vec<Process>,
}

/// Where a job wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Its standard output.
    Stdout,
    /// Its standard error.
    Stderr,
}

/// A piece of output: bytes that follow each other, from one stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// How many bytes of both streams came before it, kept or not.
    pub offset: u64,
    /// When the job wrote the first of them, in milliseconds since 1970.
    pub at: u64,
    /// Which stream.
    pub stream: Stream,
    /// What was written, byte for byte.
    pub bytes: Vec<u8>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_of_a_version_that_knew_no_terminals_has_none() {
        let written = r#"{"command":{"shell":"true"},"directory":null,"environment":[],"stdin":"","timeout_ms":null,
            "lifetime_ms":null,"grace_ms":0,"output_limit_bytes":4096}"#;
        let read: Spec = serde_json::from_str(written).expect("it can still be read");
        assert_eq!(read, Spec::of_line("true"));
    }
}
