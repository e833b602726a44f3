//! Arguments of configured tools that a call does not give, where the schema has a default.

#[allow(
    dead_code,
    reason = "each test binary uses its own part of the fake world"
)]
mod support;

use backburner_core::Server;
use serde_json::{Value, json};

use support::messages::{Client, request, with_elicitation};
use support::tools::{Place, tool};
use support::{FakeWorld, Host};

/// A tool with a default for most of its arguments, and with these members.
fn deploy(members: &Value) -> Value {
    let schema = r##"{
        "type": "object", "additionalProperties": false, "required": ["branch", "region"],
        "properties": {
            "branch": { "type": "string" },
            "region": { "enum": ["eu", "us"], "default": "eu" },
            "factor": { "type": ["number", "null"], "default": 1.50 },
            "tags": { "type": "array", "items": { "$ref": "#/$defs/tag" }, "default": ["a", "b"] },
            "note": { "type": "string", "default": null },
            "other": true
        },
        "$defs": { "tag": { "type": "string" } }
    }"##;
    let mut tool = tool(members);
    tool["inputSchema"] = schema.into();
    tool
}

/// The words that a call with these arguments runs.
fn words(arguments: &Value) -> Value {
    let program = json!([
        "p",
        "{branch}",
        ["-r", "{region}"],
        ["-f", "{factor}"],
        "{tags}",
        ["-n", "{note}"]
    ]);
    let mut place = Place::new(&json!([deploy(&json!({ "program": program }))]));
    let result = place.result("t", arguments);
    assert_eq!(result["isError"], false, "{result}");
    place.facts()["spec"]["command"]["program"].take()
}

#[test]
fn what_a_call_does_not_give_is_the_default_as_it_was_written() {
    let all = json!(["p", "main", "-r", "eu", "-f", "1.50", "a", "b"]);
    assert_eq!(words(&json!({ "branch": "main" })), all);
    // What is null is not given, also where the schema allows it.
    let nulls = json!({ "branch": "main", "region": null, "factor": null, "tags": null });
    assert_eq!(words(&nulls), all);
    let own = json!({ "branch": "main", "region": "us", "factor": 2, "tags": [], "note": "x" });
    let expect = json!(["p", "main", "-r", "us", "-f", "2", "-n", "x"]);
    assert_eq!(words(&own), expect);
}

