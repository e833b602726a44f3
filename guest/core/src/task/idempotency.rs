//! Which task an idempotency key stands for.

use super::TaskId;
use super::durable::{Found, Loaded, load};
use super::keys::Owner;
use super::record::Facts;
use crate::imports::{Change, Expectation, Store, StoreError};
use crate::rpc::RpcError;

/// What an idempotency key stands for.
#[derive(Debug)]
pub(crate) enum Claim {
    /// Nothing, or a task that has expired. Who takes it has to expect this.
    Free(Expectation),
    /// This task.
    Taken(Loaded),
}

/// Reads what the key whose entry is at `slot` stands for at `now`.
///
/// # Errors
/// Those of [`Store::get`].
pub(crate) fn claim(store: &mut impl Store, now: u64, slot: &str) -> Result<Claim, StoreError> {
    let Some(entry) = store.get(slot)? else {
        return Ok(Claim::Free(Expectation::Absent));
    };
    let free = Claim::Free(Expectation::WrittenBy(entry.version));
    let Ok(id) = serde_json::from_str::<TaskId>(&entry.value) else {
        return Ok(free);
    };
    Ok(match load(store, &id)? {
        Found::Task(loaded) if !loaded.facts.have_expired(now) => Claim::Taken(loaded),
        Found::Task(_) | Found::Tombstone(..) | Found::Nothing => free,
    })
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
    let Some(slot) = Owner::new(&facts.principal)?.idempotency_key(key) else {
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
