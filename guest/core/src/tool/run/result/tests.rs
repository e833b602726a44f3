//! What is said of every way in which a job can end.

use serde_json::{Value, json};

use super::{Running, finished, still_running};
use crate::imports::{End, JobOutcome, Loss, Process, Progress, StopCause, Stream};
use crate::text::written::Written;
use crate::tool::run::schema_check::misfit;
use crate::tool::run::{Policy, definition};
use crate::tool::{Ended, ToolResult};
use crate::wording::About;

const ID: &str = "5f0c2d0e-7c1a-4b57-9a39-0a8f6f1f2b11";

fn outcome(end: End) -> JobOutcome {
    JobOutcome {
        started_at: 1_785_242_096_789,
        ended_at: 1_785_242_099_989,
        duration_ms: 3_200,
        end,
        stopped: None,
        output_bytes: 0,
        dropped_bytes: 0,
        leftovers: Vec::new(),
    }
}

fn stopped(end: End, cause: StopCause) -> JobOutcome {
    JobOutcome {
        stopped: Some(cause),
        ..outcome(end)
    }
}

fn killed(signal: &str) -> End {
    End::Signalled {
        signal: signal.to_owned(),
        core_dumped: false,
    }
}

fn process(pid: u32, command: &str) -> Process {
    Process {
        pid,
        command: command.to_owned(),
    }
}

/// The result, after making sure that it conforms to the output schema.
fn conforming(result: ToolResult) -> (String, Value) {
    let structured = result
        .structured
        .expect("a result that was carried out has structured content");
    let found = misfit(&definition(&Policy::default())["outputSchema"], &structured);
    assert_eq!(found, None, "{structured}");
    (result.text, structured)
}

fn ended(outcome: &JobOutcome, timeout_ms: Option<u64>) -> Ended<'_> {
    Ended {
        id: ID,
        outcome,
        timeout_ms,
        about: About::Run,
    }
}

fn result_of(mut written: Written, outcome: JobOutcome) -> ToolResult {
    let outcome = JobOutcome {
        output_bytes: written.total,
        ..outcome
    };
    finished(&mut written, ended(&outcome, Some(2_000))).expect("the output can be read")
}

/// The summary of a job without output; only exit code 0 without a stop is no error.
fn check_summary(outcome: JobOutcome, expect: &str) {
    let succeeded = outcome.end == End::Exited(0) && outcome.stopped.is_none();
    let result = result_of(Written::nothing(), outcome);
    assert_eq!(result.is_error, !succeeded, "{expect}");
    let (text, _) = conforming(result);
    assert_eq!(text, format!("{expect}\n\n(no output)"));
}

fn check_structured(outcome: JobOutcome, expect: &Value) {
    let (_, structured) = conforming(result_of(Written::nothing(), outcome));
    for (name, value) in expect.as_object().expect("expectations are an object") {
        assert_eq!(&structured[name], value, "{name} of {structured}");
    }
}

#[test]
fn a_command_that_ended_by_itself_says_how() {
    check_summary(outcome(End::Exited(0)), "exit code 0 after 3.2 s");
    check_summary(outcome(End::Exited(137)), "exit code 137 after 3.2 s");
    check_summary(outcome(killed("SIGTERM")), "killed by SIGTERM after 3.2 s");
    check_summary(
        outcome(killed("SIGKILL")),
        "killed by SIGKILL after 3.2 s, neither by a timeout nor by a cancellation: who sent it is not known, \
         and one possibility is that the machine ran out of memory",
    );
    let crash = End::Signalled {
        signal: "SIGSEGV".to_owned(),
        core_dumped: true,
    };
    check_summary(outcome(crash), "killed by SIGSEGV after 3.2 s, core dumped");
}

#[test]
fn a_command_that_was_stopped_is_an_error_whatever_it_exited_with() {
    use StopCause::{Cancelled, Expired, ShutDown, TimedOut};
    let exited = || End::Exited(0);
    check_summary(
        stopped(killed("SIGKILL"), TimedOut),
        "stopped because its timeout of 2 s passed; ended after 3.2 s (killed by SIGKILL)",
    );
    check_summary(
        stopped(exited(), TimedOut),
        "stopped because its timeout of 2 s passed; ended after 3.2 s (exit code 0)",
    );
    check_summary(
        stopped(killed("SIGTERM"), Cancelled),
        "cancelled after 3.2 s (killed by SIGTERM)",
    );
    check_summary(
        stopped(exited(), Expired),
        "stopped after 3.2 s: its time to live passed (exit code 0)",
    );
    check_summary(
        stopped(exited(), ShutDown),
        "stopped after 3.2 s: its supervisor was asked to end, as at the machine's shutdown or with the job that it was started from (exit code 0)",
    );
}

