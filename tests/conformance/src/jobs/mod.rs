//! The promises of `jobs`.

mod asking;
mod ends;
mod forgetting;
mod input;
mod lasting;
mod limited;
mod once;
mod output;
mod prompts;
mod questions;
mod stopping;
mod whole;

use crate::bindings::backburner::server::jobs as wit;
use crate::check::Check;
use crate::expect::{Halt, breach, ensure, same, shown};
use crate::limits::{ALONE_MS, CLOCK_ERROR_MS, READ_BYTES_MAX};
use crate::run::Run;

use wit::{
    Command, End, Fragment, LossKind, Outcome, Progress, Spec, StartErrorKind, State, StopCause,
    StopReason, Stream,
};

/// All of them, what the others rely on first.
pub(crate) const CHECKS: &[&[Check]] = &[
    ends::CHECKS,
    once::CHECKS,
    input::CHECKS,
    output::CHECKS,
    limited::CHECKS,
    questions::CHECKS,
    asking::CHECKS,
    prompts::CHECKS,
    stopping::CHECKS,
    whole::CHECKS,
    forgetting::CHECKS,
    lasting::CHECKS,
];

/// A shell line, in the root directory, without limits that a check would reach.
fn shell(line: &str) -> Spec {
    Spec {
        command: Command::Shell(line.to_owned()),
        directory: Some("/".to_owned()),
        environment: Vec::new(),
        stdin: String::new(),
        interactive: false,
        timeout_ms: None,
        lifetime_ms: None,
        grace_ms: 30_000,
        output_limit_bytes: 16 << 20,
    }
}

/// A program, otherwise like [`shell`].
fn program(words: &[&str]) -> Spec {
    Spec {
        command: Command::Program(words.iter().map(|word| (*word).to_owned()).collect()),
        ..shell("")
    }
}

/// A job that does not end when it is asked to, which has to be killed after this grace.
fn stubborn(grace_ms: u64) -> Spec {
    Spec {
        grace_ms,
        ..shell("trap '' TERM; echo up; while :; do sleep 0.05; done")
    }
}

/// Starts what has to start.
fn start(id: &str, spec: &Spec) -> Result<(), Halt> {
    wit::start(id, spec).or_else(|error| breach(format!("a start failed: {}", shown(&error))))
}

/// Starts what must not start.
fn not_startable(what: &str, id: &str, spec: &Spec, wanted: StartErrorKind) -> Result<(), Halt> {
    match wit::start(id, spec) {
        Ok(()) => breach(format!("{what} was started; wanted the error {wanted:?}")),
        Err(error) => same(what, &error.kind, &wanted),
    }
}

fn stop(id: &str, reason: StopReason) -> Result<(), Halt> {
    wit::stop(id, reason).or_else(|failure| breach(format!("`stop` failed: {}", failure.detail)))
}

fn forget(id: &str) -> Result<(), Halt> {
    wit::forget(id).or_else(|failure| breach(format!("`forget` failed: {}", failure.detail)))
}

fn inspect(id: &str) -> Result<State, Halt> {
    wit::inspect(id).or_else(|failure| breach(format!("`inspect` failed: {}", failure.detail)))
}

/// What became of a job; waits until it has ended.
fn outcome(id: &str) -> Result<Outcome, Halt> {
    match inspect(id)? {
        State::Ended(outcome) => Ok(outcome),
        State::Running(progress) => Err(Halt::Wait {
            jobs: vec![id.to_owned()],
            what: format!("a job to end, which is {}", shown(&progress)),
        }),
        State::Unknown => breach("a job that was started is unknown"),
    }
}

/// What is known of a job that has to run.
fn progress(id: &str) -> Result<Progress, Halt> {
    match inspect(id)? {
        State::Running(progress) => Ok(progress),
        other => breach(format!("a job that runs is {}", shown(&other))),
    }
}

/// Waits until a job that runs has written this text, and nothing else.
fn written(id: &str, text: &str) -> Result<(), Halt> {
    let found = output(id)?.text();
    if found == text {
        return Ok(());
    }
    ensure(text.starts_with(&found), || {
        format!("a job wrote {found:?}; wanted {text:?}")
    })?;
    progress(id)?;
    Err(Halt::Wait {
        jobs: Vec::new(),
        what: format!("the output {text:?} of a job that runs; there is {found:?}"),
    })
}

/// How a job that nobody stops has to end.
fn ended_by_itself(id: &str, code: u8) -> Result<Outcome, Halt> {
    let outcome = outcome(id)?;
    same("how a job ended", &outcome.end, &exited(code))?;
    same("why it was stopped", &outcome.stopped, &None)?;
    Ok(outcome)
}

