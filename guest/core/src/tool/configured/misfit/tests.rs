//! What is said of arguments that do not conform.

use serde_json::{Value, json};

use crate::tool::configured::schema::{Schema, Unfit};

fn words(schema: &Value, value: &Value) -> String {
    let schema = Schema::compile(schema).expect("a good schema");
    match schema.check(value, "the object of arguments") {
        Err(Unfit::Wrong(words)) => words,
        other => panic!("a wrong value: {other:?}"),
    }
}

fn check(property: &Value, value: &Value, expect: &str) {
    let schema = json!({ "type": "object", "properties": { "a": property } });
    assert_eq!(
        words(&schema, &json!({ "a": value })),
        format!("`a` {expect}")
    );
}

#[test]
fn a_type_a_choice_and_a_form_say_what_is_expected() {
    check(
        &json!({"type": "string"}),
        &json!(5),
        "is 5, it has to be a string",
    );
    check(
        &json!({"type": ["integer", "null"]}),
        &json!("x"),
        "is \"x\", it has to be null or an integer",
    );
    check(
        &json!({"enum": ["x", 1, null]}),
        &json!(2),
        "is 2, it has to be one of \"x\", 1, null",
    );
    check(
        &json!({"const": {"k": 1}}),
        &json!([]),
        "is [], it has to be {\"k\":1}",
    );
    check(
        &json!({"pattern": "^a+$"}),
        &json!("b"),
        "is \"b\", it has to be text that matches ^a+$",
    );
    check(
        &json!({"format": "date"}),
        &json!("today"),
        "is \"today\", it has to be text of the format date",
    );
}

#[test]
fn a_bound_says_what_is_expected() {
    check(
        &json!({"minimum": 1.5}),
        &json!(1),
        "is 1, it has to be at least 1.5",
    );
    check(
        &json!({"exclusiveMaximum": 9}),
        &json!(9),
        "is 9, it has to be less than 9",
    );
    check(
        &json!({"multipleOf": 3}),
        &json!(4),
        "is 4, it has to be a multiple of 3",
    );
    check(
        &json!({"maxLength": 2}),
        &json!("abc"),
        "is \"abc\", it has to be at most 2 characters long, not 3",
    );
    check(
        &json!({"minItems": 1}),
        &json!([]),
        "is [], it has to be a list of at least 1 items, not 0",
    );
    check(
        &json!({"uniqueItems": true}),
        &json!([1, 1]),
        "is [1,1], it has to be a list without repetition, items 0 and 1 are equal",
    );
    check(
        &json!({"maxProperties": 0}),
        &json!({"k": 1}),
        "is {\"k\":1}, it has to be an object of at most 0 members, not 1",
    );
    check(
        &json!({"not": {"type": "null"}}),
        &Value::Null,
        "is null, it has to be something that its schema does not exclude",
    );
    check(
        &json!(false),
        &json!(1),
        "is 1, it has to be left out: its schema allows no value",
    );
}

#[test]
fn alternatives_say_what_each_of_them_asks_for() {
    let either =
        json!({"anyOf": [{"type": "integer"}, {"enum": ["all"]}, {"$ref": "#/$defs/one"}]});
    let schema = json!({"properties": {"a": either}, "$defs": {"one": {"type": "array", "items": {"type": "string"}}}});
    let said = words(&schema, &json!({"a": true}));
    assert_eq!(
        said,
        "`a` is true, it has to be an integer, or \"all\", or a list"
    );
    let objects = json!({"oneOf": [{"required": ["x"]}, {"properties": {"y": {"type": "null"}}, "required": ["y"]}]});
    check(
        &objects,
        &json!({"y": 1}),
        "is {\"y\":1}, it has to be an object with `x`, or an object whose `y` is null",
    );
    check(
        &json!({"oneOf": [{"minimum": 1}, {"minimum": 2}]}),
        &json!(3),
        "is 3, it has to be what fits one alternative of its schema, and not several",
    );
}

#[test]
fn the_same_mistake_is_said_in_the_same_words_each_time() {
    let members: serde_json::Map<String, Value> =
        (0..20).map(|it| (format!("k{it:02}"), json!(it))).collect();
    let strict = json!({"unevaluatedProperties": {"type": "string"}});
    for schema in [strict.clone(), json!({"anyOf": [strict, {"type": "null"}]})] {
        let first = words(&schema, &Value::Object(members.clone()));
        assert!(first.contains("k00"), "{first}");
        for _ in 0..20 {
            assert_eq!(words(&schema, &Value::Object(members.clone())), first);
        }
    }
}

#[test]
fn a_long_name_is_not_repeated_for_each_part_below_it() {
    // Written out for each, its place would take 2 GB.
    let name = "x".repeat(20_000);
    let value = json!({ name.clone(): vec![1; 100_000] });
    let schema = json!({"additionalProperties": {"items": {"type": "string"}}});
    let said = words(&schema, &value);
    assert!(said.ends_with("; and 99995 more"), "{said}");
    let members: serde_json::Map<String, Value> =
        (0..50_000).map(|it| (it.to_string(), json!(it))).collect();
    let schema = json!({"additionalProperties": {"additionalProperties": false}});
    let said = words(&schema, &json!({ name: members }));
    assert!(said.len() < 3_000, "{said}");
}

#[test]
fn a_part_is_named_by_its_path() {
    let schema =
        json!({"properties": {"a": {"items": {"properties": {"b c": {"type": "string"}}}}}});
    let said = words(&schema, &json!({"a": [{}, {"b c": 1}]}));
    assert_eq!(said, "`a[1].b c` is 1, it has to be a string");
}

#[test]
fn what_is_missing_and_what_is_too_much_is_named() {
    let schema = json!({
        "properties": {"a": {"required": ["x", "y"], "additionalProperties": false}},
        "required": ["b"], "propertyNames": {"maxLength": 2}, "dependentRequired": {"a": ["c"]},
    });
    let said = words(&schema, &json!({"a": {"z": 1}, "long": 1}));
    for part in [
        "`a.x`, `a.y` are missing",
        "there is no `a.z`",
        "`b` is missing",
        "may not have the name `long`",
        "`c` is missing beside `a`",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn the_first_few_are_told_and_the_others_counted() {
    let value: serde_json::Map<String, Value> =
        (0..8).map(|it| (format!("k{it}"), json!(it))).collect();
    let said = words(
        &json!({"additionalProperties": {"type": "string"}}),
        &Value::Object(value),
    );
    assert!(
        said.starts_with("`k0` is 0, it has to be a string; `k1`"),
        "{said}"
    );
    assert!(
        said.ends_with("`k4` is 4, it has to be a string; and 3 more"),
        "{said}"
    );
}

#[test]
fn long_values_are_not_repeated() {
    let long = "x".repeat(10_000);
    let said = words(
        &json!({"properties": {"a": {"maxLength": 1}}}),
        &json!({"a": long}),
    );
    assert!(said.len() < 200, "{said}");
    let said = words(&json!({"additionalProperties": false}), &json!({ long: 1 }));
    assert!(said.len() < 200, "{said}");
}
