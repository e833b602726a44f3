//! The same call again gives the same task.

#[allow(
    dead_code,
    reason = "each test binary uses its own part of the fake world"
)]
mod support;

use backburner_core::{Outcome, Wake};
use serde_json::{Value, json};

use support::faults::Fault;
use support::host::parse;
use support::interference::{Call, Interference};
use support::messages::{Client, about, run};
use support::world::EPOCH;
use support::{FakeWorld, Host};

fn arguments(command: &str) -> Value {
    json!({ "command": command, "idempotencyKey": "k", "ttlSeconds": 3600, "label": "l" })
}

fn starts(world: &FakeWorld) -> usize {
    world.jobs.starts.len()
}

/// Makes a first call, then a second one with these members changed, and compares whether both got the
/// same task.
fn check(changed: &Value, expect: &str) {
    let mut world = FakeWorld::new(1);
    let first = Host::new("{}", "user").task(&mut world, &arguments("sleep 60"));
    let mut second = arguments("sleep 60");
    for (name, value) in changed.as_object().expect("an object") {
        second[name] = value.clone();
    }
    let other_config = r#"{"graceMs":1,"outputLimitBytes":4096}"#;
    let reply = Host::new(other_config, "user").ask(&mut world, &run(1, Client::Tasks, &second));
    let actual = match reply["result"]["taskId"].as_str() {
        Some(id) if id == first => "same",
        Some(_) => "new",
        None if reply["result"]["isError"] == true => "refused",
        None => panic!("{reply}"),
    };
    assert_eq!(actual, expect, "{changed}: {reply}");
    assert_eq!(
        starts(&world),
        if expect == "new" { 2 } else { 1 },
        "{changed}"
    );
}

#[test]
fn the_same_call_gives_the_same_task_also_from_a_server_configured_otherwise() {
    check(&json!({}), "same");
}

#[test]
fn another_call_under_the_same_key_is_refused() {
    let refused = |changed: Value, which: &str| {
        check(&changed, "refused");
        check_named(&changed, &format!("with {which}: repeat"));
    };
    refused(json!({ "command": "sleep 61" }), "another `command`");
    refused(
        json!({ "command": "sleep", "args": ["60"] }),
        "another `command`, another `args`",
    );
    refused(
        json!({ "command": "sleep", "args": [] }),
        "another `command`, another `args`",
    );
    refused(json!({ "cwd": "/tmp" }), "another `cwd`");
    refused(json!({ "env": { "A": "1" } }), "another `env`");
    refused(json!({ "stdin": "x" }), "another `stdin`");
    refused(json!({ "timeoutSeconds": 5 }), "another `timeoutSeconds`");
    refused(json!({ "label": "m" }), "another `label`");
    refused(json!({ "ttlSeconds": 3601 }), "another `ttlSeconds`");
    refused(
        json!({ "command": "sleep 61", "label": null, "ttlSeconds": null }),
        "another `command`, another `ttlSeconds`, another `label`",
    );
}

/// Makes a call and another one of the same key with these members changed; the refusal says this.
fn check_named(changed: &Value, expect: &str) {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    host.task(&mut world, &arguments("sleep 60"));
    let mut second = arguments("sleep 60");
    for (name, value) in changed.as_object().expect("an object") {
        second[name] = value.clone();
    }
    let reply = host.ask(&mut world, &run(1, Client::Tasks, &second));
    assert!(reply.to_string().contains(expect), "{expect}: {reply}");
}

#[test]
fn another_key_or_none_makes_another_task() {
    check(&json!({ "idempotencyKey": "k2" }), "new");
    check(&json!({ "idempotencyKey": null }), "new");
    check(&json!({ "idempotencyKey": "k/../k" }), "new");
}

