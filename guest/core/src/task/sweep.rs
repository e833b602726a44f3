//! Looking after tasks that nobody asks about: what expires, and what a crash left behind.
//!
//! No state depends on it, as every reader finds out the truth by itself: a sweep frees space in time, stops
//! what outlived its time to live where no supervisor did, and keeps the index of live tasks short.

use super::durable::{Found, load};
use super::expire::{expire, put_off};
use super::page::page;
use super::record::State;
use super::settle::{Clock, Settled, settle};
use super::{keys, permit};
use crate::imports::{Change, Entry, Expectation, JobState, Store, StoreError, World};
use crate::limits::{SWEEP_AFTER_FAILURE_MS, SWEEP_AFTER_WAIT_MS, SWEEP_TASKS};
use crate::rpc::RpcError;

/// What a part of a sweep did.
pub(super) struct Swept {
    /// The moment at which there is more, in milliseconds since 1970; `None` where only something new can make it
    /// necessary.
    pub(super) next: Option<u64>,
    /// What is known of `now` after it: commits may have waited for others.
    pub(super) clock: Clock,
}

/// Does a bounded amount of work. Gives the moment at which there is more, in milliseconds since 1970;
/// `None` where only a new task can make it necessary.
pub(crate) fn sweep(world: &mut impl World, now: u64) -> Option<u64> {
    let failed = |_| Swept {
        next: Some(now.saturating_add(SWEEP_AFTER_FAILURE_MS)),
        clock: Clock::Old,
    };
    // The live ones last: it is what jobs have printed that may make an instance trap, and what has to go goes all the
    // same.
    let expired = sweep_expiry(world, now).unwrap_or_else(failed);
    let confirmed = permit::sweep(world, now).unwrap_or_else(failed);
    let clock = match (expired.clock, confirmed.clock) {
        (Clock::Fresh, Clock::Fresh) => Clock::Fresh,
        _ => Clock::Old,
    };
    let living = sweep_live(world, (now, clock)).unwrap_or_else(|error| failed(error).next);
    earlier(earlier(expired.next, living), confirmed.next)
}

fn sweep_expiry(world: &mut impl World, now: u64) -> Result<Swept, StoreError> {
    let entries = page(world, keys::EXPIRY, None, SWEEP_TASKS)?;
    let mut swept = Swept {
        next: None,
        clock: Clock::Fresh,
    };
    let mut is_another_page = false;
    for entry in &entries {
        let Some((moment, id)) = keys::parse_expiry(&entry.key) else {
            continue;
        };
        if moment > now {
            swept.next = earlier(swept.next, Some(moment));
            return Ok(swept);
        }
        swept.clock = Clock::Old;
        let again_at = now.saturating_add(SWEEP_AFTER_FAILURE_MS);
        // What fails is moved to when it is tried again.
        match expire(world, now, entry, &id).or_else(|_| put_off(world, entry, &id, again_at)) {
            Ok(moment) => {
                swept.next = earlier(swept.next, moment);
                is_another_page = true;
            }
            Err(_) => swept.next = earlier(swept.next, Some(again_at)),
        }
    }
    // All of a full page was due, so more may be. Not where all of it is still there, say since the disk is full: then
    // the next sweep would see the same page.
    if entries.len() >= SWEEP_TASKS as usize && is_another_page {
        swept.next = earlier(swept.next, Some(now));
    }
    Ok(swept)
}

/// Looks at one page of live tasks and remembers where it stopped, so that a pass over many of them takes
/// several sweeps and then ends.
fn sweep_live(
    world: &mut impl World,
    (now, clock): (u64, Clock),
) -> Result<Option<u64>, StoreError> {
    let cursor = world.get(keys::SWEEP_LIVE)?;
    let after = cursor.as_ref().map(|cursor| cursor.value.as_str());
    let entries = page(world, keys::LIVE, after, SWEEP_TASKS)?;
    let after_failure = Some(now.saturating_add(SWEEP_AFTER_FAILURE_MS));
    let mut next = None;
    for entry in &entries {
        next = earlier(
            next,
            repair(world, (now, clock), entry).unwrap_or(after_failure),
        );
    }
    match entries.last() {
        Some(last) if entries.len() >= SWEEP_TASKS as usize => {
            go_on_behind(world, last)?;
            Ok(earlier(next, Some(now)))
        }
        _ => {
            begin_anew(world)?;
            Ok(next)
        }
    }
}

/// Has the next sweep look at the live tasks behind this one, even where this instance comes to its end before.
fn go_on_behind(store: &mut impl Store, entry: &Entry) -> Result<(), StoreError> {
    store.commit(vec![Change::Put {
        key: keys::SWEEP_LIVE.to_owned(),
        value: entry.key.clone(),
        expect: Expectation::Anything,
    }])
}

/// Has the next sweep look at the first live tasks.
fn begin_anew(store: &mut impl Store) -> Result<(), StoreError> {
    if store.get(keys::SWEEP_LIVE)?.is_none() {
        return Ok(());
    }
    store.commit(vec![Change::Remove {
        key: keys::SWEEP_LIVE.to_owned(),
        expect: Expectation::Anything,
    }])
}

/// Writes down the end of a live task where it has one. Gives the moment at which a job that may still be
/// started is overdue; `None` where the job runs, since its end concerns nobody but those who ask.
fn repair(
    world: &mut impl World,
    (now, clock): (u64, Clock),
    entry: &Entry,
) -> Result<Option<u64>, RpcError> {
    let Some(id) = keys::parse_live(&entry.key) else {
        return Ok(None);
    };
    let loaded = match load(world, &id)? {
        Found::Task(loaded) => loaded,
        Found::Tombstone(..) | Found::Nothing => return unlist(world, entry),
    };
    match loaded.state {
        State::Terminal(_) => return unlist(world, entry),
        State::Live(_) if loaded.facts.have_expired(now) => return Ok(None),
        State::Live(_) => {}
    }
    match world.inspect(id.as_str())? {
        JobState::Running(_) => return Ok(None),
        // What it has printed is read next. Nobody should come upon it each time, and never upon those behind it.
        JobState::Ended(_) => go_on_behind(world, entry)?,
        JobState::Unknown => {}
    }
    match settle(world, (now, clock), loaded)? {
        Settled::Starting(_, start_by) => Ok(Some(match clock {
            // It was listed before anything was waited for.
            Clock::Fresh => start_by,
            Clock::Old => start_by.max(now.saturating_add(SWEEP_AFTER_WAIT_MS)),
        })),
        Settled::Working(..) | Settled::Terminal(..) | Settled::Expired => Ok(None),
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
