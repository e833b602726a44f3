//! A host around one server: keeps its open requests and wakes them when their time has come.

use std::collections::BTreeMap;

use backburner_core::imports::JobState;
use backburner_core::{Context, Outcome, Pending, Server, Wake};
use serde_json::Value;

use super::FakeWorld;
use super::messages::{self, Client};

/// One server process and the connection of one principal.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    /// The server.
    pub(crate) server: Server,
    /// How that is configured.
    config: String,
    /// Who is at the other end.
    pub(crate) principal: String,
    /// How far its clock is from true time, in milliseconds; may be negative.
    pub(crate) skew_ms: i64,
    /// The requests that are open, by id as JSON text.
    pub(crate) pending: BTreeMap<String, Pending>,
    /// The notifications that came, in their order, until somebody takes them.
    pub(crate) told: Vec<Value>,
}

impl Host {
    /// A server with this configuration and nobody waiting.
    pub(crate) fn new(config: &str, principal: &str) -> Self {
        Self {
            server: configured(config),
            config: config.to_owned(),
            principal: principal.to_owned(),
            skew_ms: 0,
            pending: BTreeMap::new(),
            told: Vec::new(),
        }
    }

    /// What the core is told beside the message.
    pub(crate) fn context(&self, world: &FakeWorld) -> Context {
        Context {
            now: self.now(world),
            principal: self.principal.clone(),
        }
    }

    /// What this server takes for the present, in milliseconds since 1970.
    pub(crate) fn now(&self, world: &FakeWorld) -> u64 {
        world.clock.saturating_add_signed(self.skew_ms)
    }

    /// Sends a message and does what the outcome says. Gives all replies that come at once.
    pub(crate) fn send(&mut self, world: &mut FakeWorld, body: &str) -> Vec<String> {
        let cx = self.context(world);
        body.clone_into(&mut world.faults.handled);
        let outcome = self.server.message(world, &cx, body);
        self.handle(world, outcome)
    }

    /// Looks after tasks. Gives when to do so again.
    pub(crate) fn sweep(&mut self, world: &mut FakeWorld) -> Option<u64> {
        world.faults.handled.clear();
        let now = self.now(world);
        self.server.sweep(world, now)
    }

    /// Wakes every request whose job has ended or whose deadline has come; an unknown job has not ended. Gives their
    /// replies.
    pub(crate) fn wake(&mut self, world: &mut FakeWorld) -> Vec<String> {
        let requests: Vec<_> = self.pending.keys().cloned().collect();
        let mut replies = Vec::new();
        for request in requests {
            if let Some(why) = self.why(world, &self.pending[&request]) {
                replies.extend(self.resume(world, &request, why));
            }
        }
        replies
    }

    /// Resumes one open request. Gives the replies.
    pub(crate) fn resume(
        &mut self,
        world: &mut FakeWorld,
        request: &str,
        why: Wake,
    ) -> Vec<String> {
        let Some(pending) = self.pending.remove(request) else {
            return Vec::new();
        };
        let cx = self.context(world);
        world.faults.handled.clone_from(&pending.ticket);
        let outcome = self.server.resume(world, &cx, &pending.ticket, why);
        match why {
            Wake::Cancelled => assert!(!matches!(outcome, Outcome::Reply(_)), "{outcome:?}"),
            Wake::Shutdown => assert!(
                !matches!(outcome, Outcome::Wait(_) | Outcome::Notify { .. }),
                "{outcome:?}"
            ),
            Wake::JobEnded | Wake::Deadline | Wake::Configured => {}
        }
        self.handle(world, outcome)
    }

    /// Puts a new server in the place of this one, which is configured alike.
    pub(crate) fn renew(&mut self) {
        self.server = configured(&self.config);
    }

    /// Configures the server anew, and wakes the requests that want to know.
    pub(crate) fn configure(&mut self, world: &mut FakeWorld, config: &str) {
        config.clone_into(&mut self.config);
        self.renew();
        let heeding = self.pending.values().filter(|it| it.until_configured);
        let requests: Vec<_> = heeding.map(|it| it.request.clone()).collect();
        for request in requests {
            self.resume(world, &request, Wake::Configured);
        }
    }

    /// Moves time on until the only open request is answered, in steps at which something can happen.
    pub(crate) fn wait(&mut self, world: &mut FakeWorld) -> Value {
        loop {
            let replies = self.wake(world);
            if let [reply] = replies.as_slice() {
                return parse(reply);
            }
            let pending = self.pending.values().next().expect("a request is open");
            let deadline = pending.deadline.saturating_add_signed(-self.skew_ms);
            let job = pending.jobs.first();
            let end = job.and_then(|job| world.jobs.next_end(world.clock, job));
            world.clock = end.map_or(deadline, |end| end.min(deadline));
        }
    }

    /// Sends a request and gives its reply, however long that takes.
    pub(crate) fn ask(&mut self, world: &mut FakeWorld, body: &str) -> Value {
        match self.send(world, body).as_slice() {
            [reply] => parse(reply),
            _ => self.wait(world),
        }
    }

    /// Runs a command as a tasks client and gives the id of its task. Time goes on by the direct limit.
    pub(crate) fn task(&mut self, world: &mut FakeWorld, arguments: &Value) -> String {
        let reply = self.ask(world, &messages::run(1, Client::Tasks, arguments));
        let id = reply["result"]["taskId"].as_str();
        id.unwrap_or_else(|| panic!("not a task: {reply}"))
            .to_owned()
    }

    /// What `tasks/get` says of a task: the whole reply.
    pub(crate) fn get(&mut self, world: &mut FakeWorld, task_id: &str) -> Value {
        self.ask(world, &messages::about(2, "tasks/get", task_id))
    }

    fn why(&self, world: &FakeWorld, pending: &Pending) -> Option<Wake> {
        let ended = |id: &String| matches!(world.jobs.inspect(world.clock, id), JobState::Ended(_));
        if pending.jobs.iter().any(ended) {
            Some(Wake::JobEnded)
        } else if pending.deadline <= self.now(world) {
            Some(Wake::Deadline)
        } else {
            None
        }
    }

    fn handle(&mut self, world: &mut FakeWorld, outcome: Outcome) -> Vec<String> {
        match outcome {
            Outcome::Nothing => Vec::new(),
            Outcome::Reply(reply) => {
                assert!(!reply.contains('\n'), "a reply is one line: {reply}");
                vec![reply]
            }
            Outcome::Wait(pending) => {
                self.pending.insert(pending.request.clone(), pending);
                Vec::new()
            }
            Outcome::Notify { messages, pending } => {
                assert!(!messages.is_empty(), "nothing to tell is told");
                for message in &messages {
                    assert!(!message.contains('\n'), "a message is one line: {message}");
                    self.told.push(parse(message));
                }
                self.pending.insert(pending.request.clone(), pending);
                Vec::new()
            }
            Outcome::Cancel { request } => self.resume(world, &request, Wake::Cancelled),
        }
    }
}

fn configured(config: &str) -> Server {
    Server::configure(config).expect("a test's configuration is valid")
}

/// A reply as a value.
pub(crate) fn parse(reply: &str) -> Value {
    serde_json::from_str(reply).unwrap_or_else(|error| panic!("{error}: {reply}"))
}
