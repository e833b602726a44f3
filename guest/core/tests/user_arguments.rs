//! Tools of the configuration whose users give arguments, or confirm each call.

#[allow(
    dead_code,
    reason = "each test binary uses its own part of the fake world"
)]
mod support;

use backburner_core::Server;
use serde_json::{Value, json};

use support::messages::{Client, request, with_elicitation};
use support::{FakeWorld, Host};

/// A configuration with these tools, of which each echoes what it is given.
fn config(tools: &Value) -> String {
    let rules = json!([{ "pattern": "rm ...", "reason": "it deletes" }]);
    json!({ "directLimitMs": 0, "confirm": rules, "tools": tools }).to_string()
}

/// A tool that greets somebody whose name the user gives.
fn greet() -> Value {
    json!({
        "name": "greet", "title": "Greeting", "description": "Greets.",
        "program": ["echo", "{greeting} {name}"],
        "inputSchema": {
            "type": "object",
            "properties": {
                "greeting": { "type": "string" },
                "name": { "type": "string", "pattern": "^[A-Z]" },
            },
            "required": ["greeting", "name"],
            "additionalProperties": false,
        },
        "userArguments": [{ "key": "user_name", "message": "What is your name?", "arguments": ["name"] }],
    })
}

/// A tool with these members changed.
fn changed(mut tool: Value, members: &Value) -> Value {
    for (name, value) in members.as_object().expect("an object") {
        tool[name] = value.clone();
    }
    tool
}

/// One server with one tool, and a client.
struct Party {
    world: FakeWorld,
    host: Host,
    client: Client,
    elicitation: Value,
    tool: String,
}

impl Party {
    fn new(tool: &Value) -> Self {
        Self {
            world: FakeWorld::new(1),
            host: Host::new(&config(&json!([tool])), "user"),
            client: Client::Plain,
            elicitation: json!({}),
            tool: tool["name"].as_str().expect("a name").to_owned(),
        }
    }

    /// Calls the tool with these arguments and these members beside.
    fn call(&mut self, arguments: &Value, more: &Value) -> Value {
        let body = self.body(arguments, more);
        self.host.ask(&mut self.world, &body)
    }

    fn body(&self, arguments: &Value, more: &Value) -> String {
        let mut params = json!({ "name": self.tool, "arguments": arguments });
        for (name, value) in more.as_object().expect("an object") {
            params[name] = value.clone();
        }
        let body = request(1, self.client, "tools/call", params);
        with_elicitation(&body, &self.elicitation)
    }

    fn first(&mut self, arguments: &Value) -> Value {
        self.call(arguments, &json!({}))
    }

    /// Calls it again with this answer to what the reply asks.
    fn again(&mut self, arguments: &Value, reply: &Value, answer: &Value) -> Value {
        let requests = reply["result"]["inputRequests"].as_object();
        let requests = requests.unwrap_or_else(|| panic!("nothing is asked: {reply}"));
        let key = requests.keys().next().expect("one question");
        let more = json!({
            "inputResponses": { key: answer }, "requestState": reply["result"]["requestState"],
        });
        self.call(arguments, &more)
    }

    fn assert_nothing_runs(&self) {
        assert!(self.world.jobs.starts.is_empty());
    }
}

fn accept(content: &Value) -> Value {
    json!({ "action": "accept", "content": content })
}

