//! What is stored, and what hosts keep for open requests, byte for byte as in the files of `formats/`.
//!
//! Those of a numbered format stay for ever: whoever changes one adds the next number, keeps the files of the old one
//! here, and moves only their "written" half to the new ones.

#[allow(
    dead_code,
    reason = "each test binary uses its own part of the fake world"
)]
mod support;

use backburner_core::{Outcome, Wake};
use serde_json::{Value, json};

use support::faults::Fault;
use support::host::parse;
use support::messages::{Client, about, call, request, run};
use support::world::EPOCH;
use support::{FakeWorld, Host};

/// The id of the first task of a world.
const ID: &str = "c15c0289-ec2d-4a91-a7ec-8e65a18debbe";

/// The fixture of this name: one line.
macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!("formats/", $name)).trim_ascii_end()
    };
}

const LIVE: &str = fixture!("task-1-live.json");
const BARE: &str = fixture!("task-1-live-bare.json");
const SHARED: &str = fixture!("task-1-live-shared.json");
const SHARED_AND_SEEN: &str = fixture!("task-1-live-shared-seen.json");
const SEEN: &str = fixture!("task-1-live-seen.json");
const CANCEL_REQUESTED: &str = fixture!("task-1-live-cancel-requested.json");
const COMPLETED: &str = fixture!("task-1-completed.json");
const FAILED: &str = fixture!("task-1-failed.json");
const CANCELLED: &str = fixture!("task-1-cancelled.json");
const TOOL_LIVE: &str = fixture!("task-2-live.json");
const TOOL_COMPLETED: &str = fixture!("task-2-completed.json");
const TOOL_KEY_ENTRY: &str = fixture!("tool-key-entry.json");
const TOMBSTONE: &str = fixture!("tombstone-1.json");
const KEY_ENTRY: &str = fixture!("key-entry.json");
const INDEXES: &str = fixture!("indexes.txt");
const CALL: &str = fixture!("ticket-call-1.json");
const CALL_AGAIN: &str = fixture!("ticket-call-1-repeated.json");
const CALL_AGAIN_IN_TIME: &str = fixture!("ticket-call-1-repeated-start-by.json");
const CALL_UNSEEN: &str = fixture!("ticket-call-1-unseen.json");
const CALL_TELLING: &str = fixture!("ticket-call-1-telling.json");
const CALL_STANDING: &str = fixture!("ticket-call-1-standing.json");
const CALL_STANDING_ALL: &str = fixture!("ticket-call-1-standing-all.json");
const CALL_STANDING_THOUSANDTHS: &str = fixture!("ticket-call-1-standing-thousandths.json");
const LISTEN: &str = fixture!("ticket-listen-1.json");
const HELD: &str = fixture!("ticket-held-1.json");

/// Arguments with all that a record has, which run this command.
fn arguments(command: &str) -> Value {
    json!({
        "command": command, "cwd": "/tmp", "env": { "A": "1" }, "stdin": "in\n", "timeoutSeconds": 1800,
        "label": "l", "ttlSeconds": 3600, "idempotencyKey": "k",
    })
}

fn task_key() -> String {
    format!("task/{ID}")
}

