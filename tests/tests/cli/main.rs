//! What a person types, against the real binary.

mod check;
mod confirmed;
mod endings;
mod help;
mod inside;
mod keys;
mod prompts;
mod questions;
mod readme;
mod unread;

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Output, Stdio};

use backburner_tests::{PATIENCE, TestDir, binary, program, until};
use serde_json::Value;

/// What a command printed, and how it ended.
#[derive(Debug)]
struct Done {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

fn backburner(dir: &TestDir, arguments: &[&str]) -> Done {
    backburner_reading(dir, arguments, "")
}

/// The program with something on its standard input.
fn backburner_reading(dir: &TestDir, arguments: &[&str], input: impl AsRef<[u8]>) -> Done {
    let mut child = program()
        .arg("--data-dir")
        .arg(dir.data())
        .args(arguments)
        .current_dir(dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary can be started");
    let mut stdin = child.stdin.take().expect("it is piped");
    // It fails where the program does not read to the end, which is what it prints that counts.
    let _ = stdin.write_all(input.as_ref());
    drop(stdin);
    done(child.wait_with_output().expect("it can be waited for"))
}

/// The program, whose job asks one thing: that is declined when it is said.
fn declining(dir: &TestDir, arguments: &[&str]) -> Done {
    let run = Followed::start(dir, arguments);
    let asked = run.says_how_to_answer(1);
    let declined = backburner(dir, &["answer", &task_id_in(&asked), "--decline"]);
    assert_eq!(declined.status, Some(0), "{declined:?}");
    run.end()
}

/// A run in the background, which is killed where the test fails.
struct Followed {
    child: Option<Child>,
    stderr: PathBuf,
}

impl Followed {
    fn start(dir: &TestDir, arguments: &[&str]) -> Self {
        let stderr = dir.path().join("stderr");
        let mut command = program();
        command.arg("--data-dir").arg(dir.data()).args(arguments);
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&stderr).expect("the test's directory can be written"))
            .spawn()
            .expect("the binary can be started");
        Self {
            child: Some(child),
            stderr,
        }
    }

    /// What it has said so far.
    fn said(&self) -> String {
        fs::read_to_string(&self.stderr).expect("it prints UTF-8")
    }

    /// Waits until it has said so many times how to answer, and gives what it has said by then.
    fn says_how_to_answer(&self, times: usize) -> String {
        until(PATIENCE, "the question to be said", || {
            let said = self.said();
            // The last words of what is said of it.
            let how = said.match_indices("; answer by: ").nth(times - 1);
            let is_whole = how.is_some_and(|(at, _)| said[at..].contains('\n'));
            if is_whole { Ok(said) } else { Err(said) }
        })
    }

