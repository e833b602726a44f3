//! What the core promises, each with the check that it is kept.

use std::collections::{BTreeMap, BTreeSet};

use backburner_core::imports::JobState;
use serde_json::Value;

use crate::support::FakeWorld;
use crate::support::host::parse;
use crate::support::truth::{facts, is_true};

/// What clients have been told, and what has to stay true of it.
#[derive(Debug, Default)]
pub(crate) struct Promises {
    tasks: BTreeMap<String, Told>,
    keys: BTreeMap<(String, String), String>,
    /// The latest present that any server was ever told, in milliseconds since 1970.
    pub(crate) latest: u64,
    /// Every status that an owner was told, and `expired`.
    pub(crate) seen: BTreeSet<String>,
}

/// What its owner was told of a task.
#[derive(Debug)]
struct Told {
    principal: String,
    expires_at: Option<u64>,
    lifetime_at: Option<u64>,
    terminal: Option<Value>,
}

/// A reply, and the request that it answers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer<'a> {
    /// Who asked.
    pub(crate) principal: &'a str,
    /// The reply.
    pub(crate) reply: &'a str,
    /// The idempotency key of the call, where it had one that never expires.
    pub(crate) key: Option<&'a str>,
}

impl Promises {
    /// The ids that were told, and to whom.
    pub(crate) fn tasks(&self) -> Vec<(String, String)> {
        let tasks = self.tasks.iter();
        tasks
            .map(|(id, told)| (id.clone(), told.principal.clone()))
            .collect()
    }

    /// Whether a client was told of this task.
    pub(crate) fn knows(&self, id: &str) -> bool {
        self.tasks.contains_key(id)
    }

    /// A task that a client was told of is in the store, and stays there until it expires.
    /// A key stands for one task.
    pub(crate) fn told(&mut self, world: &FakeWorld, answer: Answer<'_>) {
        let reply = parse(answer.reply);
        let result = &reply["result"];
        let direct = &result["structuredContent"]["taskId"];
        let Some(id) = result["taskId"].as_str().or_else(|| direct.as_str()) else {
            return;
        };
        self.handle_is_true(world, id, result);
        if let Some(key) = answer.key {
            let entry = (answer.principal.to_owned(), key.to_owned());
            let first = self.keys.entry(entry).or_insert_with(|| id.to_owned());
            assert_eq!(first, id, "one key, two tasks");
        }
        if self.tasks.contains_key(id) {
            return;
        }
        let record = world.store.value(&format!("task/{id}"));
        let record = parse(record.unwrap_or_else(|| panic!("{id} was told and is not stored")));
        // Another server, whose clock is ahead, may have found it expired before it was told.
        let is_gone = record.get("tombstone/1").is_some();
        let facts = facts(&record);
        let after = |moment: Option<u64>| Some(moment? + facts["ttlMs"].as_u64()?);
        let told = Told {
            principal: answer.principal.to_owned(),
            expires_at: if is_gone {
                Some(0)
            } else {
                after(facts["createdAt"].as_u64())
            },
            lifetime_at: after(started_at(world, id)),
            terminal: None,
        };
        self.tasks.insert(id.to_owned(), told);
    }

    /// A client without the extension gets no task. The parity of a request's id says which client asked.
    pub(crate) fn answered(reply: &str) {
        let reply = parse(reply);
        let is_plain = reply["id"].as_u64().is_some_and(|id| id % 2 == 1);
        assert!(
            !is_plain || reply["result"]["resultType"] != "task",
            "{reply}"
        );
    }

    /// No task is lost, a terminal state never changes, and it is the truth.
    pub(crate) fn got(&mut self, world: &FakeWorld, id: &str, reply: &Value) {
        let latest = self.latest;
        let told = self
            .tasks
            .get_mut(id)
            .expect("only told tasks are asked for");
        if reply.get("error").is_some() {
            let may_have_expired = told.expires_at.is_some_and(|at| at <= latest)
                || told.lifetime_at.is_some_and(|at| at <= world.clock);
            assert!(may_have_expired, "{id} was lost: {reply}");
            self.seen.insert("expired".to_owned());
            return;
        }
        let task = &reply["result"];
        self.seen
            .insert(task["status"].as_str().expect("a status").to_owned());
        match &told.terminal {
            Some(first) => assert_eq!(first, task, "a terminal state changed"),
            None if task["status"] == "working" => {}
            None if task["status"] == "input_required" => asks(world, id, task),
            None => {
                is_true(world, id, task);
                told.terminal = Some(task.clone());
            }
        }
    }

    /// An answer that was acknowledged and fits whatever is asked leaves no question open. The jobs here ask everything
    /// at once, so nothing is asked meanwhile.
    pub(crate) fn answers_arrived(world: &FakeWorld, body: &str, reply: &str) {
        let body = parse(body);
        if body["method"] != "tasks/update" || parse(reply).get("result").is_none() {
            return;
        }
        let id = body["params"]["taskId"].as_str().expect("an id");
        let answers = &body["params"]["inputResponses"];
        for key in open_keys(world, id) {
            let is_answer = answers[&key]["action"] == "decline";
            assert!(!is_answer, "{key} of {id} was answered and is open");
        }
    }

    /// An end that a subscription tells is the truth.
    pub(crate) fn notified(world: &FakeWorld, told: &[Value]) {
        let of_tasks = told
            .iter()
            .filter(|it| it["method"] == "notifications/tasks");
        for task in of_tasks.map(|it| &it["params"]) {
            let id = task["taskId"].as_str().expect("an id");
            let record = world.store.value(&format!("task/{id}"));
            // Another server, whose clock is ahead, may have found it expired since.
            let is_there = record.is_some_and(|record| !facts(&parse(record)).is_null());
            let is_over = task["status"] != "working" && task["status"] != "input_required";
            if is_there && is_over {
                is_true(world, id, task);
            }
        }
    }

    /// Whether the task has no time to live and its end was not seen yet.
    pub(crate) fn has_to_end(&self, id: &str) -> bool {
        let told = &self.tasks[id];
        told.expires_at.is_none() && told.terminal.is_none()
    }

    /// A handle that says how its task ended says what `tasks/get` says.
    fn handle_is_true(&self, world: &FakeWorld, id: &str, handle: &Value) {
        if handle["resultType"] != "task" || handle["status"] == "working" {
            return;
        }
        let state = world.jobs.inspect(world.clock, id);
        assert!(matches!(state, JobState::Ended(_)), "{id} runs: {handle}");
        if let Some(terminal) = self.tasks.get(id).and_then(|told| told.terminal.as_ref()) {
            assert_eq!(terminal["status"], handle["status"], "{handle}");
        }
    }
}

fn started_at(world: &FakeWorld, id: &str) -> Option<u64> {
    match world.jobs.inspect(world.clock, id) {
        JobState::Unknown => None,
        JobState::Running(progress) => Some(progress.started_at),
        JobState::Ended(outcome) => Some(outcome.started_at),
    }
}

/// What is asked is what the job asks.
fn asks(world: &FakeWorld, id: &str, task: &Value) {
    let requests = task["inputRequests"].as_object().expect("an object");
    let keys: Vec<&String> = requests.keys().collect();
    assert_eq!(keys, Vec::from_iter(&open_keys(world, id)), "{task}");
}

fn open_keys(world: &FakeWorld, id: &str) -> Vec<String> {
    let JobState::Running(progress) = world.jobs.inspect(world.clock, id) else {
        return Vec::new();
    };
    if progress.stopping.is_some() {
        return Vec::new();
    }
    let questions = progress.questions.into_iter();
    questions.map(|question| question.key).collect()
}
