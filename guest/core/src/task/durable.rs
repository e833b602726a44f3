//! What is certain to survive a power failure.
//!
//! The field of [`Durable`] is private to this module, and the only ways to one are a commit that
//! succeeded and a read. The handle of a task and the ticket of a call that waits for one are made of a
//! `Durable` alone, and a result gets the id from a ticket or from a record that was read. So no reply can
//! name a task whose record might still be lost.

use std::ops::Deref;

use super::keys::Owner;
use super::page::page;
use super::record::{Facts, State, Stored, TaskRecord, Tombstone, principal_in};
use super::{TaskId, keys};
use crate::imports::{Change, Expectation, Store, StoreError, StoreErrorKind, Versioned};
use crate::limits::OWN_TASKS;

/// A value that the store holds.
#[derive(Clone, Debug)]
pub(crate) struct Durable<T> {
    value: T,
}

impl<T> Deref for Durable<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// A task as it was read, and the writing that it came from.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    /// What never changes.
    pub(crate) facts: Durable<Facts>,
    /// Whether its end has been written down.
    pub(crate) state: State,
    /// The writing, which a change of the record has to expect.
    pub(crate) version: u64,
}

/// What is under a task's key.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "it is moved a few times in a request, most of which find a task"
)]
pub(crate) enum Found {
    /// Nothing.
    Nothing,
    /// A task.
    Task(Loaded),
    /// A tombstone, and the writing that it came from.
    Tombstone(Tombstone, u64),
}

/// Reads what is under a task's key.
///
/// # Errors
/// Those of [`Store::get`], and [`StoreErrorKind::Corrupt`] where the value is not ours or newer than we
/// are.
pub(crate) fn load(store: &mut impl Store, id: &TaskId) -> Result<Found, StoreError> {
    match store.get(&keys::task(id))? {
        Some(entry) => read(id, &entry),
        None => Ok(Found::Nothing),
    }
}

/// As [`load`], for this principal: a record that cannot be read is nothing, unless it can be told from it, or from the
/// list of this principal's tasks, that it is theirs. Otherwise anybody would learn that there is such a task.
///
/// # Errors
/// As [`load`].
pub(crate) fn load_own(
    store: &mut impl Store,
    principal: &str,
    id: &TaskId,
) -> Result<Found, StoreError> {
    let Some(entry) = store.get(&keys::task(id))? else {
        return Ok(Found::Nothing);
    };
    let found = read(id, &entry);
    if found.is_ok() {
        return found;
    }
    let is_own = match principal_in(&entry.value) {
        Some(owner) => owner == principal,
        None => is_listed(store, principal, id)?,
    };
    if is_own { found } else { Ok(Found::Nothing) }
}

/// Whether a task is among those of this principal. They are listed by their time, which only the record says.
fn is_listed(store: &mut impl Store, principal: &str, id: &TaskId) -> Result<bool, StoreError> {
    // Who cannot be recorded has no tasks.
    let Ok(owner) = Owner::new(principal) else {
        return Ok(false);
    };
    let (prefix, (limit, pages)) = (owner.tasks(), OWN_TASKS);
    let mut after: Option<String> = None;
    for _ in 0..pages {
        let entries = page(store, &prefix, after.as_deref(), limit)?;
        if entries.iter().any(|entry| entry.key.ends_with(id.as_str())) {
            return Ok(true);
        }
        match entries.into_iter().last() {
            Some(last) => after = Some(last.key),
            None => break,
        }
    }
    Ok(false)
}

fn read(id: &TaskId, entry: &Versioned) -> Result<Found, StoreError> {
    let stored = serde_json::from_str(&entry.value).map_err(|error| StoreError {
        kind: StoreErrorKind::Corrupt,
        detail: format!(
            "the record of task {} cannot be read, it may come from a newer version: {error}",
            id.as_str()
        ),
    })?;
    Ok(match stored {
        Stored::Task(TaskRecord { facts, state }) => Found::Task(Loaded {
            facts: Durable { value: facts },
            state,
            version: entry.version,
        }),
        Stored::Tombstone(tombstone) => Found::Tombstone(tombstone, entry.version),
    })
}

/// Writes a task's record where `expect` holds, together with `others`, as one commit.
///
/// # Errors
/// Those of [`Store::commit`]; then nothing has changed.
pub(crate) fn write(
    store: &mut impl Store,
    record: TaskRecord,
    expect: Expectation,
    others: Vec<Change>,
) -> Result<Durable<Facts>, StoreError> {
    let mut changes = vec![Change::Put {
        key: keys::task(&record.facts.id),
        value: record.to_text(),
        expect,
    }];
    changes.extend(others);
    store.commit(changes)?;
    Ok(Durable {
        value: record.facts,
    })
}
