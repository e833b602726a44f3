//! What is answered when the store or the jobs fail: words, never a wrong state, and the truth afterwards.

#[allow(
    dead_code,
    reason = "each test binary uses its own part of the fake world"
)]
mod support;

use backburner_core::Wake;
use serde_json::{Value, json};

use support::faults::Fault;
use support::host::parse;
use support::messages::{Client, run};
use support::world::EPOCH;
use support::{FakeWorld, Host};

#[test]
fn a_full_disk_is_said_and_nothing_is_started() {
    let mut world = FakeWorld::new(1);
    world.faults.plan(0, Fault::NoSpace);
    let reply = Host::new("{}", "user").ask(
        &mut world,
        &run(1, Client::Tasks, &json!({ "command": "true" })),
    );
    assert_eq!(reply["error"]["code"], -32603);
    let message = reply["error"]["message"].as_str().expect("words");
    assert!(
        message.contains("disk") && message.contains("full"),
        "{message}"
    );
    assert!(world.jobs.starts.is_empty());
}

#[test]
fn every_reason_why_a_command_was_not_run_says_how_to_go_on() {
    let refusal = |fault: Option<Fault>, cwd: &str| {
        let mut world = FakeWorld::new(1);
        if let Some(fault) = fault {
            // commit, start
            world.faults.plan(1, fault);
        }
        let call = run(1, Client::Tasks, &json!({ "command": "true", "cwd": cwd }));
        let result = Host::new("{}", "user").ask(&mut world, &call)["result"].take();
        assert_eq!(result["isError"], true, "{result}");
        assert_eq!(world.store.keys(""), [""; 0]);
        result["content"][0]["text"].to_string()
    };
    let check = |text: String, end: &str| assert!(text.ends_with(end), "{text}");
    check(
        refusal(None, "/missing"),
        "; correct `cwd`, then call again\"",
    );
    check(
        refusal(Some(Fault::NoSpace), "/"),
        "; free some space there, then call again\"",
    );
    check(refusal(Some(Fault::Unclear), "/"), "; call again later\"");
}

#[test]
fn an_end_that_cannot_be_written_down_is_answered_all_the_same() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    let id = host.task(&mut world, &json!({ "command": "sleep 1; exit 3" }));
    world.clock += 1_000;
    let mut again = world.clone();
    let expect = host.get(&mut again, &id);
    // record, inspect, commit
    world.faults.plan(2, Fault::NoSpace);
    assert_eq!(host.get(&mut world, &id), expect);
    assert_eq!(world.store.commits, 1);
    assert_eq!(host.get(&mut world, &id), expect);
    assert_eq!(world.store.commits, 2);
}

/// A new host of a new world in which a client without Tasks waits for this command.
fn waiting(command: &str) -> (FakeWorld, Host) {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    let call = run(1, Client::Plain, &json!({ "command": command }));
    assert!(host.send(&mut world, &call).is_empty(), "it is not over");
    (world, host)
}

#[test]
fn a_call_whose_job_cannot_be_looked_at_waits_for_a_better_moment() {
    let (mut world, mut host) = waiting("echo hi; sleep 1; exit 3");
    let expect = host.wait(&mut world);
    assert_eq!(expect["result"]["structuredContent"]["exitCode"], 3);
    // record, inspect
    for call in 0..2 {
        let (mut world, mut host) = waiting("echo hi; sleep 1; exit 3");
        world.faults.plan(call, Fault::Unclear);
        assert_eq!(host.wait(&mut world), expect, "{call}");
    }
}

#[test]
fn a_call_whose_ended_job_cannot_be_looked_at_does_not_make_its_host_spin() {
    // record, inspect
    for call in 0..2 {
        let (mut world, mut host) = waiting("sleep 1; exit 3");
        world.clock += 1_000;
        world.faults.plan(call, Fault::Unclear);
        assert!(host.wake(&mut world).is_empty());
        let pending = &host.pending["1"];
        assert_eq!(pending.jobs, [""; 0], "it would be woken at once");
        assert_eq!(pending.deadline, world.clock + 250);
        assert!(host.wake(&mut world).is_empty());
        let reply = host.wait(&mut world);
        assert_eq!(reply["result"]["structuredContent"]["exitCode"], 3);
        assert_eq!(world.clock, EPOCH + 1_250);
    }
}

