//! What a job wrote, byte for byte.

use super::{
    Stream, ended_by_itself, output, plausible, progress, read, shell, start, stop, written,
};
use crate::check::{Check, Need, Step};
use crate::expect::{Halt, ensure, same};
use crate::limits::READ_BYTES_MAX;
use crate::run::Run;

/// How many bytes a job writes to each stream: with both together more than one `read` gives.
const LARGE_BYTES: usize = 200_000;

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "jobs/bytes",
        promise: "Output is kept byte for byte, of each stream, without a gap, whatever bytes it is.",
        needs: &[Need::Processes],
        steps: &[Step::Do(start_bytes), Step::Do(judge_bytes)],
    },
    Check {
        name: "jobs/arrival",
        promise: "Output of both streams is read in the order of its arrival, with offsets that count both.",
        needs: &[Need::Processes],
        steps: &[Step::Do(start_alternating), Step::Do(judge_alternating)],
    },
    Check {
        name: "jobs/offsets",
        promise: "`read` gives at most `limit` bytes from any offset, the middle of a character as well, and nothing at the end.",
        needs: &[Need::Processes],
        steps: &[Step::Do(start_line), Step::Do(judge_offsets)],
    },
    Check {
        name: "jobs/large-output",
        promise: "Nothing of a large output within the limit is lost or dropped.",
        needs: &[Need::Processes],
        steps: &[Step::Do(start_large), Step::Do(judge_large)],
    },
    Check {
        name: "jobs/progress",
        promise: "While a job runs its output can be read, and its progress says since when, how long and how much.",
        needs: &[Need::Processes],
        steps: &[
            Step::Do(start_lasting),
            Step::Do(judge_progress),
            Step::Do(judge_more),
        ],
    },
];

fn start_bytes(run: &mut Run) -> Result<(), Halt> {
    let line = r"printf 'a\377\000\303'; printf 'oops\200\r\n' >&2; printf '\303\n\033[0mz'";
    start(&run.job(0), &shell(line))
}

fn judge_bytes(run: &mut Run) -> Result<(), Halt> {
    let outcome = ended_by_itself(&run.job(0), 0)?;
    let output = output(&run.job(0))?;
    let stdout = b"a\xff\0\xc3\xc3\n\x1b[0mz";
    same(
        "standard output",
        output.of(Stream::Stdout).as_slice(),
        stdout.as_slice(),
    )?;
    same(
        "standard error",
        output.of(Stream::Stderr).as_slice(),
        b"oops\x80\r\n".as_slice(),
    )?;
    ensure(output.is_contiguous(), || {
        "there is a gap in the output".to_owned()
    })?;
    for fragment in &output.fragments {
        plausible(run, "the moment of a piece of output", fragment.at)?;
    }
    let bytes = (outcome.output_bytes, outcome.dropped_bytes);
    same(
        "bytes that were written and dropped",
        &bytes,
        &(output.kept(), 0),
    )
}

fn start_alternating(run: &mut Run) -> Result<(), Halt> {
    // The pauses are for hosts that learn which stream was first from which pipe they find filled.
    let line = "printf one; sleep 0.5; printf two >&2; sleep 0.5; printf three";
    start(&run.job(0), &shell(line))
}

fn judge_alternating(run: &mut Run) -> Result<(), Halt> {
    ended_by_itself(&run.job(0), 0)?;
    let found = output(&run.job(0))?.turns();
    let wanted = [
        (0, Stream::Stdout, "one"),
        (3, Stream::Stderr, "two"),
        (6, Stream::Stdout, "three"),
    ];
    let wanted = wanted.map(|(offset, stream, text)| (offset, stream, text.as_bytes().to_vec()));
    same(
        "what the streams wrote in turn",
        found.as_slice(),
        wanted.as_slice(),
    )
}

fn start_line(run: &mut Run) -> Result<(), Halt> {
    start(&run.job(0), &shell(r"printf 'caf\303\251s\n'"))
}

