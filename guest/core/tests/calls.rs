//! `tools/call`: who is answered with what, and when.

#[allow(
    dead_code,
    reason = "each test binary uses its own part of the fake world"
)]
mod support;

use backburner_core::{Outcome, Wake};
use serde_json::{Value, json};

use support::faults::{Fault, Import};
use support::host::parse;
use support::messages::{Client, about, call, run};
use support::{FakeWorld, Host};

/// Calls `run` in a new world and compares how it is answered, and after how many milliseconds.
fn check(client: Client, arguments: &Value, expect: &str) {
    let mut world = FakeWorld::new(1);
    let begin = world.clock;
    let reply = Host::new("{}", "user").ask(&mut world, &run(1, client, arguments));
    let actual = format!("{} after {}", outline(&reply), world.clock - begin);
    assert_eq!(actual, expect, "{arguments}: {reply}");
}

fn outline(reply: &Value) -> String {
    if let Some(code) = reply["error"]["code"].as_i64() {
        return format!("error {code}");
    }
    let result = &reply["result"];
    match result["resultType"].as_str() {
        Some("task") => format!("task {}", result["status"].as_str().expect("a status")),
        Some("complete") if result["isError"] == true => "tool error".to_owned(),
        Some("complete") => "result".to_owned(),
        _ => panic!("no result type: {reply}"),
    }
}

#[test]
fn a_quick_job_is_answered_directly() {
    for client in [Client::Tasks, Client::Plain] {
        check(client, &json!({ "command": "echo hi" }), "result after 0");
        check(
            client,
            &json!({ "command": "sleep 0.09" }),
            "result after 90",
        );
        check(
            client,
            &json!({ "command": "sleep 0.05; exit 3" }),
            "tool error after 50",
        );
        check(
            client,
            &json!({ "command": "kill SIGSEGV" }),
            "tool error after 0",
        );
        check(client, &json!({ "command": "never" }), "tool error after 0");
        check(
            client,
            &json!({ "command": "sleep 0.01; lose" }),
            "error -32603 after 10",
        );
    }
}

#[test]
fn a_call_whose_job_is_lost_at_once_is_told_which_task_that_is() {
    for client in [Client::Tasks, Client::Plain] {
        let mut world = FakeWorld::new(1);
        let arguments = json!({ "command": "sleep 0.01; lose" });
        let mut host = Host::new("{}", "user");
        let reply = host.ask(&mut world, &run(1, client, &arguments));
        let owner = world.store.keys("task/");
        let [key] = owner.as_slice() else {
            panic!("there is one: {owner:?}");
        };
        let words = format!(
            "task {} failed: the process that supervised",
            &key["task/".len()..]
        );
        let message = reply["error"]["message"].as_str().expect("words");
        assert!(message.starts_with(&words), "{message}");
    }
}

#[test]
fn a_slow_job_is_a_task_for_those_who_know_tasks() {
    check(
        Client::Tasks,
        &json!({ "command": "sleep 5" }),
        "task working after 100",
    );
    check(
        Client::Plain,
        &json!({ "command": "sleep 5" }),
        "result after 5000",
    );
    check(
        Client::Plain,
        &json!({ "command": "sleep 29; exit 1" }),
        "tool error after 29000",
    );
    check(
        Client::Plain,
        &json!({ "command": "sleep 60" }),
        "result after 30000",
    );
}

#[test]
fn a_job_with_a_timeout_is_stopped_by_it() {
    let arguments = json!({ "command": "sleep 60", "timeoutSeconds": 2 });
    check(Client::Plain, &arguments, "tool error after 2000");
}

#[test]
fn a_missing_directory_leaves_nothing_behind() {
    let mut world = FakeWorld::new(1);
    let arguments = json!({
        "command": "true", "cwd": "/missing", "ttlSeconds": 60, "idempotencyKey": "k"
    });
    let reply = Host::new("{}", "user").ask(&mut world, &run(1, Client::Tasks, &arguments));
    assert_eq!(outline(&reply), "tool error");
    let text = reply["result"]["content"][0]["text"]
        .as_str()
        .expect("a text");
    assert!(text.contains("/missing"), "{text}");
    assert_eq!(world.store.keys(""), Vec::<&str>::new());
}

/// Compares what is advised where the directory of a call cannot be used, whatever it is.
fn check_place(config: &Value, tool: &str, arguments: &Value, expect: &str) {
    let mut world = FakeWorld::new(1);
    // commit, start
    world.faults.plan(1, Fault::BadDirectory);
    let body = call(1, Client::Plain, tool, arguments);
    let reply = Host::new(&config.to_string(), "user").ask(&mut world, &body);
    let text = reply["result"]["content"][0]["text"].as_str();
    let text = text.expect("a text").split("; ").last();
    let expect = format!("{expect}, then call again");
    assert_eq!(text, Some(expect.as_str()), "{config} {arguments}");
}