#[test]
fn a_tasks_client_whose_job_could_not_be_looked_at_hears_of_it_when_its_time_is_up() {
    for call in 0..2 {
        for fails_again in [false, true] {
            let mut world = FakeWorld::new(1);
            let mut host = Host::new("{}", "user");
            let arguments = json!({ "command": "sleep 0.05; exit 3" });
            host.send(&mut world, &run(1, Client::Tasks, &arguments));
            world.clock += 50;
            world.faults.plan(call, Fault::Unclear);
            assert!(host.wake(&mut world).is_empty());
            if fails_again {
                world.faults.plan(call, Fault::Unclear);
            }
            let reply = host.wait(&mut world);
            // Nobody says that the job was started, or runs, who has not seen it.
            let text = if fails_again {
                "how it goes cannot be told now: made up"
            } else {
                "exit code 3"
            };
            assert!(reply.to_string().contains(text), "{reply}");
            assert_eq!(world.clock, EPOCH + 100);
        }
    }
}

#[test]
fn a_tasks_client_whose_job_cannot_be_looked_at_gets_its_task() {
    // At the deadline, and at a shutdown before it.
    for why in [Wake::Deadline, Wake::Shutdown] {
        let mut world = FakeWorld::new(1);
        let mut host = Host::new("{}", "user");
        let arguments = json!({ "command": "sleep 0.05; exit 3", "label": "l" });
        host.send(&mut world, &run(1, Client::Tasks, &arguments));
        world.clock += 50;
        // record, inspect
        world.faults.plan(1, Fault::Unclear);
        assert!(host.wake(&mut world).is_empty());
        world.clock += 50;
        world.faults.plan(1, Fault::Unclear);
        let replies = host.resume(&mut world, "1", why);
        let handle = parse(&replies[0])["result"].take();
        assert_eq!(handle["resultType"], "task", "{handle}");
        assert_eq!(handle["status"], "working", "{handle}");
        let message = handle["statusMessage"].as_str().expect("it says why");
        let says = "l: how it goes cannot be told now: ";
        assert!(message.starts_with(says), "{message}");
        let id = handle["taskId"].as_str().expect("it has an id");
        assert_eq!(host.get(&mut world, id)["result"]["status"], "completed");
    }
}

#[test]
fn a_repeated_call_whose_job_cannot_be_looked_at_gets_the_task() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new(r#"{"directLimitMs":0}"#, "user");
    let arguments = json!({ "command": "sleep 60", "idempotencyKey": "k" });
    let id = host.task(&mut world, &arguments);
    let reply = |world: &mut FakeWorld, host: &mut Host| {
        host.ask(world, &run(2, Client::Tasks, &arguments))["result"].take()
    };
    // It is shared now.
    reply(&mut world, &mut host);
    // key, record, inspect
    world.faults.plan(2, Fault::Unclear);
    let handle = reply(&mut world, &mut host);
    assert_eq!(handle["taskId"], id, "{handle}");
    assert!(handle.to_string().contains("cannot be told"), "{handle}");
}

#[test]
fn a_call_whose_job_cannot_be_looked_at_in_time_names_the_task() {
    for call in 0..2 {
        let (mut world, mut host) = waiting("sleep 600");
        world.faults.plan(call, Fault::Unclear);
        let reply = host.wait(&mut world);
        let id = world.store.keys("task/")[0]["task/".len()..].to_owned();
        assert_eq!(reply["result"]["isError"], true, "{call}: {reply}");
        let text = reply["result"]["content"][0]["text"].as_str();
        let text = text.expect("a result has text");
        assert!(text.contains(&id) && text.contains("made up"), "{text}");
        assert!(
            text.contains("do not run it again") && text.contains("tasks/get"),
            "{text}"
        );
        assert!(!text.contains("try again"), "{text}");
        assert_eq!(host.get(&mut world, &id)["result"]["status"], "working");
    }
}

