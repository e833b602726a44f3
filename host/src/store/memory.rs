//! A store that keeps nothing beyond its process: for tests, and for embedders whose tasks need not last.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::check::{self, Page, Range};
use super::{Change, Entry, Error, Store, Versioned};

/// Keeps everything in memory. It promises what the contract says, except that nothing survives its end.
#[derive(Debug, Default)]
pub struct MemoryStore {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    entries: BTreeMap<String, Versioned>,
    /// The version of the last commit; it only grows, so that no version comes back.
    sequence: u64,
}

impl MemoryStore {
    /// Makes an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic cannot leave half a commit: nothing between the first and the last change can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for MemoryStore {
    fn get(&self, key: &str) -> Result<Option<Versioned>, Error> {
        Ok(self.state().entries.get(key).cloned())
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Vec<Entry>, Error> {
        let Range { first, end } = check::range(prefix, after);
        if end.as_ref().is_some_and(|end| first >= *end) {
            // The map panics on a range that ends before it begins.
            return Ok(Vec::new());
        }
        let end = end.map_or(Bound::Unbounded, Bound::Excluded);
        let state = self.state();
        let mut page = Page::new(limit);
        for (key, found) in state.entries.range((Bound::Included(first), end)) {
            if !page.has_room() {
                break;
            }
            page.push(Entry {
                key: key.clone(),
                value: found.value.clone(),
                version: found.version,
            });
        }
        Ok(page.into_entries())
    }

    fn commit(&self, changes: &[Change]) -> Result<(), Error> {
        check::changes(changes)?;
        let mut state = self.state();
        for change in changes {
            let version = state.entries.get(change.key()).map(|found| found.version);
            if !change.expect().is_met_by(version) {
                return Err(Error::Conflict {
                    key: change.key().to_owned(),
                });
            }
        }
        state.sequence += 1;
        for change in changes {
            state.apply(change);
        }
        Ok(())
    }
}

impl State {
    fn apply(&mut self, change: &Change) {
        match change {
            Change::Put { key, value, .. } => {
                let written = Versioned {
                    value: value.clone(),
                    version: self.sequence,
                };
                self.entries.insert(key.clone(), written);
            }
            Change::Remove { key, .. } => {
                self.entries.remove(key);
            }
        }
    }
}
