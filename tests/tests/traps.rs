//! What becomes of an instance that breaks its limits: dropped, its request answered, and nobody else notices.

use std::sync::Arc;
use std::thread;

use backburner::engine::{Context, Pool, Step};
use backburner::store::{Change, Entry, Error, MemoryStore, Store, Versioned};
use backburner_tests::fake::Machine;
use backburner_tests::{Client, request};
use serde_json::{Value, json};

/// A task that this store says is larger than an instance's memory.
const HUGE: &str = "00000000-0000-4000-8000-000000000000";

/// How much that is: more than the 128 MiB that an instance may have.
const HUGE_BYTES: usize = 192 << 20;

/// A store that gives an instance more than it can hold.
struct Hostile(MemoryStore);

impl Store for Hostile {
    fn get(&self, key: &str) -> Result<Option<Versioned>, Error> {
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

fn pool() -> Pool {
    let store = Arc::new(Hostile(MemoryStore::new()));
    let jobs = Machine::new().jobs;
    Pool::new(store, jobs, "{}".to_owned()).expect("the component is made for this machine")
}

fn ask(pool: &Pool, id: u64, method: &str, params: &Value) -> Value {
    let cx = Context {
        now: 1_800_000_000_000,
        principal: "uid:1000".to_owned(),
    };
    let body = request(id, method, params, Client::Tasks).to_string();
    match pool.message(&cx, &body) {
        Step::Reply(reply) => serde_json::from_str(&reply).expect("a reply is JSON"),
        other => panic!("{method} is answered at once: {other:?}"),
    }
}

#[test]
fn a_request_whose_instance_traps_is_answered_and_the_next_one_works() {
    let pool = pool();
    for id in [1, 2] {
        let reply = ask(&pool, id, "tasks/get", &json!({ "taskId": HUGE }));
        assert_eq!(reply["error"]["code"], -32603, "{reply}");
        assert_eq!(reply["id"], id);
        let reply = ask(&pool, id + 10, "tools/list", &json!({}));
        assert_eq!(reply["result"]["tools"][0]["name"], "run", "{reply}");
    }
}

#[test]
fn others_do_not_notice_that_an_instance_traps() {
    let pool = pool();
    thread::scope(|scope| {
        scope.spawn(|| ask(&pool, 1, "tasks/get", &json!({ "taskId": HUGE })));
        for id in 100..400 {
            let reply = ask(&pool, id, "tools/list", &json!({}));
            assert_eq!(reply["id"], id);
            assert!(reply["result"].is_object(), "{reply}");
        }
    });
}
