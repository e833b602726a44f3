//! What a `tools/call` needs before its job starts: arguments that fit, and a person's confirmation where a rule asks for
//! one.
//!
//! *Source:* MCP 2026-07-28, Tools, Calling Tools; Multi Round-Trip Requests.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::call_tool::{Call, tool_result};
use super::called_tool::{Called, called};
use crate::config::Config;
use crate::imports::{Command, JobSpec, Store, StoreError, World};
use crate::meta;
use crate::outcome::{Context, Outcome};
use crate::rounds::confirmation::{Proposal, answer_to_any, because, confirmation, is_confirmed};
use crate::rounds::{Answered, Brought, PutAgain, Question, Rounds, Subject, Trust};
use crate::rpc::members::{entries, object, present, string};
use crate::rpc::{Id, Request, RpcError, reply};
use crate::task::order::Order;
use crate::task::permit::{Permit, UsedFor};
use crate::tool::configured::{Reason, UserQuestion};
use crate::tool::given::Given;
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
    /// These words, for the model: the person who was asked to confirm it did not. That is recorded, or what came
    /// before it.
    Declined(&'static str, UsedFor),
    /// These words, for the model.
    Refused(String),
}

/// Makes an order of a call, or the answer to one of which none can be made.
///
/// # Errors
/// [`RpcError::InvalidParams`] and [`RpcError::TaskRequired`] where the client is wrong, and [`RpcError::Store`].
pub(super) fn prepare<'a>(
    config: &'a Config,
    world: &mut impl World,
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
    let mut rounds = Rounds::take_up(world, subject, &given, brought)?;
    let judge = Judge {
        config,
        call,
        called,
    };
    // Before all that another configuration may have made of the call since the person was asked.
    let declined = declined(world, &rounds)?;
    let given = called.with_defaults(given);
    let (mut order, reason) = match judge.order(&mut rounds, given)? {
        Ok(order) => order,
        Err(instead) => {
            let instead = declined.unwrap_or(instead);
            return instead.answer(world, &call.request.id, rounds).map(Err);
        }
    };
    let confirmed = match declined {
        Some(declined) => Err(declined),
        None => judge.confirmed(&mut rounds, &order, reason)?,
    };
    order.permit = confirmed.as_ref().map_or(Permit::Missing, Permit::clone);
    Ok(Ok(Prepared {
        order,
        mode: called.mode(),
        rounds,
        instead: confirmed.err(),
    }))
}

