//! `tools/call`: runs a command as a task.
//!
//! Who calls gets the result where the job ends soon. Later than that, a client that declares the Tasks
//! extension gets the task, and any other one a result that says how to go on.
//!
//! *Source:* MCP 2026-07-28, Tools, Calling Tools; SEP-2663, Task Creation.

use super::before_start::{self, Prepared};
use super::called_tool::{Called, called};
use super::resume_call::{self, Wakened};
use super::ticket::{HeldCall, Reported, WaitingCall};
use crate::config::Config;
use crate::imports::World;
use crate::limits::{ENDING_WAIT_MS, PATIENCE_MS, TELL_AGAIN_MS};
use crate::meta::{self, Client};
use crate::outcome::{Context, Outcome, Wake};
use crate::rpc::notice::Measure;
use crate::rpc::{Id, Request, RpcError, reply};
use crate::task::begin::{Begun, OtherOrder, Refused, begin};
use crate::task::call_result::CallResult;
use crate::task::order::Order;
use crate::task::record::Facts;
use crate::task::settle::Clock;
use crate::task::start::Remains;
use crate::task::{Durable, TaskId, wire};
use crate::text::revealed;
use crate::tool::{Mode, ToolResult};
use crate::wording::{self, About, Unstarted};

/// A call and who makes it.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    /// The request.
    pub(super) request: &'a Request<'a>,
    /// What its client understands.
    pub(super) client: Client,
}

/// What a call is told whose idempotency key does not become free in time.
pub(super) fn ending(about: About) -> &'static str {
    match about {
        About::Run => {
            "the command was not run: the task that this idempotencyKey stands for has expired, and its job is still being \
             stopped; call again later, or with a new key"
        }
        About::Configured => {
            "the command was not run: the task that the key of this call stands for, which is made of the arguments, has \
             expired, and its job is still being stopped; call again later"
        }
    }
}

/// Begins the job and waits for it a while.
pub(super) fn handle(
    config: &Config,
    world: &mut impl World,
    cx: &Context,
    call: Call<'_>,
) -> Result<Outcome, RpcError> {
    let hold_until = cx.now.saturating_add(ENDING_WAIT_MS);
    attempt(config, world, cx, Held { call, hold_until })
}

/// Tries again what could not begin before because of its idempotency key.
pub(super) fn resume(
    config: &Config,
    world: &mut impl World,
    cx: &Context,
    held: &HeldCall,
) -> Result<Outcome, RpcError> {
    let request = request(held);
    let call = Call {
        request: &request,
        client: held.client,
    };
    let hold_until = held.deadline;
    attempt(config, world, cx, Held { call, hold_until })
}

/// The sort of the tool that a call is for.
pub(super) fn about(config: &Config, held: &HeldCall) -> About {
    let request = request(held);
    let call = Call {
        request: &request,
        client: held.client,
    };
    match called(config, call) {
        Ok(Called::Run(_)) => About::Run,
        // One that is not there any more was configured.
        Ok(Called::Configured(_)) | Err(_) => About::Configured,
    }
}

fn request(held: &HeldCall) -> Request<'_> {
    Request {
        id: held.request.clone(),
        method: "tools/call".to_owned(),
        params: Some(&held.params),
    }
}

/// A call, and until when it may wait for its idempotency key, in milliseconds since 1970.
#[derive(Clone, Copy)]
struct Held<'a> {
    call: Call<'a>,
    hold_until: u64,
}

