//! What these jobs keep of the promises of `Jobs`.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use backburner::store::MemoryStore;
use backburner_tests::conformance::{Check, Subject, checks};

use super::*;

mod corpus;

/// Says nothing but what it was given.
fn echo(output: Output, call: Call) -> Running {
    Box::pin(async move {
        output.line(&format!("{:?}", call.arguments));
        output.line(&format!("{:?}", call.variables));
        output.line(&format!("{:?}", call.stdin));
        End::Exited { code: 0 }
    })
}

/// Panics where it is called.
fn broken(_output: Output, _call: Call) -> Running {
    panic!("this function is broken")
}

/// Panics after it has waited.
fn breaking(output: Output, _call: Call) -> Running {
    Box::pin(break_down(output))
}

async fn break_down(output: Output) -> End {
    output.line("before");
    tokio::task::yield_now().await;
    panic!("this function breaks")
}

/// Writes more than anybody keeps.
fn torrent(output: Output, _call: Call) -> Running {
    Box::pin(async move {
        output.line("first");
        for _ in 0..10_000 {
            output.line("0123456789");
        }
        output.line("last");
        End::Exited { code: 0 }
    })
}

/// Asks a question of as many bytes as its argument says, 33 times at once, and says how often that was refused at
/// once.
fn curious(output: Output, call: Call) -> Running {
    Box::pin(async move {
        let bytes: usize = call.arguments[0].parse().expect("it is a number");
        let form = "?".repeat(bytes);
        let refused = {
            let mut asked: Vec<_> = (0..33).map(|_| Box::pin(output.ask(&form))).collect();
            let mut cx = Context::from_waker(Waker::noop());
            let looks = asked.iter_mut().map(|it| it.as_mut().poll(&mut cx));
            looks.filter(|it| matches!(it, Poll::Ready(Err(_)))).count()
        };
        output.line(&refused.to_string());
        End::Exited { code: 0 }
    })
}

/// Waits for ever.
fn patient(_output: Output, _call: Call) -> Running {
    Box::pin(std::future::pending())
}

fn jobs(runtime: Handle) -> FunctionJobs {
    let functions = [
        ("echo", echo as Function),
        ("broken", broken),
        ("breaking", breaking),
        ("torrent", torrent),
        ("curious", curious),
        ("patient", patient),
    ];
    FunctionJobs::new(by_name(functions.into()), runtime)
}

fn spec(line: &str) -> Spec {
    Spec {
        command: Command::Shell(line.to_owned()),
        directory: None,
        environment: Vec::new(),
        stdin: String::new(),
        interactive: false,
        timeout_ms: None,
        lifetime_ms: None,
        grace_ms: 0,
        output_limit_bytes: 4096,
    }
}

/// Runs a job to its end, and gives how it ended, why it was stopped, and what it wrote.
async fn run(spec: &Spec) -> (End, Option<StopCause>, String) {
    let jobs = jobs(Handle::current());
    let id = Uuid::new_v4();
    jobs.start(id, spec).expect("it can be started");
    jobs.ended(id).await;
    let Ok(State::Ended(outcome)) = jobs.inspect(id) else {
        panic!("it has ended")
    };
    let output = jobs.read(id, 0, 262_144).expect("nothing fails in memory");
    let kept: u64 = output.iter().map(|it| it.bytes.len() as u64).sum();
    assert_eq!(outcome.output_bytes - outcome.dropped_bytes, kept);
    let bytes = output.into_iter().flat_map(|it| it.bytes).collect();
    let text = String::from_utf8(bytes).expect("lines are text");
    (outcome.end, outcome.stopped, text)
}

#[tokio::test]
async fn a_function_that_panics_has_ended() {
    let panicked = End::Exited { code: 101 };
    let found = run(&spec("broken")).await;
    assert_eq!(found, (panicked.clone(), None, String::new()));
    let found = run(&spec("breaking")).await;
    assert_eq!(found, (panicked, None, "before\n".to_owned()));
}

#[tokio::test]
async fn a_job_of_a_function_that_panicked_can_be_forgotten() {
    let jobs = jobs(Handle::current());
    let id = Uuid::new_v4();
    jobs.start(id, &spec("broken")).expect("it can be started");
    jobs.ended(id).await;
    jobs.stop(id, StopReason::Cancelled).expect("it has ended");
    jobs.forget(id).expect("it has ended");
    assert_eq!(jobs.inspect(id), Ok(State::Unknown));
}

