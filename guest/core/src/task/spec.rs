//! A job's spec as it is recorded: the format is ours and stays, whatever becomes of the imports.

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::imports::{Command, JobSpec};
use crate::text::absolute;

/// Mirrors [`JobSpec`].
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoredSpec {
    command: StoredCommand,
    directory: Option<String>,
    environment: Vec<(String, String)>,
    stdin: String,
    /// Left out where it is false: so did servers that knew no terminals.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    interactive: bool,
    timeout_ms: Option<u64>,
    lifetime_ms: Option<u64>,
    grace_ms: u64,
    output_limit_bytes: u64,
}

/// Mirrors [`Command`].
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum StoredCommand {
    Shell(String),
    Program(Vec<String>),
}

/// The spec as the text that a record carries.
pub(crate) fn to_text(spec: JobSpec) -> Box<RawValue> {
    to_raw_value(&StoredSpec::from(spec))
        .expect("strings and numbers alone, whose serializers do not fail")
}

/// The spec that a record carries; `None` where it was written by something else.
pub(crate) fn from_text(text: &RawValue) -> Option<JobSpec> {
    serde_json::from_str::<StoredSpec>(text.get())
        .ok()
        .map(JobSpec::from)
}

/// Those of the names that [`differences`] gives which stand for what a configured tool makes of its arguments.
pub(crate) const MADE_OF_ARGUMENTS: [&str; 4] = ["command", "args", "env", "stdin"];

/// The arguments of `run` in which the calls differ that made these specs. What the server's configuration adds is
/// none of them: it may be another one after a restart.
pub(crate) fn differences(one: &JobSpec, other: &JobSpec) -> Vec<&'static str> {
    // So that a new member is not forgotten here.
    let JobSpec {
        command,
        directory,
        environment,
        stdin,
        interactive,
        timeout_ms,
        lifetime_ms,
        grace_ms: _,
        output_limit_bytes: _,
    } = one;
    let (name, arguments) = words(command);
    let (other_name, other_arguments) = words(&other.command);
    let compared = [
        ("command", name == other_name),
        ("args", arguments == other_arguments),
        ("cwd", *directory == other.directory),
        ("env", *environment == other.environment),
        ("stdin", *stdin == other.stdin),
        ("interactive", *interactive == other.interactive),
        ("timeoutSeconds", *timeout_ms == other.timeout_ms),
        ("ttlSeconds", *lifetime_ms == other.lifetime_ms),
    ];
    let differ = compared.into_iter().filter(|(_, is_same)| !is_same);
    differ.map(|(argument, _)| argument).collect()
}

/// Whether these run the program at one path, however that is spelt: an earlier version recorded `/base/./run.sh` of a
/// configured tool where this one records `/base/run.sh`.
pub(crate) fn are_of_one_program(one: &JobSpec, other: &JobSpec) -> bool {
    let path = |spec: &JobSpec| match &spec.command {
        Command::Shell(_) => None,
        Command::Program(words) => words.first().and_then(|program| absolute(None, program)),
    };
    path(one).is_some_and(|path_of_one| path(other) == Some(path_of_one))
}

/// The arguments `command` and `args`; a shell line has no `args`.
fn words(command: &Command) -> (Option<&String>, Option<&[String]>) {
    match command {
        Command::Shell(line) => (Some(line), None),
        Command::Program(words) => match words.split_first() {
            Some((program, arguments)) => (Some(program), Some(arguments)),
            None => (None, None),
        },
    }
}

impl From<JobSpec> for StoredSpec {
    fn from(spec: JobSpec) -> Self {
        Self {
            command: match spec.command {
                Command::Shell(line) => StoredCommand::Shell(line),
                Command::Program(arguments) => StoredCommand::Program(arguments),
            },
            directory: spec.directory,
            environment: spec.environment,
            stdin: spec.stdin,
            interactive: spec.interactive,
            timeout_ms: spec.timeout_ms,
            lifetime_ms: spec.lifetime_ms,
            grace_ms: spec.grace_ms,
            output_limit_bytes: spec.output_limit_bytes,
        }
    }
}

impl From<StoredSpec> for JobSpec {
    fn from(stored: StoredSpec) -> Self {
        Self {
            command: match stored.command {
                StoredCommand::Shell(line) => Command::Shell(line),
                StoredCommand::Program(arguments) => Command::Program(arguments),
            },
            directory: stored.directory,
            environment: stored.environment,
            stdin: stored.stdin,
            interactive: stored.interactive,
            timeout_ms: stored.timeout_ms,
            lifetime_ms: stored.lifetime_ms,
            grace_ms: stored.grace_ms,
            output_limit_bytes: stored.output_limit_bytes,
        }
    }
}
