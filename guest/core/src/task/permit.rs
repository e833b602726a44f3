//! What lets a job be started.
//!
//! Knows that a confirmation is used up by the job that it starts, whichever server starts it, and by the person who
//! refuses it; does not know who is asked for it, and how.

use super::keys;
use super::page::page;
use super::settle::Clock;
use super::sweep::Swept;
use crate::imports::{Change, Entry, Expectation, Store, StoreError, StoreErrorKind};
use crate::limits::{SWEEP_CONFIRMATIONS, USED_CONFIRMATION_MS};

/// What lets a job be started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Permit {
    /// Nobody has to be asked.
    #[default]
    Unneeded,
    /// A person confirmed it, for one start.
    Once(Confirmation),
    /// A person has to confirm it first. Until then the order only finds the task of an earlier call.
    Missing,
}

/// That a person confirmed a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Confirmation {
    /// The name of what was said, unique among all.
    pub(crate) name: String,
    /// From when on nobody accepts it any more, in milliseconds since 1970.
    pub(crate) ends_at: u64,
}

/// What a confirmation was used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UsedFor {
    /// A job that was started, or could not be.
    Start,
    /// Nothing: the person refused it, or did not choose.
    Refusal,
}

/// What is recorded of a use for a start.
const START: &str = "{}";

/// What is recorded of a refusal. A server that does not know it takes it for a use as any other.
const REFUSAL: &str = r#"{"refused":true}"#;

impl Confirmation {
    /// The change that uses it up for a start; fails where it was used before.
    pub(super) fn use_up(&self) -> Change {
        self.record(START)
    }

    /// Records that the person refused it, so that nobody can say yes to the same question later. Gives what it was
    /// used for: of several at once the first one counts.
    ///
    /// # Errors
    /// Those of [`Store`].
    pub(crate) fn refuse(&self, store: &mut impl Store) -> Result<UsedFor, StoreError> {
        if let Some(earlier) = self.used_for(store)? {
            return Ok(earlier);
        }
        match store.commit(vec![self.record(REFUSAL)]) {
            Ok(()) => Ok(UsedFor::Refusal),
            // Only the one that came before can be in the way, and it stays for hours.
            Err(error) if error.kind == StoreErrorKind::Conflict => {
                Ok(self.used_for(store)?.unwrap_or(UsedFor::Refusal))
            }
            Err(error) => Err(error),
        }
    }

    /// What it was used for; `None` where it was not.
    ///
    /// # Errors
    /// Those of [`Store::get`].
    pub(crate) fn used_for(&self, store: &mut impl Store) -> Result<Option<UsedFor>, StoreError> {
        let recorded = store.get(&self.key())?;
        Ok(recorded.map(|recorded| match recorded.value.as_str() {
            REFUSAL => UsedFor::Refusal,
            _ => UsedFor::Start,
        }))
    }

    fn record(&self, what: &str) -> Change {
        Change::Put {
            key: self.key(),
            value: what.to_owned(),
            expect: Expectation::Absent,
        }
    }

    fn key(&self) -> String {
        let forgotten_at = self.ends_at.saturating_add(USED_CONFIRMATION_MS);
        keys::used_state(forgotten_at, &self.name)
    }
}

/// Forgets confirmations that nobody accepts any more.
///
/// # Errors
/// Those of [`Store`].
pub(super) fn sweep(store: &mut impl Store, now: u64) -> Result<Swept, StoreError> {
    let entries = page(store, keys::USED_STATE, None, SWEEP_CONFIRMATIONS)?;
    let moment = |entry: &Entry| keys::parse_used_state(&entry.key).unwrap_or(now);
    let due = entries.iter().filter(|entry| moment(entry) <= now);
    let changes: Vec<Change> = due
        .map(|entry| Change::Remove {
            key: entry.key.clone(),
            expect: Expectation::Anything,
        })
        .collect();
    let is_another_page = changes.len() == SWEEP_CONFIRMATIONS as usize;
    let clock = if changes.is_empty() {
        Clock::Fresh
    } else {
        store.commit(changes)?;
        Clock::Old
    };
    let next = entries.iter().map(moment).find(|moment| *moment > now);
    let next = if is_another_page { Some(now) } else { next };
    Ok(Swept { next, clock })
}