/// A world in which this command was called for, by a client that gets its task at once, and its host.
fn called(command: &str) -> (FakeWorld, Host) {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new(r#"{"directLimitMs":0}"#, "user");
    assert_eq!(host.task(&mut world, &arguments(command)), ID);
    (world, host)
}

/// A world in which a server died before it started the job of this call, and its host.
fn unstarted(arguments: &Value) -> (FakeWorld, Host) {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new(r#"{"directLimitMs":0}"#, "user");
    // key, commit, start
    world.faults.plan(2, Fault::CrashBefore);
    host.send(&mut world, &run(1, Client::Tasks, arguments));
    assert!(world.faults.clear());
    (world, host)
}

/// Sees that the record of the only task is this.
fn assert_record(world: &FakeWorld, fixture: &str) {
    assert_eq!(world.store.value(&task_key()), Some(fixture));
}

/// What the owner is told of a task of which nothing but this record is left, at this age.
fn read(record: &str, age_ms: u64) -> Value {
    let mut world = FakeWorld::new(2);
    world.store.put(&task_key(), record);
    world.clock = EPOCH + age_ms;
    let mut reply = Host::new("{}", "user").get(&mut world, ID);
    let another = Host::new("{}", "another").get(&mut world, ID);
    assert_eq!(
        another["error"]["message"],
        "unknown task: no task has this id"
    );
    match reply.get("result") {
        Some(_) => reply["result"].take(),
        None => reply["error"].take(),
    }
}

#[test]
fn a_task_whose_job_decides() {
    let (world, _) = called("sleep 60");
    assert_record(&world, LIVE);
    let task = read(LIVE, 0);
    assert_eq!(task["statusMessage"], "l: the job is about to start");
    assert_eq!(
        (&task["ttlMs"], &task["createdAt"]),
        (&json!(3_600_000), &json!("2026-07-28T00:00:00.000Z"))
    );
    assert_eq!(read(LIVE, 120_000)["status"], "failed");
}

#[test]
fn a_task_of_which_no_more_was_said_than_has_to_be() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    host.task(&mut world, &json!({ "command": "sleep 60" }));
    assert_record(&world, BARE);
    assert_eq!(read(BARE, 0)["statusMessage"], "the job is about to start");
}

#[test]
fn a_task_that_a_repeated_call_was_told_of() {
    let (mut world, mut host) = called("sleep 60");
    world.clock += 5_000;
    host.task(&mut world, &arguments("sleep 60"));
    assert_record(&world, SHARED);
    assert_eq!(read(SHARED, 0)["status"], "working");
}

#[test]
fn a_task_that_was_seen_before_its_job_was_known() {
    let (mut world, mut host) = unstarted(&arguments("sleep 60"));
    world.clock += 5_000;
    host.get(&mut world, ID);
    assert_record(&world, SEEN);
    for record in [SEEN, SHARED_AND_SEEN] {
        assert_eq!(read(record, 14_999)["status"], "working");
        assert_eq!(read(record, 15_000)["status"], "failed");
    }
    // In either order.
    host.task(&mut world, &arguments("sleep 60"));
    assert_record(&world, SHARED_AND_SEEN);
}

#[test]
fn a_task_that_was_cancelled_before_its_job_was_known() {
    let mut program = arguments("sleep");
    program["args"] = json!(["60"]);
    let (mut world, mut host) = unstarted(&program);
    host.ask(&mut world, &about(2, "tasks/cancel", ID));
    assert_record(&world, CANCEL_REQUESTED);
    assert_eq!(read(CANCEL_REQUESTED, 0)["status"], "cancelled");
}

/// Has this command run for two seconds, and sees that its record is this and says of it what was said when the end was
/// written down.
fn check_terminal(command: &str, fixture: &str, status: &str) {
    let (mut world, mut host) = called(command);
    world.clock += 2_000;
    if status == "cancelled" {
        host.ask(&mut world, &about(2, "tasks/cancel", ID));
    }
    let task = host.get(&mut world, ID)["result"].take();
    assert_record(&world, fixture);
    assert_eq!(task["status"], status);
    assert_eq!(read(fixture, 2_000), task);
}

#[test]
fn a_task_that_completed() {
    check_terminal("echo hi; sleep 1; exit 3", COMPLETED, "completed");
}

#[test]
fn a_task_that_failed() {
    check_terminal("echo hi; sleep 1; lose", FAILED, "failed");
}

#[test]
fn a_task_that_was_cancelled() {
    check_terminal("echo hi; sleep 60", CANCELLED, "cancelled");
}

/// A server with a configured tool that has all that a record has, and its host.
fn tool_host() -> Host {
    let tool = json!({
        "name": "t", "description": "d", "program": ["echo", "{}; sleep 2"], "output": "json",
        "outputSchema": { "type": "object", "properties": { "z": {}, "a": {} } },
        "inputSchema": { "type": "object" }, "label": "l", "idempotencyKey": "k", "ttlSeconds": 3600,
    });
    let config = json!({ "tools": [tool], "directLimitMs": 0 });
    Host::new(&config.to_string(), "user")
}

/// A world in which that tool was called, and its host.
fn tool_called() -> (FakeWorld, Host) {
    let mut world = FakeWorld::new(1);
    let mut host = tool_host();
    let reply = host.ask(&mut world, &call(1, Client::Tasks, "t", &json!({ "a": 1 })));
    assert_eq!(reply["result"]["taskId"], ID);
    (world, host)
}

#[test]
fn a_task_of_a_configured_tool() {
    let (world, _) = tool_called();
    assert_record(&world, TOOL_LIVE);
    assert_eq!(
        read(TOOL_LIVE, 0)["statusMessage"],
        "l: the job is about to start"
    );
}

#[test]
fn a_task_of_a_configured_tool_that_completed() {
    let (mut world, mut host) = tool_called();
    world.clock += 2_000;
    let task = host.get(&mut world, ID)["result"].take();
    assert_record(&world, TOOL_COMPLETED);
    assert_eq!(task["result"]["structuredContent"], json!({ "a": 1 }));
    assert_eq!(read(TOOL_COMPLETED, 2_000), task);
}

#[test]
fn the_other_outputs_of_a_configured_tool() {
    let (world, _) = tool_called();
    let mut job = world.jobs.clone();
    for (output, expect) in [
        (
            json!("text"),
            json!([{ "type": "text", "text": "{\"a\":1}" }]),
        ),
        (
            json!({ "image": { "mimeType": "image/png" } }),
            json!([{ "type": "image", "data": "eyJhIjoxfQo=", "mimeType": "image/png" }]),
        ),
        (
            json!({ "audio": { "mimeType": "audio/wav" } }),
            json!([{ "type": "audio", "data": "eyJhIjoxfQo=", "mimeType": "audio/wav" }]),
        ),
        (
            json!({ "resource": { "uri": "x:y", "mimeType": "text/plain" } }),
            json!([{ "type": "resource", "resource": { "uri": "x:y", "mimeType": "text/plain", "text": "{\"a\":1}\n" } }]),
        ),
    ] {
        let record = TOOL_LIVE.replace("\"output\":\"json\"", &format!("\"output\":{output}"));
        assert_ne!(record, TOOL_LIVE);
        let mut world = FakeWorld::new(2);
        world.store.put(&task_key(), &record);
        std::mem::swap(&mut world.jobs, &mut job);
        world.clock = EPOCH + 2_000;
        let task = Host::new("{}", "user").get(&mut world, ID);
        assert_eq!(task["result"]["result"]["content"], expect, "{task}");
        std::mem::swap(&mut world.jobs, &mut job);
    }
}

#[test]
fn a_key_of_a_configured_tool_that_stands_for_a_task() {
    let (world, _) = tool_called();
    assert_eq!(world.store.value("toolkey/user/t/k"), Some(TOOL_KEY_ENTRY));
    let mut world = FakeWorld::new(2);
    world.store.put("toolkey/user/t/k", TOOL_KEY_ENTRY);
    world.store.put(&task_key(), TOOL_LIVE);
    let reply = tool_host().ask(&mut world, &call(1, Client::Tasks, "t", &json!({ "a": 1 })));
    assert_eq!(reply["result"]["taskId"], ID);
}

#[test]
fn what_is_left_of_an_expired_task() {
    let (mut world, host) = called("sleep 1");
    world.clock += 3_600_000;
    host.server.sweep(&mut world, EPOCH + 3_600_000);
    assert_record(&world, TOMBSTONE);
    assert!(
        read(TOMBSTONE, 3_600_000)["message"]
            .to_string()
            .contains("expired")
    );
    assert!(
        read(TOMBSTONE, 30 * 86_400_000)["message"]
            .to_string()
            .contains("unknown")
    );
}

#[test]
fn where_else_it_says_something_of_a_task() {
    let (world, _) = called("sleep 60");
    let mut lines: Vec<String> = Vec::new();
    for key in world.store.keys("") {
        let value = world.store.value(key).expect("it was just listed");
        if key != task_key() {
            lines.push(format!("{key} {value}"));
        }
    }
    assert_eq!(lines.join("\n"), INDEXES);
}

#[test]
fn a_key_that_stands_for_a_task() {
    let (world, _) = called("sleep 60");
    assert_eq!(world.store.value("key/user/k"), Some(KEY_ENTRY));
    let mut world = FakeWorld::new(2);
    world.store.put("key/user/k", KEY_ENTRY);
    world.store.put(&task_key(), LIVE);
    let mut host = Host::new(r#"{"directLimitMs":0}"#, "user");
    assert_eq!(host.task(&mut world, &arguments("sleep 60")), ID);
}

/// What a call that was kept open with this ticket is told when the server ends, where only this record is left.
fn resumed(ticket: &str, record: &str) -> Value {
    let mut world = FakeWorld::new(2);
    world.store.put(&task_key(), record);
    let host = Host::new("{}", "user");
    let cx = host.context(&world);
    match host.server.resume(&mut world, &cx, ticket, Wake::Shutdown) {
        Outcome::Reply(reply) => parse(&reply),
        other => panic!("at shutdown everything is answered: {other:?}"),
    }
}

#[test]
fn a_call_that_waits_for_its_job() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    host.send(&mut world, &run(1, Client::Plain, &arguments("sleep 60")));
    assert_eq!(host.pending["1"].ticket, CALL);
    let reply = resumed(CALL, COMPLETED);
    assert_eq!(reply["id"], 1);
    assert_eq!(reply["result"]["structuredContent"]["exitCode"], 3);
    assert!(!reply.to_string().contains("earlier call"), "{reply}");
}

#[test]
fn a_repeated_call_that_waits_for_what_may_still_start() {
    let (mut world, _) = unstarted(&arguments("sleep 60"));
    let mut host = Host::new("{}", "user");
    host.send(&mut world, &run(1, Client::Tasks, &arguments("sleep 60")));
    assert_eq!(host.pending["1"].ticket, CALL_AGAIN);
    // It looks again at once, and then knows until when the job may start.
    assert!(host.wake(&mut world).is_empty());
    assert_eq!(host.pending["1"].ticket, CALL_AGAIN_IN_TIME);
    for ticket in [CALL_AGAIN, CALL_AGAIN_IN_TIME] {
        let reply = resumed(ticket, COMPLETED);
        assert!(reply.to_string().contains("earlier call"), "{reply}");
    }
}

#[test]
fn a_call_whose_task_could_not_be_looked_at() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    host.send(&mut world, &run(1, Client::Plain, &arguments("sleep 1")));
    world.clock += 1_000;
    world.faults.plan(0, Fault::Unclear);
    assert!(host.wake(&mut world).is_empty());
    assert_eq!(host.pending["1"].ticket, CALL_UNSEEN);
    let reply = resumed(CALL_UNSEEN, COMPLETED);
    assert_eq!(reply["result"]["structuredContent"]["exitCode"], 3);
}

