//! How runs end, and what a shell and a person are told of it.

use std::io::Read as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};

use backburner_tests::{PATIENCE, TestDir, binary, program, supervisor_of_task, until};
use rustix::process::{Pid, Signal, kill_process};

use super::{assert_plain, backburner, done, show_json, task_id};

#[test]
fn a_time_to_live_is_kept_with_the_task() {
    let dir = TestDir::new();
    let run = backburner(&dir, &["run", "--ttl", "2d", "true"]);
    assert_eq!(
        show_json(&dir, &task_id(&run))["ttlMs"],
        2 * 24 * 60 * 60 * 1000
    );
}

#[test]
fn the_exit_status_is_that_of_the_job() {
    let dir = TestDir::new();
    for (arguments, status, shown) in [
        (&["run", "exit 7"][..], 7, "completed"),
        (&["run", "kill -9 $$"], 128 + 9, "completed"),
        (&["run", "kill -TERM $$"], 128 + 15, "completed"),
        (&["run", "--timeout", "1", "sleep 60"], 124, "completed"),
        (&["run", "false", "ignored"], 1, "completed"),
    ] {
        let run = backburner(&dir, arguments);
        assert_eq!(run.status, Some(status), "{arguments:?}: {run:?}");
        assert_eq!(show_json(&dir, &task_id(&run))["status"], shown);
    }
}

#[test]
fn a_timeout_may_be_a_fraction() {
    let dir = TestDir::new();
    let run = backburner(&dir, &["run", "--timeout", "0.5", "sleep 60"]);
    assert_eq!(run.status, Some(124), "{run:?}");
    assert!(run.stderr.contains("its timeout of 500 ms"), "{run:?}");
    for (ttl, minutes) in [("0.5h", 30), ("1h30m", 90)] {
        let run = backburner(&dir, &["run", "--ttl", ttl, "true"]);
        assert_eq!(
            show_json(&dir, &task_id(&run))["ttlMs"],
            minutes * 60 * 1000
        );
    }
    let wrong = backburner(&dir, &["run", "--timeout", "0.5x", "true"]);
    assert_eq!(wrong.status, Some(2), "{wrong:?}");
    assert!(wrong.stderr.contains("such as 90, 0.5s, 10m"), "{wrong:?}");
}

/// A run that is followed in the background.
fn follow(dir: &TestDir, arguments: &[&str]) -> (Child, String) {
    follow_as(program(), dir, arguments)
}

/// The same, by a command that executes the program.
fn follow_as(mut command: Command, dir: &TestDir, arguments: &[&str]) -> (Child, String) {
    let mut child = command
        .arg("--data-dir")
        .arg(dir.data())
        .arg("run")
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary can be started");
    let stderr = child.stderr.as_mut().expect("it is piped");
    // Byte by byte: what comes later is for who waits for the end.
    let mut line = Vec::new();
    while !line.ends_with(b"\n") {
        let mut byte = [0];
        stderr.read_exact(&mut byte).expect("it names the task");
        line.extend(byte);
    }
    let line = String::from_utf8(line).expect("it prints UTF-8");
    let id = line
        .trim()
        .strip_prefix("task ")
        .expect("it names the task");
    (child, id.to_owned())
}

#[test]
fn a_run_whose_task_is_cancelled_ends_with_123() {
    let dir = TestDir::new();
    let (run, id) = follow(&dir, &["--label", "l", "sleep 60"]);
    assert_eq!(backburner(&dir, &["cancel", &id]).status, Some(0));
    let run = done(run.wait_with_output().expect("it can be waited for"));
    assert_eq!(
        (run.status, run.stdout.as_str()),
        (Some(123), ""),
        "{run:?}"
    );
    assert!(run.stderr.contains("l: cancelled after"), "{run:?}");
}

#[test]
fn a_run_that_is_left_dies_of_the_signal_and_its_job_goes_on() {
    let dir = TestDir::new();
    for signal in [Signal::INT, Signal::TERM] {
        // A test that was started in the background of a script has SIGINT ignored.
        let (run, id) = follow_with(&dir, "default", signal);
        kill_process(Pid::from_child(&run), signal).expect("it runs");
        let output = run.wait_with_output().expect("it can be waited for");
        assert_eq!(output.status.signal(), Some(signal.as_raw()), "{output:?}");
        let run = done(output);
        assert!(
            run.stderr.contains("the job goes on; to see it: "),
            "{run:?}"
        );
        let cancel = format!("to stop it: {} cancel --data-dir ", binary().display());
        assert!(run.stderr.contains(&cancel), "{run:?}");
        assert_eq!(show_json(&dir, &id)["status"], "working");
        backburner(&dir, &["cancel", &id]);
    }
}

/// A run that is followed, which is started with this for a signal: `default` or `ignore`.
fn follow_with(dir: &TestDir, disposition: &str, signal: Signal) -> (Child, String) {
    let mut command = Command::new("env");
    // Not a shell's `trap`, which cannot undo that the test itself was started by `nohup`.
    command
        .arg(format!("--{disposition}-signal={}", signal.as_raw()))
        .arg(binary());
    follow_as(command, dir, &["sleep 60"])
}

#[test]
fn a_run_that_is_hung_up_says_that_its_job_goes_on() {
    let dir = TestDir::new();
    let (run, id) = follow_with(&dir, "default", Signal::HUP);
    kill_process(Pid::from_child(&run), Signal::HUP).expect("it runs");
    let output = run.wait_with_output().expect("it can be waited for");
    let signal = output.status.signal();
    assert_eq!(signal, Some(Signal::HUP.as_raw()), "{output:?}");
    let run = done(output);
    assert!(run.stderr.contains("the job goes on; "), "{run:?}");
    backburner(&dir, &["cancel", &id]);
}

