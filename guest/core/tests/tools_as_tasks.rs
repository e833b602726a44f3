//! Tools of the configuration as tasks: who gets one, how long others wait, and what a record makes independent of the
//! server that reads it.

#[allow(
    dead_code,
    reason = "each test binary uses its own part of the fake world"
)]
mod support;

use backburner_core::Wake;
use backburner_core::imports::StopCause;
use serde_json::{Value, json};

use support::host::parse;
use support::messages::{Client, about, call};
use support::world::EPOCH;
use support::{FakeWorld, Host};

const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// A server with one tool `t` that has these members.
fn host(members: &Value) -> Host {
    let mut tool = json!({ "name": "t", "description": "A tool." });
    for (name, value) in members.as_object().expect("members") {
        tool[name] = value.clone();
    }
    Host::new(&json!({ "tools": [tool] }).to_string(), "user")
}

fn ask(host: &mut Host, world: &mut FakeWorld, client: Client) -> Value {
    host.ask(world, &call(1, client, "t", &json!({})))
}

fn text(reply: &Value) -> &str {
    let text = reply["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("no text: {reply}"))
}

/// The id of the task that a reply hands over.
fn task(reply: &Value) -> &str {
    assert_eq!(reply["result"]["resultType"], "task", "{reply}");
    reply["result"]["taskId"].as_str().expect("an id")
}

#[test]
fn usually_a_tool_is_answered_as_run_is() {
    let mut world = FakeWorld::new(1);
    let quick = ask(
        &mut host(&json!({ "shell": "echo hi" })),
        &mut world,
        Client::Tasks,
    );
    assert_eq!(text(&quick), "hi");
    let mut host = host(&json!({ "shell": "sleep 10; echo hi" }));
    let slow = ask(&mut host, &mut world, Client::Tasks);
    let id = task(&slow);
    assert_eq!(slow["result"]["statusMessage"], "t: the job was started");
    world.clock += 10_000;
    let ended = host.get(&mut world, id);
    assert_eq!(ended["result"]["status"], "completed");
    assert_eq!(
        ended["result"]["result"]["content"],
        json!([{ "type": "text", "text": "hi" }])
    );
    assert_eq!(ended["result"]["result"]["resultType"], "complete");
}

#[test]
fn a_tool_that_requires_tasks_refuses_others_before_anything_runs() {
    let mut world = FakeWorld::new(1);
    let members = json!({
        "shell": "echo hi", "task": "required",
        "inputSchema": { "type": "object", "required": ["a"], "properties": { "a": {} } },
    });
    let mut strict = host(&members);
    // Before its arguments are looked at.
    let reply = ask(&mut strict, &mut world, Client::Plain);
    assert_eq!(reply["error"]["code"], -32021, "{reply}");
    assert_eq!(
        reply["error"]["data"],
        json!({ "requiredCapabilities": { "extensions": { EXTENSION: {} } } })
    );
    assert!(world.store.keys("").is_empty());
    let reply = ask(&mut strict, &mut world, Client::Tasks);
    assert!(text(&reply).starts_with("`a` is missing"), "{reply}");
}

#[test]
fn a_tool_that_requires_tasks_never_gives_a_direct_result() {
    let mut world = FakeWorld::new(1);
    let mut host = host(&json!({ "shell": "echo hi", "task": "required", "idempotencyKey": "k" }));
    let reply = ask(&mut host, &mut world, Client::Tasks);
    assert_eq!(world.clock, EPOCH, "it does not wait");
    let id = task(&reply).to_owned();
    assert_eq!(host.get(&mut world, &id)["result"]["status"], "completed");
    // The same call again gets the task of the first, also where it has ended.
    let again = ask(&mut host, &mut world, Client::Tasks);
    assert_eq!(task(&again), id);
    assert_eq!(again["result"]["status"], "completed");
}

/// A configuration with a tool `t` that runs this line, of this kind of `task`.
fn configured(line: &str, task: &str) -> String {
    let tool = json!({
        "name": "t", "description": "A tool.", "shell": line, "task": task, "idempotencyKey": "k",
        "syncLimitSeconds": 5,
    });
    json!({ "tools": [tool] }).to_string()
}

#[test]
fn a_client_without_tasks_gets_none_whatever_is_configured_meanwhile() {
    const TASKS: [&str; 3] = ["auto", "required", "never"];
    let pairs = ["auto", "never"].map(|before| TASKS.map(|after| (before, after)));
    for (before, after) in pairs.into_iter().flatten() {
        for (line, wake) in [
            ("sleep 1; echo hi", None),
            ("sleep 60", None),
            ("sleep 60", Some(Wake::Shutdown)),
            ("sleep 60", Some(Wake::Deadline)),
        ] {
            for first in [Client::Plain, Client::Tasks] {
                let mut world = FakeWorld::new(1);
                let mut host = Host::new(&configured(line, before), "user");
                if first == Client::Tasks {
                    // Then the call is a repeated one.
                    host.send(&mut world, &call(2, first, "t", &json!({})));
                    host.resume(&mut world, "2", Wake::Cancelled);
                }
                host.send(&mut world, &call(1, Client::Plain, "t", &json!({})));
                host.configure(&mut world, &configured(line, after));
                let mut replies = match wake {
                    Some(why) => host.resume(&mut world, "1", why),
                    None => Vec::new(),
                };
                if replies.is_empty() {
                    replies = vec![host.wait(&mut world).to_string()];
                }
                let reply = parse(&replies[0]);
                assert_eq!(
                    reply["result"]["resultType"], "complete",
                    "{before} to {after}, {line}, {wake:?}: {reply}"
                );
            }
        }
    }
}

#[test]
fn a_tool_that_never_is_a_task_is_answered_however_long_it_takes() {
    for client in [Client::Plain, Client::Tasks] {
        let mut world = FakeWorld::new(1);
        let mut host = host(&json!({ "shell": "sleep 100000; echo hi", "task": "never" }));
        let reply = ask(&mut host, &mut world, client);
        assert_eq!(world.clock, EPOCH + 100_000_000);
        assert_eq!(reply["result"]["resultType"], "complete");
        assert_eq!(text(&reply), "hi");
        // It is a durable job all the same.
        let key = world.store.keys("task/")[0].to_owned();
        let id = key.trim_start_matches("task/");
        assert_eq!(host.get(&mut world, id)["result"]["status"], "completed");
    }
}

#[test]
fn a_tool_that_never_is_a_task_has_the_limit_that_it_names() {
    for client in [Client::Plain, Client::Tasks] {
        let mut world = FakeWorld::new(1);
        let members =
            json!({ "shell": "sleep 60; echo hi", "task": "never", "syncLimitSeconds": 20 });
        let reply = ask(&mut host(&members), &mut world, client);
        assert_eq!(world.clock, EPOCH + 20_000);
        assert_eq!(reply["result"]["resultType"], "complete");
        let key = world.store.keys("task/")[0].to_owned();
        let id = key.trim_start_matches("task/");
        let goes_on =
            format!("still running after 20 s, no output so far, in the background, as task {id};");
        assert!(text(&reply).contains(&goes_on), "{reply}");
    }
}

#[test]
fn a_question_of_a_job_ends_the_wait_of_a_call_that_has_no_limit() {
    let members =
        json!({ "shell": "sleep 10; ask text; echo hi", "task": "never", "idempotencyKey": "k" });
    for client in [Client::Plain, Client::Tasks] {
        let mut tool = members.clone();
        for (name, value) in [("name", "t"), ("description", "d")] {
            tool[name] = value.into();
        }
        let config =
            json!({ "answerCommand": "b answer", "showCommand": "b show", "tools": [tool] });
        let mut host = Host::new(&config.to_string(), "user");
        let mut world = FakeWorld::new(1);
        let reply = ask(&mut host, &mut world, client);
        assert_eq!(world.clock, EPOCH + 30_000);
        let key = world.store.keys("task/")[0].to_owned();
        let id = key.trim_start_matches("task/");
        for part in [
            "waits for an answer: ",
            &format!("; a person answers it in a terminal by `b answer {id}`."),
            "Call `t` again with exactly the same arguments to wait for its result",
        ] {
            assert!(text(&reply).contains(part), "{part}: {reply}");
        }
        // As long as it is open, the same call is told so again, but not at once.
        let again = ask(&mut host, &mut world, client);
        assert_eq!(text(&again), text(&reply).replace("30 s", "1 min"));
        assert_eq!(world.clock, EPOCH + 60_000);
        assert_eq!(world.jobs.starts.len(), 1);
    }
}

#[test]
fn a_call_with_progress_is_told_of_a_question_at_the_next_look() {
    let mut world = FakeWorld::new(1);
    let members = json!({
        "shell": "sleep 10; ask text; echo hi", "task": "never", "idempotencyKey": "k",
    });
    let mut host = host(&members);
    let mut body = parse(&call(1, Client::Tasks, "t", &json!({})));
    body["params"]["_meta"]["progressToken"] = json!("p");
    let mut told_at = |world: &mut FakeWorld| {
        let messages = host.send(world, &body.to_string());
        assert!(messages.is_empty(), "{messages:?}");
        let reply = host.wait(world);
        assert!(text(&reply).contains("waits for an answer: "), "{reply}");
        world.clock
    };
    let first = told_at(&mut world);
    assert!(first <= EPOCH + 12_000, "{first}");
    // Made again, it waits as long as one without progress does.
    for again in 1..3 {
        assert_eq!(told_at(&mut world), first + again * 30_000);
    }
}

#[test]
fn no_timer_has_to_run_for_ever() {
    let mut world = FakeWorld::new(1);
    let mut host = host(&json!({ "shell": "sleep 100000", "task": "never" }));
    host.send(&mut world, &call(1, Client::Tasks, "t", &json!({})));
    for look in 1..5 {
        let pending = &host.pending["1"];
        assert_eq!(pending.deadline, EPOCH + look * 30_000);
        assert_eq!(pending.jobs.len(), 1);
        world.clock = pending.deadline;
        assert!(host.wake(&mut world).is_empty());
    }
}

#[test]
fn a_server_that_ends_answers_even_a_call_that_waits_for_ever() {
    let mut world = FakeWorld::new(1);
    let mut host = host(&json!({ "shell": "sleep 100000", "task": "never" }));
    host.send(&mut world, &call(1, Client::Tasks, "t", &json!({})));
    let replies = host.resume(&mut world, "1", Wake::Shutdown);
    assert!(
        replies[0].contains("Do not call `t` again to get its result"),
        "{}",
        replies[0]
    );
}

#[test]
fn a_call_waits_as_long_as_its_tool_says() {
    let mut world = FakeWorld::new(1);
    let members = json!({ "shell": "sleep 60; echo [1]", "syncLimitSeconds": 2.5, "idempotencyKey": "k", "output": "json" });
    let mut limited = host(&members);
    let reply = ask(&mut limited, &mut world, Client::Plain);
    assert_eq!(world.clock, EPOCH + 2_500);
    assert_eq!(reply["result"]["isError"], false);
    let said = text(&reply);
    for part in [
        "still running after 2.5 s",
        "Call `t` again with exactly the same arguments to wait up to 2.5 s more for its result; it is not started a \
         second time.",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    world.clock += 57_500;
    let reply = ask(&mut limited, &mut world, Client::Plain);
    // That it is an earlier call's is told beside the output.
    let content = &reply["result"]["content"];
    assert_eq!(content[0], json!({ "type": "text", "text": "[1]" }));
    assert_eq!(content.as_array().map(Vec::len), Some(2), "{reply}");
    assert_eq!(world.jobs.starts.len(), 1);
}

#[test]
fn a_result_that_is_not_there_yet_breaks_no_output_schema() {
    let mut world = FakeWorld::new(1);
    let members =
        json!({ "shell": "sleep 60", "output": "json", "outputSchema": { "type": "array" } });
    let reply = ask(&mut host(&members), &mut world, Client::Plain);
    assert_eq!(reply["result"]["isError"], true);
    assert!(
        reply["result"].get("structuredContent").is_none(),
        "{reply}"
    );
}

/// A server with two tools whose calls are the same where they have the same `a`.
fn keyed_host() -> Host {
    let schema = json!({ "type": "object", "properties": { "a": {}, "b": {} } });
    let tool = |name: &str| {
        json!({
            "name": name, "description": "d", "program": ["sleep", "9", ["{b}"]], "inputSchema": schema,
            "idempotencyKey": "deploy-{a}", "task": "required",
        })
    };
    let config = json!({ "tools": [tool("t"), tool("u")], "directLimitMs": 0 });
    Host::new(&config.to_string(), "user")
}

/// The ids of the tasks that calls with these arguments get, in this order.
fn tasks(world: &mut FakeWorld, host: &mut Host, calls: &[(&str, Value)]) -> Vec<String> {
    let mut ids = Vec::new();
    for (tool, arguments) in calls {
        let reply = host.ask(world, &call(1, Client::Tasks, tool, arguments));
        ids.push(task(&reply).to_owned());
    }
    ids
}

/// A server with a tool that has a key and these members, which was started in this directory.
fn keyed_in(directory: Option<&str>, members: &Value) -> Host {
    let mut tool = json!({
        "name": "t", "description": "d", "shell": "sleep 9", "idempotencyKey": "k", "task": "required",
    });
    for (name, value) in members.as_object().expect("members") {
        tool[name] = value.clone();
    }
    let mut config = json!({ "tools": [tool], "directLimitMs": 0 });
    if let Some(directory) = directory {
        config["workingDirectory"] = directory.into();
    }
    Host::new(&config.to_string(), "user")
}

#[test]
fn a_key_of_a_tool_without_a_directory_is_not_for_two_projects() {
    let mut world = FakeWorld::new(1);
    let mut one = keyed_in(Some("/one"), &json!({}));
    let first = ask(&mut one, &mut world, Client::Tasks);
    let again = ask(
        &mut keyed_in(Some("/one"), &json!({})),
        &mut world,
        Client::Tasks,
    );
    assert_eq!(task(&again), task(&first));
    let other = ask(
        &mut keyed_in(Some("/other"), &json!({})),
        &mut world,
        Client::Tasks,
    );
    assert_eq!(other["result"]["isError"], true, "{other}");
    for part in [
        "its directory is \"/one\"",
        "this server's own, \"/other\"",
        "or have a `cwd` named in the configuration of the tool",
    ] {
        assert!(text(&other).contains(part), "{part}: {other}");
    }
    // There is none that it could give.
    assert!(!text(&other).contains("use other arguments"), "{other}");
    assert_eq!(world.jobs.starts.len(), 1);
}

#[test]
fn a_key_stands_for_its_task_where_a_directory_is_not_known_or_is_configured() {
    let named = |directory: &str| json!({ "cwd": directory });
    for (before, after) in [
        (
            keyed_in(None, &json!({})),
            keyed_in(Some("/other"), &json!({})),
        ),
        (
            keyed_in(Some("/one"), &json!({})),
            keyed_in(None, &json!({})),
        ),
        (
            keyed_in(Some("/one"), &named("/x")),
            keyed_in(Some("/other"), &named("/x")),
        ),
        // What a configuration says may be something else by now.
        (
            keyed_in(Some("/one"), &named("/x")),
            keyed_in(Some("/one"), &named("/y")),
        ),
        (
            keyed_in(Some("/one"), &named("/x")),
            keyed_in(Some("/one"), &json!({})),
        ),
        (
            keyed_in(Some("/one"), &json!({})),
            keyed_in(Some("/one"), &named("/y")),
        ),
    ] {
        let mut world = FakeWorld::new(1);
        let [mut before, mut after] = [before, after];
        let first = ask(&mut before, &mut world, Client::Tasks);
        let second = ask(&mut after, &mut world, Client::Tasks);
        assert_eq!(task(&second), task(&first));
    }
}

#[test]
fn a_key_stands_for_its_task_however_an_earlier_version_spelt_the_program() {
    let host = |program: &str| {
        let tool = json!({
            "name": "t", "description": "d", "program": [program, "a"], "idempotencyKey": "k",
        });
        let config = json!({ "baseDirectory": "/base", "directLimitMs": 0, "tools": [tool] });
        Host::new(&config.to_string(), "user")
    };
    for (recorded, is_same) in [
        ("/base/./x.sh", true),
        ("/base//./x.sh", true),
        // Behind a link it may be another one.
        ("/base/y/../x.sh", false),
        ("/base/y.sh", false),
        ("x.sh", false),
    ] {
        let mut world = FakeWorld::new(1);
        let first = ask(&mut host("./x.sh"), &mut world, Client::Tasks);
        let key = format!("task/{}", task(&first));
        let record = world.store.value(&key).expect("it is recorded").to_owned();
        let earlier = record.replace("/base/x.sh", recorded);
        assert_ne!(earlier, record);
        world.store.put(&key, &earlier);
        let second = ask(&mut host("./x.sh"), &mut world, Client::Tasks);
        let id = &second["result"]["taskId"];
        assert_eq!(
            *id == first["result"]["taskId"],
            is_same,
            "{recorded}: {second}"
        );
        assert_eq!(world.jobs.starts.len(), 1);
    }
}

#[test]
fn calls_whose_key_is_the_same_text_are_the_same_call() {
    let mut world = FakeWorld::new(1);
    let mut host = keyed_host();
    let ids = tasks(
        &mut world,
        &mut host,
        &[
            ("t", json!({ "a": 1 })),
            ("t", json!({ "a": "1" })),
            ("t", json!({ "a": 2 })),
            ("u", json!({ "a": 1 })),
        ],
    );
    assert_eq!(ids[0], ids[1]);
    assert!(
        ids[0] != ids[2] && ids[0] != ids[3] && ids[2] != ids[3],
        "{ids:?}"
    );
    let body = call(1, Client::Tasks, "t", &json!({ "a": 1, "b": "other" }));
    let reply = host.ask(&mut world, &body);
    assert!(
        text(&reply).contains("\"deploy-1\", which is made of the arguments, already stands"),
        "{reply}"
    );
}

#[test]
fn without_its_argument_there_is_no_key_and_run_has_keys_of_its_own() {
    let mut world = FakeWorld::new(1);
    let mut host = keyed_host();
    let ids = tasks(
        &mut world,
        &mut host,
        &[
            ("t", json!({})),
            ("t", json!({})),
            ("t", json!({ "a": 1 })),
            (
                "run",
                json!({ "command": "sleep 9", "idempotencyKey": "deploy-1" }),
            ),
        ],
    );
    assert_ne!(ids[0], ids[1]);
    assert_eq!(world.jobs.starts.len(), 4);
}

#[test]
fn a_key_stands_for_its_task_whatever_else_is_configured_meanwhile() {
    let mut world = FakeWorld::new(1);
    let key = json!({ "shell": "sleep 9", "idempotencyKey": "k", "task": "required" });
    let first = ask(&mut host(&key), &mut world, Client::Tasks);
    let mut later = key.clone();
    later["timeoutSeconds"] = json!(5);
    later["label"] = json!("another");
    later["cwd"] = json!("/tmp");
    let second = ask(&mut host(&later), &mut world, Client::Tasks);
    assert_eq!(task(&first), task(&second));
}

#[test]
fn an_expired_task_gives_its_key_back() {
    let mut world = FakeWorld::new(1);
    let mut host = host(
        &json!({ "shell": "true", "idempotencyKey": "k", "task": "required", "ttlSeconds": 60 }),
    );
    let first = task(&ask(&mut host, &mut world, Client::Tasks)).to_owned();
    world.clock += 60_000;
    let now = world.clock;
    host.server.sweep(&mut world, now);
    assert!(world.store.keys("toolkey/").is_empty());
    assert_ne!(task(&ask(&mut host, &mut world, Client::Tasks)), first);
}

#[test]
fn a_result_does_not_depend_on_the_server_that_reads_it() {
    let members = json!({
        "shell": "sleep 10; echo [1]", "output": "json", "outputSchema": { "type": "array", "maxItems": 1 },
        "task": "required",
    });
    for config in [
        json!({}),
        json!({ "run": { "enabled": false } }),
        json!({ "tools": [{ "name": "t", "description": "d", "shell": "true", "task": "never" }] }),
    ] {
        let mut world = FakeWorld::new(1);
        let id = task(&ask(&mut host(&members), &mut world, Client::Tasks)).to_owned();
        world.clock += 10_000;
        let mut other = Host::new(&config.to_string(), "user");
        let reply = other.get(&mut world, &id);
        assert_eq!(
            reply["result"]["result"]["structuredContent"],
            json!([1]),
            "{reply}"
        );
    }
}

#[test]
fn a_cancelled_task_has_no_result() {
    let mut world = FakeWorld::new(1);
    let mut host =
        host(&json!({ "shell": "echo hi; sleep 60", "output": "json", "task": "required" }));
    let id = task(&ask(&mut host, &mut world, Client::Tasks)).to_owned();
    host.ask(&mut world, &about(2, "tasks/cancel", &id));
    let reply = host.get(&mut world, &id);
    assert_eq!(reply["result"]["status"], "cancelled", "{reply}");
    assert!(reply["result"].get("result").is_none());
}

#[test]
fn a_call_whose_job_is_cancelled_is_told_as_one_of_run() {
    let mut world = FakeWorld::new(1);
    let mut host = host(&json!({ "shell": "echo hi; sleep 60", "output": "json" }));
    host.send(&mut world, &call(1, Client::Plain, "t", &json!({})));
    let id = world.store.keys("task/")[0]
        .trim_start_matches("task/")
        .to_owned();
    host.ask(&mut world, &about(2, "tasks/cancel", &id));
    let reply = host.wait(&mut world);
    assert_eq!(reply["result"]["isError"], true);
    assert!(
        reply["result"].get("structuredContent").is_none(),
        "{reply}"
    );
    assert!(
        text(&reply).starts_with("cancelled after") && text(&reply).ends_with("\n\nhi"),
        "{reply}"
    );
}

/// A server with a tool `t` whose calls have a key, made of `a`, and that runs this line.
fn keyed(line: &str, more: &Value) -> Host {
    let mut tool = json!({
        "shell": line, "idempotencyKey": "{a}", "inputSchema": { "type": "object", "properties": { "a": {} } },
    });
    for (name, value) in more.as_object().expect("members") {
        tool[name] = value.clone();
    }
    host(&tool)
}

fn keyed_call(client: Client) -> String {
    call(1, client, "t", &json!({ "a": "x" }))
}

/// Sees that a reply about a tool has these words, and names no argument of `run`.
fn check_words(reply: &Value, words: &str) {
    let said = reply.to_string();
    assert!(said.contains(words), "{words}: {said}");
    for name in ["idempotencyKey", "timeoutSeconds", "`cwd`"] {
        assert!(!said.contains(name), "{name}: {said}");
    }
}

#[test]
fn what_is_said_of_a_repeated_call_names_no_argument_of_run() {
    let earlier = "the earlier call with the same key, which is made of the arguments,";
    let mut world = FakeWorld::new(1);
    let mut host = keyed("sleep 9", &json!({ "task": "required" }));
    host.ask(&mut world, &keyed_call(Client::Tasks));
    let again = host.ask(&mut world, &keyed_call(Client::Tasks));
    check_words(&again, &format!("{earlier} started the job"));
    let mut host = keyed("sleep 9", &json!({}));
    let again = host.ask(&mut world, &keyed_call(Client::Tasks));
    check_words(&again, &format!("{earlier} started the job"));
    let mut world = FakeWorld::new(1);
    let mut host = keyed("exit 3", &json!({}));
    host.ask(&mut world, &keyed_call(Client::Plain));
    let again = host.ask(&mut world, &keyed_call(Client::Plain));
    check_words(&again, &format!("This is the result of {earlier}"));
    check_words(&again, "To run it again, use other arguments.");
    let mut world = FakeWorld::new(1);
    let mut host = keyed("lose", &json!({}));
    let first = host.ask(&mut world, &keyed_call(Client::Plain));
    check_words(
        &first,
        "before you call the tool again, with other arguments",
    );
    let again = host.ask(&mut world, &keyed_call(Client::Plain));
    check_words(&again, "The earlier call with the same key");
}

#[test]
fn what_is_said_of_a_job_without_a_result_names_no_argument_of_run() {
    let mut world = FakeWorld::new(1);
    let mut host = keyed("sleep 9", &json!({ "task": "required" }));
    let id = task(&host.ask(&mut world, &keyed_call(Client::Tasks))).to_owned();
    let now = world.clock;
    world.jobs.stop_because(now, &id, StopCause::ShutDown);
    check_words(&host.get(&mut world, &id), "before you call the tool again");
    let mut world = FakeWorld::new(1);
    let mut host = keyed("true", &json!({ "cwd": "/missing" }));
    let reply = host.ask(&mut world, &keyed_call(Client::Plain));
    check_words(
        &reply,
        "have it corrected in the server's configuration of the tool, then call again\"",
    );
    let mut world = FakeWorld::new(1);
    // key, commit, start, and what takes it back
    world.faults.fill_disk(2);
    let reply = keyed("true", &json!({})).ask(&mut world, &keyed_call(Client::Plain));
    check_words(
        &reply,
        "then call again with other arguments, as these stand for this task now",
    );
    let mut host = keyed("sleep 9", &json!({ "ttlSeconds": 1 }));
    let mut world = FakeWorld::new(1);
    host.send(&mut world, &keyed_call(Client::Plain));
    check_words(&host.wait(&mut world), "the task's time to live has passed");
}

#[test]
fn what_is_said_of_a_key_that_cannot_be_used_names_no_argument_of_run() {
    let stopping = json!({ "ttlSeconds": 60 });
    for ends in [false, true] {
        let mut world = FakeWorld::new(1);
        let mut host = keyed("trap; sleep 9000", &stopping);
        host.ask(&mut world, &keyed_call(Client::Tasks));
        world.clock = EPOCH + 60_000;
        assert!(host.send(&mut world, &keyed_call(Client::Plain)).is_empty());
        let replies = if ends {
            host.resume(&mut world, "1", Wake::Shutdown)
        } else {
            host.skew_ms = 10_000;
            host.wake(&mut world)
        };
        check_words(
            &parse(&replies[0]),
            "is still being stopped; call again later\"",
        );
    }
    let mut world = FakeWorld::new(1);
    let body = call(
        1,
        Client::Plain,
        "t",
        &json!({ "a": "\u{1f600}".repeat(200) }),
    );
    let reply = keyed("true", &json!({})).ask(&mut world, &body);
    check_words(&reply, "which is made of the arguments, is too long");
}
