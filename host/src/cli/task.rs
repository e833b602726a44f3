//! Tasks as this client reads them: the members that it shows, and the whole for who wants JSON.
//!
//! *Source:* SEP-2663, Tasks.

use anyhow::Context as _;
use serde::Deserialize;
use serde_json::{Value, json};

use super::client::Client;

/// A task's state, as the server said it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Task {
    pub(super) task_id: String,
    pub(super) status: Status,
    /// What the server says of it in words; `None` where it says nothing.
    pub(super) status_message: Option<String>,
    /// RFC 3339.
    #[serde(default)]
    pub(super) created_at: String,
    /// RFC 3339.
    #[serde(default)]
    pub(super) last_updated_at: String,
    /// After how many milliseconds to ask again; `None` where the server does not care.
    pub(super) poll_interval_ms: Option<u64>,
    /// Only of a completed task.
    pub(super) result: Option<JobResult>,
    /// Only of a failed task.
    pub(super) error: Option<TaskError>,
    /// The whole, as it came.
    #[serde(skip)]
    pub(super) whole: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    Working,
    InputRequired,
    Completed,
    Cancelled,
    Failed,
}

impl Status {
    /// The specification's word.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::InputRequired => "input_required",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }

    pub(super) fn is_terminal(self) -> bool {
        match self {
            Self::Working | Self::InputRequired => false,
            Self::Completed | Self::Cancelled | Self::Failed => true,
        }
    }
}

/// What a call of the tool `run` gave.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct JobResult {
    #[serde(default)]
    content: Vec<Content>,
    #[serde(default)]
    pub(super) is_error: bool,
    /// `None` where the call was refused and nothing ran.
    pub(super) structured_content: Option<Facts>,
}

#[derive(Debug, Deserialize)]
struct Content {
    #[serde(default)]
    text: String,
}

/// How the job ended, for a program.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Facts {
    pub(super) task_id: Option<String>,
    pub(super) exit_code: Option<u8>,
    /// Such as `SIGKILL`.
    pub(super) signal: Option<String>,
    #[serde(default)]
    pub(super) timed_out: bool,
    #[serde(default)]
    pub(super) cancelled: bool,
}

/// Why a task failed.
#[derive(Debug, Deserialize)]
pub(super) struct TaskError {
    pub(super) message: String,
}

impl Task {
    /// Reads what `tasks/get` gives, or the handle that stands for a result.
    pub(super) fn parse(whole: Value) -> anyhow::Result<Self> {
        let task =
            Self::deserialize(&whole).context("the server sent something that is no task")?;
        Ok(Self { whole, ..task })
    }

    /// Asks the server for a task.
    pub(super) fn fetch(client: &mut Client, id: &str) -> anyhow::Result<Self> {
        Self::parse(client.request("tasks/get", json!({"taskId": id}))?)
    }

    /// What became of it in words: never empty.
    pub(super) fn message(&self) -> &str {
        let error = self.error.as_ref().map(|error| error.message.as_str());
        error
            .or(self.status_message.as_deref())
            .unwrap_or(self.status.name())
    }
}

impl JobResult {
    /// All text of it.
    pub(super) fn text(&self) -> String {
        let texts: Vec<&str> = self
            .content
            .iter()
            .map(|content| content.text.as_str())
            .collect();
        texts.join("\n")
    }
}
