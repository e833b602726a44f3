//! What a task's `statusMessage` says.

use crate::imports::{JobOutcome, Jobs, Progress, StopCause};
use crate::limits::START_USUAL_MS;
use crate::text::{duration, last_line, revealed};
use crate::wording::{self, About};

use super::TaskId;
use super::record::Facts;

/// What a new task says.
pub(crate) const STARTED: &str = "the job was started";

/// What the handle says that a repeated call gets, as nothing was started for it.
pub(crate) fn started_earlier(about: About) -> &'static str {
    match about {
        About::Run => {
            "the earlier call with this idempotencyKey started the job; nothing was run now"
        }
        About::Configured => {
            "the earlier call with the same key, which is made of the arguments, started the job; nothing was run now"
        }
    }
}

/// What a task says at `now`, in milliseconds since 1970, whose job is not known yet. Some time after its call there is
/// another reason for that: somebody deleted the job's files while it ran.
pub(crate) fn starting(facts: &Facts, now: u64) -> &'static str {
    if now.saturating_sub(facts.created_at) < START_USUAL_MS {
        "the job is about to start"
    } else {
        "there is no trace of the job so far: it is about to start, or its files are missing in the server's data directory; \
         in a few seconds that is certain"
    }
}

/// What a task says whose job cannot be looked at, for this reason.
pub(crate) fn untold(detail: &str) -> String {
    format!("how it goes cannot be told now: {}", revealed(detail))
}

/// What a job is doing, and what it last said of itself, or else the last line that it wrote.
pub(crate) fn working(jobs: &mut impl Jobs, id: &TaskId, progress: &Progress) -> String {
    if let Some(cause) = progress.stopping {
        return wording::stopping(progress.running_ms, cause);
    }
    let elapsed = duration(progress.running_ms);
    if let Some(report) = progress.report.as_ref().and_then(wording::reported) {
        return format!("running for {elapsed}; progress: {report}");
    }
    match last_line(jobs, id.as_str(), progress.output_bytes) {
        Some(line) => format!("running for {elapsed}; last line: {line}"),
        None => format!("running for {elapsed}; no output yet"),
    }
}

/// How a job was cancelled, and where it was: such a task has no result that would say so.
pub(crate) fn cancelled(jobs: &mut impl Jobs, facts: &Facts, outcome: &JobOutcome) -> String {
    let words = wording::end(&as_cancelled(outcome), None, facts.about());
    with_last_line(jobs, &facts.id, outcome, words)
}

/// The outcome of a job whose task was cancelled. One that was cancelled before its job was known may have been
/// lost without having been stopped.
pub(crate) fn as_cancelled(outcome: &JobOutcome) -> JobOutcome {
    JobOutcome {
        stopped: Some(StopCause::Cancelled),
        ..outcome.clone()
    }
}

/// Words and the last line of a job that left no result.
pub(crate) fn with_last_line(
    jobs: &mut impl Jobs,
    id: &TaskId,
    outcome: &JobOutcome,
    words: String,
) -> String {
    match last_line(jobs, id.as_str(), outcome.output_bytes) {
        Some(line) => format!("{words}; last line: {line}"),
        None => words,
    }
}
