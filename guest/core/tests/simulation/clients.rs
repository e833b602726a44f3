//! Clients and servers that do what their random numbers tell them.

mod trouble;

use std::collections::BTreeSet;

use backburner_core::imports::JobState;
use backburner_core::{Outcome, Wake};
use serde_json::{Map, Value, json};

use crate::confirming::{GUARDED, Questions, sent};
use crate::promises::{Answer, Promises};
use crate::support::coverage::{Case, case};
use crate::support::host::parse;
use crate::support::messages::{Client, call, elicitation, request, run, with_elicitation};
use crate::support::random::Random;
use crate::support::truth::facts;
use crate::support::{FakeWorld, Host, truth};

const COMMANDS: [&str; 10] = [
    "true",
    "echo hi; exit 3",
    "echo a; sleep 0.05; exit 7",
    "echo begin; sleep 5; echo end; exit 1",
    "trap; sleep 40",
    "sleep 3600",
    "echo b; sleep 2; kill SIGKILL",
    "echo c; sleep 1; lose",
    "sleep 0.2; ask boolean; sleep 1; exit 4",
    "ask text count; echo on",
];

/// What the configured tool is called with.
const TOOL_ARGUMENTS: [&str; 4] = ["0", "1; echo hi; exit 3", "40", "2; lose"];

const UNKNOWN: &str = "00000000-0000-4000-8000-000000000000";

/// One machine, three servers on it, two principals.
#[derive(Debug)]
pub(crate) struct Simulation {
    random: Random,
    world: FakeWorld,
    /// What clients answer, whatever they are asked.
    answers: Vec<Value>,
    /// What they are asked before a command runs.
    questions: Questions,
    hosts: Vec<Host>,
    /// What clients were told.
    pub(crate) promises: Promises,
    /// Which imports went wrong, and how.
    pub(crate) covered: BTreeSet<Case>,
    /// What was done and said, in order.
    history: Vec<String>,
    requests: u64,
}