#[test]
fn keys_belong_to_their_principal() {
    let mut world = FakeWorld::new(1);
    let mut ids = Vec::new();
    for (principal, key) in [("a", "b/k"), ("a/b", "k"), ("a%2Fb", "k"), ("a", "%62/k")] {
        let call = json!({ "command": "sleep 60", "idempotencyKey": key });
        ids.push(Host::new("{}", principal).task(&mut world, &call));
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 4);
    assert_eq!(world.store.keys("key/").len(), 4);
}

#[test]
fn a_key_that_does_not_fit_is_refused_in_words() {
    let mut world = FakeWorld::new(1);
    let long = "é".repeat(255);
    let call = json!({ "command": "true", "idempotencyKey": long });
    let reply = Host::new("{}", "user").ask(&mut world, &run(1, Client::Tasks, &call));
    assert_eq!(reply["result"]["isError"], true);
    let words = "its 255 characters are 510 bytes, use at most 503 bytes";
    assert!(reply.to_string().contains(words), "{reply}");
    let fits = json!({ "command": "true", "idempotencyKey": "k".repeat(256) });
    let principal = "p".repeat(250);
    let reply = Host::new("{}", &principal).ask(&mut world, &run(1, Client::Tasks, &fits));
    assert_eq!(reply["result"]["isError"], false);
}

/// The note that tells a repeated call's result from one of a command that was run now.
const NOTE: &str = "\nThis is the result of the earlier call with this idempotencyKey, started \
    2026-07-28T00:00:00.000Z; nothing was run now. To run it again, use a new key.\n\n";

#[test]
fn the_same_call_after_the_end_gives_the_same_result_and_says_that_nothing_was_run() {
    for client in [Client::Tasks, Client::Plain] {
        let mut world = FakeWorld::new(1);
        let mut host = Host::new("{}", "user");
        let call = run(1, client, &arguments("echo hi; exit 3"));
        let mut first = host.ask(&mut world, &call);
        assert_eq!(first["result"]["structuredContent"]["exitCode"], 3);
        let text = first["result"]["content"][0]["text"].take();
        let text = text.as_str().expect("a text");
        assert!(!text.contains("idempotencyKey"), "{text}");
        world.clock += 60_000;
        let mut again = Host::new("{}", "user").ask(&mut world, &call);
        let again_text = again["result"]["content"][0]["text"].take();
        assert_eq!(again_text, text.replacen("\n\n", NOTE, 1));
        assert_eq!(again, first);
        assert_eq!(starts(&world), 1);
    }
}

#[test]
fn the_same_call_of_a_client_without_tasks_waits_on_for_the_result() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    let call = run(1, Client::Plain, &arguments("echo step; sleep 45; exit 3"));
    let first = host.ask(&mut world, &call).to_string();
    for part in [
        "last line: step",
        "Call `run` again with exactly the same arguments",
    ] {
        assert!(first.contains(part), "{part}: {first}");
    }
    let begin = world.clock;
    let again = host.ask(&mut world, &call);
    assert_eq!(world.clock - begin, 15_000);
    let text = again["result"]["content"][0]["text"].as_str();
    assert_eq!(
        text,
        Some(format!("exit code 3 after 45 s{NOTE}step").as_str())
    );
    assert_eq!(starts(&world), 1);
}

#[test]
fn the_same_call_after_a_cancellation_says_that_nothing_was_run() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    let id = host.task(&mut world, &arguments("sleep 60"));
    host.ask(&mut world, &about(2, "tasks/cancel", &id));
    let again = host.ask(&mut world, &run(1, Client::Tasks, &arguments("sleep 60")));
    let text = again["result"]["content"][0]["text"].as_str();
    assert!(text.is_some_and(|text| text.contains(NOTE)), "{again}");
    assert_eq!(starts(&world), 1);
}

