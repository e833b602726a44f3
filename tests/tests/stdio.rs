//! The real binary over stdio, where a transcript does not reach: bytes that are no text, streams that are closed
//! or not read, memory, time.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use backburner_tests::{
    Client, Exit, PATIENCE, Server, Setup, TestDir, check_message, peak_memory_kib, request,
    resident_memory_kib, run_call, tool_call, until,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// The promise, for a server that has nothing in hand.
const PROMPT_EXIT: Duration = Duration::from_millis(100);

/// The promise for one that has, and cannot go on with it: a second, and what an idle one may take. It deviates from the
/// first one on purpose: who asked for something, and then closed the input, wants the answer.
const STUCK_EXIT: Duration = Duration::from_millis(1_100);

/// By how much servers may be later than promised, as a shared machine takes the processor away now and then. A fault of
/// the server's own takes longer: a second where it waits for work that is stuck, five where it waits for its client, half
/// a minute in the store.
const DISTURBANCE: Duration = Duration::from_millis(800);

/// By how much one of five may be later, where the processor was away for long: still less than it takes to wait for a
/// client.
const LONG_DISTURBANCE: Duration = Duration::from_secs(4);

/// How often something is tried that has to succeed once: a busy machine may be too slow for it, but not each time.
const ENDS: u32 = 10;

/// How much memory may grow while something huge goes by: the allocator's slack, and one accepted message (4 MiB)
/// in a few copies, but not what goes by.
const FLAT_KIB: u64 = 48 * 1024;

const MIB: usize = 1024 * 1024;

/// A server that has answered once, so that what it needs for good is in memory.
fn warm(dir: &TestDir) -> Server {
    let mut server = Server::start(dir);
    server.assert_alive();
    server
}

/// The next message without an id, or with one that nobody asked under.
fn error_code(server: &mut Server) -> i64 {
    let message = server.receive(PATIENCE);
    message["error"]["code"]
        .as_i64()
        .unwrap_or_else(|| panic!("no error: {message}"))
}

#[test]
fn garbage_is_answered_with_errors_and_the_server_lives_on() {
    let dir = TestDir::new();
    let mut server = warm(&dir);
    let garbage: [(&[u8], i64); 7] = [
        (b"\xff\xfe\xfd\n", -32700),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xc3\x28\"}\n",
            -32700,
        ),
        (b"\0\n", -32700),
        (b"{\"jsonrpc\":\"2.0\",\0\"id\":1}\n", -32700),
        (b"\x1b[2J\n", -32700),
        (b"GET / HTTP/1.1\r\n", -32700),
        (b"[]\r\n", -32600),
    ];
    for (bytes, code) in garbage {
        server.send_raw(bytes);
        assert_eq!(
            error_code(&mut server),
            code,
            "{}",
            String::from_utf8_lossy(bytes)
        );
    }
    server.assert_alive();
    assert_eq!(
        server.close().unread,
        Vec::<Value>::new(),
        "nothing was answered twice"
    );
}

#[test]
fn empty_lines_do_no_harm() {
    let dir = TestDir::new();
    let mut server = warm(&dir);
    server.send_raw(b"\n\r\n  \n");
    server.assert_alive();
    // Whether they are answered is not said anywhere; what is said is that an answer is a message.
    server.close();
}

#[test]
fn deep_nesting_is_refused_and_the_server_lives_on() {
    let dir = TestDir::new();
    let mut server = warm(&dir);
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let depth = 300_000;
        let nested = format!("{}1{}", open.repeat(depth), close.repeat(depth));
        server.send_raw(format!("{nested}\n").as_bytes());
        let code = error_code(&mut server);
        assert!([-32700, -32600].contains(&code), "{code}");
        let inside = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":\"deep\",\"method\":\"tools/list\",\"params\":{nested}}}\n"
        );
        server.send_raw(inside.as_bytes());
        let message = server.receive(PATIENCE);
        assert!(message["error"]["code"].is_i64(), "{message}");
    }
    server.assert_alive();
}

