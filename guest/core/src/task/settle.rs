//! Finding out a task's state, and writing its end down where nobody has done so before.

use super::derive::{Derived, derive};
use super::durable::{Found, Loaded, load, write};
use super::record::{Facts, Live, State, TaskRecord, Terminal};
use super::{Durable, keys};
use crate::imports::{Change, Expectation, Progress, Store, StoreError, StoreErrorKind, World};
use crate::limits::CONFLICT_ATTEMPTS;
use crate::rpc::RpcError;

/// The state of a task.
#[derive(Debug)]
pub(crate) enum Settled {
    /// Its job is about to start, or never will be: that is certain at this moment, in milliseconds since 1970. Where it is
    /// the present, only whoever asks again with a fresh clock is told when.
    Starting(Durable<Facts>, u64),
    /// Its job runs.
    Working(Durable<Facts>, Progress),
    /// It has ended.
    Terminal(Durable<Facts>, Terminal),
    /// Its time to live has passed.
    Expired,
}

/// What is known of `now`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// The record was there already when it was the present.
    Fresh,
    /// The record may have been made since: whoever has it may have committed, and waited for others. It must not be taken
    /// to have waited for its job from then on.
    Old,
}

/// Finds out a task's state. Where the job is not known and the clock is old, that is to be asked again at once. The
/// first reader of an end writes it down; where it cannot, for example since the disk is full, the answer is the same, as
/// the job keeps it.
///
/// # Errors
/// [`RpcError::Store`], [`RpcError::Jobs`], and [`RpcError::UnknownTask`] where the task was taken back
/// meanwhile.
pub(crate) fn settle(
    world: &mut impl World,
    (now, clock): (u64, Clock),
    loaded: Loaded,
) -> Result<Settled, RpcError> {
    let id = loaded.facts.id.clone();
    let mut loaded = loaded;
    for _ in 0..CONFLICT_ATTEMPTS {
        if let Some(settled) = attempt(world, (now, clock), loaded)? {
            return Ok(settled);
        }
        loaded = match load(world, &id)? {
            Found::Task(loaded) => loaded,
            Found::Tombstone(..) => return Ok(Settled::Expired),
            Found::Nothing => return Err(RpcError::UnknownTask),
        };
    }
    Err(RpcError::Internal(
        "other servers keep changing this task: try again",
    ))
}

/// Settles what was loaded; `None` where somebody else wrote in between.
fn attempt(
    world: &mut impl World,
    (now, clock): (u64, Clock),
    loaded: Loaded,
) -> Result<Option<Settled>, RpcError> {
    let Loaded {
        facts,
        state,
        version,
    } = loaded;
    let live = match state {
        State::Live(live) => live,
        State::Terminal(terminal) => return Ok(Some(Settled::Terminal(facts, terminal))),
    };
    let (terminal, basis) = match derive(world, now, &facts, live)? {
        Derived::Starting(_) if live.seen_at.is_none() && clock == Clock::Old => {
            return Ok(Some(Settled::Starting(facts, now)));
        }
        Derived::Starting(start_by) => {
            let is_current = live.seen_at.is_some() || see(world, now, &facts, live, version);
            return Ok(is_current.then_some(Settled::Starting(facts, start_by)));
        }
        Derived::Working(progress) => return Ok(Some(Settled::Working(facts, progress))),
        Derived::Expired => return Ok(Some(Settled::Expired)),
        Derived::Ended(terminal) => (terminal, Basis::Job),
        Derived::NeverRan(terminal) => (terminal, Basis::Record),
    };
    match (end(world, &facts, &terminal, version), basis) {
        (Err(error), _) if error.kind == StoreErrorKind::Conflict => Ok(None),
        (Err(error), Basis::Record) => Err(error.into()),
        (Ok(()), _) | (Err(_), Basis::Job) => Ok(Some(Settled::Terminal(facts, terminal))),
    }
}

/// What an end rests on until it is written down.
#[derive(Clone, Copy)]
enum Basis {
    /// The job's outcome, which never changes: whoever derives it again gets the same.
    Job,
    /// The record, which the owner may still change by a cancellation: only a commit decides.
    Record,
}

/// Writes down that somebody came upon a task whose job is not known, so that its server is waited for from now on.
/// Gives false where somebody else wrote in between. Where it cannot be written down, the next one who comes does that; a
/// task is not waited for in vain, as there is a last moment for its start in any case.
fn see(store: &mut impl Store, now: u64, facts: &Durable<Facts>, live: Live, version: u64) -> bool {
    let record = TaskRecord {
        facts: Facts::clone(facts),
        state: State::Live(Live {
            seen_at: Some(now),
            ..live
        }),
    };
    let written = write(store, record, Expectation::WrittenBy(version), Vec::new());
    !matches!(written, Err(error) if error.kind == StoreErrorKind::Conflict)
}

/// Writes down how a task ended, where its record is still that of this version.
///
/// # Errors
/// Those of [`Store::commit`]; then nothing has changed.
pub(super) fn end(
    store: &mut impl Store,
    facts: &Facts,
    terminal: &Terminal,
    version: u64,
) -> Result<(), StoreError> {
    let record = TaskRecord {
        facts: facts.clone(),
        state: State::Terminal(terminal.clone()),
    };
    let no_longer_live = Change::Remove {
        key: keys::live(&facts.id),
        expect: Expectation::Anything,
    };
    write(
        store,
        record,
        Expectation::WrittenBy(version),
        vec![no_longer_live],
    )?;
    Ok(())
}