#[test]
fn a_job_whose_runtime_ends_is_lost() {
    let runtimes = [
        tokio::runtime::Runtime::new(),
        // This one runs nothing before it ends.
        tokio::runtime::Builder::new_current_thread().build(),
    ];
    for runtime in runtimes {
        let runtime = runtime.expect("a runtime can be made");
        let jobs = jobs(runtime.handle().clone());
        let id = Uuid::new_v4();
        jobs.start(id, &spec("patient")).expect("it can be started");
        drop(runtime);
        let Ok(State::Ended(outcome)) = jobs.inspect(id) else {
            panic!("it has ended")
        };
        let kind = Loss::Supervisor;
        assert_eq!(outcome.end, End::Lost { kind });
    }
}

#[tokio::test]
async fn of_more_output_than_the_limit_beginning_and_end_are_kept() {
    let (end, _, text) = run(&spec("torrent")).await;
    assert_eq!(end, End::Exited { code: 0 });
    assert_eq!(text.len(), 4096);
    assert!(text.starts_with("first\n0123456789\n"), "{text}");
    assert!(text.ends_with("0123456789\nlast\n"), "{text}");
}

#[tokio::test]
async fn a_function_asks_no_more_than_the_interface_allows() {
    for (line, refused) in [("curious 65536", "1\n"), ("curious 65537", "33\n")] {
        let (_, _, text) = run(&spec(line)).await;
        assert_eq!(text, refused, "{line}");
    }
}

#[tokio::test]
async fn a_function_gets_what_a_process_would() {
    let variables = [("A", "1"), ("B", "b"), ("A", "2")];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let words = ["echo", "a b", ""].map(str::to_owned);
    let spec = Spec {
        command: Command::Program(words.to_vec()),
        environment: variables.to_vec(),
        stdin: "read me".to_owned(),
        ..spec("")
    };
    let (_, _, text) = run(&spec).await;
    let wanted = "[\"a b\", \"\"]\n{\"A\": \"2\", \"B\": \"b\"}\n\"read me\"\n";
    assert_eq!(text, wanted);
}

#[tokio::test]
async fn what_cannot_be_carried_out_is_refused_and_the_id_stays_unknown() {
    let jobs = jobs(Handle::current());
    let id = Uuid::new_v4();
    let in_directory = Spec {
        directory: Some("/tmp".to_owned()),
        ..spec("echo")
    };
    let at_terminal = Spec {
        interactive: true,
        ..spec("echo")
    };
    for refused in [in_directory, at_terminal, spec("launch"), spec("")] {
        let found = jobs.start(id, &refused);
        let is_bad = matches!(found, Err(StartError::BadSpec(_)));
        assert!(is_bad, "{refused:?}: {found:?}");
        assert_eq!(jobs.inspect(id), Ok(State::Unknown));
    }
    jobs.start(id, &spec("echo")).expect("the id is free");
    let again = jobs.start(id, &spec("launch"));
    assert!(matches!(again, Err(StartError::AlreadyKnown)), "{again:?}");
}

#[tokio::test]
async fn limits_stop_a_function_and_say_which_it_was() {
    let limited = |timeout_ms, lifetime_ms| Spec {
        timeout_ms,
        lifetime_ms,
        ..spec("patient")
    };
    let (_, cause, _) = run(&limited(Some(1), None)).await;
    assert_eq!(cause, Some(StopCause::TimedOut));
    let (_, cause, _) = run(&limited(Some(3_600_000), Some(1))).await;
    assert_eq!(cause, Some(StopCause::Expired));
}

#[test]
fn what_the_kit_asks_of_jobs_of_any_kind_is_kept() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be made");
    let store = Arc::new(MemoryStore::new());
    let jobs = Arc::new(jobs(runtime.handle().clone()));
    let subject = Subject {
        open: Box::new(move || (Arc::clone(&store) as _, Arc::clone(&jobs) as _)),
        offers: Vec::new(),
    };
    let of_jobs = |check: &Check| check.name.starts_with("jobs/") && subject.can_run(check);
    let runnable: Vec<Check> = checks().into_iter().filter(of_jobs).collect();
    assert!(runnable.len() >= 4, "{runnable:?}");
    let breaches = subject.breaches(&runnable);
    assert!(breaches.is_empty(), "{breaches:#?}");
}
