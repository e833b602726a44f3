//! A job is all of its processes: `ended` means that none of them runs.

use super::{
    Spec, StopCause, StopReason, ended_by_itself, output, shell, start, stop, stopped, wit,
};
use crate::check::{Check, Need, Step};
use crate::expect::{Halt, ensure, same};
use crate::limits::{COMMAND_CHARS_MAX, LEFTOVERS_MAX};
use crate::run::Run;

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "jobs/group",
        promise: "Stopping a job stops the processes that its command has started.",
        needs: &[Need::Processes],
        steps: &[
            Step::Do(|run| begin(run, "sleep 61 & echo $!; wait")),
            Step::Do(cancel),
            Step::Do(judge_cancelled),
            Step::Do(nothing_runs),
        ],
    },
    Check {
        name: "jobs/leftovers",
        promise: "What outlives a command that ended by itself is stopped and named, and does not hold the job.",
        needs: &[Need::Processes],
        steps: &[
            Step::Do(|run| begin(run, "sleep 61 & echo $!; sleep 0.2; exit 5")),
            Step::Do(judge_leftovers),
            Step::Do(nothing_runs),
        ],
    },
    Check {
        name: "jobs/leftover-limits",
        promise: "At most 20 of the processes that outlive a command are named, each by at most 200 characters.",
        needs: &[Need::Processes],
        steps: &[
            Step::Do(|run| begin(run, LEAVES_MANY)),
            Step::Do(judge_limits),
        ],
    },
    Check {
        name: "jobs/descendants",
        promise: "A process that left the command's process group and session is stopped as well.",
        needs: &[Need::Processes, Need::Descendants],
        steps: &[
            Step::Do(|run| {
                begin(
                    run,
                    "setsid sh -c 'trap \"\" TERM; echo $$; sleep 61; sleep 61' & wait",
                )
            }),
            Step::Do(cancel),
            Step::Do(judge_cancelled),
            Step::Do(nothing_runs),
        ],
    },
    Check {
        name: "jobs/daemon",
        promise: "A daemon that a command leaves behind, with its output closed, is stopped and named.",
        needs: &[Need::Processes, Need::Descendants],
        steps: &[
            Step::Do(|run| {
                begin(
                    run,
                    "setsid sleep 61 </dev/null >/dev/null 2>&1 & echo $!; exit 5",
                )
            }),
            Step::Do(judge_leftovers),
            Step::Do(nothing_runs),
        ],
    },
];

/// More than are named, each with a longer command line than is told.
const LEAVES_MANY: &str = "number=0; while [ $number -lt 24 ]; do number=$((number + 1)); \
                           sleep $(printf '61.%0300d' 0) & done; sleep 0.2; exit 5";

/// The job that is looked at is the first of the run, the one that looks for its processes the second.
fn begin(run: &mut Run, line: &str) -> Result<(), Halt> {
    let spec = Spec {
        grace_ms: 200,
        ..shell(line)
    };
    start(&run.job(0), &spec)
}

/// Stops the job when it has written the process id that it is about.
fn cancel(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    if !output(&id)?.text().ends_with('\n') {
        super::progress(&id)?;
        return Err(Halt::Wait {
            jobs: Vec::new(),
            what: "a job to write a process id".to_owned(),
        });
    }
    stop(&id, StopReason::Cancelled)
}

fn judge_cancelled(run: &mut Run) -> Result<(), Halt> {
    stopped(&run.job(0), StopCause::Cancelled)?;
    look_for(run)
}

fn judge_leftovers(run: &mut Run) -> Result<(), Halt> {
    let outcome = ended_by_itself(&run.job(0), 5)?;
    let pid = output(&run.job(0))?.text();
    let is_named = |left: &wit::Process| {
        left.pid.to_string() == pid.trim() && left.command.contains("sleep 61")
    };
    ensure(outcome.leftovers.iter().any(is_named), || {
        format!(
            "`sleep 61` with the process id {} was left, and the leftovers are {:?}",
            pid.trim(),
            outcome.leftovers
        )
    })?;
    ensure(outcome.duration_ms < 30_000, || {
        format!(
            "what was left of a job held it for {} ms",
            outcome.duration_ms
        )
    })?;
    look_for(run)
}

fn judge_limits(run: &mut Run) -> Result<(), Halt> {
    let leftovers = ended_by_itself(&run.job(0), 5)?.leftovers;
    ensure((1..=LEFTOVERS_MAX).contains(&leftovers.len()), || {
        format!("of 24 leftovers {} are named", leftovers.len())
    })?;
    let longest = leftovers.iter().map(|it| it.command.chars().count()).max();
    ensure(longest <= Some(COMMAND_CHARS_MAX), || {
        format!("{longest:?} characters of a command line are told")
    })
}

/// Starts a job that says whether the process runs whose id the first one wrote. A dead process that nobody has
/// waited for does not.
fn look_for(run: &Run) -> Result<(), Halt> {
    let pid = output(&run.job(0))?.text().trim().to_owned();
    let line = format!(
        "kill -0 {pid} 2>/dev/null && ! grep -q '^[^)]*) [ZX]' /proc/{pid}/stat 2>/dev/null && echo runs; exit 0"
    );
    start(&run.job(1), &shell(&line))
}

fn nothing_runs(run: &mut Run) -> Result<(), Halt> {
    ended_by_itself(&run.job(1), 0)?;
    let found = output(&run.job(1))?.text();
    same("the processes of a job that has ended", found.as_str(), "")
}