#[test]
fn a_line_over_the_limit_is_refused_with_flat_memory() {
    let dir = TestDir::new();
    let mut server = warm(&dir);
    let before = peak_memory_kib(server.pid());
    server.send_raw(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"");
    let piece = vec![b'x'; MIB];
    for _ in 0..256 {
        server.send_raw(&piece);
    }
    server.send_raw(b"\"}\n");
    assert_eq!(error_code(&mut server), -32600);
    server.assert_alive();
    let growth = peak_memory_kib(server.pid()) - before;
    assert!(
        growth < FLAT_KIB,
        "256 MiB went by and memory grew by {growth} KiB"
    );
    assert_eq!(
        server.close().unread,
        Vec::<Value>::new(),
        "a refused line is refused once"
    );
}

#[test]
fn the_limit_of_a_line_is_what_the_flag_says() {
    let dir = TestDir::new();
    let mut server = Server::start_with(&dir, &Setup::flags(&["--max-message-bytes", "2048"]));
    let padded = |bytes: usize| {
        let message = request(1, "server/discover", &json!({ "pad": "" }), Client::Plain);
        let pad = "x".repeat(bytes - message.to_string().len());
        request(1, "server/discover", &json!({ "pad": pad }), Client::Plain)
    };
    server.send(&padded(2048));
    assert!(server.receive(PATIENCE)["result"].is_object());
    server.send(&padded(2049));
    let refused = server.receive(PATIENCE);
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    let words = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(words.contains("--max-message-bytes"), "{refused}");
    server.assert_alive();
    let said = server.close().stderr;
    let names_both = said.contains("2048 bytes") && said.contains("--max-message-bytes");
    assert!(names_both, "{said}");
}

/// Ends eleven servers that `prepare` makes by closing their input: the promise holds for most of them, and no more than
/// two are much later.
fn assert_prompt_exit(prepare: impl FnMut() -> Server, look: impl FnMut(&Exit)) {
    let times = exit_times(11, prepare, look);
    assert_times(&times, PROMPT_EXIT);
}

/// Ends so many servers, and gives how long each took, the quickest first.
fn exit_times(
    count: usize,
    mut prepare: impl FnMut() -> Server,
    mut look: impl FnMut(&Exit),
) -> Vec<Duration> {
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let mut server = prepare();
        let closed = Instant::now();
        server.close_stdin();
        let exit = server.wait_exit(PATIENCE);
        times.push(closed.elapsed());
        assert!(exit.status.success(), "{exit:?}");
        look(&exit);
    }
    times.sort_unstable();
    times
}

/// Sees that the median is within a limit, all but a fifth are not much beyond it, and none is as late as a fault would be.
fn assert_times(times: &[Duration], limit: Duration) {
    let last = times.len() - 1;
    for (place, disturbance) in [
        (last / 2, Duration::ZERO),
        (last - times.len() / 5, DISTURBANCE),
        (last, LONG_DISTURBANCE),
    ] {
        let (took, longest) = (times[place], limit + disturbance);
        assert!(
            took <= longest,
            "promised are {limit:?}; {took:?} is more than {longest:?}: {times:?}"
        );
    }
}

/// A job that goes on until its gate is opened.
struct Gated {
    gate: PathBuf,
}

impl Gated {
    fn new(dir: &TestDir) -> Self {
        let gate = dir.path().join("gate");
        Self { gate }
    }

    fn line(&self) -> String {
        let gate = self.gate.display();
        format!("until [ -e '{gate}' ]; do sleep 0.05; done; echo went on; exit 7")
    }

    /// Sees that the jobs of these tasks run, opens the gate, and sees that they end as they should.
    fn assert_alive(&self, dir: &TestDir, tasks: &[String]) {
        let mut server = Server::start(dir);
        for id in tasks {
            assert_eq!(server.task(id)["status"], "working");
        }
        fs::write(&self.gate, "").expect("the test's directory can be written");
        for id in tasks {
            let task = server.ended_task(id);
            assert_eq!(task["result"]["structuredContent"]["exitCode"], 7, "{task}");
            let text = task["result"]["content"][0]["text"].as_str();
            assert!(text.is_some_and(|text| text.contains("went on")), "{task}");
        }
    }
}

