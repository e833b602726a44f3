//! How the ways in which a job ends, or does not begin, are called, and how far it is: the same words in a task's status
//! message and in a call's result.
//!
//! Knows each [`End`], [`StopCause`], [`Loss`] and [`StartError`], and nothing of who is told.

use crate::imports::{End, JobOutcome, Loss, Report, StartError, StartErrorKind, StopCause};
use crate::limits::REPORT_CHARS;
use crate::text::{duration, is_hidden, revealed, shorten};

/// Which sort of tool was called: what the arguments of `run` are called means nothing to who called another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// `run`.
    Run,
    /// One that the configuration describes, whose key is made of its arguments if it has one.
    Configured,
}

impl About {
    /// The sort of this configured tool, or of `run` where there is none.
    pub(crate) fn tool<T>(configured: Option<&T>) -> Self {
        match configured {
            None => Self::Run,
            Some(_) => Self::Configured,
        }
    }

    /// What to do about a job of which nobody knows how far it got. A task that failed keeps its idempotency key, so
    /// that the same call again would only find it.
    fn advice(self) -> &'static str {
        match self {
            Self::Run => {
                "check what it has left behind before you run it again, with a new idempotencyKey if you gave one"
            }
            Self::Configured => {
                "check what it has left behind before you call the tool again, with other arguments where the same ones \
                 only give this task"
            }
        }
    }

    /// What the idempotency key of a call is called.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Run => "this idempotencyKey",
            Self::Configured => "the key of this call, which is made of the arguments",
        }
    }

    /// How to call again after a call that has left a task behind its key.
    fn anew(self) -> &'static str {
        match self {
            Self::Run => " with a new idempotencyKey",
            Self::Configured => " with other arguments, as these stand for this task now",
        }
    }
}

/// How a job ended, and after how long. `timeout_ms` is how long it was allowed to run, in milliseconds; `None` where
/// that is not known or had no part in its end.
pub(crate) fn end(outcome: &JobOutcome, timeout_ms: Option<u64>, about: About) -> String {
    let elapsed = duration(outcome.duration_ms);
    let end = match &outcome.end {
        End::Exited(code) => format!("exit code {code}"),
        End::Signalled { signal, .. } => format!("killed by {signal}"),
        End::NotStarted(detail) => return not_started(detail, outcome.stopped),
        End::Lost(loss) => return lost_end(*loss, outcome.stopped, about),
    };
    match outcome.stopped {
        None => format!("{end} after {elapsed}{}", remark(&outcome.end)),
        // The time it took includes that of being stopped, so the limit is named beside it.
        Some(StopCause::TimedOut) => {
            let limit = timeout_ms.map(|ms| format!(" of {}", duration(ms)));
            let limit = limit.unwrap_or_default();
            format!("stopped because its timeout{limit} passed; ended after {elapsed} ({end})")
        }
        Some(StopCause::Cancelled) => format!("cancelled after {elapsed} ({end})"),
        Some(cause) => format!("stopped after {elapsed}: {} ({end})", reason(cause)),
    }
}

/// How far a job is, in its own words, in one line; `None` where it said nothing.
pub(crate) fn reported(report: &Report) -> Option<String> {
    let text = report.text.replace(is_hidden, " ");
    let text = shorten(text.trim(), REPORT_CHARS);
    match (report.percent, text.as_str()) {
        (None, "") => None,
        (None, text) => Some(text.to_owned()),
        (Some(percent), "") => Some(format!("{} %", percent.min(100))),
        (Some(percent), text) => Some(format!("{} %, {text}", percent.min(100))),
    }
}

/// What is done to a job that is being stopped after it ran for this many milliseconds.
pub(crate) fn stopping(running_ms: u64, cause: StopCause) -> String {
    let elapsed = duration(running_ms);
    format!("being stopped after {elapsed} ({})", reason(cause))
}

/// What of a call decides what to do where its command was not run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unstarted<'a> {
    /// Whether it had an idempotency key, which stands for a failed task now.
    pub(crate) key_is_used: bool,
    /// Whether neither the call nor the configuration named a directory for it.
    pub(crate) is_unplaced: bool,
    /// What of the configuration of `run` says the directory, in words; `None` where nothing of it does.
    pub(crate) directory_said_by: Option<&'a str>,
}