#[test]
fn a_command_that_did_not_run_or_was_lost_is_an_error() {
    let missing = End::NotStarted("there is no program `nope`".to_owned());
    check_summary(
        outcome(missing),
        "could not be started: there is no program `nope`",
    );
    check_summary(
        stopped(End::NotStarted("a detail".to_owned()), StopCause::Cancelled),
        "stopped before it was executed: it was cancelled",
    );
    check_summary(
        stopped(End::Lost(Loss::NeverStarted), StopCause::Cancelled),
        "cancelled before it was started",
    );
    let advice = "check what it has left behind before you run it again, with a new idempotencyKey if you \
        gave one";
    let unfinished = |happened: &str| format!("{happened}; how far it got is not known: {advice}");
    let supervisor =
        unfinished("the process that supervised the job was killed, and the job with it");
    check_summary(outcome(End::Lost(Loss::Supervisor)), &supervisor);
    check_summary(
        stopped(End::Lost(Loss::Supervisor), StopCause::Cancelled),
        &format!("cancelled; {supervisor}"),
    );
    check_summary(
        outcome(End::Lost(Loss::Files)),
        &unfinished(
            "files of the job are missing or damaged in the server's data directory, and what was left of the \
             job was killed",
        ),
    );
    check_summary(
        outcome(End::Lost(Loss::Machine)),
        &unfinished("the machine was restarted while the job ran"),
    );
    check_summary(
        outcome(End::Lost(Loss::NeverStarted)),
        &format!(
            "there is no trace of the job: its server ended, or stood still for long, before starting it, unless \
             somebody deleted files of the server's data directory or the whole machine failed; {advice}"
        ),
    );
}

#[test]
fn output_follows_the_summary_and_is_sent_once() {
    let written = Written::text("\x1b[32mok\x1b[0m\n").then(Stream::Stderr, b"warning\n");
    let result = result_of(written, outcome(End::Exited(0)));
    let (text, structured) = conforming(result);
    assert_eq!(text, "exit code 0 after 3.2 s\n\nok\nwarning");
    assert!(!structured.to_string().contains("warning"));
    assert_eq!(structured["outputBytes"], 20);
    assert_eq!(structured["truncated"], false);
}

#[test]
fn output_that_shows_nothing_is_told_from_none() {
    let (text, _) = conforming(result_of(
        Written::text("\x1b[2J\n\n"),
        outcome(End::Exited(0)),
    ));
    assert_eq!(text, "exit code 0 after 3.2 s\n\n(no visible output)");
}

#[test]
fn long_output_is_bounded_and_said_to_be_truncated() {
    let lines: String = (1..=5_000)
        .map(|number| format!("line {number}\n"))
        .collect();
    let (text, structured) = conforming(result_of(Written::text(&lines), outcome(End::Exited(1))));
    assert_eq!(structured["truncated"], true);
    assert!(text.len() <= 32 * 1024 + "exit code 1 after 3.2 s\n\n".len());
    assert!(
        text.starts_with("exit code 1 after 3.2 s\n\nline 1\n") && text.ends_with("\nline 5000")
    );
}

#[test]
fn leftover_processes_are_named() {
    let with = |leftovers| JobOutcome {
        leftovers,
        ..outcome(End::Exited(0))
    };
    check_summary(
        with(vec![process(123, "sleep 30")]),
        "exit code 0 after 3.2 s\n1 process was still running when the command ended and was stopped: sleep 30 \
         (pid 123)",
    );
    check_summary(
        with((1..=7).map(|pid| process(pid, "a\nb")).collect()),
        "exit code 0 after 3.2 s\n7 processes were still running when the command ended and were stopped: \
         a b (pid 1), a b (pid 2), a b (pid 3), a b (pid 4), a b (pid 5) and 2 more",
    );
    check_summary(
        with((1..=20).map(|pid| process(pid, "a")).collect()),
        "exit code 0 after 3.2 s\nat least 20 processes were still running when the command ended, and all were stopped: \
         a (pid 1), a (pid 2), a (pid 3), a (pid 4), a (pid 5) and at least 15 more",
    );
    let long = with(vec![process(1, &"x".repeat(200))]);
    let expect = json!({"leftoverProcesses": [{"pid": 1, "command": "x".repeat(200)}]});
    check_structured(long, &expect);
}

