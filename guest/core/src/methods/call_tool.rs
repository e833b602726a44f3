//! `tools/call`: runs a command as a task.
//!
//! Who calls gets the result where the job ends soon. Later than that, a client that declares the Tasks
//! extension gets the task, and any other one a result that says how to go on.
//!
//! *Source:* MCP 2026-07-28, Tools, Calling Tools; SEP-2663, Task Creation.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::before_start::{self, Verdict};
use super::resume_call::{self, Wakened};
use super::ticket::{HeldCall, WaitingCall};
use crate::config::Config;
use crate::imports::World;
use crate::limits::{ECHOED_CHARS, ENDING_WAIT_MS};
use crate::meta::Client;
use crate::outcome::{Context, Outcome, Wake};
use crate::rounds::{Rounds, Subject};
use crate::rpc::members::{object, present, read, repeated, string};
use crate::rpc::{Id, Request, RpcError, reply};
use crate::task::begin::{Begun, Refused, begin};
use crate::task::call_result::CallResult;
use crate::task::order::Order;
use crate::task::permit::Permit;
use crate::task::record::Facts;
use crate::task::settle::Clock;
use crate::task::start::Remains;
use crate::task::{Durable, TaskId, wire};
use crate::text::shorten;
use crate::tool::ToolResult;
use crate::tool::run::Arguments;
use crate::wording;

/// A call and who makes it.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    /// The request.
    pub(super) request: &'a Request<'a>,
    /// What its client understands.
    pub(super) client: Client,
}

/// What a call is told whose idempotency key does not become free in time.
pub(super) const ENDING: &str = "the command was not run: the task that this idempotencyKey stands for has \
    expired, and its job is still being stopped; call again later, or with a new key";

/// What a call is told whose confirmation was used before.
const USED_UP: &str = "`requestState` was used: a command was started with this confirmation before, so nothing was \
    run now; to run the command again, make the call without `requestState` and `inputResponses`, and it is asked for \
    anew";

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(default, borrow, deserialize_with = "present")]
    name: Option<&'a RawValue>,
    /// `null` counts as none, as some models write it for a tool's optional parts.
    #[serde(default, borrow)]
    arguments: Option<&'a RawValue>,
}

/// The argument that is an object itself.
#[derive(Deserialize)]
struct Inner<'a> {
    #[serde(default, borrow)]
    env: Option<&'a RawValue>,
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
    let request = Request {
        id: held.request.clone(),
        method: "tools/call".to_owned(),
        params: Some(&held.params),
    };
    let call = Call {
        request: &request,
        client: held.client,
    };
    let hold_until = held.deadline;
    attempt(config, world, cx, Held { call, hold_until })
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
    let brought = before_start::brought(call.request)?;
    let given = match arguments(call.request)? {
        Ok(given) => given,
        Err(text) => return Ok(tool_result(id, ToolResult::refused(text))),
    };
    let subject = Subject {
        principal: &cx.principal,
        tool: "run",
        arguments: &given,
        now: cx.now,
    };
    let mut rounds = Rounds::take_up(world, subject, brought)?;
    let mut order = match Arguments::parse(Some(&given)) {
        Ok(arguments) => Order::new(arguments, config),
        Err(text) => return Ok(tool_result(id, ToolResult::refused(text))),
    };
    let verdict = before_start::judge(config, call.request, &mut rounds, &order)?;
    order.permit = match &verdict {
        Verdict::Start(permit) => permit.clone(),
        Verdict::Ask(..) | Verdict::Refuse(_) => Permit::Missing,
    };
    // As if the job had ended: the task may have.
    let wakened = Wakened {
        config,
        cx,
        why: Wake::JobEnded,
        clock: Clock::Old,
    };
    match begin(world, cx, &order)? {
        Begun::Task(facts) if is_direct(config, call.client) => {
            Ok(waiting(config, cx, call, &facts).wait())
        }
        Begun::Task(facts) => {
            let handle = wire::created(&facts, cx.now);
            Ok(Outcome::Reply(reply::task(id, handle)))
        }
        Begun::Overtaken(facts) => {
            let waiting = waiting(config, cx, call, &facts);
            Ok(resume_call::look(world, wakened, waiting))
        }
        Begun::Earlier(loaded) => {
            let waiting = waiting(config, cx, call, &loaded.facts).repeated();
            Ok(resume_call::look_at(world, wakened, waiting, loaded))
        }
        Begun::Ending(task) if cx.now < held.hold_until => Ok(hold(held, &task)),
        Begun::Ending(_) => Ok(tool_result(id, ToolResult::refused(ENDING.to_owned()))),
        Begun::Unconfirmed => before_start::answer(world, call.request, rounds, verdict),
        Begun::Refused(Refused::UsedUp) => Err(RpcError::InvalidParams(USED_UP.to_owned())),
        Begun::Refused(refused) => {
            let text = refusal_in_words(&refused, &order);
            Ok(tool_result(id, ToolResult::refused(text)))
        }
    }
}

