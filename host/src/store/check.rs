//! What every implementation has to refuse or compute alike. Pure.

use std::collections::BTreeSet;

use super::limits::{
    CHANGES_MAX, KEY_BYTES_MAX, SCAN_BYTES_MAX, SCAN_ENTRIES_MAX, VALUE_BYTES_MAX,
};
use super::{Change, Entry, Error};

/// Refuses changes that break the contract whatever the state of the store is.
pub(super) fn changes(changes: &[Change]) -> Result<(), Error> {
    at_most(
        "a commit with a number of changes",
        changes.len(),
        CHANGES_MAX,
    )?;
    let mut keys = BTreeSet::new();
    for change in changes {
        key(change.key())?;
        if let Change::Put { value, .. } = change {
            at_most(
                "a value with a number of bytes",
                value.len(),
                VALUE_BYTES_MAX,
            )?;
        }
        if !keys.insert(change.key()) {
            return Err(Error::Invalid("a commit names a key twice"));
        }
    }
    Ok(())
}

fn key(key: &str) -> Result<(), Error> {
    at_most("a key with a number of bytes", key.len(), KEY_BYTES_MAX)?;
    if key.is_empty() {
        return Err(Error::Invalid("a key is empty"));
    }
    if key.contains('\0') {
        return Err(Error::Invalid("a key contains NUL"));
    }
    Ok(())
}

fn at_most(what: &'static str, found: usize, limit: usize) -> Result<(), Error> {
    if found > limit {
        return Err(Error::TooLarge { what, found, limit });
    }
    Ok(())
}

/// The keys of a scan: from `first`, and before `end` where there is one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) first: String,
    pub(super) end: Option<String>,
}

/// The range of all keys that start with `prefix` and are greater than `after`.
pub(super) fn range(prefix: &str, after: Option<&str>) -> Range {
    let first = match after {
        // No text lies between a text and the same one followed by NUL.
        Some(after) if after >= prefix => format!("{after}\0"),
        _ => prefix.to_owned(),
    };
    Range {
        first,
        end: end_of(prefix),
    }
}

/// The least text that is greater than every one that starts with `prefix`; `None` where there is none.
///
/// UTF-8 orders texts as their code points do, so it is enough to count up the last one that can be.
fn end_of(prefix: &str) -> Option<String> {
    let mut end = prefix.to_owned();
    while let Some(last) = end.pop() {
        // A range of characters steps over the surrogates, which are none.
        if let Some(next) = (last..=char::MAX).nth(1) {
            end.push(next);
            return Some(end);
        }
    }
    None
}

/// Collects the entries of a scan until its limits are reached.
pub(super) struct Page {
    entries: Vec<Entry>,
    entries_left: u32,
    bytes: usize,
}

impl Page {
    pub(super) fn new(limit: u32) -> Self {
        Self {
            entries: Vec::new(),
            entries_left: limit.clamp(1, SCAN_ENTRIES_MAX),
            bytes: 0,
        }
    }

    /// Whether another entry may be added.
    pub(super) fn has_room(&self) -> bool {
        self.entries_left > 0 && self.bytes < SCAN_BYTES_MAX
    }

    pub(super) fn push(&mut self, entry: Entry) {
        self.bytes += entry.key.len() + entry.value.len();
        self.entries_left -= 1;
        self.entries.push(entry);
    }

    pub(super) fn into_entries(self) -> Vec<Entry> {
        self.entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_prefix_counts_up_its_last_code_point() {
        assert_eq!(end_of("task/").as_deref(), Some("task0"));
        assert_eq!(end_of("\u{7f}").as_deref(), Some("\u{80}"));
        assert_eq!(end_of("\u{d7ff}").as_deref(), Some("\u{e000}"));
    }

    #[test]
    fn the_end_of_a_prefix_carries_over_the_last_code_point_there_is() {
        assert_eq!(end_of("a\u{10ffff}\u{10ffff}").as_deref(), Some("b"));
        assert_eq!(end_of("\u{10ffff}"), None);
        assert_eq!(end_of(""), None);
    }

    #[test]
    fn an_after_below_the_prefix_does_not_move_the_start() {
        assert_eq!(range("b", Some("a")).first, "b");
        assert_eq!(range("b", Some("b")).first, "b\0");
    }

    #[test]
    fn an_after_beyond_the_prefix_leaves_nothing() {
        let range = range("b", Some("c"));
        assert!(range.first > range.end.expect("`b` has an end"));
    }
}
