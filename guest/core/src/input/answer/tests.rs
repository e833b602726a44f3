use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::super::form::Form;
use super::fitting;

fn form(schema: &Value) -> Form {
    let text = json!({ "message": "m", "requestedSchema": schema }).to_string();
    Form::parse(&text).unwrap_or_else(|| panic!("{text} can be asked"))
}

/// A form with one required field, `f`.
fn one(field: &Value) -> Form {
    form(&json!({ "type": "object", "properties": { "f": field }, "required": ["f"] }))
}

fn fit(form: &Form, answer: &Value) -> Option<Value> {
    let text = fitting(form, &to_raw_value(answer).expect("it is a value")).ok()?;
    Some(serde_json::from_str(&text).expect("it is JSON"))
}

fn misfit(form: &Form, answer: &Value) -> String {
    let answer = to_raw_value(answer).expect("it is a value");
    fitting(form, &answer).expect_err("it does not fit")
}

/// Which values of a field fit, and are passed on as they are, and which do not.
fn check(field: &Value, right: &[Value], wrong: &[Value]) {
    let form = one(field);
    for value in right {
        let answer = json!({ "action": "accept", "content": { "f": value } });
        assert_eq!(fit(&form, &answer), Some(answer), "{field} {value}");
    }
    for value in wrong {
        let answer = json!({ "action": "accept", "content": { "f": value } });
        assert_eq!(fit(&form, &answer), None, "{field} {value}");
    }
}

#[test]
fn text_fits_its_length_in_characters_and_its_format() {
    let field = json!({ "type": "string", "minLength": 2, "maxLength": 3 });
    check(
        &field,
        &[json!("ab"), json!("äöü")],
        &[
            json!("a"),
            json!("abcd"),
            json!(12),
            json!(["ab"]),
            json!(null),
        ],
    );
    let field = json!({ "type": "string", "format": "email" });
    check(&field, &[json!("a@b")], &[json!("a")]);
    check(&json!({ "type": "string" }), &[json!("")], &[json!(true)]);
}

#[test]
fn numbers_fit_their_bounds() {
    let field = json!({ "type": "number", "minimum": 0.5, "maximum": 3 });
    check(
        &field,
        &[json!(0.5), json!(3), json!(1e0)],
        &[json!(0.4), json!(3.1), json!("1")],
    );
    let most = u64::MAX;
    let field = json!({ "type": "integer", "minimum": most - 1 });
    check(&field, &[json!(most)], &[json!(most - 2), json!(0)]);
}

#[test]
fn a_whole_number_is_one_however_it_is_written() {
    let form = one(&json!({ "type": "integer" }));
    let answer = json!({ "action": "accept", "content": { "f": 5.0 } });
    let fitting = fit(&form, &answer).expect("5.0 is whole");
    assert_eq!(fitting["content"]["f"].to_string(), "5");
    check(
        &json!({ "type": "integer" }),
        &[json!(-5)],
        &[json!(0.5), json!(1e300), json!("5")],
    );
}

#[test]
fn a_choice_is_one_of_those_that_were_offered() {
    for field in [
        json!({ "type": "string", "enum": ["a", "b"] }),
        json!({ "type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"] }),
        json!({ "type": "string", "oneOf": [{ "const": "a", "title": "A" }, { "const": "b" }] }),
    ] {
        check(
            &field,
            &[json!("a"), json!("b")],
            &[json!("A"), json!(["a"])],
        );
    }
    let items =
        json!({ "anyOf": [{ "const": "a", "title": "A" }, { "const": "b", "title": "B" }] });
    let field = json!({ "type": "array", "minItems": 1, "maxItems": 1, "items": items });
    check(
        &field,
        &[json!(["a"])],
        &[
            json!([]),
            json!(["a", "b"]),
            json!(["c"]),
            json!("a"),
            json!([1]),
        ],
    );
}

#[test]
fn a_yes_or_no_is_true_or_false() {
    let field = json!({ "type": "boolean" });
    check(
        &field,
        &[json!(true), json!(false)],
        &[json!("true"), json!(1)],
    );
}

#[test]
fn only_what_was_asked_for_is_passed_on() {
    let properties = json!({ "a": { "type": "string" }, "b": { "type": "boolean" } });
    let form = form(&json!({ "type": "object", "properties": properties, "required": ["a"] }));
    let content = |content: Value| json!({ "action": "accept", "content": content });
    let answer = content(json!({ "a": "x", "b": null, "c": 1 }));
    assert_eq!(fit(&form, &answer), Some(content(json!({ "a": "x" }))));
    assert_eq!(fit(&form, &content(json!({ "b": true }))), None);
    assert_eq!(fit(&form, &content(json!({ "a": null }))), None);
    assert_eq!(fit(&form, &content(json!({ "a": "x", "b": "yes" }))), None);
    assert_eq!(fit(&form, &json!({ "action": "accept" })), None);
}

