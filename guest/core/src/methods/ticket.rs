//! What a waiting `tools/call` has to know when it goes on, as text that the host keeps meanwhile.

use serde::{Deserialize, Serialize};

use crate::meta::Client;
use crate::outcome::{Outcome, Pending};
use crate::rpc::Id;
use crate::task::TaskId;

/// All that remains of the call. The tag is the format's number: another version of the server may go on
/// with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Ticket {
    /// A call of the tool `run`.
    #[serde(rename = "call/1")]
    Call(WaitingCall),
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
}

impl Ticket {
    /// Reads a ticket; `None` where it is not one of this server's.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

impl WaitingCall {
    /// Keeps the request open.
    pub(crate) fn wait(self) -> Outcome {
        let request = self.request.to_json();
        let jobs = vec![self.task.as_str().to_owned()];
        let deadline = self.deadline;
        let ticket = serde_json::to_string(&Ticket::Call(self))
            .expect("strings and numbers alone, whose serializers do not fail");
        Outcome::Wait(Pending {
            request,
            ticket,
            jobs,
            deadline,
        })
    }
}
