//! From a live record and what its job says to the task's state.

use super::record::{Ending, Live, TaskError, Terminal};
use super::{TaskId, status_message};
use crate::imports::{
    End, Failure, JobOutcome, JobState, Jobs, Loss, Progress, StopCause, StopReason,
};
use crate::tool::run;
use crate::wording;

/// The state of a task whose end nobody has written down.
#[derive(Debug)]
pub(crate) enum Derived {
    /// Its job runs; `None` where it is about to.
    Working(Option<Progress>),
    /// Its job has ended like this. Deriving it again gives the same.
    Ended(Terminal),
    /// Its job never ran and never will. What that means depends on the record, so it is not settled
    /// before the record says so.
    NeverRan(Terminal),
    /// Its job was stopped because the task's time to live has passed.
    Expired,
}

/// Asks the job. One that is still unknown after its start window is made never-startable: whoever
/// wanted to start it is taken for dead.
///
/// # Errors
/// Those of [`Jobs`].
pub(crate) fn derive(
    jobs: &mut impl Jobs,
    now: u64,
    id: &TaskId,
    live: Live,
) -> Result<Derived, Failure> {
    let state = jobs.inspect(id.as_str())?;
    let may_still_start = !live.cancel_requested && now < live.start_window_ends_at();
    if state != JobState::Unknown || may_still_start {
        return from_state(jobs, id, live, state);
    }
    jobs.stop(id.as_str(), StopReason::Cancelled)?;
    let state = jobs.inspect(id.as_str())?;
    from_state(jobs, id, live, state)
}

fn from_state(
    jobs: &mut impl Jobs,
    id: &TaskId,
    live: Live,
    state: JobState,
) -> Result<Derived, Failure> {
    match state {
        JobState::Unknown => Ok(Derived::Working(None)),
        JobState::Running(progress) => Ok(Derived::Working(Some(progress))),
        JobState::Ended(outcome) => from_outcome(jobs, id, live, &outcome),
    }
}

fn from_outcome(
    jobs: &mut impl Jobs,
    id: &TaskId,
    live: Live,
    outcome: &JobOutcome,
) -> Result<Derived, Failure> {
    Ok(match (outcome.stopped, &outcome.end) {
        (Some(StopCause::Expired), _) => Derived::Expired,
        (_, End::Lost(Loss::NeverStarted)) if live.cancel_requested => {
            Derived::NeverRan(cancelled(jobs, id, outcome))
        }
        (_, End::Lost(loss @ Loss::NeverStarted)) => {
            Derived::NeverRan(failed(jobs, id, outcome, wording::lost(*loss)))
        }
        (Some(StopCause::Cancelled), _) => Derived::Ended(cancelled(jobs, id, outcome)),
        // That the job was stopped, before anybody knew it, is in the record alone: the files that said so are gone.
        (_, End::Lost(Loss::Files)) if live.cancel_requested => {
            Derived::Ended(cancelled(jobs, id, outcome))
        }
        (_, End::Lost(loss)) => Derived::Ended(failed(jobs, id, outcome, wording::lost(*loss))),
        (Some(StopCause::ShutDown), _) => {
            Derived::Ended(failed(jobs, id, outcome, wording::shut_down()))
        }
        (Some(StopCause::TimedOut) | None, _) => Derived::Ended(Terminal {
            ended_at: outcome.ended_at,
            status_message: wording::end(outcome),
            ending: Ending::Completed(run::finished(jobs, id.as_str(), outcome)?.into()),
        }),
    })
}

fn cancelled(jobs: &mut impl Jobs, id: &TaskId, outcome: &JobOutcome) -> Terminal {
    Terminal {
        ended_at: outcome.ended_at,
        status_message: status_message::cancelled(jobs, id, outcome),
        ending: Ending::Cancelled,
    }
}

fn failed(jobs: &mut impl Jobs, id: &TaskId, outcome: &JobOutcome, message: String) -> Terminal {
    Terminal {
        ended_at: outcome.ended_at,
        status_message: status_message::with_last_line(jobs, id, outcome, message.clone()),
        ending: Ending::Failed(failure(message)),
    }
}

fn failure(message: String) -> TaskError {
    TaskError {
        code: -32603,
        message,
    }
}
