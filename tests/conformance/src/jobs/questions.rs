//! What every host promises of questions and prompts, also one whose jobs have no way to ask and no terminals.
//!
//! Does not know how a job asks, which is the host's own matter: see `asking`.

use super::{State, StopReason, inspect, outcome, progress, shell, start, stop, wit, written};
use crate::check::{Check, Need, Step};
use crate::expect::{Halt, breach, same};
use crate::run::Run;

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "jobs/asks-nothing",
        promise: "A job that asks nothing and says nothing of itself has no question, no prompt and no report.",
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
            Step::Do(|run| unasked(run, answer)),
            Step::Do(|run| ended_unchanged(run, answer)),
        ],
    },
    Check {
        name: "jobs/lines-for-nothing",
        promise: "A line for a prompt that is not open changes nothing and is no error: of a job that is unknown, runs, \
                  or has ended.",
        needs: &[Need::Processes],
        steps: &[
            Step::Do(start_lasting),
            Step::Do(|run| unasked(run, enter)),
            Step::Do(|run| ended_unchanged(run, enter)),
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
    same("its prompt", &progress.prompt, &None)?;
    same("its report", &progress.report, &None)?;
    stop(&id, StopReason::Cancelled)
}

fn ended(run: &mut Run) -> Result<(), Halt> {
    outcome(&run.job(0)).map(drop)
}

/// Answers or types what nobody asked for.
type Tell = fn(id: &str, key: &str) -> Result<(), Halt>;

fn unasked(run: &mut Run, tell: Tell) -> Result<(), Halt> {
    let id = run.job(0);
    written(&id, "up\n")?;
    let unknown = run.job(1);
    for key in ["q1", "a-b", "0"] {
        tell(&unknown, key)?;
        tell(&id, key)?;
    }
    same("an unknown job", &inspect(&unknown)?, &State::Unknown)?;
    same("its questions", &progress(&id)?.questions, &Vec::new())?;
    written(&id, "up\n")?;
    stop(&id, StopReason::Cancelled)
}

fn ended_unchanged(run: &mut Run, tell: Tell) -> Result<(), Halt> {
    let id = run.job(0);
    let before = outcome(&id)?;
    tell(&id, "q1")?;
    same("a job that has ended", &outcome(&id)?, &before)
}

fn answer(id: &str, key: &str) -> Result<(), Halt> {
    let answered = wit::answer(id, key, r#"{"action":"decline"}"#);
    answered.or_else(|failure| breach(format!("`answer` failed: {}", failure.detail)))
}

fn enter(id: &str, key: &str) -> Result<(), Halt> {
    let entered = wit::enter(id, key, Some("no"));
    entered.or_else(|failure| breach(format!("`enter` failed: {}", failure.detail)))
}
