//! Tools of the configuration: how they are listed, what a call of them runs, and what it is answered with.

#[allow(
    dead_code,
    reason = "each test binary uses its own part of the fake world"
)]
mod support;

use serde_json::{Value, json};

use support::messages::{Client, call, request};
use support::{FakeWorld, Host};

/// A world, and a host of a server with these tools and no others.
struct Place {
    world: FakeWorld,
    host: Host,
}

impl Place {
    fn new(tools: &Value) -> Self {
        Self::configured(
            &json!({ "baseDirectory": "/base", "tools": tools, "run": { "enabled": false } }),
        )
    }

    fn configured(config: &Value) -> Self {
        Self {
            world: FakeWorld::new(1),
            host: Host::new(&config.to_string(), "user"),
        }
    }

    /// The whole reply to a call, however long that takes.
    fn reply(&mut self, client: Client, tool: &str, arguments: &Value) -> Value {
        let body = call(1, client, tool, arguments);
        self.host.ask(&mut self.world, &body)
    }

    /// The result of a call of a client without tasks.
    fn result(&mut self, tool: &str, arguments: &Value) -> Value {
        let mut reply = self.reply(Client::Plain, tool, arguments);
        assert!(reply.get("result").is_some(), "{reply}");
        reply["result"].take()
    }

    /// The text of a refusal, after making sure that nothing was run.
    fn refusal(&mut self, tool: &str, arguments: &Value) -> String {
        let result = self.result(tool, arguments);
        assert_eq!(result["isError"], true, "{result}");
        assert_eq!(self.world.jobs.starts.len(), 0, "{result}");
        let text = result["content"][0]["text"].as_str().expect("a text");
        text.to_owned()
    }

    /// What was recorded of the only task that there is.
    fn facts(&self) -> Value {
        let keys = self.world.store.keys("task/");
        let [key] = keys.as_slice() else {
            panic!("there are {keys:?}");
        };
        let record = self.world.store.value(key).expect("it was just listed");
        let record: Value = serde_json::from_str(record).expect("a record is JSON");
        record["task/2"]["facts"].clone()
    }
}

/// What a call with these arguments runs, of a tool that these members describe.
fn spec(members: &Value, arguments: &Value) -> Value {
    let mut place = Place::new(&json!([tool(members)]));
    let result = place.result("t", arguments);
    assert_eq!(result["isError"], false, "{result}");
    place.facts()["spec"].take()
}

/// A tool with these members, arguments `a`, `b` and `c` of any kind, and what else it has to have.
fn tool(members: &Value) -> Value {
    let mut tool = json!({
        "name": "t", "description": "A tool.",
        "inputSchema": { "type": "object", "properties": { "a": {}, "b": {}, "c": {} } },
    });
    for (name, value) in members.as_object().expect("members") {
        tool[name] = value.clone();
    }
    tool
}

