//! What becomes of an instance that breaks its limits: dropped, its request answered, and nobody else notices. In one
//! process, with a store in memory; what the clients of a whole server notice is looked at in `crash/hostile.rs`.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use backburner::jobs::{
    End, Failure, Fragment, Jobs, Outcome, Spec, StartError, State, StopReason, Stream,
};
use backburner::store::{Change, Entry, Error, MemoryStore, Store, Versioned};
use backburner_tests::fake::Machine;
use backburner_tests::{
    CURSED, Embedded, HUGE, HUGE_BYTES, PATIENCE, assert_lists_tools, run_call, until,
};
use serde_json::{Value, json};
use uuid::Uuid;

/// A call gives a task at once, whatever its job does.
const NO_DIRECT_RESULT: &str = r#"{"directLimitMs":0}"#;

/// A store that gives an instance more than it can hold, or panics.
struct Hostile(MemoryStore);

impl Store for Hostile {
    fn get(&self, key: &str) -> Result<Option<Versioned>, Error> {
        assert!(!key.ends_with(CURSED), "a test wants this panic");
        if key.ends_with(HUGE) {
            return Ok(Some(Versioned {
                value: "x".repeat(HUGE_BYTES),
                version: 1,
            }));
        }
        self.0.get(key)
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Vec<Entry>, Error> {
        self.0.scan(prefix, after, limit)
    }

    fn commit(&self, changes: &[Change]) -> Result<(), Error> {
        self.0.commit(changes)
    }
}

fn hostile_store() -> Embedded {
    let store = Arc::new(Hostile(MemoryStore::new()));
    Embedded::new(store, Machine::new().jobs, NO_DIRECT_RESULT)
}

fn assert_traps(server: &Embedded, id: u64) {
    assert_internal_error(&server.ask(id, "tasks/get", &json!({ "taskId": HUGE })), id);
}

fn assert_internal_error(reply: &Value, id: u64) {
    assert_eq!(reply["error"]["code"], -32603, "{reply}");
    assert_eq!(reply["id"], id);
}

/// The name of a new task.
fn new_task(server: &Embedded) -> Value {
    let reply = server.ask(1, "tools/call", &run_call("true"));
    let id = &reply["result"]["taskId"];
    assert!(id.is_string(), "{reply}");
    id.clone()
}

#[test]
fn a_request_whose_instance_traps_is_answered_and_the_next_one_works() {
    let server = hostile_store();
    for id in [1, 2] {
        assert_traps(&server, id);
        server.assert_alive();
    }
}

#[test]
fn a_request_whose_import_panics_is_answered_with_its_id_and_its_thread_goes_on() {
    let server = hostile_store();
    for id in 1..50 {
        let reply = server.ask(id, "tasks/get", &json!({ "taskId": CURSED }));
        assert_internal_error(&reply, id);
    }
    server.assert_alive();
}

#[test]
fn others_do_not_notice_that_an_instance_traps() {
    let server = hostile_store();
    thread::scope(|scope| {
        scope.spawn(|| assert_traps(&server, 1));
        for id in 100..400 {
            assert_lists_tools(&server.ask(id, "tools/list", &json!({})), id);
        }
    });
}

#[test]
fn two_pools_of_a_process_work_side_by_side_also_where_instances_of_one_trap() {
    let (trapping, other) = (hostile_store(), hostile_store());
    thread::scope(|scope| {
        scope.spawn(|| (1..4).for_each(|id| assert_traps(&trapping, id)));
        scope.spawn(|| (0..100).for_each(|_| trapping.assert_alive()));
        for id in 100..200 {
            assert_lists_tools(&other.ask(id, "tools/list", &json!({})), id);
        }
    });
    assert_traps(&other, 1);
    trapping.assert_alive();
}

#[test]
fn a_pool_goes_on_when_another_one_of_the_process_is_dropped() {
    let (dropped, other) = (hostile_store(), hostile_store());
    let task = json!({ "taskId": new_task(&other) });
    let unknown = dropped.ask(2, "tasks/get", &task);
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    drop(dropped);
    let known = other.ask(3, "tasks/get", &task);
    assert_eq!(known["result"]["taskId"], task["taskId"], "{known}");
    assert_traps(&other, 4);
    hostile_store().assert_alive();
}

/// Jobs that have ended and whose output is never read to its end: each read gives one byte of it, and much that was
/// read before.
#[derive(Default)]
struct Endless {
    reads: AtomicU64,
}

/// How much that is: handing it to an instance takes its time, so that one byte at a time would take it hours.
const STALE_BYTES: usize = 16 << 20;

impl Endless {
    fn fragment(offset: u64, bytes: Vec<u8>) -> Fragment {
        Fragment {
            offset,
            at: 0,
            stream: Stream::Stdout,
            bytes,
        }
    }
}

impl Jobs for Endless {
    fn start(&self, _: Uuid, _: &Spec) -> Result<(), StartError> {
        Ok(())
    }

    fn stop(&self, _: Uuid, _: StopReason) -> Result<(), Failure> {
        Ok(())
    }

    fn inspect(&self, _: Uuid) -> Result<State, Failure> {
        Ok(State::Ended(Outcome {
            started_at: 0,
            ended_at: 0,
            duration_ms: 0,
            end: End::Exited { code: 0 },
            stopped: None,
            output_bytes: u64::MAX,
            dropped_bytes: 0,
            leftovers: Vec::new(),
        }))
    }

    fn read(&self, _: Uuid, offset: u64, _: u32) -> Result<Vec<Fragment>, Failure> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        Ok(vec![
            Self::fragment(offset, vec![b'.']),
            Self::fragment(0, vec![0; STALE_BYTES]),
        ])
    }

    fn forget(&self, _: Uuid) -> Result<(), Failure> {
        Ok(())
    }

    fn ended(&self, _: Uuid) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        Box::pin(std::future::ready(()))
    }
}

#[test]
fn an_instance_that_computes_for_ever_is_interrupted_and_nobody_else_notices() {
    let jobs = Arc::new(Endless::default());
    let store = Arc::new(MemoryStore::new());
    let server = Embedded::new(store, Arc::clone(&jobs) as Arc<_>, NO_DIRECT_RESULT);
    let endless = server.post(2, "tasks/get", &json!({ "taskId": new_task(&server) }));
    until(PATIENCE, "the instance to be at work", || {
        let reads = jobs.reads.load(Ordering::SeqCst);
        (reads > 1).then_some(()).ok_or(format!("{reads} reads"))
    });
    // Of the answers that came, one at least came before the end of it: it has ten seconds, and the others need
    // milliseconds, but the machine may be busy.
    let before = (100..120).filter(|id| {
        assert_lists_tools(&server.ask(*id, "tools/list", &json!({})), *id);
        endless.is_outstanding()
    });
    assert!(before.count() > 0, "everybody else had to wait for it");
    assert_internal_error(&endless.reply(), 2);
    server.assert_alive();
}
