//! Looking after tasks that nobody asks about: what expires, and what a crash left behind.
//!
//! No state depends on it, as every reader finds out the truth by itself: a sweep frees space in time, stops
//! what outlived its time to live where no supervisor did, and keeps the index of live tasks short.

use super::durable::{Found, load};
use super::expire::{expire, put_off};
use super::record::State;
use super::settle::{Clock, Settled, settle};
use super::{keys, permit};
use crate::imports::{Change, Entry, Expectation, Store, StoreError, World};
use crate::limits::{SWEEP_AFTER_FAILURE_MS, SWEEP_TASKS};
use crate::rpc::RpcError;

/// Does a bounded amount of work. Gives the moment at which there is more, in milliseconds since 1970;
/// `None` where only a new task can make it necessary.
pub(crate) fn sweep(world: &mut impl World, now: u64) -> Option<u64> {
    let after_failure = Some(now.saturating_add(SWEEP_AFTER_FAILURE_MS));
    // In this order: what expires may take many commits, and `now` would be long ago for what is about to start.
    let living = sweep_live(world, now).unwrap_or(after_failure);
    let expiring = sweep_expiry(world, now).unwrap_or(after_failure);
    let confirmed = permit::sweep(world, now).unwrap_or(after_failure);
    earlier(earlier(expiring, living), confirmed)
}

fn sweep_expiry(world: &mut impl World, now: u64) -> Result<Option<u64>, StoreError> {
    let entries = world.scan(keys::EXPIRY, None, SWEEP_TASKS)?;
    let mut next = None;
    let mut is_another_page = false;
    for entry in &entries {
        let Some((moment, id)) = keys::parse_expiry(&entry.key) else {
            continue;
        };
        if moment > now {
            return Ok(earlier(next, Some(moment)));
        }
        let again_at = now.saturating_add(SWEEP_AFTER_FAILURE_MS);
        // What fails is moved to when it is tried again.
        match expire(world, now, entry, &id).or_else(|_| put_off(world, entry, &id, again_at)) {
            Ok(moment) => {
                next = earlier(next, moment);
                is_another_page = true;
            }
            Err(_) => next = earlier(next, Some(again_at)),
        }
    }
    // All of a full page was due, so more may be. Not where all of it is still there, say since the disk is full: then
    // the next sweep would see the same page.
    let is_full = entries.len() >= SWEEP_TASKS as usize;
    Ok(if is_full && is_another_page {
        earlier(next, Some(now))
    } else {
        next
    })
}

/// Looks at one page of live tasks and remembers where it stopped, so that a pass over many of them takes
/// several sweeps and then ends.
fn sweep_live(world: &mut impl World, now: u64) -> Result<Option<u64>, StoreError> {
    let cursor = world.get(keys::SWEEP_LIVE)?;
    let after = cursor.as_ref().map(|cursor| cursor.value.as_str());
    let entries = world.scan(keys::LIVE, after, SWEEP_TASKS)?;
    let mut next = None;
    for entry in &entries {
        let after_failure = Some(now.saturating_add(SWEEP_AFTER_FAILURE_MS));
        next = earlier(next, repair(world, now, entry).unwrap_or(after_failure));
    }
    match entries.last() {
        Some(last) if entries.len() >= SWEEP_TASKS as usize => {
            world.commit(vec![Change::Put {
                key: keys::SWEEP_LIVE.to_owned(),
                value: last.key.clone(),
                expect: Expectation::Anything,
            }])?;
            Ok(earlier(next, Some(now)))
        }
        _ if cursor.is_some() => {
            world.commit(vec![Change::Remove {
                key: keys::SWEEP_LIVE.to_owned(),
                expect: Expectation::Anything,
            }])?;
            Ok(next)
        }
        _ => Ok(next),
    }
}

/// Writes down the end of a live task where it has one. Gives the moment at which a job that may still be
/// started is overdue; `None` where the job runs, since its end concerns nobody but those who ask.
fn repair(world: &mut impl World, now: u64, entry: &Entry) -> Result<Option<u64>, RpcError> {
    let Some(id) = keys::parse_live(&entry.key) else {
        return Ok(None);
    };
    let loaded = match load(world, &id)? {
        Found::Task(loaded) => loaded,
        Found::Tombstone(..) | Found::Nothing => return unlist(world, entry),
    };
    match loaded.state {
        State::Terminal(_) => unlist(world, entry),
        State::Live(_) if loaded.facts.have_expired(now) => Ok(None),
        // It was listed before anything was waited for.
        State::Live(_) => match settle(world, (now, Clock::Fresh), loaded)? {
            Settled::Starting(_, start_by) => Ok(Some(start_by)),
            Settled::Working(..) | Settled::Terminal(..) | Settled::Expired => Ok(None),
        },
    }
}

fn unlist(store: &mut impl Store, entry: &Entry) -> Result<Option<u64>, RpcError> {
    store.commit(vec![Change::Remove {
        key: entry.key.clone(),
        expect: Expectation::WrittenBy(entry.version),
    }])?;
    Ok(None)
}

fn earlier(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
