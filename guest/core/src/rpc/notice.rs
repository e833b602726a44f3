//! Writing notifications.

use serde::{Deserialize, Serialize};
use serde_json::Number;

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

/// How a client is told how far a call is. Once it was told percents, it is told nothing else: each value has to be greater
/// than the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Measure {
    /// For how many seconds the job has run, as nobody knows how long it takes.
    Seconds,
    /// How many percent of it are done, as the job says itself.
    Percent,
}

/// How far a call is, as its client is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    /// In whole ones of the measure.
    pub(crate) value: u64,
    /// How many times more it was told since, while the value stood still.
    pub(crate) repeats: u64,
    /// What the value is.
    pub(crate) measure: Measure,
}

impl Told {
    /// As a number that grows each time, and never reaches the next whole one.
    pub(crate) fn number(self) -> f64 {
        let repeats = self.repeats as f64;
        self.value as f64 + repeats / (repeats + 1.0)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Progress<'a> {
    progress_token: &'a Id,
    progress: Number,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<u32>,
    message: &'a str,
}

/// How far a request is. It is a whole number where it can be one.
///
/// *Source:* MCP 2026-07-28, Progress.
pub(crate) fn progress(token: &Id, told: Told, message: &str) -> String {
    let params = Progress {
        progress_token: token,
        progress: match told.repeats {
            0 => Number::from(told.value),
            _ => Number::from_f64(told.number()).expect("it is finite"),
        },
        total: match told.measure {
            Measure::Seconds => None,
            Measure::Percent => Some(100),
        },
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
