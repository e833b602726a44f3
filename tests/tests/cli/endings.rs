//! How runs end, and what a shell and a person are told of it.

use std::io::Read as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};

use backburner_tests::{PATIENCE, TestDir, binary, supervisor_of_task, until};
use rustix::process::{Pid, Signal, kill_process};

use super::{assert_plain, backburner, backburner_printing_to, done, show_json, task_id};

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
    let run = backburner(&dir, &["run", "--ttl", "0.5h", "true"]);
    assert_eq!(show_json(&dir, &task_id(&run))["ttlMs"], 30 * 60 * 1000);
    let wrong = backburner(&dir, &["run", "--timeout", "0.5x", "true"]);
    assert_eq!(wrong.status, Some(2), "{wrong:?}");
    assert!(wrong.stderr.contains("such as 90, 90s, 0.5s"), "{wrong:?}");
}

/// A run that is followed in the background.
fn follow(dir: &TestDir, arguments: &[&str]) -> (Child, String) {
    let mut child = Command::new(binary())
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
        let (run, id) = follow(&dir, &["sleep 60"]);
        kill_process(Pid::from_child(&run), signal).expect("it runs");
        let output = run.wait_with_output().expect("it can be waited for");
        assert_eq!(output.status.signal(), Some(signal.as_raw()), "{output:?}");
        let run = done(output);
        assert!(
            run.stderr.contains("the job goes on; to see it: "),
            "{run:?}"
        );
        assert_eq!(show_json(&dir, &id)["status"], "working");
        backburner(&dir, &["cancel", &id]);
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
    assert!(
        nowhere.stderr.contains("/nonexistent/backburner"),
        "{nowhere:?}"
    );
    assert_eq!(nowhere.stdout, "");
}

#[test]
fn what_cannot_be_printed_is_a_failure_that_names_the_task() {
    let full = || std::fs::File::create("/dev/full").expect("it is there");
    let dir = TestDir::new();
    let detached = backburner_printing_to(&dir, &["run", "--detach", "true"], full());
    assert_eq!(detached.status, Some(125), "{detached:?}");
    let words = "cannot print the id of task ";
    let (_, rest) = detached
        .stderr
        .split_once(words)
        .expect("it says what happened");
    show_json(&dir, &rest[..36]);
    let id = &rest[..36];
    for arguments in [
        &["run", "echo 1"][..],
        &["run", "--json", "true"],
        &["cancel", id],
        &["show", id, "--json"],
        &["--help"],
        &["help", "run"],
    ] {
        let done = backburner_printing_to(&dir, arguments, full());
        assert_eq!(done.status, Some(125), "{arguments:?}: {done:?}");
        let words = "backburner: cannot write to standard output: No space left";
        assert!(done.stderr.contains(words), "{done:?}");
        if arguments[0] == "run" {
            assert!(done.stderr.contains("exit code 0"), "{done:?}");
            assert!(done.stderr.contains(" show --data-dir "), "{done:?}");
        }
    }
}

#[test]
fn an_id_that_nobody_reads_is_said_elsewhere() {
    let dir = TestDir::new();
    let (read, write) = std::io::pipe().expect("there are descriptors");
    drop(read);
    let detached = backburner_printing_to(&dir, &["run", "--detach", "true"], write);
    assert_eq!(detached.status, Some(125), "{detached:?}");
    let (_, rest) = detached
        .stderr
        .split_once("cannot print the id of task ")
        .expect("it names the task");
    show_json(&dir, &rest[..36]);
}

#[test]
fn a_reader_that_made_its_pipe_not_to_block_gets_everything() {
    let dir = TestDir::new();
    let (mut read, write) = std::io::pipe().expect("there are descriptors");
    rustix::io::ioctl_fionbio(&write, true).expect("a pipe can be told");
    rustix::pipe::fcntl_setpipe_size(&write, 4096).expect("it is small");
    let reading = std::thread::spawn(move || {
        let mut text = String::new();
        read.read_to_string(&mut text).map(|_length| text)
    });
    let done = backburner_printing_to(&dir, &["run", "seq 4000"], write);
    assert_eq!(done.status, Some(0), "{done:?}");
    let text = reading
        .join()
        .expect("it does not panic")
        .expect("it is text");
    assert!(text.ends_with("\n3999\n4000\n"), "{} bytes", text.len());
}

#[test]
fn whoever_does_not_read_what_is_said_gets_the_data_and_the_status() {
    let dir = TestDir::new();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(binary());
        command.arg("--data-dir").arg(dir.data()).args(arguments);
        let full = std::fs::File::create("/dev/full").expect("it is there");
        let output = command.stdin(Stdio::null()).stderr(full).output();
        done(output.expect("the binary can be started"))
    };
    let followed = run(&["run", "echo out; exit 3"]);
    assert_eq!(
        (followed.status, followed.stdout.as_str()),
        (Some(3), "out\n")
    );
    let detached = ["run", "--detach", "--key", "k", "true"];
    let id = run(&detached).stdout;
    assert_eq!(id.trim().len(), 36, "{id}");
    let again = run(&detached);
    assert_eq!((again.status, again.stdout), (Some(0), id));
    assert_eq!(run(&["no-such-command"]).status, Some(2));
}