/// The replies of its owner and of somebody else to a look at a task whose record is this.
fn damaged(record: &str) -> [Value; 2] {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    let id = host.task(&mut world, &json!({ "command": "sleep 60" }));
    world.store.put(&format!("task/{id}"), record);
    ["user", "other"].map(|principal| Host::new("{}", principal).get(&mut world, &id))
}

#[test]
fn a_record_that_cannot_be_read_is_said_to_its_owner_alone() {
    let unknown = Host::new("{}", "user").get(&mut FakeWorld::new(1), "no such task");
    assert_eq!(unknown["error"]["code"], -32602);
    for record in [
        r#"{"task/1":{"facts":{"principal":"another"}}}"#,
        r#"{"tombstone/2":{"principal":"another"}}"#,
    ] {
        assert_eq!(
            damaged(record),
            [unknown.clone(), unknown.clone()],
            "{record}"
        );
    }
    // Where the record does not say whose it is, the list of its owner's tasks does.
    for record in [
        "",
        "nonsense",
        "{}",
        "[]",
        r#"{"task/2":7}"#,
        r#"{"task/1":{"facts":{"principal":7}}}"#,
        r#"{"task/1":{"facts":{"principal":"user"}}}"#,
        r#"{"task/2":{"facts":{"principal":"user","new":1},"state":{"new":1}}}"#,
        r#"{"tombstone/2":{"principal":"user"}}"#,
    ] {
        let [own, other] = damaged(record);
        assert_eq!(own["error"]["code"], -32603, "{own}");
        assert!(own.to_string().contains("newer version"), "{own}");
        assert_eq!(other, unknown);
    }
}

#[test]
fn a_record_that_is_damaged_is_found_among_many_tasks_of_its_owner() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    let ids: Vec<String> = (0..5)
        .map(|_| host.task(&mut world, &json!({ "command": "sleep 60" })))
        .collect();
    world.store.page = Some(2);
    for id in &ids {
        world.store.put(&format!("task/{id}"), "nonsense");
        let reply = host.get(&mut world, id);
        assert_eq!(reply["error"]["code"], -32603, "{reply}");
    }
    let unknown = host.get(&mut world, "5f0c2d0e-7c1a-4b57-9a39-0a8f6f1f2b11");
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
}

#[test]
fn a_call_whose_record_is_lost_while_it_waits_is_told_so() {
    for (is_deleted, words) in [(true, "deleted or damaged"), (false, "cannot be read")] {
        let (mut world, mut host) = waiting("sleep 1; exit 3");
        let key = world.store.keys("task/")[0].to_owned();
        if is_deleted {
            world.store.delete(&key);
        } else {
            world.store.put(&key, "nonsense");
        }
        let text = host.wait(&mut world).to_string();
        assert!(
            text.contains(&key["task/".len()..]) && text.contains(words),
            "{text}"
        );
    }
}

#[test]
fn the_longest_arguments_fit_a_record_and_longer_ones_are_refused() {
    // A control character takes six bytes in JSON.
    for (characters, expect) in [(80_000, false), (200_000, true)] {
        let mut world = FakeWorld::new(1);
        let call = json!({ "command": "\u{1}".repeat(characters), "idempotencyKey": "k" });
        let reply = Host::new("{}", "user").ask(&mut world, &run(1, Client::Tasks, &call));
        assert_eq!(reply["result"]["isError"], expect, "{characters}");
        assert_eq!(world.store.keys("task/").is_empty(), expect, "{characters}");
    }
}

#[test]
fn a_principal_that_fits_no_key_is_an_error_in_words() {
    let mut world = FakeWorld::new(1);
    let call = run(1, Client::Tasks, &json!({ "command": "true" }));
    let reply = Host::new("{}", &"/".repeat(256)).ask(&mut world, &call);
    assert_eq!(reply["error"]["code"], -32603);
    let reply = Host::new("{}", &"p".repeat(256)).ask(&mut world, &call);
    assert_eq!(reply["result"]["isError"], false);
}
