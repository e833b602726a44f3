//! `tasks/cancel`: the owner does not want a task's job to go on.
//!
//! *Source:* SEP-2663, Task Cancellation.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::imports::World;
use crate::outcome::{Context, Outcome};
use crate::rpc::members::{object, present, string};
use crate::rpc::{Request, RpcError, reply};
use crate::task::cancel::cancel;
use crate::task::lookup::lookup;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(default, borrow, deserialize_with = "present")]
    task_id: Option<&'a RawValue>,
}

/// An acknowledgement: a result without members of its own.
#[derive(Serialize)]
struct Acknowledged {}

/// Acknowledges when the job will be stopped whatever happens to this server, or has ended anyway.
pub(super) fn handle(
    world: &mut impl World,
    cx: &Context,
    request: &Request<'_>,
) -> Result<Outcome, RpcError> {
    let params: Params<'_> = object("params", request.params)?;
    let loaded = lookup(world, cx, &string("taskId", params.task_id)?)?;
    cancel(world, cx, loaded)?;
    Ok(Outcome::Reply(reply::complete(
        &request.id,
        Acknowledged {},
    )))
}
