//! From a live record and what its job says to the task's state.

use super::call_result::CallResult;
use super::record::{Ending, Facts, Live, State, TaskError, TaskRecord, Terminal};
use super::status_message;
use crate::imports::{
    End, Failure, JobOutcome, JobState, Jobs, Loss, Progress, StopCause, StopReason,
};
use crate::limits::STORE_VALUE_BYTES;
use crate::tool::{self, Ended, ToolResult};
use crate::wording;

/// The state of a task whose end nobody has written down.
#[derive(Debug)]
pub(crate) enum Derived {
    /// Nobody knows its job. It may still be started until this moment, in milliseconds since 1970.
    Starting(u64),
    /// Its job runs.
    Working(Progress),
    /// Its job has ended like this. Deriving it again gives the same.
    Ended(Terminal),
    /// Its job never ran and never will. What that means depends on the record, so it is not settled
    /// before the record says so.
    NeverRan(Terminal),
    /// Its job was stopped because the task's time to live has passed.
    Expired,
}

/// Asks the job. One that is still unknown when it has to be known is made never-startable: whoever wanted to start it
/// is taken for dead.
///
/// # Errors
/// Those of [`Jobs`].
pub(crate) fn derive(
    jobs: &mut impl Jobs,
    now: u64,
    facts: &Facts,
    live: Live,
) -> Result<Derived, Failure> {
    let id = &facts.id;
    let start_by = facts.start_by(live.seen_at.unwrap_or(now));
    let mut state = jobs.inspect(id.as_str())?;
    let may_still_start = !live.cancel_requested && now < start_by;
    if state == JobState::Unknown && !may_still_start {
        jobs.stop(id.as_str(), StopReason::Cancelled)?;
        state = jobs.inspect(id.as_str())?;
    }
    match state {
        JobState::Unknown => Ok(Derived::Starting(start_by)),
        JobState::Running(progress) => Ok(Derived::Working(progress)),
        JobState::Ended(outcome) => from_outcome(jobs, facts, live, &outcome),
    }
}

fn from_outcome(
    jobs: &mut impl Jobs,
    facts: &Facts,
    live: Live,
    outcome: &JobOutcome,
) -> Result<Derived, Failure> {
    Ok(match (outcome.stopped, &outcome.end) {
        (Some(StopCause::Expired), _) => Derived::Expired,
        (_, End::Lost(Loss::NeverStarted)) if live.cancel_requested => {
            Derived::NeverRan(cancelled(jobs, facts, outcome))
        }
        (_, End::Lost(loss @ Loss::NeverStarted)) => Derived::NeverRan(failed(
            jobs,
            facts,
            outcome,
            wording::lost(*loss, facts.about()),
        )),
        (Some(StopCause::Cancelled), _) => Derived::Ended(cancelled(jobs, facts, outcome)),
        // That the job was stopped, before anybody knew it, is in the record alone: the files that said so are gone.
        (_, End::Lost(Loss::Files)) if live.cancel_requested => {
            Derived::Ended(cancelled(jobs, facts, outcome))
        }
        (_, End::Lost(loss)) => Derived::Ended(failed(
            jobs,
            facts,
            outcome,
            wording::lost(*loss, facts.about()),
        )),
        (Some(StopCause::ShutDown), _) => Derived::Ended(failed(
            jobs,
            facts,
            outcome,
            wording::shut_down(facts.about()),
        )),
        (Some(StopCause::TimedOut) | None, _) => Derived::Ended(completed(jobs, facts, outcome)?),
    })
}

/// How long the job was allowed to run, where that ended it. Not asked otherwise: a spec takes as long to read as it
/// is long.
fn timeout_ms(facts: &Facts, outcome: &JobOutcome) -> Option<u64> {
    if outcome.stopped != Some(StopCause::TimedOut) {
        return None;
    }
    facts.job_spec()?.timeout_ms
}

fn completed(
    jobs: &mut impl Jobs,
    facts: &Facts,
    outcome: &JobOutcome,
) -> Result<Terminal, Failure> {
    let timeout_ms = timeout_ms(facts, outcome);
    let ended = Ended {
        id: facts.id.as_str(),
        outcome,
        timeout_ms,
        about: facts.about(),
    };
    let result = tool::finished(jobs, facts.tool.as_deref(), ended)?;
    let terminal = Terminal {
        ended_at: outcome.ended_at,
        status_message: wording::end(outcome, timeout_ms, facts.about()),
        ending: Ending::Completed(result.into()),
    };
    Ok(kept(facts, terminal))
}

/// The end as it can be written down: a result that does not fit into the record beside what the call was is not kept.
/// Decided by lengths alone, so that whoever derives it gets the same, whatever the store is able to do at the moment.
fn kept(facts: &Facts, terminal: Terminal) -> Terminal {
    let record = TaskRecord {
        facts: facts.clone(),
        state: State::Terminal(terminal),
    };
    let bytes = record.to_text().len();
    let State::Terminal(terminal) = record.state else {
        unreachable!("it was made one above");
    };
    if bytes <= STORE_VALUE_BYTES {
        return terminal;
    }
    let text = format!(
        "{}, but its result cannot be kept: with what the call gave it, it is {bytes} bytes long, and at most \
         {STORE_VALUE_BYTES} are kept. Have the command write its output to a file, or its input read from one",
        terminal.status_message
    );
    Terminal {
        ending: Ending::Completed(CallResult::from(ToolResult::refused(text))),
        ..terminal
    }
}

fn cancelled(jobs: &mut impl Jobs, facts: &Facts, outcome: &JobOutcome) -> Terminal {
    Terminal {
        ended_at: outcome.ended_at,
        status_message: status_message::cancelled(jobs, facts, outcome),
        ending: Ending::Cancelled,
    }
}

fn failed(jobs: &mut impl Jobs, facts: &Facts, outcome: &JobOutcome, message: String) -> Terminal {
    Terminal {
        ended_at: outcome.ended_at,
        status_message: status_message::with_last_line(jobs, &facts.id, outcome, message.clone()),
        ending: Ending::Failed(TaskError::internal(message)),
    }
}
