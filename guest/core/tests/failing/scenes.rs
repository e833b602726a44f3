//! What is played: a world that was brought to some point, and the next thing that happens in it.

use backburner_core::Wake;
use serde_json::{Value, json};

use crate::support::faults::Fault;
use crate::support::host::parse;
use crate::support::messages::{Client, about, call, elicitation, request, run, with_elicitation};
use crate::support::{FakeWorld, Host};

/// A rule, a tool `t`, and limits that the commands here outlast.
const CONFIG: &str = r#"{
    "syncLimitMs": 500,
    "confirm": [{ "pattern": "guarded ...", "reason": "it is guarded" }],
    "tools": [{
        "name": "t", "description": "d", "program": ["sleep", "{a}"], "idempotencyKey": "{a}",
        "inputSchema": { "type": "object", "properties": { "a": { "type": "string" } } }
    }]
}"#;

/// The id of each request that is played; odd for clients without tasks.
const TASKS: u64 = 100;
const PLAIN: u64 = 101;

/// What happens next.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// This message comes.
    Send(String),
    /// The open request goes on.
    Resume(Wake),
    /// The server looks after tasks.
    Sweep,
}

/// A world, a server in it, and what happens next.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    /// What it is.
    pub(crate) name: &'static str,
    /// What is there.
    pub(crate) world: FakeWorld,
    /// The server.
    pub(crate) host: Host,
    /// What happens next.
    pub(crate) act: Act,
    /// The tasks that are there before.
    pub(crate) before: Vec<String>,
    /// Whether what comes is about a task that has expired.
    is_about_expired: bool,
}

/// How a scene begins.
type Prepare = fn(&mut Place) -> Act;

/// All scenes. Between them they call each import of each method, which [`crate::support::coverage`] lists.
pub(crate) fn scenes() -> Vec<Scene> {
    let groups: [&[(&str, Prepare)]; 5] = [&CALLS, &KEYS, &TASK_REQUESTS, &RESUMED, &SWEEPS];
    let scenes = groups.into_iter().flatten();
    scenes
        .map(|(name, prepare)| Scene::new(name, *prepare))
        .collect()
}

const CALLS: [(&str, Prepare); 8] = [
    ("a call", |_| {
        send(&run(TASKS, Client::Tasks, &command("sleep 1; exit 3")))
    }),
    ("a call that ends at once", |_| {
        send(&run(TASKS, Client::Tasks, &command("echo hi; exit 3")))
    }),
    ("a call of a client without tasks", |_| {
        send(&run(PLAIN, Client::Plain, &command("sleep 1; exit 3")))
    }),
    ("a call that expires", |_| {
        let arguments = json!({ "command": "sleep 1; exit 3", "ttlSeconds": 60 });
        send(&run(TASKS, Client::Tasks, &arguments))
    }),
    ("a call of a configured tool", |_| {
        send(&call(TASKS, Client::Tasks, "t", &json!({ "a": "1" })))
    }),
    (
        "a call of a configured tool, of a client without tasks",
        |_| send(&call(PLAIN, Client::Plain, "t", &json!({ "a": "1" }))),
    ),
    ("a call that has to be confirmed", |_| send(&guarded())),
    ("a call that was confirmed", |place| {
        let replies = place.host.send(&mut place.world, &guarded());
        let mut body = parse(&guarded());
        body["params"]["requestState"] = parse(&replies[0])["result"]["requestState"].take();
        let yes = json!({ "action": "accept", "content": { "confirm": true } });
        body["params"]["inputResponses"] = json!({ "confirm": yes });
        send(&body.to_string())
    }),
];

