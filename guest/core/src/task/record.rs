//! What is written down of a task, in numbered formats: a server reads every format that an earlier one
//! wrote, and says so where a later one did.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::call_result::CallResult;
use super::{TaskId, spec};
use crate::imports::JobSpec;
use crate::limits::{START_LIMIT_MS, START_WINDOW_MS, TOMBSTONE_MS};
use crate::tool::configured::Recorded;
use crate::wording::About;

/// What can be under `task/<id>`. The tag is the kind and its format number; it comes first, so that what
/// follows is read in one pass.
#[derive(Debug, Deserialize)]
#[expect(
    clippy::large_enum_variant,
    reason = "it is moved once, and most records are tasks"
)]
pub(crate) enum Stored {
    /// A task.
    #[serde(rename = "task/1", alias = "task/2")]
    Task(TaskRecord),
    /// That there was one.
    #[serde(rename = "tombstone/1")]
    Tombstone(Tombstone),
}

/// Whose a record is that is of a newer format, or was damaged; `None` where that cannot be told.
pub(crate) fn principal_in(text: &str) -> Option<String> {
    let record: Value = serde_json::from_str(text).ok()?;
    let (_, record) = record.as_object()?.iter().next()?;
    let principal = record.pointer("/facts/principal");
    let principal = principal.or_else(|| record.get("principal"))?;
    Some(principal.as_str()?.to_owned())
}

/// [`Stored`] as it is written, without giving the value away.
#[derive(Serialize)]
enum Written<'a> {
    #[serde(rename = "task/1")]
    Task(&'a TaskRecord),
    /// That of a configured tool: a server that does not know of those would take its result for one of `run`.
    #[serde(rename = "task/2")]
    ToolTask(&'a TaskRecord),
    #[serde(rename = "tombstone/1")]
    Tombstone(&'a Tombstone),
}

impl Written<'_> {
    fn to_text(&self) -> String {
        serde_json::to_string(self)
            .expect("all keys are strings and no type here fails to serialize")
    }
}

/// All that is known of a task beside what its job says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TaskRecord {
    /// What never changes.
    pub(crate) facts: Facts,
    /// Whether its end has been written down.
    pub(crate) state: State,
}

/// What is known of a task from its creation on.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Facts {
    /// Its name.
    pub(crate) id: TaskId,
    /// Whose it is; for everybody else it does not exist.
    pub(crate) principal: String,
    /// When it was created, in milliseconds since 1970.
    pub(crate) created_at: u64,
    /// How long it is kept after its creation, in milliseconds; `None` for ever.
    pub(crate) ttl_ms: Option<u64>,
    /// What its owner calls it.
    pub(crate) label: Option<String>,
    /// The idempotency key that stands for it.
    pub(crate) idempotency_key: Option<String>,
    /// When the call came with which a person confirmed it, in milliseconds since 1970; `None` where nobody had to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) confirmed_at: Option<u64>,
    /// Whether the call named no directory, so that the spec has that of the server which got it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) in_servers_directory: bool,
    /// What is to run, kept as text since most readers do not need it.
    pub(crate) spec: Box<RawValue>,
    /// How its result is made; `None` for that of `run`. In a box, as most records have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tool: Option<Box<Recorded>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// Whether the end of a task has been written down.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum State {
    /// No: its job decides.
    Live(Live),
    /// Yes. Never changes again.
    Terminal(Terminal),
}

/// What is written down of a task whose job decides.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Live {
    /// Whether a repeated call was given the task. Then the record stays, also where the call that made it cannot
    /// start the job: somebody was told of it.
    pub(crate) shared: bool,
    /// Whether the owner cancelled the task before its job was known.
    pub(crate) cancel_requested: bool,
    /// When somebody first came upon the record and its job might not be known yet, in milliseconds since 1970; `None`
    /// where nobody has. The call that made the record does not count: when its commit was over, nobody can know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seen_at: Option<u64>,
}

/// How a task ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Terminal {
    /// When, in milliseconds since 1970.
    pub(crate) ended_at: u64,
    /// In words, for people and models.
    pub(crate) status_message: String,
    /// What came of it.
    pub(crate) ending: Ending,
}

/// What came of a task.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Ending {
    /// The tool call has a result.
    Completed(CallResult),
    /// It has none, because of this error.
    Failed(TaskError),
    /// Its owner cancelled it.
    Cancelled,
}

/// A JSON-RPC error that ended a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TaskError {
    /// The code.
    pub(crate) code: i64,
    /// What happened, in words.
    pub(crate) message: String,
}

/// What remains of a task for a while after it expired, so that its owner learns why it is gone.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tombstone {
    /// Whose it was.
    pub(crate) principal: String,
    /// When its time to live had passed, in milliseconds since 1970; whenever a sweep found out.
    pub(crate) expired_at: u64,
}

impl TaskError {
    /// The error of a task whose job could not be run, or of whose end nobody knows.
    pub(crate) fn internal(message: String) -> Self {
        Self {
            code: -32603,
            message,
        }
    }

    /// The same error, to who does not know the task yet.
    pub(crate) fn of_task(self, id: &TaskId) -> Self {
        Self {
            message: format!("task {} failed: {}", id.as_str(), self.message),
            ..self
        }
    }
}

impl TaskRecord {
    /// The text for the store.
    pub(crate) fn to_text(&self) -> String {
        match self.facts.tool {
            None => Written::Task(self).to_text(),
            Some(_) => Written::ToolTask(self).to_text(),
        }
    }
}

impl Facts {
    /// When the task expires, in milliseconds since 1970; `None` for never.
    pub(crate) fn expires_at(&self) -> Option<u64> {
        self.ttl_ms
            .map(|ttl_ms| self.created_at.saturating_add(ttl_ms))
    }

    /// Whether its time to live has passed at `now`.
    pub(crate) fn have_expired(&self, now: u64) -> bool {
        self.expires_at().is_some_and(|moment| moment <= now)
    }

    /// Until when an unknown job may still be started by the call that recorded it, where somebody came upon the record
    /// at `seen_at`; both in milliseconds since 1970.
    pub(crate) fn start_by(&self, seen_at: u64) -> u64 {
        let limit = self.created_at.saturating_add(START_LIMIT_MS);
        // Whoever came upon it may have looked at the clock before it was there.
        let seen_at = seen_at.max(self.created_at);
        seen_at.saturating_add(START_WINDOW_MS).min(limit)
    }

    /// The name of the configured tool that was called; `None` for `run`.
    pub(crate) fn tool_name(&self) -> Option<&str> {
        self.tool.as_ref().map(|tool| tool.name.as_str())
    }

    /// The sort of the tool that was called.
    pub(crate) fn about(&self) -> About {
        About::tool(self.tool.as_ref())
    }

    /// What is to run; `None` where the record was damaged.
    pub(crate) fn job_spec(&self) -> Option<JobSpec> {
        spec::from_text(&self.spec)
    }
}

/// Until when it is remembered that there was a task that expired at this moment; both in milliseconds since 1970.
pub(crate) fn remembered_until(expired_at: u64) -> u64 {
    expired_at.saturating_add(TOMBSTONE_MS)
}

impl Tombstone {
    /// The text for the store.
    pub(crate) fn to_text(&self) -> String {
        Written::Tombstone(self).to_text()
    }

    /// When it is forgotten as well, in milliseconds since 1970.
    pub(crate) fn removal_at(&self) -> u64 {
        remembered_until(self.expired_at)
    }
}
