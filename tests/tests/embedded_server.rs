//! A server as a program sees it that embeds one: connections, their messages, and what becomes of requests that wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use backburner::engine::PoolError;
use backburner::store::{Change, Entry, Error, MemoryStore, Store, Versioned};
use backburner::{Client as Connection, Principal, Server};
use backburner_tests::fake::JobsByHand;
use backburner_tests::{Client, PATIENCE, assert_lists_tools, request, run_call, until};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

/// A call of a client without Tasks waits for longer than any of these tests.
const CONFIG: &str = r#"{"directLimitMs":0,"syncLimitMs":3600000}"#;

/// A server, its jobs, and the program that embeds it.
struct Scene {
    runtime: Runtime,
    jobs: JobsByHand,
    server: Server,
}

/// A message that is being answered.
type Answer = JoinHandle<Option<String>>;

impl Scene {
    fn new() -> Self {
        Self::on(MemoryStore::new(), 4)
    }

    fn on(store: impl Store + 'static, threads: usize) -> Self {
        let jobs = JobsByHand::default();
        let server = Server::builder()
            .store(store)
            .jobs(jobs.clone())
            .config(CONFIG)
            .threads(threads)
            .build();
        Self {
            runtime: Runtime::new().expect("a test has threads"),
            jobs,
            server: server.expect("the embedded component starts"),
        }
    }

    fn connection(&self) -> Connection {
        let principal = Principal::new("uid:1000").expect("it is short");
        self.server.client(principal)
    }

    fn post(&self, connection: &Connection, message: &Value) -> Answer {
        let (connection, message) = (connection.clone(), message.to_string());
        self.runtime
            .spawn(async move { connection.message(message).await })
    }

    /// Calls the tool, and waits until the request waits for its job.
    fn call(&self, connection: &Connection, id: u64) -> Answer {
        let before = self.jobs.waited_for();
        let answer = self.post(connection, &call(id));
        self.until_waited_for(before + 1);
        answer
    }

    fn until_waited_for(&self, jobs: usize) {
        until(PATIENCE, "as many requests to wait for a job", || {
            let waited_for = self.jobs.waited_for();
            let is_so = waited_for == jobs;
            is_so.then_some(()).ok_or(format!("{waited_for} do"))
        });
    }

    fn until_asked_for(&self, jobs: usize) {
        until(PATIENCE, "as many jobs to be asked for", || {
            let asked_for = self.jobs.asked_for();
            let is_so = asked_for == jobs;
            is_so.then_some(()).ok_or(format!("{asked_for} are"))
        });
    }

    fn within_patience<T>(&self, work: impl Future<Output = T>) -> T {
        let result = async { tokio::time::timeout(PATIENCE, work).await };
        self.runtime
            .block_on(result)
            .expect("nothing here takes long")
    }

    /// What a message comes to.
    fn end(&self, answer: Answer) -> Option<Value> {
        let reply = self.within_patience(answer).expect("nothing panics");
        reply.map(|reply| serde_json::from_str(&reply).expect("a reply is JSON"))
    }

    fn ask(&self, connection: &Connection, message: &Value) -> Option<Value> {
        self.end(self.post(connection, message))
    }

    fn assert_alive(&self, connection: &Connection) {
        let reply = self.ask(connection, &list(7)).expect("it is a request");
        assert_lists_tools(&reply, 7);
    }
}

fn list(id: u64) -> Value {
    request(id, "tools/list", &json!({}), Client::Plain)
}

/// A call of the tool that waits for its job.
fn call(id: u64) -> Value {
    request(id, "tools/call", &run_call("wait"), Client::Plain)
}

fn cancellation(id: u64) -> Value {
    json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id }
    })
}

fn assert_ended(reply: Option<Value>, id: u64) {
    let reply = reply.expect("a call is answered");
    assert_eq!(reply["id"], id, "{reply}");
    let code = &reply["result"]["structuredContent"]["exitCode"];
    assert_eq!(*code, 7, "{reply}");
}

/// That a call was answered while its job goes on.
fn assert_goes_on(reply: Option<Value>, id: u64) {
    let reply = reply.expect("a call is answered");
    assert_eq!(reply["id"], id, "{reply}");
    let result = &reply["result"]["structuredContent"];
    assert!(result["taskId"].is_string(), "{reply}");
    assert!(result["exitCode"].is_null(), "{reply}");
}

#[test]
fn a_request_is_answered_and_a_notification_is_not() {
    let scene = Scene::new();
    let connection = scene.connection();
    scene.assert_alive(&connection);
    let notification = json!({ "jsonrpc": "2.0", "method": "notifications/progress" });
    assert_eq!(scene.ask(&connection, &notification), None);
    let nonsense = scene.ask(&connection, &json!("nonsense"));
    let nonsense = nonsense.expect("an error is an answer");
    assert_eq!(nonsense["error"]["code"], -32600, "{nonsense}");
}

