use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Described, UserArguments, WrongPart};

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "place": { "type": "string", "minLength": 1, "title": "Place", "pattern": "^[a-z]*$" },
            "count": { "type": "integer", "minimum": 1, "default": 2 },
            "sure": { "type": "boolean" },
            "colour": { "type": "string", "enum": ["red", "blue"] },
            "colours": { "type": "array", "items": { "type": "string", "enum": ["red", "blue"] } },
            "list": { "type": "array", "items": { "type": "integer" } },
            "nested": { "type": "object" },
            "loose": {},
            "either": { "type": ["string", "null"] },
            "secret": { "type": "string", "format": "password" },
            "late": { "type": "integer", "maximum": 1, "default": 2 },
            "long": { "type": "string", "maxLength": 2.5 },
            "hidden": { "type": "string", "enum": ["a\u{202e}"] },
        },
        "required": ["place", "sure"],
    })
}

fn parse(value: &Value) -> Result<UserArguments, WrongPart> {
    parse_of(value, &schema().to_string())
}

/// Reads this of a tool with this schema, as it was written.
fn parse_of(value: &Value, schema: &str) -> Result<UserArguments, WrongPart> {
    let written = RawValue::from_string(schema.to_owned()).expect("it is JSON");
    let schema = serde_json::from_str(schema).expect("it is JSON");
    UserArguments::parse(
        value,
        Described {
            title: "Deploy",
            schema: &schema,
            written: &written,
        },
    )
}

fn parsed(value: &Value) -> UserArguments {
    parse(value).unwrap_or_else(|wrong| panic!("{value}: {wrong:?}"))
}

