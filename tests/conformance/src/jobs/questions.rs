//! What every host promises of questions, also one whose jobs have no way to ask.
//!
//! Does not know how a job asks, which is the host's own matter: see `asking`.

use super::{State, StopReason, inspect, outcome, progress, shell, start, stop, wit, written};
use crate::check::{Check, Need, Step};
use crate::expect::{Halt, breach, same};
use crate::run::Run;

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "jobs/asks-nothing",
        promise: "A job that asks nothing and says nothing of itself has no question and no report.",
        needs: &[Need::Processes],
        steps: &[
            Step::Do(start_lasting),
            Step::Do(asks_nothing),
            Step::Do(ended),
        ],
    },
    Check {
        name: "jobs/answers-to-nothing",
        promise: "An answer to a question that is not open changes nothing and is no error: of a job that is unknown, \
                  runs, or has ended.",
        needs: &[Need::Processes],
        steps: &[
            Step::Do(start_lasting),
            Step::Do(answer_unasked),
            Step::Do(answer_ended),
        ],
    },
];

fn start_lasting(run: &mut Run) -> Result<(), Halt> {
    start(&run.job(0), &shell("echo up; exec sleep 60"))
}

fn asks_nothing(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    written(&id, "up\n")?;
    let progress = progress(&id)?;
    same("its questions", &progress.questions, &Vec::new())?;
    same("its report", &progress.report, &None)?;
    stop(&id, StopReason::Cancelled)
}

fn ended(run: &mut Run) -> Result<(), Halt> {
    outcome(&run.job(0)).map(drop)
}

fn answer_unasked(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    written(&id, "up\n")?;
    let unknown = run.job(1);
    for key in ["q1", "a-b", "0"] {
        answer(&unknown, key)?;
        answer(&id, key)?;
    }
    same("an unknown job", &inspect(&unknown)?, &State::Unknown)?;
    same("its questions", &progress(&id)?.questions, &Vec::new())?;
    written(&id, "up\n")?;
    stop(&id, StopReason::Cancelled)
}

fn answer_ended(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    let before = outcome(&id)?;
    answer(&id, "q1")?;
    same("a job that has ended", &outcome(&id)?, &before)
}

fn answer(id: &str, key: &str) -> Result<(), Halt> {
    let answered = wit::answer(id, key, r#"{"action":"decline"}"#);
    answered.or_else(|failure| breach(format!("`answer` failed: {}", failure.detail)))
}
