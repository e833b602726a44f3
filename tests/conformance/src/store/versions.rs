//! A version identifies one writing of one key.

use super::{Expectation, commit, conflict, put, remove, set, version};
use crate::check::{Check, Step};
use crate::expect::{Halt, ensure, same};
use crate::run::Run;

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "store/versions-never-return",
        promise: "A key that is written again, or removed and written anew, never has the same version again.",
        needs: &[],
        steps: &[Step::Do(never_return)],
    },
    Check {
        name: "store/versions-of-one-key",
        promise: "Writing a key changes its version, also where the value stays, and that of no other key.",
        needs: &[],
        steps: &[Step::Do(of_one_key)],
    },
];

fn never_return(run: &mut Run) -> Result<(), Halt> {
    let key = run.key("a");
    let mut seen = Vec::new();
    for round in 0..20 {
        commit(&[set(&key, "same")])?;
        let found = version(&key)?;
        ensure(!seen.contains(&found), || {
            format!("writing {round} of a key has the version {found} of an earlier one")
        })?;
        seen.push(found);
        if round % 2 == 1 {
            commit(&[remove(&key, Expectation::Anything)])?;
        }
    }
    commit(&[set(&key, "same")])?;
    for earlier in seen {
        let changes = [put(&key, "new", Expectation::WrittenBy(earlier))];
        conflict(
            "a put, `written-by` a writing before the last removal",
            &changes,
        )?;
    }
    Ok(())
}

fn of_one_key(run: &mut Run) -> Result<(), Halt> {
    let [a, b] = ["a", "b"].map(|name| run.key(name));
    commit(&[set(&a, "1"), set(&b, "1")])?;
    let before = (version(&a)?, version(&b)?);
    same("a version that was read twice", &version(&a)?, &before.0)?;
    commit(&[set(&a, "1")])?;
    ensure(version(&a)? != before.0, || {
        "a key was written again with the same value, and its version stayed".to_owned()
    })?;
    same("the version of another key", &version(&b)?, &before.1)
}
