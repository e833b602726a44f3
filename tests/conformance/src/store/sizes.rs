//! What has to be accepted and what has to be refused.

use super::{Change, Expectation, commit, get, keys, put, refused, remove, set, value, wit};
use crate::check::{Check, Step};
use crate::expect::{Halt, ensure, same};
use crate::limits::{CHANGES_MAX, KEY_BYTES_MAX, SCAN_ENTRIES_MAX, VALUE_BYTES_MAX};
use crate::run::Run;

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "store/key-limits",
        promise: "Keys of 1 to 512 bytes without NUL are accepted; all others are refused and do not exist.",
        needs: &[],
        steps: &[Step::Do(key_limits)],
    },
    Check {
        name: "store/value-limit",
        promise: "A value of more than 1 MiB is refused, and nothing of its commit happens.",
        needs: &[],
        steps: &[Step::Do(value_limit)],
    },
    Check {
        name: "store/commit-limit",
        promise: "A commit of 64 changes is made, and one of more changes is made whole or not at all.",
        needs: &[],
        steps: &[Step::Do(commit_limit)],
    },
];

/// A key of this run with this number of bytes, of which `end` are the last.
fn long(run: &Run, bytes: usize, end: &str) -> String {
    let start = run.key("");
    let fill = "k".repeat(bytes - start.len() - end.len());
    format!("{start}{fill}{end}")
}

fn key_limits(run: &mut Run) -> Result<(), Halt> {
    let longest = long(run, KEY_BYTES_MAX, "😀");
    commit(&[set(&longest, "1")])?;
    same(
        "the value of a key of 512 bytes",
        &value(&longest)?.as_deref(),
        &Some("1"),
    )?;
    same("a scan of it", &keys(&longest, 1)?, &[longest.as_str()])?;
    let few_characters = run.key("") + &"€".repeat(KEY_BYTES_MAX / 3);
    for (what, key) in [
        ("a key of 513 bytes", long(run, KEY_BYTES_MAX + 1, "")),
        (
            "a key of more bytes and fewer characters than 512",
            few_characters,
        ),
        ("an empty key", String::new()),
        ("a key with NUL", run.key("a\0b")),
        ("a key that ends with NUL", run.key("a\0")),
    ] {
        refused(what, set(&key, "1"))?;
        refused(what, remove(&key, Expectation::Anything))?;
        same(what, &get(&key)?, &None)?;
    }
    same(
        "the keys after what was refused",
        &keys(&run.key(""), SCAN_ENTRIES_MAX)?,
        &[longest],
    )
}

fn value_limit(run: &mut Run) -> Result<(), Halt> {
    let key = run.key("a");
    commit(&[set(&key, "before")])?;
    for (what, text) in [
        (
            "a value of one byte more than 1 MiB",
            "v".repeat(VALUE_BYTES_MAX + 1),
        ),
        (
            "a value of more bytes and fewer characters than 1 MiB",
            "€".repeat(VALUE_BYTES_MAX / 3 + 1),
        ),
    ] {
        refused(what, set(&key, &text))?;
        let changes = [set(&run.key("b"), "1"), set(&key, &text)];
        ensure(wit::commit(&changes).is_err(), || {
            format!("{what} was accepted as the second change")
        })?;
        same(
            "the value after what was refused",
            &value(&key)?.as_deref(),
            &Some("before"),
        )?;
        same(
            "the other key of what was refused",
            &value(&run.key("b"))?,
            &None,
        )?;
    }
    Ok(())
}

fn commit_limit(run: &mut Run) -> Result<(), Halt> {
    let changes = |prefix: &str, count: usize| -> Vec<Change> {
        let key = |number| run.key(&format!("{prefix}{number:03}"));
        (0..count)
            .map(|number| put(&key(number), "", Expectation::Absent))
            .collect()
    };
    commit(&changes("a", CHANGES_MAX))?;
    same(
        "keys after 64 changes",
        &keys(&run.key("a"), 1000)?.len(),
        &CHANGES_MAX,
    )?;
    let made = match wit::commit(&changes("b", CHANGES_MAX + 1)) {
        Ok(()) => CHANGES_MAX + 1,
        Err(_) => 0,
    };
    same(
        "keys after 65 changes",
        &keys(&run.key("b"), 1000)?.len(),
        &made,
    )
}
