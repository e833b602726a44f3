//! What the core promises, each with the check that it is kept.

use std::collections::{BTreeMap, BTreeSet};

use backburner_core::imports::{End, JobState};
use serde_json::Value;

use crate::support::FakeWorld;
use crate::support::host::parse;

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

    /// No job is started twice, whatever is known of it, none runs whose task is gone, and no two run that have one key.
    pub(crate) fn hold(world: &FakeWorld) {
        for (id, starts) in &world.jobs.starts {
            assert_eq!(*starts, 1, "{id} was started {starts} times");
        }
        let mut keys = BTreeSet::new();
        for id in world.jobs.running(world.clock) {
            let record = world.store.value(&format!("task/{id}"));
            let is_task = record.is_some_and(|record| record.starts_with(r#"{"task/"#));
            assert!(is_task, "{id} runs without a task: {record:?}");
            let record = parse(record.unwrap_or_default());
            let facts = facts(&record);
            if let Some(key) = facts["idempotencyKey"].as_str() {
                let tool = &facts["tool"]["name"];
                let entry = format!("{} {tool} {key}", facts["principal"]);
                assert!(keys.insert(entry), "two jobs of the key {key} run");
            }
        }
    }
}

/// What never changes of a task, of `run` or of a configured tool.
fn facts(record: &Value) -> &Value {
    let formats = ["task/1", "task/2"];
    let found = formats.iter().find_map(|format| record.get(format));
    found.map_or(&Value::Null, |record| &record["facts"])
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

/// The status and the exit code are those of the job.
fn is_true(world: &FakeWorld, id: &str, task: &Value) {
    let JobState::Ended(outcome) = world.jobs.inspect(world.clock, id) else {
        panic!("{id} is terminal and its job is not: {task}");
    };
    let code = match outcome.end {
        End::Exited(code) => Some(u64::from(code)),
        End::Signalled { .. } | End::NotStarted(_) | End::Lost(_) => None,
    };
    let result = &task["result"];
    match task["status"].as_str() {
        Some("completed") => {
            // A configured tool gives its output and nothing else.
            if let Some(structured) = result.get("structuredContent") {
                assert_eq!(structured["exitCode"].as_u64(), code, "{task}");
            }
            let is_success = code == Some(0) && outcome.stopped.is_none();
            assert_eq!(result["isError"], !is_success, "{task}");
        }
        Some("failed") => assert!(matches!(outcome.end, End::Lost(_)), "{task}"),
        Some("cancelled") => assert!(outcome.stopped.is_some(), "{task}"),
        _ => panic!("no such status: {task}"),
    }
}