#[test]
fn what_is_said_of_a_directory_that_cannot_be_used_is_for_who_chose_it() {
    let line = json!({ "command": "true" });
    let there = json!({ "command": "true", "cwd": "/a" });
    let tool = json!({ "name": "t", "description": "d", "shell": "true" });
    let mut placed = tool.clone();
    placed["cwd"] = json!("/a");
    let none = json!({});
    // Also where the host does not say which one its own is.
    for config in [json!({}), json!({ "workingDirectory": "/own" })] {
        let check = |tool: &str, arguments: &Value, expect: &str| {
            check_place(&config, tool, arguments, expect);
        };
        check("run", &there, "correct `cwd`");
        for (run, member) in [
            (json!({ "cwd": "/a", "directories": ["/"] }), "cwd"),
            (json!({ "directories": ["/a"] }), "directories"),
        ] {
            let mut config = config.clone();
            config["run"] = run;
            config["configurationFile"] = json!("/b.toml");
            let words =
                format!("it is what `run.{member}` in /b.toml says: name another one with `cwd`");
            check_place(&config, "run", &line, &words);
            check_place(&config, "run", &there, "correct `cwd`");
        }
        check(
            "run",
            &line,
            "it is the server's own: name another one with `cwd`",
        );
        let check = |tool: &Value, expect: &str| {
            let mut config = config.clone();
            config["tools"] = json!([tool]);
            check_place(&config, "t", &none, expect);
        };
        check(
            &placed,
            "have it corrected in the server's configuration of the tool",
        );
        check(
            &tool,
            "it is the server's own, as its configuration of the tool names none: have one named there, or the server \
             started in another one",
        );
    }
}

#[test]
fn a_handle_is_flat_and_carries_no_result_whatever_became_of_the_job() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    let arguments = json!({ "command": "sleep 1", "ttlSeconds": 60 });
    host.send(&mut world, &run(1, Client::Tasks, &arguments));
    world.clock += 5_000;
    let mut reply = parse(&host.resume(&mut world, "1", Wake::Deadline)[0]);
    let handle = reply["result"].as_object_mut().expect("an object");
    assert!(handle.remove("_meta").is_some());
    let id = handle.remove("taskId").expect("an id");
    let expect = json!({
        "resultType": "task",
        "status": "working",
        "statusMessage": "the job was started",
        "createdAt": "2026-07-28T00:00:00.000Z",
        "lastUpdatedAt": "2026-07-28T00:00:05.000Z",
        "ttlMs": 60_000,
        "pollIntervalMs": 500,
    });
    assert_eq!(reply["result"], expect);
    let task = host.get(&mut world, id.as_str().expect("a string"));
    assert_eq!(task["result"]["status"], "completed");
}

#[test]
fn a_direct_limit_of_zero_answers_at_once() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new(r#"{"directLimitMs":0}"#, "user");
    let replies = host.send(
        &mut world,
        &run(1, Client::Tasks, &json!({ "command": "true" })),
    );
    assert_eq!(outline(&parse(&replies[0])), "task working");
}

#[test]
fn one_commit_makes_a_task_and_the_record_is_there_before_the_start() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    let arguments = json!({ "command": "sleep 9", "ttlSeconds": 60, "idempotencyKey": "k" });
    let id = host.task(&mut world, &arguments);
    assert_eq!(world.store.commits, 1);
    assert_eq!(
        world.store.keys(""),
        [
            format!("expiry/00000001785196860000/{id}"),
            "key/user/k".to_owned(),
            format!("live/{id}"),
            format!("owner/user/00000001785196800000/{id}"),
            format!("task/{id}"),
        ]
    );
    let calls = world.faults.calls.iter().map(|call| call.import);
    let at = |import| calls.clone().position(|it| it == import);
    let (commit, start) = (at(Import::Commit), at(Import::Start));
    assert!(commit.is_some() && commit < start, "{commit:?} {start:?}");
}

#[test]
fn a_client_without_tasks_is_told_how_to_go_on() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new(r#"{"syncLimitMs":500}"#, "user");
    let reply = host.ask(
        &mut world,
        &run(1, Client::Plain, &json!({ "command": "sleep 60" })),
    );
    assert_eq!(outline(&reply), "result");
    let id = world.jobs.running(world.clock)[0];
    let text = reply["result"]["content"][0]["text"]
        .as_str()
        .expect("a text");
    assert!(text.contains(id), "{text}");
    assert!(
        !text.contains(" show "),
        "this host has no such command: {text}"
    );
    assert_eq!(reply["result"]["structuredContent"]["taskId"], id);
}

