//! Commands that a person has to confirm: who is asked what, and that nothing runs without a fresh yes.

#[allow(
    dead_code,
    reason = "each test binary uses its own part of the fake world"
)]
mod support;

use backburner_core::Server;
use serde_json::{Value, json};

use support::host::parse;
use support::messages::{Client, about, request, run, with_elicitation};
use support::world::EPOCH;
use support::{FakeWorld, Host};

const CONFIG: &str = r#"{
    "terminals": true,
    "directLimitMs": 0,
    "confirm": [{ "pattern": "rm ... -*r* ...", "reason": "it deletes directories" }]
}"#;

const TEN_MINUTES_MS: u64 = 600_000;

/// Arguments whose command has to be confirmed.
fn removal() -> Value {
    json!({ "command": "rm -r x; sleep 60", "cwd": "/tmp", "label": "clean" })
}

fn host() -> Host {
    Host::new(CONFIG, "user")
}

/// A call by a client that can ask its person, with these members beside name and arguments.
fn call(arguments: &Value, more: &Value) -> String {
    let body = with_elicitation(&run(1, Client::Tasks, arguments), &json!({}));
    let mut body = parse(&body);
    for (name, value) in more.as_object().expect("an object") {
        body["params"][name] = value.clone();
    }
    body.to_string()
}

/// What a client sends whose person answered.
fn answered(state: &str, response: &Value) -> Value {
    json!({ "requestState": state, "inputResponses": { "confirm": response } })
}

fn yes() -> Value {
    json!({ "action": "accept", "content": { "confirm": true } })
}

/// The state of the first round of a call.
fn asked(world: &mut FakeWorld, host: &mut Host, arguments: &Value) -> String {
    let reply = host.ask(world, &call(arguments, &json!({})));
    state(&reply)
}

/// The state in a reply that asks.
fn state(reply: &Value) -> String {
    assert_eq!(reply["result"]["resultType"], "input_required", "{reply}");
    let state = reply["result"]["requestState"].as_str();
    state.expect("it has a state").to_owned()
}

fn is_task(reply: &Value) -> bool {
    reply["result"]["resultType"] == "task"
}

/// Asserts that a call was refused with a tool error that says this, and nothing was run.
fn assert_refused(world: &FakeWorld, reply: &Value, words: &str) {
    assert_eq!(reply["result"]["resultType"], "complete", "{reply}");
    assert_eq!(reply["result"]["isError"], true, "{reply}");
    assert!(reply.to_string().contains(words), "{words}: {reply}");
    assert!(world.jobs.starts.is_empty(), "{reply}");
}

/// Asserts that a call was refused since its state is not accepted.
fn assert_rejected(reply: &Value, words: &str) {
    assert_eq!(reply["error"]["code"], -32602, "{reply}");
    assert!(reply.to_string().contains(words), "{words}: {reply}");
    assert!(
        reply.to_string().contains("without `requestState`"),
        "{reply}"
    );
}

#[test]
fn a_command_that_a_rule_names_is_asked_for_and_not_run() {
    let mut world = FakeWorld::new(1);
    let reply = host().ask(&mut world, &call(&removal(), &json!({})));
    let mut result = reply["result"].clone();
    assert!(result["requestState"].take().is_string());
    let text = "May this command be run? A rule asks for it: it deletes directories\n\n    \
        rm -r x; sleep 60\n\nDirectory: /tmp\nLabel: clean";
    let expect = json!({
        "resultType": "input_required",
        "requestState": null,
        "inputRequests": { "confirm": {
            "method": "elicitation/create",
            "params": { "mode": "form", "message": text, "requestedSchema": {
                "type": "object",
                "properties": { "confirm": { "type": "boolean", "title": "Run this command" } },
                "required": ["confirm"],
            } },
        } },
        "_meta": result["_meta"],
    });
    assert_eq!(result, expect);
    assert!(world.jobs.starts.is_empty());
    assert_eq!(world.store.keys(""), ["secret/request-state"]);
}

