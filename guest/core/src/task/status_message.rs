//! What a task's `statusMessage` says.

use crate::imports::{End, JobOutcome, Jobs, Loss, Progress, StopCause};
use crate::text::{duration, last_line};

use super::TaskId;

/// What a new task says.
pub(crate) const STARTED: &str = "the job was started";

/// What a task says whose job is not known yet.
pub(crate) const STARTING: &str = "the job is about to start";

/// What a job is doing, and the last line that it wrote.
pub(crate) fn working(jobs: &mut impl Jobs, id: &TaskId, progress: &Progress) -> String {
    let elapsed = duration(progress.running_ms);
    if let Some(cause) = progress.stopping {
        return format!("being stopped after {elapsed}: {}", cause_in_words(cause));
    }
    match last_line(jobs, id.as_str(), progress.output_bytes) {
        Some(line) => format!("running for {elapsed}; last line: {line}"),
        None => format!("running for {elapsed}; no output yet"),
    }
}

/// How a job ended whose call has a result.
pub(crate) fn completed(outcome: &JobOutcome) -> String {
    let elapsed = duration(outcome.duration_ms);
    if let Some(cause) = outcome.stopped {
        return format!("stopped after {elapsed}: {}", cause_in_words(cause));
    }
    match &outcome.end {
        End::Exited(code) => format!("exited with code {code} after {elapsed}"),
        End::Signalled { signal, .. } => format!("ended by {signal} after {elapsed}"),
        End::NotStarted(_) => "the command could not be started".to_owned(),
        End::Lost(loss) => lost(*loss).to_owned(),
    }
}

/// How a job was cancelled, and where it was: such a task has no result that would say so.
pub(crate) fn cancelled(jobs: &mut impl Jobs, id: &TaskId, outcome: &JobOutcome) -> String {
    if outcome.end == End::Lost(Loss::NeverStarted) {
        return "cancelled before the job started".to_owned();
    }
    let cancelled = match outcome.end {
        // How long it ran is not known.
        End::Lost(_) => "cancelled".to_owned(),
        _ => format!("cancelled after {}", duration(outcome.duration_ms)),
    };
    with_last_line(jobs, id, outcome, cancelled)
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

/// Why nobody knows how a job ended; also the message of the task's error.
pub(crate) fn lost(loss: Loss) -> &'static str {
    match loss {
        Loss::Supervisor => {
            "the process that supervised the job was killed, and the job with it; how far it got is not known: \
             look before you run it again"
        }
        Loss::Machine => {
            "the machine was restarted while the job ran; how far it got is not known: look before you run it \
             again"
        }
        Loss::Files => {
            "the job's files were deleted or damaged in the server's data directory, and what was left of the job \
             was killed; how far it got is not known: look before you run it again"
        }
        Loss::NeverStarted => {
            "the server ended before it started the job; it was not run (after a failure of the whole machine it may \
             have been, for a moment)"
        }
    }
}

/// What the error of a task says whose job was stopped by the machine's shutdown.
pub(crate) const SHUT_DOWN: &str = "the job was stopped because the machine was shut down or its session ended; how far it got is not known: look \
     before you run it again";

fn cause_in_words(cause: StopCause) -> &'static str {
    match cause {
        StopCause::TimedOut => "timed out",
        StopCause::Cancelled => "cancelled",
        StopCause::Expired => "its ttlSeconds has passed",
        StopCause::ShutDown => "the machine shuts down",
    }
}