impl Simulation {
    /// The one that this seed decides.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            world: FakeWorld::new(seed ^ 0x5eed),
            answers: vec![
                json!({ "action": "accept", "content": { "boolean": true } }),
                json!({ "action": "accept", "content": { "text": "x", "count": 0 } }),
                json!({ "action": "accept", "content": { "text": "too long", "count": 2.0 } }),
                json!({ "action": "decline" }),
                json!(null),
            ],
            questions: Questions::default(),
            hosts: vec![
                Host::new(&config("", "auto"), "a"),
                Host::new(
                    &config(r#""directLimitMs":0,"syncLimitMs":500,"#, "auto"),
                    "a",
                ),
                Host::new(&config("", "auto"), "b"),
            ],
            promises: Promises::default(),
            covered: BTreeSet::new(),
            history: Vec::new(),
            requests: 0,
        }
    }

    /// Lets one thing happen, then checks what has to hold at any time.
    pub(crate) fn step(&mut self) {
        let host = usize::try_from(self.random.below(3)).expect("a small number");
        match self.random.below(100) {
            0..28 => self.call(host),
            28..44 => self.get(host),
            44..48 => self.confirm(host),
            48..53 => self.about_a_task("tasks/cancel"),
            53..59 => self.update(),
            59..61 => self.listen(host),
            61..63 => self.follow(host),
            63..64 => self.take_back(host),
            64..67 => self.hold(host),
            67..78 => self.act(host, &Action::Wake),
            78..82 => self.act(host, &Action::Sweep),
            82..84 => self.act(host, &Action::Shutdown),
            84..85 => self.hosts[host].pending.clear(),
            85..89 => self.lose(),
            89..91 => self.jump(host),
            91..93 => self.configure(host),
            _ => self.wait(),
        }
        truth::hold(&self.world);
        if self.questions.hold(&self.world) {
            self.promises.seen.insert("confirmed".to_owned());
        }
    }

    /// Fails where another run was not the same.
    pub(crate) fn assert_same(&self, other: &Self) {
        let pairs = self.history.iter().zip(&other.history);
        for (number, (here, there)) in pairs.enumerate() {
            assert_eq!(here, there, "{number}");
        }
        assert_eq!(self.history.len(), other.history.len());
        assert_eq!(self.world, other.world);
        assert_eq!(self.covered, other.covered);
    }

    /// Lets everything end, and checks what has to be true then.
    pub(crate) fn finish(&mut self) {
        for host in &mut self.hosts {
            host.skew_ms = 0;
        }
        self.world.clock = self.world.clock.max(self.promises.latest) + 10_000_000;
        self.answer_everything();
        self.world.clock += 10_000;
        for (id, principal) in self.promises.tasks() {
            self.get_from_owner(&id, &principal);
            assert!(!self.promises.has_to_end(&id), "{id} does not end");
        }
        let mut sweeps = 0;
        loop {
            let now = self.world.clock;
            let Some(next) = self.hosts[0].server.sweep(&mut self.world, now) else {
                break;
            };
            self.world.clock = self.world.clock.max(next);
            sweeps += 1;
            assert!(sweeps < 1_000, "the sweep does not come to an end");
        }
        let store = &self.world.store;
        assert_eq!(store.keys("live/"), Vec::<&str>::new());
        assert_eq!(store.keys("expiry/"), Vec::<&str>::new());
        assert_eq!(store.keys("used-state/"), Vec::<&str>::new());
        assert_eq!(store.keys("owner/").len(), store.keys("task/").len());
        for key in [store.keys("key/"), store.keys("toolkey/")].concat() {
            let id = store.value(key).expect("listed above").trim_matches('"');
            assert!(
                store.value(&format!("task/{id}")).is_some(),
                "{key} stands for nothing"
            );
        }
        truth::hold(&self.world);
    }

    fn call(&mut self, host: usize) {
        if self.random.once_in(4) {
            return self.call_tool(host);
        }
        let (arguments, key) = self.arguments();
        let (id, client) = self.request();
        let mut body = run(id, client, &arguments);
        if self.random.once_in(2) {
            body = with_elicitation(&body, &elicitation());
        }
        self.act(host, &Action::Send(body, key));
    }

    /// Calls with the key of a task that has expired and takes a while to end, and waits for it.
    fn hold(&mut self, host: usize) {
        let first = json!({ "command": "trap; sleep 40", "idempotencyKey": "h", "ttlSeconds": 1 });
        let second =
            json!({ "command": "sleep 1; exit 3", "idempotencyKey": "h", "ttlSeconds": 2 });
        for (arguments, ms) in [(first, 2_000), (second, 3_000)] {
            let (id, client) = self.request();
            self.act(host, &Action::Send(run(id, client, &arguments), None));
            self.world.clock += ms;
        }
        self.act(host, &Action::Wake);
    }

    /// Runs something short, and hears of its end by a subscription or by the same call again.
    fn follow(&mut self, host: usize) {
        let (id, _) = self.request();
        let key = format!("f{id}");
        let arguments = json!({ "command": "echo d; sleep 1; exit 3", "idempotencyKey": key });
        let call = Action::Send(run(id + id % 2, Client::Tasks, &arguments), Some(key));
        self.requests += id % 2;
        self.act(host, &call);
        self.world.clock += 200;
        self.act(host, &Action::Wake);
        if self.random.once_in(2) {
            self.world.clock += 2_000;
            self.act(host, &call);
        } else {
            self.listen(host);
            self.world.clock += 2_000;
            self.act(host, &Action::Wake);
        }
    }

    /// Calls the configured tool, which is answered as the configuration of the moment says.
    fn call_tool(&mut self, host: usize) {
        let mut arguments = json!({ "a": self.random.pick(&TOOL_ARGUMENTS) });
        if self.random.once_in(2) {
            arguments["key"] = self.random.below(3).into();
        }
        let (id, client) = self.request();
        let body = call(id, client, "t", &arguments);
        self.act(host, &Action::Send(body, None));
    }

    /// Configures a server anew, while requests are open.
    fn configure(&mut self, host: usize) {
        let task = *self.random.pick(&["auto", "required", "never"]);
        let members = *self
            .random
            .pick(&["", r#""directLimitMs":0,"syncLimitMs":500,"#]);
        self.hosts[host].configure(&mut self.world, &config(members, task));
    }

    /// Answers what somebody was asked before a command runs.
    fn confirm(&mut self, host: usize) {
        let principal = self.hosts[host].principal.clone();
        let Some(mut call) = self.questions.answer(&mut self.random, &principal) else {
            return;
        };
        // The parity of the id says which client it is.
        let id = call["id"].as_u64().expect("ids here are numbers");
        self.requests += 1 + (self.requests + 1 + id) % 2;
        call["id"] = self.requests.into();
        self.act(host, &sent(&call));
    }

    /// A call's arguments. Those with one of the first keys are always the same and never expire.
    fn arguments(&mut self) -> (Value, Option<String>) {
        if self.random.once_in(3) {
            let index = usize::try_from(self.random.below(10)).expect("a small number");
            let key = format!("k{index}");
            let call = json!({ "command": COMMANDS[index], "idempotencyKey": key });
            return (call, Some(key));
        }
        let mut call = json!({ "command": self.random.pick(&COMMANDS) });
        if self.random.once_in(6) {
            call["command"] = self.questions.command().into();
        }
        if self.random.once_in(3) {
            call["ttlSeconds"] = (1 + self.random.below(60)).into();
            if self.random.once_in(2) {
                call["idempotencyKey"] = format!("t{}", self.random.below(3)).into();
            }
        }
        if self.random.once_in(8) {
            call["cwd"] = "/missing".into();
        }
        if self.random.once_in(4) {
            call["timeoutSeconds"] = (1 + self.random.below(20)).into();
        }
        (call, None)
    }

    fn request(&mut self) -> (u64, Client) {
        self.requests += 1;
        // Promises::answered relies on this.
        let client = if self.requests % 2 == 1 {
            Client::Plain
        } else {
            Client::Tasks
        };
        (self.requests, client)
    }

    fn tasks_request(&mut self, method: &str, id: &str) -> String {
        self.requests += 2 - self.requests % 2;
        let mut answers = Map::new();
        for key in ["q1", "q2", "q3"] {
            if self.random.once_in(2) {
                answers.insert(key.to_owned(), self.random.pick(&self.answers).clone());
            }
        }
        let params = json!({ "taskId": id, "inputResponses": answers });
        let body = request(self.requests, Client::Tasks, method, params);
        if self.random.once_in(2) {
            with_elicitation(&body, &elicitation())
        } else {
            body
        }
    }

    /// Answers what jobs ask of whom no client was told.
    fn answer_everything(&mut self) {
        let now = self.world.clock;
        let running = self.world.jobs.running(now).into_iter();
        for id in running.map(str::to_owned).collect::<Vec<_>>() {
            for key in ["q1", "q2"] {
                self.world.jobs.answer(now, &id, key, "declined");
            }
        }
    }

    fn owner<T>(&mut self, principal: &str, act: impl FnOnce(&mut Host, &mut FakeWorld) -> T) -> T {
        let owns = |host: &&mut Host| host.principal == principal;
        let host = self.hosts.iter_mut().find(owns);
        let host = host.expect("each principal has a server");
        self.promises.latest = self.promises.latest.max(host.now(&self.world));
        act(host, &mut self.world)
    }

    /// A task and its principal: one that was told, or one that is live, whether or not somebody knows of it.
    fn task(&mut self) -> Option<(String, String)> {
        let told = self.promises.tasks();
        let live = self.live();
        let is_live = told.is_empty() || self.random.once_in(2);
        self.one_of(if is_live && !live.is_empty() {
            &live
        } else {
            &told
        })
    }

    fn one_of(&mut self, tasks: &[(String, String)]) -> Option<(String, String)> {
        (!tasks.is_empty()).then(|| self.random.pick(tasks).clone())
    }

    /// The live tasks and their principals.
    fn live(&self) -> Vec<(String, String)> {
        let keys = self.world.store.keys("live/").into_iter();
        let live = keys.filter_map(|key| {
            let id = &key["live/".len()..];
            let record = parse(self.world.store.value(&format!("task/{id}"))?);
            let principal = facts(&record)["principal"].as_str()?;
            Some((id.to_owned(), principal.to_owned()))
        });
        live.collect()
    }

    fn get(&mut self, host: usize) {
        let Some((id, principal)) = self.task() else {
            return;
        };
        if self.hosts[host].principal != principal {
            return self.get_as_another(host, &id);
        }
        if self.promises.knows(&id) && self.random.once_in(2) {
            return self.get_from_owner(&id, &principal);
        }
        let body = self.tasks_request("tasks/get", &id);
        self.act(host, &Action::Send(body, None));
    }

    /// Another principal gets, byte for byte, what an unknown id gets.
    fn get_as_another(&mut self, host: usize, id: &str) {
        let method = *self
            .random
            .pick(&["tasks/get", "tasks/cancel", "tasks/update"]);
        let foreign = self.tasks_request(method, id);
        let unknown = foreign.replace(id, UNKNOWN);
        let host = &mut self.hosts[host];
        let before = self.world.store.commits;
        let replies = host.send(&mut self.world, &foreign);
        assert_eq!(replies, host.send(&mut self.world, &unknown));
        assert_eq!(before, self.world.store.commits);
    }

    /// Asks without any failure, so that the answer has to be right.
    fn get_from_owner(&mut self, id: &str, principal: &str) {
        let body = self.tasks_request("tasks/get", id);
        let replies = self.owner(principal, |host, world| host.send(world, &body));
        self.promises.got(&self.world, id, &parse(&replies[0]));
    }

    /// Asks a server of its owner for something about a task.
    fn about_a_task(&mut self, method: &str) {
        if let Some((id, principal)) = self.task() {
            self.send_about((&id, &principal), method);
        }
    }

    fn send_about(&mut self, (id, principal): (&str, &str), method: &str) {
        let own = (0..self.hosts.len()).filter(|it| self.hosts[*it].principal == principal);
        let host = *self.random.pick(&Vec::from_iter(own));
        let body = self.tasks_request(method, id);
        self.act(host, &Action::Send(body, None));
    }

    /// Answers what a job asks.
    fn update(&mut self) {
        let asks = |(id, _): &(String, String)| {
            let state = self.world.jobs.inspect(self.world.clock, id);
            matches!(state, JobState::Running(it) if !it.questions.is_empty())
        };
        let asking = Vec::from_iter(self.live().into_iter().filter(asks));
        match self.one_of(&asking) {
            Some((id, principal)) => self.send_about((&id, &principal), "tasks/update"),
            None => self.about_a_task("tasks/update"),
        }
    }

    /// Subscribes to some tasks that go on, whosever they are.
    fn listen(&mut self, host: usize) {
        let ids: Vec<_> = (0..3)
            .filter_map(|_| Some(self.one_of(&self.live())?.0))
            .collect();
        let params = json!({ "notifications": { "taskIds": ids, "toolsListChanged": true } });
        self.requests += 2 - self.requests % 2;
        let body = request(self.requests, Client::Tasks, "subscriptions/listen", params);
        self.act(host, &Action::Send(body, None));
    }

    fn take_back(&mut self, host: usize) {
        let open: Vec<_> = self.hosts[host].pending.keys().cloned().collect();
        if open.is_empty() {
            return;
        }
        let id: u64 = self
            .random
            .pick(&open)
            .parse()
            .expect("ids here are numbers");
        let params = json!({ "requestId": id });
        let message =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        self.act(host, &Action::Send(message.to_string(), None));
    }

    fn lose(&mut self) {
        let running = self.world.jobs.running(self.world.clock);
        if let Some(id) = running.first().map(|id| (*id).to_owned()) {
            if self.random.once_in(2) {
                self.world.jobs.vanish(&id);
            } else {
                self.world.jobs.lose(self.world.clock, &id);
            }
        }
    }

    fn jump(&mut self, host: usize) {
        let skew = *self
            .random
            .pick(&[0, 0, -3_600_000, 5_000, 20_000, 3_600_000]);
        self.hosts[host].skew_ms = skew;
    }

    fn wait(&mut self) {
        let most = *self.random.pick(&[50, 500, 5_000, 30_000, 600_000]);
        self.world.clock += self.random.below(most);
    }

    /// Does something on one server while something may fail or interfere.
    fn act(&mut self, host: usize, action: &Action) {
        self.world.faults.clear();
        if self.random.once_in(4) {
            self.interrupt(host, action);
        }
        self.promises.latest = self.promises.latest.max(self.hosts[host].now(&self.world));
        let mut before = (self.world.clone(), self.hosts[host].clone());
        let mut replies = action.run(&mut self.world, &mut self.hosts[host]);
        // Now it is known which imports it calls, and that another server finds the same ones.
        if self.plan(&mut before.0) {
            (self.world, self.hosts[host]) = before.clone();
            replies = action.run(&mut self.world, &mut self.hosts[host]);
        }
        if self.random.once_in(4) {
            self.assert_repeatable((host, action, &replies), before);
        }
        self.conclude(host, action, &replies);
    }

    /// The same inputs give the same outputs, also on a new server.
    fn assert_repeatable(
        &self,
        (host, action, replies): (usize, &Action, &[String]),
        (mut world, mut twin): (FakeWorld, Host),
    ) {
        twin.renew();
        assert_eq!(replies, action.run(&mut world, &mut twin));
        assert_eq!(self.hosts[host].told, twin.told);
        assert_eq!(self.world, world);
    }

    /// Checks what was said, and has the server go where it died.
    fn conclude(&mut self, host: usize, action: &Action, replies: &[String]) {
        let told = std::mem::take(&mut self.hosts[host].told);
        self.history
            .push(format!("{host} {action:?} {replies:?} {told:?}"));
        self.world.interference = None;
        let fired = self.world.faults.fired.take();
        self.covered
            .extend(fired.map(|(call, fault)| case(&call, fault)));
        if self.world.faults.clear() {
            // The process is gone, and with it its connection and what it would have said.
            self.hosts[host].pending.clear();
        } else {
            self.acknowledge(host, replies, action.key());
            Promises::notified(&self.world, &told);
            self.keep(host, action, replies);
        }
        if let Some(Outcome::Reply(reply)) = self.world.interfered.take() {
            self.acknowledge(host, &[reply], None);
        }
    }

    /// Keeps what a client is asked, and looks whether what it answered has arrived.
    fn keep(&mut self, host: usize, action: &Action, replies: &[String]) {
        if let (Action::Send(body, _), [reply]) = (action, replies) {
            let principal = &self.hosts[host].principal;
            self.questions.keep(principal, body, reply);
            Promises::answers_arrived(&self.world, body, reply);
        }
    }

    fn acknowledge(&mut self, host: usize, replies: &[String], key: Option<&str>) {
        let principal = &self.hosts[host].principal;
        for reply in replies {
            Promises::answered(reply);
            self.promises.told(
                &self.world,
                Answer {
                    principal,
                    reply,
                    key,
                },
            );
        }
    }
}

/// A configuration with these members, a rule, and a tool `t` with this value of `task`.
fn config(members: &str, task: &str) -> String {
    let rule = json!([{ "pattern": format!("{GUARDED} ..."), "reason": "it is guarded" }]);
    let tool = json!({
        "name": "t", "description": "d", "program": ["sleep", "{a}"], "idempotencyKey": "{a}/{key}", "task": task,
        "inputSchema": { "type": "object", "properties": { "a": { "type": "string" }, "key": {} } },
    });
    format!(r#"{{{members}"confirm":{rule},"tools":[{tool}]}}"#)
}

/// Something that a server does.
#[derive(Debug)]
pub(crate) enum Action {
    /// Handles a message; with the idempotency key that it carries, where that never expires.
    Send(String, Option<String>),
    /// Wakes the requests whose time has come.
    Wake,
    /// Looks after tasks.
    Sweep,
    /// Answers all open requests, and ends.
    Shutdown,
}

impl Action {
    fn key(&self) -> Option<&str> {
        match self {
            Self::Send(_, key) => key.as_deref(),
            Self::Wake | Self::Sweep | Self::Shutdown => None,
        }
    }

    fn run(&self, world: &mut FakeWorld, host: &mut Host) -> Vec<String> {
        match self {
            Self::Send(body, _) => host.send(world, body),
            Self::Wake => host.wake(world),
            Self::Sweep => {
                host.sweep(world);
                Vec::new()
            }
            Self::Shutdown => {
                let open: Vec<_> = host.pending.keys().cloned().collect();
                open.iter()
                    .flat_map(|id| host.resume(world, id, Wake::Shutdown))
                    .collect()
            }
        }
    }
}
