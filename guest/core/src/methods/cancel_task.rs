//! `tasks/cancel`: the owner does not want a task's job to go on.
//!
//! *Source:* SEP-2663, Task Cancellation.

use super::task_request::{acknowledged, task_id};
use crate::imports::World;
use crate::outcome::{Context, Outcome};
use crate::rpc::{Request, RpcError};
use crate::task::cancel::cancel;
use crate::task::lookup::lookup;

/// Acknowledges when the job will be stopped whatever happens to this server, or has ended anyway.
pub(super) fn handle(
    world: &mut impl World,
    cx: &Context,
    request: &Request<'_>,
) -> Result<Outcome, RpcError> {
    let loaded = lookup(world, cx, &task_id(request)?)?;
    cancel(world, cx, loaded)?;
    Ok(acknowledged(request))
}
