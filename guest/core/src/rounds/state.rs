//! What a client carries from one round of a call to the next.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::digest::Digest;
use super::rejected::Rejected;
use super::secret::Secret;
use super::{Rounds, Subject, signed};
use crate::limits::{CLOCK_SLACK_MS, CONVERSATION_MS, REQUEST_STATE_MS};

/// All that is known of the rounds up to now, and for whom and which call. The tag is the kind and its format number:
/// another version of the server may go on with it.
#[derive(Serialize, Deserialize)]
enum Payload {
    #[serde(rename = "request-state/1")]
    State(State),
}

/// See [`Payload`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct State {
    /// A random name of all rounds together.
    pub(super) id: String,
    /// Who makes the call.
    principal: String,
    /// Which tool it calls.
    tool: String,
    /// With which arguments.
    arguments: Digest,
    /// What was asked in this round, by key.
    pub(super) asked: BTreeMap<String, Digest>,
    /// What was answered in earlier ones, by key.
    pub(super) answers: BTreeMap<String, Answer>,
    /// When it was made, in milliseconds since 1970.
    issued_at: u64,
    /// When it is too old, in milliseconds since 1970.
    expires_at: u64,
    /// When every state of these rounds is too old, in milliseconds since 1970.
    pub(super) ends_at: u64,
}

/// An answer that fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Answer {
    /// What was asked.
    pub(super) question: Digest,
    /// The values of its fields.
    pub(super) content: Map<String, Value>,
}

impl State {
    /// The state of the next round, in which this is asked; `random` names the rounds where it is the first.
    pub(super) fn next(
        rounds: &Rounds<'_>,
        random: [u8; 16],
        asked: BTreeMap<String, Digest>,
    ) -> Self {
        let now = rounds.subject.now;
        let earlier = rounds.state.as_ref();
        let new_id = || format!("{:032x}", u128::from_be_bytes(random));
        let ends_at = earlier.map_or(now.saturating_add(CONVERSATION_MS), |state| state.ends_at);
        Self {
            id: earlier.map_or_else(new_id, |state| state.id.clone()),
            principal: rounds.subject.principal.to_owned(),
            tool: rounds.subject.tool.to_owned(),
            arguments: rounds.arguments.clone(),
            asked,
            answers: rounds.answers.clone(),
            issued_at: now,
            expires_at: now.saturating_add(REQUEST_STATE_MS).min(ends_at),
            ends_at,
        }
    }

    /// The text that the client carries.
    pub(super) fn sign(self, secret: &Secret) -> String {
        let payload = serde_json::to_string(&Payload::State(self))
            .expect("all keys are strings and no type here fails to serialize");
        signed::sign(secret, &payload)
    }

    /// Reads what a client brings; `None` where no server that has this key made it.
    pub(super) fn open(secret: &Secret, text: &str) -> Option<Self> {
        let payload = signed::verified(secret, text)?;
        let Payload::State(state) = serde_json::from_str(&payload).ok()?;
        Some(state)
    }

    /// Checks that it is this caller's, for this call and not too old.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub(super) fn check(&self, subject: &Subject<'_>, arguments: &Digest) -> Result<(), Rejected> {
        // A clock that was set back must not make it younger.
        let is_from_later = self.issued_at > subject.now.saturating_add(CLOCK_SLACK_MS);
        if self.principal != subject.principal {
            Err(Rejected::OtherCaller)
        } else if self.tool != subject.tool {
            Err(Rejected::OtherTool)
        } else if self.arguments != *arguments {
            Err(Rejected::OtherArguments)
        } else if is_from_later || self.expires_at <= subject.now {
            Err(Rejected::Expired)
        } else {
            Ok(())
        }
    }
}
