//! `tasks/get`, `tasks/update` and `tasks/cancel`.

#[allow(
    dead_code,
    reason = "each test binary uses its own part of the fake world"
)]
mod support;

use backburner_core::Wake;
use backburner_core::imports::{Change, Expectation, StopCause, StopReason, Store};
use serde_json::{Value, json};

use support::host::parse;
use support::messages::{Client, about, request, run};
use support::{FakeWorld, Host};

const UNKNOWN: &str = "00000000-0000-4000-8000-000000000000";

/// Runs a command as a task for this many milliseconds and compares status, message and, where it has one,
/// whether the result is an error, or the error's code.
fn check(command: &str, after_ms: u64, expect: &str) {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new(r#"{"directLimitMs":0}"#, "user");
    let id = host.task(
        &mut world,
        &json!({ "command": command, "timeoutSeconds": 10 }),
    );
    world.clock += after_ms;
    let first = host.get(&mut world, &id);
    assert_eq!(outline(&first), expect, "{command}: {first}");
    world.clock += 1_000;
    if first["result"]["status"] != "working" {
        assert_eq!(
            Host::new("{}", "user").get(&mut world, &id),
            first,
            "{command}"
        );
    }
}

fn outline(reply: &Value) -> String {
    if let Some(error) = reply.get("error") {
        return format!("{} {}", error["code"], error["message"]);
    }
    let task = &reply["result"];
    assert_eq!(task["resultType"], "complete");
    let status = task["status"].as_str().expect("a status");
    let payload = match status {
        "completed" => format!(" error={}", task["result"]["isError"]),
        "failed" => format!(" {}", task["error"]["code"]),
        _ => String::new(),
    };
    format!(
        "{status}{payload}: {}",
        task["statusMessage"].as_str().expect("words")
    )
}

#[test]
fn a_working_task_says_what_it_does() {
    check("sleep 5", 0, "working: running for 0 ms; no output yet");
    check(
        "echo a; echo b; sleep 5",
        2_000,
        "working: running for 2 s; last line: b",
    );
    check(
        "trap; sleep 60",
        11_000,
        "working: being stopped after 11 s (its timeout passed)",
    );
}

#[test]
fn a_job_that_ended_is_a_completed_task_with_its_truth() {
    check("exit 0", 0, "completed error=false: exit code 0 after 0 ms");
    check(
        "sleep 1; exit 7",
        60_000,
        "completed error=true: exit code 7 after 1 s",
    );
    check(
        "kill SIGKILL",
        10,
        "completed error=true: killed by SIGKILL after 0 ms, neither by a timeout nor by a cancellation: who \
         sent it is not known, and one possibility is that the machine ran out of memory",
    );
    check(
        "sleep 60",
        60_000,
        "completed error=true: stopped because its timeout of 10 s passed; ended after 10 s (killed by \
         SIGTERM)",
    );
    check(
        "never",
        10,
        "completed error=true: could not be started: no such program",
    );
}

#[test]
fn a_job_whose_end_nobody_saw_is_a_failed_task() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    let id = host.task(&mut world, &json!({ "command": "sleep 1; lose" }));
    world.clock += 2_000;
    let reply = host.get(&mut world, &id);
    assert_eq!(reply["result"]["status"], "failed");
    assert_eq!(reply["result"]["error"]["code"], -32603);
    assert!(
        reply["result"]["error"]["message"]
            .as_str()
            .is_some_and(|text| text.contains("supervised"))
    );
    assert!(reply["result"].get("result").is_none());
}

#[test]
fn a_job_that_a_shutdown_stopped_is_a_failed_task() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    let id = host.task(&mut world, &json!({ "command": "sleep 60" }));
    world
        .jobs
        .stop_because(world.clock, &id, StopCause::ShutDown);
    assert_eq!(host.get(&mut world, &id)["result"]["status"], "failed");
}

#[test]
fn times_move_while_a_task_works_and_stand_when_it_has_ended() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    let id = host.task(&mut world, &json!({ "command": "sleep 120" }));
    world.clock += 59_900;
    let task = host.get(&mut world, &id)["result"].take();
    assert_eq!(task["createdAt"], "2026-07-28T00:00:00.000Z");
    assert_eq!(task["lastUpdatedAt"], "2026-07-28T00:01:00.000Z");
    assert_eq!(task["pollIntervalMs"], 6_000);
    assert_eq!(task["ttlMs"], Value::Null);
    world.clock += 600_000;
    let task = host.get(&mut world, &id)["result"].take();
    assert_eq!(task["lastUpdatedAt"], "2026-07-28T00:02:00.000Z");
    assert!(task.get("pollIntervalMs").is_none());
}

