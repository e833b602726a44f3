//! Configurations of tools that are refused: where, and in which words.

use backburner_core::Server;
use serde_json::{Value, json};

/// The configuration is refused at this place, in words with this part.
fn check(config: &Value, at: &str, reason: &str) {
    let error = Server::configure(&config.to_string()).expect_err("a wrong configuration");
    assert_eq!(error.at, at, "{error} of {config}");
    assert!(error.reason.contains(reason), "{reason}: {error}");
}

/// The tool is refused at this place below it.
fn check_tool(members: &Value, at: &str, reason: &str) {
    let tool = tool(members);
    check(
        &json!({ "tools": [{ "name": "first", "description": "d", "shell": "x" }, tool] }),
        &format!("/tools/1{at}"),
        reason,
    );
}

/// A tool with these members, without those that are `null`, and what else it has to have.
fn tool(members: &Value) -> Value {
    let mut tool = json!({ "name": "t", "description": "d", "shell": "true" });
    for (name, value) in members.as_object().expect("members") {
        match value {
            Value::Null => tool.as_object_mut().expect("a tool").remove(name),
            value => tool
                .as_object_mut()
                .expect("a tool")
                .insert(name.clone(), value.clone()),
        };
    }
    tool
}

/// A tool that runs this program with an argument `a`.
fn program(program: &Value) -> Value {
    let schema = json!({ "type": "object", "properties": { "a": {} } });
    json!({ "shell": null, "program": program, "inputSchema": schema })
}

#[test]
fn the_whole_has_a_form() {
    check(&json!([]), "", "object");
    check(&json!({ "tool": [] }), "/tool", "`tools`");
    check(&json!({ "tools": {} }), "/tools", "array");
    check(&json!({ "tools": ["x"] }), "/tools/0", "object");
    check(
        &json!({ "baseDirectory": "x" }),
        "/baseDirectory",
        "absolute",
    );
    check(&json!({ "terminals": "x" }), "/terminals", "true or false");
    check(
        &json!({ "workingDirectory": "x" }),
        "/workingDirectory",
        "absolute",
    );
    check(
        &json!({ "run": { "cwd": "x" } }),
        "/run/cwd",
        "baseDirectory",
    );
    check(
        &json!({ "run": { "a/b~c": 1 } }),
        "/run/a~1b~0c",
        "`enabled`",
    );
}

#[test]
fn a_name_is_there_once() {
    check_tool(&json!({ "name": null }), "", "`name` is missing");
    check_tool(&json!({ "name": "first" }), "/name", "taken");
    check_tool(&json!({ "name": "run" }), "/name", "`run`");
    for name in [
        json!(""),
        json!("a b"),
        json!("ä"),
        json!("x".repeat(129)),
        json!(1),
    ] {
        check_tool(&json!({ "name": name }), "/name", "1 to 128");
    }
    let run = json!({ "tools": [tool(&json!({ "name": "run" }))], "run": { "enabled": false } });
    assert!(Server::configure(&run.to_string()).is_ok());
    let longest = tool(&json!({ "name": format!("A-z_0.{}", "x".repeat(122)) }));
    assert!(Server::configure(&json!({ "tools": [longest] }).to_string()).is_ok());
}

#[test]
fn a_tool_describes_itself() {
    check_tool(
        &json!({ "description": null }),
        "",
        "`description` is missing",
    );
    check_tool(&json!({ "description": " " }), "/description", "empty");
    check_tool(&json!({ "title": 1 }), "/title", "string");
    check_tool(
        &json!({ "descripton": "d" }),
        "/descripton",
        "`description`",
    );
    check_tool(
        &json!({ "annotations": { "readOnly": true } }),
        "/annotations/readOnly",
        "`readOnlyHint`",
    );
    check_tool(
        &json!({ "annotations": { "readOnlyHint": 1 } }),
        "/annotations/readOnlyHint",
        "true or false",
    );
}

