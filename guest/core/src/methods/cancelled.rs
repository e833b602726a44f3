//! `notifications/cancelled`: the client does not want a request's reply any more.
//!
//! *Source:* MCP 2026-07-28, Cancellation.

use serde::Deserialize;

use crate::outcome::Outcome;
use crate::rpc::members::object;
use crate::rpc::{Id, Notification};

#[derive(Deserialize)]
struct Params {
    #[serde(rename = "requestId")]
    request_id: Id,
}

/// Names the request to the host; a malformed notification is ignored, as the specification asks.
pub(super) fn handle(notification: &Notification<'_>) -> Outcome {
    match object::<Params>("params", notification.params) {
        Ok(params) => Outcome::Cancel {
            request: params.request_id.to_json(),
        },
        Err(_) => Outcome::Nothing,
    }
}
