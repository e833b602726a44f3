//! A pool of instances as a program sees it that embeds one: messages in, replies out, no transport between them.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::{self, JoinHandle};

use backburner::engine::{Context, Pool, Step};
use backburner::jobs::Jobs;
use backburner::store::Store;
use serde_json::{Value, json};

use crate::deadline::{PATIENCE, until};
use crate::message::{Client, request};

/// A pool, and the client with the Tasks extension that asks it.
#[derive(Debug)]
pub struct Embedded {
    pool: Arc<Pool>,
}

/// What a call of a pool on a thread of its own comes to.
#[derive(Debug)]
pub struct Answer {
    worker: JoinHandle<Step>,
    /// What `/proc` knows of the thread.
    thread: PathBuf,
}

impl Embedded {
    /// A pool on this store and these jobs; `config` is for the component.
    ///
    /// # Panics
    /// Where the component does not load or refuses `config`.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, jobs: Arc<dyn Jobs>, config: &str) -> Self {
        let pool = Pool::new(store, jobs, config.to_owned());
        Self {
            pool: Arc::new(pool.expect("the embedded component starts")),
        }
    }

    /// The reply to a request.
    ///
    /// # Panics
    /// Where it is not answered at once.
    #[must_use]
    pub fn ask(&self, id: u64, method: &str, params: &Value) -> Value {
        reply(message(&self.pool, id, method, params))
    }

    /// Asks on a thread of its own.
    ///
    /// # Panics
    /// Where the system has no thread left, or no `/proc`.
    #[must_use]
    pub fn post(&self, id: u64, method: &str, params: &Value) -> Answer {
        let (pool, method, params) = (Arc::clone(&self.pool), method.to_owned(), params.clone());
        let (sender, name) = channel();
        let worker = thread::spawn(move || {
            let name = fs::read_link("/proc/thread-self");
            sender.send(name).expect("whoever posts waits for this");
            message(&pool, id, &method, &params)
        });
        let name = name.recv().expect("the thread begins with this");
        let name = name.expect("Linux tells a thread its name in /proc");
        Answer {
            worker,
            thread: PathBuf::from("/proc").join(name),
        }
    }

    /// Asks something that every server answers.
    ///
    /// # Panics
    /// Where it does not.
    pub fn assert_alive(&self) {
        assert_lists_tools(&self.ask(7, "tools/list", &json!({})), 7);
    }
}

impl Answer {
    /// Waits until the call sleeps. Where it has nothing to do but to wait, that is where it got to.
    ///
    /// # Panics
    /// Where it does not sleep, or has come to something already.
    pub fn wait_until_asleep(&self) {
        until(PATIENCE, "a call to wait", || {
            let stat = fs::read_to_string(self.thread.join("stat"))
                .unwrap_or_else(|error| panic!("the call does not wait: {error}"));
            // The name, in parentheses, may contain anything; what follows it is the state.
            match stat.rsplit_once(") ") {
                Some((_, state)) if state.starts_with('S') => Ok(()),
                _ => Err(stat),
            }
        });
    }

    /// Whether the call is still at work.
    #[must_use]
    pub fn is_outstanding(&self) -> bool {
        !self.worker.is_finished()
    }

    /// What the call comes to; its thread has ended then.
    ///
    /// # Panics
    /// Where it comes to nothing in [`PATIENCE`].
    #[must_use]
    pub fn step(self) -> Step {
        until(PATIENCE, "a call to come to an end", || {
            if self.is_outstanding() {
                return Err("it is outstanding".to_owned());
            }
            Ok(())
        });
        self.worker.join().expect("a pool does not panic")
    }

    /// The reply that the call gives.
    ///
    /// # Panics
    /// Where it comes to something else, or to nothing in [`PATIENCE`].
    #[must_use]
    pub fn reply(self) -> Value {
        reply(self.step())
    }
}

/// Asserts that this answers the `tools/list` with this id.
///
/// # Panics
/// Where it does not.
pub fn assert_lists_tools(reply: &Value, id: u64) {
    assert_eq!(reply["id"], id, "{reply}");
    assert_eq!(reply["result"]["tools"][0]["name"], "run", "{reply}");
}

fn message(pool: &Pool, id: u64, method: &str, params: &Value) -> Step {
    let cx = || Context {
        now: 1_800_000_000_000,
        principal: "uid:1000".to_owned(),
    };
    let body = request(id, method, params, Client::Tasks).to_string();
    pool.message(cx, &body)
}

fn reply(step: Step) -> Value {
    match step {
        Step::Reply(reply) => serde_json::from_str(&reply).expect("a reply is JSON"),
        other => panic!("the request is not answered: {other:?}"),
    }
}
