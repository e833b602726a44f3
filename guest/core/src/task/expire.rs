//! What happens to a task after its time to live: job stopped and deleted, record replaced by a tombstone,
//! later the tombstone removed.

use super::durable::{Found, Loaded, load};
use super::keys::{self, Owner};
use super::record::{Facts, Tombstone};
use super::{TaskId, idempotency};
use crate::imports::{
    Change, End, Entry, Expectation, Failure, JobOutcome, JobState, Jobs, Loss, StopReason, Store,
    World,
};
use crate::limits::{SWEEP_AFTER_FAILURE_MS, SWEEP_AFTER_STOP_MS};
use crate::rpc::RpcError;

/// Does what is due for one entry of the expiry index, and puts it off where it cannot be done yet, so that
/// what is stuck does not stand in the way of what is not. Gives the moment at which the task needs
/// somebody again; `None` for never.
///
/// # Errors
/// [`RpcError::Store`] and [`RpcError::Jobs`]; the entry stays.
pub(crate) fn expire(
    world: &mut impl World,
    now: u64,
    entry: &Entry,
    id: &TaskId,
) -> Result<Option<u64>, RpcError> {
    match load(world, id)? {
        Found::Nothing => {
            world.commit(vec![remove_entry(entry)])?;
            Ok(None)
        }
        Found::Task(loaded) => expire_task(world, now, entry, &loaded),
        Found::Tombstone(tombstone, version) => {
            world.forget(id.as_str())?;
            if now < tombstone.removal_at() {
                return put_off(world, entry, id, tombstone.removal_at());
            }
            let record = Change::Remove {
                key: keys::task(id),
                expect: Expectation::WrittenBy(version),
            };
            world.commit(vec![record, remove_entry(entry)])?;
            Ok(None)
        }
    }
}

fn expire_task(
    world: &mut impl World,
    now: u64,
    entry: &Entry,
    loaded: &Loaded,
) -> Result<Option<u64>, RpcError> {
    let facts = &loaded.facts;
    let id = facts.id.as_str();
    let Some(outcome) = end_job(world, &facts.id)? else {
        return put_off(
            world,
            entry,
            &facts.id,
            now.saturating_add(SWEEP_AFTER_STOP_MS),
        );
    };
    let tombstone = Tombstone {
        principal: facts.principal.clone(),
        expired_at: facts.expires_at().unwrap_or(now),
    };
    let removal_at = tombstone.removal_at();
    // Only that the host knows a job that never started keeps its server, which may be slow, from starting it: that
    // one is forgotten with the tombstone.
    let keep = outcome.end == End::Lost(Loss::NeverStarted);
    // Any other is forgotten now. Whoever dies before that, or fails, leaves it to a sweep that comes soon.
    let soon = now.saturating_add(SWEEP_AFTER_FAILURE_MS);
    let next = if keep { removal_at } else { soon };
    let mut changes = burial(world, loaded, &tombstone)?;
    changes.extend(moved(entry, keys::expiry(next, &facts.id)));
    world.commit(changes)?;
    if keep || world.forget(id).is_err() {
        return Ok(Some(next));
    }
    world.commit(vec![
        remove(keys::expiry(next, &facts.id)),
        put_entry(keys::expiry(removal_at, &facts.id)),
    ])?;
    Ok(Some(removal_at))
}

/// Has the job of an expired task stopped. Gives its outcome where it is over, and `None` while something of it
/// runs.
///
/// # Errors
/// Those of [`Jobs`].
pub(super) fn end_job(jobs: &mut impl Jobs, id: &TaskId) -> Result<Option<JobOutcome>, Failure> {
    let id = id.as_str();
    if matches!(jobs.inspect(id)?, JobState::Running(_) | JobState::Unknown) {
        // An unknown job is thereby never started, should its server still be about to.
        jobs.stop(id, StopReason::Expired)?;
    }
    match jobs.inspect(id)? {
        JobState::Ended(outcome) => Ok(Some(outcome)),
        JobState::Running(_) | JobState::Unknown => Ok(None),
    }
}

/// All that changes when a task becomes a tombstone.
fn burial(
    store: &mut impl Store,
    loaded: &Loaded,
    tombstone: &Tombstone,
) -> Result<Vec<Change>, RpcError> {
    let Facts {
        id,
        principal,
        created_at,
        ..
    } = &*loaded.facts;
    let owner = Owner::new(principal)?.task(*created_at, id);
    let mut changes = vec![
        Change::Put {
            key: keys::task(id),
            value: tombstone.to_text(),
            expect: Expectation::WrittenBy(loaded.version),
        },
        remove(keys::live(id)),
        remove(keys::misfit(id)),
        remove(owner),
    ];
    changes.extend(idempotency::release(store, &loaded.facts)?);
    Ok(changes)
}

/// Moves an entry of the expiry index to another moment.
///
/// # Errors
/// [`RpcError::Store`]; the entry stays.
pub(crate) fn put_off(
    store: &mut impl Store,
    entry: &Entry,
    id: &TaskId,
    moment: u64,
) -> Result<Option<u64>, RpcError> {
    store.commit(moved(entry, keys::expiry(moment, id)))?;
    Ok(Some(moment))
}

/// The same key twice in a commit is not allowed, so an entry that stays where it is has no change.
fn moved(entry: &Entry, to: String) -> Vec<Change> {
    if entry.key == to {
        return Vec::new();
    }
    vec![remove_entry(entry), put_entry(to)]
}

fn put_entry(key: String) -> Change {
    Change::Put {
        key,
        value: "{}".to_owned(),
        expect: Expectation::Anything,
    }
}

fn remove_entry(entry: &Entry) -> Change {
    Change::Remove {
        key: entry.key.clone(),
        // Of two servers that sweep at the same time, one does the work.
        expect: Expectation::WrittenBy(entry.version),
    }
}

fn remove(key: String) -> Change {
    Change::Remove {
        key,
        expect: Expectation::Anything,
    }
}