#[test]
fn a_variable_that_has_something_run_is_asked_for_with_its_value() {
    let mut world = FakeWorld::new(1);
    let mut environment = json!({
        "GIT_EDITOR": format!("cat {} | rm -r", "x".repeat(400)), "SECRET": "s3cr3t", "PAGER": "less\nrm -r",
        "GIT_CONFIG_KEY_0": "core.pager", "GIT_CONFIG_VALUE_0": "rm -r /home",
    });
    for number in 10..40 {
        environment[format!("APP_SETTING_NUMBER_{number}")] = json!("value");
    }
    let arguments = json!({ "command": "git commit", "env": environment });
    let reply = host().ask(&mut world, &call(&arguments, &json!({})));
    let question = &reply["result"]["inputRequests"]["confirm"]["params"]["message"];
    let question = question.as_str().expect("it asks");
    for shown in [
        "Variable that has something run:\n    GIT_EDITOR='cat xxx",
        "xxx | rm -r'\n",
        "Variable that has something run:\n    PAGER='less\n    rm -r'\n",
        "Variable that has something run:\n    GIT_CONFIG_VALUE_0='rm -r /home'\n",
        "Variables: APP_SETTING_NUMBER_10, ",
    ] {
        assert!(question.contains(shown), "{shown}: {question}");
    }
    assert!(!question.contains("s3cr3t"), "{question}");
    assert!(world.jobs.starts.is_empty());
}

#[test]
fn what_was_confirmed_runs_as_any_task() {
    let mut world = FakeWorld::new(1);
    let mut host = host();
    let state = asked(&mut world, &mut host, &removal());
    let reply = host.ask(&mut world, &call(&removal(), &answered(&state, &yes())));
    assert!(is_task(&reply), "{reply}");
    assert_eq!(reply["result"].get("requestState"), None);
    assert_eq!(reply["result"].get("inputRequests"), None);
    assert_eq!(world.jobs.starts.len(), 1);
    let id = reply["result"]["taskId"].as_str().expect("an id");
    let record = world
        .store
        .value(&format!("task/{id}"))
        .expect("it is recorded");
    assert!(
        record.contains(&format!("\"confirmedAt\":{EPOCH}")),
        "{record}"
    );
    world.clock += 61_000;
    let reply = host.get(&mut world, id);
    assert_eq!(reply["result"]["status"], "completed", "{reply}");
}

#[test]
fn a_client_without_tasks_waits_for_what_was_confirmed() {
    let mut world = FakeWorld::new(1);
    let mut host = host();
    let arguments = json!({ "command": "rm -r x; echo gone" });
    let plain = |more: &Value| {
        let body = call(&arguments, more);
        let mut body = parse(&body);
        let meta = &mut body["params"]["_meta"];
        meta["io.modelcontextprotocol/clientCapabilities"] =
            json!({ "elicitation": { "form": {} } });
        body.to_string()
    };
    let reply = host.ask(&mut world, &plain(&json!({})));
    let reply = host.ask(&mut world, &plain(&answered(&state(&reply), &yes())));
    assert_eq!(reply["result"]["resultType"], "complete");
    assert_eq!(reply["result"]["isError"], false, "{reply}");
    assert!(reply.to_string().contains("gone"), "{reply}");
}

