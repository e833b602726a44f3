//! A request whose job does not end for good: the real component, with jobs that play dead.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use tokio::sync::oneshot;
use uuid::Uuid;

use super::*;
use crate::engine::{Pending, Wake};
use crate::jobs::{Failure, Fragment, Jobs, Progress, Spec, StartError, State, StopReason};
use crate::limits::SHORTEST_WAIT;
use crate::requests::{Interruptions, asks, next_wake};
use crate::store::MemoryStore;

/// How long a client without Tasks waits here.
const LIMIT: Duration = Duration::from_secs(1);

/// Calls the tool as a client without Tasks.
const CALL: &str = concat!(
    r#"{"jsonrpc":"2.0","id":"it","method":"tools/call","params":{"#,
    r#""name":"run","arguments":{"command":"true"},"_meta":{"#,
    r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{}}}}"#,
);

/// Jobs whose supervisors are gone, and which are not over: a process of theirs cannot be killed.
#[derive(Default)]
struct Undead {
    looks: AtomicUsize,
    waits: AtomicUsize,
    /// Whether nothing is told of their ends all the same.
    is_silent: bool,
    /// Whether it is told that they ask something.
    asks: bool,
}

impl Jobs for Undead {
    fn start(&self, _: Uuid, _: &Spec) -> Result<(), StartError> {
        Ok(())
    }

    fn stop(&self, _: Uuid, _: StopReason) -> Result<(), Failure> {
        Ok(())
    }

    fn inspect(&self, _: Uuid) -> Result<State, Failure> {
        self.looks.fetch_add(1, Ordering::SeqCst);
        Ok(State::Running(Progress {
            started_at: now_ms(),
            running_ms: 0,
            output_bytes: 0,
            last_output_at: None,
            stopping: None,
            questions: Vec::new(),
            prompt: None,
            report: None,
        }))
    }

    fn read(&self, _: Uuid, _: u64, _: u32) -> Result<Vec<Fragment>, Failure> {
        Ok(Vec::new())
    }

    fn forget(&self, _: Uuid) -> Result<(), Failure> {
        Ok(())
    }

    fn ended(&self, _: Uuid) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        self.waits.fetch_add(1, Ordering::SeqCst);
        if self.is_silent {
            return Box::pin(std::future::pending());
        }
        Box::pin(std::future::ready(()))
    }

    fn asks(&self, _: Uuid) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        if self.asks {
            return Box::pin(std::future::ready(()));
        }
        Box::pin(std::future::pending())
    }
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    runtime.expect("timers need nothing").block_on(work)
}

/// A client of a server on these jobs, with room for so many open requests.
fn client(jobs: Arc<Undead>, open: usize) -> Client {
    let config = format!(
        r#"{{"directLimitMs":0,"syncLimitMs":{}}}"#,
        LIMIT.as_millis()
    );
    let pool = Pool::new(Arc::new(MemoryStore::new()), jobs, config);
    let pool = pool.expect("the embedded component starts");
    let server = Server::new(Arc::new(pool), 2, open).expect("a test has threads");
    server.client(Principal::new("uid:1000").expect("it is short"))
}

