//! Nothing is kept of a job that was forgotten.

use super::{
    State, StopReason, forget, inspect, outcome, progress, read, shell, start, stop, wit, written,
};
use crate::check::{Check, Need, Step};
use crate::expect::{Halt, ensure, same};
use crate::run::Run;

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "jobs/forget-running",
        promise: "A job that runs cannot be forgotten: the attempt fails and changes nothing.",
        needs: &[Need::Processes],
        steps: &[
            Step::Do(start_lasting),
            Step::Do(forget_running),
            Step::Do(end),
        ],
    },
    Check {
        name: "jobs/forget",
        promise: "A job that was forgotten after its end is unknown, has no output, and can be forgotten again.",
        needs: &[Need::Processes],
        steps: &[Step::Do(start_short), Step::Do(forget_ended)],
    },
    Check {
        name: "jobs/forget-never-started",
        promise: "An id that was stopped before its start can be forgotten.",
        needs: &[],
        steps: &[Step::Do(forget_never_started)],
    },
];

fn start_lasting(run: &mut Run) -> Result<(), Halt> {
    start(&run.job(0), &shell("echo up; exec sleep 60"))
}

fn forget_running(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    written(&id, "up\n")?;
    ensure(wit::forget(&id).is_err(), || {
        "a job that runs was forgotten".to_owned()
    })?;
    same("why it is being stopped", &progress(&id)?.stopping, &None)?;
    written(&id, "up\n")?;
    stop(&id, StopReason::Cancelled)
}

fn end(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    outcome(&id)?;
    forget(&id)
}

fn start_short(run: &mut Run) -> Result<(), Halt> {
    start(&run.job(0), &shell("echo out; exit 3"))
}

fn forget_ended(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    outcome(&id)?;
    for _ in 0..2 {
        forget(&id)?;
        same("a job that was forgotten", &inspect(&id)?, &State::Unknown)?;
        same("its output", &read(&id, 0, 100)?, &[])?;
    }
    Ok(())
}

fn forget_never_started(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    stop(&id, StopReason::Expired)?;
    forget(&id)?;
    same("a job that was forgotten", &inspect(&id)?, &State::Unknown)
}
