//! A job that is stopped.

use super::{
    Spec, StopCause, StopReason, ended_by_itself, exited, outcome, output, progress, shell,
    signalled, start, stop, stopped, stubborn, written,
};
use crate::check::{Check, Need, Step};
use crate::expect::{Halt, ensure, same};
use crate::run::Run;

/// How long the stubborn may take, in milliseconds: long enough to be told from being killed at once.
const GRACE_MS: u64 = 1_000;

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "jobs/cancelled",
        promise: "A job that is stopped is terminated, its outcome says why, and what it wrote before is kept.",
        needs: &[Need::Processes],
        steps: &[Step::Do(start_two), Step::Do(stop_two), Step::Do(judge_two)],
    },
    Check {
        name: "jobs/timeout",
        promise: "A job that runs for its `timeout-ms` is stopped because of `timed-out`, and one that ends before is not.",
        needs: &[Need::Processes],
        steps: &[Step::Do(start_slow), Step::Do(judge_slow)],
    },
    Check {
        name: "jobs/lifetime",
        promise: "A job that reaches its `lifetime-ms` is stopped because of `expired`; the earlier of two limits is the cause.",
        needs: &[Need::Processes],
        steps: &[Step::Do(start_old), Step::Do(judge_old)],
    },
    Check {
        name: "jobs/grace",
        promise: "A job that is being stopped has its grace to end by itself, and is still running meanwhile.",
        needs: &[Need::Processes],
        steps: &[
            Step::Do(start_polite),
            Step::Do(stop_polite),
            Step::Do(judge_polite),
        ],
    },
    Check {
        name: "jobs/killed-after-grace",
        promise: "What does not end in its grace is killed, and not before.",
        needs: &[Need::Processes],
        steps: &[
            Step::Do(start_stubborn),
            Step::Do(stop_stubborn),
            Step::Do(judge_stubborn),
        ],
    },
    Check {
        name: "jobs/no-grace",
        promise: "A grace of 0 kills at once.",
        needs: &[Need::Processes],
        steps: &[
            Step::Do(start_hasty),
            Step::Do(stop_hasty),
            Step::Do(judge_hasty),
        ],
    },
    Check {
        name: "jobs/never-changes",
        promise: "The outcome of a job never changes, whoever stops it afterwards.",
        needs: &[Need::Processes],
        steps: &[Step::Do(start_failing), Step::Do(judge_failing)],
    },
];

fn start_two(run: &mut Run) -> Result<(), Halt> {
    for number in [0, 1] {
        start(&run.job(number), &shell("echo up; exec sleep 60"))?;
    }
    Ok(())
}

fn stop_two(run: &mut Run) -> Result<(), Halt> {
    for number in [0, 1] {
        written(&run.job(number), "up\n")?;
    }
    stop(&run.job(0), StopReason::Cancelled)?;
    stop(&run.job(1), StopReason::Expired)
}

fn judge_two(run: &mut Run) -> Result<(), Halt> {
    for (number, cause) in [(0, StopCause::Cancelled), (1, StopCause::Expired)] {
        let outcome = stopped(&run.job(number), cause)?;
        same("how it ended", &outcome.end, &signalled("SIGTERM"))?;
        same(
            "its output",
            output(&run.job(number))?.text().as_str(),
            "up\n",
        )?;
        same(
            "leftovers of a job that was stopped",
            &outcome.leftovers,
            &[],
        )?;
    }
    Ok(())
}

fn start_slow(run: &mut Run) -> Result<(), Halt> {
    let limited = |timeout_ms, line: &str| Spec {
        timeout_ms: Some(timeout_ms),
        ..shell(line)
    };
    start(&run.job(0), &limited(3_000, "echo up; exec sleep 60"))?;
    start(&run.job(1), &limited(50_000, "exit 3"))
}

fn judge_slow(run: &mut Run) -> Result<(), Halt> {
    let outcome = stopped(&run.job(0), StopCause::TimedOut)?;
    same("how it ended", &outcome.end, &signalled("SIGTERM"))?;
    same("its output", output(&run.job(0))?.text().as_str(), "up\n")?;
    ensure((2_950..30_000).contains(&outcome.duration_ms), || {
        format!(
            "a job with a timeout of 3 s took {} ms",
            outcome.duration_ms
        )
    })?;
    ended_by_itself(&run.job(1), 3)?;
    Ok(())
}