#[test]
fn a_tool_has_one_command() {
    check_tool(
        &json!({ "shell": null }),
        "",
        "neither `program` nor `shell`",
    );
    check_tool(&json!({ "program": ["x"] }), "/shell", "`program`");
    check_tool(&json!({ "shell": "" }), "/shell", "empty");
    check_tool(&program(&json!("x")), "/program", "array");
    check_tool(&program(&json!([])), "/program", "begin with a program");
    check_tool(
        &program(&json!(["{a}"])),
        "/program/0",
        "no argument decides",
    );
    check_tool(&program(&json!([["x"]])), "/program/0", "string");
    check_tool(&program(&json!(["./x"])), "/program/0", "baseDirectory");
    check_tool(&program(&json!(["x", 1])), "/program/1", "string");
    check_tool(
        &program(&json!(["x", ["y", ["z"]]])),
        "/program/1/1",
        "string",
    );
}

#[test]
fn a_placeholder_names_an_argument() {
    check_tool(
        &program(&json!(["x", "{b}"])),
        "/program/1",
        "no property `b`",
    );
    check_tool(&program(&json!(["x", ["y", "{a"]])), "/program/1/1", "`{{`");
    check_tool(&json!({ "env": { "X": "{b}" } }), "/env/X", "`{b}`");
    check_tool(&json!({ "stdin": "}" }), "/stdin", "`}}`");
    check_tool(&json!({ "label": "{b}" }), "/label", "`{b}`");
    check_tool(
        &json!({ "idempotencyKey": "{b}" }),
        "/idempotencyKey",
        "`{b}`",
    );
}

#[test]
fn what_the_command_gets_can_be_given() {
    check_tool(
        &json!({ "env": { "A=B": "x" } }),
        "/env/A=B",
        "name of a variable",
    );
    check_tool(&json!({ "env": { "A": 1 } }), "/env/A", "string");
    check_tool(&json!({ "env": [] }), "/env", "object");
    check_tool(&json!({ "cwd": "x" }), "/cwd", "baseDirectory");
    check_tool(&json!({ "stdin": "\0" }), "/stdin", "NUL");
}

#[test]
fn numbers_are_in_range() {
    check_tool(
        &json!({ "timeoutSeconds": 0 }),
        "/timeoutSeconds",
        "above 0 and at most 2678400",
    );
    check_tool(
        &json!({ "ttlSeconds": 0.9 }),
        "/ttlSeconds",
        "from 1 to 31536000",
    );
    check_tool(
        &json!({ "graceSeconds": 601 }),
        "/graceSeconds",
        "from 0 to 600",
    );
    check_tool(
        &json!({ "syncLimitSeconds": "1" }),
        "/syncLimitSeconds",
        "from 0 to 3600",
    );
    check_tool(
        &json!({ "outputLimitBytes": 1 }),
        "/outputLimitBytes",
        "from 4096 to 1099511627776",
    );
    check_tool(&json!({ "task": "sometimes" }), "/task", "\"required\"");
}

#[test]
fn a_schema_is_one_of_an_object() {
    let schema = |schema: Value| json!({ "inputSchema": schema });
    check_tool(&schema(json!(true)), "/inputSchema", "JSON Schema");
    check_tool(&schema(json!({})), "/inputSchema", "`type` \"object\"");
    check_tool(&schema(json!("{")), "/inputSchema", "has to be JSON");
    check_tool(&schema(json!("[]")), "/inputSchema", "JSON Schema");
    let wrong = json!({ "type": "object", "properties": { "a": { "minimum": "1" } } });
    check_tool(
        &schema(wrong.clone()),
        "/inputSchema/properties/a/minimum",
        "a number",
    );
    check_tool(
        &schema(json!(wrong.to_string())),
        "/inputSchema",
        "at /properties/a/minimum: ",
    );
    let pattern = json!({ "type": "object", "properties": { "a": { "pattern": "(?=x)" } } });
    check_tool(
        &schema(pattern),
        "/inputSchema/properties/a/pattern",
        "regular expression",
    );
    for url in ["https://example.com/x.json", "file:///etc/x.json", "x.json"] {
        let reference = json!({ "type": "object", "properties": { "a": { "$ref": url } } });
        check_tool(
            &schema(reference),
            "/inputSchema/properties/a/$ref",
            "nothing is loaded from elsewhere",
        );
    }
}

