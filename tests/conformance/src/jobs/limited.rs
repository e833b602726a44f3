//! More output than is to be kept.

use super::{Spec, ended_by_itself, output, shell, start};
use crate::check::{Check, Need, Step};
use crate::expect::{Halt, ensure, same};
use crate::run::Run;

/// How many bytes are to be kept.
const LIMIT_BYTES: u64 = 100_000;

/// How many bytes are written between the first line and the last.
const BETWEEN_BYTES: u64 = 1_000_000;

/// What is written in all.
const WRITTEN_BYTES: u64 = BETWEEN_BYTES + 11;

pub(super) const CHECKS: &[Check] = &[Check {
    name: "jobs/output-limit",
    promise: "Of more output than the limit the beginning and the end are kept, and what is dropped is counted.",
    needs: &[Need::Processes],
    steps: &[Step::Do(start_torrent), Step::Do(judge_torrent)],
}];

fn start_torrent(run: &mut Run) -> Result<(), Halt> {
    let spec = Spec {
        output_limit_bytes: LIMIT_BYTES,
        ..shell(&format!(
            "echo first; yes | head -c {BETWEEN_BYTES}; echo last"
        ))
    };
    start(&run.job(0), &spec)
}

fn judge_torrent(run: &mut Run) -> Result<(), Halt> {
    let outcome = ended_by_itself(&run.job(0), 0)?;
    let output = output(&run.job(0))?;
    let kept = output.kept();
    same(
        "bytes that were written",
        &outcome.output_bytes,
        &WRITTEN_BYTES,
    )?;
    same(
        "bytes that were dropped",
        &outcome.dropped_bytes,
        &(WRITTEN_BYTES - kept),
    )?;
    // Some of the limit may be what the host needs to know which bytes are whose.
    ensure((LIMIT_BYTES / 2..=LIMIT_BYTES).contains(&kept), || {
        format!("of {LIMIT_BYTES} bytes that are to be kept there are {kept}")
    })?;
    let text = output.text();
    ensure(text.starts_with("first\ny\n"), || {
        "the beginning is not kept".to_owned()
    })?;
    ensure(text.ends_with("y\nlast\n"), || {
        "the end is not kept".to_owned()
    })?;
    let end = output
        .fragments
        .last()
        .map(|it| it.offset + it.bytes.len() as u64);
    same("where the last fragment ends", &end, &Some(WRITTEN_BYTES))
}