/// Answers with what a tool gave back.
pub(super) fn tool_result(id: &Id, result: ToolResult) -> Outcome {
    Outcome::Reply(reply::complete(id, CallResult::from(result)))
}

/// The arguments of `run` as they came, or the text that tells the model what is wrong with them.
fn arguments(request: &Request<'_>) -> Result<Result<Map<String, Value>, String>, RpcError> {
    let params: Params<'_> = object("params", request.params)?;
    let name = string("name", params.name)?;
    if name != "run" {
        let name = shorten(&name, ECHOED_CHARS);
        let detail = format!("unknown tool: {name}, the tools are: run");
        return Err(RpcError::InvalidParams(detail));
    }
    let Some(raw) = params.arguments else {
        return Ok(Ok(Map::new()));
    };
    let arguments = object::<BTreeMap<String, &RawValue>>("arguments", Some(raw))?;
    Ok(match given_twice(raw) {
        Some(argument) => Err(Arguments::repeated(argument)),
        None => values(arguments),
    })
}

/// The arguments as values; the text that tells the model which one cannot be read otherwise.
fn values(arguments: BTreeMap<String, &RawValue>) -> Result<Map<String, Value>, String> {
    let read = |(name, raw)| match read(raw) {
        Ok(value) => Ok((name, value)),
        Err(why) => Err(Arguments::unreadable(name, why)),
    };
    arguments.into_iter().map(read).collect()
}

/// The first argument, or variable in `env`, that is given twice.
fn given_twice(arguments: &RawValue) -> Option<String> {
    if let Some(name) = repeated(arguments) {
        return Some(name);
    }
    let inner: Inner<'_> = serde_json::from_str(arguments.get()).ok()?;
    Some(format!("env.{}", repeated(inner.env?)?))
}

/// Whether such a client may be answered with a result, and not only with a task.
pub(super) fn is_direct(config: &Config, client: Client) -> bool {
    client == Client::Plain || config.direct_limit_ms > 0
}

/// How the call waits for its job; not at all where its client gets a task at once.
fn waiting(config: &Config, cx: &Context, call: Call<'_>, facts: &Durable<Facts>) -> WaitingCall {
    let limit_ms = match call.client {
        Client::Tasks => config.direct_limit_ms,
        Client::Plain => config.sync_limit_ms,
    };
    WaitingCall {
        request: call.request.id.clone(),
        task: facts.id.clone(),
        client: call.client,
        deadline: cx.now.saturating_add(limit_ms),
        is_repeated: false,
        start_by: None,
        look_at: None,
    }
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
            let key_is_used = *remains == Remains::Task && order.idempotency_key.is_some();
            wording::not_run(error, key_is_used)
        }
        Refused::OtherOrder(differences) => format!(
            "`idempotencyKey` {:?} already stands for another call, with {}: repeat that call exactly to get its \
             task, or use a new key",
            order.idempotency_key.as_deref().unwrap_or_default(),
            others(differences)
        ),
        Refused::KeyTooLong(limit) => {
            let key = order.idempotency_key.as_deref().unwrap_or_default();
            format!(
                "`idempotencyKey` is too long: its {} characters are {} bytes, use at most {limit} bytes; a character \
                 that is not ASCII has up to four of them. Nothing was run",
                key.chars().count(),
                key.len()
            )
        }
        Refused::OrderTooLong => {
            "the arguments are too long to be recorded: put long input into a file and name that"
                .to_owned()
        }
        Refused::UsedUp => USED_UP.to_owned(),
    }
}

fn others(arguments: &[&str]) -> String {
    if arguments.is_empty() {
        return "other arguments".to_owned();
    }
    format!("another `{}`", arguments.join("`, another `"))
}
