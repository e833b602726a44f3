//! How a job ended, in one line or two that a model reads first.

use super::limits::{LEFTOVER_CHARS, NAMED_LEFTOVERS};
use crate::imports::{JobOutcome, Process, Progress};
use crate::text::{duration, is_hidden, shorten};
use crate::wording;

/// How a job ended, and what was left of it.
pub(super) fn ended(outcome: &JobOutcome, timeout_ms: Option<u64>) -> String {
    let headline = wording::end(outcome, timeout_ms);
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
    let output = match progress.output_bytes {
        0 => "no output so far".to_owned(),
        bytes => format!("{bytes} bytes of output so far"),
    };
    match progress.stopping {
        None => format!(
            "still running after {}, {output}",
            duration(progress.running_ms)
        ),
        Some(cause) => format!(
            "{}, {output}",
            wording::stopping(progress.running_ms, cause)
        ),
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
    let command = process.command.replace(is_hidden, " ");
    format!(
        "{} (pid {})",
        shorten(&command, LEFTOVER_CHARS),
        process.pid
    )
}
