//! What a waiting `tools/call` has to know when it goes on, as text that the host keeps meanwhile.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::meta::Client;
use crate::outcome::{Outcome, Pending};
use crate::rpc::Id;
use crate::task::TaskId;

/// All that remains of the call. The tag is the format's number: another version of the server may go on
/// with it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Ticket {
    /// A call of the tool `run`, whose job was started.
    #[serde(rename = "call/1")]
    Call(WaitingCall),
    /// One whose job may not be started yet.
    #[serde(rename = "held/1")]
    Held(HeldCall),
}

/// A `tools/call` that waits for its job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WaitingCall {
    /// The request's id.
    pub(crate) request: Id,
    /// The task whose job it waits for.
    pub(crate) task: TaskId,
    /// Whether it may be answered with a task.
    pub(crate) client: Client,
    /// Until when it waits, in milliseconds since 1970.
    pub(crate) deadline: u64,
    /// Whether the task is that of an earlier call with the same idempotency key, so that nothing was run for this
    /// one.
    pub(crate) is_repeated: bool,
    /// Where the job was not known yet: when to look again since it can start no more then, or since nobody knew at the
    /// last look until when it can, in milliseconds since 1970. `None` where it was known.
    pub(crate) start_by: Option<u64>,
    /// Where the task could not be looked at: when to look again, in milliseconds since 1970, whether or not its job
    /// has ended.
    pub(crate) look_at: Option<u64>,
}

/// A `tools/call` that waits for its idempotency key, of which nothing is recorded yet.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HeldCall {
    /// The request's id.
    pub(crate) request: Id,
    /// What it asks for: its parameters as they came.
    pub(crate) params: Box<RawValue>,
    /// Whether it may be answered with a task.
    pub(crate) client: Client,
    /// Until when it waits, in milliseconds since 1970.
    pub(crate) deadline: u64,
}

impl Ticket {
    /// Reads a ticket; `None` where it is not one of this server's.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    fn to_text(&self) -> String {
        serde_json::to_string(self)
            .expect("strings, numbers and JSON alone, whose serializers do not fail")
    }
}

impl WaitingCall {
    /// The same call, where the task is an earlier one's.
    pub(crate) fn repeated(self) -> Self {
        Self {
            is_repeated: true,
            ..self
        }
    }

    /// Keeps the request open until the job has ended, or it is time to look again at what could not be told before.
    pub(crate) fn wait(self) -> Outcome {
        let task = self.task.as_str().to_owned();
        Outcome::Wait(Pending {
            request: self.request.to_json(),
            jobs: match self.look_at {
                None => vec![task],
                // A job that has ended would wake the call at once.
                Some(_) => Vec::new(),
            },
            deadline: self
                .look_at
                .or(self.start_by)
                .unwrap_or(u64::MAX)
                .min(self.deadline),
            ticket: Ticket::Call(self).to_text(),
        })
    }
}

impl HeldCall {
    /// Keeps the request open until the job of this task has ended.
    pub(crate) fn wait(self, task: &TaskId) -> Outcome {
        Outcome::Wait(Pending {
            request: self.request.to_json(),
            jobs: vec![task.as_str().to_owned()],
            deadline: self.deadline,
            ticket: Ticket::Held(self).to_text(),
        })
    }
}
