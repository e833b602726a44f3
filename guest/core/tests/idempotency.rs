//! The same call again gives the same task.

#[allow(
    dead_code,
    reason = "each test binary uses its own part of the fake world"
)]
mod support;

use backburner_core::Wake;
use serde_json::{Value, json};

use support::host::parse;
use support::messages::{Client, about, call, keyed, run};
use support::world::EPOCH;
use support::{FakeWorld, Host};

/// Makes a first call, then a second one with these members changed, and compares whether both got the
/// same task.
fn check(changed: &Value, expect: &str) {
    let mut world = FakeWorld::new(1);
    let first = Host::new("{}", "user").task(&mut world, &keyed("sleep 60"));
    let mut second = keyed("sleep 60");
    for (name, value) in changed.as_object().expect("an object") {
        second[name] = value.clone();
    }
    let other_config = r#"{"graceMs":1,"outputLimitBytes":4096,"terminals":true}"#;
    let reply = Host::new(other_config, "user").ask(&mut world, &run(1, Client::Tasks, &second));
    let actual = match reply["result"]["taskId"].as_str() {
        Some(id) if id == first => "same",
        Some(_) => "new",
        None if reply["result"]["isError"] == true => "refused",
        None => panic!("{reply}"),
    };
    assert_eq!(actual, expect, "{changed}: {reply}");
    assert_eq!(
        world.jobs.starts.len(),
        if expect == "new" { 2 } else { 1 },
        "{changed}"
    );
}

#[test]
fn the_same_call_gives_the_same_task_also_from_a_server_configured_otherwise() {
    check(&json!({}), "same");
}

/// A server that was started in this directory; `None` where its host does not say.
fn server_in(directory: Option<&str>) -> Host {
    let config = directory.map_or(json!({}), |it| json!({ "workingDirectory": it }));
    Host::new(&config.to_string(), "user")
}

#[test]
fn the_same_call_without_a_directory_is_another_one_in_a_server_elsewhere() {
    let mut world = FakeWorld::new(1);
    let id = server_in(Some("/one")).task(&mut world, &keyed("sleep 60"));
    let mut elsewhere = server_in(Some("/t\u{202e}wo"));
    let refused = elsewhere.ask(&mut world, &run(1, Client::Tasks, &keyed("sleep 60")));
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    assert_eq!(
        refused["result"]["content"][0]["text"],
        "`idempotencyKey` \"k\" already stands for another call, with another `cwd`: its directory is \"/one\", and \
         this call, without `cwd`, is for this server's own, \"/t\\u202ewo\"; repeat that call exactly, with `cwd` \
         \"/one\", to get its task, or use a new key"
    );
    assert_eq!(world.jobs.starts.len(), 1);
    // Each of the two ways that it names.
    let mut there = keyed("sleep 60");
    there["cwd"] = json!("/one");
    assert_eq!(elsewhere.task(&mut world, &there), id);
    let mut new = keyed("sleep 60");
    new["idempotencyKey"] = json!("k2");
    assert_ne!(elsewhere.task(&mut world, &new), id);
    assert_eq!(
        server_in(Some("/one")).task(&mut world, &keyed("sleep 60")),
        id
    );
}

#[test]
fn who_named_no_directory_is_told_the_one_that_an_earlier_call_named() {
    let mut world = FakeWorld::new(1);
    let mut named = keyed("sleep 60");
    named["cwd"] = json!("/one");
    server_in(Some("/two")).task(&mut world, &named);
    let again = run(1, Client::Tasks, &keyed("sleep 61"));
    let refused = server_in(Some("/two")).ask(&mut world, &again).to_string();
    for words in [
        "with another `command`, another `cwd`: ",
        r#"repeat that call exactly, with `cwd` \"/one\", to get"#,
    ] {
        assert!(refused.contains(words), "{words}: {refused}");
    }
}

#[test]
fn the_same_call_without_a_directory_is_the_same_where_nobody_knows_where_one_of_them_runs() {
    // The record of an earlier version has none either.
    for (first, second) in [(None, Some("/one")), (Some("/one"), None), (None, None)] {
        let mut world = FakeWorld::new(1);
        let id = server_in(first).task(&mut world, &keyed("sleep 60"));
        let again = server_in(second).task(&mut world, &keyed("sleep 60"));
        assert_eq!(again, id);
        let mut elsewhere = keyed("sleep 60");
        elsewhere["cwd"] = json!("/two");
        let named = server_in(second).ask(&mut world, &run(1, Client::Tasks, &elsewhere));
        assert_eq!(named["result"]["isError"], true, "{named}");
    }
    // Where the first call named a directory, it is known that the second one does not mean that.
    let mut world = FakeWorld::new(1);
    let mut named = keyed("sleep 60");
    named["cwd"] = json!("/one");
    server_in(None).task(&mut world, &named);
    let again = server_in(None).ask(&mut world, &run(1, Client::Tasks, &keyed("sleep 60")));
    assert_eq!(again["result"]["isError"], true, "{again}");
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
    refused(json!({ "interactive": true }), "another `interactive`");
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
    let mut host = Host::new(r#"{"terminals":true}"#, "user");
    host.task(&mut world, &keyed("sleep 60"));
    let mut second = keyed("sleep 60");
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
        let call = run(1, client, &keyed("echo hi; exit 3"));
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
        assert_eq!(world.jobs.starts.len(), 1);
    }
}

