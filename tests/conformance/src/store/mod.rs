//! The promises of `store`.

mod commits;
mod lasting;
mod scans;
mod sizes;
mod values;
mod versions;

use crate::bindings::backburner::server::store as wit;
use crate::check::Check;
use crate::expect::{Halt, breach, ensure, same, shown};

pub(crate) use wit::{Change, Entry, ErrorKind, Expectation};

/// All of them, what the others rely on first.
pub(crate) const CHECKS: &[&[Check]] = &[
    values::CHECKS,
    commits::CHECKS,
    versions::CHECKS,
    scans::CHECKS,
    sizes::CHECKS,
    lasting::CHECKS,
];

/// A change that writes.
fn put(key: &str, value: &str, expect: Expectation) -> Change {
    Change::Put(wit::Put {
        key: key.to_owned(),
        value: value.to_owned(),
        expect,
    })
}

/// A change that writes whatever is there.
pub(crate) fn set(key: &str, value: &str) -> Change {
    put(key, value, Expectation::Anything)
}

/// A change that removes.
fn remove(key: &str, expect: Expectation) -> Change {
    Change::Remove(wit::Remove {
        key: key.to_owned(),
        expect,
    })
}

/// Commits what has to succeed.
pub(crate) fn commit(changes: &[Change]) -> Result<(), Halt> {
    wit::commit(changes).or_else(|error| {
        breach(format!(
            "a commit that is in order failed: {}",
            shown(&error)
        ))
    })
}

/// Commits what has to conflict.
fn conflict(what: &str, changes: &[Change]) -> Result<(), Halt> {
    match wit::commit(changes) {
        Ok(()) => breach(format!("{what} succeeded; wanted the error `conflict`")),
        Err(error) => same(what, &error.kind, &ErrorKind::Conflict),
    }
}

/// Commits what breaks the contract: one error says that less has to be sent, the other nothing in particular, and
/// all the others would be untrue.
fn refused(what: &str, change: Change) -> Result<(), Halt> {
    match wit::commit(&[change]) {
        Ok(()) => breach(format!("{what} was accepted; wanted an error")),
        Err(error) => ensure(
            matches!(error.kind, ErrorKind::TooLarge | ErrorKind::Other),
            || format!("{what} is `too-large` or `other`, not {}", shown(&error)),
        ),
    }
}

fn get(key: &str) -> Result<Option<wit::Versioned>, Halt> {
    wit::get(key).or_else(|error| breach(format!("`get` failed: {}", shown(&error))))
}

/// The value of a key, where it exists.
pub(crate) fn value(key: &str) -> Result<Option<String>, Halt> {
    Ok(get(key)?.map(|found| found.value))
}

/// The writing of a key that has to exist.
fn version(key: &str) -> Result<u64, Halt> {
    match get(key)? {
        Some(found) => Ok(found.version),
        None => breach("a key that was written does not exist"),
    }
}

fn scan(prefix: &str, after: Option<&str>, limit: u32) -> Result<Vec<Entry>, Halt> {
    let entries = wit::scan(prefix, after, limit)
        .or_else(|error| breach(format!("`scan` failed: {}", shown(&error))))?;
    ensure(entries.len() <= limit as usize, || {
        format!("a scan with limit {limit} gave {} entries", entries.len())
    })?;
    Ok(entries)
}

/// All keys that start with `prefix`, page by page, as far as there are any.
fn keys(prefix: &str, limit: u32) -> Result<Vec<String>, Halt> {
    let mut keys: Vec<String> = Vec::new();
    loop {
        let page = scan(prefix, keys.last().map(String::as_str), limit)?;
        if page.is_empty() {
            return Ok(keys);
        }
        for entry in page {
            ensure(keys.last().is_none_or(|last| *last < entry.key), || {
                format!(
                    "a scan gave {:?} after {:?}: keys are in ascending order of their bytes, and greater than `after`",
                    entry.key,
                    keys.last()
                )
            })?;
            keys.push(entry.key);
        }
    }
}