const KEYS: [(&str, Prepare); 7] = [
    ("a call with a key", |_| send(&keyed("sleep 1; exit 3"))),
    ("a call of a client without tasks, with a key", |_| {
        let arguments = json!({ "command": "sleep 1; exit 3", "idempotencyKey": "k" });
        send(&run(PLAIN, Client::Plain, &arguments))
    }),
    ("a repeated call", |place| {
        place.ask(&keyed("sleep 1; exit 3"));
        send(&keyed("sleep 1; exit 3"))
    }),
    ("a repeated call whose job has ended", |place| {
        place.ask(&keyed("echo hi; sleep 1; exit 3"));
        place.world.clock += 5_000;
        send(&keyed("echo hi; sleep 1; exit 3"))
    }),
    ("a repeated call whose job will never start", |place| {
        place.overdue();
        send(&keyed("sleep 2; exit 3"))
    }),
    ("a call with the key of an expired task", |place| {
        place.expired("sleep 1");
        place.about_expired(send(&keyed("sleep 1; exit 3")))
    }),
    (
        "a call with the key of an expired task that still runs",
        |place| {
            place.expired_and_running();
            place.about_expired(send(&keyed("sleep 1; exit 3")))
        },
    ),
];

const TASK_REQUESTS: [(&str, Prepare); 15] = [
    ("tasks/get of one that works", |place| {
        let id = place.task("echo hi; sleep 60; exit 3");
        send(&about(TASKS, "tasks/get", &id))
    }),
    ("tasks/get of one that has ended", |place| {
        let id = place.ended("echo hi; sleep 1; exit 3");
        send(&about(TASKS, "tasks/get", &id))
    }),
    ("tasks/get of one whose end is written down", |place| {
        let id = place.ended("echo hi; sleep 1; exit 3");
        place.ask(&about(TASKS, "tasks/get", &id));
        send(&about(TASKS, "tasks/get", &id))
    }),
    ("tasks/get of one whose job nobody knows", |place| {
        let id = place.unknown();
        send(&about(TASKS, "tasks/get", &id))
    }),
    ("tasks/get of one whose job will never start", |place| {
        let id = place.overdue();
        send(&about(TASKS, "tasks/get", &id))
    }),
    ("tasks/get of one that asks", |place| {
        let id = place.task("ask text count; exit 4");
        send(&with_elicitation(
            &about(TASKS, "tasks/get", &id),
            &elicitation(),
        ))
    }),
    ("tasks/get of one that has expired", |place| {
        let id = place.expired("sleep 1");
        place.about_expired(send(&about(TASKS, "tasks/get", &id)))
    }),
    ("tasks/update", |place| {
        let id = place.task("ask text count; exit 4");
        update(
            &id,
            &json!({ "q1": { "action": "decline" }, "q2": { "action": "cancel" } }),
        )
    }),
    ("tasks/update with what does not fit", |place| {
        let id = place.task("ask text count; exit 4");
        let misfit = json!({ "action": "accept", "content": { "text": "too long" } });
        update(&id, &json!({ "q1": misfit, "q2": { "action": "decline" } }))
    }),
    ("tasks/cancel of one that works", |place| {
        let id = place.task("sleep 60; exit 3");
        send(&about(TASKS, "tasks/cancel", &id))
    }),
    ("tasks/cancel of one that has ended", |place| {
        let id = place.ended("sleep 1; exit 3");
        send(&about(TASKS, "tasks/cancel", &id))
    }),
    ("tasks/cancel of one whose job nobody knows", |place| {
        let id = place.unknown();
        send(&about(TASKS, "tasks/cancel", &id))
    }),
    ("a subscription", |place| listen(place)),
    ("a subscription to one whose job nobody knows", |place| {
        let id = place.unknown();
        send(&listening(&[id]))
    }),
    (
        "a subscription to one whose job will never start",
        |place| {
            let id = place.overdue();
            send(&listening(&[id]))
        },
    ),
];

