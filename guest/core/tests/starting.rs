//! Between a task's record and the start of its job: servers that die, stand still or fail there, and who is told of it.

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
use support::messages::{Client, keyed, run};
use support::world::EPOCH;
use support::{FakeWorld, Host};

/// A world in which a server died between the record of this command and its start.
fn unstarted(command: &str) -> FakeWorld {
    let mut world = FakeWorld::new(1);
    // key, commit, start
    world.faults.plan(2, Fault::CrashBefore);
    let mut host = Host::new("{}", "user");
    host.send(&mut world, &run(1, Client::Tasks, &keyed(command)));
    assert!(world.faults.clear());
    assert_eq!((world.store.commits, world.jobs.starts.len()), (1, 0));
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
        let id = Host::new("{}", "user").task(&mut world, &keyed(command));
        world.clock = EPOCH + age_ms;
        world.jobs.vanish(&id);
        let call = run(2, client, &keyed(command));
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
fn a_job_whose_files_are_gone_is_not_said_to_start_long_after_its_call() {
    for (age_ms, words) in [
        (1_999, "l: the job is about to start"),
        (
            2_000,
            "l: there is no trace of the job so far: it is about to start, or its files are missing",
        ),
    ] {
        let mut world = FakeWorld::new(1);
        let mut host = Host::new("{}", "user");
        let id = host.task(&mut world, &keyed("sleep 600"));
        world.clock = EPOCH + age_ms;
        world.jobs.vanish(&id);
        let task = host.get(&mut world, &id)["result"].take();
        let message = task["statusMessage"].as_str().expect("words");
        assert!(message.starts_with(words), "{message}");
    }
}

#[test]
fn what_a_dead_server_did_not_start_is_about_to_start_and_then_has_failed() {
    for config in ["{}", r#"{"directLimitMs":0}"#] {
        let mut world = unstarted("sleep 60");
        let call = run(1, Client::Tasks, &keyed("sleep 60"));
        let mut host = Host::new(config, "user");
        let handle = host.ask(&mut world, &call)["result"].take();
        assert_eq!(handle["taskId"], only_task(&world));
        assert_eq!(handle["status"], "working");
        let message = "l: the job is about to start";
        assert_eq!(handle["statusMessage"], message, "{handle}");
        // As every client asks that was given a task.
        let id = only_task(&world);
        host.get(&mut world, &id);
        world.clock = EPOCH + 10_000;
        let reply = host.ask(&mut world, &call);
        assert_eq!(reply["result"]["status"], "failed", "{reply}");
        assert_failed(&mut world);
        assert_eq!(world.jobs.starts.len(), 0);
    }
}

#[test]
fn a_call_that_waits_for_what_is_never_started_hears_of_it_when_that_is_certain() {
    for (client, config) in [
        (Client::Plain, r#"{"syncLimitMs":30000}"#),
        (Client::Tasks, r#"{"directLimitMs":30000}"#),
    ] {
        let mut world = unstarted("sleep 60");
        let call = run(1, client, &keyed("sleep 60"));
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
        assert_eq!(world.jobs.starts.len(), 0);
    }
}

#[test]
fn a_call_that_cannot_wait_for_what_may_still_start_says_so() {
    let call = run(1, Client::Plain, &keyed("sleep 60"));
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
        let call = run(1, client, &keyed("sleep 60"));
        assert!(host.send(&mut world, &call).is_empty());
        let replies = host.resume(&mut world, "1", Wake::Shutdown);
        assert!(replies[0].contains("about to start"), "{replies:?}");
        assert_eq!(world.jobs.starts.len(), 0);
    }
}

/// The configuration of a server that gives a client with Tasks its task at once.
const AT_ONCE: &str = r#"{"directLimitMs":0}"#;

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
    let mut host = Host::new(AT_ONCE, "user");
    if let Some(fault) = fault {
        world.faults.plan(BEFORE_START, fault);
    }
    world.interference = Some(Interference {
        after_calls,
        cx: host.context(world),
        config: AT_ONCE,
        call: Call::Message(run(1, client, &keyed(command))),
    });
    let first = run(1, Client::Tasks, &keyed(command));
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
    assert_eq!((world.clock, world.jobs.starts.len()), (EPOCH + 12_000, 1));
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
        assert_eq!(world.jobs.starts.len(), 0);
    }
}

#[test]
fn a_first_call_that_fails_alone_leaves_the_key_free() {
    let mut world = FakeWorld::new(1);
    world.faults.plan(2, Fault::NoSpace);
    let mut host = Host::new("{}", "user");
    let reply = host.ask(&mut world, &run(1, Client::Tasks, &keyed("sleep 60")));
    assert_eq!(reply["result"]["isError"], true, "{reply}");
    assert_eq!(world.store.keys(""), Vec::<&str>::new());
    host.task(&mut world, &keyed("sleep 60"));
    assert_eq!(world.jobs.starts.len(), 1);
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
    let call = run(1, Client::Tasks, &keyed("sleep 60"));
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
    assert_eq!(world.jobs.starts.len(), 0);
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
        config: AT_ONCE,
        call,
    });
    let reply = host.ask(world, &run(1, client, &keyed("sleep 60")));
    assert!(world.interfered.take().is_some(), "it was due");
    reply
}

/// What somebody else may do when a task was recorded.
fn looks() -> [Call; 3] {
    [
        Call::Message(run(7, Client::Plain, &keyed("sleep 60"))),
        Call::Message(run(7, Client::Tasks, &keyed("sleep 60"))),
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
            assert_eq!(world.jobs.starts.len(), 1, "{late_ms}");
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
        assert_eq!(world.jobs.starts.len(), 0);
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
fn whoever_looked_at_the_clock_before_there_was_a_record_does_not_shorten_its_window() {
    let mut world = unstarted("sleep 60");
    // A sweep that had much to do before it came to this task.
    let host = Host::new("{}", "user");
    host.server.sweep(&mut world, EPOCH - 14_000);
    world.clock += 1_000;
    let id = only_task(&world);
    let task = Host::new("{}", "user").get(&mut world, &id)["result"].take();
    assert!(task.to_string().contains("about to start"), "{task}");
}

#[test]
fn a_repeated_call_that_waited_long_itself_does_not_take_the_first_server_for_dead() {
    for (client, config) in [
        (Client::Plain, "{}"),
        (Client::Tasks, "{}"),
        (Client::Tasks, AT_ONCE),
    ] {
        let mut world = FakeWorld::new(1);
        let mut first = Host::new("{}", "user");
        let mut second = Host::new(config, "user");
        world.interference = Some(Interference {
            after_calls: BEFORE_START,
            cx: second.context(&world),
            config,
            call: Call::Message(run(2, client, &keyed("sleep 60"))),
        });
        world.faults.plan(BEFORE_START, Fault::CrashBefore);
        first.send(&mut world, &run(1, Client::Tasks, &keyed("sleep 60")));
        world.faults.clear();
        // Both calls began at the same time, and their commits had to wait for so long.
        world.clock += 12_000;
        let waits = match world.interfered.take().expect("it was due") {
            Outcome::Wait(pending) => {
                second.pending.insert(pending.request.clone(), pending);
                second.wake(&mut world);
                true
            }
            _ => false,
        };
        assert_eq!(waits, config != AT_ONCE, "{client:?}");
        let id = only_task(&world);
        for age_ms in [12_000, 21_000] {
            world.clock = EPOCH + age_ms;
            let task = second.get(&mut world, &id)["result"].take();
            assert!(
                task.to_string().contains("about to start"),
                "{client:?}: {task}"
            );
        }
    }
}
