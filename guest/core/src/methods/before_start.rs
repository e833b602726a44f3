//! What a `tools/call` needs before its job starts: arguments that fit, and a person's confirmation where a rule asks for
//! one.
//!
//! *Source:* MCP 2026-07-28, Tools, Calling Tools; Multi Round-Trip Requests.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::call_tool::{Call, tool_result};
use super::called_tool::{Called, called};
use crate::config::Config;
use crate::imports::{Command, Store, World};
use crate::meta;
use crate::outcome::{Context, Outcome};
use crate::rounds::confirmation::{Proposal, because, confirmation, is_confirmed};
use crate::rounds::{Answered, Brought, PutAgain, Question, Rounds, Subject};
use crate::rpc::members::{object, present, string};
use crate::rpc::{Id, Request, RpcError, reply};
use crate::task::order::Order;
use crate::task::permit::Permit;
use crate::tool::{Mode, ToolResult};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(default, borrow, deserialize_with = "present")]
    input_responses: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    request_state: Option<&'a RawValue>,
}

/// A call that is understood.
#[derive(Debug)]
pub(super) struct Prepared<'a> {
    /// What is to be done. It has no permit as long as somebody has to be asked.
    pub(super) order: Order,
    /// How the call is answered.
    pub(super) mode: Mode,
    rounds: Rounds<'a>,
    /// What the call is answered with where the order has no permit.
    instead: Option<Instead>,
}

/// What a call is answered with whose job may not be started.
#[derive(Debug)]
enum Instead {
    /// This question, to a person.
    Ask(Question, PutAgain),
    /// These words, for the model.
    Refuse(String),
}

/// Makes an order of a call, or the answer to one of which none can be made.
///
/// # Errors
/// [`RpcError::InvalidParams`] and [`RpcError::TaskRequired`] where the client is wrong, and [`RpcError::Store`].
pub(super) fn prepare<'a>(
    config: &'a Config,
    store: &mut impl Store,
    cx: &'a Context,
    call: Call<'a>,
) -> Result<Result<Prepared<'a>, Outcome>, RpcError> {
    let refused = |text| tool_result(&call.request.id, ToolResult::refused(text));
    let called = called(config, call)?;
    let brought = brought(call.request)?;
    let given = match called.arguments(call)? {
        Ok(given) => given,
        Err(text) => return Ok(Err(refused(text))),
    };
    let subject = Subject {
        principal: &cx.principal,
        tool: called.name(),
        now: cx.now,
    };
    let mut rounds = Rounds::take_up(store, subject, &given, brought)?;
    let mut order = match called.wanted(&given) {
        Ok(wanted) => Order::new(wanted, config),
        Err(text) => return Ok(Err(refused(text))),
    };
    let judge = Judge {
        config,
        call,
        called,
    };
    let instead = match judge.confirmed(&mut rounds, &order)? {
        Ok(permit) => {
            order.permit = permit;
            None
        }
        Err(instead) => {
            order.permit = Permit::Missing;
            Some(instead)
        }
    };
    Ok(Ok(Prepared {
        order,
        mode: called.mode(),
        rounds,
        instead,
    }))
}

/// What a call brings of the round before.
fn brought<'a>(request: &Request<'a>) -> Result<Brought<'a>, RpcError> {
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

impl Prepared<'_> {
    /// Answers a call whose job may not be started yet, as no earlier call has started it.
    ///
    /// # Errors
    /// [`RpcError::Store`].
    pub(super) fn unconfirmed(self, world: &mut impl World, id: &Id) -> Result<Outcome, RpcError> {
        match self.instead {
            Some(instead) => instead.answer(world, id, self.rounds),
            None => Err(RpcError::Internal(
                "the call was not carried out: try again",
            )),
        }
    }
}

impl Instead {
    fn answer(
        self,
        world: &mut impl World,
        id: &Id,
        rounds: Rounds<'_>,
    ) -> Result<Outcome, RpcError> {
        match self {
            Self::Ask(question, again) => {
                let result = rounds.ask(world, question, again)?;
                Ok(Outcome::Reply(reply::input_required(id, result)))
            }
            Self::Refuse(text) => Ok(tool_result(id, ToolResult::refused(text))),
        }
    }
}

/// Who decides whether a call may be carried out.
#[derive(Clone, Copy)]
struct Judge<'a> {
    config: &'a Config,
    call: Call<'a>,
    called: Called<'a>,
}

impl Judge<'_> {
    /// What lets this order be carried out, or why it may not be.
    fn confirmed(
        self,
        rounds: &mut Rounds<'_>,
        order: &Order,
    ) -> Result<Result<Permit, Instead>, RpcError> {
        let Some(why) = self.reason(order) else {
            return Ok(Ok(Permit::Unneeded));
        };
        let proposal = Proposal {
            spec: &order.spec,
            label: order.label.as_deref(),
        };
        let question = confirmation(proposal, &why);
        let answered = rounds.answer(&question);
        if let (Answered::With(answer), Some(confirmation)) = (&answered, rounds.confirmation())
            && is_confirmed(answer)
        {
            return Ok(Ok(Permit::Once(confirmation)));
        }
        Ok(Err(match answered {
            Answered::With(_) | Answered::Declined => Instead::Refuse(DECLINED.to_owned()),
            Answered::Cancelled => Instead::Refuse(CANCELLED.to_owned()),
            _ if !meta::modes(self.call.request)?.form => {
                Instead::Refuse(unaskable(self.config, &why))
            }
            Answered::Not => Instead::Ask(question, PutAgain::No),
            Answered::Badly => Instead::Ask(question, PutAgain::Yes(UNFIT.to_owned())),
        }))
    }

    /// Why a person has to confirm an order; `None` where nobody has to. What a configured tool does with an argument
    /// vector is its author's choice, and in its line nothing is replaced.
    fn reason(self, order: &Order) -> Option<String> {
        match (self.called, &order.spec.command) {
            (Called::Configured(_), Command::Program(_)) => None,
            (_, command) => self.config.confirm.concern(command).map(|it| because(&it)),
        }
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
    let how = command.map(|command| format!(": with `{command}` and the command"));
    format!(
        "the command was not run: a person has to confirm it. {why}. This client cannot ask them, as it does not declare \
         the capability `elicitation` with forms. Tell them what you want to run and why: they can run it in a terminal\
         {}, where nobody is asked, or change the rule in the server's configuration",
        how.unwrap_or_default()
    )
}
