//! What a program reads of a result: `structuredContent`.
//!
//! The output itself is not in it. It is in the text, and sending it twice would double what a model reads.

use serde::Serialize;
use serde_json::{Value, json};

use super::schema::closed_object;
use crate::imports::{End, JobOutcome, Loss, Process, Progress, StopCause};
use crate::text::{Excerpt, iso8601};

/// One form for every state, so that it conforms to one schema.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Structured<'a> {
    task_id: &'a str,
    state: State,
    exit_code: Option<u8>,
    signal: Option<&'a str>,
    timed_out: bool,
    cancelled: bool,
    started_at: Option<String>,
    ended_at: Option<String>,
    duration_ms: Option<u64>,
    output_bytes: Option<u64>,
    truncated: bool,
    leftover_processes: Vec<Leftover<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Running,
    Exited,
    Signalled,
    NotStarted,
    Lost,
}

#[derive(Debug, Serialize)]
struct Leftover<'a> {
    pid: u32,
    command: &'a str,
}

/// The facts about a job that has ended, of whose output `shown` is what the text shows.
pub(super) fn ended(id: &str, outcome: &JobOutcome, shown: &Excerpt) -> Value {
    let never_ran = matches!(
        outcome.end,
        End::NotStarted(_) | End::Lost(Loss::NeverStarted)
    );
    // A job whose end nobody saw has no duration, which the host reports as 0.
    let is_timed = !matches!(outcome.end, End::Lost(_));
    value(&Structured {
        task_id: id,
        state: state(&outcome.end),
        exit_code: exit_code(&outcome.end),
        signal: signal(&outcome.end),
        timed_out: outcome.stopped == Some(StopCause::TimedOut),
        cancelled: outcome.stopped == Some(StopCause::Cancelled),
        started_at: (!never_ran).then(|| iso8601(outcome.started_at)),
        ended_at: Some(iso8601(outcome.ended_at)),
        duration_ms: is_timed.then_some(outcome.duration_ms),
        output_bytes: Some(outcome.output_bytes),
        truncated: shown.shortened,
        leftover_processes: outcome.leftovers.iter().map(leftover).collect(),
    })
}

/// The facts about a job that goes on, of whose output the text shows nothing.
pub(super) fn running(id: &str, progress: Option<&Progress>) -> Value {
    let stopping = progress.and_then(|progress| progress.stopping);
    value(&Structured {
        task_id: id,
        state: State::Running,
        exit_code: None,
        signal: None,
        timed_out: stopping == Some(StopCause::TimedOut),
        cancelled: stopping == Some(StopCause::Cancelled),
        started_at: progress.map(|progress| iso8601(progress.started_at)),
        ended_at: None,
        duration_ms: progress.map(|progress| progress.running_ms),
        output_bytes: progress.map(|progress| progress.output_bytes),
        truncated: progress.is_some_and(|progress| progress.output_bytes > 0),
        leftover_processes: Vec::new(),
    })
}

/// The JSON Schema of both.
pub(super) fn schema() -> Value {
    closed_object([end_schemas(), measure_schemas()], |_| true)
}

/// What the job is, and how it ended.
fn end_schemas() -> Value {
    json!({
        "taskId": {"type": "string", "description": "The id of the task, a UUID."},
        "state": {
            "enum": [State::Running, State::Exited, State::Signalled, State::NotStarted, State::Lost],
            "description": "running: it goes on. exited: it ended with an exit code. signalled: a signal \
                killed it. not_started: it could not be executed. lost: nobody saw how it ended.",
        },
        "exitCode": {
            "type": ["integer", "null"], "minimum": 0, "maximum": 255,
            "description": "The exit code; null unless state is exited.",
        },
        "signal": {
            "type": ["string", "null"],
            "description": "The name of the signal, such as SIGKILL; null unless state is signalled.",
        },
        "timedOut": {
            "type": "boolean",
            "description": "Whether it was stopped because timeoutSeconds passed.",
        },
        "cancelled": {
            "type": "boolean",
            "description": "Whether it was stopped because it was cancelled.",
        },
        "leftoverProcesses": {
            "type": "array", "items": leftover_schema(),
            "description": "Processes that still ran when the command had ended, and were then stopped; \
                at most 20.",
        },
    })
}

/// When it ran, and how much it wrote.
fn measure_schemas() -> Value {
    json!({
        "startedAt": {
            "type": ["string", "null"],
            "description": "When it started, RFC 3339 in UTC; null where it has not.",
        },
        "endedAt": {
            "type": ["string", "null"],
            "description": "When the last process of it ended, RFC 3339 in UTC; null while it runs.",
        },
        "durationMs": {
            "type": ["integer", "null"], "minimum": 0,
            "description": "How long it ran, or has run, in milliseconds; null where that is not known.",
        },
        "outputBytes": {
            "type": ["integer", "null"], "minimum": 0,
            "description": "How many bytes it wrote to stdout and stderr; null where that is not known.",
        },
        "truncated": {
            "type": "boolean",
            "description": "Whether it wrote more than the text shows; while it runs that is the last line \
                at most, so that any output makes this true.",
        },
    })
}

fn leftover_schema() -> Value {
    let properties = json!({
        "pid": {"type": "integer", "minimum": 1, "description": "The process id it had."},
        "command": {"type": "string", "description": "Its command line, at most 200 characters."},
    });
    closed_object([properties], |_| true)
}

fn state(end: &End) -> State {
    match end {
        End::Exited(_) => State::Exited,
        End::Signalled { .. } => State::Signalled,
        End::NotStarted(_) => State::NotStarted,
        End::Lost(_) => State::Lost,
    }
}

fn exit_code(end: &End) -> Option<u8> {
    match end {
        End::Exited(code) => Some(*code),
        End::Signalled { .. } | End::NotStarted(_) | End::Lost(_) => None,
    }
}

fn signal(end: &End) -> Option<&str> {
    match end {
        End::Signalled { signal, .. } => Some(signal),
        End::Exited(_) | End::NotStarted(_) | End::Lost(_) => None,
    }
}

fn leftover(process: &Process) -> Leftover<'_> {
    Leftover {
        pid: process.pid,
        command: &process.command,
    }
}

fn value(structured: &Structured<'_>) -> Value {
    serde_json::to_value(structured)
        .expect("only maps with keys that are no strings and failing impls make this fail, and it has neither")
}
