//! Tasks as the Tasks extension writes them.
//!
//! *Source:* SEP-2663, Tasks, and Task Creation.

use std::borrow::Cow;

use serde::Serialize;

use super::asking::View;
use super::call_result::CallResult;
use super::poll_interval::poll_interval_ms;
use super::record::{Ending, Facts, TaskError, Terminal};
use super::{Durable, status_message};
use crate::input::Requests;
use crate::rpc::reply::{COMPLETE, Typed, typed};
use crate::text::iso8601;

/// The members of a `Task`, and of a `DetailedTask` where it has ended.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Task<'a> {
    task_id: &'a str,
    status: Status,
    status_message: Cow<'a, str>,
    created_at: String,
    last_updated_at: String,
    ttl_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    poll_interval_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_requests: Option<&'a Requests>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Typed<'static, &'a CallResult>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a TaskError>,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Working,
    InputRequired,
    Completed,
    Failed,
    Cancelled,
}

/// A task that was just created. Says `working` whatever became of the job meanwhile: the task begins so, and the
/// client asks next.
pub(crate) fn created(facts: &Durable<Facts>, now: u64) -> Task<'_> {
    working(facts, now, status_message::STARTED)
}

/// The handle of a task that an earlier call created and that nobody knows to have ended.
pub(crate) fn created_earlier(facts: &Durable<Facts>, now: u64) -> Task<'_> {
    working(facts, now, status_message::started_earlier(facts.about()))
}

/// A task whose job runs.
pub(crate) fn working<'a>(
    facts: &'a Durable<Facts>,
    now: u64,
    status_message: &'a str,
) -> Task<'a> {
    Task {
        status: Status::Working,
        status_message: labelled(facts, status_message),
        // Moves with every look, as the message does; never before the creation, whatever the clock does.
        last_updated_at: iso8601(now.max(facts.created_at)),
        poll_interval_ms: Some(poll_interval_ms(now.saturating_sub(facts.created_at))),
        ..base(facts)
    }
}

/// A task whose job runs, as somebody sees it who may be asked what it asks.
pub(crate) fn viewed<'a>(facts: &'a Durable<Facts>, now: u64, view: &'a View) -> Task<'a> {
    let task = working(facts, now, &view.message);
    if view.requests.0.is_empty() {
        return task;
    }
    Task {
        status: Status::InputRequired,
        input_requests: Some(&view.requests),
        ..task
    }
}

/// A task that has ended.
pub(crate) fn ended<'a>(facts: &'a Durable<Facts>, terminal: &'a Terminal) -> Task<'a> {
    let task = Task {
        status_message: labelled(facts, &terminal.status_message),
        // The host's clock may have been set back since the call.
        last_updated_at: iso8601(terminal.ended_at.max(facts.created_at)),
        ..base(facts)
    };
    match &terminal.ending {
        Ending::Completed(result) => Task {
            status: Status::Completed,
            result: Some(typed(COMPLETE, result)),
            ..task
        },
        Ending::Failed(error) => Task {
            status: Status::Failed,
            error: Some(error),
            ..task
        },
        Ending::Cancelled => Task {
            status: Status::Cancelled,
            ..task
        },
    }
}

/// The handle of a task that has ended before its caller was told of it: its true status, and nothing that a handle
/// must not carry. The result comes from `tasks/get`, as that of any task.
///
/// *Source:* SEP-2663, Task Creation: the seed state is "typically (though not necessarily)" `working`.
pub(crate) fn handle<'a>(facts: &'a Durable<Facts>, terminal: &'a Terminal) -> Task<'a> {
    Task {
        result: None,
        error: None,
        ..ended(facts, terminal)
    }
}

fn base(facts: &Facts) -> Task<'_> {
    Task {
        task_id: facts.id.as_str(),
        status: Status::Working,
        status_message: Cow::Borrowed(""),
        created_at: iso8601(facts.created_at),
        last_updated_at: String::new(),
        ttl_ms: facts.ttl_ms,
        poll_interval_ms: None,
        input_requests: None,
        result: None,
        error: None,
    }
}

/// A message that begins with what the caller called the task: no other member of a task could carry it.
fn labelled<'a>(facts: &Facts, message: &'a str) -> Cow<'a, str> {
    match &facts.label {
        None => Cow::Borrowed(message),
        Some(label) => Cow::Owned(format!("{label}: {message}")),
    }
}
