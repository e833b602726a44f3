//! The second half of `tools/call`: what a call that waited for its job is answered with.

use super::call_tool::tool_result;
use super::failure;
use super::ticket::{Ticket, WaitingCall};
use crate::imports::{JobState, Progress, World};
use crate::meta::Client;
use crate::outcome::{Context, Outcome, Wake};
use crate::rpc::{RpcError, reply};
use crate::task::lookup::own;
use crate::task::record::{Ending, Terminal};
use crate::task::settle::{Settled, settle};
use crate::task::{TaskId, status_message, wire};
use crate::tool::{ToolResult, run};

/// Goes on with a call that waited.
pub(crate) fn resume(world: &mut impl World, cx: &Context, ticket: &str, why: Wake) -> Outcome {
    let Some(Ticket::Call(call)) = Ticket::parse(ticket) else {
        // Only a host that mixes up its tickets gets here, and nobody knows whom to answer.
        let error = RpcError::Internal("a request was lost: its ticket cannot be read");
        return Outcome::Reply(reply::failure(None, &error));
    };
    if why == Wake::Cancelled {
        // The request is over and the job goes on: clients send this too when they just do not wait any longer,
        // and a command that outlives such a client is what this server is for.
        return Outcome::Nothing;
    }
    answer(world, cx, &call, why).unwrap_or_else(|error| match error {
        RpcError::ExpiredTask | RpcError::UnknownTask => expired(&call),
        error => failure(&call.request, &error),
    })
}

fn answer(
    world: &mut impl World,
    cx: &Context,
    call: &WaitingCall,
    why: Wake,
) -> Result<Outcome, RpcError> {
    let loaded = own(world, cx, &call.task)?;
    if call.client == Client::Tasks && why != Wake::JobEnded {
        let handle = wire::created(&loaded.facts, cx.now);
        return Ok(Outcome::Reply(reply::task(&call.request, handle)));
    }
    match settle(world, cx.now, loaded)? {
        Settled::Terminal(_, terminal) => terminal_result(world, call, terminal),
        Settled::Working(..) if why == Wake::JobEnded && cx.now < call.deadline => {
            Ok(call.clone().wait())
        }
        // A job that ended and is not over when the time is up: what is left of it cannot be killed yet.
        Settled::Working(facts, _) if call.client == Client::Tasks => {
            let handle = wire::created(&facts, cx.now);
            Ok(Outcome::Reply(reply::task(&call.request, handle)))
        }
        Settled::Working(_, progress) => Ok(goes_on(call, progress.as_ref())),
        Settled::Expired => Ok(expired(call)),
    }
}

fn goes_on(call: &WaitingCall, progress: Option<&Progress>) -> Outcome {
    tool_result(
        &call.request,
        run::still_running(call.task.as_str(), progress),
    )
}

fn terminal_result(
    world: &mut impl World,
    call: &WaitingCall,
    terminal: Terminal,
) -> Result<Outcome, RpcError> {
    match terminal.ending {
        Ending::Completed(result) => Ok(Outcome::Reply(reply::complete(&call.request, result))),
        Ending::Failed(error) => Err(RpcError::Failed(error)),
        Ending::Cancelled => {
            let result = cancelled(world, &call.task, terminal.status_message)?;
            Ok(tool_result(&call.request, result))
        }
    }
}

/// What a call says whose task was cancelled meanwhile. The task has no result, so it is made here.
fn cancelled(
    world: &mut impl World,
    id: &TaskId,
    status_message: String,
) -> Result<ToolResult, RpcError> {
    Ok(match world.inspect(id.as_str())? {
        JobState::Ended(outcome) => {
            run::finished(world, id.as_str(), &status_message::as_cancelled(&outcome))?
        }
        JobState::Unknown | JobState::Running(_) => ToolResult::refused(status_message),
    })
}

fn expired(call: &WaitingCall) -> Outcome {
    let text = "the task's ttlSeconds has passed: its job was stopped and its output deleted; call again \
                with a longer ttlSeconds, or without it to keep the task for ever";
    tool_result(&call.request, ToolResult::refused(text.to_owned()))
}