#[test]
fn end_of_input_ends_the_server_at_once_and_not_its_job() {
    let dir = TestDir::new();
    let gated = Gated::new(&dir);
    let mut tasks = Vec::new();
    let prepare = || {
        let mut server = Server::start_with(&dir, &Setup::flags(&["--direct-limit", "0"]));
        tasks.push(server.run(&gated.line()));
        server
    };
    assert_prompt_exit(prepare, |exit| assert!(exit.unread.is_empty(), "{exit:?}"));
    gated.assert_alive(&dir, &tasks);
}

#[test]
fn end_of_input_ends_the_server_also_while_a_call_waits() {
    let dir = TestDir::new();
    let gated = Gated::new(&dir);
    let prepare = || {
        let mut server = warm(&dir);
        server.post("tools/call", &run_call(&gated.line()), Client::Plain);
        // Answered only after the server has read the call before it.
        server.assert_alive();
        server
    };
    let mut tasks = Vec::new();
    assert_prompt_exit(prepare, |exit| {
        let [reply] = &exit.unread[..] else {
            panic!("the waiting call is answered: {exit:?}");
        };
        let task = reply["result"]["structuredContent"]["taskId"].as_str();
        tasks.push(task.expect("the answer names the task").to_owned());
    });
    gated.assert_alive(&dir, &tasks);
}

#[test]
fn end_of_input_ends_the_server_also_where_its_store_has_much_to_put_in_order() {
    let dir = TestDir::new();
    let mut tasks = Vec::new();
    let prepare = || {
        let mut server = warm(&dir);
        // Records whose place is in the write-ahead log, until the last server writes them into the store.
        for _ in 0..50 {
            let id = server.run("exit 9");
            server.ended_task(&id);
            tasks.push(id);
        }
        server
    };
    let times = exit_times(5, prepare, |exit| {
        assert!(exit.unread.is_empty(), "{exit:?}");
    });
    assert_times(&times, PROMPT_EXIT);
    let mut server = warm(&dir);
    for id in tasks {
        let task = server.task(&id);
        assert_eq!(task["result"]["structuredContent"]["exitCode"], 9, "{task}");
    }
}

/// The store of the servers on this directory, beside them.
fn store_of(dir: &TestDir) -> rusqlite::Connection {
    let store = rusqlite::Connection::open(dir.data().join("backburner.db"));
    store.expect("the store is there")
}

/// Keeps everybody else from writing.
fn lock(store: &rusqlite::Connection) {
    let locked = store.execute_batch("BEGIN IMMEDIATE");
    locked.expect("nobody writes");
}

#[test]
fn end_of_input_ends_the_server_also_while_a_call_cannot_go_on() {
    let dir = TestDir::new();
    warm(&dir).close();
    let store = store_of(&dir);
    let prepare = || {
        let mut server = warm(&dir);
        lock(&store);
        server.post("tools/call", &run_call("true"), Client::Plain);
        server
    };
    // Fewer of them: each takes its second.
    let times = exit_times(5, prepare, |exit| {
        assert!(exit.unread.is_empty(), "nothing could be written: {exit:?}");
        store.execute_batch("ROLLBACK").expect("it was begun");
    });
    assert_times(&times, STUCK_EXIT);
    assert!(times[0] > PROMPT_EXIT, "it waited for the call: {times:?}");
    let mut server = warm(&dir);
    server.run("true");
}

#[test]
fn a_call_that_the_disk_is_slow_with_is_answered_after_the_end_of_input() {
    let dir = TestDir::new();
    warm(&dir).close();
    let store = store_of(&dir);
    // A server waits for a second, and a shared machine may take that away, but not each time.
    let is_answered = (0..ENDS).any(|_| {
        let mut server = warm(&dir);
        lock(&store);
        server.post("tools/call", &run_call("exit 4"), Client::Plain);
        server.close_stdin();
        // What a slow disk does: nothing, for longer than an idle server takes to end.
        std::thread::sleep(2 * PROMPT_EXIT);
        store.execute_batch("ROLLBACK").expect("it was begun");
        let unread = server.wait_exit(PATIENCE).unread;
        let task = |reply: &Value| reply["result"]["structuredContent"]["taskId"].is_string();
        unread.first().is_some_and(task)
    });
    assert!(is_answered, "none of {ENDS}");
}