fn text(reply: &Value) -> &str {
    let text = reply["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("not a result: {reply}"))
}

fn message(reply: &Value) -> &str {
    let requests = reply["result"]["inputRequests"].as_object();
    let request = requests.and_then(|requests| requests.values().next());
    let message = request.and_then(|request| request["params"]["message"].as_str());
    message.unwrap_or_else(|| panic!("nothing is asked: {reply}"))
}

fn assert_refused(reply: &Value, words: &str) {
    assert_eq!(reply["result"]["isError"], true, "{reply}");
    assert!(text(reply).contains(words), "{words}: {reply}");
}

#[test]
fn a_model_does_not_see_what_the_user_gives() {
    let mut party = Party::new(&greet());
    let body = request(1, Client::Plain, "tools/list", json!({}));
    let reply = party.host.ask(&mut party.world, &body);
    let tools = reply["result"]["tools"].as_array().expect("tools");
    let tool = tools
        .iter()
        .find(|tool| tool["name"] == "greet")
        .expect("it is listed");
    let expect = json!({
        "type": "object", "properties": { "greeting": { "type": "string" } }, "required": ["greeting"],
        "additionalProperties": false,
    });
    assert_eq!(tool["inputSchema"], expect);
}

#[test]
fn the_user_is_asked_and_the_tool_is_run_with_the_answer() {
    let mut party = Party::new(&greet());
    let arguments = json!({ "greeting": "Hello" });
    let reply = party.first(&arguments);
    assert_eq!(reply["result"]["resultType"], "input_required");
    let expect = json!({
        "method": "elicitation/create",
        "params": { "mode": "form", "message": "What is your name?", "requestedSchema": {
            "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"],
        } },
    });
    assert_eq!(reply["result"]["inputRequests"]["user_name"], expect);
    party.assert_nothing_runs();
    let reply = party.again(&arguments, &reply, &accept(&json!({ "name": "Alice" })));
    assert_eq!(text(&reply), "Hello Alice");
    assert_eq!(reply["result"]["resultType"], "complete");
    assert!(
        party.world.store.keys("used-state/").is_empty(),
        "nothing was confirmed"
    );
}

#[test]
fn a_task_after_rounds_carries_nothing_of_them() {
    let mut party = Party::new(&changed(greet(), &json!({ "task": "required" })));
    party.client = Client::Tasks;
    let arguments = json!({ "greeting": "Hello" });
    let reply = party.first(&arguments);
    assert_eq!(reply["result"].get("taskId"), None);
    let reply = party.again(&arguments, &reply, &accept(&json!({ "name": "Alice" })));
    assert_eq!(reply["result"]["resultType"], "task", "{reply}");
    assert_eq!(reply["result"].get("requestState"), None);
    assert_eq!(reply["result"].get("inputRequests"), None);
    let id = reply["result"]["taskId"].as_str().expect("an id");
    let reply = party.host.get(&mut party.world, id);
    assert_eq!(
        reply["result"]["result"]["content"][0]["text"],
        "Hello Alice"
    );
}

#[test]
fn an_answer_may_come_before_it_is_asked_for_and_with_others() {
    let mut party = Party::new(&greet());
    let responses = json!({
        "user_name": accept(&json!({ "name": "Alice" })), "unknown": accept(&json!({ "a": 1 })), "other": 1,
    });
    let reply = party.call(
        &json!({ "greeting": "Hi" }),
        &json!({ "inputResponses": responses }),
    );
    assert_eq!(text(&reply), "Hi Alice");
}

#[test]
fn an_answer_that_does_not_fit_is_asked_for_again() {
    let arguments = json!({ "greeting": "Hi" });
    for (answer, words) in [
        (json!(12345), "it has to be an object with `action`"),
        (accept(&json!({})), "`name` is missing"),
        (accept(&json!({ "name": 1 })), "`name` has to be"),
        // What only the whole schema says.
        (accept(&json!({ "name": "alice" })), "`name` is \"alice\""),
    ] {
        let mut party = Party::new(&greet());
        let reply = party.first(&arguments);
        let reply = party.again(&arguments, &reply, &answer);
        assert!(message(&reply).contains(words), "{answer}: {reply}");
        assert!(
            message(&reply).ends_with("\n\nWhat is your name?"),
            "{reply}"
        );
        party.assert_nothing_runs();
        let reply = party.again(&arguments, &reply, &accept(&json!({ "name": "Alice" })));
        assert_eq!(text(&reply), "Hi Alice");
    }
    let mut party = Party::new(&greet());
    let more = json!({ "inputResponses": { "wrong": accept(&json!({ "name": "Alice" })) } });
    assert_eq!(
        message(&party.call(&arguments, &more)),
        "What is your name?"
    );
}

#[test]
fn who_does_not_want_to_give_them_runs_nothing() {
    let arguments = json!({ "greeting": "Hi" });
    for (action, words) in [("decline", "did not want"), ("cancel", "gave no answer")] {
        let mut party = Party::new(&greet());
        let reply = party.first(&arguments);
        let reply = party.again(&arguments, &reply, &json!({ "action": action }));
        assert_refused(&reply, words);
        party.assert_nothing_runs();
    }
}

