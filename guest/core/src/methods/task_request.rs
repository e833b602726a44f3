//! What requests about one task have in common: the parameter that names it, and a reply that says nothing more.
//!
//! *Source:* SEP-2663, Task Polling, Task Update Requests, and Task Cancellation.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::outcome::Outcome;
use crate::rpc::members::{object, present, string};
use crate::rpc::{Request, RpcError, reply};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(default, borrow, deserialize_with = "present")]
    task_id: Option<&'a RawValue>,
}

/// An acknowledgement: a result without members of its own.
#[derive(Serialize)]
struct Acknowledged {}

/// What the client calls the task, which may be any text.
///
/// # Errors
/// [`RpcError::InvalidParams`] where it is missing or no string.
pub(super) fn task_id(request: &Request<'_>) -> Result<String, RpcError> {
    let params: Params<'_> = object("params", request.params)?;
    string("taskId", params.task_id)
}

/// Says that the request was heard.
pub(super) fn acknowledged(request: &Request<'_>) -> Outcome {
    Outcome::Reply(reply::complete(&request.id, Acknowledged {}))
}
