//! Questions from inside a job, answered from a terminal or a script.

use backburner_tests::{PATIENCE, TestDir, binary, until};
use serde_json::Value;

use super::{backburner, show_json};

/// Starts a job that asks this, and gives its id.
fn start(dir: &TestDir, question: &str) -> String {
    let line = format!("'{}' ask {question}", binary().display());
    let run = backburner(dir, &["run", "--detach", &line]);
    assert_eq!(run.status, Some(0), "{run:?}");
    let id = run.stdout.trim().to_owned();
    until(PATIENCE, "the job to ask", || {
        let task = show_json(dir, &id);
        match task["status"].as_str() {
            Some("input_required") => Ok(()),
            _ => Err(task.to_string()),
        }
    });
    id
}

/// Waits for the end of the job, and gives its exit code and what it wrote.
fn ended(dir: &TestDir, id: &str) -> (Value, String) {
    until(PATIENCE, "the job to end", || {
        let task = show_json(dir, id);
        match task["status"].as_str() {
            Some("completed") => Ok(()),
            _ => Err(task.to_string()),
        }
    });
    let task = show_json(dir, id);
    let output = backburner(dir, &["show", id]).stdout;
    (
        task["result"]["structuredContent"]["exitCode"].clone(),
        output,
    )
}

#[test]
fn a_script_answers_by_options() {
    let dir = TestDir::new();
    let id = start(&dir, "Which? --choice a --choice b=B");
    let wrong = backburner(&dir, &["answer", &id, "--set", "answer=c"]);
    assert_eq!(wrong.status, Some(2), "{wrong:?}");
    assert!(wrong.stderr.contains("one of a, b"), "{wrong:?}");
    let unset = backburner(&dir, &["answer", &id, "--accept"]);
    assert_eq!(unset.status, Some(2), "{unset:?}");
    let right = backburner(&dir, &["answer", &id, "--set", "answer=B"]);
    assert_eq!(right.status, Some(0), "{right:?}");
    assert_eq!(ended(&dir, &id), (0.into(), "b\n".to_owned()));
    let late = backburner(&dir, &["answer", &id, "--accept"]);
    assert_eq!(late.status, Some(125), "{late:?}");
    assert!(late.stderr.contains("asks nothing"), "{late:?}");
}

#[test]
fn defaults_are_accepted_and_a_question_is_declined() {
    let dir = TestDir::new();
    let id = start(&dir, "How-many? --integer --default 3");
    let accepted = backburner(&dir, &["answer", &id, "--accept"]);
    assert_eq!(accepted.status, Some(0), "{accepted:?}");
    assert_eq!(ended(&dir, &id), (0.into(), "3\n".to_owned()));
    let id = start(&dir, "Sure?");
    let declined = backburner(&dir, &["answer", &id, "--decline"]);
    assert_eq!(declined.status, Some(0), "{declined:?}");
    assert_eq!(ended(&dir, &id), (1.into(), String::new()));
}

#[test]
fn without_a_terminal_the_answer_has_to_be_given() {
    let dir = TestDir::new();
    let id = start(&dir, "Sure?");
    let asked = backburner(&dir, &["answer", &id]);
    assert_eq!(asked.status, Some(2), "{asked:?}");
    assert!(asked.stderr.contains("--accept"), "{asked:?}");
    backburner(&dir, &["cancel", &id]);
}

#[test]
fn a_run_says_how_to_answer() {
    let dir = TestDir::new();
    let line = format!("'{}' ask Sure? --deadline 1", binary().display());
    let run = backburner(&dir, &["run", &line]);
    assert_eq!(run.status, Some(2), "{run:?}");
    let how = format!("answer --data-dir {} ", dir.data().display());
    assert!(
        run.stderr.contains("Sure?") && run.stderr.contains(&how),
        "{run:?}"
    );
}

#[test]
fn a_wrong_question_is_a_failure_and_not_an_answer() {
    let dir = TestDir::new();
    for line in [
        &["ask"][..],
        &["ask", "m", "--several"],
        &["ask", "m", "--integer", "--default", "x"],
    ] {
        let asked = backburner(&dir, line);
        assert_eq!(asked.status, Some(125), "{asked:?}");
    }
    let told = backburner(&dir, &["progress", "101", "x"]);
    assert_eq!(told.status, Some(2), "{told:?}");
}
        &["--config", "/dev/null", "ask", "m", "--bogus"],
        &["--config=/dev/null", "ask", "m", "--bogus"],
