//! Runs with an idempotency key.

use backburner_tests::TestDir;

use super::{assert_plain, backburner, show_json, task_id};

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
    let elsewhere = backburner(&dir, &["run", "--key", "k", "--cwd", "/", line]);
    assert_eq!(elsewhere.status, Some(125), "{elsewhere:?}");
    assert!(
        elsewhere.stderr.contains("with another directory: "),
        "{elsewhere:?}"
    );
}

#[test]
fn a_key_that_has_a_task_already_is_said() {
    let dir = TestDir::new();
    const WORDS: &str = "the key \"k\" already has this task, created ";
    let line = "echo run >> runs; wc -l < runs";
    let first = backburner(&dir, &["run", "--key", "k", line]);
    assert!(!first.stderr.contains(WORDS), "{first:?}");
    let created = show_json(&dir, &task_id(&first))["createdAt"].clone();
    let words = format!(
        "{WORDS}{}: nothing was started now",
        created.as_str().expect("it is text")
    );
    for options in [&[][..], &["--json"], &["--detach"]] {
        let arguments = [&["run", "--key", "k"], options, &[line]].concat();
        let again = backburner(&dir, &arguments);
        assert_eq!(again.status, Some(0), "{again:?}");
        assert!(again.stderr.contains(&words), "{again:?}");
    }
}

#[test]
fn a_key_whose_task_still_runs_is_said() {
    let dir = TestDir::new();
    let run = ["run", "--key", "k", "--detach", "sleep 60"];
    let first = backburner(&dir, &run);
    assert!(!first.stderr.contains("already"), "{first:?}");
    let again = backburner(&dir, &run);
    assert_eq!(again.stdout, first.stdout);
    assert!(again.stderr.contains("already has this task"), "{again:?}");
    backburner(&dir, &["cancel", first.stdout.trim()]);
}

#[test]
fn a_new_job_is_not_said_to_be_an_earlier_one_whatever_it_is_called() {
    let dir = TestDir::new();
    let label = "like the earlier call with this idempotencyKey started the job";
    let named = [
        "run", "--key", "a", "--label", label, "--detach", "sleep 60",
    ];
    let run = backburner(&dir, &named);
    assert_eq!(run.status, Some(0), "{run:?}");
    assert!(!run.stderr.contains("nothing was started now"), "{run:?}");
    backburner(&dir, &["cancel", run.stdout.trim()]);
    let again = backburner(&dir, &named);
    assert!(
        again.stderr.contains("nothing was started now"),
        "{again:?}"
    );
}

#[test]
fn a_label_is_one_line_that_shows_as_the_command_line_alone_tells() {
    let dir = TestDir::new();
    for label in ["a\n", "a\nb", " "] {
        let refused = backburner(&dir, &["run", "--label", label, "true"]);
        assert_eq!(refused.status, Some(2), "{refused:?}");
        assert!(refused.stderr.contains("give one line"), "{refused:?}");
    }
    assert!(!dir.data().exists(), "no server was started");
}

#[test]
fn of_two_calls_at_the_same_moment_one_is_said_to_have_started_nothing() {
    let dir = TestDir::new();
    for (number, line) in ["true", "sleep 0.3"].into_iter().enumerate() {
        let key = number.to_string();
        let run = || backburner(&dir, &["run", "--key", &key, line]);
        let both = std::thread::scope(|scope| {
            let other = scope.spawn(run);
            [run(), other.join().expect("it does not panic")]
        });
        assert_eq!(task_id(&both[0]), task_id(&both[1]));
        let told = both
            .each_ref()
            .map(|run| run.stderr.contains("already has this task"));
        assert_ne!(told[0], told[1], "{line}: {both:?}");
    }
}
