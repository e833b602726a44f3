//! A store as a component: composed with the backburner component, it takes the place of the host's.
//!
//! What it holds lives as long as the instance, so it keeps every promise of the interface but durability.

mod bindings;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use bindings::exports::backburner::server::store::{
    Change, Entry, Error, ErrorKind, Expectation, Guest, Versioned,
};

/// From the contract of `store`.
const KEY_BYTES_MAX: usize = 512;

/// From the contract of `store`.
const VALUE_BYTES_MAX: usize = 1 << 20;

/// From the contract of `store`.
const CHANGES_MAX: usize = 64;

/// From the contract of `store`.
const SCAN_ENTRIES_MAX: u32 = 1000;

/// What the component exports.
pub(crate) struct MemoryStore;

/// The keys in the order of their bytes, and the number of the last commit.
#[derive(Default)]
struct State {
    entries: BTreeMap<String, Versioned>,
    commits: u64,
}

thread_local! {
    /// An instance is one thread.
    static STATE: RefCell<State> = RefCell::default();
}

impl Guest for MemoryStore {
    fn get(key: String) -> Result<Option<Versioned>, Error> {
        Ok(STATE.with_borrow(|state| state.entries.get(&key).cloned()))
    }

    fn scan(prefix: String, after: Option<String>, limit: u32) -> Result<Vec<Entry>, Error> {
        Ok(STATE.with_borrow(|state| state.scan(&prefix, after.as_deref(), limit)))
    }

    fn commit(changes: Vec<Change>) -> Result<(), Error> {
        check(&changes)?;
        STATE.with_borrow_mut(|state| state.commit(changes))
    }
}

impl State {
    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Vec<Entry> {
        let first = after.unwrap_or_default().max(prefix);
        let limit = limit.clamp(1, SCAN_ENTRIES_MAX) as usize;
        self.entries
            .range(first.to_owned()..)
            .take_while(|(key, _)| key.starts_with(prefix))
            .filter(|(key, _)| after != Some(key.as_str()))
            .take(limit)
            .map(|(key, found)| Entry {
                key: key.clone(),
                value: found.value.clone(),
                version: found.version,
            })
            .collect()
    }

    fn commit(&mut self, changes: Vec<Change>) -> Result<(), Error> {
        if !changes.iter().all(|change| self.is_met(change)) {
            return Err(error(ErrorKind::Conflict, "a key was written meanwhile"));
        }
        self.commits += 1;
        for change in changes {
            match change {
                Change::Put(put) => {
                    let (value, version) = (put.value, self.commits);
                    self.entries.insert(put.key, Versioned { value, version });
                }
                Change::Remove(remove) => drop(self.entries.remove(&remove.key)),
            }
        }
        Ok(())
    }

    fn is_met(&self, change: &Change) -> bool {
        let expect = match change {
            Change::Put(put) => put.expect,
            Change::Remove(remove) => remove.expect,
        };
        let version = self.entries.get(key(change)).map(|found| found.version);
        match expect {
            Expectation::Anything => true,
            Expectation::Absent => version.is_none(),
            Expectation::WrittenBy(expected) => version == Some(expected),
        }
    }
}

fn key(change: &Change) -> &str {
    match change {
        Change::Put(put) => &put.key,
        Change::Remove(remove) => &remove.key,
    }
}

/// Refuses what breaks the contract whatever the state is.
fn check(changes: &[Change]) -> Result<(), Error> {
    let is_too_large = |change: &Change| {
        let value = match change {
            Change::Put(put) => put.value.len(),
            Change::Remove(_) => 0,
        };
        key(change).len() > KEY_BYTES_MAX || value > VALUE_BYTES_MAX
    };
    if changes.len() > CHANGES_MAX || changes.iter().any(is_too_large) {
        return Err(error(
            ErrorKind::TooLarge,
            "a key, a value or a commit is too large",
        ));
    }
    let is_malformed = |key: &str| key.is_empty() || key.contains('\0');
    let keys: BTreeSet<&str> = changes.iter().map(key).collect();
    if keys.len() < changes.len() || keys.iter().any(|key| is_malformed(key)) {
        return Err(error(
            ErrorKind::Other,
            "a key is empty, contains NUL, or is named twice",
        ));
    }
    Ok(())
}

fn error(kind: ErrorKind, detail: &str) -> Error {
    Error {
        kind,
        detail: detail.to_owned(),
    }
}