#[test]
fn what_the_model_gives_is_checked_before_the_user_is_asked() {
    let mut party = Party::new(&greet());
    assert_refused(&party.first(&json!({})), "`greeting` is missing");
    assert_refused(&party.first(&json!({ "greeting": 1 })), "`greeting`");
    let by_model = json!({ "greeting": "Hi", "name": "Alice" });
    assert_refused(
        &party.first(&by_model),
        "`name` is given by the user and not by you",
    );
    party.assert_nothing_runs();
    let null = json!({ "greeting": "Hi", "name": null });
    assert_eq!(message(&party.first(&null)), "What is your name?");
}

#[test]
fn a_client_that_cannot_ask_is_told_from_whom_they_have_to_come() {
    for elicitation in [json!(null), json!({ "url": {} })] {
        let mut party = Party::new(&greet());
        party.elicitation = elicitation;
        let reply = party.first(&json!({ "greeting": "Hi" }));
        assert_refused(&reply, "needs `name` from the user");
        let by_model = json!({ "greeting": "Hi", "name": "Alice" });
        assert_refused(&party.first(&by_model), "not by you");
        party.assert_nothing_runs();
    }
}

#[test]
fn a_tool_may_take_them_from_the_model_of_a_client_that_cannot_ask() {
    let tool = changed(greet(), &json!({ "userArgumentsByModel": true }));
    let mut party = Party::new(&tool);
    let by_model = json!({ "greeting": "Hi", "name": "Alice" });
    assert_refused(&party.first(&by_model), "not by you");
    party.elicitation = json!(null);
    assert_refused(
        &party.first(&json!({ "greeting": "Hi" })),
        "Ask the user for `name`",
    );
    assert_refused(
        &party.first(&json!({ "greeting": "Hi", "name": "alice" })),
        "`name`",
    );
    party.assert_nothing_runs();
    assert_eq!(text(&party.first(&by_model)), "Hi Alice");
}

#[test]
fn what_need_not_be_given_is_left_out_where_nobody_can_be_asked() {
    let mut tool = greet();
    tool["inputSchema"]["required"] = json!(["greeting"]);
    tool["program"] = json!(["echo", "{greeting}", "{name}"]);
    let mut party = Party::new(&tool);
    party.elicitation = json!(null);
    assert_eq!(text(&party.first(&json!({ "greeting": "Hi" }))), "Hi");
    party.elicitation = json!({});
    let arguments = json!({ "greeting": "Ho" });
    let reply = party.first(&arguments);
    let reply = party.again(&arguments, &reply, &accept(&json!({})));
    assert_eq!(text(&reply), "Ho");
}

#[test]
fn several_questions_are_asked_in_rounds() {
    let tool = json!({
        "name": "rounds", "description": "d", "program": ["echo", "{name} {colour} {sure}"],
        "inputSchema": {
            "type": "object", "properties": {
                "name": { "type": "string" }, "colour": { "enum": ["red", "blue"], "type": "string" },
                "sure": { "type": "boolean" },
            }, "required": ["name", "colour", "sure"],
        },
        "userArguments": [
            { "key": "step1", "message": "Step 1", "arguments": ["name"] },
            { "key": "step2", "message": "Step 2", "arguments": ["colour", "sure"] },
        ],
        "confirm": "Is {name} {colour}?",
    });
    let mut party = Party::new(&tool);
    let none = json!({});
    let first = party.first(&none);
    assert_eq!(message(&first), "Step 1");
    let second = party.again(&none, &first, &accept(&json!({ "name": "Alice" })));
    assert_eq!(message(&second), "Step 2");
    assert_ne!(
        second["result"]["requestState"],
        first["result"]["requestState"]
    );
    let content = json!({ "colour": "blue", "sure": true });
    let third = party.again(&none, &second, &accept(&content));
    let words = message(&third);
    assert!(
        words.starts_with("Is Alice blue?\n\n    echo 'Alice blue true'\n"),
        "{words}"
    );
    party.assert_nothing_runs();
    let last = party.again(&none, &third, &accept(&json!({ "confirm": true })));
    assert_eq!(text(&last), "Alice blue true");
    // A state of an earlier round starts nothing more either.
    let earlier = party.again(&none, &third, &accept(&json!({ "confirm": true })));
    assert_eq!(earlier["error"]["code"], -32602, "{earlier}");
    assert_eq!(party.world.jobs.starts.len(), 1);
}

