//! What is and is not a message, and who may ask for what.

#[allow(
    dead_code,
    reason = "each test binary uses its own part of the fake world"
)]
mod support;

use backburner_core::{Refusal, Server, Wake};
use serde_json::{Value, json};

use support::host::parse;
use support::messages::{Client, TASKS, about, meta, request, run};
use support::{FakeWorld, Host};

/// Sends a message to a new server and compares a part of the reply: `id` and the error's code, or the
/// words that stand in for no reply.
fn check(body: &str, expect: &str) {
    let mut world = FakeWorld::new(1);
    let replies = Host::new("{}", "user").send(&mut world, body);
    let actual = match replies.as_slice() {
        [] => "nothing".to_owned(),
        [reply] => outline(&parse(reply)),
        _ => panic!("more than one reply: {replies:?}"),
    };
    assert_eq!(actual, expect, "{body}");
    assert_eq!(world.store.commits, 0, "{body}");
}

fn outline(reply: &Value) -> String {
    let id = reply.get("id").map_or("no id".to_owned(), Value::to_string);
    match reply["error"]["code"].as_i64() {
        Some(code) => format!("{id} {code}"),
        None => format!(
            "{id} {}",
            reply["result"]["resultType"]
                .as_str()
                .expect("a result type")
        ),
    }
}

/// The whole reply to a request.
fn reply(body: &str) -> Value {
    Host::new("{}", "user").ask(&mut FakeWorld::new(1), body)
}

#[test]
fn what_is_not_json_is_a_parse_error_without_id() {
    check("", "no id -32700");
    check("{", "no id -32700");
    check("nonsense", "no id -32700");
    check(r#"{"jsonrpc":"2.0","id":1,"method":"x"} x"#, "no id -32700");
    check("[1,", "no id -32700");
    check(r#"{"id":1,"id":2,"#, "no id -32700");
}

#[test]
fn what_is_no_request_is_an_invalid_request_with_its_id_where_readable() {
    check("[]", "no id -32600");
    check("5", "no id -32600");
    check(
        r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]"#,
        "no id -32600",
    );
    check(r#"{"jsonrpc":"1.0","id":1,"method":"x"}"#, "1 -32600");
    check(r#"{"id":"a","method":"x"}"#, "\"a\" -32600");
    check(r#"{"jsonrpc":"2.0","id":1}"#, "1 -32600");
    check(r#"{"jsonrpc":"2.0","id":1,"method":5}"#, "1 -32600");
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"x","params":[]}"#,
        "1 -32600",
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"x","params":null}"#,
        "1 -32600",
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}"#,
        "no id -32600",
    );
}

#[test]
fn an_id_is_a_string_or_an_integer() {
    for id in ["null", "1.5", "1.0", "true", "[]", "{}", "-0.5", "1e3"] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"x"}}"#);
        check(&body, "no id -32600");
    }
    check(
        r#"{"jsonrpc":"2.0","id":-7,"method":"initialize"}"#,
        "-7 -32601",
    );
    check(
        r#"{"jsonrpc":"2.0","id":18446744073709551615,"method":"initialize"}"#,
        "18446744073709551615 -32601",
    );
    check(
        r#"{"jsonrpc":"2.0","id":"","method":"initialize"}"#,
        "\"\" -32601",
    );
}