#[test]
fn what_no_rule_names_is_not_asked_for() {
    let mut world = FakeWorld::new(1);
    let arguments = json!({ "command": "rm x; sleep 60" });
    let reply = host().ask(&mut world, &call(&arguments, &json!({})));
    assert!(is_task(&reply), "{reply}");
    let without_rules =
        Host::new(r#"{"directLimitMs":0}"#, "user").ask(&mut world, &call(&removal(), &json!({})));
    assert!(is_task(&without_rules), "{without_rules}");
    assert!(world.store.keys("secret/").is_empty());
}

#[test]
fn a_person_sees_all_that_decides_what_runs() {
    let question = |arguments: &Value| {
        let reply = host().ask(&mut FakeWorld::new(1), &call(arguments, &json!({})));
        let params = &reply["result"]["inputRequests"]["confirm"]["params"];
        params["message"]
            .as_str()
            .unwrap_or_else(|| panic!("{reply}"))
            .to_owned()
    };
    let check = |arguments: Value, words: &[&str]| {
        let text = question(&arguments);
        for word in words {
            assert!(text.contains(word), "{word}: {text}");
        }
        assert!(text.chars().count() < 4_000);
        text
    };
    check(
        json!({ "command": "rm -r x" }),
        &["\n\n    rm -r x\n\n", "Directory: the server's own"],
    );
    let program = json!({ "command": "rm", "args": ["-r", "a b", "it's", ""] });
    check(program, &["\n\n    rm -r 'a b' 'it'\\''s' ''\n\n"]);
    let hidden = json!({ "command": "rm -r x # \u{202e}\u{1b}[8m" });
    check(hidden, &["rm -r x # \\u202e\\u001b[8m"]);
    let surroundings = json!({ "command": "rm -r x", "env": { "KEY": "secret" }, "stdin": "abc" });
    let text = check(surroundings, &["Variables: KEY", "Standard input: 3 bytes"]);
    assert!(!text.contains("secret"), "{text}");
    let long = json!({ "command": format!("rm -r {}; last", "x".repeat(10_000)) });
    check(long, &["rm -r xx", "characters are not shown", "x; last\n"]);
    let doubtful = json!({ "command": "$x" });
    check(
        doubtful,
        &[
            "cannot be told for certain",
            "only known when it runs",
            "deletes directories",
        ],
    );
}

#[test]
fn who_does_not_say_yes_runs_nothing() {
    for (response, words) in [
        (json!({ "action": "decline" }), "said no"),
        (
            json!({ "action": "accept", "content": { "confirm": false } }),
            "said no",
        ),
        (json!({ "action": "cancel" }), "gave no answer"),
    ] {
        let mut world = FakeWorld::new(1);
        let mut host = host();
        let state = asked(&mut world, &mut host, &removal());
        let reply = host.ask(&mut world, &call(&removal(), &answered(&state, &response)));
        assert_refused(&world, &reply, words);
    }
}

#[test]
fn a_client_that_cannot_ask_is_told_how_a_person_can_go_on() {
    let config = CONFIG.replacen('{', r#"{"runCommand":"backburner run","#, 1);
    for elicitation in [json!(null), json!(true), json!({ "url": {} }), json!([])] {
        let mut world = FakeWorld::new(1);
        let body = run(1, Client::Tasks, &removal());
        let body = with_elicitation(&body, &elicitation);
        let reply = Host::new(&config, "user").ask(&mut world, &body);
        assert_refused(&world, &reply, "it deletes directories");
        assert_refused(
            &world,
            &reply,
            "in a terminal: with `backburner run` and the command",
        );
        assert!(world.store.keys("").is_empty());
    }
    let mut world = FakeWorld::new(1);
    let reply = host().ask(&mut world, &run(1, Client::Plain, &removal()));
    assert_refused(&world, &reply, "in a terminal, where nobody is asked");
}

#[test]
fn a_client_that_can_no_longer_ask_still_brings_the_answer() {
    let mut world = FakeWorld::new(1);
    let mut host = host();
    let state = asked(&mut world, &mut host, &removal());
    let body = call(&removal(), &answered(&state, &yes()));
    let body = with_elicitation(&body, &json!(null));
    assert!(is_task(&host.ask(&mut world, &body)));
}

#[test]
fn what_does_not_answer_is_asked_again() {
    let responses = [
        json!({}),
        json!({ "other": yes() }),
        json!({ "confirm": 12345 }),
        json!({ "confirm": null }),
        json!({ "confirm": {} }),
        json!({ "confirm": { "action": "accept" } }),
        json!({ "confirm": { "action": "accept", "content": { "confirm": "true" } } }),
        json!({ "confirm": { "action": "perhaps", "content": { "confirm": true } } }),
        json!({ "confirm": { "roots": [] } }),
    ];
    for responses in responses {
        let mut world = FakeWorld::new(1);
        let mut host = host();
        let first = asked(&mut world, &mut host, &removal());
        let more = json!({ "requestState": first, "inputResponses": responses });
        let reply = host.ask(&mut world, &call(&removal(), &more));
        let second = state(&reply);
        assert!(world.jobs.starts.is_empty());
        let reply = host.ask(&mut world, &call(&removal(), &answered(&second, &yes())));
        assert!(is_task(&reply), "{responses}: {reply}");
    }
}

#[test]
fn what_is_more_than_an_answer_is_ignored() {
    let mut world = FakeWorld::new(1);
    let mut host = host();
    let state = asked(&mut world, &mut host, &removal());
    let mut response = yes();
    response["content"]["more"] = json!([1, 2]);
    let mut more = answered(&state, &response);
    more["inputResponses"]["unknown"] = json!("what");
    assert!(is_task(&host.ask(&mut world, &call(&removal(), &more))));
}

#[test]
fn malformed_parameters_are_errors() {
    let mut world = FakeWorld::new(1);
    for more in [
        json!({ "inputResponses": null }),
        json!({ "inputResponses": [] }),
        json!({ "inputResponses": "confirm" }),
        json!({ "inputResponses": 1 }),
        json!({ "requestState": null }),
        json!({ "requestState": {} }),
    ] {
        let reply = host().ask(&mut world, &call(&removal(), &more));
        assert_eq!(reply["error"]["code"], -32602, "{more}: {reply}");
    }
    let twice = call(&removal(), &json!({ "inputResponses": {} }));
    let twice = twice.replacen(
        r#""inputResponses":{}"#,
        r#""inputResponses":{},"inputResponses":{}"#,
        1,
    );
    let reply = host().ask(&mut world, &twice);
    assert_eq!(reply["error"]["code"], -32602, "{reply}");
    let twice = call(&removal(), &json!({ "inputResponses": { "A": 1, "B": 2 } }));
    let twice = twice.replace("\"B\":2", "\"A\":2");
    let reply = host().ask(&mut world, &twice);
    assert!(reply.to_string().contains("has `A` twice"), "{reply}");
    assert!(world.store.keys("").is_empty());
}

#[test]
fn a_yes_to_what_nobody_asked_is_none() {
    let mut world = FakeWorld::new(1);
    let mut host = host();
    let more = json!({ "inputResponses": { "confirm": yes() } });
    state(&host.ask(&mut world, &call(&removal(), &more)));
    assert!(world.jobs.starts.is_empty());
}

#[test]
fn a_yes_to_another_question_is_none() {
    let mut world = FakeWorld::new(1);
    let first = asked(&mut world, &mut host(), &removal());
    let config = CONFIG.replace("it deletes directories", "never do this");
    let mut other = Host::new(&config, "user");
    let reply = other.ask(&mut world, &call(&removal(), &answered(&first, &yes())));
    let second = state(&reply);
    assert!(reply.to_string().contains("never do this"), "{reply}");
    assert!(world.jobs.starts.is_empty());
    let reply = other.ask(&mut world, &call(&removal(), &answered(&second, &yes())));
    assert!(is_task(&reply), "{reply}");
}

#[test]
fn a_state_that_was_changed_is_rejected_wherever_that_was() {
    let mut world = FakeWorld::new(1);
    let mut host = host();
    let state = asked(&mut world, &mut host, &removal());
    for place in 0..state.len() {
        let mut bytes = state.clone().into_bytes();
        bytes[place] = if bytes[place] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(bytes).expect("ASCII");
        let reply = host.ask(&mut world, &call(&removal(), &answered(&changed, &yes())));
        assert_rejected(&reply, "was changed");
    }
    let shorter = &state[..state.len() - 1];
    for changed in [
        &format!("{state}-TAMPERED"),
        &format!("{state}A"),
        shorter,
        "",
        ".",
    ] {
        let reply = host.ask(&mut world, &call(&removal(), &answered(changed, &yes())));
        assert_rejected(&reply, "was changed");
    }
    assert!(world.jobs.starts.is_empty());
    let reply = host.ask(&mut world, &call(&removal(), &answered(&state, &yes())));
    assert!(is_task(&reply), "{reply}");
}

#[test]
fn a_bad_state_is_rejected_also_where_nothing_has_to_be_confirmed() {
    let mut world = FakeWorld::new(1);
    let arguments = json!({ "command": "true" });
    let reply = host().ask(
        &mut world,
        &call(&arguments, &json!({ "requestState": "x.y" })),
    );
    assert_rejected(&reply, "is not one that this server gave");
    assert!(world.store.keys("").is_empty());
}

#[test]
fn a_state_is_for_one_caller_and_one_call() {
    let mut world = FakeWorld::new(1);
    let state = asked(&mut world, &mut host(), &removal());
    let more = answered(&state, &yes());
    let mut other = Host::new(CONFIG, "other");
    assert_rejected(
        &other.ask(&mut world, &call(&removal(), &more)),
        "another caller",
    );
    for (member, value) in [
        ("command", json!("rm -r y; sleep 60")),
        ("cwd", json!("/")),
        ("label", json!("other")),
        ("env", json!({ "A": "1" })),
        ("stdin", json!("x")),
        ("interactive", json!(true)),
        ("timeoutSeconds", json!(1)),
        ("idempotencyKey", json!("k")),
    ] {
        let mut arguments = removal();
        arguments[member] = value;
        let reply = host().ask(&mut world, &call(&arguments, &more));
        assert_rejected(&reply, "other arguments");
    }
    assert!(world.jobs.starts.is_empty());
    let reordered = call(&removal(), &more).replacen(
        r#""arguments":{"#,
        r#""arguments" : { "label" : "clean", "stdin" : null, "#,
        1,
    );
    assert_rejected(
        &host().ask(&mut world, &reordered.replace(r#","label":"clean""#, "")),
        "other arguments",
    );
    let reordered = reordered.replace(r#""stdin" : null, "#, "");
    let reply = host().ask(&mut world, &reordered.replace(r#","label":"clean""#, ""));
    assert!(is_task(&reply), "{reply}");
}

#[test]
fn a_state_expires_after_ten_minutes() {
    let mut world = FakeWorld::new(1);
    let mut host = host();
    let state = asked(&mut world, &mut host, &removal());
    let body = call(&removal(), &answered(&state, &yes()));
    world.clock += TEN_MINUTES_MS;
    assert_rejected(&host.ask(&mut world, &body), "has expired");
    assert!(world.jobs.starts.is_empty());
    world.clock -= 1;
    assert!(is_task(&host.ask(&mut world, &body)));
}

#[test]
fn a_clock_that_is_set_back_makes_no_state_younger() {
    let mut world = FakeWorld::new(1);
    let mut host = host();
    let state = asked(&mut world, &mut host, &removal());
    let body = call(&removal(), &answered(&state, &yes()));
    host.skew_ms = -60_001;
    assert_rejected(&host.ask(&mut world, &body), "has expired");
    host.skew_ms = -60_000;
    assert!(is_task(&host.ask(&mut world, &body)));
}

#[test]
fn all_rounds_together_end_after_an_hour() {
    let mut world = FakeWorld::new(1);
    let mut host = host();
    let mut latest = asked(&mut world, &mut host, &removal());
    for _ in 0..6 {
        world.clock += TEN_MINUTES_MS - 1;
        let bad = answered(&latest, &json!({ "action": "accept" }));
        latest = state(&host.ask(&mut world, &call(&removal(), &bad)));
    }
    let body = call(&removal(), &answered(&latest, &yes()));
    world.clock = EPOCH + 6 * TEN_MINUTES_MS;
    assert_rejected(&host.ask(&mut world, &body), "has expired");
    world.clock -= 1;
    assert!(is_task(&host.ask(&mut world, &body)));
}

#[test]
fn any_server_of_the_store_takes_up_what_another_one_asked() {
    let mut world = FakeWorld::new(1);
    let state = asked(&mut world, &mut host(), &removal());
    let reply = host().ask(&mut world, &call(&removal(), &answered(&state, &yes())));
    assert!(is_task(&reply), "{reply}");
    let mut elsewhere = FakeWorld::new(2);
    asked(&mut elsewhere, &mut host(), &removal());
    let reply = host().ask(&mut elsewhere, &call(&removal(), &answered(&state, &yes())));
    assert_rejected(&reply, "is not one that this server gave");
    assert!(elsewhere.jobs.starts.is_empty());
}

#[test]
fn a_model_is_told_that_there_are_rules() {
    let told = |config: &str| {
        let body = request(1, Client::Plain, "server/discover", json!({}));
        let reply = Host::new(config, "user").ask(&mut FakeWorld::new(1), &body);
        reply["result"]["instructions"]
            .to_string()
            .contains("confirmed")
    };
    assert!(told(CONFIG));
    assert!(!told("{}"));
}

#[test]
fn a_wrong_policy_is_refused_with_its_place() {
    let config = r#"{"confirm":[{"pattern":"rm","reason":"r"},{"pattern":"","reason":"r"}]}"#;
    let error = Server::configure(config).expect_err("a pattern is empty");
    assert!(error.to_string().contains("/confirm/1/pattern"), "{error}");
}

#[test]
fn a_yes_is_for_the_directory_of_the_server_that_asked() {
    let at = |directory: &str| {
        let mut config = parse(CONFIG);
        config["workingDirectory"] = json!(directory);
        Host::new(&config.to_string(), "user")
    };
    let mut world = FakeWorld::new(1);
    let removal = json!({ "command": "rm -r x" });
    let reply = at("/one").ask(&mut world, &call(&removal, &json!({})));
    assert!(reply.to_string().contains("Directory: /one\""), "{reply}");
    let confirmed = call(&removal, &answered(&state(&reply), &yes()));
    let elsewhere = at("/other").ask(&mut world, &confirmed);
    assert!(
        elsewhere.to_string().contains("Directory: /other\""),
        "{elsewhere}"
    );
    assert!(world.jobs.starts.is_empty());
    let there = at("/one").ask(&mut world, &confirmed);
    assert!(is_task(&there), "{there}");
    let id = there["result"]["taskId"].as_str().expect("an id");
    let record = world.store.value(&format!("task/{id}"));
    let record = record.expect("it is recorded");
    assert!(record.contains(r#""directory":"/one""#), "{record}");
}

#[test]
fn tasks_show_nothing_of_the_rounds() {
    let mut world = FakeWorld::new(1);
    let mut host = host();
    let state = asked(&mut world, &mut host, &removal());
    let reply = host.ask(&mut world, &call(&removal(), &answered(&state, &yes())));
    let id = reply["result"]["taskId"].as_str().expect("an id");
    let reply = host.ask(
        &mut world,
        &with_elicitation(&about(2, "tasks/get", id), &json!({})),
    );
    assert_eq!(reply["result"]["status"], "working");
    assert!(!reply.to_string().contains("requestState"), "{reply}");
    assert!(!reply.to_string().contains("inputRequests"), "{reply}");
}
