//! Stores that break one promise each, and the checks that say so.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use backburner::store::{
    CHANGES_MAX, Change, Entry, Error, Expectation, KEY_BYTES_MAX, SCAN_BYTES_MAX, Store,
    VALUE_BYTES_MAX, Versioned,
};
use backburner_tests::conformance::{Need, Subject};
use backburner_tests::fake::Machine;

use crate::meeting::Meeting;

/// What is wrong with a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// A value ends at its first NUL.
    EndsAtNul,
    /// An empty value is none.
    LosesEmpty,
    /// Keys are compared without their case.
    IgnoresCase,
    /// Keys are ordered by their code units in UTF-16.
    OrdersByUtf16,
    /// `%` in a prefix stands for anything.
    KnowsWildcards,
    /// A scan gives `after` again.
    IncludesAfter,
    /// A scan gives one entry more than it may.
    ExceedsLimit,
    /// A scan gives nothing where that would be much.
    ShunsLargeScans,
    /// The changes before a conflict happen.
    KeepsHalf,
    /// A removal does not look at its expectation.
    RemovesBlindly,
    /// A conflict is called another failure.
    HidesConflicts,
    /// A version counts the writings of a key since it was last made.
    CountsFromOne,
    /// A version is the number of the last commit, whatever that wrote.
    CountsCommits,
    /// The length of a key is counted in characters.
    CountsCharacters,
    /// A value that is too long is cut.
    CutsValues,
    /// A key is written without its NUL.
    CutsKeys,
    /// Nothing is left when it is opened again.
    Forgets,
    /// When it is opened again the versions go on from the greatest that is left.
    CountsOnFromGreatest,
    /// Another commit may come between the look at the expectations and the writing.
    LosesUpdates,
    /// Of a commit with too many changes, as many happen as it may have.
    CutsCommits,
    /// A key that does not exist has an empty value.
    InventsValues,
    /// Removing a key that does not exist is a conflict.
    MissesRemoved,
}

/// Each fault, and the check that has to find it.
const FAULTS: [(Fault, &str); 22] = [
    (Fault::EndsAtNul, "store/unchanged"),
    (Fault::LosesEmpty, "store/unchanged"),
    (Fault::IgnoresCase, "store/exact-keys"),
    (Fault::OrdersByUtf16, "store/order"),
    (Fault::KnowsWildcards, "store/prefix"),
    (Fault::IncludesAfter, "store/after"),
    (Fault::ExceedsLimit, "store/limit"),
    (Fault::ShunsLargeScans, "store/large"),
    (Fault::KeepsHalf, "store/atomic"),
    (Fault::RemovesBlindly, "store/expectations"),
    (Fault::HidesConflicts, "store/expectations"),
    (Fault::CountsFromOne, "store/versions-never-return"),
    (Fault::CountsCommits, "store/versions-of-one-key"),
    (Fault::CountsCharacters, "store/key-limits"),
    (Fault::CutsValues, "store/value-limit"),
    (Fault::CutsKeys, "store/key-limits"),
    (Fault::Forgets, "store/lasting"),
    (
        Fault::CountsOnFromGreatest,
        "store/versions-never-return-after-restart",
    ),
    (Fault::LosesUpdates, "store/serializable"),
    (Fault::CutsCommits, "store/commit-limit"),
    (Fault::InventsValues, "store/absent"),
    (Fault::MissesRemoved, "store/removed"),
];

/// The checks that find a fault of a store.
pub(crate) fn found() -> Vec<&'static str> {
    FAULTS.iter().map(|(_, check)| *check).collect()
}

#[derive(Clone, Debug, Default)]
struct State {
    entries: BTreeMap<String, Versioned>,
    sequence: u64,
}

/// A store in memory with a fault, or with none.
#[derive(Clone, Debug)]
struct Faulty {
    fault: Option<Fault>,
    state: Arc<Mutex<State>>,
    /// Where two callers meet who write at the same time.
    writers: Arc<Meeting>,
}

