//! The second half of `tools/call`: what a call that waited for its job is answered with.

use super::call_tool::{self, is_direct, patience_ms, tool_result};
use super::ticket::{HeldCall, Ticket, WaitingCall};
use super::{failure, listen};
use crate::config::Config;
use crate::imports::{Failure, JobState, Progress, StoreError, World};
use crate::input::Asked;
use crate::limits::LOOK_AGAIN_MS;
use crate::meta::Client;
use crate::outcome::{Context, Outcome, Wake};
use crate::rpc::{Id, RpcError, notice, reply};
use crate::task::asking;
use crate::task::call_result::CallResult;
use crate::task::durable::Loaded;
use crate::task::lookup::own;
use crate::task::record::{Ending, Facts, State, Terminal};
use crate::task::settle::{Clock, Settled, settle};
use crate::task::{Durable, TaskId, status_message, wire};
use crate::tool::run::Running;
use crate::tool::{self, Ended, ToolResult, run};

/// What a call goes on with.
#[derive(Clone, Copy)]
pub(super) struct Wakened<'a> {
    pub(super) config: &'a Config,
    pub(super) cx: &'a Context,
    pub(super) why: Wake,
    pub(super) clock: Clock,
}

/// Goes on with a call that waited.
pub(crate) fn resume(
    config: &Config,
    world: &mut impl World,
    cx: &Context,
    ticket: &str,
    why: Wake,
) -> Outcome {
    if why == Wake::Cancelled {
        // The request is over and the job goes on: clients send this too when they just do not wait any longer,
        // and a command that outlives such a client is what this server is for.
        return Outcome::Nothing;
    }
    let Some(ticket) = Ticket::parse(ticket) else {
        // Only a host that mixes up its tickets gets here, and nobody knows whom to answer.
        let error = RpcError::Internal("a request was lost: its ticket cannot be read");
        return Outcome::Reply(reply::failure(None, &error));
    };
    let wakened = Wakened {
        config,
        cx,
        why,
        clock: Clock::Fresh,
    };
    match ticket {
        Ticket::Call(call) => look(world, wakened, call),
        Ticket::Listen(listening) => listen::resume(config, world, cx, (listening, why)),
        Ticket::Held(held) => begin(config, world, cx, &held, why)
            .unwrap_or_else(|error| failure(&held.request, &error)),
    }
}

/// Looks at the task of a call, and answers the call or has it wait on.
pub(super) fn look(world: &mut impl World, wakened: Wakened<'_>, call: WaitingCall) -> Outcome {
    match own(world, wakened.cx, &call.task) {
        Ok(loaded) => look_at(world, wakened, call, loaded),
        Err(error) => unanswered(wakened, call, None, &error),
    }
}

/// As [`look`], where the task has been read.
pub(super) fn look_at(
    world: &mut impl World,
    wakened: Wakened<'_>,
    call: WaitingCall,
    loaded: Loaded,
) -> Outcome {
    let facts = loaded.facts.clone();
    let mode = wakened.config.catalogue.mode(loaded.facts.tool_name());
    let answered = if is_direct(wakened.config, call.client, mode) {
        answer(world, wakened, &call, loaded)
    } else {
        handle(world, wakened, &call, loaded)
    };
    answered.unwrap_or_else(|error| unanswered(wakened, call, Some(&facts), &error))
}

/// Whether the call may wait on. The time for another look is no deadline of it.
fn may_wait(wakened: Wakened<'_>, call: &WaitingCall) -> bool {
    let is_for_a_look =
        call.start_by.is_some() || call.look_at.is_some() || call.progress.is_some();
    let is_look = match wakened.why {
        Wake::JobEnded => true,
        why => why == Wake::Deadline && is_for_a_look,
    };
    is_look && wakened.cx.now < call.deadline
}

/// Whether a job asks something of which nobody would be told, as its call has no limit at which that is said. A call
/// that is made again, as it was told that, waits for a while before it is told so again, also where it has reports of
/// progress meanwhile: else it would be made again with each of them.
fn asks_in_vain(wakened: Wakened<'_>, call: &WaitingCall, progress: &Progress) -> bool {
    let is_endless = call.deadline == u64::MAX;
    let is_patient = call.start_by.is_none_or(|at| wakened.cx.now < at);
    let is_time = wakened.why == Wake::Deadline && !(call.is_repeated && is_patient);
    is_endless && is_time && !Asked::by(progress).open.is_empty()
}

/// Begins what waited for its idempotency key; not where the server is about to end, as nobody would wait for it.
fn begin(
    config: &Config,
    world: &mut impl World,
    cx: &Context,
    held: &HeldCall,
    why: Wake,
) -> Result<Outcome, RpcError> {
    if why == Wake::Shutdown {
        let about = call_tool::about(config, held);
        let refused = ToolResult::refused(call_tool::ending(about).to_owned());
        return Ok(tool_result(&held.request, refused));
    }
    call_tool::resume(config, world, cx, held)
}