const RESUMED: [(&str, Prepare); 13] = [
    ("a waiting call whose job has ended", |place| {
        place.wait(
            &run(PLAIN, Client::Plain, &command("echo hi; sleep 0.2; exit 3")),
            200,
        );
        Act::Resume(Wake::JobEnded)
    }),
    ("a waiting call whose time is up", |place| {
        place.wait(
            &run(PLAIN, Client::Plain, &command("echo hi; sleep 1; exit 3")),
            500,
        );
        Act::Resume(Wake::Deadline)
    }),
    (
        "a waiting call of a client with tasks whose time is up",
        |place| {
            place.wait(&run(TASKS, Client::Tasks, &command("sleep 1; exit 3")), 100);
            Act::Resume(Wake::Deadline)
        },
    ),
    ("a waiting call at the end of the server", |place| {
        place.wait(&run(PLAIN, Client::Plain, &command("sleep 1; exit 3")), 10);
        Act::Resume(Wake::Shutdown)
    }),
    (
        "a waiting call of a configured tool whose job has ended",
        |place| {
            place.wait(
                &call(PLAIN, Client::Plain, "t", &json!({ "a": "0.2" })),
                200,
            );
            Act::Resume(Wake::JobEnded)
        },
    ),
    ("a waiting call whose job will never start", |place| {
        place.unknown();
        let arguments = json!({ "command": "sleep 2; exit 3", "idempotencyKey": "k" });
        place.wait(&run(PLAIN, Client::Plain, &arguments), 600_000);
        Act::Resume(Wake::Deadline)
    }),
    ("a held call whose key is free", |place| {
        place.held("sleep 1; exit 3");
        place.world.clock += 5_000;
        Act::Resume(Wake::JobEnded)
    }),
    ("a held call whose key was taken meanwhile", |place| {
        place.held("echo hi; sleep 1; exit 3");
        place.world.clock += 5_000;
        let mut other = Host::new(CONFIG, "user");
        other.ask(&mut place.world, &keyed("echo hi; sleep 1; exit 3"));
        place.world.clock += 5_000;
        Act::Resume(Wake::JobEnded)
    }),
    ("a held call whose time is up", |place| {
        place.held("sleep 1; exit 3");
        place.world.clock += 1_000;
        Act::Resume(Wake::Deadline)
    }),
    ("a subscription to a task that has ended", |place| {
        let id = place.task("echo hi; sleep 1; exit 3");
        place.wait(&listening(&[id]), 1_000);
        Act::Resume(Wake::JobEnded)
    }),
    ("a subscription to a task that goes on", |place| {
        let id = place.task("sleep 0.5; echo hi; sleep 60; exit 3");
        place.wait(&listening(&[id]), 1_000);
        Act::Resume(Wake::Deadline)
    }),
    (
        "a subscription to a task whose job will never start",
        |place| {
            let id = place.unknown();
            place.wait(&listening(&[id]), 600_000);
            Act::Resume(Wake::Deadline)
        },
    ),
    (
        "a subscription when the server is configured anew",
        |place| {
            let id = place.ended("echo hi; sleep 1; exit 3");
            place.wait(&listening(&[id]), 0);
            Act::Resume(Wake::Configured)
        },
    ),
];

const SWEEPS: [(&str, Prepare); 6] = [
    ("a sweep", |place| {
        place.task("echo hi; sleep 60; exit 3");
        place.ended("echo hi; sleep 1; exit 3");
        place.unknown();
        Act::Sweep
    }),
    ("a sweep where one has expired", |place| {
        place.expired("sleep 1");
        Act::Sweep
    }),
    ("a sweep where one has expired and runs", |place| {
        place.expired_and_running();
        Act::Sweep
    }),
    ("a sweep where one expired before it was started", |place| {
        place.crash(&expiring("sleep 1"));
        place.world.clock += 60_000;
        Act::Sweep
    }),
    ("a sweep where one expired long ago", |place| {
        place.expired("sleep 1");
        place.host.sweep(&mut place.world);
        place.world.clock += 40 * 86_400_000;
        Act::Sweep
    }),
    ("a sweep where a confirmation is over", |place| {
        let Act::Send(body) = CALLS[7].1(place) else {
            unreachable!("it is a call");
        };
        place.ask(&body);
        place.world.clock += 86_400_000;
        Act::Sweep
    }),
];

