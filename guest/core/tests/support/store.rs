//! The store of the WIT package, in a map.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use backburner_core::imports::{
    Change, Entry, Expectation, Store, StoreError, StoreErrorKind, Versioned,
};

/// An ordered map whose writings have numbers that never come back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FakeStore {
    entries: BTreeMap<String, Versioned>,
    writings: u64,
    /// How many commits have succeeded.
    pub(crate) commits: u64,
    /// How many keys were read, by `get` or `scan`.
    pub(crate) reads: u64,
    /// How many entries a `scan` gives at most, whatever it is asked for; at least 1, and `None` for as many as it is.
    pub(crate) page: Option<usize>,
}

impl FakeStore {
    /// All keys that start with `prefix`.
    pub(crate) fn keys(&self, prefix: &str) -> Vec<&str> {
        let from = (Bound::Included(prefix), Bound::Unbounded);
        let keys = self
            .entries
            .range::<str, _>(from)
            .map(|(key, _)| key.as_str());
        keys.take_while(|key| key.starts_with(prefix)).collect()
    }

    /// What is under a key.
    pub(crate) fn value(&self, key: &str) -> Option<&str> {
        self.entries.get(key).map(|entry| entry.value.as_str())
    }

    /// Writes behind the core's back.
    pub(crate) fn put(&mut self, key: &str, value: &str) {
        self.writings += 1;
        let written = Versioned {
            value: value.to_owned(),
            version: self.writings,
        };
        self.entries.insert(key.to_owned(), written);
    }

    /// Deletes behind the core's back.
    pub(crate) fn delete(&mut self, key: &str) {
        self.entries.remove(key);
    }

    fn holds(&self, key: &str, expect: Expectation) -> bool {
        let version = self.entries.get(key).map(|entry| entry.version);
        match expect {
            Expectation::Anything => true,
            Expectation::Absent => version.is_none(),
            Expectation::WrittenBy(expected) => version == Some(expected),
        }
    }
}

impl Store for FakeStore {
    fn get(&mut self, key: &str) -> Result<Option<Versioned>, StoreError> {
        self.reads += 1;
        Ok(self.entries.get(key).cloned())
    }

    fn scan(
        &mut self,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<Entry>, StoreError> {
        assert!(
            (1..=1000).contains(&limit),
            "the contract allows 1 to 1000, not {limit}"
        );
        let from = match after {
            Some(after) if after >= prefix => Bound::Excluded(after),
            _ => Bound::Included(prefix),
        };
        let found = self.entries.range::<str, _>((from, Bound::Unbounded));
        let found = found.take_while(|(key, _)| key.starts_with(prefix));
        let most = self.page.unwrap_or(usize::MAX).min(limit as usize);
        let entries: Vec<_> = found
            .take(most)
            .map(|(key, entry)| Entry {
                key: key.clone(),
                value: entry.value.clone(),
                version: entry.version,
            })
            .collect();
        self.reads += entries.len() as u64;
        Ok(entries)
    }

    fn commit(&mut self, changes: Vec<Change>) -> Result<(), StoreError> {
        check(&changes)?;
        for change in &changes {
            let (Change::Put { key, expect, .. } | Change::Remove { key, expect }) = change;
            if !self.holds(key, *expect) {
                return Err(error(StoreErrorKind::Conflict));
            }
        }
        for change in changes {
            match change {
                Change::Put { key, value, .. } => self.put(&key, &value),
                Change::Remove { key, .. } => {
                    self.entries.remove(&key);
                }
            }
        }
        self.commits += 1;
        Ok(())
    }
}

/// The contract's limits. What the core has to see to itself is asserted; what depends on what a client
/// sends is an error.
fn check(changes: &[Change]) -> Result<(), StoreError> {
    assert!(changes.len() <= 64, "at most 64 changes in a commit");
    let mut keys = BTreeSet::new();
    for change in changes {
        let (Change::Put { key, .. } | Change::Remove { key, .. }) = change;
        assert!(keys.insert(key), "{key:?} is twice in a commit");
        assert!(
            (1..=512).contains(&key.len()),
            "{key:?} has {} bytes",
            key.len()
        );
        assert!(!key.contains('\0'), "{key:?} has a NUL");
        if matches!(change, Change::Put { value, .. } if value.len() > 1 << 20) {
            return Err(error(StoreErrorKind::TooLarge));
        }
    }
    Ok(())
}

/// An error of this kind.
pub(crate) fn error(kind: StoreErrorKind) -> StoreError {
    StoreError {
        kind,
        detail: "made up by the fake store".to_owned(),
    }
}
