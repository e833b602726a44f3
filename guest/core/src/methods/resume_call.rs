//! The second half of `tools/call`: what a call that waited for its job is answered with.

use super::call_tool::{self, tool_result};
use super::failure;
use super::ticket::{HeldCall, Ticket, WaitingCall};
use crate::config::Config;
use crate::imports::{Failure, JobState, StoreError, World};
use crate::meta::Client;
use crate::outcome::{Context, Outcome, Wake};
use crate::rpc::{Id, RpcError, reply};
use crate::task::call_result::CallResult;
use crate::task::durable::Loaded;
use crate::task::lookup::own;
use crate::task::record::{Ending, Facts, State, Terminal};
use crate::task::settle::{Settled, settle};
use crate::task::{Durable, TaskId, status_message, wire};
use crate::tool::run::Running;
use crate::tool::{ToolResult, run};

/// What a call goes on with.
#[derive(Clone, Copy)]
pub(super) struct Wakened<'a> {
    pub(super) config: &'a Config,
    pub(super) cx: &'a Context,
    pub(super) why: Wake,
}

/// Goes on with a call that waited.
pub(crate) fn resume(
    config: &Config,
    world: &mut impl World,
    cx: &Context,
    ticket: &str,
    why: Wake,
) -> Outcome {
    let Some(ticket) = Ticket::parse(ticket) else {
        // Only a host that mixes up its tickets gets here, and nobody knows whom to answer.
        let error = RpcError::Internal("a request was lost: its ticket cannot be read");
        return Outcome::Reply(reply::failure(None, &error));
    };
    if why == Wake::Cancelled {
        // The request is over and the job goes on: clients send this too when they just do not wait any longer,
        // and a command that outlives such a client is what this server is for.
        return Outcome::Nothing;
    }
    let wakened = Wakened { config, cx, why };
    match ticket {
        Ticket::Call(call) => look(world, wakened, call),
        Ticket::Held(held) => begin(config, world, cx, &held, why)
            .unwrap_or_else(|error| failure(&held.request, &error)),
    }
}

/// Looks at the task of a call, and answers the call or has it wait on.
fn look(world: &mut impl World, wakened: Wakened<'_>, call: WaitingCall) -> Outcome {
    match own(world, wakened.cx, &call.task) {
        Ok(loaded) => look_at(world, wakened, call, loaded),
        Err(error) => unanswered(wakened, call, &error),
    }
}

/// As [`look`], where the task has been read.
pub(super) fn look_at(
    world: &mut impl World,
    wakened: Wakened<'_>,
    call: WaitingCall,
    loaded: Loaded,
) -> Outcome {
    answer(world, wakened, &call, loaded).unwrap_or_else(|error| unanswered(wakened, call, &error))
}

/// Whether the call may wait on. The time at which a job that was not known has to be is no deadline of its call.
fn may_wait(wakened: Wakened<'_>, call: &WaitingCall) -> bool {
    let is_look = match wakened.why {
        Wake::JobEnded => true,
        Wake::Deadline => call.start_by.is_some(),
        Wake::Cancelled | Wake::Shutdown => false,
    };
    is_look && wakened.cx.now < call.deadline
}

/// Begins what waited for its idempotency key; not where the server is about to end, as nobody would wait for it.
fn begin(
    config: &Config,
    world: &mut impl World,
    cx: &Context,
    held: &HeldCall,
    why: Wake,
) -> Result<Outcome, RpcError> {
    match why {
        // Nobody waits for what was taken back either.
        Wake::Shutdown | Wake::Cancelled => {
            let refused = ToolResult::refused(call_tool::ENDING.to_owned());
            Ok(tool_result(&held.request, refused))
        }
        Wake::JobEnded | Wake::Deadline => call_tool::resume(config, world, cx, held),
    }
}

/// The handle of the task of an earlier call, with the status that it has by now.
pub(super) fn earlier(
    world: &mut impl World,
    cx: &Context,
    request: &Id,
    loaded: Loaded,
) -> Result<Outcome, RpcError> {
    Ok(match settle(world, cx.now, loaded)? {
        Settled::Working(facts, progress) => {
            let task = match progress {
                Some(_) => wire::created_earlier(&facts, cx.now),
                None => wire::working(&facts, cx.now, status_message::STARTING),
            };
            Outcome::Reply(reply::task(request, task))
        }
        Settled::Terminal(facts, terminal) => {
            Outcome::Reply(reply::task(request, wire::ended_earlier(&facts, &terminal)))
        }
        Settled::Expired => expired(request),
    })
}