/// Why a command was not run, and what to do now.
pub(crate) fn not_run(error: &StartError, call: Unstarted<'_>, about: About) -> String {
    // It names directories and programs, which the caller gave.
    let detail = revealed(&error.detail);
    let with = if call.key_is_used { about.anew() } else { "" };
    match error.kind {
        StartErrorKind::BadDirectory => {
            let said_by = call.directory_said_by;
            let by_configuration =
                said_by.map(|by| format!("it is what {by} says: name another one with `cwd`"));
            let correct = match about {
                About::Run if let Some(words) = &by_configuration => words,
                About::Run if call.is_unplaced => {
                    "it is the server's own: name another one with `cwd`"
                }
                About::Run => "correct `cwd`",
                About::Configured if call.is_unplaced => {
                    "it is the server's own, as its configuration of the tool names none: have one named there, or the \
                     server started in another one"
                }
                About::Configured => "have it corrected in the server's configuration of the tool",
            };
            format!(
                "the command was not run, its directory cannot be used: {detail}; {correct}, then call again{with}"
            )
        }
        StartErrorKind::NoSpace => format!(
            "the command was not run, the disk that holds the server's data directory is full: {detail}; free some \
             space there, then call again{with}"
        ),
        StartErrorKind::BadSpec => format!(
            "the command was not run: {detail}; correct the arguments, then call again{with}"
        ),
        StartErrorKind::AlreadyKnown | StartErrorKind::Other => {
            format!("the command was not run: {detail}; call again later{with}")
        }
    }
}

/// Why nobody knows how a job ended, and what to do now.
pub(crate) fn lost(loss: Loss, about: About) -> String {
    match loss {
        Loss::Supervisor => unfinished(
            "the process that supervised the job was killed, and the job with it",
            about,
        ),
        Loss::Machine => unfinished("the machine was restarted while the job ran", about),
        Loss::Files => unfinished(
            "files of the job are missing or damaged in the server's data directory, and what was left of the job was \
             killed",
            about,
        ),
        // Not that it was not run: it leaves no trace either where its files were deleted, or where the machine
        // failed before they were on the disk.
        Loss::NeverStarted => format!(
            "there is no trace of the job: its server ended, or stood still for long, before starting it, unless \
             somebody deleted files of the server's data directory or the whole machine failed; {}",
            about.advice()
        ),
    }
}

/// That a job was stopped because its supervisor had to end, and what to do now.
pub(crate) fn shut_down(about: About) -> String {
    unfinished(
        "the job was stopped because its supervisor was asked to end: the machine was shut down, its session ended, or \
         it was started from another job and that ended or was stopped",
        about,
    )
}

fn unfinished(happened: &str, about: About) -> String {
    let advice = about.advice();
    format!("{happened}; how far it got is not known: {advice}")
}

/// A command that was to be stopped before it was executed is no failure of the command.
fn not_started(detail: &str, stopped: Option<StopCause>) -> String {
    match stopped {
        None => format!("could not be started: {}", revealed(detail)),
        Some(cause) => format!("stopped before it was executed: {}", reason(cause)),
    }
}

fn lost_end(loss: Loss, stopped: Option<StopCause>, about: About) -> String {
    match (loss, stopped) {
        (Loss::NeverStarted, Some(StopCause::Cancelled)) => {
            "cancelled before it was started".to_owned()
        }
        // After how long is not known.
        (_, Some(StopCause::Cancelled)) => format!("cancelled; {}", lost(loss, about)),
        _ => lost(loss, about),
    }
}

/// What a reader would otherwise have to guess about a signal that nobody here sent.
fn remark(end: &End) -> &'static str {
    match end {
        End::Signalled {
            core_dumped: true, ..
        } => ", core dumped",
        End::Signalled { signal, .. } if signal == "SIGKILL" => {
            ", neither by a timeout nor by a cancellation: who sent it is not known, and one possibility is that the \
             machine ran out of memory"
        }
        _ => "",
    }
}

fn reason(cause: StopCause) -> &'static str {
    match cause {
        StopCause::TimedOut => "its timeout passed",
        StopCause::Cancelled => "it was cancelled",
        StopCause::Expired => "its time to live passed",
        StopCause::ShutDown => {
            "its supervisor was asked to end, as at the machine's shutdown or with the job that it was started from"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_caller_named_breaks_no_line() {
        let detail = "the directory /a\nexit code 0\u{1b}[2J does not exist";
        let shown = "the directory /a\\u000aexit code 0\\u001b[2J does not exist";
        for kind in [
            StartErrorKind::BadDirectory,
            StartErrorKind::BadSpec,
            StartErrorKind::NoSpace,
            StartErrorKind::Other,
        ] {
            let detail = detail.to_owned();
            let words = not_run(
                &StartError { kind, detail },
                Unstarted::default(),
                About::Run,
            );
            assert!(words.contains(shown), "{words}");
        }
        let words = not_started(detail, None);
        assert_eq!(words, format!("could not be started: {shown}"));
    }
}