#[test]
fn structured_content_tells_the_ends_apart() {
    let times = json!({
        "taskId": ID, "startedAt": "2026-07-28T12:34:56.789Z", "endedAt": "2026-07-28T12:34:59.989Z",
        "durationMs": 3_200, "leftoverProcesses": [],
    });
    check_structured(outcome(End::Exited(0)), &times);
    let exited = json!({
        "state": "exited", "exitCode": 3, "signal": null, "timedOut": false, "cancelled": false,
    });
    check_structured(outcome(End::Exited(3)), &exited);
    let timed_out = json!({
        "state": "signalled", "exitCode": null, "signal": "SIGTERM", "timedOut": true, "cancelled": false,
    });
    check_structured(stopped(killed("SIGTERM"), StopCause::TimedOut), &timed_out);
    let cancelled = json!({"state": "exited", "exitCode": 0, "timedOut": false, "cancelled": true});
    check_structured(stopped(End::Exited(0), StopCause::Cancelled), &cancelled);
    let not_started = json!({"state": "not_started", "startedAt": null, "exitCode": null});
    check_structured(outcome(End::NotStarted("why".to_owned())), &not_started);
    let lost =
        json!({"state": "lost", "durationMs": null, "startedAt": "2026-07-28T12:34:56.789Z"});
    check_structured(outcome(End::Lost(Loss::Machine)), &lost);
    let never = json!({"state": "lost", "startedAt": null});
    check_structured(outcome(End::Lost(Loss::NeverStarted)), &never);
}

#[test]
fn a_failure_to_read_is_no_result() {
    let mut written = Written::text("text");
    written.unreadable = true;
    let outcome = JobOutcome {
        output_bytes: 4,
        ..outcome(End::Exited(0))
    };
    assert!(finished(&mut written, ended(&outcome, None)).is_err());
}

fn progress(output_bytes: u64, stopping: Option<StopCause>) -> Progress {
    Progress {
        started_at: 1_785_242_096_789,
        running_ms: 30_000,
        output_bytes,
        last_output_at: None,
        stopping,
        questions: Vec::new(),
        prompt: None,
        report: None,
    }
}

/// What is said of a job that goes on, with and without a key and a command that shows it.
fn check_running(mut written: Written, progress: Option<&Progress>, expect: &str) -> Value {
    let without = Running {
        id: ID,
        progress,
        next_wait_ms: None,
        show_command: None,
        asks: None,
        tool: None,
        is_run_offered: true,
    };
    let with = Running {
        next_wait_ms: Some(30_000),
        show_command: Some("/bin/b show --data-dir '/a b'"),
        ..without
    };
    let tasks = "A client with the Tasks extension gets it from tasks/get with this id.";
    let (text, _) = conforming(still_running(&mut written, &without));
    assert_eq!(
        text,
        format!(
            "{expect}\n\nDo not call `run` again to get its result: that would start the command a second time. \
             Next time give an idempotencyKey: then the same call again goes on with the same task. {tasks}"
        )
    );
    let result = still_running(&mut written, &with);
    assert!(!result.is_error);
    let (text, structured) = conforming(result);
    assert_eq!(
        text,
        format!(
            "{expect}\n\nCall `run` again with exactly the same arguments and idempotencyKey to wait up to 30 s \
             more for its result; it is not started a second time. `/bin/b show --data-dir '/a b' {ID}` shows it, \
             in a terminal or as the command of another `run`. {tasks}"
        )
    );
    let at_once = Running {
        next_wait_ms: Some(0),
        ..with
    };
    let (text, _) = conforming(still_running(&mut written, &at_once));
    let begin = format!(
        "{expect}\n\nCall `run` again with exactly the same arguments and idempotencyKey to see whether it has ended; it \
         is not started a second time. `/bin/b"
    );
    assert!(text.starts_with(&begin), "{text}");
    structured
}

#[test]
fn a_job_that_goes_on_says_so_and_how_to_get_it() {
    let place = format!(", in the background, as task {ID}; it does not need this connection.");
    let structured = check_running(
        Written::nothing(),
        Some(&progress(0, None)),
        &format!("still running after 30 s, no output so far{place}"),
    );
    assert_eq!(structured["state"], "running");
    assert_eq!(structured["durationMs"], 30_000);
    assert_eq!(structured["startedAt"], "2026-07-28T12:34:56.789Z");
    assert_eq!(structured["endedAt"], Value::Null);
    assert_eq!(structured["truncated"], false);
    let structured = check_running(
        Written::text("one\n\x1b[1mtwo\n"),
        Some(&progress(12, Some(StopCause::Cancelled))),
        &format!(
            "being stopped after 30 s (it was cancelled), 12 bytes of output so far{place}\nlast line: two"
        ),
    );
    assert_eq!(structured["cancelled"], true);
    assert_eq!(structured["truncated"], true);
    let structured = check_running(
        Written::nothing(),
        None,
        &format!("the command is about to start{place}"),
    );
    assert_eq!(structured["startedAt"], Value::Null);
    assert_eq!(structured["outputBytes"], Value::Null);
}
