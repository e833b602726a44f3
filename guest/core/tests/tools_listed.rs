//! Which tools there are, and what a client is told of them.

#[allow(
    dead_code,
    reason = "each test binary uses its own part of the fake world"
)]
mod support;

use serde_json::{Value, json};

use support::messages::{Client, request};
use support::tools::{Place, tool};
use support::{FakeWorld, Host};

/// The tools that a server with this configuration lists.
fn listed(config: &Value) -> Value {
    let mut place = Place::configured(config);
    let body = request(1, Client::Plain, "tools/list", json!({}));
    place.host.ask(&mut place.world, &body)["result"]["tools"].take()
}

#[test]
fn tools_are_listed_behind_run_in_their_order() {
    let tools = json!([
        { "name": "b", "description": "Does b.", "shell": "true" },
        { "name": "a", "description": "Does a.", "shell": "true" },
    ]);
    let names = |config: &Value| {
        let listed = listed(config);
        let names = listed.as_array().expect("a list").iter();
        names
            .map(|tool| tool["name"].as_str().expect("a name").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&json!({ "tools": tools })), ["run", "b", "a"]);
    assert_eq!(
        names(&json!({ "tools": tools, "run": { "enabled": false } })),
        ["b", "a"]
    );
    assert_eq!(names(&json!({ "run": { "enabled": false } })), [""; 0]);
    assert_eq!(names(&json!({ "run": {} })), ["run"]);
}

#[test]
fn a_tool_is_listed_as_it_was_described() {
    let tool = json!({
        "name": "t", "title": "T", "description": "A tool.", "shell": "true", "output": "json",
        "annotations": { "title": "T", "readOnlyHint": true, "openWorldHint": false },
        "inputSchema": { "type": "object", "properties": { "b": { "x-mcp-header": "B", "type": "string" } } },
        "outputSchema": { "type": "array" },
    });
    let mut expect = tool.clone();
    for own in ["shell", "output"] {
        expect.as_object_mut().expect("a tool").remove(own);
    }
    assert_eq!(listed(&json!({ "tools": [tool] }))[1], expect);
    let bare = json!({ "name": "t", "description": "A tool.", "shell": "true" });
    let expect = json!({
        "name": "t", "description": "A tool.", "inputSchema": { "type": "object", "additionalProperties": false },
    });
    assert_eq!(listed(&json!({ "tools": [bare] }))[1], expect);
}

#[test]
fn schemas_are_listed_verbatim_on_one_line() {
    let schema = "{\n  \"type\": \"object\",\n  \"properties\": { \"z\": { \"maximum\": 1.50 }, \"a\": {} }\n}";
    let line = r#"{"type":"object","properties":{"z":{"maximum":1.50},"a":{}}}"#;
    let config = |schema: &str| {
        format!(
            r#"{{"tools": [{{"name": "t", "description": "d", "shell": "true", "inputSchema": {schema}}}]}}"#
        )
    };
    for config in [config(schema), config(&json!(schema).to_string())] {
        let mut world = FakeWorld::new(1);
        let body = request(1, Client::Plain, "tools/list", json!({}));
        let replies = Host::new(&config, "user").send(&mut world, &body);
        assert!(replies[0].contains(line), "{}", replies[0]);
    }
}

#[test]
fn a_tool_that_does_not_exist_is_an_error_with_the_list() {
    let mut place = Place::new(&json!([tool(&json!({ "shell": "true" }))]));
    let reply = place.reply(Client::Plain, "run", &json!({ "command": "true" }));
    assert_eq!(reply["error"]["code"], -32602, "{reply}");
    assert_eq!(
        reply["error"]["message"],
        "unknown tool: run, the tools are: t"
    );
    let none = Place::configured(&json!({ "run": { "enabled": false } })).reply(
        Client::Plain,
        "x",
        &json!({}),
    );
    assert_eq!(
        none["error"]["message"],
        "unknown tool: x, there are no tools"
    );
}

#[test]
fn run_is_bounded_and_says_so() {
    let config = json!({
        "baseDirectory": "/base", "configurationFile": "/base/b.toml",
        "run": { "cwd": "x", "directories": ["."], "maxTimeoutSeconds": 90, "ttlSeconds": 60 },
    });
    let listed = listed(&config);
    let properties = &listed[0]["inputSchema"]["properties"];
    assert_eq!(properties["timeoutSeconds"]["maximum"], 90);
    for (name, part) in [
        (
            "cwd",
            "Default: /base/x. It has to be one of these directories or below it: /base.",
        ),
        (
            "timeoutSeconds",
            "1 min 30 s at most. Default: after 1 min 30 s.",
        ),
        (
            "ttlSeconds",
            "from 1 second to 365 days. Default: after 1 min.",
        ),
    ] {
        let description = properties[name]["description"].as_str().expect("a text");
        assert!(description.contains(part), "{description}");
    }
    let mut place = Place::configured(&config);
    let text = place.refusal("run", &json!({ "command": "true", "cwd": "/" }));
    assert!(text.contains("`cwd` is \"/\""), "{text}");
    assert!(
        text.contains("as `run.directories` in /base/b.toml says"),
        "{text}"
    );
    assert_eq!(
        place.result("run", &json!({ "command": "true" }))["isError"],
        false
    );
}

#[test]
fn the_instructions_name_run_where_it_is() {
    let instructions = |config: &Value| {
        let mut place = Place::configured(config);
        let body = request(1, Client::Plain, "server/discover", json!({}));
        let reply = place.host.ask(&mut place.world, &body);
        reply["result"]["instructions"]
            .as_str()
            .expect("a text")
            .to_owned()
    };
    let tools = json!([tool(&json!({ "shell": "true" }))]);
    assert!(
        instructions(&json!({ "tools": tools }))
            .contains("the tool that is made for the work, and the tool `run`")
    );
    let without = instructions(&json!({ "tools": tools, "run": { "enabled": false } }));
    assert!(
        !without.contains("run`") && !without.contains("idempotencyKey"),
        "{without}"
    );
}