/// The handle of a task, with the status that it has by now.
fn handle(
    world: &mut impl World,
    wakened: Wakened<'_>,
    call: &WaitingCall,
    loaded: Loaded,
) -> Result<Outcome, RpcError> {
    let Wakened { cx, clock, .. } = wakened;
    Ok(match settle(world, (cx.now, clock), loaded)? {
        Settled::Starting(facts, _) => task(call, starting(&facts, cx)),
        Settled::Working(facts, _) => task(call, working(call, &facts, cx)),
        Settled::Terminal(facts, terminal) => task(call, wire::handle(&facts, &terminal)),
        Settled::Expired => expired(&call.request),
    })
}

fn task(call: &WaitingCall, task: wire::Task<'_>) -> Outcome {
    Outcome::Reply(reply::task(&call.request, task))
}

/// What becomes of a call whose task cannot be looked at, or, where its record could be read, whose job.
fn unanswered(
    wakened: Wakened<'_>,
    call: WaitingCall,
    facts: Option<&Durable<Facts>>,
    error: &RpcError,
) -> Outcome {
    match error {
        RpcError::ExpiredTask => expired(&call.request),
        // Not by us: it was kept for this call.
        RpcError::UnknownTask => unseen(wakened.config, &call, "its record was deleted or damaged"),
        // Say since no file can be opened at the moment: there is time to look again.
        RpcError::Store(_) | RpcError::Jobs(_) if may_wait(wakened, &call) => WaitingCall {
            look_at: Some(wakened.cx.now.saturating_add(LOOK_AGAIN_MS)),
            ..call
        }
        .wait(),
        RpcError::Store(StoreError { detail, .. }) | RpcError::Jobs(Failure { detail }) => {
            match facts.filter(|_| call.client == Client::Tasks) {
                Some(facts) => {
                    let message = status_message::untold(detail);
                    task(&call, wire::working(facts, wakened.cx.now, &message))
                }
                None => unseen(wakened.config, &call, detail),
            }
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
    let Wakened {
        config,
        cx,
        why,
        clock,
    } = wakened;
    // What could not be looked at before is looked at now, since it may have ended or never begun.
    let may_look = why == Wake::JobEnded || call.start_by.is_some() || call.look_at.is_some();
    if call.client == Client::Tasks && !may_look {
        return Ok(task(call, unlooked(call, &loaded, cx)));
    }
    let is_plain = call.client == Client::Plain;
    Ok(match settle(world, (cx.now, clock), loaded)? {
        Settled::Terminal(facts, terminal) => return ended(world, call, &facts, terminal),
        Settled::Expired => expired(&call.request),
        Settled::Starting(_, start_by) if may_wait(wakened, call) => {
            wait_on(&call.told(cx.now, None), Some(start_by))
        }
        Settled::Working(facts, progress) if asks_in_vain(wakened, call, &progress) => {
            goes_on(world, config, &facts, Some(&progress), call)
        }
        Settled::Working(facts, progress) if may_wait(wakened, call) => {
            going_on(world, cx, call, (&facts.id, &progress))
        }
        Settled::Starting(facts, _) if is_plain => goes_on(world, config, &facts, None, call),
        Settled::Working(facts, progress) if is_plain => {
            goes_on(world, config, &facts, Some(&progress), call)
        }
        Settled::Starting(facts, _) => task(call, starting(&facts, cx)),
        // A job that ended and is not over when the time is up: what is left of it cannot be killed yet.
        Settled::Working(facts, _) => task(call, working(call, &facts, cx)),
    })
}

/// The handle of a task at whose job nobody has looked now.
fn unlooked<'a>(call: &WaitingCall, loaded: &'a Loaded, cx: &Context) -> wire::Task<'a> {
    match &loaded.state {
        State::Terminal(terminal) if call.is_repeated => wire::handle(&loaded.facts, terminal),
        // A first call's task begins as working, and its client asks next: some do not expect anything else.
        State::Terminal(_) | State::Live(_) => working(call, &loaded.facts, cx),
    }
}

fn wait_on(call: &WaitingCall, start_by: Option<u64>) -> Outcome {
    let call = call.clone();
    WaitingCall {
        start_by,
        look_at: None,
        ..call
    }
    .wait()
}

/// Has a call wait on whose job runs, and tells its client how far that is, where it is to hear that now.
fn going_on(
    world: &mut impl World,
    cx: &Context,
    call: &WaitingCall,
    (id, progress): (&TaskId, &Progress),
) -> Outcome {
    let reported = call.progress.as_ref().filter(|_| call.is_to_tell(cx.now));
    let Some(reported) = reported else {
        return wait_on(call, call.patient_until(cx.now));
    };
    let told = reported.further(progress);
    let waits = wait_on(&call.told(cx.now, told), call.patient_until(cx.now));
    let Some(told) = told else { return waits };
    let message = status_message::working(world, id, progress);
    waits.after(notice::progress(&reported.token, told, &message))
}

