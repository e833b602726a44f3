//! A request whose job does not end for good: the real component, with jobs that play dead.

use std::io::{Cursor, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::super::blocking::Blocking;
use super::super::connection::Parts;
use super::super::input::Lines;
use super::super::output::Output;
use super::*;
use crate::clock::now_ms;
use crate::engine::Pool;
use crate::jobs::{Failure, Fragment, Jobs, Progress, Spec, StartError, State, StopReason};
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
        }))
    }

    fn read(&self, _: Uuid, _: u64, _: u32) -> Result<Vec<Fragment>, Failure> {
        Ok(Vec::new())
    }

    fn forget(&self, _: Uuid) -> Result<(), Failure> {
        Ok(())
    }

    fn ended(&self, _: Uuid) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        Box::pin(std::future::ready(()))
    }
}

/// What a client would have read.
#[derive(Clone, Default)]
struct Replies(Arc<Mutex<Vec<u8>>>);

impl Write for Replies {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut replies = self.0.lock().expect("nothing panics while it writes");
        replies.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Has one message answered, and gives all that a client would have read.
fn answered(jobs: Arc<Undead>, message: &'static str) -> String {
    let config = format!(r#"{{"syncLimitMs":{}}}"#, LIMIT.as_millis());
    let pool = Pool::new(Arc::new(MemoryStore::new()), jobs, config);
    let replies = Replies::default();
    let (connection, events) = Connection::new(Parts {
        pool: Arc::new(pool.expect("the embedded component starts")),
        blocking: Blocking::start(1).expect("a test has threads"),
        principal: "uid:1000".to_owned(),
        input: Lines::new(Box::new(Cursor::new(message)), message.len()),
        output: Output::new(replies.clone()),
        workers: 1,
    });
    connection.start_worker().expect("a test has threads");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    runtime.expect("timers need nothing").block_on(async {
        // Nobody shuts down.
        let (_shutdown, ending) = watch::channel(false);
        tokio::spawn(Waits::new(Arc::clone(&connection), ending).run(events));
        connection.ended().await;
        connection.idle().await;
    });
    let replies = replies.0.lock().expect("nothing panics while it writes");
    String::from_utf8_lossy(&replies).into_owned()
}

#[test]
fn a_job_that_ended_and_is_not_over_is_looked_at_seldom_and_answered_at_the_deadline() {
    let jobs = Arc::new(Undead::default());
    let begun = Instant::now();
    let reply = answered(Arc::clone(&jobs), CALL);
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