/// The words that a call with these arguments runs.
fn words(program: &Value, arguments: &Value) -> Value {
    spec(&json!({ "program": program }), arguments)["command"]["program"].take()
}

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
fn arguments_are_words_wherever_they_stand() {
    let program = json!(["p", "-x", "{a}", "--b={b}", "{{a}}", "a b; c"]);
    let expect = json!(["p", "-x", "$(rm -rf /) 'x'", "--b=", "{a}", "a b; c"]);
    assert_eq!(
        words(&program, &json!({ "a": "$(rm -rf /) 'x'", "b": "" })),
        expect
    );
    let expect = json!(["p", "-x", "{b}", "--b=1.5", "{a}", "a b; c"]);
    assert_eq!(words(&program, &json!({ "a": "{b}", "b": 1.5 })), expect);
    assert_eq!(
        words(&json!(["p", "{}"]), &json!({ "b": [1], "a": "x\n" })),
        json!(["p", r#"{"a":"x\n","b":[1]}"#])
    );
    assert_eq!(
        words(&json!(["p", "{a}"]), &json!({ "a": { "k": true } })),
        json!(["p", r#"{"k":true}"#])
    );
}

#[test]
fn a_list_is_a_word_for_each_item_where_it_stands_alone() {
    let expect = json!([
        "p",
        "x y",
        "1",
        "{\"k\":null}",
        "-l",
        "[\"x y\",1,{\"k\":null}]"
    ]);
    let list = json!({ "a": ["x y", 1, { "k": null }] });
    assert_eq!(
        words(&json!(["p", "{a}", ["-l", "{a} "]]), &list)[5],
        "[\"x y\",1,{\"k\":null}] "
    );
    assert_eq!(
        words(
            &json!(["p", "{a}", "-l", "{a}{b}"]),
            &json!({ "a": list["a"], "b": "" })
        ),
        expect
    );
    assert_eq!(
        words(&json!(["p", "{a}"]), &json!({ "a": [] })),
        json!(["p"])
    );
    assert_eq!(
        words(&json!(["p", ["--", "{a}"]]), &json!({ "a": ["x", "y"] })),
        json!(["p", "--", "x", "y"])
    );
}

#[test]
fn what_has_an_absent_argument_is_left_out_whole() {
    let program = json!([
        "p",
        "{a}",
        "x={b}",
        ["-n", "{b}", "end"],
        ["-c", "{c}"],
        "{a}{b}",
        "last"
    ]);
    assert_eq!(
        words(&program, &json!({ "c": 1 })),
        json!(["p", "-c", "1", "last"])
    );
    assert_eq!(
        words(&program, &json!({ "a": null, "b": false })),
        json!(["p", "x=false", "-n", "false", "end", "last"])
    );
}

#[test]
fn a_shell_line_is_fixed() {
    let members = json!({
        "shell": "echo \"$A\" {a} {}", "env": { "A": "{a}!", "B": "{b}", "C": "c" }, "stdin": "<{a}>",
    });
    let spec = spec(&members, &json!({ "a": "`id`" }));
    assert_eq!(spec["command"], json!({ "shell": "echo \"$A\" {a} {}" }));
    assert_eq!(spec["environment"], json!([["A", "`id`!"], ["C", "c"]]));
    assert_eq!(spec["stdin"], "<`id`>");
}

#[test]
fn standard_input_is_empty_without_its_argument() {
    assert_eq!(
        spec(&json!({ "shell": "true", "stdin": "{a}" }), &json!({}))["stdin"],
        ""
    );
    assert_eq!(
        spec(
            &json!({ "shell": "true", "stdin": "{}" }),
            &json!({ "a": 1 })
        )["stdin"],
        "{\"a\":1}"
    );
}

#[test]
fn a_relative_path_begins_at_the_base_directory() {
    let check = |program: &str, expect: &str| {
        let spec = spec(&json!({ "program": [program], "cwd": "sub" }), &json!({}));
        assert_eq!(spec["command"]["program"], json!([expect]));
        assert_eq!(spec["directory"], "/base/sub");
    };
    check("make", "make");
    check("./x.sh", "/base/./x.sh");
    check("bin/x", "/base/bin/x");
    check("/bin/x", "/bin/x");
    assert_eq!(
        spec(&json!({ "shell": "true" }), &json!({}))["directory"],
        Value::Null
    );
}

#[test]
fn numbers_hold_for_every_call() {
    let members = json!({
        "shell": "true", "timeoutSeconds": 1.5, "ttlSeconds": 60, "graceSeconds": 0, "outputLimitBytes": 4096,
    });
    let spec_of = spec(&members, &json!({}));
    let numbers = ["timeoutMs", "lifetimeMs", "graceMs", "outputLimitBytes"]
        .map(|name| spec_of[name].clone());
    assert_eq!(numbers, [1_500, 60_000, 0, 4_096].map(Value::from));
    let spec_of = spec(&json!({ "shell": "true" }), &json!({}));
    let numbers = ["timeoutMs", "lifetimeMs", "graceMs", "outputLimitBytes"]
        .map(|name| spec_of[name].clone());
    assert_eq!(
        numbers,
        [Value::Null, Value::Null, json!(5_000), json!(67_108_864)]
    );
}

#[test]
fn a_task_is_called_by_its_label_or_by_its_tool() {
    let label = |label: &Value, arguments: &Value| {
        let mut place = Place::new(&json!([tool(&json!({ "shell": "true", "label": label }))]));
        place.result("t", arguments);
        place.facts()["label"].take()
    };
    assert_eq!(label(&json!("build {a}"), &json!({ "a": "x" })), "build x");
    assert_eq!(label(&json!("build {a}"), &json!({})), "t");
    assert_eq!(
        label(&json!("{a}"), &json!({ "a": " two\n lines\u{202e} " })),
        "two lines"
    );
    let long = label(&json!("{a}"), &json!({ "a": "x".repeat(500) }));
    assert_eq!(long.as_str().map(|it| it.chars().count()), Some(100));
}

#[test]
fn arguments_that_do_not_fit_are_named_and_nothing_is_run() {
    let schema = json!({
        "type": "object", "required": ["name"], "additionalProperties": false,
        "properties": {
            "name": { "type": "string", "maxLength": 3 },
            "size": { "enum": ["small", "large"] },
            "tags": { "items": { "type": "string" } },
        },
    });
    let tool = tool(&json!({ "shell": "true", "inputSchema": schema }));
    let mut place = Place::new(&json!([tool]));
    let text = place.refusal(
        "t",
        &json!({ "name": "much too long", "size": "huge", "tags": ["x", 2] }),
    );
    assert_eq!(
        text,
        "`name` is \"much too long\", it has to be at most 3 characters long, not 13; `size` is \"huge\", it has to be one \
         of \"small\", \"large\"; `tags[1]` is 2, it has to be a string. Nothing was run. Call `t` again with this \
         corrected."
    );
    let text = place.refusal("t", &json!({ "name": "x", "nam": 1 }));
    assert!(
        text.starts_with("there is no `nam`; the arguments are: name, size, tags. "),
        "{text}"
    );
    let text = place.refusal("t", &Value::Null);
    assert!(text.starts_with("`name` is missing. "), "{text}");
    let long = place.refusal("t", &json!({ "name": "x".repeat(100_000) }));
    assert!(long.len() < 300, "{long}");
    assert_eq!(place.result("t", &json!({ "name": "x" }))["isError"], false);
}

#[test]
fn a_tool_without_a_schema_has_no_arguments() {
    let mut place = Place::new(&json!([{ "name": "t", "description": "d", "shell": "true" }]));
    let text = place.refusal("t", &json!({ "x": 1 }));
    assert!(
        text.starts_with("there is no `x`; there are no arguments. "),
        "{text}"
    );
    assert_eq!(place.result("t", &json!({}))["isError"], false);
}

#[test]
fn null_is_absent_where_the_schema_does_not_allow_it() {
    let schema = json!({ "type": "object", "properties": { "a": { "type": "string" }, "b": { "type": "null" } } });
    let members = json!({ "program": ["p", ["-a", "{a}"], "{}"], "inputSchema": schema });
    let made = spec(&members, &json!({ "a": null }));
    assert_eq!(made["command"]["program"], json!(["p", "{}"]));
    let made = spec(&members, &json!({ "b": null }));
    assert_eq!(made["command"]["program"], json!(["p", "{\"b\":null}"]));
    let required =
        json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"] });
    let tool = tool(&json!({ "shell": "true", "inputSchema": required }));
    let text = Place::new(&json!([tool])).refusal("t", &json!({ "a": null }));
    assert!(
        text.starts_with("`a` is null, it has to be a string. "),
        "{text}"
    );
}

#[test]
fn what_no_program_takes_is_refused() {
    let mut place = Place::new(&json!([tool(
        &json!({ "program": ["p", "x{a}"], "env": { "B": "{b}" } })
    )]));
    let text = place.refusal("t", &json!({ "a": "\0" }));
    assert!(text.starts_with("`a` has a NUL character"), "{text}");
    let text = place.refusal("t", &json!({ "b": "\0" }));
    assert!(text.starts_with("`b` has a NUL character"), "{text}");
    let text = place.refusal("t", &json!({ "a": "x".repeat(128 * 1024) }));
    assert!(
        text.starts_with("`a` is 131073 bytes long, it has to be at most 131071"),
        "{text}"
    );
    let text = place.refusal("t", &json!({ "c": "x".repeat(600_000) }));
    assert!(
        text.starts_with("the arguments are 600002 bytes long"),
        "{text}"
    );
}

#[test]
fn an_argument_that_is_given_twice_is_refused() {
    let mut place = Place::new(&json!([tool(&json!({ "shell": "true" }))]));
    let body = call(1, Client::Plain, "t", &json!({ "a": "ARGUMENT" }))
        .replace("\"ARGUMENT\"", "1,\"a\":2");
    let reply = place.host.ask(&mut place.world, &body);
    assert!(reply.to_string().contains("`a` is given twice"), "{reply}");
    let body =
        call(1, Client::Plain, "t", &json!({ "a": "ARGUMENT" })).replace("\"ARGUMENT\"", "1e999");
    let reply = place.host.ask(&mut place.world, &body);
    assert!(reply.to_string().contains("`a` cannot be read"), "{reply}");
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
        "baseDirectory": "/base",
        "run": { "cwd": "x", "directories": ["."], "maxTimeoutSeconds": 90, "ttlSeconds": 60 },
    });
    let listed = listed(&config);
    let properties = &listed[0]["inputSchema"]["properties"];
    assert_eq!(properties["timeoutSeconds"]["maximum"], 90);
    for (name, part) in [
        (
            "cwd",
            "Default: /base/x. It has to be one of these directories or below it: /base/.",
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

#[test]
fn a_result_is_what_the_tool_says_that_it_is() {
    let result = |members: &Value| {
        let mut place = Place::new(&json!([tool(members)]));
        place.result("t", &json!({ "a": "x" }))
    };
    let text = result(&json!({ "shell": "echo hi" }));
    assert_eq!(text["content"], json!([{ "type": "text", "text": "hi" }]));
    assert!(text.get("structuredContent").is_none(), "{text}");
    let json = result(
        &json!({ "shell": "echo [1]", "output": "json", "outputSchema": { "type": "array" } }),
    );
    assert_eq!(json["structuredContent"], json!([1]));
    let content =
        result(&json!({ "shell": r#"echo [{"type":"text","text":"mine"}]"#, "output": "content" }));
    assert_eq!(
        content["content"],
        json!([{ "type": "text", "text": "mine" }])
    );
    let image = json!({ "type": "image", "mimeType": "image/png" });
    let image = result(&json!({ "shell": "echo hi", "output": image }));
    assert_eq!(
        image["content"],
        json!([{ "type": "image", "data": "aGkK", "mimeType": "image/png" }])
    );
    let uri = json!({ "type": "resource", "uri": "log:///{a}", "mimeType": "text/plain" });
    let schema = json!({ "type": "object", "properties": { "a": {} }, "required": ["a"] });
    let resource = result(&json!({ "shell": "echo hi", "output": uri, "inputSchema": schema }));
    let expect = json!({ "uri": "log:///x", "mimeType": "text/plain", "text": "hi\n" });
    assert_eq!(
        resource["content"],
        json!([{ "type": "resource", "resource": expect }])
    );
    let failed = result(&json!({ "shell": "echo hi; exit 3", "output": "json" }));
    assert_eq!(
        (&failed["isError"], failed.get("structuredContent")),
        (&json!(true), None)
    );
    assert_eq!(failed["content"][0]["text"], "exit code 3 after 0 ms\n\nhi");
}