#[test]
fn a_client_without_tasks_is_told_the_command_that_the_host_shows_tasks_with() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new(r#"{"showCommand":"host show --all"}"#, "user");
    let reply = host.ask(
        &mut world,
        &run(1, Client::Plain, &json!({ "command": "sleep 60" })),
    );
    let command = format!("`host show --all {}`", world.jobs.running(world.clock)[0]);
    assert!(reply.to_string().contains(&command), "{reply}");
}

#[test]
fn shutdown_answers_at_once_and_the_job_goes_on() {
    for (client, expect) in [(Client::Tasks, "task working"), (Client::Plain, "result")] {
        let mut world = FakeWorld::new(1);
        let mut host = Host::new("{}", "user");
        host.send(
            &mut world,
            &run(1, client, &json!({ "command": "sleep 60" })),
        );
        let replies = host.resume(&mut world, "1", Wake::Shutdown);
        assert_eq!(outline(&parse(&replies[0])), expect);
        assert_eq!(world.jobs.running(world.clock).len(), 1);
    }
}

#[test]
fn a_request_that_is_taken_back_gets_no_answer_and_its_job_goes_on() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    let call = run(1, Client::Tasks, &json!({ "command": "sleep 60" }))
        .replace("\"id\":1", r#""id":"\u0061""#);
    host.send(&mut world, &call);
    assert_eq!(world.jobs.running(world.clock).len(), 1);
    let cancelled =
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}"#;
    assert_eq!(host.send(&mut world, cancelled), Vec::<String>::new());
    assert_eq!(world.jobs.running(world.clock).len(), 1);
    assert_eq!(host.wake(&mut world), Vec::<String>::new());
}

#[test]
fn a_call_that_is_taken_back_is_found_again_by_its_idempotency_key() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    let arguments = json!({ "command": "sleep 60", "idempotencyKey": "k" });
    host.send(&mut world, &run(7, Client::Plain, &arguments));
    host.resume(&mut world, "7", Wake::Cancelled);
    host.task(&mut world, &arguments);
    assert_eq!(world.jobs.running(world.clock).len(), 1);
}

#[test]
fn a_task_that_is_cancelled_meanwhile_ends_the_wait() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    host.send(
        &mut world,
        &run(1, Client::Plain, &json!({ "command": "sleep 20" })),
    );
    let id = world.jobs.running(world.clock)[0].to_owned();
    let mut other = Host::new("{}", "user");
    other.ask(&mut world, &about(5, "tasks/cancel", &id));
    assert_eq!(other.get(&mut world, &id)["result"]["status"], "cancelled");
    let reply = host.wait(&mut world);
    assert_eq!(outline(&reply), "tool error");
    assert_eq!(reply["result"]["structuredContent"]["cancelled"], true);
}

#[test]
fn a_task_that_expires_meanwhile_ends_the_wait() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    let arguments = json!({ "command": "sleep 20", "ttlSeconds": 3 });
    let reply = host.ask(&mut world, &run(1, Client::Plain, &arguments));
    assert_eq!(outline(&reply), "tool error");
    assert!(reply.to_string().contains("ttlSeconds"));
}

#[test]
fn a_ticket_of_nobody_gets_an_error_and_no_panic() {
    let mut world = FakeWorld::new(1);
    let host = Host::new("{}", "user");
    for ticket in ["", "{}", r#"{"call/2":{}}"#] {
        let cx = host.context(&world);
        let outcome = host.server.resume(&mut world, &cx, ticket, Wake::Cancelled);
        assert_eq!(outcome, Outcome::Nothing, "who took it back hears nothing");
        let outcome = host.server.resume(&mut world, &cx, ticket, Wake::Deadline);
        assert!(matches!(outcome, Outcome::Reply(text) if text.contains("-32603")));
    }
}

#[test]
fn an_argument_that_is_given_twice_is_refused_by_name() {
    for (arguments, argument) in [
        (r#"{"command":"true","command":"rm"}"#, "`command`"),
        (r#"{"command":"true","comm\u0061nd":"true"}"#, "`command`"),
        (r#"{"command":"true","label":null,"label":"l"}"#, "`label`"),
        (
            r#"{"command":"true","env":{"A":"1","B":"2","A":"3"}}"#,
            "`env.A`",
        ),
    ] {
        let mut world = FakeWorld::new(1);
        let body = run(1, Client::Tasks, &json!("ARGUMENTS")).replace("\"ARGUMENTS\"", arguments);
        let reply = Host::new("{}", "user").ask(&mut world, &body);
        assert_eq!(outline(&reply), "tool error");
        let text = reply["result"]["content"][0]["text"].as_str();
        let expect =
            format!("{argument} is given twice, it has to be given once. Nothing was run.");
        assert!(
            text.is_some_and(|text| text.starts_with(&expect)),
            "{arguments}: {reply}"
        );
        assert!(world.jobs.starts.is_empty());
    }
}