#[test]
fn a_call_is_answered_when_its_job_has_ended() {
    let scene = Scene::new();
    let answer = scene.call(&scene.connection(), 1);
    assert!(!answer.is_finished(), "its job runs");
    scene.jobs.end();
    assert_ended(scene.end(answer), 1);
}

#[test]
fn a_later_message_takes_a_request_back() {
    let scene = Scene::new();
    let connection = scene.connection();
    let (first, second) = (scene.call(&connection, 1), scene.call(&connection, 2));
    assert_eq!(scene.ask(&connection, &cancellation(1)), None);
    assert_eq!(scene.end(first), None);
    assert!(!second.is_finished(), "it was another request");
    scene.jobs.end();
    assert_ended(scene.end(second), 2);
}

#[test]
fn a_request_is_taken_back_also_before_it_waits() {
    let scene = Scene::new();
    let connection = scene.connection();
    let held_up = scene.jobs.hold_up();
    let answer = scene.post(&connection, &call(1));
    scene.until_asked_for(1);
    assert_eq!(scene.ask(&connection, &cancellation(1)), None);
    drop(held_up);
    assert_eq!(scene.end(answer), None);
    assert_eq!(scene.jobs.waited_for(), 0);
    // The id may be used again.
    let again = scene.call(&connection, 1);
    scene.jobs.end();
    assert_ended(scene.end(again), 1);
}

#[test]
fn a_request_whose_future_is_dropped_is_forgotten_and_its_job_goes_on() {
    let scene = Scene::new();
    let connection = scene.connection();
    // So many that a cancellation would hit one of them if they were still known.
    for _ in 0..32 {
        scene.call(&connection, 1).abort();
        scene.until_waited_for(0);
    }
    let answer = scene.call(&connection, 1);
    assert_eq!(scene.ask(&connection, &cancellation(1)), None);
    assert_eq!(scene.end(answer), None);
    assert_eq!(scene.jobs.asked_for(), 33, "none was started twice");
    scene.assert_alive(&connection);
}

#[test]
fn at_shutdown_open_requests_are_answered_and_later_ones_do_not_wait() {
    let scene = Scene::new();
    let connection = scene.connection();
    let open = [1, 2, 3].map(|id| (id, scene.call(&connection, id)));
    scene.server.shut_down();
    for (id, answer) in open {
        assert_goes_on(scene.end(answer), id);
    }
    assert_goes_on(scene.ask(&connection, &call(4)), 4);
    assert_goes_on(scene.ask(&scene.connection(), &call(5)), 5);
    scene.assert_alive(&connection);
}

#[test]
fn two_connections_with_the_same_request_id_do_not_disturb_each_other() {
    let scene = Scene::new();
    let (one, other) = (scene.connection(), scene.connection());
    let (first, second) = (scene.call(&one, 1), scene.call(&other, 1));
    assert_eq!(scene.ask(&one, &cancellation(1)), None);
    assert_eq!(scene.end(first), None);
    assert!(!second.is_finished(), "it was the other one's");
    scene.jobs.end();
    assert_ended(scene.end(second), 1);
}

#[test]
fn sweeping_ends_when_the_server_is_shut_down() {
    let scene = Scene::new();
    let sweeper = scene.server.clone();
    let sweeping = scene
        .runtime
        .spawn(async move { sweeper.sweep_regularly().await });
    scene.server.shut_down();
    scene.within_patience(sweeping).expect("nothing panics");
    scene.within_patience(scene.server.sweep_regularly());
}

#[test]
fn a_job_whose_end_cannot_be_waited_for_is_looked_at() {
    let scene = Scene::new();
    scene.jobs.forbid_to_wait();
    let answer = scene.post(&scene.connection(), &call(1));
    scene.until_asked_for(1);
    scene.jobs.end();
    assert_ended(scene.end(answer), 1);
}

/// What a store does when it is asked for one task.
#[derive(Clone, Copy)]
enum Trouble {
    Panic,
    /// Stays a while, so that calls meet there.
    Meeting,
}

/// A store with [`Trouble`]. Clones are the same one.
#[derive(Clone)]
struct Troubled {
    trouble: Trouble,
    memory: Arc<MemoryStore>,
    present: Arc<AtomicUsize>,
    met: Arc<AtomicUsize>,
}

/// The task that makes it.
const TROUBLE: &str = "00000000-0000-4000-8000-00000000dead";

impl Troubled {
    fn new(trouble: Trouble) -> Self {
        Self {
            trouble,
            memory: Arc::default(),
            present: Arc::default(),
            met: Arc::default(),
        }
    }

