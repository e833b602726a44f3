use serde_json::Value;

use super::*;

/// An answer as it is sent.
fn sent(answer: &Response) -> String {
    serde_json::to_string(&answer).expect("it can be written")
}

fn question(properties: &Value, required: &Value) -> Question {
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    let request = json!({ "params": { "message": "m", "requestedSchema": schema } });
    let task = json!({ "inputRequests": { "k": request } }).to_string();
    let task: &RawValue = serde_json::from_str(&task).expect("it is JSON");
    question::parse(task).expect("it can be read").remove(0)
}

fn options(set: &[&str]) -> AnswerOptions {
    AnswerOptions {
        id: "a".to_owned(),
        key: None,
        accept: true,
        decline: false,
        set: set
            .iter()
            .map(|text| crate::cli::values::field(text).expect("it has a value"))
            .collect(),
    }
}

#[test]
fn a_script_sets_fields_and_takes_the_defaults_of_the_others() {
    let properties = json!({
        "a": { "type": "integer" },
        "b": { "type": "boolean", "default": true },
        "c": { "type": "string" },
    });
    let question = question(&properties, &json!(["a", "b"]));
    let content = |set: &[&str]| scripted(&question, &options(set)).map(|answer| sent(&answer));
    let accepted = |a: &str| {
        Ok(format!(
            r#"{{"action":"accept","content":{{"a":{a},"b":true}}}}"#
        ))
    };
    assert_eq!(content(&["a=1"]), accepted("1"));
    for wrong in [&[][..], &["a="], &["a=x"], &["d=1"]] {
        content(wrong).expect_err(&format!("{wrong:?}"));
    }
}

#[test]
fn a_field_is_set_once_unless_it_takes_several_values() {
    let properties = json!({
        "a": { "type": "string" },
        "s": { "type": "array", "items": { "type": "string", "enum": ["x", "y", "z"] } },
    });
    let question = question(&properties, &json!([]));
    let content = |set: &[&str]| scripted(&question, &options(set)).map(|answer| sent(&answer));
    let several = r#"{"action":"accept","content":{"s":["z","x"]}}"#.to_owned();
    assert_eq!(content(&["s=z", "s=x,z"]), Ok(several));
    let twice = content(&["a=1", "a=2"]).expect_err("which one?");
    assert_eq!(twice, "the field a is set twice: give one --set for it");
}

#[test]
fn a_field_that_is_not_there_is_told_with_those_that_are() {
    let error = |properties: Value| {
        let question = question(&properties, &json!([]));
        scripted(&question, &options(&["b c=1"])).expect_err("it is not there")
    };
    let text = json!({ "type": "string" });
    let words =
        "there is no field 'b c': the question has no fields: answer it by --accept or --decline";
    assert_eq!(error(json!({})), words);
    let one = error(json!({ "answer": text }));
    assert_eq!(one, "there is no field 'b c': the only one is answer");
    let two = error(json!({ "a": text, "my name": text }));
    assert_eq!(two, "there is no field 'b c': there are a, 'my name'");
}

#[test]
fn what_is_to_be_set_can_be_typed_as_it_is_said() {
    let number = json!({ "type": "integer" });
    let question = question(&json!({ "my name": number }), &json!(["my name"]));
    let error = |set: &[&str]| scripted(&question, &options(set)).expect_err("it is wrong");
    let unset = "the field 'my name' has to be set: --set 'my name=VALUE'";
    assert_eq!(error(&[]), unset);
    let wrong = "--set 'my name=x' does not fit: give a whole number";
    assert_eq!(error(&["my name=x"]), wrong);
    assert_eq!(set("name", ""), "name=");
}

#[test]
fn enter_alone_is_the_default_or_leaves_out_and_is_no_text() {
    let enter = |schema: Value, need| {
        let field: Field = serde_json::from_value(schema).expect("it is one");
        read("n", &field, need, "")
    };
    let (text, required) = (json!({ "type": "string" }), Need::Required);
    let refused = enter(text.clone(), required).expect_err("it is no text");
    assert!(refused.ends_with("answer by --set n="), "{refused}");
    for short in [1, 2] {
        let field = json!({ "type": "string", "minLength": short });
        enter(field, required).expect_err("it is no text");
    }
    let may_be_empty = json!({ "type": "string", "minLength": 0 });
    let empty = Ok(Typed::Value(json!("").into()));
    assert_eq!(enter(may_be_empty.clone(), required), empty);
    for optional in [text, may_be_empty, json!({ "type": "integer" })] {
        assert_eq!(enter(optional, Need::Optional), Ok(Typed::Nothing));
    }
    for need in [Need::Required, Need::Optional] {
        let suggested = enter(json!({ "type": "string", "default": "d" }), need);
        assert_eq!(suggested, Ok(Typed::Value(json!("d").into())));
    }
    enter(json!({ "type": "integer" }), required).expect_err("it is no number");
    let several = json!({ "type": "array", "items": { "type": "string", "enum": ["a"] } });
    assert_eq!(enter(several, required), Ok(Typed::Value(json!([]).into())));
}

#[test]
fn an_empty_text_can_be_set() {
    let question = question(&json!({ "a": { "type": "string" } }), &json!(["a"]));
    let accepted = r#"{"action":"accept","content":{"a":""}}"#.to_owned();
    assert_eq!(
        scripted(&question, &options(&["a="])).map(|answer| sent(&answer)),
        Ok(accepted)
    );
}