impl Faulty {
    fn new(fault: Option<Fault>) -> Self {
        Self {
            fault,
            state: Arc::default(),
            writers: Arc::default(),
        }
    }

    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self) -> Self {
        let mut state = self.state();
        if self.has(Fault::Forgets) {
            *state = State::default();
        }
        if self.has(Fault::CountsOnFromGreatest) {
            let versions = state.entries.values().map(|found| found.version);
            state.sequence = versions.max().unwrap_or(0);
        }
        drop(state);
        self.clone()
    }

    /// The key under which it is kept.
    fn key(&self, key: &str) -> String {
        if self.has(Fault::IgnoresCase) {
            return key.to_lowercase();
        }
        if self.has(Fault::CutsKeys) {
            return key.replace('\0', "");
        }
        key.to_owned()
    }

    /// By what a key is ordered.
    fn rank(&self, key: &str) -> Vec<u32> {
        if self.has(Fault::OrdersByUtf16) {
            return key.encode_utf16().map(u32::from).collect();
        }
        key.bytes().map(u32::from).collect()
    }

    fn matches(&self, key: &str, prefix: &str) -> bool {
        if self.has(Fault::KnowsWildcards) {
            let literal = prefix.split('%').next().unwrap_or_default();
            return key.starts_with(literal);
        }
        key.starts_with(&self.key(prefix))
    }

    fn is_after(&self, key: &str, after: &str) -> bool {
        let (key, after) = (self.rank(key), self.rank(after));
        key > after || (self.has(Fault::IncludesAfter) && key == after)
    }

    fn check(&self, change: &Change) -> Result<(), Error> {
        let key = change.key();
        let length = if self.has(Fault::CountsCharacters) {
            key.chars().count()
        } else {
            key.len()
        };
        at_most(length, KEY_BYTES_MAX)?;
        if let Change::Put { value, .. } = change
            && !self.has(Fault::CutsValues)
        {
            at_most(value.len(), VALUE_BYTES_MAX)?;
        }
        if key.is_empty() || (key.contains('\0') && !self.has(Fault::CutsKeys)) {
            return Err(Error::Invalid("a key that is none"));
        }
        Ok(())
    }

    fn apply(&self, state: &mut State, change: &Change) -> Result<(), Error> {
        let key = self.key(change.key());
        let before = state.entries.get(&key).map(|found| found.version);
        let is_blind = matches!(change, Change::Remove { .. }) && self.has(Fault::RemovesBlindly);
        if !is_blind && !change.expect().is_met_by(before) {
            return Err(Error::Conflict { key });
        }
        let Change::Put { value, .. } = change else {
            if before.is_none() && self.has(Fault::MissesRemoved) {
                return Err(Error::Conflict { key });
            }
            state.entries.remove(&key);
            return Ok(());
        };
        let version = if self.has(Fault::CountsFromOne) {
            before.unwrap_or(0) + 1
        } else {
            state.sequence
        };
        let value = self.kept(value);
        state.entries.insert(key, Versioned { value, version });
        Ok(())
    }

    fn apply_all(&self, state: &mut State, changes: &[Change]) -> Result<(), Error> {
        state.sequence += 1;
        changes
            .iter()
            .try_for_each(|change| self.apply(state, change))
    }

    /// A commit that lets go of the state between reading and writing.
    fn commit_slowly(&self, changes: &[Change]) -> Result<(), Error> {
        let mut after = self.state().clone();
        self.apply_all(&mut after, changes)?;
        let is_update = |change: &Change| matches!(change.expect(), Expectation::WrittenBy(_));
        if changes.iter().any(is_update) {
            self.writers.wait();
        }
        *self.state() = after;
        Ok(())
    }

    /// What is kept of a value.
    fn kept(&self, value: &str) -> String {
        if self.has(Fault::EndsAtNul) {
            return value.split('\0').next().unwrap_or_default().to_owned();
        }
        if self.has(Fault::CutsValues) {
            return value.chars().take(VALUE_BYTES_MAX).collect();
        }
        value.to_owned()
    }
}

fn at_most(found: usize, limit: usize) -> Result<(), Error> {
    let what = "something with a length";
    (found <= limit)
        .then_some(())
        .ok_or(Error::TooLarge { what, found, limit })
}

impl Store for Faulty {
    fn get(&self, key: &str) -> Result<Option<Versioned>, Error> {
        let state = self.state();
        let mut found = state.entries.get(&self.key(key)).cloned();
        if let Some(found) = &mut found
            && self.has(Fault::CountsCommits)
        {
            found.version = state.sequence;
        }
        if self.has(Fault::InventsValues) {
            let nothing = Versioned {
                value: String::new(),
                version: 0,
            };
            return Ok(found.or(Some(nothing)));
        }
        Ok(found.filter(|found| !(found.value.is_empty() && self.has(Fault::LosesEmpty))))
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Vec<Entry>, Error> {
        let state = self.state();
        let mut found: Vec<Entry> = state
            .entries
            .iter()
            .filter(|(key, _)| self.matches(key, prefix))
            .filter(|(key, _)| after.is_none_or(|after| self.is_after(key, after)))
            .map(|(key, found)| Entry {
                key: key.clone(),
                value: found.value.clone(),
                version: found.version,
            })
            .collect();
        found.sort_by_key(|entry| self.rank(&entry.key));
        found.truncate(limit as usize + usize::from(self.has(Fault::ExceedsLimit)));
        let bytes: usize = found.iter().map(|entry| entry.value.len()).sum();
        if bytes > SCAN_BYTES_MAX && self.has(Fault::ShunsLargeScans) {
            found.clear();
        }
        Ok(found)
    }

    fn commit(&self, changes: &[Change]) -> Result<(), Error> {
        if self.has(Fault::CutsCommits) && changes.len() > CHANGES_MAX {
            self.commit(&changes[..CHANGES_MAX])?;
        }
        at_most(changes.len(), CHANGES_MAX)?;
        changes.iter().try_for_each(|change| self.check(change))?;
        if self.has(Fault::LosesUpdates) {
            return self.commit_slowly(changes);
        }
        let mut state = self.state();
        let mut after = state.clone();
        let result = self.apply_all(&mut after, changes);
        if result.is_ok() || self.has(Fault::KeepsHalf) {
            *state = after;
        }
        match result {
            Err(Error::Conflict { .. }) if self.has(Fault::HidesConflicts) => {
                Err(Error::Invalid("a conflict"))
            }
            result => result,
        }
    }
}

fn subject(fault: Option<Fault>) -> Subject {
    let store = Faulty::new(fault);
    let jobs = Machine::new().jobs;
    Subject {
        open: Box::new(move || (Arc::new(store.open()), Arc::clone(&jobs) as _)),
        offers: vec![Need::LastingStore],
    }
}

#[test]
fn each_fault_of_a_store_is_found() {
    let missed: Vec<String> = FAULTS
        .iter()
        .filter(|(fault, check)| subject(Some(*fault)).run(check).is_ok())
        .map(|(fault, check)| format!("{fault:?} passes {check}"))
        .collect();
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
fn the_same_store_without_a_fault_passes() {
    for (fault, check) in FAULTS {
        let found = subject(None).run(check);
        assert_eq!(found, Ok(()), "{check} is not about {fault:?} alone");
    }
}