#[test]
fn the_handle_of_a_repeated_call_says_that_nothing_was_started() {
    for config in ["{}", r#"{"directLimitMs":0}"#] {
        let mut world = FakeWorld::new(1);
        let mut host = Host::new(config, "user");
        let call = run(1, Client::Tasks, &arguments("sleep 60"));
        let message = |reply: Value| reply["result"]["statusMessage"].clone();
        assert_eq!(
            message(host.ask(&mut world, &call)),
            "l: the job was started"
        );
        assert_eq!(
            message(host.ask(&mut world, &call)),
            "l: the earlier call with this idempotencyKey started the job; nothing was run now"
        );
    }
}

#[test]
fn a_key_is_free_again_when_its_task_has_expired() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    let first = host.task(&mut world, &arguments("sleep 60"));
    world.clock += 3_600_000;
    let second = host.task(&mut world, &arguments("sleep 60"));
    assert_ne!(first, second);
    // The sweep of the first task leaves the key to the second one.
    host.server.sweep(&mut world, EPOCH + 3_600_100);
    assert_eq!(
        world.store.value("key/user/k"),
        Some(format!("\"{second}\"").as_str())
    );
    assert_eq!(host.task(&mut world, &arguments("sleep 60")), second);
}

#[test]
fn the_same_call_after_the_end_gives_a_handle_that_tells_the_end_where_nothing_is_direct() {
    for (command, status) in [
        ("echo hi; exit 3", "completed"),
        ("sleep 1; lose", "failed"),
        ("sleep 60", "cancelled"),
    ] {
        let mut world = FakeWorld::new(1);
        let mut host = Host::new(r#"{"directLimitMs":0}"#, "user");
        let id = host.task(&mut world, &arguments(command));
        world.clock += 2_000;
        host.ask(&mut world, &about(2, "tasks/cancel", &id));
        // Whether somebody has looked at the end before makes no difference.
        for _ in 0..2 {
            let call = run(1, Client::Tasks, &arguments(command));
            let handle = host.ask(&mut world, &call)["result"].take();
            assert_eq!(handle["resultType"], "task");
            assert_eq!(handle["taskId"], id.as_str());
            assert_eq!(handle["status"], status, "{handle}");
            for absent in ["result", "error", "pollIntervalMs"] {
                assert_eq!(handle.get(absent), None, "{handle}");
            }
            let task = host.get(&mut world, &id)["result"].take();
            assert_eq!(handle["statusMessage"], task["statusMessage"]);
            assert_eq!(handle["lastUpdatedAt"], task["lastUpdatedAt"]);
        }
        assert_eq!(starts(&world), 1);
    }
}

/// A call whose key stands for a task that has just expired, and whose job takes three seconds to end.
fn held(client: Client) -> (FakeWorld, Host) {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    let call = arguments("trap; sleep 9000");
    host.task(&mut world, &call);
    world.clock = EPOCH + 3_600_000;
    assert!(host.send(&mut world, &run(1, client, &call)).is_empty());
    assert_eq!(starts(&world), 1);
    (world, host)
}

#[test]
fn a_key_is_not_free_before_the_job_of_its_expired_task_has_ended() {
    for client in [Client::Tasks, Client::Plain] {
        let (mut world, mut host) = held(client);
        let first = world.jobs.running(world.clock)[0].to_owned();
        world.clock += 2_999;
        assert!(host.wake(&mut world).is_empty());
        assert_eq!(world.jobs.running(world.clock), [first.as_str()]);
        world.clock += 1;
        assert!(host.wake(&mut world).is_empty());
        let second = world.jobs.running(world.clock);
        assert_eq!(second.len(), 1);
        assert_ne!(second, [first.as_str()]);
        let reply = host.wait(&mut world);
        assert!(reply.get("result").is_some(), "{reply}");
        assert_eq!(starts(&world), 2);
    }
}

#[test]
fn a_key_that_does_not_become_free_in_time_is_refused_in_words() {
    let check = |world: &FakeWorld, replies: &[String]| {
        let reply = parse(&replies[0]);
        assert_eq!(reply["result"]["isError"], true, "{reply}");
        let words = "still being stopped; call again later, or with a new key";
        assert!(reply.to_string().contains(words), "{reply}");
        assert_eq!(starts(world), 1);
    };
    let (mut world, mut host) = held(Client::Tasks);
    // Time passes for the server, and the job does not end.
    host.skew_ms = 10_000;
    let replies = host.wake(&mut world);
    check(&world, &replies);
    let (mut world, mut host) = held(Client::Tasks);
    let replies = host.resume(&mut world, "1", Wake::Shutdown);
    check(&world, &replies);
}

#[test]
fn a_call_that_is_taken_back_before_its_key_is_free_runs_nothing() {
    let (mut world, mut host) = held(Client::Tasks);
    assert!(host.resume(&mut world, "1", Wake::Cancelled).is_empty());
    world.clock += 60_000;
    assert!(host.wake(&mut world).is_empty());
    assert_eq!(starts(&world), 1);
}

/// A world in which a server died between the record of this command and its start.
fn unstarted(command: &str) -> FakeWorld {
    let mut world = FakeWorld::new(1);
    // key, commit, start
    world.faults.plan(2, Fault::CrashBefore);
    let mut host = Host::new("{}", "user");
    host.send(&mut world, &run(1, Client::Tasks, &arguments(command)));
    assert!(world.faults.clear());
    assert_eq!((world.store.commits, starts(&world)), (1, 0));
    world
}

/// The id of the only task that there is.
fn only_task(world: &FakeWorld) -> String {
    let keys = world.store.keys("task/");
    assert_eq!(keys.len(), 1, "{keys:?}");
    keys[0]["task/".len()..].to_owned()
}

/// Sees that the only task has failed, and that its error says how to run the command after all.
fn assert_failed(world: &mut FakeWorld) {
    let id = only_task(world);
    let task = Host::new("{}", "user").get(world, &id)["result"].take();
    assert_eq!(task["status"], "failed", "{task}");
    let message = task["error"]["message"].as_str().expect("words");
    assert!(message.contains("new idempotencyKey"), "{message}");
}

/// Sees that the only task has failed for this reason.
fn assert_failed_because(world: &mut FakeWorld, reason: &str) {
    let id = only_task(world);
    let task = Host::new("{}", "user").get(world, &id)["result"].take();
    assert_eq!(task["status"], "failed", "{task}");
    let error = json!({ "code": -32603, "message": reason });
    assert_eq!(task["error"], error, "{task}");
}

#[test]
fn a_job_of_which_nothing_is_kept_is_not_started_again() {
    let cases = [
        // It runs, it has ended and nobody has asked for it; when it may be about to start, and when not.
        ("sleep 600", 200),
        ("sleep 600", 60_000),
        ("sleep 1; exit 3", 2_000),
        ("sleep 1; exit 3", 60_000),
    ];
    for ((command, age_ms), client) in cases
        .into_iter()
        .flat_map(|case| [Client::Tasks, Client::Plain].map(|client| (case, client)))
    {
        let mut world = FakeWorld::new(1);
        let id = Host::new("{}", "user").task(&mut world, &arguments(command));
        world.clock = EPOCH + age_ms;
        world.jobs.vanish(&id);
        let call = run(2, client, &arguments(command));
        for _ in 0..3 {
            Host::new("{}", "user").ask(&mut world, &call);
            assert_eq!(world.jobs.starts, [(id.clone(), 1)].into());
            assert_eq!(only_task(&world), id);
            world.clock += 10_000;
        }
        assert_failed(&mut world);
    }
}

#[test]
fn what_a_dead_server_did_not_start_is_about_to_start_and_then_has_failed() {
    for config in ["{}", r#"{"directLimitMs":0}"#] {
        let mut world = unstarted("sleep 60");
        let call = run(1, Client::Tasks, &arguments("sleep 60"));
        let mut host = Host::new(config, "user");
        let handle = host.ask(&mut world, &call)["result"].take();
        assert_eq!(handle["taskId"], only_task(&world));
        assert_eq!(handle["status"], "working");
        let message = "l: the job is about to start";
        assert_eq!(handle["statusMessage"], message, "{handle}");
        world.clock = EPOCH + 10_000;
        let reply = host.ask(&mut world, &call);
        assert_eq!(reply["result"]["status"], "failed", "{reply}");
        assert_failed(&mut world);
        assert_eq!(starts(&world), 0);
    }
}

#[test]
fn a_call_that_waits_for_what_is_never_started_hears_of_it_when_that_is_certain() {
    for (client, config) in [
        (Client::Plain, r#"{"syncLimitMs":30000}"#),
        (Client::Tasks, r#"{"directLimitMs":30000}"#),
    ] {
        let mut world = unstarted("sleep 60");
        let call = run(1, client, &arguments("sleep 60"));
        let result = Host::new(config, "user").ask(&mut world, &call)["result"].take();
        match client {
            Client::Plain => assert_eq!(result["isError"], true, "{result}"),
            Client::Tasks => assert_eq!(result["status"], "failed", "{result}"),
        }
        assert!(
            result.to_string().contains("new idempotencyKey"),
            "{result}"
        );
        assert_eq!(world.clock, EPOCH + 10_000);
        assert_eq!(starts(&world), 0);
    }
}

#[test]
fn a_call_that_cannot_wait_for_what_may_still_start_says_so() {
    let call = run(1, Client::Plain, &arguments("sleep 60"));
    for limit_ms in [0, 500] {
        let mut world = unstarted("sleep 60");
        let mut host = Host::new(&format!(r#"{{"syncLimitMs":{limit_ms}}}"#), "user");
        let reply = host.ask(&mut world, &call);
        assert_eq!(world.clock, EPOCH + limit_ms);
        assert!(reply.to_string().contains("about to start"), "{reply}");
    }
    for client in [Client::Plain, Client::Tasks] {
        let mut world = unstarted("sleep 60");
        let mut host = Host::new("{}", "user");
        let call = run(1, client, &arguments("sleep 60"));
        assert!(host.send(&mut world, &call).is_empty());
        let replies = host.resume(&mut world, "1", Wake::Shutdown);
        assert!(replies[0].contains("about to start"), "{replies:?}");
        assert_eq!(starts(&world), 0);
    }
}

/// When another server is called: as the first one is about to make this import call, counted from 0.
const BEFORE_START: u64 = 2;
/// Where the start fails, while it does: a job is to be seen by then.
const DURING_START: u64 = 3;

/// Has a call come to a second server while the first one is at this place of the same call, whose start this fault
/// befalls or nothing. Gives what the first one was answered with, and what came of the call to the second one.
fn meanwhile(
    world: &mut FakeWorld,
    (client, command): (Client, &str),
    after_calls: u64,
    fault: Option<Fault>,
) -> (Vec<String>, Outcome) {
    let mut host = Host::new(r#"{"directLimitMs":0}"#, "user");
    if let Some(fault) = fault {
        world.faults.plan(BEFORE_START, fault);
    }
    world.interference = Some(Interference {
        after_calls,
        cx: host.context(world),
        call: Call::Message(run(1, client, &arguments(command))),
    });
    let first = run(1, Client::Tasks, &arguments(command));
    let replies = host.send(world, &first);
    world.faults.clear();
    let other = world.interfered.take().expect("it was due");
    (replies, other)
}

#[test]
fn a_repeated_call_that_came_before_the_start_waits_for_the_job() {
    let mut world = FakeWorld::new(1);
    let call = (Client::Plain, "sleep 12; exit 3");
    let (_, other) = meanwhile(&mut world, call, BEFORE_START, None);
    let Outcome::Wait(pending) = other else {
        panic!("the job has not ended: {other:?}");
    };
    let mut host = Host::new("{}", "user");
    host.pending.insert(pending.request.clone(), pending);
    let reply = host.wait(&mut world);
    assert_eq!(reply["result"]["structuredContent"]["exitCode"], 3);
    assert_eq!((world.clock, starts(&world)), (EPOCH + 12_000, 1));
}

#[test]
fn a_first_call_that_fails_leaves_the_task_of_which_the_repeated_one_was_told() {
    for (after_calls, says) in [
        (BEFORE_START, "about to start"),
        (DURING_START, "nothing was run now"),
    ] {
        let mut world = FakeWorld::new(1);
        let call = (Client::Tasks, "sleep 60");
        let fault = Some(Fault::NoSpace);
        let (first, other) = meanwhile(&mut world, call, after_calls, fault);
        let first = parse(&first[0])["result"]["content"][0]["text"].take();
        let first = first.as_str().expect("a refusal has a text");
        assert!(
            first.contains("was not run") && first.contains("new idempotencyKey"),
            "{first}"
        );
        let Outcome::Reply(other) = other else {
            panic!("the other server answers at once: {other:?}");
        };
        let handle = parse(&other)["result"].take();
        assert_eq!(handle["taskId"], only_task(&world));
        assert!(handle.to_string().contains(says), "{handle}");
        // At once, with the reason that the first caller was told, and for ever.
        for _ in 0..2 {
            assert_failed_because(&mut world, first);
            Host::new("{}", "user").server.sweep(&mut world, EPOCH);
            world.clock += 60_000;
        }
        assert_eq!(world.store.keys("live/").len(), 0);
        assert_eq!(starts(&world), 0);
    }
}

#[test]
fn a_first_call_that_fails_alone_leaves_the_key_free() {
    let mut world = FakeWorld::new(1);
    world.faults.plan(2, Fault::NoSpace);
    let mut host = Host::new("{}", "user");
    let reply = host.ask(&mut world, &run(1, Client::Tasks, &arguments("sleep 60")));
    assert_eq!(reply["result"]["isError"], true, "{reply}");
    assert_eq!(world.store.keys(""), Vec::<&str>::new());
    host.task(&mut world, &arguments("sleep 60"));
    assert_eq!(starts(&world), 1);
}

#[test]
fn a_repeated_call_that_waits_hears_why_the_first_one_could_not_start_the_job() {
    let mut world = FakeWorld::new(1);
    let call = (Client::Plain, "sleep 60");
    let (first, other) = meanwhile(&mut world, call, BEFORE_START, Some(Fault::NoSpace));
    let Outcome::Wait(pending) = other else {
        panic!("the job may still start: {other:?}");
    };
    let mut host = Host::new("{}", "user");
    host.pending.insert(pending.request.clone(), pending);
    let result = host.wait(&mut world)["result"].take();
    assert_eq!(world.clock, EPOCH, "it hears of it at once");
    assert_eq!(result["isError"], true, "{result}");
    let text = result["content"][0]["text"].as_str().expect("words");
    let first = parse(&first[0])["result"]["content"][0]["text"].take();
    for part in [
        first.as_str().expect("words"),
        &only_task(&world),
        "The earlier call with this idempotencyKey, started 2026-07-28T00:00:00.000Z",
        "Nothing was run now. To run it again, use a new key.",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_first_call_whose_task_cannot_be_removed_says_that_its_key_is_used_up() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    let call = run(1, Client::Tasks, &arguments("sleep 60"));
    // key, commit, start
    world.faults.fill_disk(BEFORE_START);
    let reply = host.ask(&mut world, &call);
    let text = reply["result"]["content"][0]["text"].as_str();
    let text = text.expect("a refusal has a text");
    assert!(
        text.contains("then call again with a new idempotencyKey"),
        "{text}"
    );
    world.faults.clear();
    host.ask(&mut world, &call);
    world.clock += 10_000;
    assert_failed(&mut world);
    assert_eq!(starts(&world), 0);
}

#[test]
fn a_first_call_without_a_key_is_told_of_none() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    world.faults.fill_disk(1);
    let call = run(1, Client::Tasks, &json!({ "command": "true" }));
    let reply = host.ask(&mut world, &call).to_string();
    assert!(reply.contains("then call again\""), "{reply}");
}

/// Has another server handle this, which takes the present for this much later, when the first one has committed and is
/// about to start the job. Gives what the first one answers.
fn after_a_slow_commit(world: &mut FakeWorld, client: Client, late_ms: u64, call: Call) -> Value {
    let mut host = Host::new(r#"{"directLimitMs":0,"syncLimitMs":0}"#, "user");
    let mut cx = host.context(world);
    cx.now += late_ms;
    world.interference = Some(Interference {
        after_calls: BEFORE_START,
        cx,
        call,
    });
    let reply = host.ask(world, &run(1, client, &arguments("sleep 60")));
    assert!(world.interfered.take().is_some(), "it was due");
    reply
}

/// What somebody else may do when a task was recorded.
fn looks() -> [Call; 3] {
    [
        Call::Message(run(7, Client::Plain, &arguments("sleep 60"))),
        Call::Message(run(7, Client::Tasks, &arguments("sleep 60"))),
        Call::Sweep,
    ]
}

#[test]
fn a_job_whose_commit_waited_long_is_started_whoever_looks_at_its_task_before() {
    for call in looks() {
        for late_ms in [10_000, 60_000, 119_999] {
            let mut world = FakeWorld::new(1);
            let reply = after_a_slow_commit(&mut world, Client::Tasks, late_ms, call.clone());
            assert_eq!(reply["result"]["status"], "working", "{reply}");
            assert_eq!(starts(&world), 1, "{late_ms}");
        }
    }
}

#[test]
fn a_server_that_stood_still_before_the_start_says_that_nothing_was_started() {
    for (call, client) in looks()
        .into_iter()
        .flat_map(|call| [Client::Tasks, Client::Plain].map(|client| (call.clone(), client)))
    {
        let mut world = FakeWorld::new(1);
        let reply = after_a_slow_commit(&mut world, client, 120_000, call);
        assert_eq!(starts(&world), 0);
        let text = reply.to_string();
        assert!(
            text.contains("stood still for long") && text.contains("new idempotencyKey"),
            "{text}"
        );
        match client {
            Client::Tasks => assert_eq!(reply["result"]["status"], "failed", "{reply}"),
            Client::Plain => assert_eq!(reply["error"]["code"], -32603, "{reply}"),
        }
        assert_failed(&mut world);
    }
}

#[test]
fn the_same_call_after_a_failure_names_the_task_and_why_it_failed() {
    for client in [Client::Tasks, Client::Plain] {
        let mut world = FakeWorld::new(1);
        let mut host = Host::new("{}", "user");
        let id = host.task(&mut world, &arguments("sleep 1; lose"));
        world.clock += 2_000;
        let task = host.get(&mut world, &id)["result"].take();
        let why = task["error"]["message"].as_str().expect("words");
        let call = run(1, client, &arguments("sleep 1; lose"));
        let result = host.ask(&mut world, &call)["result"].take();
        if client == Client::Tasks {
            assert_eq!(result["resultType"], "task", "{result}");
            for member in ["taskId", "status", "statusMessage", "lastUpdatedAt"] {
                assert_eq!(result[member], task[member], "{result}");
            }
            assert_eq!(result.get("error"), None, "{result}");
        } else {
            let text = format!(
                "The earlier call with this idempotencyKey, started 2026-07-28T00:00:00.000Z, is task {id} and \
                 failed: {why}\nNothing was run now. To run it again, use a new key."
            );
            let content = json!([{ "type": "text", "text": text }]);
            assert_eq!(result["content"], content, "{result}");
            assert_eq!(result["isError"], true, "{result}");
        }
        assert_eq!(starts(&world), 1);
    }
}
