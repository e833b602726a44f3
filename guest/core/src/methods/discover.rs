//! `server/discover`: what this server is and speaks.
//!
//! *Source:* MCP 2026-07-28, Discovery.

use serde::Serialize;
use serde_json::{Value, json};

use crate::config::Config;
use crate::limits::CATALOGUE_TTL_MS;
use crate::meta::{PROTOCOL_VERSION, TASKS_EXTENSION};
use crate::outcome::Outcome;
use crate::rpc::{Request, reply};
use crate::text::duration;
use crate::tool::catalogue::Catalogue;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DiscoverResult {
    supported_versions: [&'static str; 1],
    capabilities: Value,
    instructions: String,
    ttl_ms: u64,
    cache_scope: &'static str,
}

/// Answers alike for everybody.
pub(super) fn handle(config: &Config, request: &Request<'_>) -> Outcome {
    let result = DiscoverResult {
        supported_versions: [PROTOCOL_VERSION],
        // Exactly `{}`: some clients take an extension for supported only then.
        capabilities: json!({ "tools": {}, "extensions": { TASKS_EXTENSION: {} } }),
        instructions: instructions(config),
        ttl_ms: CATALOGUE_TTL_MS,
        cache_scope: "public",
    };
    Outcome::Reply(reply::complete(&request.id, result))
}

/// For a model, beside the tool's own description.
fn instructions(config: &Config) -> String {
    let quick = if config.direct_limit_ms > 0 {
        "a command that ends quickly is answered directly, and otherwise you get a task"
    } else {
        "you get a task"
    };
    let wait = if config.sync_limit_ms > 0 {
        let limit = duration(config.sync_limit_ms);
        format!("the call waits up to {limit} for the result and then says how to go on")
    } else {
        "the call does not wait for the result and says how to go on".to_owned()
    };
    let (what, key) = offer(&config.catalogue);
    format!(
        "{what} A job goes on when the request, the \
         connection, this server or the session ends, and its true result can be fetched afterwards, also by a \
         later session: keep the task id. With the Tasks extension {quick}: poll it with tasks/get no \
         faster than its pollIntervalMs, read its statusMessage for the elapsed time and the last line of output, \
         and stop it with tasks/cancel. Without it, {wait}.{key}"
    )
}

/// What there is to call, and how to call it once.
fn offer(catalogue: &Catalogue) -> (&'static str, &'static str) {
    const KEY: &str =
        " Give an idempotencyKey where a call must not run twice even if its reply is lost.";
    let has_others = catalogue.names().any(|name| name != "run");
    match (&catalogue.run, has_others) {
        (Some(_), false) => (
            "Backburner runs shell commands as durable jobs. Use the tool `run` for anything that may take longer than \
             a few seconds: builds, test suites, downloads, migrations, batch work.",
            KEY,
        ),
        (Some(_), true) => (
            "Backburner runs commands as durable jobs. Use the tool that is made for the work, and the tool `run` for \
             anything else that may take longer than a few seconds: builds, test suites, downloads, migrations, batch \
             work.",
            KEY,
        ),
        (None, _) => (
            "Backburner runs the commands of its tools as durable jobs.",
            "",
        ),
    }
}