fn start_old(run: &mut Run) -> Result<(), Halt> {
    for (number, timeout_ms, lifetime_ms) in [
        (0, None, 500),
        (1, Some(50_000), 500),
        (2, Some(500), 50_000),
    ] {
        let spec = Spec {
            timeout_ms,
            lifetime_ms: Some(lifetime_ms),
            ..shell("exec sleep 60")
        };
        start(&run.job(number), &spec)?;
    }
    Ok(())
}

fn judge_old(run: &mut Run) -> Result<(), Halt> {
    let causes = [StopCause::Expired, StopCause::Expired, StopCause::TimedOut];
    for (cause, number) in causes.into_iter().zip(0..) {
        stopped(&run.job(number), cause)?;
    }
    Ok(())
}

fn start_polite(run: &mut Run) -> Result<(), Halt> {
    let line = "trap 'echo asked; sleep 5; echo bye; exit 9' TERM; echo up; while :; do sleep 0.05; done 2>/dev/null";
    start(&run.job(0), &shell(line))
}

/// Stopped twice: the first cause stays. It is seen while the job takes its time.
fn stop_polite(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    if progress(&id)?.stopping.is_none() {
        written(&id, "up\n")?;
        stop(&id, StopReason::Cancelled)?;
        stop(&id, StopReason::Expired)?;
    }
    same(
        "why a job is being stopped",
        &progress(&id)?.stopping,
        &Some(StopCause::Cancelled),
    )
}

fn judge_polite(run: &mut Run) -> Result<(), Halt> {
    let outcome = stopped(&run.job(0), StopCause::Cancelled)?;
    same("how it ended", &outcome.end, &exited(9))?;
    let stdout = output(&run.job(0))?.of(super::Stream::Stdout);
    same(
        "its output",
        stdout.as_slice(),
        b"up\nasked\nbye\n".as_slice(),
    )
}

fn start_stubborn(run: &mut Run) -> Result<(), Halt> {
    start(&run.job(0), &stubborn(GRACE_MS))
}

fn stop_stubborn(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    written(&id, "up\n")?;
    run.remember(progress(&id)?.running_ms.to_string());
    stop(&id, StopReason::Cancelled)
}

fn judge_stubborn(run: &mut Run) -> Result<(), Halt> {
    let outcome = stopped(&run.job(0), StopCause::Cancelled)?;
    same("how it ended", &outcome.end, &signalled("SIGKILL"))?;
    let before: u64 = run.remembered().parse().unwrap_or(0);
    ensure(outcome.duration_ms + 50 >= before + GRACE_MS, || {
        format!(
            "stopped after {before} ms with a grace of {GRACE_MS} ms, a job took {} ms",
            outcome.duration_ms
        )
    })
}

fn start_hasty(run: &mut Run) -> Result<(), Halt> {
    let spec = Spec {
        grace_ms: 0,
        ..shell("trap 'echo bye; exit 9' TERM; echo up; while :; do sleep 0.05; done")
    };
    start(&run.job(0), &spec)
}

fn stop_hasty(run: &mut Run) -> Result<(), Halt> {
    written(&run.job(0), "up\n")?;
    stop(&run.job(0), StopReason::Cancelled)
}

fn judge_hasty(run: &mut Run) -> Result<(), Halt> {
    let outcome = stopped(&run.job(0), StopCause::Cancelled)?;
    same("how it ended", &outcome.end, &signalled("SIGKILL"))?;
    same("its output", output(&run.job(0))?.text().as_str(), "up\n")
}

fn start_failing(run: &mut Run) -> Result<(), Halt> {
    start(&run.job(0), &shell("echo out; exit 3"))
}

fn judge_failing(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    let before = ended_by_itself(&id, 3)?;
    stop(&id, StopReason::Cancelled)?;
    stop(&id, StopReason::Expired)?;
    same("the outcome after two stops", &outcome(&id)?, &before)?;
    same("its output", output(&id)?.text().as_str(), "out\n")
}
