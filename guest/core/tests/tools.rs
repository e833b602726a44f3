//! Tools of the configuration: what a call of them runs, and what it is answered with.

#[allow(
    dead_code,
    reason = "each test binary uses its own part of the fake world"
)]
mod support;

use serde_json::{Value, json};

use support::messages::{Client, call};
use support::tools::{Place, tool};

/// What a call with these arguments runs, of a tool that these members describe.
fn spec(members: &Value, arguments: &Value) -> Value {
    let mut place = Place::new(&json!([tool(members)]));
    let result = place.result("t", arguments);
    assert_eq!(result["isError"], false, "{result}");
    place.facts()["spec"].take()
}

/// The words that a call with these arguments runs.
fn words(program: &Value, arguments: &Value) -> Value {
    spec(&json!({ "program": program }), arguments)["command"]["program"].take()
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

/// The words that a call runs whose argument `b` is this JSON.
fn words_as_written(program: &Value, json: &str) -> Value {
    let mut place = Place::new(&json!([tool(&json!({ "program": program }))]));
    let body = call(1, Client::Plain, "t", &json!({ "b": "ARGUMENT" }));
    let body = body.replace("\"ARGUMENT\"", json);
    place.host.ask(&mut place.world, &body);
    place.facts()["spec"]["command"]["program"].take()
}

#[test]
fn a_number_reaches_the_command_as_it_was_written() {
    let program = json!(["p", "{b}", "b={b}", "{}"]);
    for number in [
        "-0",
        "1.50",
        "1e2",
        "31.245270191439438",
        "0.1000000000000000055511151231257827",
        "123456789012345678901234567890",
    ] {
        let one = format!("b={number}");
        let all = format!("{{\"b\":{number}}}");
        let expect = json!(["p", number, one, all]);
        assert_eq!(words_as_written(&program, number), expect);
        let list = format!("[{number},\"x\"]");
        let all = format!("{{\"b\":{list}}}");
        let expect = json!(["p", number, "x", format!("b={list}"), all]);
        let written = format!("[ {number}, \"x\" ]");
        assert_eq!(words_as_written(&program, &written), expect);
    }
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
fn a_tool_may_have_a_terminal_where_there_are_some() {
    let recorded = |interactive: bool| {
        let tool = tool(&json!({ "shell": "true", "interactive": interactive }));
        let mut place = Place::configured(&json!({ "terminals": true, "tools": [tool] }));
        place.result("t", &json!({}));
        place.facts()["spec"]["interactive"].take()
    };
    // As the records of servers that knew no terminals have it.
    assert_eq!(recorded(false), Value::Null);
    assert_eq!(recorded(true), true);
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
    check("./x.sh", "/base/x.sh");
    check("bin/x", "/base/bin/x");
    check("/bin/x", "/bin/x");
    assert_eq!(
        spec(&json!({ "shell": "true" }), &json!({}))["directory"],
        Value::Null
    );
}

#[test]
fn what_names_no_directory_works_in_the_servers_own() {
    let check = |config: Value, tool: &str, arguments: &Value, expect: &str| {
        let mut config = config;
        config["workingDirectory"] = json!("/own");
        let mut place = Place::configured(&config);
        place.reply(Client::Tasks, tool, arguments);
        assert_eq!(place.facts()["spec"]["directory"], expect);
    };
    let line = json!({ "command": "true" });
    check(json!({}), "run", &line, "/own");
    let elsewhere = json!({ "command": "true", "cwd": "/else" });
    check(json!({}), "run", &elsewhere, "/else");
    check(json!({ "run": { "cwd": "/set" } }), "run", &line, "/set");
    let tools = |members: &Value| json!({ "tools": [tool(members)] });
    check(tools(&json!({ "shell": "true" })), "t", &json!({}), "/own");
    let placed = json!({ "shell": "true", "cwd": "/set" });
    check(tools(&placed), "t", &json!({}), "/set");
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
fn what_the_host_configures_is_the_grace_and_the_output_limit_of_every_job() {
    for (config, expect) in [
        (json!({}), [5_000, 67_108_864]),
        (
            json!({ "graceMs": 1, "outputLimitBytes": 4_096 }),
            [1, 4_096],
        ),
    ] {
        let mut config = config;
        config["tools"] = json!([tool(&json!({ "shell": "true" }))]);
        for (name, arguments) in [("run", json!({ "command": "true" })), ("t", json!({}))] {
            let mut place = Place::configured(&config);
            place.reply(Client::Tasks, name, &arguments);
            let spec = place.facts()["spec"].take();
            let numbers = ["graceMs", "outputLimitBytes"].map(|member| spec[member].clone());
            assert_eq!(numbers, expect.map(Value::from), "{name}");
        }
    }
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
    let body = call(1, Client::Plain, "t", &json!({ "c": "ARGUMENT" }))
        .replace("\"ARGUMENT\"", r#"[{"d":1,"e":{"d":2,"d":3}}]"#);
    let reply = place.host.ask(&mut place.world, &body);
    let expect = "`c[0].e.d` is given twice";
    assert!(reply.to_string().contains(expect), "{reply}");
    // As deep as a value is read, which is one level around it deeper than JSON is read as a whole.
    let deepest = format!(r#"{}{{"d":1,"d":2}}{}"#, "[".repeat(126), "]".repeat(126));
    let body = call(1, Client::Plain, "t", &json!({ "c": "ARGUMENT" }));
    let reply = |value: &str, place: &mut Place| {
        let body = body.replace("\"ARGUMENT\"", value);
        place.host.ask(&mut place.world, &body).to_string()
    };
    let refused = reply(&deepest, &mut place);
    assert!(refused.contains("is given twice"), "{refused}");
    let read = reply(&deepest.replacen("\"d\"", "\"e\"", 1), &mut place);
    assert!(!read.contains("cannot be read"), "{read}");
    let deeper = reply(&format!("[{deepest}]"), &mut place);
    assert!(deeper.contains("`c` cannot be read"), "{deeper}");
    let body =
        call(1, Client::Plain, "t", &json!({ "a": "ARGUMENT" })).replace("\"ARGUMENT\"", "1e999");
    let reply = place.host.ask(&mut place.world, &body);
    assert!(reply.to_string().contains("`a` cannot be read"), "{reply}");
    let body = call(1, Client::Plain, "t", &json!({ "b": "ARGUMENT" }))
        .replace("\"ARGUMENT\"", "1.00000000000000000001");
    let reply = place.host.ask(&mut place.world, &body);
    let expect = "`b` cannot be read: the number 1.00000000000000000001 has more digits";
    assert!(reply.to_string().contains(expect), "{reply}");
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

#[test]
fn what_an_argument_has_that_no_uri_may_have_is_percent_encoded_in_the_name_of_a_resource() {
    let uri = json!({ "type": "resource", "uri": "file:///{a}", "mimeType": "text/plain" });
    let schema = json!({ "type": "object", "properties": { "a": {} }, "required": ["a"] });
    let members = json!({ "shell": "echo hi", "output": uri, "inputSchema": schema });
    let mut place = Place::new(&json!([tool(&members)]));
    let result = place.result("t", &json!({ "a": "my dir/100% of it?.txt" }));
    let uri = &result["content"][0]["resource"]["uri"];
    assert_eq!(uri, "file:///my%20dir/100%25%20of%20it%3F.txt", "{result}");
}

#[test]
fn a_result_of_an_earlier_call_has_a_last_block_that_says_so() {
    let words = "This is the result of the earlier call with the same key, which is made of the arguments, started ";
    for (line, output) in [
        ("echo hi", "text"),
        (r#"echo {"n":1.50}"#, "json"),
        (r#"echo [{"type":"text","text":"mine"}]"#, "content"),
    ] {
        let members = json!({ "shell": line, "output": output, "idempotencyKey": "{a}" });
        let mut place = Place::new(&json!([tool(&members)]));
        let mut call = || place.result("t", &json!({ "a": "x" }));
        let (first, mut again) = (call(), call());
        let blocks = again["content"].as_array_mut().expect("an array");
        let last = blocks.pop().expect("it has one more");
        assert_eq!(last["type"], "text", "{line}");
        let said = last["text"].as_str().expect("a text");
        assert!(said.starts_with(words), "{line}: {said}");
        assert!(
            said.ends_with("To run it again, use other arguments."),
            "{said}"
        );
        assert_eq!(again, first, "{line}: all else is as it was");
        assert_eq!(place.world.jobs.starts.len(), 1, "{line}");
    }
}

#[test]
fn a_result_that_does_not_fit_beside_its_call_ends_the_task_all_the_same() {
    let text = "x".repeat(300_000);
    let printing = json!({
        "shell": format!("echo \"{text}\""), "stdin": "{a}", "output": "json", "task": "required",
    });
    let mut place = Place::new(&json!([tool(&printing)]));
    let reply = place.reply(Client::Tasks, "t", &json!({ "a": text }));
    let id = reply["result"]["taskId"].as_str().expect("a task");
    let first = place.host.get(&mut place.world, id);
    let task = &first["result"];
    assert_eq!(task["status"], "completed", "{first:.300}");
    assert_eq!(task["result"]["isError"], true);
    let said = task["result"]["content"][0]["text"].to_string();
    assert!(said.contains("its result cannot be kept"), "{said:.300}");
    assert_eq!(place.world.store.keys("live/"), Vec::<&str>::new());
    place.world.jobs.lose_files(place.world.clock, id);
    assert_eq!(place.host.get(&mut place.world, id), first);
}

#[test]
fn a_call_that_leaves_no_room_for_its_end_is_refused() {
    let repeating = json!({ "shell": "true", "stdin": "{a}{a}{a}" });
    let mut place = Place::new(&json!([tool(&repeating)]));
    let refused = place.refusal("t", &json!({ "a": "x".repeat(310_000) }));
    assert!(refused.contains("too long to be recorded"), "{refused}");
    assert_eq!(place.world.store.keys(""), Vec::<&str>::new());
    place.result("t", &json!({ "a": "x".repeat(290_000) }));
}

#[test]
fn all_arguments_together_fit_into_a_record() {
    let schema =
        json!({ "type": "object", "properties": { "stdin": { "maxLength": 1 }, "command": {} } });
    let config = json!({ "tools": [tool(&json!({ "shell": "true", "inputSchema": schema }))] });
    let mut place = Place::configured(&config);
    let fits = "x".repeat(524_288 - r#""cat""""#.len());
    let said = |bytes: usize| {
        format!(
            "the arguments are {bytes} bytes long as JSON, they have to be at most 524288 together"
        )
    };
    for (stdin, bytes) in [
        (format!("{fits}x"), 524_289),
        // Short as text, but not as JSON.
        ("\u{1}".repeat(100_000), 600_007),
    ] {
        // Before anything else is looked at.
        let arguments = json!({ "command": "cat", "stdin": stdin, "other": 1 });
        let bytes = bytes + 1;
        let refused = place.refusal("run", &arguments);
        let rest = "; write long input to a file and let the command read it. Nothing was run.";
        assert!(
            refused.starts_with(&format!("{}{rest}", said(bytes))),
            "{refused:.300}"
        );
        let refused = place.refusal("t", &arguments);
        assert!(
            refused.starts_with(&format!("{}. Nothing was run.", said(bytes))),
            "{refused:.300}"
        );
    }
    let refused = place.refusal("t", &json!({ "command": "cat", "stdin": fits }));
    assert!(refused.contains("at most 1 characters"), "{refused:.300}");
    let result = place.result("run", &json!({ "command": "cat", "stdin": fits }));
    assert_eq!(result["isError"], false, "{result:.300}");
}

#[test]
fn the_digits_of_a_number_count_as_they_are_passed_on() {
    let mut place = Place::new(&json!([tool(&json!({ "program": ["p", "{b}"] }))]));
    let mut refused = |digits: usize| {
        let number = format!("0.1{}", "0".repeat(digits - 1));
        let body = call(1, Client::Plain, "t", &json!({ "b": ["ARGUMENT"] }));
        let body = body.replace("\"ARGUMENT\"", &number);
        let reply = place.host.ask(&mut place.world, &body).to_string();
        reply.contains("bytes long as JSON, they have to be at most 524288 together")
    };
    assert!(refused(700_000));
    assert!(refused(524_288 - "[0.]".len() + 1));
    assert!(!refused(524_288 - "[0.]".len()));
}

#[test]
fn arguments_of_too_many_parts_are_refused_in_words() {
    let items = json!({ "items": { "anyOf": [{ "type": "string" }, { "type": "null" }, { "type": "object" }] } });
    let schema = json!({ "type": "object", "properties": { "a": items } });
    let mut place = Place::new(&json!([tool(
        &json!({ "shell": "true", "inputSchema": schema })
    )]));
    let refused = place.refusal("t", &json!({ "a": vec![1; 250_000] }));
    assert!(
        refused.starts_with("the arguments have too many parts to be held against"),
        "{refused:.300}"
    );
}