/// What a call brings of the round before.
fn brought<'a>(request: &Request<'a>) -> Result<Brought<'a>, RpcError> {
    let params: Params<'_> = object("params", request.params)?;
    let responses = match params.input_responses {
        None => BTreeMap::new(),
        some => entries("inputResponses", some)?,
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
        let instead = self
            .instead
            .expect("an order lacks its permit only where there is an answer instead");
        instead.answer(world, id, self.rounds)
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
                // Nobody is asked whose answer would count for nothing.
                if let Some(confirmation) = rounds.confirmation()
                    && let Some(used_for) = confirmation.used_for(world)?
                {
                    return Err(used_up(used_for));
                }
                let result = rounds.ask(world, question, again)?;
                Ok(Outcome::Reply(reply::input_required(id, result)))
            }
            Self::Declined(_, UsedFor::Start) => Err(used_up(UsedFor::Start)),
            Self::Declined(words, UsedFor::Refusal) => {
                Ok(tool_result(id, ToolResult::refused(words.to_owned())))
            }
            Self::Refused(text) => Ok(tool_result(id, ToolResult::refused(text))),
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
    /// The order that a call makes which gives these arguments, and why a person has to confirm it; or why there is
    /// none.
    fn order(
        self,
        rounds: &mut Rounds<'_>,
        given: Given,
    ) -> Result<Result<(Order, Option<Reason>), Instead>, RpcError> {
        let arguments = match self.completed(rounds, given)? {
            Ok(arguments) => arguments,
            Err(instead) => return Ok(Err(instead)),
        };
        // With what the user gave there may be more of them now.
        let made = self.called.measured(arguments).and_then(|arguments| {
            let order = Order::new(self.called.wanted(&arguments)?, self.config);
            let reason = self.reason(&order, &arguments);
            Ok((order, reason))
        });
        Ok(made.map_err(Instead::Refused))
    }

    /// The arguments with those that the user gave, or why they are not complete.
    fn completed(
        self,
        rounds: &mut Rounds<'_>,
        given: Given,
    ) -> Result<Result<Given, Instead>, RpcError> {
        let Called::Configured(tool) = self.called else {
            return Ok(Ok(given));
        };
        let Some(user) = &tool.user else {
            return Ok(Ok(given));
        };
        let can_ask = meta::declared(self.call.request)?.modes()?.form;
        if !can_ask && user.may_come_from_model {
            return Ok(match user.missing_in(&given.values) {
                None => Ok(given),
                Some(question) => Err(Instead::Refused(ask_yourself(&tool.name, question))),
            });
        }
        if let Some(text) = tool.misfit_of_rest(user, &given.values) {
            return Ok(Err(Instead::Refused(text)));
        }
        let mut arguments = given;
        for question in &user.questions {
            match gathered(rounds, question) {
                Gathered::Answer(answer) => arguments.values.extend(answer),
                Gathered::Declined(why) => return Ok(Err(Instead::Refused(why.to_owned()))),
                Gathered::Open(..) if !can_ask && !question.is_required() => {}
                Gathered::Open(..) if !can_ask => {
                    let text = unaskable_arguments(&tool.name, &question.names());
                    return Ok(Err(Instead::Refused(text)));
                }
                Gathered::Open(question, again) => return Ok(Err(Instead::Ask(question, again))),
            }
        }
        Ok(Ok(arguments))
    }

    /// What lets this order be carried out, or why it may not be.
    fn confirmed(
        self,
        rounds: &mut Rounds<'_>,
        order: &Order,
        reason: Option<Reason>,
    ) -> Result<Result<Permit, Instead>, RpcError> {
        let Some(reason) = reason else {
            return Ok(Ok(Permit::Unneeded));
        };
        let proposal = Proposal {
            spec: &order.spec,
            label: order.label.as_deref(),
        };
        let question = confirmation(proposal, &reason.question);
        let again = match (rounds.answer(&question), rounds.confirmation()) {
            (Answered::With(answer), Some(confirmation)) if is_confirmed(&answer) => {
                return Ok(Ok(Permit::Once(confirmation)));
            }
            (Answered::Badly(why), _) => PutAgain::Yes(unfit(&why)),
            // What is no yes was found before.
            _ => PutAgain::No,
        };
        let can_ask = meta::declared(self.call.request)?.modes()?.form;
        Ok(Err(match can_ask {
            true => Instead::Ask(question, again),
            false => Instead::Refused(self.unaskable(&reason.why)),
        }))
    }

    /// Why a person has to confirm an order that these arguments made; `None` where nobody has to. What a configured tool
    /// does with an argument vector is its author's choice, and is no matter of the rules.
    fn reason(self, order: &Order, arguments: &Given) -> Option<Reason> {
        match (self.called, &order.spec.command) {
            (Called::Configured(tool), command) => {
                let own = tool.confirmation(arguments);
                own.or_else(|| match command {
                    Command::Shell(_) => self.rule(&order.spec),
                    Command::Program(_) => None,
                })
            }
            (Called::Run(_), _) => self.rule(&order.spec),
        }
    }

    /// What a model is told whose client cannot ask its person. A person can type the command of a call of `run`; that of a
    /// configured tool nobody was told, and there may be no `run`.
    fn unaskable(self, why: &str) -> String {
        let how = match (self.called, self.config.run_command.as_deref()) {
            (Called::Configured(_), _) => {
                "call the tool from a client that can ask them, or change what the server's configuration says of it"
                    .to_owned()
            }
            (Called::Run(_), None) => format!("run it in a terminal{IN_TERMINAL}"),
            (Called::Run(_), Some(command)) => {
                format!("run it in a terminal: with `{command}` and the command{IN_TERMINAL}")
            }
        };
        format!(
            "the command was not run: a person has to confirm it. {why}. This client cannot ask them, as it does not declare \
             the capability `elicitation` with forms. Tell them what you want to run and why: they can {how}"
        )
    }

    fn rule(self, spec: &JobSpec) -> Option<Reason> {
        let rules = &self.config.confirm;
        let why = because(&rules.concern(&spec.command, &spec.environment)?);
        let question = format!("May this command be run? {why}");
        Some(Reason { question, why })
    }
}

