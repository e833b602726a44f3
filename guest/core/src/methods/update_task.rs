//! `tasks/update`: answers to a task's questions. A job asks none yet, so every answer is one to a question
//! that is not open, which is acknowledged and ignored whatever it says.
//!
//! *Source:* SEP-2663, Task Update Requests.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::task_request::{acknowledged, task_id};
use crate::imports::World;
use crate::outcome::{Context, Outcome};
use crate::rpc::members::{object, present};
use crate::rpc::{Request, RpcError};
use crate::task::lookup::lookup;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(default, borrow, deserialize_with = "present")]
    input_responses: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct InputResponses {}

/// Acknowledges answers to a task that exists.
pub(super) fn handle(
    world: &mut impl World,
    cx: &Context,
    request: &Request<'_>,
) -> Result<Outcome, RpcError> {
    let task_id = task_id(request)?;
    let params: Params<'_> = object("params", request.params)?;
    object::<InputResponses>("inputResponses", params.input_responses)?;
    lookup(world, cx, &task_id)?;
    Ok(acknowledged(request))
}