/// What becomes of a call whose task cannot be looked at.
fn unanswered(wakened: Wakened<'_>, call: WaitingCall, error: &RpcError) -> Outcome {
    match error {
        RpcError::ExpiredTask | RpcError::UnknownTask => expired(&call.request),
        // Say since no file can be opened at the moment: there is time to look again.
        RpcError::Store(_) | RpcError::Jobs(_) if may_wait(wakened, &call) => call.wait(),
        RpcError::Store(StoreError { detail, .. }) | RpcError::Jobs(Failure { detail }) => {
            unseen(wakened.config, &call, detail)
        }
        error => failure(&call.request, error),
    }
}

fn answer(
    world: &mut impl World,
    wakened: Wakened<'_>,
    call: &WaitingCall,
    loaded: Loaded,
) -> Result<Outcome, RpcError> {
    let Wakened { config, cx, why } = wakened;
    if call.client == Client::Tasks && why != Wake::JobEnded && call.start_by.is_none() {
        let handle = match &loaded.state {
            State::Live(_) => working(call, &loaded.facts, cx),
            State::Terminal(terminal) => wire::ended_earlier(&loaded.facts, terminal),
        };
        return Ok(Outcome::Reply(reply::task(&call.request, handle)));
    }
    match settle(world, cx.now, loaded)? {
        Settled::Terminal(facts, terminal) => terminal_result(world, call, &facts, terminal),
        Settled::Working(facts, progress) if may_wait(wakened, call) => {
            let start_by = progress.is_none().then(|| facts.start_window_ends_at());
            let call = call.clone();
            Ok(WaitingCall { start_by, ..call }.wait())
        }
        // A job that ended and is not over when the time is up: what is left of it cannot be killed yet.
        Settled::Working(facts, progress) if call.client == Client::Tasks => {
            let task = match progress {
                Some(_) => working(call, &facts, cx),
                None => wire::working(&facts, cx.now, status_message::STARTING),
            };
            Ok(Outcome::Reply(reply::task(&call.request, task)))
        }
        Settled::Working(facts, progress) => {
            let has_key = facts.idempotency_key.is_some();
            let running = Running {
                id: call.task.as_str(),
                progress: progress.as_ref(),
                next_wait_ms: has_key.then_some(config.sync_limit_ms),
                show_command: config.show_command.as_deref(),
            };
            let result = run::still_running(world, &running);
            Ok(tool_result(&call.request, result))
        }
        Settled::Expired => Ok(expired(&call.request)),
    }
}

/// The handle of a task whose end nobody has seen.
fn working<'a>(call: &WaitingCall, facts: &'a Durable<Facts>, cx: &Context) -> wire::Task<'a> {
    if call.is_repeated {
        wire::created_earlier(facts, cx.now)
    } else {
        wire::created(facts, cx.now)
    }
}

/// There is a task, and whoever asked for it must not do that again because its state cannot be read. Only the detail
/// of the error is told: its message would say to try again.
fn unseen(config: &Config, call: &WaitingCall, detail: &str) -> Outcome {
    let id = call.task.as_str();
    let show = config.show_command.as_deref();
    let terminal = show.map(|command| format!(", in a terminal by `{command} {id}`"));
    let text = format!(
        "the command is task {id}, so do not run it again; how it goes cannot be told now: {detail}; look later: \
         with the Tasks extension by tasks/get with this id{}",
        terminal.unwrap_or_default()
    );
    tool_result(&call.request, ToolResult::refused(text))
}

fn terminal_result(
    world: &mut impl World,
    call: &WaitingCall,
    facts: &Facts,
    terminal: Terminal,
) -> Result<Outcome, RpcError> {
    let result = match terminal.ending {
        Ending::Completed(result) => result,
        Ending::Failed(error) => return Err(RpcError::Failed(error)),
        Ending::Cancelled => {
            CallResult::from(cancelled(world, &call.task, terminal.status_message)?)
        }
    };
    let result = if call.is_repeated {
        result.with_second_line(&run::repeated(facts.created_at))
    } else {
        result
    };
    Ok(Outcome::Reply(reply::complete(&call.request, result)))
}

/// What a call says whose task was cancelled meanwhile. The task has no result, so it is made here.
fn cancelled(
    world: &mut impl World,
    id: &TaskId,
    status_message: String,
) -> Result<ToolResult, RpcError> {
    Ok(match world.inspect(id.as_str())? {
        JobState::Ended(outcome) => {
            let outcome = status_message::as_cancelled(&outcome);
            run::finished(world, id.as_str(), &outcome, None)?
        }
        JobState::Unknown | JobState::Running(_) => ToolResult::refused(status_message),
    })
}

fn expired(request: &Id) -> Outcome {
    let text = "the task's ttlSeconds has passed, so its job is stopped if it still runs, and its output is \
                deleted; call again with a longer ttlSeconds, or without it to keep the task for ever";
    tool_result(request, ToolResult::refused(text.to_owned()))
}