#[test]
fn a_call_that_tells_how_far_it_is() {
    let mut call = parse(&run(1, Client::Plain, &arguments("sleep 60")));
    call["params"]["_meta"]["progressToken"] = json!("p");
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    host.send(&mut world, &call.to_string());
    world.clock += 1_000;
    assert!(host.wake(&mut world).is_empty());
    assert_eq!(host.told.len(), 1);
    assert_eq!(host.pending["1"].ticket, CALL_TELLING);
    let reply = resumed(CALL_TELLING, COMPLETED);
    assert_eq!(reply["result"]["structuredContent"]["exitCode"], 3);
}

/// A call of a job that says nothing new after `report 40`, which has been told twice, and what it was told last.
fn standing() -> (FakeWorld, Host, f64) {
    let mut call = parse(&run(1, Client::Plain, &arguments("report 40 x; sleep 60")));
    call["params"]["_meta"]["progressToken"] = json!("p");
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    host.send(&mut world, &call.to_string());
    for _ in 0..2 {
        world.clock += 1_000;
        assert!(host.wake(&mut world).is_empty());
    }
    let last = last_progress(&host);
    (world, host, last)
}

fn last_progress(host: &Host) -> f64 {
    let told = host.told.last().expect("it was told");
    told["params"]["progress"].as_f64().expect("a number")
}

