//! The real binary where something is short: threads, descriptors, room in a file. It works, or says what is missing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;

use backburner_tests::{
    Client, PATIENCE, Server, Setup, TestDir, address_space_kib, descriptors, limit_address_space,
    limit_descriptors, limited, request, run_call, threads, tool_call, until,
};
use serde_json::{Value, json};

/// `backburner run true` on the data directory of `dir`.
fn run_true(dir: &TestDir) -> Command {
    let mut command = backburner_tests::program();
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

/// Whether words name a lack of descriptors: ours, the system's, or those of the loader, which has no others.
fn name_descriptors(words: &str) -> bool {
    ["file descriptor", "Too many open files", "Error 24"]
        .iter()
        .any(|name| words.contains(name))
}

/// That a program which did not work has ended by itself, and said what was missing.
fn assert_says_so(limit: u32, output: &Output) {
    let words = stderr(output);
    assert!(output.status.code().is_some(), "{limit}: {output:?}");
    assert!(name_descriptors(&words), "{limit}: {words}");
    assert!(!words.contains("panicked"), "{limit}: {words}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{limit}");
}

/// The number of descriptors up to which the tests look at every limit. With this many, everything works.
const ENOUGH: u32 = 64;

#[test]
fn with_few_descriptors_a_server_serves_or_says_why_not() {
    let dir = TestDir::new();
    let setup = Setup::flags(&["--direct-limit", "0"]);
    let call = request(1, "tools/call", &run_call("echo hi"), Client::Tasks);
    let mut ids = Vec::new();
    for limit in 3..=ENOUGH {
        let mut command = limited(&format!("-n {limit}"), &setup.command(&dir));
        let output = output(&mut command, &format!("{call}\n"));
        if !output.status.success() {
            assert_says_so(limit, &output);
            continue;
        }
        assert_eq!(stderr(&output), "", "{limit}");
        let reply: Value = serde_json::from_slice(&output.stdout).expect("a call is answered");
        let id = reply["result"]["taskId"].as_str();
        ids.push(id.unwrap_or_else(|| panic!("{limit}: {reply}")).to_owned());
    }
    assert!(!ids.is_empty(), "{ENOUGH} descriptors are enough");
    let mut server = Server::start(&dir);
    for id in &ids {
        let task = server.ended_task(id);
        assert_eq!(task["result"]["structuredContent"]["exitCode"], 0, "{task}");
    }
}

#[test]
fn with_few_descriptors_the_command_line_works_or_says_why_not() {
    let dir = TestDir::new();
    let mut works = false;
    for limit in 3..=ENOUGH {
        let output = output(&mut limited(&format!("-n {limit}"), &run_true(&dir)), "");
        works = output.status.success();
        if !works {
            assert_says_so(limit, &output);
        }
    }
    assert!(works, "{ENOUGH} descriptors are enough");
}

/// Up to how many descriptors more than an idle server has open are looked at: enough for the calls of [`volley`].
const SPARE: u64 = 48;

/// How many calls are made at once.
const VOLLEY: usize = 4;

/// Calls the tool several times at once, as a client without Tasks. Gives the replies.
fn volley(server: &mut Server, command: &str) -> Vec<Value> {
    let ids: Vec<u64> = (0..VOLLEY)
        .map(|_| server.post("tools/call", &run_call(command), Client::Plain))
        .collect();
    ids.iter().map(|id| server.reply(&json!(id))).collect()
}

/// The id in a reply that says that the command was started and cannot be looked at.
fn started_unseen(reply: &Value) -> Option<&str> {
    let text = reply["result"]["content"][0]["text"].as_str()?;
    let behind = text.strip_prefix("the command is task ")?;
    behind.split_once(',').map(|(id, _)| id)
}

#[test]
fn calls_that_run_out_of_descriptors_are_answered_truly_wherever_that_is() {
    let dir = TestDir::new();
    let log = dir.path().join("log");
    fs::write(&log, "").expect("the test's directory can be written");
    let command = format!("echo ran >> '{}'", log.display());
    let mut server = Server::start(&dir);
    server.assert_alive();
    let idle = descriptors(server.pid());
    let mut started = Vec::new();
    let mut refusals = Vec::new();
    for spare in 0..=SPARE {
        limit_descriptors(server.pid(), Some(idle + spare));
        let replies = volley(&mut server, &command);
        limit_descriptors(server.pid(), None);
        let before = started.len();
        for reply in &replies {
            let id = reply["result"]["structuredContent"]["taskId"].as_str();
            if id.is_none() {
                assert!(name_descriptors(&reply.to_string()), "{spare}: {reply}");
            }
            started.extend(id.or_else(|| started_unseen(reply)).map(str::to_owned));
        }
        refusals.push(VOLLEY - (started.len() - before));
        for task in &started[before..] {
            let task = server.ended_task(task);
            let code = &task["result"]["structuredContent"]["exitCode"];
            assert_eq!(code, 0, "{spare}: {task}");
        }
        let ran = fs::read_to_string(&log).expect("it was written above");
        assert_eq!(ran.lines().count(), started.len(), "{spare}: {replies:?}");
    }
    assert_eq!(refusals.first(), Some(&VOLLEY), "{refusals:?}");
    assert_eq!(refusals.last(), Some(&0), "{refusals:?}");
    let exit = server.close();
    assert!(exit.status.success(), "{exit:?}");
    assert!(!exit.stderr.contains("panicked"), "{exit:?}");
}

#[test]
fn waiting_calls_leave_descriptors_for_others() {
    let dir = TestDir::new();
    let (log, go) = (dir.path().join("log"), dir.path().join("go"));
    fs::write(&log, "").expect("the test's directory can be written");
    // More than a server begins with, and less than the calls below would take if all of them waited.
    let mut server = Server::spawn(&mut limited("-n 44", &Setup::default().command(&dir)));
    let command = format!(
        "echo ran >> '{}'; until [ -e '{}' ]; do sleep 0.2; done",
        log.display(),
        go.display()
    );
    let mut ids = Vec::new();
    for number in 1..=30 {
        ids.push(server.post("tools/call", &run_call(&command), Client::Plain));
        until(PATIENCE, "the next job to run", || {
            let ran = fs::read_to_string(&log).expect("it was written above");
            let count = ran.lines().count();
            (count == number)
                .then_some(())
                .ok_or(format!("{count} of {number} run"))
        });
    }
    fs::write(&go, "").expect("the test's directory can be written");
    for id in ids {
        let reply = server.reply(&json!(id));
        let task = reply["result"]["structuredContent"]["taskId"].as_str();
        let task = server.ended_task(task.unwrap_or_else(|| panic!("{reply}")));
        let code = &task["result"]["structuredContent"]["exitCode"];
        assert_eq!(code, 0, "{task}");
    }
}

/// To how many jobs each subscription is: fewer than the descriptors that a call has for a moment. So where each job of each
/// subscription has one, none is left for a call.
const WATCHED: usize = 6;

/// How many subscriptions there are: for more jobs together than there are descriptors.
const SUBSCRIPTIONS: usize = 16;

/// What becomes of subscriptions, until each of them has told the end of so many tasks or has ended: of which tasks each of
/// them told the end.
fn told_ends(server: &mut Server, ids: &[u64], tasks: usize) -> BTreeMap<u64, BTreeSet<String>> {
    let mut open: BTreeSet<u64> = ids.iter().copied().collect();
    let mut ends: BTreeMap<u64, BTreeSet<String>> = BTreeMap::new();
    while !open.is_empty() {
        let told = server.receive(PATIENCE);
        if let Some(over) = told["id"].as_u64() {
            assert_eq!(told["result"]["resultType"], "complete", "{told}");
            open.remove(&over);
        }
        let params = &told["params"];
        if params["status"] == "completed" {
            let id = params["_meta"]["io.modelcontextprotocol/subscriptionId"].as_u64();
            let id = id.expect("it is a subscription's");
            let of_one = ends.entry(id).or_default();
            of_one.insert(params["taskId"].to_string());
            if of_one.len() == tasks {
                open.remove(&id);
            }
        }
    }
    ends
}

#[test]
fn subscriptions_leave_descriptors_for_others_and_hear_of_every_end() {
    let dir = TestDir::new();
    let go = dir.path().join("go");
    let setup = Setup::flags(&["--direct-limit", "0"]);
    let mut server = Server::spawn(&mut limited("-n 100", &setup.command(&dir)));
    let command = format!("until [ -e '{}' ]; do sleep 0.2; done", go.display());
    let arguments = json!({ "command": command, "timeoutSeconds": 300 });
    let tasks: Vec<String> = (0..WATCHED).map(|_| server.call(&arguments)).collect();
    let params = json!({ "notifications": { "taskIds": tasks } });
    let ids: Vec<u64> = (0..SUBSCRIPTIONS)
        .map(|_| server.post("subscriptions/listen", &params, Client::Tasks))
        .collect();
    for _ in 0..20 {
        let task = server.run("true");
        let task = server.ended_task(&task);
        assert_eq!(task["result"]["structuredContent"]["exitCode"], 0, "{task}");
    }
    fs::write(&go, "").expect("the test's directory can be written");
    let ends = told_ends(&mut server, &ids, WATCHED);
    let complete = ends.values().filter(|tasks| tasks.len() == WATCHED).count();
    // Those for which there is no room are ended at once.
    assert!(complete >= SUBSCRIPTIONS / 3, "{ends:?}");
    let exit = server.close();
    assert!(exit.status.success(), "{exit:?}");
}

/// What is left of address space: too little for the stack of a thread, which is 2 MiB, and enough for everything else.
const SPARE_KIB: u64 = 1900;

/// How often a server is put short of memory. What it had mapped for a moment when that was measured is room for
/// threads.
const SHORTAGES: usize = 5;

#[test]
fn waiting_calls_are_answered_where_no_thread_can_be_made() {
    let mut made = (0..SHORTAGES).map(|_| threads_in_a_shortage());
    // Without the limit there are four more, and these two, whose stacks are far smaller: the one that takes leave of
    // children, and the one that hears of questions. Another one may have got the stack of one that ended before.
    assert!(made.any(|more| more <= 3), "threads could always be made");
}

/// Has a server answer calls that wait when it can get hardly any memory, and gives how many threads it has made.
fn threads_in_a_shortage() -> u64 {
    let dir = TestDir::new();
    let mut server = Server::start(&dir);
    server.assert_alive();
    let before = threads(server.pid());
    limit_address_space(server.pid(), address_space_kib(server.pid()) + SPARE_KIB);
    let call = run_call("sleep 0.3; echo done");
    let ids: Vec<u64> = (0..8)
        .map(|_| server.post("tools/call", &call, Client::Plain))
        .collect();
    let mut done = 0;
    for id in ids {
        let reply = server.reply(&json!(id));
        let text = reply["result"]["content"][0]["text"].as_str();
        let text = text.unwrap_or_else(|| panic!("{reply}"));
        // On a busy machine more of them are at work at once than there is room for, which is not of threads.
        assert!(
            text.contains("done") || text.contains("Cannot allocate memory"),
            "{reply}"
        );
        done += usize::from(text.contains("done"));
    }
    assert!(done > 0, "none was run");
    let more = threads(server.pid()).saturating_sub(before);
    let exit = server.close();
    assert!(exit.status.success(), "{exit:?}");
    assert!(!exit.stderr.contains("panicked"), "{exit:?}");
    more
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

/// In blocks of 512 bytes, or of a kilobyte in some shells: more than the component and a new store need, and soon used up.
const FILE_BLOCKS: u32 = 5_000;

#[test]
fn a_limit_on_the_size_of_files_is_an_error_and_not_the_end() {
    let dir = TestDir::new();
    let setup = Setup::flags(&["--direct-limit", "0"]);
    let limit = format!("-f {FILE_BLOCKS}");
    let mut server = Server::spawn(&mut limited(&limit, &setup.command(&dir)));
    // What a job is given is in the store too.
    let arguments = json!({ "command": "wc -c", "stdin": "x".repeat(200_000) });
    let mut ids = Vec::new();
    let refusal = until(PATIENCE, "a file to be full", || {
        let reply = server.request("tools/call", &tool_call(&arguments), Client::Tasks);
        match reply["result"]["taskId"].as_str() {
            Some(id) => {
                ids.push(id.to_owned());
                Err(format!("{} jobs were started", ids.len()))
            }
            None => Ok(reply),
        }
    });
    let is_error = refusal["error"]["code"] == -32603 || refusal["result"]["isError"] == true;
    assert!(is_error, "{refusal}");
    let words = refusal.to_string();
    assert!(words.contains("ulimit -f"), "{words}");
    assert!(!words.contains("is full"), "{words}");
    server.assert_alive();
    for id in &ids {
        let task = server.ended_task(id);
        assert_eq!(task["result"]["structuredContent"]["exitCode"], 0, "{task}");
    }
    let exit = server.close();
    assert!(exit.status.success(), "{exit:?}");
    let mut unlimited = Server::start(&dir);
    let id = unlimited.call(&arguments);
    assert_eq!(unlimited.ended_task(&id)["status"], "completed");
}

#[test]
fn a_server_whose_files_may_not_be_large_enough_says_so() {
    for blocks in [0, 1, 8, 16] {
        let dir = TestDir::new();
        let limit = format!("-f {blocks}");
        let output = output(&mut limited(&limit, &Setup::default().command(&dir)), "");
        let words = stderr(&output);
        assert!(
            output.status.code().is_some_and(|code| code != 0),
            "{blocks}: {output:?}"
        );
        assert!(words.contains("backburner.db"), "{blocks}: {words}");
        assert!(words.contains("ulimit -f"), "{blocks}: {words}");
        assert!(!words.contains("disk, then"), "{blocks}: {words}");
    }
}

#[test]
fn a_server_that_may_not_have_the_data_of_the_component_says_what_to_raise() {
    let dir = TestDir::new();
    let output = output(&mut limited("-f 256", &Setup::default().command(&dir)), "");
    let words = stderr(&output);
    assert_eq!(output.status.code(), Some(125), "{output:?}");
    assert!(words.contains("ulimit -f"), "{words}");
}

#[test]
fn a_server_without_address_space_for_an_instance_says_what_to_raise() {
    let dir = TestDir::new();
    let mut command = limited("-v 2097152", &Setup::default().command(&dir));
    let output = output(&mut command, "");
    let words = stderr(&output);
    assert!(
        output.status.code().is_some_and(|code| code != 0),
        "{output:?}"
    );
    assert!(words.contains("ulimit -v"), "{words}");
    assert!(words.contains("4 GiB of address space"), "{words}");
}