#[test]
fn a_state_belongs_to_one_tool() {
    let other = changed(greet(), &json!({ "name": "other" }));
    let mut party = Party::new(&greet());
    party.host = Host::new(&config(&json!([greet(), other])), "user");
    let arguments = json!({ "greeting": "Hi" });
    let reply = party.first(&arguments);
    party.tool = "other".to_owned();
    let reply = party.again(&arguments, &reply, &accept(&json!({ "name": "Alice" })));
    assert_eq!(reply["error"]["code"], -32602, "{reply}");
    assert!(reply.to_string().contains("another tool"), "{reply}");
    party.assert_nothing_runs();
}

#[test]
fn a_tool_may_have_each_call_confirmed() {
    let tool = json!({
        "name": "greet", "description": "d", "program": ["echo", "hi", "{name}"], "confirm": true,
        "inputSchema": { "type": "object", "properties": { "name": { "type": "string" } } },
    });
    let mut party = Party::new(&tool);
    let arguments = json!({ "name": "it's me" });
    let reply = party.first(&arguments);
    let words = message(&reply);
    assert!(
        words.starts_with("May the tool `greet` run this command?\n\n    echo hi 'it'\\''s me'\n"),
        "{words}"
    );
    let no = party.again(&arguments, &reply, &accept(&json!({ "confirm": false })));
    assert_refused(&no, "said no");
    let reply = party.first(&arguments);
    let reply = party.again(&arguments, &reply, &accept(&json!({ "confirm": true })));
    assert_eq!(text(&reply), "hi it's me");
    party.elicitation = json!(null);
    assert_refused(
        &party.first(&arguments),
        "Each call of the tool `greet` has to be confirmed",
    );
    assert_eq!(party.world.jobs.starts.len(), 1);
}

#[test]
fn nobody_is_told_to_type_the_command_of_a_tool_that_they_do_not_know() {
    let asks = json!({ "name": "t", "description": "d", "program": ["echo"], "confirm": true });
    let ruled = json!({ "name": "t", "description": "d", "shell": "rm x" });
    for tool in [asks, ruled] {
        let mut party = Party::new(&tool);
        let mut config: Value = serde_json::from_str(&config(&json!([tool]))).expect("JSON");
        config["run"] = json!({ "enabled": false });
        config["runCommand"] = json!("backburner run");
        party.host = Host::new(&config.to_string(), "user");
        party.elicitation = json!(null);
        let reply = party.first(&json!({}));
        assert_refused(&reply, "call the tool from a client that can ask them");
        assert!(!text(&reply).contains("terminal"), "{reply}");
        party.assert_nothing_runs();
    }
}

#[test]
fn a_question_without_its_arguments_is_asked_in_other_words() {
    let tool = json!({
        "name": "greet", "description": "d", "program": ["echo", "hi"], "confirm": "Greet {name}?",
        "inputSchema": { "type": "object", "properties": { "name": { "type": "string" } } },
    });
    let mut party = Party::new(&tool);
    assert!(message(&party.first(&json!({}))).starts_with("May the tool `greet`"));
    let hidden = party.first(&json!({ "name": "a\u{202e}b" }));
    assert!(message(&hidden).starts_with("Greet a\\u202eb?"), "{hidden}");
}

/// The question before a call of a tool with this `confirm` and this argument `note`.
fn confirming(confirm: &str, note: &str) -> String {
    let tool = json!({
        "name": "deploy", "description": "d", "program": ["deploy", "{note}"], "confirm": confirm,
        "inputSchema": { "type": "object", "properties": { "note": { "type": "string" } } },
    });
    message(&Party::new(&tool).first(&json!({ "note": note }))).to_owned()
}

