//! A job is started once, ever, and only by its name.

use super::{
    Spec, StartErrorKind, State, StopCause, StopReason, ended_by_itself, forget, inspect,
    never_started, not_startable, outcome, output, read, shell, start, stop, wit,
};
use crate::check::{Check, Need, Step};
use crate::expect::{Halt, ensure, same};
use crate::run::Run;
use crate::store;

/// How many instances start the same job at the same time.
const CROWD: u32 = 6;

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "jobs/unknown",
        promise: "An id that was neither started nor stopped is unknown, has no output, and can be forgotten.",
        needs: &[],
        steps: &[Step::Do(unknown)],
    },
    Check {
        name: "jobs/names",
        promise: "What is no UUID in its 36 character lower-case form names no job, and nothing is started under it.",
        needs: &[],
        steps: &[Step::Do(names)],
    },
    Check {
        name: "jobs/stopped-before-start",
        promise: "An unknown id that is stopped has ended as `never-started`, and cannot be started any more.",
        needs: &[],
        steps: &[Step::Do(stopped_before_start)],
    },
    Check {
        name: "jobs/once",
        promise: "A job is started at most once: a second start is `already-known`, while it runs and after its end.",
        needs: &[Need::Processes],
        steps: &[Step::Do(start_twice), Step::Do(start_again)],
    },
    Check {
        name: "jobs/once-in-a-crowd",
        promise: "Of several callers that start the same id, one succeeds, and the command runs once.",
        needs: &[Need::Processes],
        steps: &[
            Step::Crowd {
                size: CROWD,
                member: start_in_a_crowd,
            },
            Step::Do(judge_crowd),
        ],
    },
];

fn unknown(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    same(
        "a job that was never started",
        &inspect(&id)?,
        &State::Unknown,
    )?;
    same("its output", &read(&id, 0, 100)?, &[])?;
    forget(&id)?;
    same(
        "a job that was forgotten, and never known",
        &inspect(&id)?,
        &State::Unknown,
    )
}

fn names(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    let upper = run.job(0x2a).to_uppercase();
    let braces = format!("{{{id}}}");
    let simple = id.replace('-', "");
    let below = format!("{id}/../{id}");
    let blank = format!("{id} ");
    for name in [
        "", ".", "..", "../..", "/tmp", "a\0", &upper, &braces, &simple, &below, &blank,
    ] {
        let started = wit::start(name, &shell("true"));
        ensure(started.is_err(), || {
            format!("a job was started under the name {name:?}")
        })?;
        // Whether these two fail or do nothing is the host's choice, as long as there is no such job.
        let _stopped = wit::stop(name, StopReason::Cancelled);
        let _forgotten = wit::forget(name);
        same(
            &format!("the job {name:?}"),
            &inspect(name)?,
            &State::Unknown,
        )?;
        same(
            &format!("the output of {name:?}"),
            &read(name, 0, 100)?,
            &[],
        )?;
    }
    same(
        "a job whose name is part of what is none",
        &inspect(&id)?,
        &State::Unknown,
    )
}

fn stopped_before_start(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    stop(&id, StopReason::Cancelled)?;
    let before = match inspect(&id)? {
        State::Ended(outcome) => outcome,
        other => return crate::expect::breach(format!("a job that will never start is {other:?}")),
    };
    same("how it ended", &before.end, &never_started())?;
    same(
        "why it was stopped",
        &before.stopped,
        &Some(StopCause::Cancelled),
    )?;
    let again = StartErrorKind::AlreadyKnown;
    not_startable("a job that was stopped before", &id, &shell("true"), again)?;
    stop(&id, StopReason::Expired)?;
    same("what became of it, after more", &outcome(&id)?, &before)?;
    same("its output", &read(&id, 0, 100)?, &[])
}

fn start_twice(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    start(&id, &once())?;
    not_startable(
        "a job that was started",
        &id,
        &once(),
        StartErrorKind::AlreadyKnown,
    )
}

fn start_again(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    let before = ended_by_itself(&id, 0)?;
    not_startable(
        "a job that has ended",
        &id,
        &once(),
        StartErrorKind::AlreadyKnown,
    )?;
    same(
        "what became of it, after another start",
        &outcome(&id)?,
        &before,
    )?;
    same("its output", output(&id)?.text().as_str(), "once\n")
}

fn once() -> Spec {
    shell("echo once; sleep 0.2")
}

fn start_in_a_crowd(run: &mut Run, number: u32) -> Result<(), Halt> {
    match wit::start(&run.job(0), &once()) {
        Ok(()) => store::commit(&[store::set(&run.key(&number.to_string()), "started")]),
        Err(error) => same(
            "a start among others",
            &error.kind,
            &StartErrorKind::AlreadyKnown,
        ),
    }
}

fn judge_crowd(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    ended_by_itself(&id, 0)?;
    same("its output", output(&id)?.text().as_str(), "once\n")?;
    let mut started = 0;
    for number in 0..CROWD {
        started += u32::from(store::value(&run.key(&number.to_string()))?.is_some());
    }
    same("callers whose start succeeded", &started, &1)
}
