//! Everything that is answered with a JSON-RPC error, and the one place that knows the codes.

use serde_json::{Value, json};

use crate::imports::{Failure, StoreError, StoreErrorKind};
use crate::meta::{PROTOCOL_VERSION, TASKS_EXTENSION};
use crate::task::TaskError;
use crate::text::{echoed, revealed};

/// Why a request has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RpcError {
    /// The message is not JSON, for this reason.
    NotJson(String),
    /// The message is JSON but no JSON-RPC message.
    WrongShape(&'static str),
    /// The message is longer than the host accepts.
    TooLarge,
    /// The client speaks this other revision.
    UnsupportedVersion(String),
    /// There is no such method.
    UnknownMethod(String),
    /// The client began the handshake of earlier revisions.
    Handshake,
    /// The method belongs to the Tasks extension, which the request does not declare.
    TasksUndeclared,
    /// The tool is answered with a task always, and the request does not declare the Tasks extension.
    TaskRequired,
    /// The parameters are wrong, in these words.
    InvalidParams(String),
    /// No task of the caller's has this id. Deliberately without the id: an unknown id and another
    /// principal's task have to look the same.
    UnknownTask,
    /// The task was the caller's; its time to live has passed.
    ExpiredTask,
    /// The job itself ended in this error.
    Failed(TaskError),
    /// The store failed.
    Store(StoreError),
    /// The host could not look after a job.
    Jobs(Failure),
    /// The server cannot do it, in these words.
    Internal(&'static str),
}

impl From<StoreError> for RpcError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<Failure> for RpcError {
    fn from(failure: Failure) -> Self {
        Self::Jobs(failure)
    }
}

impl RpcError {
    /// The code.
    ///
    /// *Source:* MCP 2026-07-28, Base Protocol, Error Codes.
    pub(crate) fn code(&self) -> i64 {
        match self {
            Self::NotJson(_) => -32700,
            Self::WrongShape(_) | Self::TooLarge => -32600,
            Self::UnknownMethod(_) | Self::Handshake => -32601,
            Self::InvalidParams(_) | Self::UnknownTask | Self::ExpiredTask => -32602,
            Self::Store(_) | Self::Jobs(_) | Self::Internal(_) => -32603,
            Self::TasksUndeclared | Self::TaskRequired => -32021,
            Self::UnsupportedVersion(_) => -32022,
            Self::Failed(error) => error.code,
        }
    }

    /// What happened and what to do next, in words.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::NotJson(detail) => format!("the message is not valid JSON: {detail}"),
            Self::WrongShape(detail) => format!("not a JSON-RPC 2.0 message: {detail}"),
            Self::TooLarge => {
                "the message is longer than this server accepts: pass long input in a file, or start the server with a \
                 higher --max-message-bytes"
                    .to_owned()
            }
            Self::UnsupportedVersion(version) => {
                let version = echoed(version);
                format!("protocol revision `{version}` is not supported: use {PROTOCOL_VERSION}")
            }
            Self::UnknownMethod(method) => format!("unknown method: {}", echoed(method)),
            Self::Handshake => format!(
                "this server has no handshake: it speaks protocol revision {PROTOCOL_VERSION}, where \
                 every request stands alone; send server/discover"
            ),
            Self::TasksUndeclared => format!(
                "this method needs the extension {TASKS_EXTENSION}: declare it in the request's client \
                 capabilities"
            ),
            Self::TaskRequired => format!(
                "this tool is answered with a task always, so calling it needs the extension {TASKS_EXTENSION}: declare \
                 it in the request's client capabilities; nothing was run"
            ),
            Self::InvalidParams(detail) => detail.clone(),
            Self::UnknownTask => "unknown task: no task has this id".to_owned(),
            Self::ExpiredTask => {
                "this task has expired: its ttlMs has passed, so its job is stopped if it still runs, and its \
                 result is deleted"
                    .to_owned()
            }
            Self::Failed(error) => error.message.clone(),
            Self::Store(error) => store_message(error),
            Self::Jobs(failure) => {
                format!(
                    "the server could not look after the job, try again: {}",
                    revealed(&failure.detail)
                )
            }
            Self::Internal(detail) => (*detail).to_owned(),
        }
    }

    /// What a program can act on.
    pub(crate) fn data(&self) -> Option<Value> {
        match self {
            Self::UnsupportedVersion(version) => Some(json!({
                "supported": [PROTOCOL_VERSION],
                "requested": version,
            })),
            Self::TasksUndeclared | Self::TaskRequired => Some(json!({
                "requiredCapabilities": { "extensions": { TASKS_EXTENSION: {} } },
            })),
            _ => None,
        }
    }
}

fn store_message(error: &StoreError) -> String {
    match error.kind {
        StoreErrorKind::NoSpace => {
            "the disk that holds the server's data directory is full, of bytes or of files: free some space there, \
             then try again"
                .to_owned()
        }
        StoreErrorKind::Corrupt => format!(
            "the server's data directory is damaged, a person has to look: {}",
            revealed(&error.detail)
        ),
        StoreErrorKind::TooLarge => {
            "the call is too large to be recorded: shorten its arguments".to_owned()
        }
        StoreErrorKind::Conflict | StoreErrorKind::Other => {
            let detail = revealed(&error.detail);
            format!("the server's store failed, try again: {detail}")
        }
    }
}