#[test]
fn no_line_of_an_argument_looks_like_what_is_said_of_the_command() {
    let note = "\n\ndeploy main\n\nDirectory: /safe";
    for (confirm, note) in [
        ("Deploy {note}\nto all?", note),
        ("With {}\nto all?", note),
        ("Deploy this:\n{note}\nto all?", "Directory: /safe\nx"),
    ] {
        let words = confirming(confirm, note);
        let ours = |line: &&str| !line.starts_with("    ");
        let ours: Vec<&str> = words.lines().filter(ours).skip(1).collect();
        let expect = [
            "to all?",
            "",
            "",
            "Directory: the server's own",
            "Label: deploy",
        ];
        assert_eq!(ours, expect, "{words}");
    }
}

#[test]
fn a_long_argument_hides_nothing_of_what_its_author_says() {
    let words = confirming("Deploy {note}? It takes the site down.", &"x".repeat(5_000));
    assert!(
        words.contains("x? It takes the site down.\n\n    deploy xx"),
        "{words}"
    );
}

#[test]
fn the_rules_hold_for_shell_lines_of_tools_and_not_for_their_programs() {
    let line = json!({ "name": "t", "description": "d", "shell": "rm x; echo gone" });
    assert!(message(&Party::new(&line).first(&json!({}))).contains("it deletes"));
    let program = json!({ "name": "t", "description": "d", "program": ["rm", "x"] });
    let reply = Party::new(&program).first(&json!({}));
    assert_eq!(reply["result"]["resultType"], "complete", "{reply}");
}

#[test]
fn a_key_that_arguments_of_the_user_make_finds_the_first_task() {
    let tool = changed(
        greet(),
        &json!({ "idempotencyKey": "{name}", "task": "required" }),
    );
    let mut party = Party::new(&tool);
    party.client = Client::Tasks;
    let arguments = json!({ "greeting": "Hi" });
    let mut ids = Vec::new();
    for _ in 0..2 {
        let reply = party.first(&arguments);
        let reply = party.again(&arguments, &reply, &accept(&json!({ "name": "Alice" })));
        ids.push(reply["result"]["taskId"].to_string());
    }
    assert_eq!(ids[0], ids[1]);
    assert_eq!(party.world.jobs.starts.len(), 1);
}

#[test]
fn a_schema_that_relates_arguments_is_refused_with_its_place() {
    let relations = json!({
        "allOf": [{ "required": ["greeting"] }],
        "anyOf": [{ "required": ["name"] }, { "required": ["greeting"] }],
        "const": { "greeting": "Hi", "name": "A" },
        "dependentRequired": { "greeting": ["name"] },
        "dependentSchemas": { "greeting": { "required": ["name"] } },
        "enum": [{ "greeting": "Hi", "name": "A" }],
        "if": { "properties": { "greeting": { "const": "Hi" } } },
        "minProperties": 2,
        "not": { "required": ["nobody"] },
        "oneOf": [{ "required": ["name"] }],
        "$ref": "#/$defs/both",
    });
    for (keyword, value) in relations.as_object().expect("an object") {
        let mut schema = greet()["inputSchema"].clone();
        schema["$defs"] = json!({ "both": { "required": ["name"] } });
        schema[keyword] = value.clone();
        let text = json!(schema.to_string());
        for (schema, at) in [
            (schema, format!("/inputSchema/{keyword}")),
            (text, "/inputSchema".to_owned()),
        ] {
            let tool = changed(greet(), &json!({ "inputSchema": schema }));
            let error = Server::configure(&config(&json!([tool]))).expect_err("it relates them");
            assert_eq!(error.at, format!("/tools/0{at}"), "{error}");
            assert!(error.reason.contains("`userArguments`"), "{error}");
            assert!(error.reason.contains("it relates"), "{error}");
            let mut tool = tool;
            tool.as_object_mut()
                .expect("a tool")
                .remove("userArguments");
            let all = Server::configure(&config(&json!([tool])));
            assert!(all.is_ok(), "where the model gives all: {all:?}");
        }
    }
}

