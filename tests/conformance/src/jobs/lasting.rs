//! A job is independent of every host.

use super::{
    Spec, StartErrorKind, StopCause, StopReason, ended_by_itself, exited, happened_alone,
    leave_alone, not_startable, outcome, output, progress, shell, signalled, start, stop, stopped,
    stubborn, written,
};
use crate::check::{Check, Need, Step};
use crate::expect::{Halt, ensure, same};
use crate::limits::ALONE_MS;
use crate::run::Run;

const NEEDS: &[Need] = &[Need::Processes, Need::LastingStore, Need::LastingJobs];

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "jobs/outcome-lasts",
        promise: "What became of a job and what it wrote is the same after a restart, and it cannot be started again.",
        needs: NEEDS,
        steps: &[
            Step::Do(start_short),
            Step::Do(remember_outcome),
            Step::Restart { ms: 0 },
            Step::Do(judge_remembered),
        ],
    },
    Check {
        name: "jobs/goes-on",
        promise: "A job that runs goes on across a restart, and can be read and stopped after it.",
        needs: NEEDS,
        steps: &[
            Step::Do(start_ticking),
            Step::Restart { ms: 0 },
            Step::Do(stop_ticking),
            Step::Do(judge_ticking),
        ],
    },
    Check {
        name: "jobs/ends-alone",
        promise: "A job that ends while no host runs has its true end, its output and its duration.",
        needs: NEEDS,
        steps: &[
            Step::Do(start_alone),
            Step::Restart { ms: 2_500 },
            Step::Do(judge_alone),
        ],
    },
    Check {
        name: "jobs/timeout-alone",
        promise: "A job's timeout is kept while no host runs.",
        needs: NEEDS,
        steps: &[
            Step::Do(start_limited),
            Step::Restart { ms: 9_000 },
            Step::Do(judge_limited),
        ],
    },
    Check {
        name: "jobs/stop-lasts",
        promise: "A job that was asked to stop is killed after its grace, whatever becomes of the host that asked it.",
        needs: NEEDS,
        steps: &[
            Step::Do(start_stubborn),
            Step::Do(stop_stubborn),
            Step::Restart { ms: ALONE_MS },
            Step::Do(judge_stubborn),
        ],
    },
    Check {
        name: "jobs/never-started-lasts",
        promise: "An id that was stopped before its start is not started after a restart either.",
        needs: &[Need::LastingStore, Need::LastingJobs],
        steps: &[
            Step::Do(stop_unknown),
            Step::Restart { ms: 0 },
            Step::Do(judge_unknown),
        ],
    },
];

fn start_short(run: &mut Run) -> Result<(), Halt> {
    start(&run.job(0), &shell("echo out; echo err >&2; exit 3"))
}

fn remember_outcome(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    let seen = ended_by_itself(&id, 3)?;
    run.remember(format!("{seen:?} {:?}", output(&id)?.fragments));
    Ok(())
}

fn judge_remembered(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    let found = format!("{:?} {:?}", outcome(&id)?, output(&id)?.fragments);
    same(
        "outcome and output after a restart",
        found.as_str(),
        run.remembered(),
    )?;
    not_startable(
        "a job of before the restart",
        &id,
        &shell("true"),
        StartErrorKind::AlreadyKnown,
    )
}

fn start_ticking(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    start(&id, &shell("echo up; sleep 1; echo more; exec sleep 60"))
}

fn stop_ticking(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    not_startable(
        "a job that runs",
        &id,
        &shell("true"),
        StartErrorKind::AlreadyKnown,
    )?;
    same("why it is being stopped", &progress(&id)?.stopping, &None)?;
    written(&id, "up\nmore\n")?;
    stop(&id, StopReason::Cancelled)
}

fn judge_ticking(run: &mut Run) -> Result<(), Halt> {
    stopped(&run.job(0), StopCause::Cancelled)?;
    same(
        "its output",
        output(&run.job(0))?.text().as_str(),
        "up\nmore\n",
    )
}

fn start_alone(run: &mut Run) -> Result<(), Halt> {
    start(&run.job(0), &shell("sleep 1; echo alone; exit 6"))
}

fn judge_alone(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    let outcome = ended_by_itself(&id, 6)?;
    same("its output", output(&id)?.text().as_str(), "alone\n")?;
    ensure(outcome.duration_ms >= 950, || {
        format!("a job of one second took {} ms", outcome.duration_ms)
    })
}

fn start_limited(run: &mut Run) -> Result<(), Halt> {
    let spec = Spec {
        timeout_ms: Some(3_000),
        ..shell("trap 'echo bye; exit 9' TERM; echo up; while :; do sleep 0.05; done 2>/dev/null")
    };
    start(&run.job(0), &spec)
}

fn judge_limited(run: &mut Run) -> Result<(), Halt> {
    let outcome = stopped(&run.job(0), StopCause::TimedOut)?;
    same("how it ended", &outcome.end, &exited(9))?;
    ensure(outcome.duration_ms < 8_500, || {
        format!(
            "a job with a timeout of 3 s took {} ms, until the next host came",
            outcome.duration_ms
        )
    })?;
    let stdout = output(&run.job(0))?.of(super::Stream::Stdout);
    same("its output", stdout.as_slice(), b"up\nbye\n".as_slice())
}

fn start_stubborn(run: &mut Run) -> Result<(), Halt> {
    start(&run.job(0), &stubborn(1_000))
}

fn stop_stubborn(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    written(&id, "up\n")?;
    stop(&id, StopReason::Cancelled)?;
    leave_alone(run);
    Ok(())
}

fn judge_stubborn(run: &mut Run) -> Result<(), Halt> {
    let outcome = stopped(&run.job(0), StopCause::Cancelled)?;
    same("how it ended", &outcome.end, &signalled("SIGKILL"))?;
    happened_alone(run, "a job that was stopped ended", outcome.ended_at)
}

fn stop_unknown(run: &mut Run) -> Result<(), Halt> {
    stop(&run.job(0), StopReason::Expired)
}

fn judge_unknown(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    same("how it ended", &outcome(&id)?.end, &super::never_started())?;
    not_startable(
        "a job that was stopped",
        &id,
        &shell("true"),
        StartErrorKind::AlreadyKnown,
    )
}