#[test]
fn a_number_is_sent_as_it_was_typed() {
    let question = question(&json!({ "a": { "type": "number" } }), &json!([]));
    let accepted = r#"{"action":"accept","content":{"a":1.50}}"#.to_owned();
    assert_eq!(
        scripted(&question, &options(&["a=1.50"])).map(|answer| sent(&answer)),
        Ok(accepted)
    );
}

#[test]
fn an_optional_field_that_has_a_default_can_be_left_out() {
    let schemas = [
        json!({ "type": "string", "default": "d" }),
        json!({ "type": "integer", "default": 3 }),
        json!({ "type": "boolean", "default": true }),
        json!({ "type": "string", "enum": ["a", "b"], "default": "a" }),
        json!({ "type": "array", "items": { "type": "string", "enum": ["a"] }, "default": ["a"] }),
    ];
    for schema in &schemas {
        let field: Field = serde_json::from_value(schema.clone()).expect("it is one");
        let typed = |need| read("n", &field, need, "/skip");
        assert_eq!(typed(Need::Optional), Ok(Typed::Nothing), "{schema}");
        typed(Need::Required).expect_err("it is required");
        let is_shown = |need| prompt("n", &field, need).ends_with("] (/skip leaves it out):");
        assert!(
            is_shown(Need::Optional) && !is_shown(Need::Required),
            "{schema}"
        );
    }
    let field: Field = serde_json::from_value(json!({ "type": "string" })).expect("it is one");
    assert_eq!(
        prompt("n", &field, Need::Optional),
        "n (Enter leaves it out):"
    );
    // By a script all but those of which nothing may be a value.
    for schema in &schemas[1..4] {
        let answer = |required: &Value| {
            let question = question(&json!({ "a": schema }), required);
            scripted(&question, &options(&["a="])).map(|answer| sent(&answer))
        };
        let left_out = r#"{"action":"accept","content":{}}"#.to_owned();
        assert_eq!(answer(&json!([])), Ok(left_out), "{schema}");
        answer(&json!(["a"])).expect_err("it is required");
    }
}

#[test]
fn who_may_not_leave_out_a_field_is_told_what_is_right_for_it() {
    let told = |schema: Value| {
        let field: Field = serde_json::from_value(schema).expect("it is one");
        read("n", &field, Need::Required, "/skip").expect_err("it is required")
    };
    let text = told(json!({ "type": "string" }));
    assert!(text.ends_with("answer by --set n=/skip"), "{text}");
    for (schema, right) in [
        (json!({ "type": "boolean" }), ": give yes or no"),
        (json!({ "type": "integer" }), ": give a whole number"),
        (json!({ "type": "string", "enum": ["/skip"] }), ""),
    ] {
        assert_eq!(told(schema), format!("this cannot be left out{right}"));
    }
}

#[test]
fn a_default_is_shown_and_sent_as_it_was_written() {
    let schema = r#"{"type":"number","default":1.50}"#;
    let field: Field = serde_json::from_str(schema).expect("it is one");
    let shown = prompt("n", &field, Need::Required);
    assert_eq!(shown, "n (a number) [1.50]:");
    let entered = read("n", &field, Need::Required, "").expect("it is the default");
    let number = crate::cli::json::Json::number("1.50").expect("it is one");
    assert_eq!(entered, Typed::Value(number));
}

#[test]
fn no_line_of_a_description_looks_like_a_prompt() {
    let text = json!({ "type": "string", "description": "d\nT (yes or no):" });
    let field: Field = serde_json::from_value(text).expect("it is one");
    let prompt = prompt("n", &field, Need::Required);
    assert_eq!(prompt, "n: d\n    T (yes or no)::");
}

#[test]
fn several_questions_are_not_answered_at_once_by_a_script() {
    let two = || {
        vec![
            question(&json!({}), &json!([])),
            Question {
                key: "l".to_owned(),
                ..question(&json!({}), &json!([]))
            },
        ]
    };
    let error = wanted(two(), &options(&[])).expect_err("which one?");
    let list = "which stands before it:\n  k  m\n  l  m";
    assert!(error.to_string().ends_with(list), "{error}");
    let named = |key: &str| AnswerOptions {
        key: Some(key.to_owned()),
        ..options(&[])
    };
    assert_eq!(wanted(two(), &named("l")).map(|it| it.len()).ok(), Some(1));
    let error = wanted(two(), &named("m")).expect_err("there is none");
    assert!(error.to_string().ends_with(":\n  k  m\n  l  m"), "{error}");
    wanted(Vec::new(), &options(&[])).expect_err("there is none");
}

#[test]
fn a_prompt_says_what_may_be_typed() {
    let field = |schema: Value| serde_json::from_value::<Field>(schema).expect("it is one");
    let text = prompt(
        "n",
        &field(json!({ "type": "string", "title": "T", "default": "d" })),
        Need::Required,
    );
    assert_eq!(text, "T [d]:");
    let several = json!({ "type": "array", "items": { "type": "string", "enum": ["a", "b"] }, "default": ["a", "b"] });
    let text = prompt("n", &field(several), Need::Required);
    assert_eq!(text, "n (some of a, b, with commas between) [a, b]:");
    let agreed = json!({ "type": "boolean", "default": false });
    let text = prompt("n", &field(agreed), Need::Required);
    assert_eq!(text, "n (yes or no) [no]:");
    let choices = json!([{ "const": "a", "title": "A" }, { "const": "b", "title": "b" }]);
    let text = prompt(
        "n",
        &field(json!({ "type": "string", "oneOf": choices })),
        Need::Required,
    );
    assert_eq!(text, "n (one of a = A, b):");
}
