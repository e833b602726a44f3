//! What is committed stays.

use super::{Expectation, commit, conflict, keys, put, remove, set, value, version};
use crate::check::{Check, Need, Step};
use crate::expect::{Halt, same};
use crate::run::Run;

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "store/lasting",
        promise: "What was committed is there after a restart, with its versions, and what was removed is not.",
        needs: &[Need::LastingStore],
        steps: &[Step::Do(write), Step::Restart { ms: 0 }, Step::Do(find)],
    },
    Check {
        name: "store/versions-never-return-after-restart",
        promise: "A key that was removed before a restart and is written after it does not get an earlier version.",
        needs: &[Need::LastingStore],
        steps: &[
            Step::Do(write_and_remove),
            Step::Restart { ms: 0 },
            Step::Do(write_anew),
        ],
    },
];

const TEXT: &str = "{\"text\":\"ä\\u0000\0😀\"}\n";

fn write(run: &mut Run) -> Result<(), Halt> {
    let [a, b, c] = ["a", "b", "c"].map(|name| run.key(name));
    commit(&[set(&a, TEXT), set(&b, "1"), set(&c, "1")])?;
    commit(&[remove(&b, Expectation::Anything), set(&c, "2")])?;
    let seen = format!("{} {}", version(&a)?, version(&c)?);
    run.remember(seen);
    Ok(())
}

fn find(run: &mut Run) -> Result<(), Halt> {
    let [a, c] = ["a", "c"].map(|name| run.key(name));
    same(
        "the keys after a restart",
        &keys(&run.key(""), 10)?,
        &[a.clone(), c.clone()],
    )?;
    same(
        "a value after a restart",
        &value(&a)?.as_deref(),
        &Some(TEXT),
    )?;
    same(
        "another value after a restart",
        &value(&c)?.as_deref(),
        &Some("2"),
    )?;
    let found = format!("{} {}", version(&a)?, version(&c)?);
    same(
        "the versions after a restart",
        found.as_str(),
        run.remembered(),
    )?;
    commit(&[put(&a, "new", Expectation::WrittenBy(version(&a)?))])
}

fn write_and_remove(run: &mut Run) -> Result<(), Halt> {
    let key = run.key("a");
    commit(&[set(&key, "1")])?;
    let seen = version(&key)?.to_string();
    run.remember(seen);
    commit(&[remove(&key, Expectation::Anything)])
}

fn write_anew(run: &mut Run) -> Result<(), Halt> {
    let key = run.key("a");
    commit(&[put(&key, "1", Expectation::Absent)])?;
    let before = run.remembered().parse().unwrap_or(u64::MAX);
    let changes = [put(&key, "2", Expectation::WrittenBy(before))];
    conflict(
        "a put, `written-by` a writing before the removal and the restart",
        &changes,
    )
}
