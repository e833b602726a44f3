//! The real binary where something is short, such as threads. It works, or says what is missing.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;

use backburner_tests::{
    Client, PATIENCE, Server, TestDir, limit_address_space, run_call, threads, address_space_kib,
};
use serde_json::json;

/// A program under a limit of the shell's.
fn limited(limit: &str, program: &Command) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("ulimit {limit} && exec \"$@\""), "sh"])
        .arg(program.get_program())
        .args(program.get_args());
    command
}

/// `backburner run true` on the data directory of `dir`.
fn run_true(dir: &TestDir) -> Command {
    let mut command = Command::new(backburner_tests::binary());
    command
        .arg("--data-dir")
        .arg(dir.data())
        .args(["run", "true"]);
    command
}

/// Sends a program this input, and closes it when the first line has been answered or there will be none.
fn output(command: &mut Command, input: &str) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("there is a shell");
    let mut stdin = child.stdin.take().expect("it is piped");
    let mut stdout = BufReader::new(child.stdout.take().expect("it is piped"));
    // It fails where the program has ended already.
    let _ = stdin.write_all(input.as_bytes());
    let (sender, answered) = mpsc::channel();
    thread::spawn(move || {
        let mut text = Vec::new();
        let read = stdout.read_until(b'\n', &mut text).map(|_| ());
        // Nobody listens where it took too long.
        let _ = sender.send(read.map(|()| text));
    });
    let answer = answered.recv_timeout(PATIENCE);
    if answer.is_err() {
        child.kill().expect("our own child can be killed");
    }
    drop(stdin);
    let output = child.wait_with_output().expect("it can be waited for");
    let stdout = answer.unwrap_or_else(|_| panic!("neither an answer nor an end: {output:?}"));
    Output {
        stdout: stdout.expect("a pipe can be read"),
        ..output
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What is left of address space: too little for the stack of a thread, which is 2 MiB, and enough for everything else.
const SPARE_KIB: u64 = 1900;

#[test]
fn waiting_calls_are_answered_where_no_thread_can_be_made() {
    let dir = TestDir::new();
    let mut server = Server::start(&dir);
    server.assert_alive();
    let before = threads(server.pid());
    limit_address_space(server.pid(), address_space_kib(server.pid()) + SPARE_KIB);
    let call = run_call("sleep 0.3; echo done");
    let ids: Vec<u64> = (0..8)
        .map(|_| server.post("tools/call", &call, Client::Plain))
        .collect();
    for id in ids {
        let reply = server.reply(&json!(id));
        let text = reply["result"]["content"][0]["text"].as_str();
        assert!(text.is_some_and(|text| text.contains("done")), "{reply}");
    }
    // The one that takes leave of children has a stack that is far smaller.
    assert!(threads(server.pid()) <= before + 1, "threads could be made");
    let exit = server.close();
    assert!(exit.status.success(), "{exit:?}");
    assert!(!exit.stderr.contains("panicked"), "{exit:?}");
}

#[test]
fn the_command_line_says_that_no_thread_can_be_made() {
    let dir = TestDir::new();
    let mut said = false;
    // From too little to load the program to more than two threads need: for a while it lacks nothing else.
    for mib in 1..512 {
        let limit = format!("-v {}", mib * 1024);
        let output = output(&mut limited(&limit, &run_true(&dir)), "");
        let words = stderr(&output);
        assert!(!words.contains("failed to spawn"), "{mib} MiB: {words}");
        let says_so = words.contains("cannot start a thread");
        if said && !says_so {
            return;
        }
        said = says_so;
    }
    panic!("there was always a thread, or never: {said}");
}
