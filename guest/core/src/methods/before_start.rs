//! What a `tools/call` needs before its job starts: a person's confirmation, where the policy asks for one.
//!
//! *Source:* MCP 2026-07-28, Tools, Calling Tools; Multi Round-Trip Requests.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::call_tool::tool_result;
use crate::config::Config;
use crate::imports::World;
use crate::meta;
use crate::outcome::Outcome;
use crate::rounds::confirmation::{Proposal, because, confirmation, is_confirmed};
use crate::rounds::{Answered, Brought, PutAgain, Question, Rounds};
use crate::rpc::members::{object, present, string};
use crate::rpc::{Request, RpcError, reply};
use crate::task::order::Order;
use crate::task::permit::Permit;
use crate::tool::ToolResult;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(default, borrow, deserialize_with = "present")]
    input_responses: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    request_state: Option<&'a RawValue>,
}

/// Whether a job may be started, and what its call is answered with where it may not.
#[derive(Debug)]
pub(super) enum Verdict {
    /// It may.
    Start(Permit),
    /// A person has to be asked this first.
    Ask(Question, PutAgain),
    /// It may not, in these words for the model.
    Refuse(String),
}

/// What a call brings of the round before.
pub(super) fn brought<'a>(request: &Request<'a>) -> Result<Brought<'a>, RpcError> {
    let params: Params<'_> = object("params", request.params)?;
    let responses = match params.input_responses {
        None => BTreeMap::new(),
        some => object("inputResponses", some)?,
    };
    let state = params.request_state;
    let state = state.map(|raw| string("requestState", Some(raw)));
    Ok(Brought {
        responses,
        state: state.transpose()?,
    })
}

/// Whether an order may be carried out.
pub(super) fn judge(
    config: &Config,
    request: &Request<'_>,
    rounds: &mut Rounds<'_>,
    order: &Order,
) -> Result<Verdict, RpcError> {
    let Some(concern) = config.confirm.concern(&order.spec.command) else {
        return Ok(Verdict::Start(Permit::Unneeded));
    };
    let why = because(&concern);
    let proposal = Proposal {
        spec: &order.spec,
        label: order.label.as_deref(),
    };
    let question = confirmation(proposal, &why);
    let answered = rounds.answer(&question);
    if let (Answered::With(answer), Some(confirmation)) = (&answered, rounds.confirmation())
        && is_confirmed(answer)
    {
        return Ok(Verdict::Start(Permit::Once(confirmation)));
    }
    Ok(match answered {
        Answered::With(_) | Answered::Declined => Verdict::Refuse(DECLINED.to_owned()),
        Answered::Cancelled => Verdict::Refuse(CANCELLED.to_owned()),
        _ if !meta::modes(request)?.form => Verdict::Refuse(unaskable(config, &why)),
        Answered::Not => Verdict::Ask(question, PutAgain::No),
        Answered::Badly => Verdict::Ask(question, PutAgain::Yes(UNFIT.to_owned())),
    })
}

/// Answers a call whose job may not be started.
pub(super) fn answer(
    world: &mut impl World,
    request: &Request<'_>,
    rounds: Rounds<'_>,
    verdict: Verdict,
) -> Result<Outcome, RpcError> {
    match verdict {
        Verdict::Ask(question, again) => {
            let result = rounds.ask(world, question, again)?;
            Ok(Outcome::Reply(reply::input_required(&request.id, result)))
        }
        Verdict::Refuse(text) => Ok(tool_result(&request.id, ToolResult::refused(text))),
        Verdict::Start(_) => Err(RpcError::Internal("a call was not carried out: try again")),
    }
}

const DECLINED: &str = "the command was not run: the person who was asked to confirm it said no. Do not call again \
    with it unless they ask for it";

const CANCELLED: &str = "the command was not run: the person who was asked to confirm it gave no answer. Ask them \
    before you call again";

const UNFIT: &str = "The last answer could not be used, so the question is asked again.";

/// What a model is told whose client cannot ask its person.
fn unaskable(config: &Config, why: &str) -> String {
    let command = config.run_command.as_deref();
    let how = match command {
        Some(command) => format!(": with `{command}` and the command"),
        None => String::new(),
    };
    format!(
        "the command was not run: a person has to confirm it. {why}. This client cannot ask them, as it does not declare \
         the capability `elicitation` with forms. Tell them what you want to run and why: they can run it in a terminal\
         {how}, where nobody is asked, or change the rule in the server's configuration"
    )
}