fn attempt(
    config: &Config,
    world: &mut impl World,
    cx: &Context,
    held: Held<'_>,
) -> Result<Outcome, RpcError> {
    let call = held.call;
    let id = &call.request.id;
    let progress = progress(cx, call)?;
    let refused = |text| Ok(tool_result(id, ToolResult::refused(text)));
    let prepared = match before_start::prepare(config, world, cx, call)? {
        Ok(prepared) => prepared,
        Err(outcome) => return Ok(outcome),
    };
    let Prepared { order, mode, .. } = &prepared;
    let waiting = |facts: &Durable<Facts>| {
        let waiting = waiting(config, cx, call, facts);
        // A task says itself how far it is.
        let progress = progress.clone().filter(|_| waiting.client == Client::Plain);
        WaitingCall {
            progress,
            ..waiting
        }
    };
    // As if the job had ended: the task may have.
    let wakened = Wakened {
        config,
        cx,
        why: Wake::JobEnded,
        clock: Clock::Old,
    };
    match begin(world, cx, order)? {
        Begun::Task(facts) if is_direct(config, call.client, *mode) => Ok(waiting(&facts).wait()),
        Begun::Task(facts) => {
            let handle = wire::created(&facts, cx.now);
            Ok(Outcome::Reply(reply::task(&call.request.id, handle)))
        }
        Begun::Overtaken(facts) => Ok(resume_call::look(world, wakened, waiting(&facts))),
        Begun::Earlier(loaded) => {
            let waiting = waiting(&loaded.facts).repeated();
            Ok(resume_call::look_at(world, wakened, waiting, loaded))
        }
        Begun::Ending(task) if cx.now < held.hold_until => Ok(hold(held, &task)),
        Begun::Ending(_) => refused(ending(order.about()).to_owned()),
        Begun::Unconfirmed => prepared.unconfirmed(world, id),
        Begun::UsedUp(used_for) => Err(before_start::used_up(used_for)),
        Begun::Refused(why) => refused(refusal_in_words(&why, order)),
    }
}

/// Answers with what a tool gave back.
pub(super) fn tool_result(id: &Id, result: ToolResult) -> Outcome {
    Outcome::Reply(reply::complete(id, CallResult::from(result)))
}

/// Whether such a client may be answered with a result of such a tool, and not only with a task. One that does not know
/// tasks is never answered with one: that its tool requires tasks by now is the configuration of later calls.
pub(super) fn is_direct(config: &Config, client: Client, mode: Mode) -> bool {
    match (client, mode) {
        (Client::Plain, _) | (Client::Tasks, Mode::Never) => true,
        (Client::Tasks, Mode::Auto) => config.direct_limit_ms > 0,
        (Client::Tasks, Mode::Required) => false,
    }
}

/// How long a call of this configured tool, or of `run`, waits that is not answered with a task, in milliseconds;
/// `None` for as long as it takes: of a tool that is never answered with one and has no limit of its own.
pub(super) fn patience_ms(config: &Config, tool: Option<&str>) -> Option<u64> {
    let tool = tool.and_then(|name| config.catalogue.tool(name));
    match tool {
        Some(tool) if tool.mode == Mode::Never => tool.sync_limit_ms,
        Some(tool) => Some(tool.sync_limit_ms.unwrap_or(config.sync_limit_ms)),
        None => Some(config.sync_limit_ms),
    }
}

/// How the call waits for its job; not at all where its client gets a task at once.
fn waiting(config: &Config, cx: &Context, call: Call<'_>, facts: &Durable<Facts>) -> WaitingCall {
    let tool = facts.tool_name();
    let (client, limit_ms) = match (call.client, config.catalogue.mode(tool)) {
        (Client::Tasks, Mode::Auto | Mode::Required) => {
            (Client::Tasks, Some(config.direct_limit_ms))
        }
        // Any client of such a tool is answered like one that does not know tasks.
        (Client::Plain, _) | (_, Mode::Never) => (Client::Plain, patience_ms(config, tool)),
    };
    WaitingCall {
        request: call.request.id.clone(),
        task: facts.id.clone(),
        client,
        deadline: limit_ms.map_or(u64::MAX, |limit_ms| cx.now.saturating_add(limit_ms)),
        is_repeated: false,
        start_by: limit_ms
            .is_none()
            .then(|| cx.now.saturating_add(PATIENCE_MS)),
        look_at: None,
        progress: None,
    }
}

/// What the client of a call is to hear of its progress.
fn progress(cx: &Context, call: Call<'_>) -> Result<Option<Reported>, RpcError> {
    let token = meta::progress_token(call.request)?;
    Ok(token.map(|token| Reported {
        token,
        value: 0,
        repeats: 0,
        measure: Measure::Seconds,
        next_at: cx.now.saturating_add(TELL_AGAIN_MS),
    }))
}