#[test]
fn the_polling_interval_grows_with_the_age_within_bounds() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new(r#"{"directLimitMs":0}"#, "user");
    let id = host.task(&mut world, &json!({ "command": "sleep 100000" }));
    for (age_ms, expect) in [
        (0, 250),
        (2_000, 250),
        (10_000, 1_000),
        (149_000, 14_900),
        (9_000_000, 15_000),
    ] {
        world.clock = support::world::EPOCH + age_ms;
        assert_eq!(
            host.get(&mut world, &id)["result"]["pollIntervalMs"],
            expect
        );
    }
}

#[test]
fn an_inlined_result_is_what_the_call_would_have_returned() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    let direct = host.ask(
        &mut world,
        &run(1, Client::Tasks, &json!({ "command": "echo hi" })),
    );
    let id = direct["result"]["structuredContent"]["taskId"]
        .as_str()
        .expect("an id")
        .to_owned();
    assert_eq!(
        host.get(&mut world, &id)["result"]["result"],
        direct["result"]
    );
}

#[test]
fn an_ended_task_is_one_read_and_no_question_to_its_job() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    let id = host.task(&mut world, &json!({ "command": "echo hi; sleep 1" }));
    world.clock += 2_000;
    let first = host.get(&mut world, &id);
    let (reads, commits) = (world.store.reads, world.store.commits);
    world.jobs.forget(world.clock, &id).expect("it has ended");
    assert_eq!(host.get(&mut world, &id), first);
    assert_eq!(
        (world.store.reads, world.store.commits),
        (reads + 1, commits)
    );
    assert!(world.store.keys("live/").is_empty());
}

#[test]
fn unknown_malformed_and_foreign_ids_get_the_same_bytes() {
    let mut world = FakeWorld::new(1);
    let mut owner = Host::new("{}", "user");
    let id = owner.task(&mut world, &json!({ "command": "sleep 60" }));
    let mut other = Host::new("{}", "user2");
    for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
        let mut ask = |id: &str| {
            let params = json!({ "taskId": id, "inputResponses": {} });
            other.send(&mut world, &request(5, Client::Tasks, method, params))
        };
        let unknown = ask(UNKNOWN);
        assert!(unknown[0].contains("-32602"));
        let (upper, braced) = (id.to_uppercase(), format!("{{{id}}}"));
        for text in [id.as_str(), &upper, &braced, "", "x", "../../etc"] {
            assert_eq!(ask(text), unknown, "{method} {text}");
        }
    }
    assert_eq!(world.jobs.running(world.clock), [id]);
}

#[test]
fn another_session_and_another_server_find_the_task() {
    let mut world = FakeWorld::new(1);
    let id = Host::new("{}", "user").task(&mut world, &json!({ "command": "sleep 1; exit 4" }));
    let mut later = Host::new("{}", "user");
    assert_eq!(later.get(&mut world, &id)["result"]["status"], "working");
    world.clock += 2_000;
    assert_eq!(
        later.get(&mut world, &id)["result"]["result"]["structuredContent"]["exitCode"],
        4
    );
}

#[test]
fn updates_are_acknowledged_and_change_nothing() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    let id = host.task(&mut world, &json!({ "command": "sleep 60" }));
    let responses = json!({ "unknown-key": { "ignored": true }, "another": 5 });
    let params = json!({ "taskId": id, "inputResponses": responses });
    let reply = host.ask(
        &mut world,
        &request(3, Client::Tasks, "tasks/update", params),
    );
    let members: Vec<_> = reply["result"]
        .as_object()
        .expect("an object")
        .keys()
        .collect();
    assert_eq!(members, ["_meta", "resultType"]);
    for params in [
        json!({ "taskId": id }),
        json!({ "taskId": id, "inputResponses": [] }),
    ] {
        let reply = host.ask(
            &mut world,
            &request(3, Client::Tasks, "tasks/update", params),
        );
        assert_eq!(reply["error"]["code"], -32602);
    }
    assert_eq!(world.store.commits, 1);
}

#[test]
fn a_cancelled_task_says_so_when_nothing_of_it_runs_any_more() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    let id = host.task(&mut world, &json!({ "command": "trap; sleep 60" }));
    let reply = host.ask(&mut world, &about(3, "tasks/cancel", &id));
    let members: Vec<_> = reply["result"]
        .as_object()
        .expect("an object")
        .keys()
        .collect();
    assert_eq!(members, ["_meta", "resultType"]);
    let task = host.get(&mut world, &id);
    assert_eq!(
        outline(&task),
        "working: being stopped after 100 ms (it was cancelled)"
    );
    world.clock += 3_000;
    assert_eq!(
        outline(&host.get(&mut world, &id)),
        "cancelled: cancelled after 3.1 s (killed by SIGTERM)"
    );
}

#[test]
fn a_second_cancel_is_acknowledged() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    let id = host.task(&mut world, &json!({ "command": "sleep 60" }));
    let first = host.ask(&mut world, &about(3, "tasks/cancel", &id));
    assert_eq!(host.ask(&mut world, &about(3, "tasks/cancel", &id)), first);
    host.get(&mut world, &id);
    assert_eq!(host.ask(&mut world, &about(3, "tasks/cancel", &id)), first);
}

