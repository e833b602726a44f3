//! What a call has to be told before its job starts, in rounds: it is answered with a question, and made again with the
//! answer.
//!
//! Nothing of it is kept here between two rounds: the client carries it, signed with a key that the servers of one store
//! share. Knows what a question is, and whether it was answered by this caller for this call; does not know why it is
//! asked.
//!
//! *Source:* MCP 2026-07-28, Multi Round-Trip Requests.

mod answers;
pub(crate) mod confirmation;
mod digest;
mod limits;
mod rejected;
mod secret;
mod signed;
mod state;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use self::answers::{Reply, reply};
use self::digest::{Digest, digest_of_arguments, digest_of_question};
use self::rejected::Rejected;
use self::secret::Secret;
use self::state::{Answer, State};
use crate::imports::{Entropy, Store};
use crate::input::{Form, Open, Requests};
use crate::rpc::RpcError;
use crate::task::permit::Confirmation;
use crate::tool::given::Given;

/// What a call that is made again brings of the round before.
#[derive(Debug, Default)]
pub(crate) struct Brought<'a> {
    /// `inputResponses`, by the keys of the questions.
    pub(crate) responses: BTreeMap<String, &'a RawValue>,
    /// `requestState`; `None` where it has none.
    pub(crate) state: Option<String>,
}

/// Whose call all rounds are about, and of which tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'a> {
    /// Who makes it.
    pub(crate) principal: &'a str,
    /// The tool's name.
    pub(crate) tool: &'a str,
    /// The present, in milliseconds since 1970.
    pub(crate) now: u64,
}

/// Something that a person is asked before a job starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    /// Its name in `inputRequests`.
    pub(crate) key: String,
    /// What is asked.
    pub(crate) form: Form,
    /// What has to be certain of an answer.
    pub(crate) trust: Trust,
}

/// What has to be certain of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Nothing but that it fits: a client may know before what it will be asked.
    Fitting,
    /// That this very question was put to this caller before, for this very call.
    Asked,
}

/// How a question was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answered {
    /// With the values of its fields.
    With(Map<String, Value>),
    /// Not at all.
    Not,
    /// In a way that does not fit it, for this reason.
    Badly(String),
    /// The person does not want to.
    Declined,
    /// The person did not choose.
    Cancelled,
}

impl From<Reply> for Answered {
    fn from(reply: Reply) -> Self {
        match reply {
            Reply::Accepted(content) => Self::With(content),
            Reply::Declined => Self::Declined,
            Reply::Cancelled => Self::Cancelled,
            Reply::Unfit(why) => Self::Badly(why),
        }
    }
}

/// The rounds of a call up to now.
#[derive(Debug)]
pub(crate) struct Rounds<'a> {
    brought: Brought<'a>,
    subject: Subject<'a>,
    arguments: Digest,
    /// What the call's `requestState` says; `None` in the first round.
    state: Option<State>,
    /// What was answered, in this round or before.
    answers: BTreeMap<String, Answer>,
}

/// An `InputRequiredResult`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InputRequired {
    input_requests: Requests,
    request_state: String,
}

impl<'a> Rounds<'a> {
    /// Takes up the rounds of a call with these arguments, as they came, where they are.
    ///
    /// # Errors
    /// [`RpcError::InvalidParams`] where the state is not one that a server of this store gave this caller for this call,
    /// or is too old; [`RpcError::Store`].
    pub(crate) fn take_up(
        store: &mut impl Store,
        subject: Subject<'a>,
        arguments: &Given,
        brought: Brought<'a>,
    ) -> Result<Self, RpcError> {
        let arguments = digest_of_arguments(arguments);
        let state = match &brought.state {
            None => None,
            Some(text) => {
                let secret = Secret::read(store)?;
                let state = secret.and_then(|secret| State::open(&secret, text));
                let state = state.ok_or(Rejected::Foreign)?;
                state.check(&subject, &arguments)?;
                Some(state)
            }
        };
        let answers = state.as_ref().map(|state| state.answers.clone());
        Ok(Self {
            answers: answers.unwrap_or_default(),
            brought,
            subject,
            arguments,
            state,
        })
    }

    /// How a question was answered.
    pub(crate) fn answer(&mut self, question: &Question) -> Answered {
        let digest = digest_of_question(question);
        let earlier = self.answers.get(&question.key);
        if let Some(answer) = earlier.filter(|answer| answer.question == digest) {
            return Answered::With(answer.content.clone());
        }
        let state = self.state.as_ref();
        let was_asked = state.is_some_and(|state| state.asked.get(&question.key) == Some(&digest));
        let Some(response) = self.brought.responses.get(&question.key) else {
            return Answered::Not;
        };
        if question.trust == Trust::Asked && !was_asked {
            return Answered::Not;
        }
        let answered = Answered::from(reply(&question.form, response));
        if let Answered::With(content) = &answered {
            let answer = Answer {
                question: digest,
                content: content.clone(),
            };
            self.answers.insert(question.key.clone(), answer);
        }
        answered
    }

    /// How a question of this key was answered that was asked in the round before, read as an answer to this form and
    /// whatever was asked; [`Answered::Not`] where none was asked. So it says nothing of what was agreed to.
    fn answer_to_any(&self, key: &str, form: &Form) -> Answered {
        let was_asked = |state: &State| state.asked.contains_key(key);
        match self.brought.responses.get(key) {
            Some(response) if self.state.as_ref().is_some_and(was_asked) => {
                Answered::from(reply(form, response))
            }
            _ => Answered::Not,
        }
    }

    /// Takes an answer back that turned out not to be one, so that its question may be asked again.
    pub(crate) fn take_back(&mut self, question: &Question) {
        self.answers.remove(&question.key);
        self.brought.responses.remove(&question.key);
    }

    /// What the call is answered with so that its client asks this question and makes the call again.
    ///
    /// # Errors
    /// [`RpcError::Store`] where the key of all servers cannot be read or made.
    pub(crate) fn ask(
        self,
        world: &mut (impl Store + Entropy),
        question: Question,
        is_put_again: PutAgain,
    ) -> Result<InputRequired, RpcError> {
        let secret = Secret::read_or_make(world)?;
        let asked = BTreeMap::from([(question.key.clone(), digest_of_question(&question))]);
        let state = State::next(&self, world.random_bytes(), asked);
        let form = match is_put_again {
            PutAgain::No => question.form,
            PutAgain::Yes(why) => question.form.preceded_by(&why),
        };
        let key = question.key;
        Ok(InputRequired {
            input_requests: Requests(vec![Open { key, form }]),
            request_state: state.sign(&secret),
        })
    }

    /// What an answer confirms that was given to a question of these rounds, all of which allow one start; `None` where
    /// nothing was asked before.
    pub(crate) fn confirmation(&self) -> Option<Confirmation> {
        let state = self.state.as_ref()?;
        Some(Confirmation {
            name: state.id.clone(),
            ends_at: state.ends_at,
        })
    }
}

/// Whether a question is put to somebody again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PutAgain {
    No,
    /// For this reason, in words for the person.
    Yes(String),
}

#[cfg(test)]
mod tests;