#[test]
fn a_pattern_of_names_holds_for_what_the_user_gives() {
    let mut schema = greet()["inputSchema"].clone();
    schema["patternProperties"] = json!({ "^n": { "maxLength": 5 } });
    let mut party = Party::new(&changed(greet(), &json!({ "inputSchema": schema })));
    let arguments = json!({ "greeting": "Hi" });
    let reply = party.first(&arguments);
    let reply = party.again(&arguments, &reply, &accept(&json!({ "name": "Alexander" })));
    assert!(message(&reply).contains("at most 5"), "{reply}");
    let reply = party.again(&arguments, &reply, &accept(&json!({ "name": "Alice" })));
    assert_eq!(text(&reply), "Hi Alice");
}

#[test]
fn a_wrong_description_is_refused_with_its_place() {
    let refused = |members: Value, at: &str| {
        let tool = changed(greet(), &members);
        let error = Server::configure(&config(&json!([tool]))).expect_err("it is wrong");
        assert_eq!(error.at, format!("/tools/0{at}"), "{tool}: {error}");
    };
    refused(json!({ "userArguments": ["nobody"] }), "/userArguments/0");
    refused(
        json!({ "userArguments": [{ "key": "k" }] }),
        "/userArguments/0/message",
    );
    refused(json!({ "userArguments": {} }), "/userArguments");
    refused(
        json!({ "userArgumentsByModel": 1 }),
        "/userArgumentsByModel",
    );
    refused(json!({ "confirm": 1 }), "/confirm");
    refused(json!({ "confirm": "" }), "/confirm");
    refused(json!({ "confirm": "{nobody}" }), "/confirm");
    let mut schema = greet()["inputSchema"].clone();
    schema["properties"]["name"] = json!({ "type": "object" });
    refused(
        json!({ "inputSchema": schema }),
        "/userArguments/0/arguments/0",
    );
    let mut tool = greet();
    let members = tool.as_object_mut().expect("an object");
    members.remove("userArguments");
    members.insert("userArgumentsByModel".to_owned(), json!(true));
    let error = Server::configure(&config(&json!([tool]))).expect_err("it is wrong");
    assert_eq!(error.at, "/tools/0/userArgumentsByModel");
}

#[test]
fn what_is_too_long_is_not_looked_at_whoever_gave_it() {
    let mut schema = greet()["inputSchema"].clone();
    schema["properties"]["greeting"] = json!({ "type": "string", "format": "regex" });
    schema["properties"]["name"] = json!({ "type": "string" });
    let mut party = Party::new(&changed(greet(), &json!({ "inputSchema": schema })));
    let words = "bytes long as JSON, they have to be at most 524288 together";
    assert_refused(
        &party.first(&json!({ "greeting": "\\d".repeat(300_000) })),
        words,
    );
    // Each class in it has it read anew.
    let greeting = "\\d".repeat(100_000);
    assert_refused(
        &party.first(&json!({ "greeting": greeting })),
        "too many parts",
    );
    let arguments = json!({ "greeting": "Hi" });
    let reply = party.first(&arguments);
    let long = accept(&json!({ "name": "x".repeat(600_000) }));
    assert_refused(&party.again(&arguments, &reply, &long), words);
    party.assert_nothing_runs();
}

#[test]
fn a_number_that_the_user_gives_is_asked_for_again_rather_than_changed() {
    let tool = json!({
        "name": "pay", "description": "Pays.", "program": ["pay", "{sum}"], "userArguments": ["sum"],
        "inputSchema": { "type": "object", "properties": { "sum": { "type": "number" } }, "required": ["sum"] },
    });
    let sums = [
        ("1.5", true),
        ("0.1000000000000000055511151231257827", false),
        ("123456789012345678901234567890", false),
    ];
    for (sum, is_taken) in sums {
        let mut party = Party::new(&tool);
        let first = party.first(&json!({}));
        let more = json!({
            "inputResponses": { "arguments": accept(&json!({ "sum": "SUM" })) },
            "requestState": first["result"]["requestState"],
        });
        let body = party.body(&json!({}), &more).replace("\"SUM\"", sum);
        let reply = party.host.ask(&mut party.world, &body);
        if is_taken {
            assert_eq!(party.world.jobs.starts.len(), 1, "{reply}");
        } else {
            let expect = "`sum` has to be a number of at most 15 digits";
            assert!(message(&reply).contains(expect), "{reply}");
        }
    }
}