#[test]
fn who_declines_or_cancels_fills_in_nothing() {
    let form = one(&json!({ "type": "string" }));
    for action in ["decline", "cancel"] {
        let bare = json!({ "action": action });
        assert_eq!(fit(&form, &bare), Some(bare.clone()));
        for content in [
            json!({ "f": 1 }),
            json!([]),
            json!("no"),
            json!(1),
            Value::Null,
        ] {
            let with = json!({ "action": action, "content": content });
            assert_eq!(fit(&form, &with), Some(bare.clone()));
        }
    }
}

#[test]
fn agreement_needs_no_content() {
    let form = form(&json!({ "type": "object", "properties": {} }));
    let agreed = json!({ "action": "accept", "content": {} });
    assert_eq!(fit(&form, &json!({ "action": "accept" })), Some(agreed));
    let page = r#"{"mode":"url","message":"m","url":"https://example.org/"}"#;
    let page = Form::parse(page).expect("it can be asked");
    let agreed = json!({ "action": "accept" });
    let with = json!({ "action": "accept", "content": { "f": 1 } });
    assert_eq!(fit(&page, &with), Some(agreed));
}

#[test]
fn what_is_no_answer_fits_nothing() {
    let form = form(&json!({ "type": "object", "properties": {} }));
    for wrong in [
        json!(null),
        json!("accept"),
        json!(["accept"]),
        json!({}),
        json!({ "action": "maybe" }),
        json!({ "action": "accept", "content": [] }),
        json!({ "roots": [] }),
    ] {
        assert_eq!(fit(&form, &wrong), None, "{wrong}");
    }
}

#[test]
fn an_answer_that_is_too_long_does_not_fit() {
    let form = one(&json!({ "type": "string" }));
    let answer = |length| json!({ "action": "accept", "content": { "f": "x".repeat(length) } });
    assert!(fit(&form, &answer(1_000_000)).is_some());
    assert!(fit(&form, &answer(1024 * 1024)).is_none());
}