#[test]
fn end_of_input_ends_the_server_also_where_all_its_threads_have_a_call_that_cannot_go_on() {
    let dir = TestDir::new();
    let mut server = warm(&dir);
    let store = store_of(&dir);
    lock(&store);
    for _ in 0..64 {
        server.post("tools/call", &run_call("true"), Client::Plain);
    }
    // The store would give up after half a minute, a few calls at a time.
    let exit = server.close();
    assert!(exit.status.success() && exit.unread.is_empty(), "{exit:?}");
}

#[test]
fn reads_are_answered_while_more_calls_than_there_are_threads_wait_for_the_store() {
    // Half of how long a commit may wait for the lock: reads do not wait for that.
    const SOON: Duration = Duration::from_secs(15);
    let dir = TestDir::new();
    let mut server = warm(&dir);
    let task = server.run("exit 3");
    server.ended_task(&task);
    let store = store_of(&dir);
    lock(&store);
    for _ in 0..64 {
        server.post("tools/call", &run_call("true"), Client::Plain);
    }
    let listed = server.post("tools/list", &json!({}), Client::Tasks);
    let read = server.post("tasks/get", &json!({ "taskId": task }), Client::Tasks);
    let begun = Instant::now();
    for id in [listed, read] {
        let reply = server.reply(&json!(id));
        assert!(reply["result"].is_object(), "{reply}");
        assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    }
    store.execute_batch("ROLLBACK").expect("it was begun");
    // Those that wait have their turn first; one more may still be refused meanwhile.
    until(PATIENCE, "a call to be taken again", || {
        let reply = server.request("tools/call", &run_call("true"), Client::Tasks);
        let is_taken = reply["result"].is_object();
        is_taken.then_some(()).ok_or_else(|| reply.to_string())
    });
}

#[test]
fn requests_that_are_piped_in_and_closed_at_once_are_all_answered() {
    let dir = TestDir::new();
    let mut server = Server::start(&dir);
    let count = 50;
    let lines: String = (1..=count)
        .map(|id| format!("{}\n", request(id, "tools/list", &json!({}), Client::Plain)))
        .collect();
    server.send_raw(lines.as_bytes());
    let exit = server.close();
    assert!(exit.status.success(), "{exit:?}");
    assert_ids(&exit.unread, count);
}

#[test]
fn a_last_line_without_a_line_break_is_answered() {
    let dir = TestDir::new();
    let mut server = Server::start(&dir);
    let message = request(1, "server/discover", &json!({}), Client::Plain);
    server.send_raw(message.to_string().as_bytes());
    assert_ids(&server.close().unread, 1);
}

fn assert_ids(messages: &[Value], count: u64) {
    let mut ids: Vec<u64> = messages
        .iter()
        .filter_map(|message| message["id"].as_u64())
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, (1..=count).collect::<Vec<_>>());
}

#[test]
fn two_hundred_parallel_requests_are_all_answered_with_their_own_id() {
    let dir = TestDir::new();
    let mut server = warm(&dir);
    let first = server.post("tools/call", &run_call("echo 0"), Client::Plain);
    let ids: Vec<u64> = (first..first + 200).collect();
    for number in 1..200 {
        let (method, params) = match number % 3 {
            0 => ("tools/call", run_call(&format!("echo {number}"))),
            1 => ("tools/list", json!({})),
            _ => ("server/discover", json!({})),
        };
        server.post(method, &params, Client::Plain);
    }
    for (number, id) in ids.iter().enumerate() {
        let reply = server.reply(&json!(id));
        let result = &reply["result"];
        assert_eq!(result["resultType"], "complete", "{reply}");
        if number % 3 == 0 {
            let text = result["content"][0]["text"].as_str().unwrap_or_default();
            assert!(
                text.ends_with(&format!("\n{number}")) || text.ends_with(&format!("\n{number}\n")),
                "{text}"
            );
        }
    }
}

/// How many requests have more replies than the pipe to us holds, and are no more than the pipe to the server holds: a
/// server may stop reading while nobody reads it.
const UNREAD_REQUESTS: u64 = 150;

