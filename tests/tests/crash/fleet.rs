//! Sixteen servers on one data directory, some of which are killed at random instants and replaced.
//!
//! A client of each starts its share of commands. Each command adds its own number to a log and ends with an exit
//! code of its own; a third of them take a while, so that they run while servers die. An answer that a client got is a
//! promise; of a command without an answer nothing is known, but that it may have run once, and where it had an idempotency
//! key its client asks again. Some commands would go on for ever: their supervisors are killed, and their tasks have to
//! say so.

use std::collections::{BTreeMap, VecDeque};
use std::thread;
use std::time::{Duration, Instant};

use backburner_tests::{Client, PATIENCE, Server, Setup, supervisor_of_task, tool_call};
use serde_json::{Value, json};

use crate::races::kill_if_there;
use crate::random::{Random, seed};
use crate::scene::Scene;

const SERVERS: usize = 16;
const STARTS_EACH: usize = 50;

/// How many calls a client has open at once, at most.
const BATCH_MAX: u64 = 4;

/// Of so many batches one is interrupted.
const BATCHES_PER_KILL: u64 = 6;

/// How many servers are killed at least, of about fifty.
const KILLS_MIN: usize = 20;

/// How many calls are answered at least, of 800. Each kill costs at most one answer that is never got, of a call without
/// a key, with two others.
const ANSWERS_MIN: usize = 680;

/// How many supervisors are killed at least.
const LOST_MIN: usize = 20;

/// How long a command takes that takes a while, at most, in milliseconds.
const WHILE_MS: usize = 200;

/// A command that is to be started.
#[derive(Clone, Copy)]
struct Start {
    number: usize,
    /// Whether an earlier call of it was interrupted.
    was_interrupted: bool,
}

impl Start {
    fn exit_code(self) -> usize {
        self.number % 256
    }

    /// Whether its call has an idempotency key.
    fn has_key(self) -> bool {
        self.number.is_multiple_of(2)
    }

    /// Whether its supervisor is to be killed. All of them have a key, so that none is forgotten.
    fn is_doomed(self) -> bool {
        self.number % 26 == 8
    }

    /// What the command does after it has written to the log.
    fn rest(self) -> String {
        let code = self.exit_code();
        if self.is_doomed() {
            "exec sleep 600".to_owned()
        } else if self.number.is_multiple_of(3) {
            // Any number below will do, as long as they differ.
            let pause_ms = self.number * 37 % WHILE_MS;
            format!("sleep 0.{pause_ms:03}; exit {code}")
        } else {
            format!("exit {code}")
        }
    }

    fn arguments(self, scene: &Scene) -> Value {
        let log = scene.log_line(&self.number.to_string());
        let command = format!("{log}; {}", self.rest());
        if self.has_key() {
            json!({ "command": command, "idempotencyKey": self.number.to_string() })
        } else {
            json!({ "command": command })
        }
    }
}

/// A command whose call was answered, and how.
struct Acknowledged {
    start: Start,
    reply: Value,
}

/// A client with its server.
struct Member<'a> {
    scene: &'a Scene,
    number: usize,
    random: Random,
    server: Server,
    waiting: VecDeque<Start>,
    acknowledged: Vec<Acknowledged>,
    kills: usize,
    /// How many supervisors it has killed.
    lost: usize,
}

impl<'a> Member<'a> {
    fn new(scene: &'a Scene, number: usize, seed: u64) -> Self {
        let first = number * STARTS_EACH;
        let numbers = first..first + STARTS_EACH;
        Self {
            scene,
            number,
            random: Random::new(seed.wrapping_add(number as u64)),
            server: server(scene, number),
            waiting: numbers
                .map(|number| Start {
                    number,
                    was_interrupted: false,
                })
                .collect(),
            acknowledged: Vec::new(),
            kills: 0,
            lost: 0,
        }
    }

    /// Has all commands started that can be.
    fn work(mut self) -> Self {
        while !self.waiting.is_empty() {
            let open = self.post_batch();
            if self.random.below(BATCHES_PER_KILL) == 0 {
                self.interrupt(open);
            } else {
                for (id, start) in open {
                    let reply = self.server.reply(&json!(id));
                    self.keep(start, reply);
                }
            }
        }
        self
    }

    /// Keeps an answer, and kills the supervisor of a doomed command: maybe before the command has been executed.
    fn keep(&mut self, start: Start, reply: Value) {
        let id = reply["result"]["taskId"].as_str();
        if let Some(id) = id.filter(|_| start.is_doomed()) {
            thread::sleep(Duration::from_micros(self.random.below(5_000)));
            if let Some(pid) = supervisor_of_task(id) {
                kill_if_there(pid);
                self.lost += 1;
            }
        }
        self.acknowledged.push(Acknowledged { start, reply });
    }

    fn post_batch(&mut self) -> BTreeMap<u64, Start> {
        let size = 1 + self.random.below(BATCH_MAX);
        let mut open = BTreeMap::new();
        for _ in 0..size {
            let Some(start) = self.waiting.pop_front() else {
                break;
            };
            let call = tool_call(&start.arguments(self.scene));
            let id = self.server.post("tools/call", &call, Client::Tasks);
            open.insert(id, start);
        }
        open
    }

    /// Kills the server some time after the calls were sent, and takes a new one.
    fn interrupt(&mut self, mut open: BTreeMap<u64, Start>) {
        // From 0.1 ms to 100 ms, short times as often as long ones.
        let patience = Duration::from_micros(100 << self.random.below(11));
        let deadline = Instant::now() + patience;
        while let Some(reply) = self
            .server
            .receive_within(deadline.saturating_duration_since(Instant::now()))
        {
            self.acknowledge(&mut open, reply);
        }
        self.server.kill();
        // What was answered before the kill was answered.
        for reply in self.server.wait_exit(PATIENCE).unread {
            self.acknowledge(&mut open, reply);
        }
        self.kills += 1;
        let unknown = open.into_values().filter(|start| start.has_key());
        self.waiting.extend(unknown.map(|start| Start {
            was_interrupted: true,
            ..start
        }));
        self.server = server(self.scene, self.number);
    }

