//! `tasks/update`: answers to a task's questions. A job asks none yet, so every answer is one to a question
//! that is not open, which is acknowledged and ignored whatever it says.
//!
//! *Source:* SEP-2663, Task Update Requests.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::imports::World;
use crate::outcome::{Context, Outcome};
use crate::rpc::members::{object, present, string};
use crate::rpc::{Request, RpcError, reply};
use crate::task::lookup::lookup;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(default, borrow, deserialize_with = "present")]
    task_id: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    input_responses: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct InputResponses {}

/// An acknowledgement: a result without members of its own.
#[derive(Serialize)]
struct Acknowledged {}

/// Acknowledges answers to a task that exists.
pub(super) fn handle(
    world: &mut impl World,
    cx: &Context,
    request: &Request<'_>,
) -> Result<Outcome, RpcError> {
    let params: Params<'_> = object("params", request.params)?;
    let task_id = string("taskId", params.task_id)?;
    object::<InputResponses>("inputResponses", params.input_responses)?;
    lookup(world, cx, &task_id)?;
    Ok(Outcome::Reply(reply::complete(
        &request.id,
        Acknowledged {},
    )))
}
