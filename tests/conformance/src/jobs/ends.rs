//! How a job ends by itself.

use super::{
    End, StartErrorKind, ended_by_itself, exited, outcome, output, plausible, program, shell,
    signalled, start,
};
use crate::check::{Check, Need, Step};
use crate::expect::{Halt, breach, ensure, same};
use crate::run::Run;

/// The exit statuses that are tried, each by the job of its place.
const CODES: [u8; 4] = [0, 3, 137, 255];

/// The signals, and how the shell calls them.
const SIGNALS: [(&str, &str); 3] = [
    ("SIGKILL", "KILL"),
    ("SIGTERM", "TERM"),
    ("SIGUSR1", "USR1"),
];

/// Programs that cannot be executed: one that is not there, one whose directory is not, one that is no program,
/// one that is a directory.
const NO_PROGRAMS: [&str; 4] = [
    "backburner-no-such-program",
    "/no/such/file",
    "/etc/passwd",
    "/",
];

/// Longer than every pause in a check's job, and shorter than a timer of 32 bits that wrapped around.
const SHORT_MS: u64 = 300;

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "jobs/exit-status",
        promise: "A job that ends by itself has `exited` with its command's own status, and was not stopped.",
        needs: &[Need::Processes],
        steps: &[Step::Do(start_codes), Step::Do(judge_codes)],
    },
    Check {
        name: "jobs/signal",
        promise: "A job that a signal ended is `signalled` with the signal's name.",
        needs: &[Need::Processes],
        steps: &[Step::Do(start_signals), Step::Do(judge_signals)],
    },
    Check {
        name: "jobs/not-started",
        promise: "A job whose program cannot be executed is started, has ended as `not-started`, and says why.",
        needs: &[Need::Processes],
        steps: &[Step::Do(start_nothing), Step::Do(judge_nothing)],
    },
    Check {
        name: "jobs/times",
        promise: "An outcome has the moments of start and end, and the duration on a clock that does not jump.",
        needs: &[Need::Processes],
        steps: &[Step::Do(start_short), Step::Do(judge_times)],
    },
    Check {
        name: "jobs/greatest-numbers",
        promise: "The greatest limits are no limits: a job with them runs to its own end.",
        needs: &[Need::Processes],
        steps: &[Step::Do(start_unlimited), Step::Do(judge_unlimited)],
    },
];

fn start_codes(run: &mut Run) -> Result<(), Halt> {
    for (code, number) in CODES.into_iter().zip(0..) {
        start(&run.job(number), &shell(&format!("exit {code}")))?;
    }
    Ok(())
}

fn judge_codes(run: &mut Run) -> Result<(), Halt> {
    for (code, number) in CODES.into_iter().zip(0..) {
        let outcome = ended_by_itself(&run.job(number), code)?;
        let bytes = (outcome.output_bytes, outcome.dropped_bytes);
        same(
            "bytes that a silent job wrote and that were dropped",
            &bytes,
            &(0, 0),
        )?;
        same("what was left of it", &outcome.leftovers, &[])?;
    }
    Ok(())
}

fn start_signals(run: &mut Run) -> Result<(), Halt> {
    for ((_, name), number) in SIGNALS.into_iter().zip(0..) {
        start(&run.job(number), &shell(&format!("kill -{name} $$")))?;
    }
    Ok(())
}

fn judge_signals(run: &mut Run) -> Result<(), Halt> {
    for ((signal, _), number) in SIGNALS.into_iter().zip(0..) {
        let outcome = outcome(&run.job(number))?;
        same("how a job ended", &outcome.end, &signalled(signal))?;
        same("why it was stopped", &outcome.stopped, &None)?;
    }
    Ok(())
}

fn start_nothing(run: &mut Run) -> Result<(), Halt> {
    for (name, number) in NO_PROGRAMS.into_iter().zip(0..) {
        start(&run.job(number), &program(&[name]))?;
    }
    Ok(())
}

fn judge_nothing(run: &mut Run) -> Result<(), Halt> {
    for (name, number) in NO_PROGRAMS.into_iter().zip(0..) {
        let id = run.job(number);
        match outcome(&id)?.end {
            End::NotStarted(failure) => ensure(!failure.detail.is_empty(), || {
                format!("the program {name} was not started, and nothing says why")
            })?,
            other => return breach(format!("the program {name} is not started, not {other:?}")),
        }
        same("its output", output(&id)?.text().as_str(), "")?;
        let again = StartErrorKind::AlreadyKnown;
        super::not_startable(
            "a job that was not started, again",
            &id,
            &shell("true"),
            again,
        )?;
    }
    Ok(())
}

fn start_short(run: &mut Run) -> Result<(), Halt> {
    start(&run.job(0), &shell("sleep 0.3"))
}

fn judge_times(run: &mut Run) -> Result<(), Halt> {
    let outcome = ended_by_itself(&run.job(0), 0)?;
    plausible(run, "the moment of the start", outcome.started_at)?;
    plausible(run, "the moment of the end", outcome.ended_at)?;
    ensure(outcome.started_at <= outcome.ended_at, || {
        format!("a job ended before it started: {outcome:?}")
    })?;
    let longest = crate::limits::PATIENCE_MS;
    ensure(
        (SHORT_MS - 50..longest).contains(&outcome.duration_ms),
        || format!("a job of {SHORT_MS} ms took {} ms", outcome.duration_ms),
    )
}

fn start_unlimited(run: &mut Run) -> Result<(), Halt> {
    for (number, limit) in [(0, u64::MAX), (1, 1 << 63), (2, 1 << 31), (3, 1 << 32)] {
        let mut spec = shell("sleep 0.3; echo end; exit 5");
        spec.timeout_ms = Some(limit);
        spec.lifetime_ms = Some(limit);
        spec.grace_ms = limit;
        spec.output_limit_bytes = limit;
        start(&run.job(number), &spec)?;
    }
    Ok(())
}

fn judge_unlimited(run: &mut Run) -> Result<(), Halt> {
    for number in 0..4 {
        let outcome = outcome(&run.job(number))?;
        same(
            "how a job with great limits ended",
            &outcome.end,
            &exited(5),
        )?;
        same("why it was stopped", &outcome.stopped, &None)?;
        same(
            "its output",
            output(&run.job(number))?.text().as_str(),
            "end\n",
        )?;
    }
    Ok(())
}