fn judge_offsets(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    ended_by_itself(&id, 0)?;
    let text = b"caf\xc3\xa9s\n";
    let cases: [(u64, u32); 7] = [
        (0, 1),
        (0, 7),
        (0, READ_BYTES_MAX),
        (3, 1),
        (4, 1),
        (4, 100),
        (6, 1),
    ];
    for (offset, limit) in cases {
        let found = read(&id, offset, limit)?;
        let what = format!("`read` from {offset} with limit {limit}");
        ensure(!found.is_empty() && found[0].offset == offset, || {
            format!("{what}: {found:?}")
        })?;
        let bytes: Vec<u8> = found.into_iter().flat_map(|it| it.bytes).collect();
        let rest = &text[offset as usize..];
        ensure(rest.starts_with(&bytes), || {
            format!("{what}: found {bytes:?}, wanted the start of {rest:?}")
        })?;
    }
    for offset in [7, 8, 1 << 31, 1 << 53, u64::MAX] {
        same(
            &format!("`read` from {offset} of 7 bytes"),
            &read(&id, offset, 100)?,
            &[],
        )?;
    }
    Ok(())
}

fn start_large(run: &mut Run) -> Result<(), Halt> {
    let line =
        format!("yes 12345678 | head -c {LARGE_BYTES}; yes abcdefg | head -c {LARGE_BYTES} >&2");
    start(&run.job(0), &shell(&line))
}

fn judge_large(run: &mut Run) -> Result<(), Halt> {
    let outcome = ended_by_itself(&run.job(0), 0)?;
    let output = output(&run.job(0))?;
    let wanted =
        |line: &[u8]| -> Vec<u8> { line.iter().copied().cycle().take(LARGE_BYTES).collect() };
    for (stream, line) in [
        (Stream::Stdout, b"12345678\n".as_slice()),
        (Stream::Stderr, b"abcdefg\n"),
    ] {
        ensure(output.of(stream) == wanted(line), || {
            format!(
                "{stream:?} is not what was written: {} bytes of {LARGE_BYTES}",
                output.of(stream).len()
            )
        })?;
    }
    ensure(output.is_contiguous(), || {
        "there is a gap in the output".to_owned()
    })?;
    let bytes = (outcome.output_bytes, outcome.dropped_bytes);
    same(
        "bytes that were written and dropped",
        &bytes,
        &(2 * LARGE_BYTES as u64, 0),
    )
}

fn start_lasting(run: &mut Run) -> Result<(), Halt> {
    start(
        &run.job(0),
        &shell("echo up; sleep 0.5; echo more; exec sleep 60"),
    )
}

fn judge_progress(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    progress(&id)?;
    written(&id, "up\nmore\n")?;
    let found = progress(&id)?;
    plausible(run, "the moment of the start", found.started_at)?;
    same("bytes of output", &found.output_bytes, &8)?;
    same("why it is being stopped", &found.stopping, &None)?;
    ensure(
        (400..crate::limits::PATIENCE_MS).contains(&found.running_ms),
        || {
            format!(
                "after half a second a job has run for {} ms",
                found.running_ms
            )
        },
    )?;
    match found.last_output_at {
        Some(at) => plausible(run, "the moment of the last output", at)?,
        None => return crate::expect::breach("a job wrote, and nothing says when"),
    }
    run.remember(found.running_ms.to_string());
    Ok(())
}

/// Time passes for a job that runs, and is not counted from when somebody looked.
fn judge_more(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    let before: u64 = run.remembered().parse().unwrap_or(0);
    let now = progress(&id)?.running_ms;
    if now == before {
        return Err(Halt::Wait {
            jobs: Vec::new(),
            what: format!("a job that has run for {now} ms to have run for longer"),
        });
    }
    ensure(now > before, || {
        format!("a job had run for {before} ms and then for {now} ms")
    })?;
    stop(&id, super::StopReason::Cancelled)
}