fn send(body: &str) -> Act {
    Act::Send(body.to_owned())
}

fn command(line: &str) -> Value {
    json!({ "command": line })
}

fn keyed(line: &str) -> String {
    let arguments = json!({ "command": line, "idempotencyKey": "k" });
    run(TASKS, Client::Tasks, &arguments)
}

/// A call whose task expires in a minute.
fn expiring(line: &str) -> String {
    let arguments = json!({ "command": line, "idempotencyKey": "k", "ttlSeconds": 60 });
    run(TASKS, Client::Tasks, &arguments)
}

fn guarded() -> String {
    let body = run(TASKS, Client::Tasks, &command("guarded; sleep 1; exit 3"));
    with_elicitation(&body, &elicitation())
}

fn update(id: &str, answers: &Value) -> Act {
    let params = json!({ "taskId": id, "inputResponses": answers });
    send(&request(TASKS, Client::Tasks, "tasks/update", params))
}

fn listening(ids: &[String]) -> String {
    let params = json!({ "notifications": { "taskIds": ids, "toolsListChanged": true } });
    request(TASKS, Client::Tasks, "subscriptions/listen", params)
}

/// A subscription to a task that goes on and to one that has ended.
fn listen(place: &mut Place) -> Act {
    let ids = [
        place.task("echo hi; sleep 60; exit 3"),
        place.ended("echo hi; sleep 1; exit 3"),
    ];
    send(&listening(&ids))
}

/// Where a scene begins.
struct Place {
    world: FakeWorld,
    host: Host,
    /// Whether what comes is about a task that has expired.
    is_about_expired: bool,
}

impl Place {
    /// What a request is answered with, however long that takes.
    fn ask(&mut self, body: &str) -> Value {
        self.host.ask(&mut self.world, body)
    }

    fn task(&mut self, line: &str) -> String {
        self.host.task(&mut self.world, &command(line))
    }

    /// A task whose job has ended, which nobody has seen.
    fn ended(&mut self, line: &str) -> String {
        let id = self.task(line);
        self.world.clock += 5_000;
        id
    }

    /// The task of a server that died before it could start the job.
    fn unknown(&mut self) -> String {
        self.crash(&keyed("sleep 2; exit 3"))
    }

    /// Such a task, after the last moment at which its job could have been started.
    fn overdue(&mut self) -> String {
        let id = self.unknown();
        self.ask(&about(TASKS, "tasks/get", &id));
        self.world.clock += 600_000;
        id
    }

    /// Sends a call to a server that dies before it can start the job; gives the task.
    fn crash(&mut self, body: &str) -> String {
        // the key, the record
        self.world.faults.plan(2, Fault::CrashBefore);
        let known: Vec<_> = self.tasks();
        self.host.send(&mut self.world, body);
        self.world.faults.clear();
        self.host.pending.clear();
        let mut new = self.tasks().into_iter().filter(|id| !known.contains(id));
        new.next().expect("it was recorded")
    }

    /// A task that has expired, and whose job has ended.
    fn expired(&mut self, line: &str) -> String {
        let reply = self.ask(&expiring(line));
        self.world.clock += 60_000;
        let id = reply["result"]["taskId"].as_str();
        id.expect("a task").to_owned()
    }

    /// A task that has expired, and whose job takes a while to end.
    fn expired_and_running(&mut self) {
        self.ask(&expiring("trap; sleep 600"));
        self.world.clock += 60_000;
        // The supervisor's clock is a little slow.
        self.world.clock -= 500;
        self.host.skew_ms = 1_000;
    }

    /// What comes, where that is about a task that has expired.
    fn about_expired(&mut self, act: Act) -> Act {
        self.is_about_expired = true;
        act
    }