#[test]
fn a_call_that_is_told_a_percentage_which_stands_still() {
    let (mut world, mut host, before) = standing();
    assert_eq!(host.pending["1"].ticket, CALL_STANDING);
    world.clock += 1_000;
    assert!(host.wake(&mut world).is_empty());
    assert!(last_progress(&host) > before, "{:?}", host.told);
    // An earlier version had told this one 40.999.
    let (mut world, mut host, _) = standing();
    let pending = host.pending.get_mut("1").expect("it waits");
    CALL_STANDING_THOUSANDTHS.clone_into(&mut pending.ticket);
    world.clock += 1_000;
    assert!(host.wake(&mut world).is_empty());
    assert!(last_progress(&host) > 40.999, "{:?}", host.told);
    // And another one all of it, behind which there is nothing.
    let (mut world, mut host, _) = standing();
    let pending = host.pending.get_mut("1").expect("it waits");
    CALL_STANDING_ALL.clone_into(&mut pending.ticket);
    let told = host.told.len();
    world.clock += 1_000;
    assert!(host.wake(&mut world).is_empty());
    assert_eq!(host.told.len(), told, "{:?}", host.told);
}

#[test]
fn a_subscription() {
    let (mut world, _) = called("sleep 60");
    let mut host = Host::new("{}", "user");
    let filter = json!({ "taskIds": [ID], "toolsListChanged": true });
    let params = json!({ "notifications": filter });
    let listen = request(1, Client::Tasks, "subscriptions/listen", params);
    host.send(&mut world, &listen);
    // What the tools are is not a matter of the format.
    let ticket = &host.pending["1"].ticket;
    assert_eq!(without_tools(ticket), without_tools(LISTEN));
    let reply = resumed(LISTEN, COMPLETED);
    assert_eq!(reply["id"], 1);
    assert_eq!(reply["result"]["resultType"], "complete");
}

fn without_tools(ticket: &str) -> String {
    let (before, rest) = ticket.split_once("\"tools\":").expect("it has tools");
    let after = rest.trim_start_matches(|it: char| it.is_ascii_digit());
    format!("{before}{after}")
}

#[test]
fn a_call_that_waits_for_its_key() {
    let arguments =
        json!({ "command": "trap; sleep 9000", "ttlSeconds": 60, "idempotencyKey": "k" });
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    host.task(&mut world, &arguments);
    world.clock = EPOCH + 60_000;
    let call = run(1, Client::Plain, &arguments);
    assert!(host.send(&mut world, &call).is_empty());
    assert_eq!(host.pending["1"].ticket, HELD);
    let mut world = FakeWorld::new(1);
    let cx = host.context(&world);
    let outcome = host.server.resume(&mut world, &cx, HELD, Wake::JobEnded);
    assert!(matches!(outcome, Outcome::Wait(_)), "{outcome:?}");
    assert_eq!(world.jobs.running(world.clock), [ID]);
}