/// Keeps the call until the job of this task, whose idempotency key it repeats, has ended.
fn hold(held: Held<'_>, task: &TaskId) -> Outcome {
    let Held { call, hold_until } = held;
    let params = call
        .request
        .params
        .expect("its arguments were read from them");
    let held = HeldCall {
        request: call.request.id.clone(),
        params: params.to_owned(),
        client: call.client,
        deadline: hold_until,
    };
    held.wait(task)
}

fn refusal_in_words(refused: &Refused, order: &Order) -> String {
    match refused {
        Refused::NotStarted(error, remains) => {
            let call = Unstarted {
                key_is_used: *remains == Remains::Task && order.idempotency_key.is_some(),
                is_unplaced: order.is_unplaced(),
                directory_said_by: order.directory_said_by.as_deref(),
            };
            wording::not_run(error, call, order.about())
        }
        Refused::OtherOrder(other) if order.tool.is_some() => other_call_of_tool(other, order),
        Refused::OtherOrder(other) => format!(
            "`idempotencyKey` {:?} already stands for another call, with {}: {} to get its task, or use a new key",
            order.idempotency_key.as_deref().unwrap_or_default(),
            others(&other.differences),
            repeating(other, order)
        ),
        Refused::KeyTooLong(limit) => {
            let key = order.idempotency_key.as_deref().unwrap_or_default();
            let subject = match order.about() {
                About::Run => "`idempotencyKey`".to_owned(),
                About::Configured => {
                    format!("the key {key:?}, which is made of the arguments,")
                }
            };
            format!(
                "{subject} is too long: its {} characters are {} bytes, use at most {limit} bytes; a character \
                 that is not ASCII has up to four of them. Nothing was run",
                key.chars().count(),
                key.len()
            )
        }
        Refused::OrderTooLong => {
            "the arguments are too long to be recorded: put long input into a file and name that"
                .to_owned()
        }
    }
}

/// What a call of a configured tool is told whose key stands for another one. That the directory is another one is not
/// the model's doing, and nothing that it could correct.
fn other_call_of_tool(other: &OtherOrder, order: &Order) -> String {
    let key = order.idempotency_key.as_deref().unwrap_or_default();
    let own = order.spec.directory.as_deref();
    let is_elsewhere = other.differences.as_slice() == ["cwd"];
    match (other.directory.as_deref(), own.filter(|_| is_elsewhere)) {
        (Some(theirs), Some(own)) => {
            let (theirs, own) = (revealed(theirs), revealed(own));
            format!(
                "the key {key:?}, which is made of the arguments, already stands for the same call in another \
                 directory: its directory is \"{theirs}\", and this call is for this server's own, \"{own}\", as the \
                 configuration of the tool names no `cwd`; call it from a server in \"{theirs}\" to get its task, or \
                 have a `cwd` named in the configuration of the tool. Nothing was run"
            )
        }
        _ => format!(
            "the key {key:?}, which is made of the arguments, already stands for another call, with other arguments: \
             repeat that call exactly to get its task"
        ),
    }
}

/// How the call is repeated that made another order. Who named no directory would not know why its own is another.
fn repeating(other: &OtherOrder, order: &Order) -> String {
    let own = order.spec.directory.as_deref();
    let own = own.filter(|_| order.in_servers_directory);
    match (other.directory.as_deref(), own) {
        (Some(theirs), Some(own)) if theirs != own => {
            let (theirs, own) = (revealed(theirs), revealed(own));
            format!(
                "its directory is \"{theirs}\", and this call, without `cwd`, is for this server's own, \"{own}\"; \
                 repeat that call exactly, with `cwd` \"{theirs}\","
            )
        }
        _ => "repeat that call exactly".to_owned(),
    }
}

fn others(arguments: &[&str]) -> String {
    if arguments.is_empty() {
        return "other arguments".to_owned();
    }
    format!("another `{}`", arguments.join("`, another `"))
}
