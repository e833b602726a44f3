//! All changes or none, and what has to be true before.

use super::{Expectation, commit, conflict, keys, put, remove, set, value, version};
use crate::check::{Check, Step};
use crate::expect::{Halt, breach, same};
use crate::run::Run;

/// How many instances write at the same time.
const CROWD: u32 = 4;

/// How many times each of them does.
const ROUNDS: u32 = 10;

/// How often one of them tries again before something else than the others is the matter.
const ATTEMPTS: u32 = 10_000;

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "store/expectations",
        promise: "A change happens where its expectation holds, and else the commit fails with `conflict`.",
        needs: &[],
        steps: &[Step::Do(expectations)],
    },
    Check {
        name: "store/atomic",
        promise: "Where one expectation does not hold, none of the changes of the commit happens.",
        needs: &[],
        steps: &[Step::Do(atomic)],
    },
    Check {
        name: "store/serializable",
        promise: "Commits of several instances are serializable: no increment is lost, and no half commit is seen.",
        needs: &[],
        steps: &[
            Step::Do(begin_counting),
            Step::Crowd {
                size: CROWD,
                member: count,
            },
            Step::Do(end_counting),
        ],
    },
];

fn expectations(run: &mut Run) -> Result<(), Halt> {
    let key = run.key("a");
    let never = Expectation::WrittenBy(u64::MAX);
    conflict(
        "a put of an absent key, `written-by`",
        &[put(&key, "0", never)],
    )?;
    conflict(
        "a removal of an absent key, `written-by`",
        &[remove(&key, never)],
    )?;
    commit(&[put(&key, "1", Expectation::Absent)])?;
    conflict(
        "a put of a key that exists, `absent`",
        &[put(&key, "2", Expectation::Absent)],
    )?;
    conflict(
        "a removal of a key that exists, `absent`",
        &[remove(&key, Expectation::Absent)],
    )?;
    let first = Expectation::WrittenBy(version(&key)?);
    commit(&[put(&key, "2", first)])?;
    conflict(
        "a put, `written-by` an earlier writing",
        &[put(&key, "3", first)],
    )?;
    conflict(
        "a removal, `written-by` an earlier writing",
        &[remove(&key, first)],
    )?;
    same("the value after that", &value(&key)?.as_deref(), &Some("2"))?;
    commit(&[remove(&key, Expectation::WrittenBy(version(&key)?))])?;
    conflict(
        "a removal, `written-by` what was removed",
        &[remove(&key, first)],
    )?;
    same("a key that was removed", &value(&key)?, &None)
}

fn atomic(run: &mut Run) -> Result<(), Halt> {
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| run.key(name));
    commit(&[set(&b, "1"), set(&c, "1")])?;
    let before = version(&b)?;
    let changes = [
        set(&a, "new"),
        remove(&b, Expectation::Anything),
        put(&c, "new", Expectation::Absent),
        set(&d, "new"),
    ];
    conflict("a commit whose third expectation does not hold", &changes)?;
    same(
        "the keys after a conflict",
        &keys(&run.key(""), 10)?,
        &[b.clone(), c.clone()],
    )?;
    same("a version after a conflict", &version(&b)?, &before)?;
    same(
        "a value after a conflict",
        &value(&c)?.as_deref(),
        &Some("1"),
    )?;
    commit(&[])
}

fn begin_counting(run: &mut Run) -> Result<(), Halt> {
    commit(&[set(&run.key("left"), "0"), set(&run.key("right"), "0")])
}

fn count(run: &mut Run, _number: u32) -> Result<(), Halt> {
    for _ in 0..ROUNDS {
        increment(run)?;
    }
    Ok(())
}

/// Adds one to both numbers, which are always equal, and tries again when somebody else did so meanwhile.
fn increment(run: &Run) -> Result<(), Halt> {
    let names = [run.key("left"), run.key("right")];
    for _ in 0..ATTEMPTS {
        let entries = super::scan(&run.key(""), None, 2)?;
        let [left, right] = entries.as_slice() else {
            return breach(format!("a scan of two keys gave {}", entries.len()));
        };
        same(
            "the second of two equal values in one scan",
            &right.value,
            &left.value,
        )?;
        let next = left.value.parse::<u32>().map_or(0, |it| it + 1).to_string();
        let changes = [
            put(&names[0], &next, Expectation::WrittenBy(left.version)),
            put(&names[1], &next, Expectation::WrittenBy(right.version)),
        ];
        match super::wit::commit(&changes) {
            Ok(()) => return Ok(()),
            Err(error) => same(
                "a commit among others",
                &error.kind,
                &super::ErrorKind::Conflict,
            )?,
        }
    }
    breach(format!("{ATTEMPTS} commits in a row conflicted"))
}

fn end_counting(run: &mut Run) -> Result<(), Halt> {
    let wanted = (CROWD * ROUNDS).to_string();
    same(
        "the counter",
        &value(&run.key("left"))?,
        &Some(wanted.clone()),
    )?;
    same(
        "the other counter",
        &value(&run.key("right"))?,
        &Some(wanted),
    )
}