#[test]
fn an_integer_of_any_size_comes_back_as_it_was_sent() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new("{}", "user");
    let waits = run(1, Client::Plain, &json!({ "command": "sleep 60" }));
    let long = "9".repeat(400);
    for id in ["0", "-0", "9007199254740993", "-9223372036854775809", &long] {
        let under_id = |body: &str| body.replace(r#""id":1"#, &format!(r#""id":{id}"#));
        let expect = format!(r#""id":{id},"#);
        let list = under_id(&request(1, Client::Plain, "tools/list", json!({})));
        let reply = host.send(&mut world, &list).concat();
        assert!(reply.contains(&expect), "{id}: {reply}");
        let refused = Server::refuse(&list, Refusal::Trapped).expect("a request");
        assert!(refused.contains(&expect), "{refused}");
        // Kept in a ticket while the call waits, and named by a cancellation.
        let waits = under_id(&waits);
        assert!(host.send(&mut world, &waits).is_empty());
        let params = format!(r#"{{"requestId":{id}}}"#);
        let method = "notifications/cancelled";
        let cancel = format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#);
        host.send(&mut world, &cancel);
        assert!(host.pending.is_empty(), "{id}");
        host.send(&mut world, &waits);
        let reply = host.resume(&mut world, id, Wake::Deadline).concat();
        assert!(reply.contains(&expect), "{reply}");
    }
}

#[test]
fn notifications_and_responses_get_no_reply() {
    check(
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "nothing",
    );
    check(
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{}}"#,
        "nothing",
    );
    check(r#"{"jsonrpc":"2.0","method":"x","params":[1]}"#, "nothing");
    check(
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
        "nothing",
    );
    check(
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":null}}"#,
        "nothing",
    );
    check(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "nothing");
    check(r#"{"jsonrpc":"2.0","id":1,"result":null}"#, "nothing");
    check(
        r#"{"jsonrpc":"2.0","error":{"code":1,"message":""}}"#,
        "nothing",
    );
}

#[test]
fn deep_and_broken_json_in_parameters_is_answered() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let call = run(1, Client::Plain, &json!({ "command": "it" }));
    let list = request(1, Client::Plain, "tools/list", json!({ "it": "it" }));
    // All of it is JSON.
    for (value, why) in [
        (deep.as_str(), "recursion limit"),
        (r#""\ud800""#, "hex escape"),
        ("1e999", "number out of range"),
        (r#"{"a":[-1e999]}"#, "number out of range"),
    ] {
        let result = reply(&call.replace("\"it\"", value))["result"].take();
        assert_eq!(result["isError"], true, "{result}");
        let text = result["content"][0]["text"].to_string();
        let begin = "\"`command` cannot be read: ";
        assert!(text.starts_with(begin) && text.contains(why), "{text}");
        assert!(
            text.contains("Nothing was run") && !text.contains("column"),
            "{text}"
        );
        // Nobody asks for this one.
        check(&list.replace(":\"it\"", &format!(":{value}")), "1 complete");
    }
    check(&call.replace("command", r"\ud800"), "1 -32602");
    let meta = list.replace(
        r#"{"name":"test","version":"0"}"#,
        &format!(r#"{{"name":{deep}}}"#),
    );
    check(&meta, "1 complete");
    check(&list.replace("protocolVersion", r"\ud800"), "1 -32602");
    let nested = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{deep}}}"#);
    check(&nested, "1 -32600");
}

#[test]
fn a_place_is_named_in_the_message_and_not_in_a_part_of_it() {
    let message = |body: &str| reply(body)["error"]["message"].take().to_string();
    let whole = message(r#"{"jsonrpc":"2.0","id":1,,"method":"x"}"#);
    assert!(whole.contains("at line 1 column 25"), "{whole}");
    let call = run(1, Client::Tasks, &json!({ "command": "true" }));
    let twice = message(&call.replace(r#""name":"run""#, r#""name":"run","name":"run""#));
    assert!(twice.contains("duplicate field"), "{twice}");
    assert!(!twice.contains("column"), "{twice}");
}

#[test]
fn a_member_that_is_given_twice_is_refused_at_every_level_of_the_protocol() {
    let call = run(1, Client::Tasks, &json!({ "command": "true" }));
    let twice = |member: &str| call.replacen(member, &format!("{member},{member}"), 1);
    check(&twice(r#""method":"tools/call""#), "no id -32600");
    check(&twice(r#""jsonrpc":"2.0""#), "no id -32600");
    check(&twice(r#""name":"run""#), "1 -32602");
    check(&twice(r#""arguments":{"command":"true"}"#), "1 -32602");
    check(&twice(&format!(r#""{VERSION}":"2026-07-28""#)), "1 -32602");
    let meta = format!(r#""_meta":{}"#, meta(Client::Tasks));
    check(&twice(&meta), "1 -32602");
}

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const INFO: &str = "io.modelcontextprotocol/clientInfo";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// A `server/discover` whose `_meta` has this value under this key, or nothing there.
fn discover(key: &str, value: Option<Value>) -> String {
    let mut meta = meta(Client::Plain);
    match value {
        Some(value) => meta[key] = value,
        None => {
            meta.as_object_mut().expect("an object").remove(key);
        }
    }
    let params = json!({ "_meta": meta });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": params }).to_string()
}

#[test]
fn every_request_says_revision_and_capabilities() {
    check(&discover(INFO, None), "1 complete");
    for key in [VERSION, CAPABILITIES] {
        let reply = reply(&discover(key, None));
        assert_eq!(reply["error"]["code"], -32602);
        let message = reply["error"]["message"].as_str().expect("words");
        assert!(message.contains(key), "{message}");
    }
    let bare = json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover" });
    check(&bare.to_string(), "1 -32602");
    for params in [json!({}), json!({ "_meta": null }), json!({ "_meta": [] })] {
        let mut body = bare.clone();
        body["params"] = params;
        check(&body.to_string(), "1 -32602");
    }
}

#[test]
fn what_a_request_says_of_its_client_has_the_right_type() {
    check(&discover(VERSION, Some(json!(5))), "1 -32602");
    check(&discover(CAPABILITIES, Some(json!([]))), "1 -32602");
    check(
        &discover(CAPABILITIES, Some(json!({ "extensions": [] }))),
        "1 -32602",
    );
    check(&discover(INFO, Some(json!("me"))), "1 -32602");
    check(&discover(VERSION, Some(json!("2025-11-25"))), "1 -32022");
}

#[test]
fn another_revision_is_told_which_ones_there_are() {
    let body = request(1, Client::Plain, "tools/list", json!({})).replace("2026-07-28", "v999");
    assert_eq!(
        reply(&body)["error"]["data"],
        json!({ "supported": ["2026-07-28"], "requested": "v999" })
    );
}

#[test]
fn unknown_methods_are_unknown_whoever_asks() {
    for method in ["tasks/list", "tasks/result", "ping", "prompts/list", ""] {
        check(&request(1, Client::Tasks, method, json!({})), "1 -32601");
        check(&request(1, Client::Plain, method, json!({})), "1 -32601");
    }
    check(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "1 -32602");
}

#[test]
fn a_handshake_is_told_the_supported_revision() {
    let body = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
    let reply = reply(body);
    assert_eq!(reply["error"]["code"], -32601);
    assert!(
        reply["error"]["message"]
            .as_str()
            .expect("words")
            .contains("2026-07-28")
    );
}

#[test]
fn tasks_methods_need_the_extension_before_anything_else() {
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let reply = reply(&request(1, Client::Plain, method, json!({})));
        assert_eq!(reply["error"]["code"], -32021);
        assert_eq!(
            reply["error"]["data"],
            json!({ "requiredCapabilities": { "extensions": { TASKS: {} } } })
        );
        check(&request(1, Client::Tasks, method, json!({})), "1 -32602");
        check(
            &request(1, Client::Tasks, method, json!({ "taskId": 5 })),
            "1 -32602",
        );
    }
    let body = about(1, "tasks/get", "x").replace(
        r#""io.modelcontextprotocol/tasks":{}"#,
        r#""io.modelcontextprotocol/tasks":true"#,
    );
    check(&body, "1 -32021");
}

#[test]
fn the_instructions_say_how_this_server_is_configured() {
    let instructions = |config: &str| {
        let discover = request(1, Client::Plain, "server/discover", json!({}));
        let reply = Host::new(config, "user").ask(&mut FakeWorld::new(1), &discover);
        let text = reply["result"]["instructions"].as_str();
        text.expect("a text").to_owned()
    };
    let usual = instructions("{}");
    for part in [
        "Use the tool `run`",
        "With the Tasks extension a command that ends quickly is answered directly, and otherwise you get a task: poll",
        "Without it, the call waits up to 30 s for the result and then says how to go on.",
    ] {
        assert!(usual.contains(part), "{part}: {usual}");
    }
    let impatient = instructions(r#"{"directLimitMs":0,"syncLimitMs":0}"#);
    for part in [
        "With the Tasks extension you get a task: poll",
        "Without it, the call does not wait for the result and says how to go on.",
    ] {
        assert!(impatient.contains(part), "{part}: {impatient}");
    }
}

#[test]
fn discovery_tells_what_there_is() {
    let reply = reply(&request(1, Client::Plain, "server/discover", json!({})));
    let result = &reply["result"];
    assert_eq!(result["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(
        result["capabilities"],
        json!({ "tools": { "listChanged": true }, "extensions": { TASKS: {} } })
    );
    assert_eq!(result["cacheScope"], "public");
    assert!(result["ttlMs"].as_u64().is_some_and(|ttl| ttl > 0));
    assert_eq!(
        result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "backburner"
    );
}

#[test]
fn tools_are_on_one_page_and_always_the_same() {
    let list = request(1, Client::Plain, "tools/list", json!({}));
    let first = reply(&list);
    assert_eq!(first["result"]["tools"][0]["name"], "run");
    assert_eq!(first["result"]["tools"].as_array().map(Vec::len), Some(1));
    assert!(first["result"].get("nextCursor").is_none());
    assert_eq!(first, reply(&list));
    check(
        &request(1, Client::Plain, "tools/list", json!({ "cursor": null })),
        "1 complete",
    );
    check(
        &request(1, Client::Plain, "tools/list", json!({ "cursor": "" })),
        "1 -32602",
    );
}

#[test]
fn a_call_needs_a_known_tool_and_an_object_of_arguments() {
    let call = |params| request(1, Client::Tasks, "tools/call", params);
    check(&call(json!({})), "1 -32602");
    check(&call(json!({ "name": 5 })), "1 -32602");
    check(&call(json!({ "name": "run", "arguments": [] })), "1 -32602");
    check(
        &call(json!({ "name": "run", "arguments": "x" })),
        "1 -32602",
    );
    let reply = reply(&call(json!({ "name": "x" })));
    assert_eq!(
        reply["error"]["message"],
        "unknown tool: x, the tools are: run"
    );
    assert_eq!(reply["error"]["code"], -32602);
}

#[test]
fn what_a_client_wrote_is_repeated_in_one_line_and_without_what_nobody_sees() {
    let hidden = "a\n\u{202e}b";
    let member = json!({ (hidden): {} });
    let responses = json!({ "name": "run", "inputResponses": member });
    let responses = request(1, Client::Tasks, "tools/call", responses);
    let pair = member.to_string();
    let pair = pair
        .strip_prefix('{')
        .and_then(|pair| pair.strip_suffix('}'))
        .expect("an object");
    for body in [
        request(1, Client::Tasks, hidden, json!({})),
        request(1, Client::Tasks, "tools/call", json!({ "name": hidden })),
        discover(VERSION, Some(json!(hidden))),
        responses.replacen(pair, &format!("{pair},{pair}"), 1),
    ] {
        let message = reply(&body)["error"]["message"].take();
        let message = message
            .as_str()
            .unwrap_or_else(|| panic!("it is right: {body}"));
        assert!(message.contains(r"a\u000a\u202eb"), "{message}");
    }
}

#[test]
fn arguments_that_the_tool_refuses_are_a_result_for_the_model() {
    for arguments in [
        json!({}),
        json!({ "command": 5 }),
        json!({ "command": "true", "nonsense": 1 }),
    ] {
        let reply = reply(&run(1, Client::Tasks, &arguments));
        assert_eq!(reply["result"]["isError"], true, "{reply}");
        assert_eq!(reply["result"]["resultType"], "complete");
    }
}

/// Refuses a message and compares the reply as [`check`] does.
fn check_refusal(body: &str, why: Refusal, expect: &str) {
    let reply = Server::refuse(body, why).map(|reply| outline(&parse(&reply)));
    assert_eq!(reply.as_deref().unwrap_or("nothing"), expect, "{body}");
}

#[test]
fn a_refused_message_is_answered_under_its_id() {
    let trapped = |body: &str, expect| check_refusal(body, Refusal::Trapped, expect);
    trapped(
        r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":[{}]}}"#,
        "1 -32603",
    );
    trapped(r#"{"id":"a","method":5,"id":"b"}"#, "\"b\" -32603");
    trapped(r#"{"id":1,"params":{}}"#, "1 -32603");
    trapped(r#"{"id":null,"method":"x"}"#, "no id -32603");
    trapped("[[[", "no id -32603");
    let deep = "[".repeat(1 << 20) + &"]".repeat(1 << 20);
    trapped(
        &format!(r#"{{"id":3,"method":"x","params":{deep}}}"#),
        "3 -32603",
    );
    check_refusal("", Refusal::TooLarge, "no id -32600");
    // It may well be a JSON-RPC message, which nobody has read.
    let too_large = Server::refuse("", Refusal::TooLarge).expect("it is answered");
    let message = parse(&too_large)["error"]["message"].take();
    assert!(
        message
            .as_str()
            .is_some_and(|words| words.starts_with("the message is longer than")),
        "{message}"
    );
    check_refusal("", Refusal::NotUtf8, "no id -32700");
}

#[test]
fn a_refused_notification_or_response_gets_no_reply() {
    check_refusal(
        r#"{"method":"notifications/cancelled"}"#,
        Refusal::Trapped,
        "nothing",
    );
    check_refusal(r#"{"id":1,"result":{}}"#, Refusal::Trapped, "nothing");
    check_refusal(r#"{"id":1,"error":{}}"#, Refusal::TooLarge, "nothing");
}

#[test]
fn a_wrong_configuration_is_refused_by_name() {
    let check = |config: &str, expect: &str| {
        let error = Server::configure(config).expect_err(config).to_string();
        assert!(error.contains(expect), "{error}");
    };
    check("", "not JSON");
    check("[]", "object");
    check(
        r#"{"syncLimitMS":1}"#,
        "/syncLimitMS: there is no member `syncLimitMS` here, there are `syncLimitMs`",
    );
    check(r#"{"syncLimitMs":3600001}"#, "/syncLimitMs: ");
    check(r#"{"directLimitMs":-1}"#, "/directLimitMs: ");
    check(r#"{"graceMs":"5"}"#, "/graceMs: ");
    check(
        r#"{"outputLimitBytes":4095}"#,
        "/outputLimitBytes: has to be an integer from 4096",
    );
    for line in [r#""""#, r#""a\nb""#, "null", "1"] {
        check(&format!(r#"{{"showCommand":{line}}}"#), "/showCommand: ");
    }
    let full = r#"{"syncLimitMs":0,"directLimitMs":60000,"graceMs":0,"outputLimitBytes":1099511627776,
            "showCommand":"b show"}"#;
    assert!(Server::configure(full).is_ok());
}
