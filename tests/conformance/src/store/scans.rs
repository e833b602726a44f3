//! Which keys a scan gives, and in which order.

use super::{commit, keys, scan, set};
use crate::check::{Check, Step};
use crate::expect::{Halt, ensure, same};
use crate::limits::{CHANGES_MAX, SCAN_ENTRIES_MAX};
use crate::run::Run;

/// Texts in the order of their bytes in UTF-8. In UTF-16 the last four are in another order, and by the rules of most
/// languages nearly all of them.
const ORDERED: [&str; 17] = [
    "\u{1}",
    " ",
    "!",
    "10",
    "9",
    "A",
    "B",
    "_",
    "a",
    "a!",
    "aa",
    "b",
    "é",
    "ﬀ",
    "\u{ffff}",
    "\u{10000}",
    "\u{10ffff}",
];

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "store/order",
        promise: "A scan gives keys in ascending order of their bytes in UTF-8.",
        needs: &[],
        steps: &[Step::Do(order)],
    },
    Check {
        name: "store/prefix",
        promise: "A scan gives the keys that start with the prefix, byte for byte, and no others; no character is a pattern.",
        needs: &[],
        steps: &[Step::Do(prefix)],
    },
    Check {
        name: "store/after",
        promise: "With `after` a scan gives only keys greater than it, whether it exists, has the prefix, or neither.",
        needs: &[],
        steps: &[Step::Do(after)],
    },
    Check {
        name: "store/limit",
        promise: "A scan gives at most `limit` entries, and nothing only where there are no more: pages give every key once.",
        needs: &[],
        steps: &[Step::Do(limit)],
    },
];

fn write(run: &Run, names: &[&str]) -> Result<(), Halt> {
    let changes: Vec<_> = names.iter().map(|name| set(&run.key(name), "")).collect();
    commit(&changes)
}

/// The names of the keys that a scan gives, read page by page.
fn names(run: &Run, prefix: &str) -> Result<Vec<String>, Halt> {
    let own = run.key("").len();
    let keys = keys(&run.key(prefix), SCAN_ENTRIES_MAX)?;
    for key in &keys {
        ensure(key.starts_with(&run.key(prefix)), || {
            format!("a scan of the prefix {prefix:?} gave the key {key:?}")
        })?;
    }
    Ok(keys.iter().map(|key| key[own..].to_owned()).collect())
}

fn order(run: &mut Run) -> Result<(), Halt> {
    let mut backwards = ORDERED;
    backwards.reverse();
    write(run, &backwards)?;
    same("a scan in one page", &names(run, "")?, &ORDERED)?;
    let found = keys(&run.key(""), 1)?;
    let wanted = ORDERED.map(|name| run.key(name));
    same("a scan in pages of one", &found, &wanted)?;
    // Of the whole store, what follows our own prefix are our own keys.
    let all = scan("", Some(&run.key("")), 1)?;
    let first = all.first().map(|entry| entry.key.as_str());
    same(
        "a scan of all keys, after our prefix",
        &first,
        &Some(wanted[0].as_str()),
    )
}

fn prefix(run: &mut Run) -> Result<(), Halt> {
    let wildcards = [
        "%",
        "_",
        "*",
        "?",
        "[a]",
        "[^a]",
        ".",
        "^",
        "$",
        "\\",
        "'",
        "\"",
        "\u{10ffff}",
        "a\u{10ffff}",
    ];
    write(run, &wildcards)?;
    write(run, &["a", "A", "ab", "b", "é", "e", "e\u{301}"])?;
    for name in wildcards {
        same(
            &format!("a scan of the prefix {name:?}"),
            &names(run, name)?,
            &[name],
        )?;
    }
    same(
        "a scan of the prefix `a`",
        &names(run, "a")?,
        &["a", "ab", "a\u{10ffff}"],
    )?;
    same("a scan of the prefix `A`", &names(run, "A")?, &["A"])?;
    same(
        "a scan of the prefix `e`",
        &names(run, "e")?,
        &["e", "e\u{301}"],
    )?;
    same(
        "a scan of a prefix that no key has",
        &names(run, "abc")?,
        &[""; 0],
    )
}

fn after(run: &mut Run) -> Result<(), Halt> {
    write(run, &["a", "b/1", "b/3", "b/3/1", "c"])?;
    for (name, wanted) in [
        ("", Some("b/1")),
        ("a", Some("b/1")),
        ("b/", Some("b/1")),
        ("b/1", Some("b/3")),
        ("b/2", Some("b/3")),
        ("b/3", Some("b/3/1")),
        ("b/3/1", None),
        ("c", None),
    ] {
        let found = scan(&run.key("b/"), Some(&run.key(name)), 1)?;
        let found = found.first().map(|entry| entry.key.clone());
        let wanted = wanted.map(|name| run.key(name));
        let what = format!("the first key with `b/` after {name:?}");
        same(&what, &found, &wanted)?;
    }
    same(
        "a scan after the greatest text",
        &scan(&run.key("b/"), Some("\u{10ffff}"), 10)?.len(),
        &0,
    )?;
    same(
        "the first after the empty text",
        &scan(&run.key("b/"), Some(""), 1)?.len(),
        &1,
    )
}

fn limit(run: &mut Run) -> Result<(), Halt> {
    let wanted: Vec<String> = (0..1050).map(|it| run.key(&format!("{it:04}"))).collect();
    for part in wanted.chunks(CHANGES_MAX) {
        let changes: Vec<_> = part.iter().map(|key| set(key, "{}")).collect();
        commit(&changes)?;
    }
    for limit in [7, 999, SCAN_ENTRIES_MAX] {
        same(
            &format!("pages of {limit}"),
            &keys(&run.key(""), limit)?,
            &wanted,
        )?;
    }
    Ok(())
}
