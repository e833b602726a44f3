//! `tasks/get`: a task's state, with its result where it has one.
//!
//! *Source:* SEP-2663, Task Polling.

use super::task_request::task_id;
use crate::config::Config;
use crate::imports::World;
use crate::meta;
use crate::outcome::{Context, Outcome};
use crate::rpc::{Request, RpcError, reply};
use crate::task::asking::{Viewer, view};
use crate::task::lookup::lookup;
use crate::task::settle::{Clock, Settled, settle};
use crate::task::{status_message, wire};

/// Answers with the task; one read of the store where its end is written down.
pub(super) fn handle(
    config: &Config,
    world: &mut impl World,
    cx: &Context,
    request: &Request<'_>,
) -> Result<Outcome, RpcError> {
    let loaded = lookup(world, cx, &task_id(request)?)?;
    Ok(Outcome::Reply(
        match settle(world, (cx.now, Clock::Fresh), loaded)? {
            Settled::Terminal(facts, terminal) => {
                reply::complete(&request.id, wire::ended(&facts, &terminal))
            }
            Settled::Starting(facts, _) => {
                let task = wire::working(&facts, cx.now, status_message::STARTING);
                reply::complete(&request.id, task)
            }
            Settled::Working(facts, progress) => {
                let viewer = Viewer {
                    modes: meta::modes(request)?,
                    answer_command: config.answer_command.as_deref(),
                };
                let view = view(world, &facts.id, &progress, viewer);
                reply::complete(&request.id, wire::viewed(&facts, cx.now, &view))
            }
            Settled::Expired => return Err(RpcError::ExpiredTask),
        },
    ))
}
