//! `tasks/get`: a task's state, with its result where it has one.
//!
//! *Source:* SEP-2663, Task Polling.

use super::task_request::task_id;
use crate::imports::World;
use crate::outcome::{Context, Outcome};
use crate::rpc::{Request, RpcError, reply};
use crate::task::lookup::lookup;
use crate::task::settle::{Clock, Settled, settle};
use crate::task::{status_message, wire};

/// Answers with the task; one read of the store where its end is written down.
pub(super) fn handle(
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
                let message = status_message::working(world, &facts.id, &progress);
                reply::complete(&request.id, wire::working(&facts, cx.now, &message))
            }
            Settled::Expired => return Err(RpcError::ExpiredTask),
        },
    ))
}