    /// Stays a while, and remembers the largest company.
    fn meet(&self) {
        let present = self.present.fetch_add(1, Ordering::SeqCst) + 1;
        self.met.fetch_max(present, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(100));
        self.present.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Store for Troubled {
    fn get(&self, key: &str) -> Result<Option<Versioned>, Error> {
        if key.ends_with(TROUBLE) {
            match self.trouble {
                Trouble::Panic => panic!("a test wants this panic"),
                Trouble::Meeting => self.meet(),
            }
        }
        self.memory.get(key)
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Vec<Entry>, Error> {
        self.memory.scan(prefix, after, limit)
    }

    fn commit(&self, changes: &[Change]) -> Result<(), Error> {
        self.memory.commit(changes)
    }
}

/// Asks many times for the task that makes trouble.
fn trouble(scene: &Scene) -> Vec<(u64, Value)> {
    let connection = scene.connection();
    let ask = |id| {
        let get = request(
            id,
            "tasks/get",
            &json!({ "taskId": TROUBLE }),
            Client::Tasks,
        );
        (id, scene.post(&connection, &get))
    };
    let asked: Vec<_> = (1..=20).map(ask).collect();
    let answers = asked.into_iter().map(|(id, answer)| {
        let reply = scene.end(answer);
        (id, reply.expect("a request is answered"))
    });
    answers.collect()
}

#[test]
fn a_request_that_the_store_panics_on_is_answered_with_its_id_and_costs_no_thread() {
    let scene = Scene::on(Troubled::new(Trouble::Panic), 2);
    for (id, reply) in trouble(&scene) {
        assert_eq!(reply["error"]["code"], -32603, "{reply}");
        assert_eq!(reply["id"], id);
    }
    scene.assert_alive(&scene.connection());
}

#[test]
fn no_more_messages_are_worked_on_at_the_same_time_than_there_are_threads() {
    let store = Troubled::new(Trouble::Meeting);
    let scene = Scene::on(store.clone(), 2);
    for (id, reply) in trouble(&scene) {
        assert_eq!(reply["error"]["code"], -32602, "{reply}");
        assert_eq!(reply["id"], id);
    }
    let met = store.met.load(Ordering::SeqCst);
    assert!(met <= 2, "{met} at the same time");
}

/// How long the component says that a client without Tasks waits.
fn limit(scene: &Scene) -> String {
    let discover = request(1, "server/discover", &json!({}), Client::Plain);
    let reply = scene.ask(&scene.connection(), &discover);
    let text = reply.map(|reply| reply["result"]["instructions"].to_string());
    let text = text.expect("it is a request");
    let after = text.split_once("waits up to ").map(|(_, after)| after);
    let limit = after.and_then(|after| Some(after.split_once(" for")?.0.to_owned()));
    limit.unwrap_or_else(|| panic!("no limit is told: {text}"))
}

#[test]
fn settings_that_are_changed_hold_for_all_clients_and_those_that_are_refused_do_not() {
    let scene = Scene::new();
    let mut configured = scene.server.configured();
    assert_eq!(limit(&scene), "1 h");
    let changed = |json| scene.within_patience(scene.server.configure(json));
    changed(r#"{"syncLimitMs":7000}"#).expect("it is right");
    assert_eq!(limit(&scene), "7 s");
    assert!(configured.has_changed().expect("the server is there"));
    let number = *configured.borrow_and_update();
    for wrong in [r#"{"syncLimitMs":"soon"}"#, "no JSON"] {
        let refused = changed(wrong).expect_err("it is wrong");
        assert!(matches!(refused, PoolError::Config(_)), "{refused}");
        assert_eq!(limit(&scene), "7 s");
    }
    // The same again is no change.
    changed(r#"{"syncLimitMs":7000}"#).expect("it is right");
    assert!(!configured.has_changed().expect("the server is there"));
    changed("{}").expect("it is right");
    assert!(*configured.borrow_and_update() > number);
    assert_eq!(limit(&scene), "30 s");
}

#[test]
fn a_call_that_waits_goes_on_when_settings_are_changed() {
    let scene = Scene::new();
    let answer = scene.call(&scene.connection(), 1);
    for seconds in 1..20 {
        let json = format!(r#"{{"directLimitMs":0,"syncLimitMs":{seconds}}}"#);
        let changed = scene.within_patience(scene.server.configure(&json));
        changed.expect("it is right");
    }
    assert!(!answer.is_finished(), "its job runs");
    scene.jobs.end();
    assert_ended(scene.end(answer), 1);
}

#[test]
fn messages_are_answered_while_settings_are_changed() {
    let scene = Scene::new();
    let connection = scene.connection();
    for round in 0..20 {
        let answers: Vec<_> = (0..10)
            .map(|id| scene.post(&connection, &list(id)))
            .collect();
        let json = format!(r#"{{"syncLimitMs":{round}}}"#);
        let changed = scene.within_patience(scene.server.configure(&json));
        changed.expect("it is right");
        for (id, answer) in (0..10).zip(answers) {
            let reply = scene.end(answer).expect("it is a request");
            assert_lists_tools(&reply, id);
        }
    }
}
