//! The tools that the server offers: `run`, and those that the configuration describes.
//!
//! Knows what a tool's arguments mean and what its result says; knows no JSON-RPC and no task state.

mod base64;
pub(crate) mod catalogue;
pub(crate) mod configured;
pub(crate) mod given;
mod limits;
mod parts;
mod quote;
pub(crate) mod run;
mod user_arguments;

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use crate::config::{ConfigError, Members, Node};
use crate::imports::{Failure, JobOutcome, Jobs};
use crate::wording::About;
use configured::Recorded;
use run::Arguments;

/// What a tool gives back, before the protocol wraps it: `content`, `structuredContent` and `isError`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ToolResult {
    /// The only text block of `content`.
    pub(crate) text: String,
    /// `structuredContent`, as the tool's output schema describes it; `None` where the tool did nothing.
    pub(crate) structured: Option<Value>,
    /// Whether the model should read the text as a failure.
    pub(crate) is_error: bool,
}

/// The same, as the text that is recorded and sent: what a command printed is passed on as it was written.
#[derive(Clone, Debug)]
pub(crate) struct RawResult {
    /// `content`, on one line.
    pub(crate) content: Box<RawValue>,
    /// `structuredContent`, on one line.
    pub(crate) structured: Option<Box<RawValue>>,
    /// Whether the model should read it as a failure.
    pub(crate) is_error: bool,
}

/// What a call asks for.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    /// What to run, and how to treat its task.
    pub(crate) arguments: Arguments,
    /// How long the job may take to end when it is stopped, in milliseconds; `None` for what the server's configuration
    /// says.
    pub(crate) grace_ms: Option<u64>,
    /// How many bytes of its output are kept; `None` for what the server's configuration says.
    pub(crate) output_limit_bytes: Option<u64>,
    /// How its result is made; `None` for `run`.
    pub(crate) tool: Option<Recorded>,
}

impl Wanted {
    /// What a call of `run` asks for.
    pub(crate) fn of_run(arguments: Arguments) -> Self {
        Self {
            arguments,
            grace_ms: None,
            output_limit_bytes: None,
            tool: None,
        }
    }
}

/// Whether the host gives an interactive job a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Terminals {
    /// It refuses such a job.
    #[default]
    Lacking,
    /// It would, and its configuration says that it does not.
    Off,
    /// It does.
    There,
}

impl Terminals {
    /// Reads `terminals` of the configuration.
    ///
    /// # Errors
    /// Where it is neither true nor false.
    pub(crate) fn read(members: &Members<'_>) -> Result<Self, ConfigError> {
        Ok(match members.optional("terminals", Node::switch)? {
            Some(true) => Self::There,
            Some(false) => Self::Off,
            None => Self::Lacking,
        })
    }
}

/// Whether a call is answered with a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Where its client understands that, and the job takes longer than a direct answer may.
    #[default]
    Auto,
    /// Always; a client that does not understand tasks cannot call.
    Required,
    /// Never, however long the job takes; but where it asks something, or the tool has a limit of its own, the result
    /// may be that it goes on.
    Never,
}

/// A job that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended<'a> {
    /// The task's id.
    pub(crate) id: &'a str,
    /// How it ended.
    pub(crate) outcome: &'a JobOutcome,
    /// How long it was allowed to run, in milliseconds, where that ended it and is known.
    pub(crate) timeout_ms: Option<u64>,
    /// The sort of tool that was called.
    pub(crate) about: About,
}

/// The result of a job that has ended, of the tool that its record names; of `run` where it names none.
///
/// # Errors
/// [`Failure`] where the host could not read the output.
pub(crate) fn finished(
    jobs: &mut impl Jobs,
    tool: Option<&Recorded>,
    ended: Ended<'_>,
) -> Result<RawResult, Failure> {
    match tool {
        None => Ok(run::finished(jobs, ended)?.into()),
        Some(tool) => configured::finished(jobs, tool, ended),
    }
}

impl ToolResult {
    /// The result of a call that was not carried out; `text` tells the model why and how to call again.
    pub(crate) fn refused(text: String) -> Self {
        Self {
            text,
            structured: None,
            is_error: true,
        }
    }
}

impl RawResult {
    /// A result that is one text block, of something that succeeded.
    fn of_text(text: &str, structured: Option<&Value>) -> Self {
        Self {
            content: raw(&json!([{ "type": "text", "text": text }])),
            structured: structured.map(raw),
            is_error: false,
        }
    }

    /// The same as a failure.
    fn failed(self) -> Self {
        Self {
            is_error: true,
            ..self
        }
    }

    /// How long it is, in bytes.
    fn length(&self) -> usize {
        let structured = self.structured.as_ref();
        self.content.get().len() + structured.map_or(0, |structured| structured.get().len())
    }
}

impl From<ToolResult> for RawResult {
    fn from(result: ToolResult) -> Self {
        Self {
            is_error: result.is_error,
            ..Self::of_text(&result.text, result.structured.as_ref())
        }
    }
}

fn raw(value: &Value) -> Box<RawValue> {
    to_raw_value(value).expect("a JSON value always has a text")
}