/// A server whose client has asked a lot, has closed its end, and has read nothing yet.
fn hung_up_and_unread(dir: &TestDir) -> Child {
    let mut child = unread(dir);
    let mut stdin = child.stdin.take().expect("it is piped");
    write_requests(&mut stdin, UNREAD_REQUESTS);
    child
}

/// Sees that a server stays for a while: for longer than it would take one to end that waits for nobody.
fn assert_stays(child: &mut Child) {
    let begun = Instant::now();
    until(PATIENCE, "a while to pass", || {
        let ended = child.try_wait().expect("our own child can be waited for");
        assert_eq!(ended, None, "its replies are unread");
        let passed = begun.elapsed();
        let is_over = passed > Duration::from_secs(1);
        is_over.then_some(()).ok_or(format!("{passed:?}"))
    });
}

fn wait_exit(child: &mut Child) -> ExitStatus {
    until(PATIENCE, "the server to exit", || {
        let ended = child.try_wait().expect("our own child can be waited for");
        ended.ok_or_else(|| "it runs".to_owned())
    })
}

/// All that a server has written and nobody has read.
fn read_unread(child: &mut Child) -> String {
    let mut text = String::new();
    let mut stdout = child.stdout.take().expect("it is piped");
    stdout.read_to_string(&mut text).expect("it is UTF-8");
    text
}

#[test]
fn a_client_that_hung_up_and_reads_late_gets_every_reply_whole() {
    let dir = TestDir::new();
    let mut child = hung_up_and_unread(&dir);
    assert_stays(&mut child);
    let text = read_unread(&mut child);
    let messages = text
        .lines()
        .map(check_message)
        .collect::<Result<Vec<_>, _>>();
    assert_ids(&messages.expect("every line is a message"), UNREAD_REQUESTS);
    let status = wait_exit(&mut child);
    assert!(status.success(), "{status}");
}

#[test]
fn a_server_that_waits_for_a_client_that_does_not_read_ends_when_it_is_asked_to() {
    let dir = TestDir::new();
    let mut took = (0..ENDS).map(|_| {
        let mut child = hung_up_and_unread(&dir);
        assert_stays(&mut child);
        let asked = Instant::now();
        kill_process(Pid::from_child(&child), Signal::TERM).expect("our own child can be asked");
        wait_exit(&mut child);
        asked.elapsed()
    });
    // By itself it would have waited for four seconds more. A busy machine may need as long, but not each time.
    let is_prompt = |took| took < Duration::from_secs(3);
    assert!(took.any(is_prompt), "none of {ENDS}");
}

#[test]
fn output_that_nobody_reads_does_not_keep_the_server_for_ever() {
    let dir = TestDir::new();
    let mut child = hung_up_and_unread(&dir);
    let status = wait_exit(&mut child);
    // What was written before must be whole messages but for the last one, which the pipe may have cut.
    let text = read_unread(&mut child);
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    for line in whole.lines() {
        check_message(line).expect("every line is a message");
    }
    assert!(!whole.is_empty(), "{status}: nothing was written");
}

#[test]
fn a_client_that_does_not_read_does_not_make_memory_grow() {
    let dir = TestDir::new();
    let mut child = unread(&dir);
    let mut stdin = child.stdin.take().expect("it is piped");
    write_requests(&mut stdin, 1);
    until(PATIENCE, "the server to have started", || {
        let resident = resident_memory_kib(child.id());
        if dir.data().is_dir() {
            Ok(())
        } else {
            Err(format!("{resident} KiB, no data directory"))
        }
    });
    // The writer gets stuck when the server stops reading: exactly what should happen.
    let writer = std::thread::spawn(move || {
        write_requests(&mut stdin, 100_000);
    });
    // Memory that grows for every unread reply would grow by far more than this: 100 000 replies are 500 MiB.
    let peak = settled_peak_kib(child.id());
    child.kill().expect("our own child can be killed");
    child.wait().expect("our own child can be waited for");
    writer.join().expect("the writer ends with the pipe");
    assert!(
        peak < 128 * 1024,
        "{peak} KiB for replies that nobody reads"
    );
}