    fn acknowledge(&mut self, open: &mut BTreeMap<u64, Start>, reply: Value) {
        let id = reply["id"]
            .as_u64()
            .expect("the ids of requests are numbers");
        let start = open.remove(&id).expect("each request is answered once");
        self.keep(start, reply);
    }
}

/// Half of them answer directly what ends soon.
fn server(scene: &Scene, number: usize) -> Server {
    let limit = if number.is_multiple_of(4) || number % 4 == 1 {
        "0"
    } else {
        "100"
    };
    Server::start_with(&scene.dir, &Setup::flags(&["--direct-limit", limit]))
}

#[test]
fn sixteen_servers_that_are_killed_at_random_lose_nothing_and_run_nothing_twice() {
    let seed = seed();
    let scene = Scene::new();
    let members: Vec<Member<'_>> = thread::scope(|scope| {
        let scene = &scene;
        let threads: Vec<_> = (0..SERVERS)
            .map(|number| scope.spawn(move || Member::new(scene, number, seed).work()))
            .collect();
        let joined = threads.into_iter().map(thread::ScopedJoinHandle::join);
        joined
            .map(|member| member.expect("a client's own words are above"))
            .collect()
    });
    let kills: usize = members.iter().map(|member| member.kills).sum();
    let lost: usize = members.iter().map(|member| member.lost).sum();
    let answers: Vec<Acknowledged> = members
        .into_iter()
        .flat_map(|member| member.acknowledged)
        .collect();
    let counts = (kills, answers.len(), lost);
    assert!(
        kills >= KILLS_MIN && answers.len() >= ANSWERS_MIN && lost >= LOST_MIN,
        "servers killed, calls answered and supervisors killed: {counts:?}"
    );

    let mut server = scene.server();
    let mut checker = Checker {
        server: &mut server,
        runs: BTreeMap::new(),
    };
    let ended: Vec<(Start, Ending)> = answers
        .iter()
        .map(|answer| (answer.start, checker.ending(answer)))
        .collect();
    scene.wait_for_all_to_go();
    checker.runs = runs(&scene);
    for (start, ending) in ended {
        checker.check(start, ending);
    }
}

/// How a command ended, as its task tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Exited(u64),
    /// It says that it was never run.
    Failed,
    /// It says that nobody knows how it ended: it was never run, or its supervisor was killed.
    Lost,
}

/// Holds what was promised against what happened.
struct Checker<'a> {
    server: &'a mut Server,
    runs: BTreeMap<usize, usize>,
}

impl Checker<'_> {
    /// How an acknowledged command ended: told by the answer where it was a direct one, and by its task.
    fn ending(&mut self, answer: &Acknowledged) -> Ending {
        let Acknowledged { start, reply } = answer;
        let result = &reply["result"];
        if reply.get("error").is_some() {
            // A doomed one fails in the same breath where its supervisor is killed while the same call is made again.
            let is_expected = start.was_interrupted || start.is_doomed();
            assert!(is_expected, "{}: {reply}", start.number);
            return if start.is_doomed() {
                Ending::Lost
            } else {
                Ending::Failed
            };
        }
        let direct = result["structuredContent"]["exitCode"].as_u64();
        let id = result["taskId"]
            .as_str()
            .or(result["structuredContent"]["taskId"].as_str())
            .unwrap_or_else(|| panic!("{}: {reply}", start.number));
        // One that its client did not find yet.
        if let Some(pid) = supervisor_of_task(id).filter(|_| start.is_doomed()) {
            kill_if_there(pid);
        }
        let task = self.server.ended_task(id);
        if task["status"] == "failed" && start.is_doomed() {
            assert_eq!(task["error"]["code"], -32603, "{task}");
            return Ending::Lost;
        }
        if task["status"] == "failed" && start.was_interrupted {
            return Ending::Failed;
        }
        let code = task["result"]["structuredContent"]["exitCode"].as_u64();
        assert!(direct.is_none() || direct == code, "{reply}: {task}");
        Ending::Exited(code.unwrap_or_else(|| panic!("{}: {task}", start.number)))
    }

    fn check(&self, start: Start, ending: Ending) {
        let runs = self.runs.get(&start.number).copied().unwrap_or_default();
        let number = start.number;
        match ending {
            Ending::Exited(code) => {
                assert!(!start.is_doomed(), "{number} does not end by itself");
                assert_eq!(code, start.exit_code() as u64, "the code of {number}");
                assert_eq!(runs, 1, "the runs of {number}");
            }
            Ending::Failed => assert_eq!(runs, 0, "{number} is said not to have run"),
            // That none ran twice was seen when they were counted.
            Ending::Lost => assert!(start.is_doomed(), "{number} had a supervisor"),
        }
    }
}

/// How often each command has run. None did that nobody sent, and none more than once, acknowledged or not.
fn runs(scene: &Scene) -> BTreeMap<usize, usize> {
    let mut runs = BTreeMap::new();
    for line in scene.log() {
        let number = line.parse().expect("each line is a whole number");
        assert!(number < SERVERS * STARTS_EACH, "{number} was never sent");
        *runs.entry(number).or_insert(0) += 1;
    }
    let twice: Vec<_> = runs.iter().filter(|(_, count)| **count > 1).collect();
    assert!(twice.is_empty(), "these ran more than once: {twice:?}");
    runs
}
