//! `tools/list`: all tools on one page, always in the same order.
//!
//! *Source:* MCP 2026-07-28, Tools, Listing Tools.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::config::Config;
use crate::limits::CATALOGUE_TTL_MS;
use crate::outcome::Outcome;
use crate::rpc::members::object;
use crate::rpc::{Request, RpcError, reply};

#[derive(Deserialize)]
struct Params<'a> {
    /// `null` counts as none, as some clients write it for the first page.
    #[serde(default, borrow)]
    cursor: Option<&'a RawValue>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListToolsResult {
    tools: Vec<Box<RawValue>>,
    ttl_ms: u64,
    cache_scope: &'static str,
}

/// Answers alike for everybody.
pub(super) fn handle(config: &Config, request: &Request<'_>) -> Result<Outcome, RpcError> {
    let params: Params<'_> = object("params", request.params)?;
    if params.cursor.is_some() {
        let detail = "`cursor` is not one of this server's: all tools are on one page";
        return Err(RpcError::InvalidParams(detail.to_owned()));
    }
    let result = ListToolsResult {
        tools: config.catalogue.definitions(),
        ttl_ms: CATALOGUE_TTL_MS,
        cache_scope: "public",
    };
    Ok(Outcome::Reply(reply::complete(&request.id, result)))
}
