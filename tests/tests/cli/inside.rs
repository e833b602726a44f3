//! What a process of a job types, and what it is told that is none.

use std::process::Stdio;

use backburner_tests::{PATIENCE, TestDir, binary, program, until};

use super::{Done, NO_ID, backburner, done, show_json};

/// The program with these variables, where it is no process of a job.
fn outside(dir: &TestDir, variables: &[(&str, &str)], arguments: &[&str]) -> Done {
    let mut command = program();
    command
        .env_remove("BACKBURNER_TASK_ID")
        .env_remove("BACKBURNER_DIR")
        .env("XDG_STATE_HOME", dir.path())
        .envs(variables.iter().copied())
        .args(arguments)
        .stdin(Stdio::null());
    done(command.output().expect("the binary can be started"))
}

#[test]
fn whoever_is_no_job_is_told_why() {
    let dir = TestDir::new();
    let elsewhere = dir.data();
    let elsewhere = elsewhere.to_str().expect("the paths of tests are UTF-8");
    let unset = "BACKBURNER_TASK_ID is not set";
    let wrong = "BACKBURNER_TASK_ID is \"foo\", which is the id of no task";
    let default = format!(
        "looked for this job in {}/backburner, which is the default since BACKBURNER_DIR is not set",
        dir.path().display()
    );
    let named = format!("looked for this job in {elsewhere}: there is no job {NO_ID}");
    for arguments in [&["ask", "Sure?"][..], &["progress", "5"]] {
        for (variables, words) in [
            (&[][..], unset),
            (&[("BACKBURNER_TASK_ID", "")], unset),
            (&[("BACKBURNER_TASK_ID", "foo")], wrong),
            (&[("BACKBURNER_TASK_ID", NO_ID)], &default),
            (
                &[("BACKBURNER_TASK_ID", NO_ID), ("BACKBURNER_DIR", elsewhere)],
                &named,
            ),
        ] {
            let refused = outside(&dir, variables, arguments);
            assert_eq!(refused.status, Some(125), "{refused:?}");
            assert!(refused.stderr.contains(words), "{words}: {refused:?}");
        }
    }
}

#[test]
fn a_number_that_is_no_percentage_is_a_wrong_command_line() {
    let dir = TestDir::new();
    for arguments in [
        &["101"][..],
        &["101", "x"],
        &["nan"],
        &["-5"],
        &["-5", "x"],
        &["-0.5"],
        &["-x"],
        &[],
    ] {
        let arguments = [&["progress"], arguments].concat();
        let refused = backburner(&dir, &arguments);
        assert_eq!(refused.status, Some(2), "{arguments:?}: {refused:?}");
        assert!(refused.stderr.contains("--help"), "{refused:?}");
    }
    let help = backburner(&dir, &["progress", "--help"]).stdout;
    assert!(
        help.contains("backburner progress [OPTIONS] <TEXT>..."),
        "{help}"
    );
}

/// Runs a job that does this with the program, and goes on; gives the id of its task.
fn start(dir: &TestDir, does: &str) -> String {
    let line = format!("'{}' {does}; sleep 60", binary().display());
    let run = backburner(dir, &["run", "--detach", &line]);
    assert_eq!(run.status, Some(0), "{run:?}");
    run.stdout.trim().to_owned()
}

#[test]
fn several_words_are_one_text() {
    let dir = TestDir::new();
    for (words, shown) in [
        (
            "40 compiling the world",
            "progress: 40 %, compiling the world",
        ),
        ("nearly done", "progress: nearly done"),
        ("'3 of 7'", "progress: 3 of 7"),
    ] {
        let id = start(&dir, &format!("progress {words}"));
        until(PATIENCE, "the job to say how far it is", || {
            let task = show_json(&dir, &id);
            let message = task["statusMessage"].as_str().unwrap_or_default();
            let is_so = message.ends_with(shown);
            is_so.then_some(()).ok_or(message.to_owned())
        });
        backburner(&dir, &["cancel", &id]);
    }
}

#[test]
fn what_a_job_runs_is_said_to_end_with_it_and_where_it_is_found() {
    let dir = TestDir::new();
    let line = format!("'{}' run --detach 'sleep 60' 2>&1", binary().display());
    let run = backburner(&dir, &["run", "--json", &line]);
    assert_eq!(run.status, Some(0), "{run:?}");
    let task: serde_json::Value = serde_json::from_str(&run.stdout).expect("it is JSON");
    let id = task["taskId"].as_str().expect("it has one");
    let text = task["result"]["content"][0]["text"].as_str();
    let text = text.expect("there is text");
    let words = format!("it is a part of the job {id}, and is stopped when that ends");
    assert!(text.contains(&words), "{text}");
    // Whoever reads this has not the variables of the job.
    let show = format!(" show --data-dir {} ", dir.data().display());
    assert!(text.contains(&show), "{text}");
    let outside = backburner(&dir, &["run", "--detach", "sleep 60"]);
    assert!(!outside.stderr.contains("is a part of"), "{outside:?}");
    backburner(&dir, &["cancel", outside.stdout.trim()]);
}
