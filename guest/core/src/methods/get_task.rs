//! `tasks/get`: a task's state, with its result where it has one.
//!
//! *Source:* SEP-2663, Task Polling.

use super::task_request::task_id;
use crate::config::Config;
use crate::imports::World;
use crate::meta::Declared;
use crate::outcome::{Context, Outcome};
use crate::rpc::{Request, RpcError, reply};
use crate::task::asking::Viewer;
use crate::task::detail::detail;
use crate::task::lookup::lookup;

/// Answers with the task; one read of the store where its end is written down.
pub(super) fn handle(
    config: &Config,
    world: &mut impl World,
    cx: &Context,
    (request, declared): (&Request<'_>, Declared<'_>),
) -> Result<Outcome, RpcError> {
    let loaded = lookup(world, cx, &task_id(request)?)?;
    let viewer = Viewer {
        modes: declared.modes()?,
        answer_command: config.answer_command.as_deref(),
    };
    let detail = detail(world, cx, loaded, viewer)?;
    let reply = reply::complete(&request.id, detail.wire(cx.now));
    Ok(Outcome::Reply(reply))
}
