//! What a call of `run` gives back.

use super::{structured, summary};
use crate::imports::{End, Failure, JobOutcome, Jobs, Progress};
use crate::text::{Excerpt, last_line, output};
use crate::tool::configured::Recorded;
use crate::tool::{Ended, ToolResult};

/// A job that goes on, and what its caller can do about it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Running<'a> {
    /// The task's id.
    pub(crate) id: &'a str,
    /// What is known of the job; `None` where it is about to start, or nothing is known.
    pub(crate) progress: Option<&'a Progress>,
    /// How long the same call again would wait for it, in milliseconds; `None` where it has no idempotency key, and
    /// would start another job.
    pub(crate) next_wait_ms: Option<u64>,
    /// The shell command that shows the task when a space and its id are appended; `None` where there is none.
    pub(crate) show_command: Option<&'a str>,
    /// What it asks, and how a person answers that; `None` where it asks nothing.
    pub(crate) asks: Option<&'a str>,
    /// The configured tool that was called; `None` for `run`.
    pub(crate) tool: Option<&'a Recorded>,
    /// Whether there is the tool `run`, whichever was called.
    pub(crate) is_run_offered: bool,
}

/// The result of a job that has ended: a summary, then its output as a terminal would show it.
///
/// The summary comes first: there it stays where a client cuts long results, and no output can pass for it.
///
/// # Errors
/// [`Failure`] where the host could not read the output.
pub(crate) fn finished(jobs: &mut impl Jobs, ended: Ended<'_>) -> Result<ToolResult, Failure> {
    let Ended { id, outcome, .. } = ended;
    let shown = output(jobs, id, outcome)?;
    let text = format!("{}\n\n{}", summary::ended(ended), visible(&shown, outcome));
    Ok(ToolResult {
        text,
        structured: Some(structured::ended(id, outcome, &shown)),
        is_error: !succeeded(outcome),
    })
}

/// The result for a caller that cannot wait longer, and cannot be given a task.
///
/// Without progress the job is about to start.
pub(crate) fn still_running(jobs: &mut impl Jobs, running: &Running<'_>) -> ToolResult {
    let line = running
        .progress
        .and_then(|progress| last_line(jobs, running.id, progress.output_bytes));
    let text = summary::running(running, line.as_deref());
    match running.tool {
        None => ToolResult {
            text,
            structured: Some(structured::running(running.id, running.progress)),
            is_error: false,
        },
        // Where a schema says what a result has, only a failure may lack it.
        Some(tool) => ToolResult {
            text,
            structured: None,
            is_error: tool.output_schema.is_some(),
        },
    }
}

fn visible<'a>(shown: &'a Excerpt, outcome: &JobOutcome) -> &'a str {
    match (shown.text.as_str(), outcome.output_bytes) {
        ("", 0) => "(no output)",
        ("", _) => "(no visible output)",
        (text, _) => text,
    }
}

/// A command that was stopped did not do what was asked, even where it caught the signal and exited with 0.
pub(crate) fn succeeded(outcome: &JobOutcome) -> bool {
    outcome.end == End::Exited(0) && outcome.stopped.is_none()
}

#[cfg(test)]
mod tests;