#[test]
fn a_job_that_ended_and_is_not_over_is_looked_at_seldom_and_answered_at_the_deadline() {
    let jobs = Arc::new(Undead::default());
    let begun = Instant::now();
    let client = client(Arc::clone(&jobs), 1);
    let reply = block_on(client.message(CALL)).expect("a call is answered");
    assert!(begun.elapsed() >= LIMIT, "{:?}: {reply}", begun.elapsed());
    assert!(
        reply.contains(r#""id":"it""#) && reply.contains(r#""isError":false"#),
        "{reply}"
    );
    // One look at once, one after each pause, and one when the time was up.
    let most = LIMIT.as_millis() / SHORTEST_WAIT.as_millis() + 2;
    let looks = jobs.looks.load(Ordering::SeqCst) as u128;
    assert!((2..=most).contains(&looks), "{looks} looks");
}

#[test]
fn a_request_that_must_not_wait_is_answered_at_once_with_what_is_known() {
    let jobs = Arc::new(Undead::default());
    let client = client(Arc::clone(&jobs), 0);
    let reply = block_on(client.message(CALL)).expect("a call is answered");
    assert!(reply.contains(r#""id":"it""#), "{reply}");
    assert_eq!(
        jobs.waits.load(Ordering::SeqCst),
        0,
        "nobody waited: {reply}"
    );
    assert_eq!(client.server().0.room.available_permits(), 0);
}

#[test]
fn an_answered_request_makes_room_for_the_next() {
    let client = client(Arc::default(), 1);
    for _ in 0..2 {
        block_on(client.message(CALL)).expect("a call is answered");
        assert_eq!(client.server().0.room.available_permits(), 1);
    }
}

/// What may interrupt a request, and who does it.
struct Interrupter {
    cancel: oneshot::Sender<()>,
    shut_down: watch::Sender<bool>,
    interruptions: Interruptions,
}

impl Interrupter {
    fn new() -> Self {
        let (cancel, cancelled) = oneshot::channel();
        let (shut_down, shutdown) = watch::channel(false);
        Self {
            cancel,
            shut_down,
            interruptions: Interruptions {
                cancelled,
                room: 1,
                shutdown,
                configured: None,
            },
        }
    }
}

/// Why a request goes on that looks at its job only after a pause that has no end.
fn why_it_goes_on(mut interruptions: Interruptions) -> Wake {
    let pending = Pending {
        request: "1".to_owned(),
        ticket: String::new(),
        jobs: vec![Uuid::nil().to_string()],
        deadline: 0,
        until_configured: false,
    };
    let jobs: Arc<dyn Jobs> = Arc::new(Undead::default());
    let pause = Some(Duration::MAX);
    let pause = (pause, asks(&jobs, &pending, 1));
    block_on(next_wake(&jobs, &pending, &mut interruptions, pause))
}

#[test]
fn between_two_looks_at_its_job_a_request_hears_that_it_is_taken_back() {
    let it = Interrupter::new();
    it.cancel.send(()).expect("it is waited for");
    assert_eq!(why_it_goes_on(it.interruptions), Wake::Cancelled);
}

#[test]
fn between_two_looks_at_its_job_a_request_hears_that_the_server_ends() {
    let it = Interrupter::new();
    it.shut_down.send_replace(true);
    assert_eq!(why_it_goes_on(it.interruptions), Wake::Shutdown);
}

#[test]
fn a_request_that_is_taken_back_is_not_answered_also_where_it_must_not_wait() {
    let mut it = Interrupter::new();
    it.interruptions.room = 0;
    it.cancel.send(()).expect("it is waited for");
    assert_eq!(why_it_goes_on(it.interruptions), Wake::Cancelled);
}

/// Why a request goes on that waits for jobs of this kind, so many, and may be told of the end of `room` of them; and
/// of how many it wanted to be told.
fn why_it_stops_waiting(jobs: Undead, number: usize, room: usize) -> (Wake, usize) {
    let mut it = Interrupter::new();
    it.interruptions.room = room;
    let pending = Pending {
        request: "1".to_owned(),
        ticket: String::new(),
        jobs: vec![Uuid::nil().to_string(); number],
        deadline: now_ms() + 3_600_000,
        until_configured: false,
    };
    let undead = Arc::new(jobs);
    let jobs: Arc<dyn Jobs> = Arc::clone(&undead) as _;
    let pause = (None, asks(&jobs, &pending, room));
    let why = block_on(next_wake(&jobs, &pending, &mut it.interruptions, pause));
    (why, undead.waits.load(Ordering::SeqCst))
}

#[test]
fn a_request_takes_no_more_descriptors_than_it_has_room_for() {
    let (why, waits) = why_it_stops_waiting(Undead::default(), 5, 2);
    assert_eq!((why, waits), (Wake::JobEnded, 2));
}

#[test]
fn jobs_of_whose_end_nobody_is_told_are_looked_at_now_and_then() {
    let silent = Undead {
        is_silent: true,
        ..Undead::default()
    };
    let (why, waits) = why_it_stops_waiting(silent, 5, 2);
    assert_eq!((why, waits), (Wake::JobEnded, 2));
}

#[test]
fn a_request_goes_on_when_its_job_asks() {
    let asking = Undead {
        is_silent: true,
        asks: true,
        ..Undead::default()
    };
    let (why, waits) = why_it_stops_waiting(asking, 2, 2);
    assert_eq!((why, waits), (Wake::JobEnded, 2));
}