    /// Waits for its end.
    fn end(mut self) -> Done {
        let child = self.child.take().expect("it is taken once");
        let output = child.wait_with_output().expect("it can be waited for");
        Done {
            stderr: self.said(),
            ..done(output)
        }
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // Both fail only where it has ended, which is as good.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The program with something else for its standard output.
fn backburner_printing_to(dir: &TestDir, arguments: &[&str], output: impl Into<Stdio>) -> Done {
    let mut command = program();
    command.arg("--data-dir").arg(dir.data()).args(arguments);
    let output = command
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(Stdio::piped());
    done(output.output().expect("the binary can be started"))
}

fn done(output: Output) -> Done {
    Done {
        status: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("it prints UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("it prints UTF-8"),
    }
}

/// The id in the line `task ID` of standard error.
fn task_id(run: &Done) -> String {
    task_id_in(&run.stderr)
}

fn task_id_in(stderr: &str) -> String {
    let line = stderr.lines().find_map(|line| line.strip_prefix("task "));
    line.unwrap_or_else(|| panic!("no task is named: {stderr:?}"))
        .trim()
        .to_owned()
}

fn show_json(dir: &TestDir, id: &str) -> Value {
    let shown = backburner(dir, &["show", id, "--json"]);
    assert_eq!(shown.status, Some(0), "{shown:?}");
    serde_json::from_str(&shown.stdout).expect("--json prints JSON")
}

#[test]
fn a_run_prints_the_output_and_a_later_show_prints_the_same_result() {
    let dir = TestDir::new();
    let run = backburner(
        &dir,
        &["run", "for i in 1 2 3; do echo step $i; sleep 0.2; done"],
    );
    assert_eq!(run.status, Some(0), "{run:?}");
    assert_eq!(run.stdout, "step 1\nstep 2\nstep 3\n");
    let id = task_id(&run);
    assert_eq!(run.stderr.matches("exit code 0").count(), 1, "{run:?}");
    let later = format!("show --data-dir {} {id}", dir.data().display());
    assert!(
        run.stderr.contains(&later),
        "it says how to fetch it later: {run:?}"
    );
    let shown = backburner(&dir, &["show", &id]);
    assert_eq!(shown.status, Some(0), "{shown:?}");
    assert_eq!(shown.stdout, run.stdout);
    assert!(shown.stderr.contains("completed"), "{shown:?}");
    assert_eq!(shown.stderr.matches("exit code 0").count(), 1, "{shown:?}");
    let task = show_json(&dir, &id);
    assert_eq!(task["status"], "completed");
    assert_eq!(task["result"]["structuredContent"]["exitCode"], 0);
}

#[test]
fn standard_output_is_what_the_command_wrote_and_nothing_else() {
    let dir = TestDir::new();
    for (line, written) in [
        ("printf 'a\\n\\nb\\n'", "a\n\nb\n"),
        ("true", ""),
        ("echo; echo x; exit 3", "\nx\n"),
        ("echo '(no output)'", "(no output)\n"),
        ("echo begun; sleep 60 &", "begun\n"),
    ] {
        let run = backburner(&dir, &["run", "--label", "l", line]);
        assert_eq!(run.stdout, written, "{line}: {run:?}");
        assert!(run.stderr.contains("l: exit code "), "{line}: {run:?}");
        let shown = backburner(&dir, &["show", &task_id(&run)]);
        assert_eq!(shown.stdout, written, "{line}: {shown:?}");
    }
}

#[test]
fn the_processes_that_were_left_are_named_on_standard_error() {
    let dir = TestDir::new();
    let run = backburner(&dir, &["run", "sleep 60 & true"]);
    assert_eq!(run.stdout, "", "{run:?}");
    assert!(
        run.stderr.contains("1 process was still running"),
        "{run:?}"
    );
}

#[test]
fn an_option_behind_the_command_is_explained_where_the_command_failed() {
    let dir = TestDir::new();
    const WORDS: &str =
        "`--timeout` was given to the command: options of `backburner run` go before the command";
    for arguments in [
        &["run", "sleep 1", "--timeout", "5"][..],
        &["run", "false", "--timeout=5"],
    ] {
        let run = backburner(&dir, arguments);
        assert_ne!(run.status, Some(0), "{arguments:?}: {run:?}");
        assert!(run.stderr.contains(WORDS), "{arguments:?}: {run:?}");
    }
    let right = backburner(&dir, &["run", "echo", "--timeout"]);
    assert_eq!(right.stdout, "--timeout\n");
    assert!(!right.stderr.contains("go before"), "{right:?}");
}

#[test]
fn a_job_reads_standard_input_only_where_it_is_told_to() {
    let dir = TestDir::new();
    let given = backburner_reading(&dir, &["run", "--stdin", "cat"], "ä\nb\n");
    assert_eq!((given.status, given.stdout.as_str()), (Some(0), "ä\nb\n"));
    let not_given = backburner_reading(&dir, &["run", "cat"], "ä\nb\n");
    assert_eq!((not_given.status, not_given.stdout.as_str()), (Some(0), ""));
    let binary = backburner_reading(&dir, &["run", "--stdin", "cat"], [0xff]);
    assert_eq!(binary.status, Some(125), "{binary:?}");
    assert!(binary.stderr.contains("is not UTF-8"), "{binary:?}");
    let long = backburner_reading(&dir, &["run", "--stdin", "cat"], "a".repeat(512 * 1024 + 1));
    assert_eq!(long.status, Some(125), "{long:?}");
    assert!(long.stderr.contains("longer than 512 KiB"), "{long:?}");
    let lines = backburner_reading(&dir, &["run", "--stdin", "cat"], "\n".repeat(300 * 1024));
    assert_eq!(lines.status, Some(125), "{lines:?}");
    let words = "bytes long as JSON, where a line feed, a quote and a backslash are two bytes, ";
    assert!(lines.stderr.contains(words), "{lines:?}");
}

/// That a person can understand it who knows nothing of the protocol.
fn assert_plain(done: &Done) {
    for word in [
        "taskId",
        "tasks/",
        "tools/",
        // Behind a space: an id may have it too.
        " -32",
        "ttlMs",
        "ttlSeconds",
        "timeoutSeconds",
        "idempotencyKey",
        "JSON-RPC",
    ] {
        assert!(!done.stderr.contains(word), "{word}: {done:?}");
    }
}

#[test]
fn what_is_left_out_of_a_long_output_is_said_on_standard_error() {
    let dir = TestDir::new();
    let run = backburner(&dir, &["run", "seq 20000"]);
    let shown = backburner(&dir, &["show", &task_id(&run)]);
    for done in [&run, &shown] {
        let numbers: Vec<u32> = done
            .stdout
            .lines()
            .map(|line| line.parse().expect("only the command has written"))
            .collect();
        assert!(numbers.is_sorted(), "the end follows the beginning");
        assert_eq!((numbers.first(), numbers.last()), (Some(&1), Some(&20000)));
        let missing = 20000 - numbers.len();
        let note = format!("({missing} lines) of output left out");
        assert!(done.stderr.contains(&note), "{note}: {}", done.stderr);
    }
}

#[test]
fn a_run_is_in_the_persons_directory_with_the_given_variables() {
    let dir = TestDir::new();
    let run = backburner(
        &dir,
        &[
            "run",
            "--env",
            "ONE=1 = one",
            "--label",
            "l",
            "pwd -P; echo \"$ONE\"",
        ],
    );
    let here = dir.path().canonicalize().expect("it exists");
    assert!(
        run.stdout == format!("{}\n1 = one\n", here.display()),
        "{run:?}"
    );
}

#[test]
fn a_shell_line_among_several_words_is_refused_in_plain_words() {
    let dir = TestDir::new();
    let run = backburner(&dir, &["run", "cargo test", "--release"]);
    assert_eq!((run.status, run.stdout.as_str()), (Some(2), ""));
    assert!(!dir.data().exists(), "it is seen in the command line alone");
    let words = "several words were given, so the first one has to be a program alone and not \"cargo test\"";
    assert!(run.stderr.contains(words), "{run:?}");
    assert!(!run.stderr.contains("`args`"), "{run:?}");
    assert_plain(&run);
}

#[test]
fn several_words_are_a_program_that_no_shell_looks_at() {
    let dir = TestDir::new();
    let run = backburner(&dir, &["run", "printf", "%s\\n", "$HOME; exit 9", "--json"]);
    assert_eq!(run.status, Some(0), "{run:?}");
    assert_eq!(run.stdout, "$HOME; exit 9\n--json\n");
}

#[test]
fn a_detached_run_prints_the_id_alone_and_can_be_cancelled_later() {
    let dir = TestDir::new();
    let run = backburner(&dir, &["run", "--detach", "echo begun; sleep 60"]);
    assert_eq!(run.status, Some(0), "{run:?}");
    let id = run.stdout.trim();
    assert_eq!(
        run.stdout,
        format!("{id}\n"),
        "a script can use it as it is"
    );
    for (does, command) in [("see", "show"), ("stop", "cancel")] {
        let data = dir.data();
        let words = format!(" {command} --data-dir {} {id}\n", data.display());
        assert!(run.stderr.contains(&format!("to {does} it: ")), "{run:?}");
        assert!(run.stderr.contains(&words), "{run:?}");
    }
    assert_eq!(show_json(&dir, id)["status"], "working");
    until(PATIENCE, "the job to have written", || {
        let shown = backburner(&dir, &["show", id]);
        if shown.stderr.contains("begun") {
            Ok(())
        } else {
            Err(shown.stderr)
        }
    });
    let cancelled = backburner(&dir, &["cancel", id]);
    assert_eq!(cancelled.status, Some(0), "{cancelled:?}");
    assert!(cancelled.stdout.contains("cancelled"), "{cancelled:?}");
    assert_eq!(show_json(&dir, id)["status"], "cancelled");
    let again = backburner(&dir, &["cancel", id]);
    assert_eq!(
        again.status,
        Some(0),
        "a second cancel is no error: {again:?}"
    );
}

/// An id that no test is given.
const NO_ID: &str = "1c3f4a5e-7d21-4f0e-9a86-0d9f6a1b2c3d";

#[test]
fn a_task_that_does_not_exist_is_an_error_with_status_125() {
    let dir = TestDir::new();
    backburner(&dir, &["run", "true"]);
    for (command, id, shown) in [
        ("show", NO_ID, NO_ID),
        ("cancel", NO_ID, NO_ID),
        ("show", "1", "1"),
        ("show", "", r#""""#),
        ("cancel", "", r#""""#),
        ("show", "a\n b", r#""a\n b""#),
    ] {
        let done = backburner(&dir, &[command, id]);
        assert_eq!(
            (done.status, done.stdout.as_str()),
            (Some(125), ""),
            "{done:?}"
        );
        let words = format!("backburner: no task {shown} in {}: ", dir.data().display());
        assert!(done.stderr.starts_with(&words), "{done:?}");
        assert_plain(&done);
    }
}

#[test]
fn looking_for_a_task_creates_no_directory() {
    let dir = TestDir::new();
    for command in ["show", "cancel"] {
        let done = backburner(&dir, &[command, NO_ID]);
        assert_eq!(done.status, Some(125), "{done:?}");
        assert!(done.stderr.contains("no task"), "{done:?}");
        assert!(!dir.data().exists(), "{command} made a directory");
    }
    std::fs::create_dir(dir.data()).expect("there is room");
    backburner(&dir, &["show", NO_ID]);
    let mut inside = std::fs::read_dir(dir.data()).expect("it is there");
    assert!(inside.next().is_none(), "show made a store");
}

#[test]
fn a_server_that_cannot_start_says_why_in_one_line() {
    let dir = TestDir::new();
    std::fs::write(dir.data(), "a file").expect("there is room");
    for arguments in [&["run", "true"][..], &["show", NO_ID], &["cancel", NO_ID]] {
        let failed = backburner(&dir, arguments);
        assert_eq!(failed.status, Some(125), "{failed:?}");
        assert!(failed.stderr.contains("is not a directory"), "{failed:?}");
        assert_eq!(failed.stderr.lines().count(), 1, "{failed:?}");
    }
}

#[test]
fn a_directory_that_is_not_ours_keeps_its_mode() {
    let dir = TestDir::new();
    std::fs::create_dir(dir.data()).expect("there is room");
    std::fs::write(dir.data().join("backburner.db"), "no database").expect("there is room");
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(dir.data(), open).expect("it is ours");
    let refused = backburner(&dir, &["run", "true"]);
    assert_eq!(refused.status, Some(125), "{refused:?}");
    let mode = std::fs::metadata(dir.data()).expect("it is there");
    assert_eq!(mode.permissions().mode() & 0o777, 0o755);
}

/// How many lines of standard error say that the command runs.
fn status_lines(run: &Done) -> usize {
    run.stderr.matches("running for ").count()
}

#[test]
fn where_lines_stay_a_state_is_said_when_it_is_another_one_and_not_each_second() {
    let dir = TestDir::new();
    for (line, counts) in [
        ("sleep 2.5", 1..2),
        ("for i in 1 2 3 4 5; do echo $i; sleep 0.5; done", 1..5),
    ] {
        let run = backburner(&dir, &["run", line]);
        assert!(counts.contains(&status_lines(&run)), "{run:?}");
    }
}

#[test]
fn a_quiet_run_says_its_id_its_questions_and_its_end() {
    let dir = TestDir::new();
    let ask = format!("'{}' ask Sure? --deadline 60", binary().display());
    let line = format!("{ask}; sleep 1; exit 3");
    let run = declining(&dir, &["run", "--quiet", &line]);
    assert_eq!(run.status, Some(3), "{run:?}");
    let id = task_id(&run);
    assert_eq!(run.stderr.matches("Sure?").count(), 1, "{run:?}");
    assert!(run.stderr.contains("; answer by: "), "{run:?}");
    assert!(run.stderr.contains("\nexit code 3 after "), "{run:?}");
    assert!(run.stderr.ends_with(&format!(" {id}\n")), "{run:?}");
    let silent = backburner(&dir, &["run", "--quiet", "sleep 1.5"]);
    assert_eq!(status_lines(&silent), 0, "{silent:?}");
}

#[test]
fn a_detached_run_that_has_ended_is_not_to_be_stopped() {
    let dir = TestDir::new();
    // On a machine that is too busy the program leaves before it is known.
    until(PATIENCE, "it to be known in time", || {
        let run = backburner(&dir, &["run", "--detach", "true"]);
        assert_eq!(run.status, Some(0), "{run:?}");
        if run.stderr.contains("to stop it: ") {
            return Err(run.stderr);
        }
        assert!(run.stderr.contains("it has ended; to see it: "), "{run:?}");
        Ok(())
    });
}

#[test]
fn a_run_as_json_is_the_task() {
    let dir = TestDir::new();
    let run = backburner(&dir, &["run", "--json", "echo data"]);
    let task: Value = serde_json::from_str(&run.stdout).expect("standard output is JSON alone");
    assert_eq!(task["taskId"], task_id(&run).as_str());
    assert_eq!(task["result"]["structuredContent"]["outputBytes"], 5);
}

#[test]
fn the_command_that_shows_a_task_works_from_every_directory() {
    let dir = TestDir::new();
    let link = dir.path().join("bb");
    std::os::unix::fs::symlink(binary(), &link).expect("there is room");
    let line = "BACKBURNER_DIR=relative ./bb run 'echo found'";
    let ran = readme::typed(&dir, line);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let all = format!("{}{}", ran.stdout, ran.stderr);
    let show = all.lines().rfind(|line| line.contains(" show "));
    let show = show.unwrap_or_else(|| panic!("no command: {all}"));
    let mut elsewhere = readme::shell(&dir, show);
    elsewhere.env_remove("BACKBURNER_DIR").current_dir("/");
    let shown = done(elsewhere.output().expect("there is a shell"));
    assert_eq!(
        (shown.status, shown.stdout.as_str()),
        (Some(0), "found\n"),
        "{show}: {shown:?}"
    );
}
