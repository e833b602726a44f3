//! Writing replies, straight from borrowed parts to one line of text.

use serde::Serialize;
use serde_json::Value;

use super::{Id, RpcError};

/// A result that answers what was asked.
pub(crate) const COMPLETE: &str = "complete";

/// A result that says which task goes on with what was asked.
pub(crate) const TASK: &str = "task";

/// A result that asks for something before what was asked can be done.
pub(crate) const INPUT_REQUIRED: &str = "input_required";

/// What every result carries in `_meta`.
#[derive(Serialize)]
pub(crate) struct ResultMeta<'a> {
    #[serde(rename = "io.modelcontextprotocol/serverInfo")]
    server_info: ServerInfo,
    /// In the result of a subscription alone: which one.
    #[serde(
        rename = "io.modelcontextprotocol/subscriptionId",
        skip_serializing_if = "Option::is_none"
    )]
    subscription: Option<&'a Id>,
}

#[derive(Serialize)]
struct ServerInfo {
    name: &'static str,
    title: &'static str,
    version: &'static str,
}

/// Who answers.
const RESULT_META: ResultMeta<'_> = ResultMeta {
    server_info: ServerInfo {
        name: "backburner",
        title: "Backburner",
        version: env!("CARGO_PKG_VERSION"),
    },
    subscription: None,
};

#[derive(Serialize)]
struct Success<'a, R> {
    jsonrpc: &'static str,
    id: &'a Id,
    result: R,
}

/// A result: its type, its own members, and who made it.
#[derive(Serialize)]
pub(crate) struct Typed<'a, R> {
    #[serde(rename = "resultType")]
    result_type: &'static str,
    #[serde(flatten)]
    members: R,
    #[serde(rename = "_meta")]
    meta: ResultMeta<'a>,
}

/// The result whose own members are `members`, which has to be something that serde writes as an object.
pub(crate) fn typed<R: Serialize>(result_type: &'static str, members: R) -> Typed<'static, R> {
    Typed {
        result_type,
        members,
        meta: RESULT_META,
    }
}

#[derive(Serialize)]
struct ErrorReply<'a> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a Id>,
    error: ErrorObject,
}

#[derive(Serialize)]
struct ErrorObject {
    code: i64,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
}

/// The reply with a complete result whose own members are `members`.
pub(crate) fn complete<R: Serialize>(id: &Id, members: R) -> String {
    success(id, typed(COMPLETE, members))
}

/// The reply that ends a subscription, whose id is that of its request: a result without members of its own.
///
/// *Source:* MCP 2026-07-28, Subscriptions, Graceful Closure.
pub(crate) fn end_of_subscription(id: &Id) -> String {
    #[derive(Serialize)]
    struct NoMembers {}
    success(
        id,
        Typed {
            result_type: COMPLETE,
            members: NoMembers {},
            meta: ResultMeta {
                subscription: Some(id),
                ..RESULT_META
            },
        },
    )
}

/// The reply with the handle of a task, whose members are `members`.
pub(crate) fn task<R: Serialize>(id: &Id, members: R) -> String {
    success(id, typed(TASK, members))
}

/// The reply that asks for something first, whose members are `members`.
pub(crate) fn input_required<R: Serialize>(id: &Id, members: R) -> String {
    success(id, typed(INPUT_REQUIRED, members))
}

/// The reply with an error; without an id where none could be read.
pub(crate) fn failure(id: Option<&Id>, error: &RpcError) -> String {
    text(&ErrorReply {
        jsonrpc: "2.0",
        id,
        error: ErrorObject {
            code: error.code(),
            message: error.message(),
            data: error.data(),
        },
    })
}

fn success<R: Serialize>(id: &Id, result: R) -> String {
    text(&Success {
        jsonrpc: "2.0",
        id,
        result,
    })
}

fn text<T: Serialize>(message: &T) -> String {
    serde_json::to_string(message)
        .expect("all keys are strings and no type here has a failing serializer")
}
