//! `tools/call`: runs a command as a task.
//!
//! Who calls gets the result where the job ends soon. Later than that, a client that declares the Tasks
//! extension gets the task, and any other one a result that says how to go on.
//!
//! *Source:* MCP 2026-07-28, Tools, Calling Tools; SEP-2663, Task Creation.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::ticket::WaitingCall;
use crate::config::Config;
use crate::imports::{StartError, StartErrorKind, World};
use crate::limits::ECHOED_CHARS;
use crate::meta::Client;
use crate::outcome::{Context, Outcome};
use crate::rpc::members::{object, present, repeated, string};
use crate::rpc::{Id, Request, RpcError, reply};
use crate::task::begin::{Begun, Refused, begin};
use crate::task::call_result::CallResult;
use crate::task::order::Order;
use crate::task::record::Facts;
use crate::task::{Durable, wire};
use crate::text::shorten;
use crate::tool::ToolResult;
use crate::tool::run::Arguments;

/// A call and who makes it.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    /// The request.
    pub(super) request: &'a Request<'a>,
    /// What its client understands.
    pub(super) client: Client,
}

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
    let id = &call.request.id;
    let arguments = match arguments(call.request)? {
        Ok(arguments) => arguments,
        Err(text) => return Ok(tool_result(id, ToolResult::refused(text))),
    };
    let order = Order::new(arguments, config);
    match begin(world, cx, &order)? {
        Begun::Task(facts) => Ok(answer_later(config, cx, call, &facts)),
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

/// The arguments of `run`, or the text that tells the model what is wrong with them.
fn arguments(request: &Request<'_>) -> Result<Result<Arguments, String>, RpcError> {
    let params: Params<'_> = object("params", request.params)?;
    let name = string("name", params.name)?;
    if name != "run" {
        let name = shorten(&name, ECHOED_CHARS);
        let detail = format!("unknown tool: {name}, the tools are: run");
        return Err(RpcError::InvalidParams(detail));
    }
    let Some(raw) = params.arguments else {
        return Ok(Arguments::parse(None));
    };
    let arguments = object::<Map<String, Value>>("arguments", Some(raw))?;
    Ok(match given_twice(raw) {
        Some(argument) => Err(Arguments::repeated(argument)),
        None => Arguments::parse(Some(&arguments)),
    })
}

/// The first argument, or variable in `env`, that is given twice.
fn given_twice(arguments: &RawValue) -> Option<String> {
    if let Some(name) = repeated(arguments) {
        return Some(name);
    }
    let inner: Inner<'_> = serde_json::from_str(arguments.get()).ok()?;
    Some(format!("env.{}", repeated(inner.env?)?))
}

fn answer_later(config: &Config, cx: &Context, call: Call<'_>, facts: &Durable<Facts>) -> Outcome {
    let limit_ms = match call.client {
        Client::Tasks => config.direct_limit_ms,
        Client::Plain => config.sync_limit_ms,
    };
    if call.client == Client::Tasks && limit_ms == 0 {
        return Outcome::Reply(reply::task(&call.request.id, wire::created(facts, cx.now)));
    }
    let waiting = WaitingCall {
        request: call.request.id.clone(),
        task: facts.id.clone(),
        client: call.client,
        deadline: cx.now.saturating_add(limit_ms),
    };
    waiting.wait()
}

fn refusal_in_words(refused: &Refused, order: &Order) -> String {
    match refused {
        Refused::NotStarted(error) => not_started_in_words(error),
        Refused::OtherOrder => format!(
            "`idempotencyKey` {:?} already stands for another call, with other arguments: repeat that call \
             exactly to get its task, or use a new key",
            order.idempotency_key.as_deref().unwrap_or_default()
        ),
        Refused::KeyTooLong(limit) => {
            format!("`idempotencyKey` is too long: use at most {limit} bytes")
        }
        Refused::OrderTooLong => {
            "the arguments are too long to be recorded: put long input into a file and name that"
                .to_owned()
        }
    }
}

fn not_started_in_words(error: &StartError) -> String {
    let detail = &error.detail;
    match error.kind {
        StartErrorKind::BadDirectory => {
            format!("the command was not run, its directory cannot be used: {detail}")
        }
        StartErrorKind::NoSpace => format!(
            "the command was not run, the disk that holds the server's data directory is full: {detail}; \
             free some space there, then call again"
        ),
        StartErrorKind::BadSpec | StartErrorKind::AlreadyKnown | StartErrorKind::Other => {
            format!("the command was not run: {detail}")
        }
    }
}