/// What a client without Tasks is told whose call cannot wait longer.
fn goes_on(
    world: &mut impl World,
    config: &Config,
    facts: &Durable<Facts>,
    progress: Option<&Progress>,
    call: &WaitingCall,
) -> Outcome {
    let has_key = facts.idempotency_key.is_some();
    let answer_command = config.answer_command.as_deref();
    let asks = progress.and_then(|progress| asking::told(&facts.id, progress, answer_command));
    let tool = facts.tool_name();
    let running = Running {
        id: facts.id.as_str(),
        progress,
        next_wait_ms: has_key.then(|| patience_ms(config, tool).unwrap_or(u64::MAX)),
        show_command: config.show_command.as_deref(),
        asks: asks.as_deref(),
        tool: facts.tool.as_deref(),
        is_run_offered: config.catalogue.run.is_some(),
    };
    tool_result(&call.request, run::still_running(world, &running))
}

/// The handle of a task whose job is not known yet.
fn starting<'a>(facts: &'a Durable<Facts>, cx: &Context) -> wire::Task<'a> {
    wire::working(facts, cx.now, status_message::starting(facts, cx.now))
}

/// The handle of a task whose end nobody has seen.
fn working<'a>(call: &WaitingCall, facts: &'a Durable<Facts>, cx: &Context) -> wire::Task<'a> {
    if call.is_repeated {
        wire::created_earlier(facts, cx.now)
    } else {
        wire::created(facts, cx.now)
    }
}

/// There is a task, and whoever asked for it must not do that again because its state cannot be read: said to a client
/// that cannot be given the task, or where even its record cannot be read. Only the detail of the error is told: its
/// message would say to try again.
fn unseen(config: &Config, call: &WaitingCall, detail: &str) -> Outcome {
    let id = call.task.as_str();
    let show = config.show_command.as_deref();
    let terminal = show.map(|command| format!(", in a terminal by `{command} {id}`"));
    let text = format!(
        "the command is task {id}, so do not run it again; {}; look later: with the Tasks extension by tasks/get with \
         this id{}",
        status_message::untold(detail),
        terminal.unwrap_or_default()
    );
    tool_result(&call.request, ToolResult::refused(text))
}

/// What a call gets whose task has ended.
fn ended(
    world: &mut impl World,
    call: &WaitingCall,
    facts: &Durable<Facts>,
    terminal: Terminal,
) -> Result<Outcome, RpcError> {
    let result = match terminal.ending {
        Ending::Completed(result) => result,
        // To a repeated call it is the task that failed, and not the call.
        Ending::Failed(_) if call.is_repeated && call.client == Client::Tasks => {
            return Ok(task(call, wire::handle(facts, &terminal)));
        }
        Ending::Failed(error) if call.is_repeated => {
            let text = run::failed_earlier(
                facts.about(),
                (facts.id.as_str(), facts.created_at),
                &error.message,
            );
            return Ok(tool_result(&call.request, ToolResult::refused(text)));
        }
        // Nobody has told its caller which one it is.
        Ending::Failed(error) => return Err(RpcError::Failed(error.of_task(&facts.id))),
        Ending::Cancelled => cancelled(world, facts, terminal.status_message)?,
    };
    let result = if call.is_repeated {
        repeated(facts, result)
    } else {
        result
    };
    Ok(Outcome::Reply(reply::complete(&call.request, result)))
}

/// A result that says that it is an earlier call's. What a configured tool gives back that did not fail is its output and has
/// no words of ours: there it is said beside it.
fn repeated(facts: &Facts, result: CallResult) -> CallResult {
    let words = run::repeated(facts.about(), facts.created_at);
    if facts.tool.is_none() || result.is_error() {
        result.with_second_line(&words)
    } else {
        result.with_last_block(&words)
    }
}

/// What a call says whose task was cancelled meanwhile. The task has no result, so it is made here.
fn cancelled(
    world: &mut impl World,
    facts: &Facts,
    status_message: String,
) -> Result<CallResult, RpcError> {
    let id = facts.id.as_str();
    Ok(match world.inspect(id)? {
        JobState::Ended(outcome) => {
            let ended = Ended {
                id,
                outcome: &status_message::as_cancelled(&outcome),
                timeout_ms: None,
                about: facts.about(),
            };
            tool::finished(world, facts.tool.as_deref(), ended)?.into()
        }
        JobState::Unknown | JobState::Running(_) => ToolResult::refused(status_message).into(),
    })
}

fn expired(request: &Id) -> Outcome {
    let text = "the task's time to live has passed, so its job is stopped if it still runs, and its output is \
                deleted; to have it run anew, call again, with a longer `ttlSeconds` or none where the call gave one";
    tool_result(request, ToolResult::refused(text.to_owned()))
}
