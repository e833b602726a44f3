//! Playing a transcript against a party.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::matching::{Names, compare, fill_in};
use super::parse::{Action, Step, Transcript};
use super::timeless::timeless;
use crate::deadline::{PATIENCE, until};
use crate::message::{Client, check_message, meta};
use crate::party::Party;

/// How long a poll pauses in virtual time where the task suggests nothing, in milliseconds.
const PAUSE_MS: u64 = 1000;

/// The id of the request by which a play sees that nothing came before. Nobody else uses it.
pub const AFTER_SILENCE: &str = "after the silence";

/// Where a play went wrong.
#[derive(Debug)]
pub struct Failure {
    /// What went wrong, with file and line.
    pub message: String,
    /// The step whose expectation was not met, and the reply that it got instead.
    pub(super) unmet: Option<(usize, Value)>,
    /// The names that were bound before.
    pub(super) names: Names,
}

/// Plays a transcript, and gives what was expected and came: the messages, byte for byte but for what no two plays have
/// alike.
///
/// # Errors
/// The first thing that is not as the transcript says.
///
/// # Panics
/// Where the party does not answer at all, or answers what is no message.
pub fn play(transcript: &Transcript, party: &mut dyn Party) -> Result<Vec<String>, Failure> {
    let mut play = Play {
        party,
        inbox: VecDeque::new(),
        names: Names::new(),
        last_sent: Value::Null,
        heard: Vec::new(),
    };
    let mut polled = None;
    for (index, step) in transcript.steps.iter().enumerate() {
        let result = match &step.action {
            Action::Expect(expected) => play.expect(expected, polled.take()),
            Action::Poll(id) => play.poll(id).map(|reply| polled = Some(reply)),
            other => play.act(other),
        };
        if let Err(problem) = result {
            return Err(play.failure(transcript, step, (index, problem)));
        }
    }
    let mut rest: Vec<String> = play.inbox.drain(..).map(|message| message.line).collect();
    rest.extend(play.party.finish());
    if rest.is_empty() {
        return Ok(play.heard);
    }
    let message = format!("{}.transcript: nobody expected {rest:?}", transcript.name);
    Err(Failure {
        message,
        unmet: None,
        names: play.names,
    })
}

/// What is wrong, and the reply where it is the reply.
type Problem = (String, Option<Value>);

/// What was received: what it means, and its bytes.
struct Message {
    value: Value,
    line: String,
}

struct Play<'a> {
    party: &'a mut dyn Party,
    /// Received and not expected yet.
    inbox: VecDeque<Message>,
    names: Names,
    /// The id of the last message that was sent; null where it has none.
    last_sent: Value,
    /// What was expected and came, without what no two plays have alike.
    heard: Vec<String>,
}

impl Play<'_> {
    fn failure(self, transcript: &Transcript, step: &Step, what: (usize, Problem)) -> Failure {
        let (index, (problem, reply)) = what;
        let line = step.first_line + 1;
        let whole = reply
            .as_ref()
            .map(|reply| format!("\n  in {reply}"))
            .unwrap_or_default();
        Failure {
            message: format!("{}.transcript:{line}: {problem}{whole}", transcript.name),
            unmet: reply.map(|reply| (index, reply)),
            names: self.names,
        }
    }

    fn act(&mut self, action: &Action) -> Result<(), Problem> {
        match action {
            Action::Send(text) => self.send(text),
            Action::Silence => return self.silence(),
            Action::Reopen => self.party.reopen(),
            Action::Expect(_) | Action::Poll(_) => unreachable!("these have a reply of their own"),
        }
        Ok(())
    }

    fn send(&mut self, text: &str) {
        let text = fill_in(text, &self.names)
            .replace("\"@tasks\"", &meta(Client::Tasks).to_string())
            .replace("\"@asking\"", &meta(Client::Asking).to_string())
            .replace("\"@plain\"", &meta(Client::Plain).to_string());
        let message = serde_json::from_str(&text).unwrap_or(Value::Null);
        self.last_sent = message.get("id").cloned().unwrap_or(Value::Null);
        self.party.send(&text);
    }

    fn expect(&mut self, expected: &Value, polled: Option<Message>) -> Result<(), Problem> {
        let Message {
            value: mut found,
            line,
        } = match polled {
            Some(reply) => reply,
            None if expected.is_null() => self.reply(&self.last_sent.clone())?,
            None => self.reply(expected.get("id").unwrap_or(&Value::Null))?,
        };
        // Every message is checked to have it, so that no transcript has to say it.
        found
            .as_object_mut()
            .expect("a message is an object")
            .remove("jsonrpc");
        compare(expected, &found, &mut self.names)
            .map_err(|mismatch| (mismatch.to_string(), Some(found)))?;
        self.heard.push(timeless(&line));
        Ok(())
    }

    /// The reply with this id, or the first without any where it is null. Others are kept.
    fn reply(&mut self, id: &Value) -> Result<Message, Problem> {
        loop {
            let is_it = |message: &Message| message.value.get("id").unwrap_or(&Value::Null) == id;
            if let Some(place) = self.inbox.iter().position(is_it) {
                return Ok(self.inbox.remove(place).expect("the place was just found"));
            }
            let Some(line) = self.party.receive() else {
                return Err((format!("no reply with the id {id} came"), None));
            };
            let value = checked(&line);
            self.inbox.push_back(Message { value, line });
        }
    }

    /// Sends a request that is answered, and sees that nothing came for the message before it.
    fn silence(&mut self) -> Result<(), Problem> {
        let id = json!(AFTER_SILENCE);
        self.ask(&id, "server/discover", json!({}))?;
        let broken = self
            .inbox
            .iter()
            .find(|message| match message.value.get("id") {
                None => true,
                Some(id) => *id == self.last_sent,
            });
        match broken {
            Some(reply) => Err((
                format!("there should be no reply to this, but came {}", reply.line),
                None,
            )),
            None => Ok(()),
        }
    }

    fn poll(&mut self, id: &str) -> Result<Message, Problem> {
        let id = fill_in(id, &self.names);
        let request_id = json!(format!("poll {id}"));
        let mut reply = until(PATIENCE, "a task to end", || {
            let reply = match self.ask(&request_id, "tasks/get", json!({ "taskId": id })) {
                Ok(reply) => reply,
                Err(problem) => return Ok(Err(problem)),
            };
            let task = &reply.value["result"];
            if task["status"] != "working" {
                return Ok(Ok(reply));
            }
            self.party
                .pass(task["pollIntervalMs"].as_u64().unwrap_or(PAUSE_MS));
            Err(reply.line)
        })?;
        reply
            .value
            .as_object_mut()
            .expect("a message is an object")
            .remove("id");
        Ok(reply)
    }

    fn ask(&mut self, id: &Value, method: &str, mut params: Value) -> Result<Message, Problem> {
        params["_meta"] = meta(Client::Asking);
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.party.send(&request.to_string());
        self.reply(id)
    }
}

fn checked(line: &str) -> Value {
    check_message(line).unwrap_or_else(|error| panic!("not a message of a server: {error}"))
}