    /// Keeps a request open for a while.
    fn wait(&mut self, body: &str, ms: u64) {
        let replies = self.host.send(&mut self.world, body);
        assert_eq!(replies, [""; 0], "it waits");
        self.host.told.clear();
        self.world.clock += ms;
    }

    /// Keeps a call open that waits for its key.
    fn held(&mut self, line: &str) {
        self.expired_and_running();
        self.wait(&keyed(line), 0);
    }

    fn tasks(&self) -> Vec<String> {
        tasks(&self.world)
    }
}

fn tasks(world: &FakeWorld) -> Vec<String> {
    let keys = world.store.keys("task/").into_iter();
    keys.map(|key| key["task/".len()..].to_owned()).collect()
}

impl Scene {
    fn new(name: &'static str, prepare: Prepare) -> Self {
        let mut place = Place {
            world: FakeWorld::new(1),
            host: Host::new(CONFIG, "user"),
            is_about_expired: false,
        };
        let act = prepare(&mut place);
        place.world.faults.clear();
        let before = place.tasks();
        Self {
            name,
            world: place.world,
            host: place.host,
            act,
            before,
            is_about_expired: place.is_about_expired,
        }
    }

    /// The ids of all tasks.
    pub(crate) fn tasks(&self) -> Vec<String> {
        tasks(&self.world)
    }

    /// Lets it happen. Gives what is said.
    pub(crate) fn act(&mut self) -> Vec<Value> {
        let (host, world) = (&mut self.host, &mut self.world);
        let replies = match &self.act {
            Act::Send(body) => host.send(world, body),
            Act::Resume(why) => {
                let open = host.pending.keys().next().expect("a request is open");
                host.resume(world, &open.clone(), *why)
            }
            Act::Sweep => {
                host.sweep(world);
                Vec::new()
            }
        };
        self.said(&replies)
    }

    /// Waits for the answer where there is none yet, and ends a subscription. Gives what is said.
    pub(crate) fn end(&mut self) -> Vec<Value> {
        let (host, world) = (&mut self.host, &mut self.world);
        let Some(pending) = host.pending.values().next() else {
            return Vec::new();
        };
        let request = pending.request.clone();
        let reply = if pending.ticket.contains("listen/") {
            world.clock += 1_000;
            host.wake(world);
            let replies = host.resume(world, &request, Wake::Shutdown);
            parse(&replies[0])
        } else {
            host.wait(world)
        };
        [self.said(&[]), vec![reply]].concat()
    }

    /// The id of the request that is answered; `None` in a sweep.
    pub(crate) fn request(&self) -> Option<Value> {
        match &self.act {
            Act::Send(body) => Some(parse(body)["id"].take()),
            Act::Resume(_) => {
                let open = self.host.pending.keys().next();
                Some(parse(open.expect("a request is open")))
            }
            Act::Sweep => None,
        }
    }

    /// Whether a request for a task that is there comes.
    pub(crate) fn is_about_a_task(&self) -> bool {
        matches!(&self.act, Act::Send(body) if body.contains(r#""method":"tasks/"#))
    }

    /// Whether there may be nothing that could be done: the task has expired, or the confirmation was used.
    pub(crate) fn may_be_refused(&self) -> bool {
        let has_state = matches!(&self.act, Act::Send(body) if body.contains("requestState"));
        has_state || self.is_about_expired
    }

    /// Whether the same request again may run the same command again.
    pub(crate) fn may_run_again(&self) -> bool {
        let Act::Send(body) = &self.act else {
            return false;
        };
        !body.contains("idempotencyKey") && !body.contains("requestState")
    }

    fn said(&mut self, replies: &[String]) -> Vec<Value> {
        let told = std::mem::take(&mut self.host.told);
        let replies = replies.iter().map(|reply| parse(reply));
        told.into_iter().chain(replies).collect()
    }
}