#[test]
fn a_run_that_is_to_survive_a_signal_follows_its_job_to_the_end() {
    let dir = TestDir::new();
    // Under `nohup`, and in the background of a script.
    for signal in [Signal::HUP, Signal::INT] {
        let (run, id) = follow_with(&dir, "ignore", signal);
        kill_process(Pid::from_child(&run), signal).expect("it runs");
        backburner(&dir, &["cancel", &id]);
        let run = done(run.wait_with_output().expect("it can be waited for"));
        assert_eq!(run.status, Some(123), "{run:?}");
        assert!(!run.stderr.contains("goes on"), "{run:?}");
    }
}

#[test]
fn a_failed_task_shows_its_label_and_its_last_line() {
    let dir = TestDir::new();
    let (run, id) = follow(
        &dir,
        &["--label", "my job", "echo idempotencyKey; sleep 60"],
    );
    until(PATIENCE, "the job to have written", || {
        let shown = backburner(&dir, &["show", &id]);
        if shown.stderr.contains("last line: idempotencyKey") {
            Ok(())
        } else {
            Err(shown.stderr)
        }
    });
    let supervisor = supervisor_of_task(&id).and_then(|pid| Pid::from_raw(pid.cast_signed()));
    let supervisor = supervisor.expect("the job runs");
    kill_process(supervisor, Signal::KILL).expect("it is ours");
    let run = done(run.wait_with_output().expect("it can be waited for"));
    assert_eq!(
        (run.status, run.stdout.as_str()),
        (Some(125), ""),
        "{run:?}"
    );
    let shown = backburner(&dir, &["show", &id]);
    assert_eq!(
        (shown.status, shown.stdout.as_str()),
        (Some(0), ""),
        "{shown:?}"
    );
    for done in [run, shown] {
        let message = done.stderr.lines().find(|line| {
            line.starts_with("my job: the process that supervised the job was killed")
        });
        let message = message.unwrap_or_else(|| panic!("it says what happened to what: {done:?}"));
        assert!(
            message.ends_with("with a new --key if you gave one; last line: idempotencyKey"),
            "{done:?}"
        );
    }
}

#[test]
fn a_task_that_expires_is_said_in_plain_words() {
    let dir = TestDir::new();
    let run = backburner(&dir, &["run", "--ttl", "1s", "sleep 60"]);
    let id = task_id(&run);
    let words = format!("backburner: task {id} has expired: ");
    let show = backburner(&dir, &["show", &id]);
    let cancel = backburner(&dir, &["cancel", &id]);
    for done in [run, show, cancel] {
        assert_eq!(
            (done.status, done.stdout.as_str()),
            (Some(125), ""),
            "{done:?}"
        );
        assert!(done.stderr.contains(&words), "{done:?}");
        assert!(!done.stderr.contains("goes on;"), "{done:?}");
        assert!(
            done.stderr
                .contains("run the command again with a longer --ttl"),
            "it says what to do: {done:?}"
        );
        assert_plain(&done);
    }
}

#[test]
fn a_detached_run_that_could_not_be_started_says_so_with_status_125() {
    let dir = TestDir::new();
    // It is known within a fraction of a second; on a machine that is too busy the program leaves before.
    until(PATIENCE, "it to be known in time", || {
        let run = backburner(
            &dir,
            &["run", "--detach", "backburner-no-such-program", "x"],
        );
        let id = run.stdout.trim();
        if run.status == Some(0) {
            return Err(run.stderr);
        }
        assert_eq!(run.status, Some(125), "{run:?}");
        assert!(run.stderr.contains("could not be started"), "{run:?}");
        assert_eq!(show_json(&dir, id)["status"], "completed");
        Ok(())
    });
    let ended = backburner(&dir, &["run", "--detach", "false"]);
    assert_eq!(ended.status, Some(0), "it was started: {ended:?}");
}

#[test]
fn what_cannot_be_run_is_said_on_standard_error_with_status_125() {
    let dir = TestDir::new();
    let absent = backburner(&dir, &["run", "backburner-no-such-program", "x"]);
    assert_eq!(absent.status, Some(125), "{absent:?}");
    let nowhere = backburner(&dir, &["run", "--cwd", "/nonexistent/backburner", "true"]);
    assert_eq!(nowhere.status, Some(125), "{nowhere:?}");
    let words = "backburner: the command was not run: the directory /nonexistent/backburner does not exist; create it or \
                 name another one\n";
    assert_eq!(nowhere.stderr, words, "once, and to a person");
    assert_eq!(nowhere.stdout, "");
}

#[test]
fn a_job_that_is_lost_at_once_is_named() {
    let dir = TestDir::new();
    let run = backburner(&dir, &["run", "kill -KILL $PPID; sleep 60"]);
    assert_eq!(run.status, Some(125), "{run:?}");
    // On a machine that is too busy for a direct answer, its id is told before, as that of any task.
    let direct = run.stderr.split_once("backburner: task ");
    let id = match direct.and_then(|(_, named)| named.split_once(" failed: ")) {
        Some((id, _why)) => id.to_owned(),
        None => task_id(&run),
    };
    let why = "the process that supervised the job was killed";
    assert!(run.stderr.contains(why), "{run:?}");
    assert_eq!(show_json(&dir, &id)["status"], "failed");
}
