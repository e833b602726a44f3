//! Writing notifications.

use std::time::Duration;

use serde::Serialize;

use super::Id;

/// What a notification of a subscription carries in `_meta`.
#[derive(Serialize)]
struct Meta<'a> {
    #[serde(rename = "io.modelcontextprotocol/subscriptionId")]
    subscription: &'a Id,
}

#[derive(Serialize)]
struct Tagged<'a, P> {
    #[serde(flatten)]
    members: P,
    #[serde(rename = "_meta")]
    meta: Meta<'a>,
}

#[derive(Serialize)]
struct Notice<'a, P> {
    jsonrpc: &'static str,
    method: &'a str,
    params: P,
}

/// A notification whose parameters are `params`, which has to be something that serde writes as an object.
fn notice<P: Serialize>(method: &str, params: P) -> String {
    let notice = Notice {
        jsonrpc: "2.0",
        method,
        params,
    };
    serde_json::to_string(&notice)
        .expect("all keys are strings and no type here has a failing serializer")
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Progress<'a> {
    progress_token: &'a Id,
    progress: f64,
    message: &'a str,
}

/// How far a request is: for how long its job has run, in milliseconds on the way in and in seconds on the wire, as nobody
/// knows how long it takes.
///
/// *Source:* MCP 2026-07-28, Progress.
pub(crate) fn progress(token: &Id, running_ms: u64, message: &str) -> String {
    let params = Progress {
        progress_token: token,
        progress: Duration::from_millis(running_ms).as_secs_f64(),
        message,
    };
    notice("notifications/progress", params)
}

/// As [`notice`], on the subscription that this request opened.
///
/// *Source:* MCP 2026-07-28, Subscriptions, Receiving Notifications.
pub(crate) fn on_subscription<P: Serialize>(subscription: &Id, method: &str, params: P) -> String {
    let meta = Meta { subscription };
    notice(
        method,
        Tagged {
            members: params,
            meta,
        },
    )
}