#[test]
fn cancelling_what_ended_by_itself_changes_nothing() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    let id = host.task(&mut world, &json!({ "command": "sleep 1; exit 3" }));
    world.clock += 1_000;
    host.ask(&mut world, &about(3, "tasks/cancel", &id));
    assert_eq!(
        outline(&host.get(&mut world, &id)),
        "completed error=true: exit code 3 after 1 s"
    );
}

/// A world with a task whose server died between its commit and its start.
fn unstarted() -> (FakeWorld, Host, String) {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    world.faults.plan(1, support::faults::Fault::CrashBefore);
    host.send(
        &mut world,
        &run(1, Client::Tasks, &json!({ "command": "true" })),
    );
    assert!(world.faults.clear());
    let id = world.store.keys("live/")[0]["live/".len()..].to_owned();
    (world, Host::new("{}", "user"), id)
}

#[test]
fn a_job_that_was_never_started_is_failed_after_a_while() {
    let (mut world, mut host, id) = unstarted();
    assert_eq!(
        outline(&host.get(&mut world, &id)),
        "working: the job is about to start"
    );
    world.clock += 10_000;
    let reply = host.get(&mut world, &id);
    assert_eq!(reply["result"]["error"]["code"], -32603);
    let message = reply["result"]["error"]["message"].as_str().expect("words");
    for part in [
        "no trace",
        "check what it has left behind before you run it again",
        "new idempotencyKey",
    ] {
        assert!(message.contains(part), "{part} in {message}");
    }
    assert_eq!(host.get(&mut world, &id), reply);
    assert!(world.jobs.starts.is_empty());
}

#[test]
fn a_job_that_was_cancelled_before_its_start_is_cancelled() {
    let (mut world, mut host, id) = unstarted();
    host.ask(&mut world, &about(3, "tasks/cancel", &id));
    assert_eq!(
        outline(&host.get(&mut world, &id)),
        "cancelled: cancelled before it was started"
    );
}

#[test]
fn a_job_whose_files_are_gone_is_cancelled_where_its_record_says_so_and_failed_otherwise() {
    let (mut world, mut host, id) = unstarted();
    world.jobs.lose_files(world.clock, &id);
    assert_eq!(host.get(&mut world, &id)["result"]["status"], "failed");
    let (mut world, mut host, id) = unstarted();
    host.ask(&mut world, &about(3, "tasks/cancel", &id));
    world.jobs.lose_files(world.clock, &id);
    let reply = outline(&host.get(&mut world, &id));
    assert!(reply.starts_with("cancelled: cancelled; "), "{reply}");
}

#[test]
fn a_job_that_the_repair_stopped_is_failed_whoever_cancels_afterwards() {
    let (mut world, mut host, id) = unstarted();
    world.jobs.stop(world.clock, &id, StopReason::Cancelled);
    host.ask(&mut world, &about(3, "tasks/cancel", &id));
    assert_eq!(host.get(&mut world, &id)["result"]["status"], "failed");
}

#[test]
fn a_task_is_never_older_than_its_last_update() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    // The clock is set right between the record and the start.
    host.skew_ms = 3_600_000;
    let id = host.task(&mut world, &json!({ "command": "sleep 1" }));
    host.skew_ms = 0;
    world.clock += 2_000;
    let task = host.get(&mut world, &id)["result"].take();
    assert_eq!(task["status"], "completed");
    assert_eq!(task["lastUpdatedAt"], task["createdAt"]);
}

#[test]
fn the_first_handle_of_a_task_says_that_it_works_also_where_somebody_saw_its_end() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    let call = run(1, Client::Tasks, &json!({ "command": "sleep 0.05" }));
    assert!(host.send(&mut world, &call).is_empty());
    world.clock += 50;
    let id = world.store.keys("task/")[0]["task/".len()..].to_owned();
    let task = Host::new("{}", "user").get(&mut world, &id)["result"].take();
    assert_eq!(task["status"], "completed");
    let replies = host.resume(&mut world, "1", Wake::Deadline);
    let handle = parse(&replies[0])["result"].take();
    assert_eq!(handle["taskId"], id.as_str());
    assert_eq!(handle["status"], "working");
    assert_eq!(handle["statusMessage"], "the job was started");
}

#[test]
fn a_record_from_the_future_is_an_error_in_words() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    let change = Change::Put {
        key: format!("task/{UNKNOWN}"),
        value: r#"{"task/2":{"facts":{"principal":"user"}}}"#.to_owned(),
        expect: Expectation::Absent,
    };
    world.commit(vec![change]).expect("an empty store");
    let reply = host.get(&mut world, UNKNOWN);
    assert_eq!(reply["error"]["code"], -32603);
    assert!(reply.to_string().contains("newer version"), "{reply}");
}
