//! Runs with an idempotency key.

use backburner_tests::TestDir;

use super::{assert_plain, backburner, task_id};

#[test]
fn a_key_runs_a_command_once_also_where_it_failed() {
    let dir = TestDir::new();
    let line = "echo run >> runs; wc -l < runs; exit 4";
    let first = backburner(&dir, &["run", "--key", "k", line]);
    let second = backburner(&dir, &["run", "--key", "k", line]);
    for run in [&first, &second] {
        assert_eq!(run.status, Some(4), "{run:?}");
        assert_eq!(run.stdout.trim(), "1", "{run:?}");
    }
    assert_eq!(task_id(&first), task_id(&second));
    let other = backburner(&dir, &["run", "--key", "k", "true"]);
    assert_eq!(other.status, Some(125), "{other:?}");
    assert!(other.stderr.contains("`--key` \"k\""), "{other:?}");
    assert_plain(&other);
}
