//! How a job ended, in one line or two that a model reads first.

use super::result::Running;
use crate::imports::{Process, Progress};
use crate::text::{duration, is_hidden, iso8601, shorten};
use crate::tool::Ended;
use crate::tool::limits::{LEFTOVER_CHARS, NAMED_LEFTOVERS, TOLD_LEFTOVERS};
use crate::wording::{self, About};

/// How a job ended, and what was left of it.
pub(super) fn ended(ended: Ended<'_>) -> String {
    let Ended {
        outcome,
        timeout_ms,
        about,
        ..
    } = ended;
    let headline = wording::end(outcome, timeout_ms, about);
    if outcome.leftovers.is_empty() {
        return headline;
    }
    format!("{headline}\n{}", leftovers(&outcome.leftovers))
}

/// That a result is an earlier call's, made at this moment in milliseconds since 1970: who has mended something and
/// calls again with the same key would believe that it did not help.
pub(crate) fn repeated(about: About, called_at: u64) -> String {
    let (earlier, again) = earlier_call(about);
    format!(
        "This is the result of the {earlier}, started {}; nothing was run now. To run it again, use {again}.",
        iso8601(called_at)
    )
}

/// That the task of an earlier call with this id, made at this moment in milliseconds since 1970, failed, and why.
pub(crate) fn failed_earlier(about: About, (id, called_at): (&str, u64), why: &str) -> String {
    let (earlier, again) = earlier_call(about);
    let started = iso8601(called_at);
    format!(
        "The {earlier}, started {started}, is task {id} and failed: {why}\nNothing was run now. To run it again, use \
         {again}."
    )
}

/// What the call is called that a call repeats, and what makes it another one.
fn earlier_call(about: About) -> (&'static str, &'static str) {
    match about {
        About::Run => ("earlier call with this idempotencyKey", "a new key"),
        About::Configured => (
            "earlier call with the same key, which is made of the arguments",
            "other arguments",
        ),
    }
}

/// That a job goes on, the last line that it wrote, and how to get its result.
pub(super) fn running(running: &Running<'_>, last_line: Option<&str>) -> String {
    let so_far = match running.progress {
        None => "the command is about to start".to_owned(),
        Some(progress) => so_far(progress),
    };
    let report = running
        .progress
        .and_then(|progress| progress.report.as_ref());
    let line = match report.and_then(wording::reported) {
        Some(report) => Some(format!("\nprogress: {report}")),
        None => last_line.map(|line| format!("\nlast line: {line}")),
    };
    let asks = running.asks.map(|asks| format!("\nIt {asks}."));
    format!(
        "{so_far}, in the background, as task {}; it does not need this connection.{}{}\n\n{} {}",
        running.id,
        line.unwrap_or_default(),
        asks.unwrap_or_default(),
        calling_again(running),
        other_ways(running)
    )
}

/// What the same call again would do.
fn calling_again(running: &Running<'_>) -> String {
    let (name, key) = match running.tool {
        None => ("run", " and idempotencyKey"),
        Some(tool) => (tool.name.as_str(), ""),
    };
    let purpose = match running.next_wait_ms {
        Some(0) => "to see whether it has ended".to_owned(),
        Some(u64::MAX) => "to wait for its result".to_owned(),
        Some(ms) => format!("to wait up to {} more for its result", duration(ms)),
        None => {
            let advice = " Next time give an idempotencyKey: then the same call again goes on with the same task.";
            let advice = if running.tool.is_none() { advice } else { "" };
            return format!(
                "Do not call `{name}` again to get its result: that would start the command a second time.{advice}"
            );
        }
    };
    format!(
        "Call `{name}` again with exactly the same arguments{key} {purpose}; it is not started a second time."
    )
}

fn other_ways(running: &Running<'_>) -> String {
    let id = running.id;
    // First what any caller can do.
    let place = if running.is_run_offered {
        "in a terminal or as the command of another `run`"
    } else {
        "in a terminal"
    };
    let show = running
        .show_command
        .map(|command| format!("`{command} {id}` shows it, {place}. "));
    format!(
        "{}A client with the Tasks extension gets it from tasks/get with this id.",
        show.unwrap_or_default()
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
    // The host tells no more.
    let are_all_told = processes.len() < TOLD_LEFTOVERS;
    let more = match processes.len().saturating_sub(NAMED_LEFTOVERS) {
        0 => String::new(),
        more if are_all_told => format!(" and {more} more"),
        more => format!(" and at least {more} more"),
    };
    let subject = match processes.len() {
        count if !are_all_told => format!(
            "at least {count} processes were still running when the command ended, and all were stopped"
        ),
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
