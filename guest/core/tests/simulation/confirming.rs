//! Clients that are asked before a command runs, and answer well, badly, late and more than once.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::clients::Action;
use crate::support::FakeWorld;
use crate::support::host::parse;
use crate::support::random::Random;

/// A rule for every command that begins like this.
pub(crate) const GUARDED: &str = "guarded";

/// What was asked of clients, and which of it they said yes to.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    asked: Vec<Asked>,
    /// The conversations in which somebody said yes, by command.
    confirmed: BTreeMap<String, BTreeSet<String>>,
    /// The conversations in which a server has heard a no: a yes behind that counts for nothing.
    refused: BTreeSet<String>,
    commands: u64,
}

/// A question before a command runs.
#[derive(Clone, Debug)]
struct Asked {
    principal: String,
    /// The call that was answered with it.
    call: Value,
    state: String,
}

impl Questions {
    /// A command that has to be confirmed and that nobody called for before.
    pub(crate) fn command(&mut self) -> String {
        self.commands += 1;
        format!("{GUARDED} {}; sleep 5", self.commands)
    }

    /// Keeps what a client is asked for its call, or that its no was heard.
    pub(crate) fn keep(&mut self, principal: &str, call: &str, reply: &str) {
        let reply = parse(reply);
        let words = reply["result"]["content"][0]["text"].as_str();
        if words.is_some_and(|it| it.contains("said no") || it.contains("gave no answer")) {
            let call = parse(call);
            let state = call["params"]["requestState"].as_str();
            self.refused.extend(state.map(conversation));
        }
        if reply["result"]["resultType"] != "input_required" {
            return;
        }
        let state = reply["result"]["requestState"].as_str();
        self.asked.push(Asked {
            principal: principal.to_owned(),
            call: parse(call),
            state: state.expect("it has a state").to_owned(),
        });
    }

    /// A call that answers something that was asked, by this principal; `None` where nothing was. It may have been
    /// answered before.
    pub(crate) fn answer(&mut self, random: &mut Random, principal: &str) -> Option<Value> {
        if self.asked.is_empty() {
            return None;
        }
        let asked = random.pick(&self.asked).clone();
        let is_yes = random.once_in(2);
        let response = if is_yes {
            json!({ "action": "accept", "content": { "confirm": true } })
        } else {
            let others = [
                json!({ "action": "accept", "content": { "confirm": false } }),
                json!({ "action": "accept", "content": { "confirm": 1 } }),
                json!({ "action": "decline" }),
                json!({ "action": "cancel" }),
                json!(0),
            ];
            random.pick(&others).clone()
        };
        let mut call = asked.call;
        let mut state = asked.state;
        let is_changed = random.once_in(6);
        if is_changed {
            state.pop();
        }
        let is_open = !self.refused.contains(&conversation(&state));
        if is_yes && is_open && !is_changed && principal == asked.principal {
            let command = call["params"]["arguments"]["command"].as_str();
            let command = command.expect("it runs something").to_owned();
            let conversations = self.confirmed.entry(command).or_default();
            conversations.insert(conversation(&state));
        }
        call["params"]["requestState"] = state.into();
        call["params"]["inputResponses"] = json!({ "confirm": response });
        Some(call)
    }

    /// No command runs without a yes, nor more often than there were conversations with one. Gives whether any ran.
    pub(crate) fn hold(&self, world: &FakeWorld) -> bool {
        let lines = world.jobs.lines.iter();
        let mut guarded = lines
            .filter(|(line, _)| line.starts_with(GUARDED))
            .peekable();
        let is_any = guarded.peek().is_some();
        for (line, starts) in guarded {
            let confirmed = self.confirmed.get(line).map_or(0, BTreeSet::len);
            assert!(
                *starts <= confirmed,
                "{line}: {starts} starts, {confirmed} yes"
            );
        }
        is_any
    }
}

/// The name of the conversation that a state belongs to.
fn conversation(state: &str) -> String {
    let (payload, _) = state.split_once('.').expect("payload and code");
    let payload = URL_SAFE_NO_PAD.decode(payload).expect("base64url");
    let payload: Value = serde_json::from_slice(&payload).expect("JSON");
    payload["request-state/1"]["id"].to_string()
}

/// The message as something to do.
pub(crate) fn sent(call: &Value) -> Action {
    Action::Send(call.to_string(), None)
}
