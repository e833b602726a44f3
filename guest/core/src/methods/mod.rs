//! Which method is answered by which module.

mod before_start;
pub(crate) mod call_tool;
mod called_tool;
mod cancel_task;
mod cancelled;
mod discover;
mod get_task;
mod list_tools;
mod listen;
pub(crate) mod resume_call;
mod task_request;
mod ticket;
mod update_task;

use crate::config::Config;
use crate::imports::World;
use crate::meta::{self, Client};
use crate::outcome::{Context, Outcome};
use crate::rpc::incoming::{self, Rejected};
use crate::rpc::{Id, Incoming, Notification, Request, RpcError, reply};

/// Handles one message.
pub(crate) fn dispatch(
    config: &Config,
    world: &mut impl World,
    cx: &Context,
    body: &str,
) -> Outcome {
    match incoming::parse(body) {
        Ok(Incoming::Request(request)) => {
            let outcome = answer(config, world, cx, &request);
            outcome.unwrap_or_else(|error| failure(&request.id, &error))
        }
        Ok(Incoming::Notification(notification)) => notified(&notification),
        Ok(Incoming::Response) => Outcome::Nothing,
        Err(Rejected { id, error }) => Outcome::Reply(reply::failure(id.as_ref(), &error)),
    }
}

/// The reply that `error` is.
pub(crate) fn failure(id: &Id, error: &RpcError) -> Outcome {
    Outcome::Reply(reply::failure(Some(id), error))
}

fn answer(
    config: &Config,
    world: &mut impl World,
    cx: &Context,
    request: &Request<'_>,
) -> Result<Outcome, RpcError> {
    if request.method == "initialize" {
        // Before `_meta` is asked for, which clients that begin with it do not send.
        return Err(RpcError::Handshake);
    }
    let declared = meta::declared(request)?;
    let client = declared.client;
    match request.method.as_str() {
        "server/discover" => Ok(discover::handle(config, request)),
        "tools/list" => list_tools::handle(config, request),
        "tools/call" => call_tool::handle(config, world, cx, call_tool::Call { request, client }),
        "subscriptions/listen" => {
            listen::handle(config, world, cx, call_tool::Call { request, client })
        }
        "tasks/get" => get_task::handle(config, world, cx, (gated(request, client)?, declared)),
        "tasks/update" => update_task::handle(world, cx, gated(request, client)?),
        "tasks/cancel" => cancel_task::handle(world, cx, gated(request, client)?),
        _ => Err(RpcError::UnknownMethod(request.method.clone())),
    }
}

fn notified(notification: &Notification<'_>) -> Outcome {
    match notification.method.as_str() {
        "notifications/cancelled" => cancelled::handle(notification),
        _ => Outcome::Nothing,
    }
}

/// Lets a request of the Tasks extension through only where it declares the extension.
fn gated<'a>(request: &'a Request<'a>, client: Client) -> Result<&'a Request<'a>, RpcError> {
    match client {
        Client::Tasks => Ok(request),
        Client::Plain => Err(RpcError::TasksUndeclared),
    }
}
