//! What is printed and said where nobody reads it.

use std::fs::File;
use std::io::{PipeReader, PipeWriter, Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitStatus, Stdio};

use backburner_tests::{PATIENCE, TestDir, program, until};
use rustix::process::{Pid, Signal, kill_process};

use super::{Done, backburner, backburner_printing_to, done, show_json, task_id};

/// How much the smallest pipe holds, in bytes.
const PIPE_BYTES: usize = 4096;

fn small_pipe() -> (PipeReader, PipeWriter) {
    let (read, write) = std::io::pipe().expect("there are descriptors");
    rustix::pipe::fcntl_setpipe_size(&write, PIPE_BYTES).expect("it is small");
    (read, write)
}

/// A pipe that takes nothing any more. Whoever writes is held up until the other end is closed.
fn full_pipe() -> (PipeReader, PipeWriter) {
    let (read, mut write) = small_pipe();
    write
        .write_all(&[b'x'; PIPE_BYTES])
        .expect("it has room for just that");
    (read, write)
}

fn start(dir: &TestDir, arguments: &[&str], output: Stdio, error: Stdio) -> Child {
    let mut command = program();
    command.arg("--data-dir").arg(dir.data()).args(arguments);
    let command = command.stdin(Stdio::null()).stdout(output).stderr(error);
    command.spawn().expect("the binary can be started")
}

/// Sends a signal, and gives how the program ended. One that does not end fails the test, and ends when its pipe is
/// closed by that.
fn terminated(program: &mut Child) -> ExitStatus {
    kill_process(Pid::from_child(program), Signal::TERM).expect("it runs");
    let mut status = None;
    until(PATIENCE, "the program to end", || {
        status = program.try_wait().expect("it is ours");
        status.map(drop).ok_or("it runs".to_owned())
    });
    status.expect("it has ended")
}

/// Waits until the program has started its server: from then on it takes signals.
fn await_server(program: &Child) {
    let id = program.id();
    let children = format!("/proc/{id}/task/{id}/children");
    until(
        PATIENCE,
        "the server to be started",
        || match std::fs::read_to_string(&children) {
            Ok(children) if !children.is_empty() => Ok(()),
            other => Err(format!("{other:?}")),
        },
    );
}

#[test]
fn a_signal_ends_a_program_whose_output_nobody_reads() {
    let dir = TestDir::new();
    let id = task_id(&backburner(&dir, &["run", "seq 4000"]));
    for arguments in [
        &["run", "seq 4000"][..],
        &["run", "--json", "seq 4000"],
        &["show", &id],
    ] {
        let (read, write) = small_pipe();
        let mut program = start(&dir, arguments, write.into(), Stdio::piped());
        until(PATIENCE, "the pipe to be full", || {
            let bytes = rustix::io::ioctl_fionread(&read).expect("a pipe can be asked");
            let is_full = bytes == PIPE_BYTES as u64;
            is_full.then_some(()).ok_or(format!("{bytes} bytes"))
        });
        let status = terminated(&mut program);
        assert_eq!(
            status.signal(),
            Some(Signal::TERM.as_raw()),
            "{arguments:?}"
        );
        let mut said = String::new();
        let mut stderr = program.stderr.take().expect("it is piped");
        stderr.read_to_string(&mut said).expect("it is text");
        assert!(said.contains("exit code 0 after"), "{arguments:?}: {said}");
        assert!(said.contains("nobody reads standard output"), "{said}");
    }
}

#[test]
fn a_signal_ends_a_program_that_cannot_say_anything() {
    let dir = TestDir::new();
    let commands = |id: &str| {
        [
            vec!["run".to_owned(), "echo 1".to_owned()],
            vec!["run".to_owned(), "--detach".to_owned(), "true".to_owned()],
            vec!["show".to_owned(), id.to_owned()],
            vec!["cancel".to_owned(), id.to_owned()],
        ]
    };
    for full in ["output", "error"] {
        let id = task_id(&backburner(&dir, &["run", "echo 1"]));
        for words in commands(&id) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let (_read, write) = full_pipe();
            let (output, error) = match full {
                "output" => (write.into(), Stdio::null()),
                _ => (Stdio::null(), write.into()),
            };
            let mut program = start(&dir, &words, output, error);
            await_server(&program);
            let status = terminated(&mut program);
            let ended = (status.signal(), status.code());
            // Where only its last words are not read it has done what it was to do.
            assert!(
                ended == (Some(Signal::TERM.as_raw()), None) || ended.1 == Some(0),
                "{full}: {words:?}: {ended:?}"
            );
        }
    }
}

fn assert_not_printed(done: &Done, why: &str) {
    assert_eq!(done.status, Some(125), "{done:?}");
    let words = format!("cannot write to standard output: {why}");
    assert!(done.stderr.contains(&words), "{done:?}");
}

/// The task whose id could not be printed.
fn unprinted_id(done: &Done) -> &str {
    let words = "backburner: cannot print the id of task ";
    let (_, rest) = done.stderr.split_once(words).expect("it says which task");
    &rest[..36]
}

#[test]
fn what_cannot_be_printed_is_a_failure_that_says_so_and_how_the_command_ended() {
    let full = || File::create("/dev/full").expect("it is there");
    let dir = TestDir::new();
    let detached = backburner_printing_to(&dir, &["run", "--detach", "true"], full());
    assert_not_printed(&detached, "No space left");
    show_json(&dir, unprinted_id(&detached));
    for options in [&["run"][..], &["run", "--json"]] {
        let run = backburner_printing_to(&dir, &[options, &["echo 1"]].concat(), full());
        assert_not_printed(&run, "No space left");
        assert!(run.stderr.contains("\nexit code 0 after "), "{run:?}");
        let id = task_id(&run);
        assert!(
            run.stderr.contains(&format!(" {id}\nbackburner: ")),
            "{run:?}"
        );
    }
    let id = task_id(&backburner(&dir, &["run", "echo 1"]));
    let show = backburner_printing_to(&dir, &["show", &id], full());
    assert!(show.stderr.contains("\nexit code 0 after "), "{show:?}");
    let cancel = backburner_printing_to(&dir, &["cancel", &id], full());
    assert!(cancel.stderr.contains("exit code 0 after "), "{cancel:?}");
    let json = backburner_printing_to(&dir, &["show", "--json", &id], full());
    let help = backburner_printing_to(&dir, &["--help"], full());
    let explained = backburner_printing_to(&dir, &["help", "run"], full());
    for done in [show, cancel, json, help, explained] {
        assert_not_printed(&done, "No space left");
    }
}

#[test]
fn an_id_that_nobody_reads_is_a_failure_and_an_output_is_none() {
    let closed = || {
        let (_, write) = std::io::pipe().expect("there are descriptors");
        write
    };
    let dir = TestDir::new();
    let detached = backburner_printing_to(&dir, &["run", "--detach", "true"], closed());
    assert_not_printed(&detached, "Broken pipe");
    show_json(&dir, unprinted_id(&detached));
    for arguments in [
        &["run", "echo 1"][..],
        &["run", "--json", "true"],
        &["--help"],
    ] {
        let done = backburner_printing_to(&dir, arguments, closed());
        assert_eq!(done.status, Some(0), "as with `| head`: {done:?}");
    }
}

#[test]
fn a_reader_that_made_its_pipe_not_to_block_gets_everything() {
    let dir = TestDir::new();
    let (mut read, write) = small_pipe();
    rustix::io::ioctl_fionbio(&write, true).expect("a pipe can be told");
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
        let mut command = program();
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