#[test]
fn a_member_that_is_given_twice_is_named_in_short() {
    let name = format!("a\u{202e}{}", "x".repeat(5_000));
    let content = format!(r#"{{"{name}":1,"{name}":2}}"#);
    let answer = format!(r#"{{"action":"accept","content":{content}}}"#);
    let raw: &RawValue = serde_json::from_str(&answer).expect("JSON");
    let why = fitting(&one(&json!({ "type": "string" })), raw).expect_err("it is there twice");
    assert!(
        why.starts_with("`content.a") && why.ends_with("` is given twice"),
        "{why}"
    );
    assert!(!why.contains('\u{202e}') && why.len() < 300, "{why}");
}

#[test]
fn a_misfit_says_what_would_fit() {
    for (field, wanted) in [
        (
            json!({ "type": "string", "minLength": 1 }),
            "a text of at least 1 character",
        ),
        (
            json!({ "type": "string", "minLength": 2, "maxLength": 3, "format": "date-time" }),
            "a text of 2 to 3 characters, a date-time",
        ),
        (json!({ "type": "number" }), "a number"),
        (
            json!({ "type": "integer", "minimum": 1, "maximum": 5 }),
            "a whole number, 1 to 5",
        ),
        (
            json!({ "type": "number", "maximum": 0.5 }),
            "a number, at most 0.5",
        ),
        (json!({ "type": "boolean" }), "true or false"),
        (
            json!({ "type": "string", "enum": ["a", "b"] }),
            "one of \"a\", \"b\"",
        ),
        (
            json!({ "type": "array", "items": { "enum": ["a"] }, "maxItems": 1 }),
            "a list of at most 1 of \"a\"",
        ),
    ] {
        let answer = json!({ "action": "accept", "content": { "f": {} } });
        assert_eq!(
            misfit(&one(&field), &answer),
            format!("`f` has to be {wanted}")
        );
    }
    let form = one(&json!({ "type": "boolean" }));
    let missing = json!({ "action": "accept", "content": {} });
    assert_eq!(misfit(&form, &missing), "`f` is missing");
    assert!(misfit(&form, &json!(1)).starts_with("it has to be an object with `action`"));
}

#[test]
fn a_field_that_is_answered_twice_is_not_answered() {
    let form = one(&json!({ "type": "string" }));
    for (answer, place) in [
        (
            r#"{"action":"accept","content":{"f":"a","f":"b"}}"#,
            "content.f",
        ),
        (
            r#"{"action":"accept","content":{"f":"a","g":{"h":1,"h":2}}}"#,
            "content.g.h",
        ),
    ] {
        let answer = RawValue::from_string(answer.to_owned()).expect("it is JSON");
        let misfit = fitting(&form, &answer).expect_err("it does not fit");
        assert_eq!(misfit, format!("`{place}` is given twice"));
    }
}

/// What a job gets of this number; `None` where it does not fit.
fn number(field: &Value, number: &str) -> Option<String> {
    let answer = format!(r#"{{"action":"accept","content":{{"f":{number}}}}}"#);
    let answer = RawValue::from_string(answer).expect("it is JSON");
    let fitting = fitting(&one(field), &answer).ok()?;
    let before = r#"{"action":"accept","content":{"f":"#;
    let number = fitting.strip_prefix(before)?.strip_suffix("}}")?;
    Some(number.to_owned())
}

#[test]
fn a_number_reaches_the_job_as_it_was_written() {
    let field = json!({ "type": "number" });
    for written in [
        "-0",
        "1.50",
        "1e2",
        "31.245270191439438",
        "0.1000000000000000055511151231257827",
        "123456789012345678901234567890",
    ] {
        assert_eq!(number(&field, written).as_deref(), Some(written));
    }
    assert_eq!(number(&field, "1e400"), None);
    let most = json!({ "type": "number", "maximum": 1 });
    assert_eq!(number(&most, "1.00000000000000000001"), None);
}

#[test]
fn a_whole_number_is_never_another_one() {
    let field = json!({ "type": "integer" });
    for (written, expect) in [
        ("7", Some("7")),
        ("7.0", Some("7")),
        ("7e1", Some("70")),
        ("-0", Some("0")),
        ("18446744073709551615", Some("18446744073709551615")),
        ("123456789012345678901234567890", None),
        ("1.00000000000000000001", None),
        ("9007199254740993e0", None),
        ("1e400", None),
    ] {
        assert_eq!(number(&field, written).as_deref(), expect, "{written}");
    }
}

/// What a client is told of a whole number, as JSON, that does not fit such a field.
fn whole_number_misfit(bounds: &Value, number: &str) -> String {
    let mut field = bounds.clone();
    field["type"] = json!("integer");
    let answer = format!(r#"{{"action":"accept","content":{{"f":{number}}}}}"#);
    let answer = RawValue::from_string(answer).expect("it is JSON");
    fitting(&one(&field), &answer).expect_err("it does not fit")
}

const TOO_LARGE: &str = ", and none is taken but from -9223372036854775808 to 18446744073709551615, written \
    without `.` and `e`";

#[test]
fn a_whole_number_that_is_too_large_is_told_how_large_it_may_be() {
    let usual = "`f` has to be a whole number";
    for number in ["1.5", "\"1\"", "true", "1e-400"] {
        assert_eq!(whole_number_misfit(&json!({}), number), usual, "{number}");
    }
    for number in [
        "18446744073709551616",
        "-9223372036854775809",
        "9007199254740993e0",
        "1e30",
        "1e400",
    ] {
        let words = whole_number_misfit(&json!({}), number);
        assert_eq!(words, format!("{usual}{TOO_LARGE}"), "{number}");
    }
}

#[test]
fn a_whole_number_within_its_bounds_is_told_that_it_is_too_large() {
    let check = |bounds: Value, in_words: &str, large: &[&str], outside: &[&str]| {
        let usual = format!("`f` has to be a whole number, {in_words}");
        for number in large {
            let words = whole_number_misfit(&bounds, number);
            assert_eq!(words, format!("{usual}{TOO_LARGE}"), "{number}");
        }
        for number in outside {
            assert_eq!(whole_number_misfit(&bounds, number), usual, "{number}");
        }
    };
    check(
        json!({ "minimum": 0 }),
        "at least 0",
        &["18446744073709551616", "9007199254740993e0", "1e400"],
        &["-9223372036854775809", "-9007199254740993e0", "-1e400"],
    );
    check(
        json!({ "maximum": 10 }),
        "at most 10",
        &["-9223372036854775809", "-9007199254740993e0", "-1e400"],
        &["18446744073709551616", "9007199254740993e0", "1e400"],
    );
    check(
        json!({ "minimum": 0, "maximum": 9_007_199_254_740_993_u64 }),
        "0 to 9007199254740993",
        &["9007199254740993e0"],
        &["9007199254740995e0", "1e30", "-1e30"],
    );
}