/// The most memory of a process whose peak has not grown for a while.
fn settled_peak_kib(pid: u32) -> u64 {
    let mut last = (peak_memory_kib(pid), Instant::now());
    until(PATIENCE, "memory to stop growing", || {
        let peak = peak_memory_kib(pid);
        if peak != last.0 {
            last = (peak, Instant::now());
        }
        if last.1.elapsed() > Duration::from_secs(1) {
            Ok(peak)
        } else {
            Err(format!("{peak} KiB"))
        }
    })
}

fn unread(dir: &TestDir) -> Child {
    Setup::default()
        .command(dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary can be started")
}

/// Writes as many requests as the server takes.
fn write_requests(stdin: &mut impl Write, count: u64) {
    for id in 1..=count {
        let message = request(id, "tools/list", &json!({}), Client::Plain);
        if writeln!(stdin, "{message}").is_err() {
            return;
        }
    }
}

/// How many subscriptions have something to tell: more than a server has threads for calls of the component.
const UNTOLD: u64 = 20;

#[test]
fn a_client_that_does_not_read_does_not_keep_tasks_from_expiring() {
    let dir = TestDir::new();
    let mut child = unread(&dir);
    let mut stdin = child.stdin.take().expect("it is piped");
    let mut stdout = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut run = |id: u64, arguments: Value| {
        let call = request(id, "tools/call", &tool_call(&arguments), Client::Tasks);
        writeln!(stdin, "{call}").expect("it is read");
        let mut reply = String::new();
        stdout.read_line(&mut reply).expect("it is UTF-8");
        let reply = check_message(reply.trim_end()).expect("it is a message");
        let task = reply["result"]["taskId"].as_str().map(str::to_owned);
        task.unwrap_or_else(|| panic!("{reply}"))
    };
    let command = "while :; do date; sleep 0.3; done";
    let talker = run(1, json!({ "command": command, "timeoutSeconds": 120 }));
    let expiring = run(2, json!({ "command": "sleep 60", "ttlSeconds": 5 }));
    let job = dir.data().join("jobs").join(&expiring);
    assert!(job.is_dir(), "{}", job.display());
    let params = json!({ "notifications": { "taskIds": [talker] } });
    for id in 3..3 + UNTOLD {
        let listen = request(id, "subscriptions/listen", &params, Client::Tasks);
        writeln!(stdin, "{listen}").expect("it is read");
    }
    // The writer gets stuck when the server stops reading; from then on nothing that is sent is taken.
    let writer = std::thread::spawn(move || {
        write_requests(&mut stdin, 100_000);
    });
    until(PATIENCE, "the expired task to be deleted", || {
        (!job.exists())
            .then_some(())
            .ok_or("it is there".to_owned())
    });
    child.kill().expect("our own child can be killed");
    child.wait().expect("our own child can be waited for");
    writer.join().expect("the writer ends with the pipe");
    let mut server = Server::start(&dir);
    server.result("tasks/cancel", &json!({ "taskId": talker }), Client::Tasks);
}

#[test]
fn a_client_that_closes_its_end_of_the_output_ends_the_server() {
    let dir = TestDir::new();
    let mut child = unread(&dir);
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().expect("it is piped");
    let status = until(
        PATIENCE,
        "the server to exit when nobody can read it",
        || {
            write_requests(&mut stdin, 1);
            child
                .try_wait()
                .expect("our own child can be waited for")
                .ok_or_else(|| "it runs".to_owned())
        },
    );
    assert!(
        status.code().is_some(),
        "it exits, and no signal ends it: {status}"
    );
}

#[test]
fn a_call_that_is_taken_back_is_not_answered_and_its_job_goes_on() {
    let dir = TestDir::new();
    let mut server = warm(&dir);
    let done = dir.path().join("done");
    let command = format!("read line && echo \"$line\" > '{}'", done.display());
    let mut arguments = run_call(&command);
    arguments["arguments"]["stdin"] = json!("went on\n");
    let id = server.post("tools/call", &arguments, Client::Plain);
    server.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id }
    }));
    until(PATIENCE, "the job to do its work", || {
        let written = std::fs::read_to_string(&done).unwrap_or_default();
        if written == "went on\n" {
            Ok(())
        } else {
            Err(written)
        }
    });
    server.assert_alive();
}