#[test]
fn all_arguments_together_have_the_defaults() {
    let mut place = Place::new(&json!([deploy(
        &json!({ "program": ["p"], "stdin": "{}", "label": "{region}", "env": { "T": "{tags}" } })
    )]));
    place.result("t", &json!({ "branch": "main" }));
    let facts = place.facts();
    let all = r#"{"branch":"main","factor":1.50,"region":"eu","tags":["a","b"]}"#;
    assert_eq!(facts["spec"]["stdin"], all);
    assert_eq!(facts["label"], "eu");
    assert_eq!(facts["spec"]["environment"], json!([["T", r#"["a","b"]"#]]));
}

#[test]
fn who_leaves_a_default_out_and_who_gives_it_make_the_same_call() {
    let members = json!({ "program": ["p"], "idempotencyKey": "{branch} {region}" });
    let mut place = Place::new(&json!([deploy(&members)]));
    place.result("t", &json!({ "branch": "main" }));
    place.result("t", &json!({ "branch": "main", "region": "eu" }));
    assert_eq!(place.world.jobs.starts.len(), 1);
    assert_eq!(place.facts()["idempotencyKey"], "main eu");
}

#[test]
fn what_is_wrong_is_refused_all_the_same() {
    let mut place = Place::new(&json!([deploy(&json!({ "program": ["p"] }))]));
    let text = place.refusal("t", &json!({}));
    assert!(text.contains("`branch` is missing"), "{text}");
    let text = place.refusal("t", &json!({ "branch": "main", "region": "moon" }));
    assert!(text.contains("`region` is \"moon\""), "{text}");
}

#[test]
fn a_default_that_does_not_fit_is_a_mistake_of_the_configuration() {
    let check = |property: Value, words: &str| {
        let schema = json!({
            "type": "object", "required": ["b"], "properties": { "a/b": property, "b": {} },
        });
        let config =
            json!({ "tools": [tool(&json!({ "program": ["p"], "inputSchema": schema }))] });
        let error = Server::configure(&config.to_string()).expect_err("it does not fit");
        assert_eq!(
            error.at, "/tools/0/inputSchema/properties/a~1b/default",
            "{error}"
        );
        assert!(error.reason.contains(words), "{error}");
    };
    check(
        json!({ "type": "string", "default": 1 }),
        "has to be a string",
    );
    check(json!({ "minimum": 2, "default": 1 }), "at least 2");
    check(json!({ "enum": ["x"], "default": "y" }), "\"x\"");
}

#[test]
fn a_default_beside_what_relates_arguments_is_a_mistake_of_the_configuration() {
    let either = json!([{ "required": ["a"] }, { "required": ["b"] }]);
    let read = |keyword: &str, relation: &Value, members: &Value| {
        let mut tool = tool(&json!({ "program": ["p", "{a}", "{b}"] }));
        tool["inputSchema"]["properties"] = json!({ "a": members, "b": {} });
        tool["inputSchema"][keyword] = relation.clone();
        Server::configure(&json!({ "tools": [tool] }).to_string())
    };
    for (keyword, relation) in [
        ("oneOf", &either),
        ("anyOf", &either),
        ("not", &json!({ "required": ["a", "b"] })),
        ("maxProperties", &json!(1)),
        ("dependentRequired", &json!({ "a": ["b"] })),
    ] {
        let error = read(keyword, relation, &json!({ "default": "x" }));
        let error = error.expect_err("a call with `b` alone would be refused for its `a`");
        assert_eq!(error.at, format!("/tools/0/inputSchema/{keyword}"));
        assert!(error.reason.contains("beside a `default`"), "{error}");
        // Of no default, or of none as it is null, nothing is filled in.
        for members in [json!({}), json!({ "default": null })] {
            read(keyword, relation, &members).expect("it is valid");
        }
    }
}

/// How long it takes to read a tool with 600 arguments, of which so many have a default.
#[allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "what is measured is the machine's time"
)]
fn reading(defaults: usize) -> std::time::Duration {
    let members = |one: &dyn Fn(usize) -> Value| -> Value {
        let named = (0..600).map(|number| (format!("a{number}"), one(number)));
        named.collect()
    };
    let mut tool = tool(&json!({ "program": ["p"] }));
    tool["inputSchema"]["$defs"] = members(&|_| json!({ "type": "string" }));
    tool["inputSchema"]["properties"] = members(&|number| {
        let reference = format!("#/$defs/a{number}");
        match number < defaults {
            true => json!({ "$ref": reference, "default": "x" }),
            false => json!({ "$ref": reference }),
        }
    });
    let config = json!({ "tools": [tool] }).to_string();
    let begin = std::time::Instant::now();
    Server::configure(&config).expect("it is valid");
    begin.elapsed()
}

#[test]
fn many_defaults_take_little_longer_than_one() {
    let (one, all) = (reading(1), reading(600));
    // About twice; when a schema was compiled for each of them it was forty times.
    assert!(all < one * 15, "{one:?}, {all:?}");
}

#[test]
fn a_person_is_asked_about_what_will_hold() {
    let members = json!({ "program": ["p"], "confirm": "Deploy {branch} to {region}?" });
    let config = json!({ "tools": [deploy(&members)] }).to_string();
    let params = json!({ "name": "t", "arguments": { "branch": "main" } });
    let body = with_elicitation(&request(1, Client::Plain, "tools/call", params), &json!({}));
    let reply = Host::new(&config, "user").ask(&mut FakeWorld::new(1), &body);
    let question = &reply["result"]["inputRequests"]["confirm"]["params"]["message"];
    let question = question.as_str().expect("a question");
    assert!(question.starts_with("Deploy main to eu?\n"), "{question}");
}

#[test]
fn what_a_user_gives_has_no_default_but_the_one_that_they_see() {
    let mut tool = tool(&json!({ "program": ["p", "{a}", "{b}"], "userArguments": ["a"] }));
    tool["inputSchema"]["properties"] = json!({
        "a": { "type": "string", "default": "x" }, "b": { "type": "string", "default": "y" },
    });
    let mut place = Place::new(&json!([tool]));
    let result = place.result("t", &json!({}));
    assert_eq!(result["isError"], false, "{result}");
    assert_eq!(
        place.facts()["spec"]["command"]["program"],
        json!(["p", "y"])
    );
}
