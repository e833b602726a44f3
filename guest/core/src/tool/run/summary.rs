//! How a job ended, in one line or two that a model reads first.

use super::limits::{LEFTOVER_CHARS, NAMED_LEFTOVERS};
use crate::imports::{End, JobOutcome, Loss, Process, Progress, StopCause};
use crate::text::{duration, shorten};

/// How a job ended, and what was left of it.
pub(super) fn ended(outcome: &JobOutcome) -> String {
    let headline = headline(outcome);
    if outcome.leftovers.is_empty() {
        return headline;
    }
    format!("{headline}\n{}", leftovers(&outcome.leftovers))
}

/// That a job goes on, how to get its result, and that calling again is not the way.
pub(super) fn running(id: &str, progress: Option<&Progress>) -> String {
    let so_far = match progress {
        None => "the command goes on".to_owned(),
        Some(progress) => so_far(progress),
    };
    format!(
        "{so_far}, in the background, as task {id}; it does not need this connection.\n\n\
         Do not call `run` again to get its result: that would start the command a second time. \
         A client with the Tasks extension gets it from tasks/get with this id; in a terminal, \
         `backburner show {id}` shows it, with the --data-dir of this server if it was given one."
    )
}

fn so_far(progress: &Progress) -> String {
    let elapsed = duration(progress.running_ms);
    let output = match progress.output_bytes {
        0 => "no output so far".to_owned(),
        bytes => format!("{bytes} bytes of output so far"),
    };
    match progress.stopping {
        None => format!("still running after {elapsed}, {output}"),
        Some(cause) => format!(
            "being stopped after {elapsed} ({}), {output}",
            reason(cause)
        ),
    }
}

fn headline(outcome: &JobOutcome) -> String {
    let elapsed = duration(outcome.duration_ms);
    let end = match &outcome.end {
        End::Exited(code) => format!("exit code {code}"),
        End::Signalled { signal, .. } => format!("killed by {signal}"),
        End::NotStarted(detail) => return not_started(detail, outcome.stopped),
        End::Lost(loss) => return lost(*loss, outcome.stopped),
    };
    match outcome.stopped {
        None => format!("{end} after {elapsed}{}", remark(&outcome.end)),
        Some(StopCause::TimedOut) => format!("timed out after {elapsed} and was stopped ({end})"),
        Some(StopCause::Cancelled) => format!("cancelled after {elapsed} ({end})"),
        Some(cause) => format!("stopped after {elapsed}: {} ({end})", reason(cause)),
    }
}

/// A command that was to be stopped before it was executed is no failure of the command.
fn not_started(detail: &str, stopped: Option<StopCause>) -> String {
    match stopped {
        None => format!("could not be started: {detail}"),
        Some(cause) => format!("stopped before it was executed: {}", reason(cause)),
    }
}

/// What a model would otherwise have to guess about a signal that nobody here sent.
fn remark(end: &End) -> &'static str {
    match end {
        End::Signalled {
            core_dumped: true, ..
        } => ", core dumped",
        End::Signalled { signal, .. } if signal == "SIGKILL" => {
            ", neither by a timeout nor by a cancellation: the machine may have run out of memory"
        }
        _ => "",
    }
}

fn lost(loss: Loss, stopped: Option<StopCause>) -> String {
    match (loss, stopped) {
        (Loss::NeverStarted, Some(StopCause::Cancelled)) => "cancelled before it was started",
        (Loss::NeverStarted, _) => "never started",
        (Loss::Supervisor, _) => {
            "how it ended is not known: its supervisor was killed; nothing of it runs any more"
        }
        (Loss::Machine, _) => "how it ended is not known: the machine was restarted while it ran",
        (Loss::Files, _) => {
            "how it ended is not known: its files were deleted or damaged; nothing of it runs any more"
        }
    }
    .to_owned()
}

fn reason(cause: StopCause) -> &'static str {
    match cause {
        StopCause::TimedOut => "its timeout passed",
        StopCause::Cancelled => "it was cancelled",
        StopCause::Expired => "its time to live passed",
        StopCause::ShutDown => "its supervisor was asked to end, as at the machine's shutdown",
    }
}

fn leftovers(processes: &[Process]) -> String {
    let named: Vec<String> = processes
        .iter()
        .take(NAMED_LEFTOVERS)
        .map(leftover)
        .collect();
    let more = match processes.len().saturating_sub(NAMED_LEFTOVERS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let subject = match processes.len() {
        1 => "1 process was still running when the command ended and was stopped".to_owned(),
        count => {
            format!("{count} processes were still running when the command ended and were stopped")
        }
    };
    format!("{subject}: {}{more}", named.join(", "))
}

/// A command line may contain anything, and has to stay on this line.
fn leftover(process: &Process) -> String {
    let command = process.command.replace(char::is_control, " ");
    format!(
        "{} (pid {})",
        shorten(&command, LEFTOVER_CHARS),
        process.pid
    )
}
