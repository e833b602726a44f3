//! What is written can be read.

use super::{Expectation, commit, get, keys, remove, scan, set, value, version};
use crate::check::{Check, Step};
use crate::expect::{Halt, same};
use crate::limits::VALUE_BYTES_MAX;
use crate::run::Run;

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "store/absent",
        promise: "`get` gives none for a key that was never written, and `scan` nothing where there are no keys.",
        needs: &[],
        steps: &[Step::Do(absent)],
    },
    Check {
        name: "store/unchanged",
        promise: "A value comes back as it was written, whatever text it is, from `get` and from `scan`.",
        needs: &[],
        steps: &[Step::Do(unchanged)],
    },
    Check {
        name: "store/large",
        promise: "A value of 1 MiB is kept, and a scan of many of them gives nothing only where there are no more.",
        needs: &[],
        steps: &[Step::Do(large)],
    },
    Check {
        name: "store/removed",
        promise: "A key that was removed does not exist, and removing one that does not exist is no error.",
        needs: &[],
        steps: &[Step::Do(removed)],
    },
    Check {
        name: "store/exact-keys",
        promise: "Keys are told apart by every byte: by case, by composition of characters, by blanks at their end.",
        needs: &[],
        steps: &[Step::Do(exact_keys)],
    },
];

fn absent(run: &mut Run) -> Result<(), Halt> {
    same(
        "a key that was never written",
        &value(&run.key("a"))?,
        &None,
    )?;
    same(
        "a scan of no keys",
        &scan(&run.key(""), None, 1000)?.len(),
        &0,
    )
}

fn unchanged(run: &mut Run) -> Result<(), Halt> {
    let key = run.key("ключ/😀");
    for text in [
        "",
        " ",
        "\0",
        "null",
        "007",
        "line\r\nand line\n",
        "a\0b",
        "\u{feff}mark",
        "ä a\u{308} € 😀 \u{ffff} \u{10ffff}",
        r#"{"text":"\u0000\ud83d\ude00 \\ \" '' %"}"#,
    ] {
        commit(&[set(&key, text)])?;
        same("a value", &value(&key)?.as_deref(), &Some(text))?;
        let entries = scan(&key, None, 10)?;
        same("entries of a scan", &entries.len(), &1)?;
        same("a scanned value", entries[0].value.as_str(), text)?;
        same("a scanned key", &entries[0].key, &key)?;
        same("a scanned version", &entries[0].version, &version(&key)?)?;
    }
    Ok(())
}

fn large(run: &mut Run) -> Result<(), Halt> {
    let greatest = "€".repeat(VALUE_BYTES_MAX / 3) + "x";
    let wanted: Vec<String> = (0..6).map(|it| run.key(&it.to_string())).collect();
    for key in &wanted {
        commit(&[set(key, &greatest)])?;
    }
    let found = value(&wanted[0])?;
    same("a value of 1 MiB", &found.as_ref(), &Some(&greatest))?;
    same("keys of large values", &keys(&run.key(""), 1000)?, &wanted)
}

fn removed(run: &mut Run) -> Result<(), Halt> {
    let key = run.key("a");
    commit(&[set(&key, "1")])?;
    commit(&[remove(&key, Expectation::Anything)])?;
    same("a key that was removed", &get(&key)?, &None)?;
    same("a scan of it", &scan(&key, None, 10)?.len(), &0)?;
    commit(&[remove(&key, Expectation::Anything)])?;
    commit(&[remove(&key, Expectation::Absent)])
}

fn exact_keys(run: &mut Run) -> Result<(), Halt> {
    let names = [
        "a", "A", "a ", "a\t", "ä", "a\u{308}", "ａ", "a/", "1", "01", "1.0",
    ];
    for name in names {
        commit(&[super::put(&run.key(name), name, Expectation::Absent)])?;
    }
    for name in names {
        same(
            &format!("the value of {name:?}"),
            &value(&run.key(name))?.as_deref(),
            &Some(name),
        )?;
    }
    Ok(())
}
