//! Which task an idempotency key stands for.

use super::TaskId;
use super::durable::{Found, Loaded, load};
use super::expire::end_job;
use super::keys::Owner;
use super::record::{Facts, State};
use crate::imports::{
    Change, Expectation, Failure, Jobs, Store, StoreError, StoreErrorKind, World,
};
use crate::rpc::RpcError;
use crate::wording::About;

/// What an idempotency key stands for.
#[derive(Debug)]
pub(crate) enum Claim {
    /// Nothing, or a task that has expired and whose job is over. Who takes it has to expect this.
    Free(Expectation),
    /// This task.
    Taken(Box<Loaded>),
    /// This task, which has expired. Its job is being stopped, and must not run beside another one of the same key.
    Ending(TaskId),
}

/// Reads what the key of a call of such a tool, whose entry is at `slot`, stands for at `now`. Where that is a task that has
/// expired, its job is stopped.
///
/// # Errors
/// [`RpcError::Store`] and [`RpcError::Jobs`].
pub(crate) fn claim(
    world: &mut impl World,
    now: u64,
    (slot, about): (&str, About),
) -> Result<Claim, RpcError> {
    let Some(entry) = world.get(slot)? else {
        return Ok(Claim::Free(Expectation::Absent));
    };
    let free = Claim::Free(Expectation::WrittenBy(entry.version));
    let id = serde_json::from_str::<TaskId>(&entry.value).map_err(|error| StoreError {
        kind: StoreErrorKind::Corrupt,
        // Not free: nobody knows whether the command has run.
        detail: format!("what is kept of {} cannot be read: {error}", about.key()),
    })?;
    Ok(match load(world, &id)? {
        Found::Task(loaded) if !loaded.facts.have_expired(now) => Claim::Taken(Box::new(loaded)),
        Found::Task(loaded) if !is_over(world, &loaded)? => Claim::Ending(id),
        Found::Task(_) | Found::Tombstone(..) | Found::Nothing => free,
    })
}

fn is_over(jobs: &mut impl Jobs, loaded: &Loaded) -> Result<bool, Failure> {
    match loaded.state {
        State::Terminal(_) => Ok(true),
        State::Live(_) => Ok(end_job(jobs, &loaded.facts.id)?.is_some()),
    }
}

/// What is under a key's entry: the task's id.
pub(crate) fn entry(id: &TaskId) -> String {
    // 36 characters without any that JSON escapes.
    format!("\"{}\"", id.as_str())
}

/// The change that frees the task's key; `None` where it has none, or the key stands for another task by
/// now.
///
/// # Errors
/// [`RpcError::Store`], and those of [`Owner::new`].
pub(crate) fn release(store: &mut impl Store, facts: &Facts) -> Result<Option<Change>, RpcError> {
    let Some(key) = &facts.idempotency_key else {
        return Ok(None);
    };
    let Some(slot) = Owner::new(&facts.principal)?.idempotency_key(facts.tool_name(), key) else {
        return Ok(None);
    };
    let ours = store
        .get(&slot)?
        .filter(|found| found.value == entry(&facts.id));
    Ok(ours.map(|found| Change::Remove {
        key: slot,
        expect: Expectation::WrittenBy(found.version),
    }))
}