#[test]
fn the_same_call_of_a_client_without_tasks_waits_on_for_the_result() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    let call = run(1, Client::Plain, &keyed("echo step; sleep 45; exit 3"));
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
    assert_eq!(world.jobs.starts.len(), 1);
}

#[test]
fn the_same_call_after_a_cancellation_says_that_nothing_was_run() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    let id = host.task(&mut world, &keyed("sleep 60"));
    host.ask(&mut world, &about(2, "tasks/cancel", &id));
    let again = host.ask(&mut world, &run(1, Client::Tasks, &keyed("sleep 60")));
    let text = again["result"]["content"][0]["text"].as_str();
    assert!(text.is_some_and(|text| text.contains(NOTE)), "{again}");
    assert_eq!(world.jobs.starts.len(), 1);
}

#[test]
fn the_handle_of_a_repeated_call_says_that_nothing_was_started() {
    for config in ["{}", r#"{"directLimitMs":0}"#] {
        let mut world = FakeWorld::new(1);
        let mut host = Host::new(config, "user");
        let call = run(1, Client::Tasks, &keyed("sleep 60"));
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
    let first = host.task(&mut world, &keyed("sleep 60"));
    world.clock += 3_600_000;
    let second = host.task(&mut world, &keyed("sleep 60"));
    assert_ne!(first, second);
    // The sweep of the first task leaves the key to the second one.
    host.server.sweep(&mut world, EPOCH + 3_600_100);
    assert_eq!(
        world.store.value("key/user/k"),
        Some(format!("\"{second}\"").as_str())
    );
    assert_eq!(host.task(&mut world, &keyed("sleep 60")), second);
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
        let id = host.task(&mut world, &keyed(command));
        world.clock += 2_000;
        host.ask(&mut world, &about(2, "tasks/cancel", &id));
        // Whether somebody has looked at the end before makes no difference.
        for _ in 0..2 {
            let call = run(1, Client::Tasks, &keyed(command));
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
        assert_eq!(world.jobs.starts.len(), 1);
    }
}

/// A call whose key stands for a task that has just expired, and whose job takes three seconds to end.
fn held(client: Client) -> (FakeWorld, Host) {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    let call = keyed("trap; sleep 9000");
    host.task(&mut world, &call);
    world.clock = EPOCH + 3_600_000;
    assert!(host.send(&mut world, &run(1, client, &call)).is_empty());
    assert_eq!(world.jobs.starts.len(), 1);
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
        assert_eq!(world.jobs.starts.len(), 2);
    }
}

#[test]
fn a_key_that_does_not_become_free_in_time_is_refused_in_words() {
    let check = |world: &FakeWorld, replies: &[String]| {
        let reply = parse(&replies[0]);
        assert_eq!(reply["result"]["isError"], true, "{reply}");
        let words = "still being stopped; call again later, or with a new key";
        assert!(reply.to_string().contains(words), "{reply}");
        assert_eq!(world.jobs.starts.len(), 1);
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
    assert_eq!(world.jobs.starts.len(), 1);
}

#[test]
fn the_same_call_after_a_failure_names_the_task_and_why_it_failed() {
    for client in [Client::Tasks, Client::Plain] {
        let mut world = FakeWorld::new(1);
        let mut host = Host::new("{}", "user");
        let id = host.task(&mut world, &keyed("sleep 1; lose"));
        world.clock += 2_000;
        let task = host.get(&mut world, &id)["result"].take();
        let why = task["error"]["message"].as_str().expect("words");
        let call = run(1, client, &keyed("sleep 1; lose"));
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
        assert_eq!(world.jobs.starts.len(), 1);
    }
}

#[test]
fn a_key_whose_entry_was_damaged_runs_nothing_and_is_left_as_it_is() {
    for damaged in ["", "garbage", "null", "{}", "\"xyz\""] {
        let mut world = FakeWorld::new(1);
        let mut host = Host::new("{}", "user");
        host.task(&mut world, &keyed("sleep 60"));
        world.store.put("key/user/k", damaged);
        let again = run(2, Client::Tasks, &keyed("sleep 60"));
        let reply = host.ask(&mut world, &again);
        assert_eq!(reply["error"]["code"], -32603, "{damaged}: {reply}");
        assert_eq!(world.jobs.starts.len(), 1, "{damaged}");
        assert_eq!(world.store.value("key/user/k"), Some(damaged));
    }
}

#[test]
fn a_key_that_cannot_be_read_is_called_what_its_caller_calls_it() {
    let config = json!({ "tools": [{
        "name": "t", "description": "d", "shell": "sleep 60", "task": "required", "idempotencyKey": "k",
    }] });
    for (tool, slot, arguments, words) in [
        (
            "run",
            "key/user/k",
            keyed("sleep 60"),
            "this idempotencyKey cannot be read",
        ),
        (
            "t",
            "toolkey/user/t/k",
            json!({}),
            "the key of this call, which is made of the arguments",
        ),
    ] {
        let mut world = FakeWorld::new(1);
        world.store.put(slot, "damaged");
        let body = call(1, Client::Tasks, tool, &arguments);
        let reply = Host::new(&config.to_string(), "user").ask(&mut world, &body);
        let message = reply["error"]["message"].as_str().expect("an error");
        assert!(message.contains(words), "{message}");
        assert_eq!(
            message.contains("idempotencyKey"),
            tool == "run",
            "{message}"
        );
    }
}