/// What a call is answered with whose person was asked to confirm it and did not; `None` where they did, or were not
/// asked. Their no counts whatever the question was: where another server gets the call, it may have other words for
/// it, or none. It is recorded at once, as the call may still be answered otherwise: with the task of an earlier one,
/// behind whose end a yes would start another.
fn declined(store: &mut impl Store, rounds: &Rounds<'_>) -> Result<Option<Instead>, StoreError> {
    let words = match answer_to_any(rounds) {
        Answered::With(answer) if is_confirmed(&answer) => return Ok(None),
        Answered::Not | Answered::Badly(_) => return Ok(None),
        Answered::With(_) | Answered::Declined => DECLINED,
        Answered::Cancelled => CANCELLED,
    };
    let confirmation = rounds.confirmation().expect(CONFIRMATION_OF_ANSWER);
    let used_for = confirmation.refuse(store)?;
    Ok(Some(Instead::Declined(words, used_for)))
}

/// What a user answered when they were asked for arguments.
enum Gathered {
    Answer(Map<String, Value>),
    /// Nothing that could be used.
    Open(Question, PutAgain),
    /// That they do not want to, in words for the model.
    Declined(&'static str),
}

fn gathered(rounds: &mut Rounds<'_>, asks: &UserQuestion) -> Gathered {
    let question = Question {
        key: asks.key().to_owned(),
        form: asks.form().clone(),
        trust: Trust::Fitting,
    };
    match rounds.answer(&question) {
        Answered::With(answer) => match asks.misfit(&answer) {
            None => Gathered::Answer(answer),
            Some(misfit) => {
                rounds.take_back(&question);
                Gathered::Open(question, PutAgain::Yes(unfit(&misfit)))
            }
        },
        Answered::Declined => Gathered::Declined(NOT_GIVEN),
        Answered::Cancelled => Gathered::Declined(NOT_ANSWERED),
        Answered::Not => Gathered::Open(question, PutAgain::No),
        Answered::Badly(why) => Gathered::Open(question, PutAgain::Yes(unfit(&why))),
    }
}

const IN_TERMINAL: &str =
    ", where nobody is asked, or change the rule in the server's configuration";

const NOT_GIVEN: &str = "nothing was run: the user who was asked for arguments of this tool did not want to give them. Do \
    not call again unless they ask for it";

const NOT_ANSWERED: &str = "nothing was run: the user who was asked for arguments of this tool gave no answer. Ask them \
    before you call again";

/// What a model is told that may give the arguments of the user itself.
fn ask_yourself(tool: &str, question: &UserQuestion) -> String {
    format!(
        "nothing was run: the tool `{tool}` needs more from the user, whom this client cannot ask. Ask the user for {}, and \
         call `{tool}` again with that among the arguments, as this describes it: {}",
        question.names(),
        question.described()
    )
}

/// What a model is told whose client cannot ask its user for these arguments.
fn unaskable_arguments(tool: &str, names: &str) -> String {
    format!(
        "nothing was run: the tool `{tool}` needs {names} from the user, and does not take it from you. This client cannot \
         ask them, as it does not declare the capability `elicitation` with forms: tell the user that they have to use \
         a client that does"
    )
}

const DECLINED: &str = "the command was not run: the person who was asked to confirm it said no. Do not call again \
    with it unless they ask for it";

const CANCELLED: &str = "the command was not run: the person who was asked to confirm it gave no answer. Ask them \
    before you call again";

/// Why there is a confirmation where a question for one was answered.
const CONFIRMATION_OF_ANSWER: &str =
    "an answer counts only where a state says that its question was asked";

/// What a call is told whose confirmation was used before, for this.
pub(super) fn used_up(used_for: UsedFor) -> RpcError {
    let (before, again) = match used_for {
        UsedFor::Start => (
            "one confirmation is for one attempt to run the command, and there was one before, whether or not it could \
             be started, so nothing was run now",
            "to have it run",
        ),
        UsedFor::Refusal => (
            "the person who was asked to confirm the command said no or gave no answer, so nothing was run",
            "if they want it run now",
        ),
    };
    RpcError::InvalidParams(format!(
        "`requestState` was used: {before}; {again}, make the call without `requestState` and `inputResponses`, and \
         the person is asked again"
    ))
}

/// Why a person is asked again.
fn unfit(why: &str) -> String {
    format!("The last answer could not be used: {why}.")
}