/// What became of a job that was stopped for this reason; waits until it has ended.
fn stopped(id: &str, cause: StopCause) -> Result<Outcome, Halt> {
    let outcome = outcome(id)?;
    same("why it was stopped", &outcome.stopped, &Some(cause))?;
    Ok(outcome)
}

fn exited(code: u8) -> End {
    End::Exited(wit::Exit { code })
}

fn signalled(signal: &str) -> End {
    End::Signalled(wit::Death {
        signal: signal.to_owned(),
        core_dumped: false,
    })
}

fn never_started() -> End {
    End::Lost(wit::Loss {
        kind: LossKind::NeverStarted,
    })
}

/// All that is kept of what a job wrote, in the order of arrival.
struct Output {
    fragments: Vec<Fragment>,
}

/// Reads all output there is now, piece by piece.
fn output(id: &str) -> Result<Output, Halt> {
    let mut fragments = Vec::new();
    let mut offset = 0;
    loop {
        let piece = read(id, offset, READ_BYTES_MAX)?;
        let Some(last) = piece.last() else {
            return Ok(Output { fragments });
        };
        offset = last.offset + last.bytes.len() as u64;
        fragments.extend(piece);
    }
}

/// One call of `read`, with what has to be true of each.
fn read(id: &str, offset: u64, limit: u32) -> Result<Vec<Fragment>, Halt> {
    let fragments = wit::read(id, offset, limit)
        .or_else(|failure| breach(format!("`read` failed: {}", failure.detail)))?;
    let mut end = offset;
    let mut bytes = 0;
    for fragment in &fragments {
        ensure(fragment.offset >= end && !fragment.bytes.is_empty(), || {
            format!(
                "a fragment of {} bytes at {} where the one before, or what was read from, ends at {end}",
                fragment.bytes.len(),
                fragment.offset
            )
        })?;
        bytes += fragment.bytes.len();
        end = fragment.offset + fragment.bytes.len() as u64;
    }
    ensure(bytes <= limit as usize, || {
        format!("`read` with limit {limit} gave {bytes} bytes")
    })?;
    Ok(fragments)
}

impl Output {
    /// What was written to both streams, as text.
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes(|_| true)).into_owned()
    }

    /// What was written to one stream.
    fn of(&self, stream: Stream) -> Vec<u8> {
        self.bytes(|fragment| fragment.stream == stream)
    }

    fn bytes(&self, is_wanted: impl Fn(&Fragment) -> bool) -> Vec<u8> {
        let wanted = self.fragments.iter().filter(|it| is_wanted(it));
        wanted.flat_map(|it| it.bytes.iter().copied()).collect()
    }

    /// What the streams wrote in turn, and how many bytes came before. Into how many fragments a host cuts what one
    /// stream wrote is its own business.
    fn turns(&self) -> Vec<(u64, Stream, Vec<u8>)> {
        let mut turns: Vec<(u64, Stream, Vec<u8>)> = Vec::new();
        for fragment in &self.fragments {
            match turns.last_mut() {
                Some((_, stream, bytes)) if *stream == fragment.stream => {
                    bytes.extend(&fragment.bytes);
                }
                _ => turns.push((fragment.offset, fragment.stream, fragment.bytes.clone())),
            }
        }
        turns
    }

    /// How many bytes are kept.
    fn kept(&self) -> u64 {
        self.fragments.iter().map(|it| it.bytes.len() as u64).sum()
    }

    /// Whether nothing is missing between the first byte and the last.
    fn is_contiguous(&self) -> bool {
        let mut end = 0;
        self.fragments.iter().all(|it| {
            let follows = it.offset == end;
            end += it.bytes.len() as u64;
            follows
        })
    }
}

/// Keeps until when no host runs after this step, where the next one is a restart of [`ALONE_MS`].
fn leave_alone(run: &mut Run) {
    run.remember(run.now().saturating_add(ALONE_MS).to_string());
}

/// What was promised has to have happened by itself, before the next host began.
fn happened_alone(run: &Run, what: &str, at: u64) -> Result<(), Halt> {
    let until = run.remembered().parse().unwrap_or(0);
    ensure(at < until, || {
        format!(
            "{what} at {at} ms since 1970, when the next host had begun: none ran until {until}"
        )
    })
}

/// A time that the host gave has to be one of this check's.
fn plausible(run: &Run, what: &str, at: u64) -> Result<(), Halt> {
    ensure(at.abs_diff(run.now()) < CLOCK_ERROR_MS, || {
        format!(
            "{what} is {at} ms since 1970; the present is {} ms",
            run.now()
        )
    })
}