#[test]
fn an_output_has_a_form() {
    let output = |output: Value| json!({ "output": output });
    check_tool(&output(json!("xml")), "/output", "\"json\"");
    check_tool(&output(json!(1)), "/output", "\"json\"");
    check_tool(&output(json!("image")), "/output", "mimeType");
    check_tool(
        &output(json!({ "type": "image" })),
        "/output",
        "`mimeType` is missing",
    );
    check_tool(
        &output(json!({ "type": "video", "mimeType": "video/mp4" })),
        "/output/type",
        "\"audio\"",
    );
    check_tool(
        &output(json!({ "type": "image", "mimeType": "png" })),
        "/output/mimeType",
        "MIME type",
    );
    check_tool(
        &output(json!({ "type": "image", "mimeType": "image/png", "uri": "x:y" })),
        "/output/uri",
        "resource",
    );
    check_tool(
        &output(json!({ "type": "resource", "mimeType": "text/plain" })),
        "/output",
        "`uri` is missing",
    );
}

#[test]
fn a_resource_always_has_a_name() {
    let check_uri = |uri: &str, at: &str, reason: &str| {
        let output = json!({ "type": "resource", "mimeType": "text/plain", "uri": uri });
        let properties = json!({ "a": {}, "b": {} });
        let schema = json!({ "type": "object", "properties": properties, "required": ["a"] });
        check_tool(
            &json!({ "output": output, "inputSchema": schema }),
            at,
            reason,
        );
    };
    check_uri("x:{b}", "/output/uri", "`required`");
    check_uri("x:{c}", "/output/uri", "no property `c`");
    check_uri("{a}", "/output/uri", "scheme");
    check_uri("no scheme", "/output/uri", "scheme");
}

#[test]
fn an_output_schema_is_for_what_is_structured() {
    let with = |output: &str, schema: Value| json!({ "output": output, "outputSchema": schema });
    check_tool(
        &with("text", json!({ "type": "array" })),
        "/outputSchema",
        "\"json\" or \"content\"",
    );
    check_tool(&with("json", json!(7)), "/outputSchema", "JSON Schema");
    check_tool(
        &with("json", json!({ "type": "arry" })),
        "/outputSchema/type",
        "one of \"null\"",
    );
}

#[test]
fn what_is_described_twice_is_not_described() {
    let twice = r#"{"type":"object","properties":{"a":{"type":"string"},"a":{}}}"#;
    for member in ["inputSchema", "outputSchema"] {
        check_tool(
            &json!({ member: twice, "output": "json" }),
            &format!("/{member}"),
            "`properties.a` twice",
        );
    }
    let tool = tool(&json!({ "inputSchema": "SCHEMA" })).to_string();
    let config = format!("{{\"tools\":[{}]}}", tool.replace("\"SCHEMA\"", twice));
    let error = Server::configure(&config).expect_err("a wrong configuration");
    let expect = "`tools[0].inputSchema.properties.a` twice";
    assert!(error.reason.contains(expect), "{error}");
}

#[test]
fn a_terminal_is_for_text_and_for_hosts_that_have_some() {
    let interactive = |value: Value| json!({ "interactive": value });
    check_tool(&interactive(json!("yes")), "/interactive", "true or false");
    check_tool(
        &interactive(json!(true)),
        "/interactive",
        "this host does not have",
    );
    let image = json!({ "type": "image", "mimeType": "image/png" });
    for output in [json!("json"), json!("content"), image] {
        let tool = json!({ "interactive": true, "output": output });
        check_tool(&tool, "/interactive", "\"text\" only");
    }
    let tool = tool(&interactive(json!(true)));
    let off = json!({ "terminals": false, "tools": [tool] });
    check(&off, "/tools/0/interactive", "`terminals` is false");
    let config = json!({ "terminals": true, "tools": [tool] });
    Server::configure(&config.to_string()).expect("it is right");
}
