//! What becomes of calls where no instance can be made, and when an instance is replaced.
//!
//! An instance reserves 4 GiB of address space, of which a process can be given less. That is how instances are kept
//! from being made here, and how they are counted. Both concern the whole process: these tests run one at a time, and
//! are a program of their own.

#![cfg(target_os = "linux")]

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use backburner::store::{Change, Entry, Error, MemoryStore, Store, Versioned};
use backburner_tests::fake::Machine;
use backburner_tests::{
    Answer, Client, Embedded, PATIENCE, Server, TestDir, address_space_kib, assert_lists_tools,
    run_call, until,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;

const GIB: u64 = 1 << 30;

/// The task that [`Gated`] is slow to find.
const SLOW: &str = "00000000-0000-4000-8000-000000000000";

/// The address space of this process, for one test.
struct AddressSpace {
    before: Rlimit,
    _alone: MutexGuard<'static, ()>,
}

impl AddressSpace {
    fn of_this_test() -> Self {
        static ALONE: Mutex<()> = Mutex::new(());
        Self {
            _alone: ALONE.lock().unwrap_or_else(PoisonError::into_inner),
            before: getrlimit(Resource::As),
        }
    }

    /// Leaves room for threads and memory, and for no instance.
    fn leave_room_for_no_other_instance(&self) {
        self.limit(Some(used() + GIB));
    }

    /// Leaves so little that even when an instance is gone, no other one can take its place.
    fn leave_room_for_one_instance_less(&self) {
        self.limit(Some(used() - 2 * GIB));
    }

    fn leave_all(&self) {
        self.limit(self.before.current);
    }

    fn limit(&self, current: Option<u64>) {
        let limit = Rlimit {
            current,
            maximum: self.before.maximum,
        };
        setrlimit(Resource::As, limit).expect("a limit below the hard one can be set");
    }
}

impl Drop for AddressSpace {
    fn drop(&mut self) {
        self.leave_all();
    }
}

/// How much of the address space is taken, in bytes.
fn used() -> u64 {
    address_space_kib(std::process::id()) * 1024
}

/// Whether about an instance less is there than when `before` was taken.
fn is_one_less_than(before: u64) -> bool {
    used() + 3 * GIB < before
}

/// A store where who looks for [`SLOW`] waits until the test says what is found.
struct Gated {
    memory: MemoryStore,
    arrived: AtomicUsize,
    found: Mutex<Receiver<Option<String>>>,
}

impl Gated {
    fn new() -> (Arc<Self>, Sender<Option<String>>) {
        let (say, found) = channel();
        let gated = Arc::new(Self {
            memory: MemoryStore::new(),
            arrived: AtomicUsize::new(0),
            found: Mutex::new(found),
        });
        (gated, say)
    }

    fn wait_for_arrival(&self) {
        until(PATIENCE, "a call to look for the slow task", || {
            let arrived = self.arrived.load(Ordering::SeqCst);
            (arrived > 0).then_some(()).ok_or_else(String::new)
        });
    }
}

impl Store for Gated {
    fn get(&self, key: &str) -> Result<Option<Versioned>, Error> {
        if !key.ends_with(SLOW) {
            return self.memory.get(key);
        }
        self.arrived.fetch_add(1, Ordering::SeqCst);
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let found = found.recv_timeout(PATIENCE);
        let found = found.expect("the test says what is found");
        Ok(found.map(|value| Versioned { value, version: 1 }))
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Vec<Entry>, Error> {
        self.memory.scan(prefix, after, limit)
    }

    fn commit(&self, changes: &[Change]) -> Result<(), Error> {
        self.memory.commit(changes)
    }
}

/// A server whose only instance looks for [`SLOW`], and no other one can be made.
struct Busy {
    server: Embedded,
    say: Sender<Option<String>>,
    slow: Answer,
    waiting: Vec<(u64, Answer)>,
}

/// `waiting` calls wait for the instance.
fn busy(space: &AddressSpace, waiting: u64) -> Busy {
    let (store, say) = Gated::new();
    let server = Embedded::new(Arc::clone(&store) as Arc<_>, Machine::new().jobs, "{}");
    space.leave_room_for_no_other_instance();
    let slow = server.post(1, "tasks/get", &json!({ "taskId": SLOW }));
    store.wait_for_arrival();
    let waiting: Vec<_> = (10..10 + waiting)
        .map(|id| (id, server.post(id, "tools/list", &json!({}))))
        .collect();
    for (_, answer) in &waiting {
        answer.wait_until_asleep();
    }
    Busy {
        server,
        say,
        slow,
        waiting,
    }
}

#[test]
fn calls_for_which_no_instance_can_be_made_wait_for_one_that_is_lent() {
    let space = AddressSpace::of_this_test();
    let busy = busy(&space, 3);
    busy.say.send(None).expect("the slow call waits for this");
    let slow = busy.slow.reply();
    assert_eq!(slow["error"]["code"], -32602, "{slow}");
    for (id, answer) in busy.waiting {
        assert_lists_tools(&answer.reply(), id);
    }
}

#[test]
fn calls_end_where_the_only_instance_traps_and_none_can_be_made() {
    let space = AddressSpace::of_this_test();
    let busy = busy(&space, 3);
    // More than the 128 MiB that an instance may have. It is there before the limit, which forbids any more.
    let huge = "x".repeat(192 << 20);
    space.leave_room_for_one_instance_less();
    busy.say
        .send(Some(huge))
        .expect("the slow call waits for this");
    let waiting = busy.waiting.into_iter().map(|(_, answer)| answer);
    for answer in waiting.chain([busy.slow]) {
        // Nobody is there to read which request it was.
        let refused = answer.reply();
        assert_eq!(refused["error"]["code"], -32603, "{refused}");
        assert_eq!(refused.get("id"), None, "{refused}");
    }
    space.leave_all();
    busy.server.assert_alive();
}

#[test]
fn an_instance_that_had_to_grow_is_replaced_and_any_other_is_kept() {
    let _space = AddressSpace::of_this_test();
    let machine = Machine::new();
    let server = Embedded::new(machine.store, machine.jobs, "{}");
    let with_one = used();
    server.assert_alive();
    assert!(!is_one_less_than(with_one), "an ordinary call is nothing");
    // Beyond the 16 MiB that an idle instance may keep.
    let padding = "x".repeat(20 << 20);
    let reply = server.ask(1, "tools/list", &json!({ "padding": padding }));
    assert_lists_tools(&reply, 1);
    assert!(is_one_less_than(with_one), "{} of {with_one}", used());
    server.assert_alive();
    assert!(!is_one_less_than(with_one), "{} of {with_one}", used());
}

#[test]
fn an_instance_is_used_for_many_calls_and_not_for_ever() {
    let _space = AddressSpace::of_this_test();
    let machine = Machine::new();
    let server = Embedded::new(machine.store, machine.jobs, "{}");
    let with_one = used();
    let calls = (1..1000).find(|_| {
        server.assert_alive();
        is_one_less_than(with_one)
    });
    assert!(calls.is_some_and(|calls| calls > 100), "{calls:?} calls");
    server.assert_alive();
}

#[test]
fn a_server_with_address_space_for_one_instance_answers_everybody() {
    let _space = AddressSpace::of_this_test();
    let dir = TestDir::new();
    let mut command = Command::new("sh");
    command
        .args(["-c", "ulimit -v 6291456; exec \"$@\"", "sh"])
        .arg(backburner_tests::binary())
        .arg("--data-dir")
        .arg(dir.data())
        .arg("serve");
    let mut server = Server::spawn(&mut command);
    let asked: Vec<_> = (0..30)
        .flat_map(|_| {
            [
                server.post("tools/call", &run_call("echo done"), Client::Plain),
                server.post("tools/list", &json!({}), Client::Tasks),
            ]
        })
        .collect();
    for id in asked {
        let reply = server.reply(&json!(id));
        assert!(reply["result"].is_object(), "{reply}");
    }
    let words = server.close().stderr;
    let said = words.matches("messages wait for each other").count();
    assert_eq!(said, 1, "it is said, and not for each message: {words}");
}