#[test]
fn a_number_that_is_suggested_stays_as_it_was_written() {
    let schema =
        r#"{ "type": "object", "properties": { "f": { "type": "number", "default": 1.50 } } }"#;
    let arguments = parse_of(&json!(["f"]), schema).expect("it can be asked for");
    let text = serde_json::to_string(&arguments.questions[0].form).expect("it is JSON");
    assert!(
        text.contains(r#""f":{"default":1.50,"type":"number"}"#),
        "{text}"
    );
}

#[test]
fn names_are_asked_for_together_in_their_order() {
    let arguments = parsed(&json!(["sure", "count", "place"]));
    let [asks] = arguments.questions.as_slice() else {
        panic!("not one question: {arguments:?}");
    };
    assert_eq!(asks.key, "arguments");
    assert_eq!(asks.names, ["sure", "count", "place"]);
    let text = serde_json::to_string(&asks.form).expect("it is JSON");
    let expect = r#"{"mode":"form","message":"`Deploy` needs this from you.","requestedSchema":{"type":"object","properties":{"#;
    assert!(text.starts_with(expect), "{text}");
    let places: Vec<_> = ["\"sure\":{", "\"count\":{", "\"place\":{"]
        .iter()
        .map(|name| text.find(name).expect("it is asked for"))
        .collect();
    assert!(places.is_sorted(), "{text}");
    assert!(text.contains(r#""required":["sure","place"]"#), "{text}");
    assert!(!text.contains("pattern"), "no client knows it: {text}");
}

#[test]
fn tables_are_asked_one_after_the_other() {
    let arguments = parsed(&json!([
        { "key": "user_name", "message": "Where?", "arguments": ["place"] },
        { "key": "more", "message": "Which?\nAll of them?", "arguments": ["colour", "colours"] },
    ]));
    let keys: Vec<&str> = arguments
        .questions
        .iter()
        .map(|asks| asks.key.as_str())
        .collect();
    assert_eq!(keys, ["user_name", "more"]);
    assert_eq!(
        arguments.names().collect::<Vec<_>>(),
        ["place", "colour", "colours"]
    );
    assert_eq!(
        arguments.questions[1].form.message(),
        "Which?\nAll of them?"
    );
}

/// Sees that a description is refused, with this place and these words.
fn check_wrong(value: &Value, at: &str, words: &str) {
    let wrong = parse(value).expect_err("it is wrong");
    assert_eq!(wrong.at, at, "{value}: {wrong:?}");
    assert!(wrong.reason.contains(words), "{value}: {wrong:?}");
}

#[test]
fn a_wrong_list_of_names_is_refused_with_its_place() {
    let check = |value: Value, at: &str, words: &str| check_wrong(&value, at, words);
    check(json!({}), "", "has to be an array");
    check(json!([]), "", "has to be an array");
    check(json!(["place", 1]), "/0", "has to be an array");
    check(json!(["place", "nowhere"]), "/1", "is no argument");
    check(json!(["place", "place"]), "/1", "twice");
    for (name, words) in [
        ("list", "the `type`"),
        ("nested", "the `type`"),
        ("loose", "the `type`"),
        ("either", "the `type`"),
        ("secret", "a `format` can be email"),
        ("late", "a `default` has to fit"),
        ("long", "have to be whole numbers"),
        ("hidden", "nobody sees"),
    ] {
        check(json!(["place", name]), "/1", "cannot be asked for");
        check(json!(["place", name]), "/1", words);
    }
}

#[test]
fn a_wrong_table_is_refused_with_its_place() {
    let check = |value: Value, at: &str, words: &str| check_wrong(&value, at, words);
    let table = |key: &str, message: &str, arguments: Value| json!([{ "key": key, "message": message, "arguments": arguments }]);
    check(
        table("", "m", json!(["place"])),
        "/0/key",
        "has to be 1 to 64",
    );
    check(
        table("a b", "m", json!(["place"])),
        "/0/key",
        "has to be 1 to 64",
    );
    check(
        table("confirm", "m", json!(["place"])),
        "/0/key",
        "is taken",
    );
    check(
        table("k", " ", json!(["place"])),
        "/0/message",
        "has to be a text",
    );
    check(
        table("k", "\u{202e}m", json!(["place"])),
        "/0/message",
        "has to be a text",
    );
    check(
        table("k", "m", json!([])),
        "/0/arguments",
        "has to be an array",
    );
    check(
        table("k", "m", json!("place")),
        "/0/arguments",
        "has to be an array",
    );
    check(
        table("k", "m", json!(["nested"])),
        "/0/arguments/0",
        "cannot be asked for",
    );
    check(
        table("k", "m", json!([1])),
        "/0/arguments/0",
        "has to be the name",
    );
    check(
        json!([{ "key": "k", "message": "m", "arguments": ["place"], "a/b": 1 }]),
        "/0/a~1b",
        "is unknown",
    );
}

#[test]
fn a_key_that_is_taken_is_refused_with_its_place() {
    let twice = json!([
        { "key": "k", "message": "m", "arguments": ["place"] },
        { "key": "k", "message": "m", "arguments": ["sure"] },
    ]);
    let wrong = parse(&twice).expect_err("it is wrong");
    assert_eq!(wrong.at, "/1/key");
    assert!(wrong.reason.contains("is taken"), "{wrong:?}");
}

#[test]
fn the_model_sees_the_rest_as_it_was_written() {
    let raw = |text: &str| RawValue::from_string(text.to_owned()).expect("it is JSON");
    let arguments = parsed(&json!(["place", "sure"]));
    let check = |schema: &str, expect: &str| {
        let listed = arguments.left_out_of(&raw(schema));
        assert_eq!(listed.expect("it is an object").get(), expect);
    };
    check(
        r#"{"type":"object","properties":{"z":{"type": "string"},"place":{},"a":{"properties":{"place":1}},"sure":{}},"required":["z","sure","place"],"b":1,"a":1.0}"#,
        r#"{"type":"object","properties":{"z":{"type": "string"},"a":{"properties":{"place":1}}},"required":["z"],"b":1,"a":1.0}"#,
    );
    check(r#"{"type":"object"}"#, r#"{"type":"object"}"#);
    check(
        r#"{"properties":{"place":{}},"required":["place"]}"#,
        r#"{"properties":{},"required":[]}"#,
    );
}
