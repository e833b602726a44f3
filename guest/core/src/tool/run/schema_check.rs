//! A JSON Schema validator for tests: just the keywords that the schemas of `run` use, and no other.

use serde_json::Value;

/// What is wrong with `value` by `schema`, with the path to it; nothing where it conforms.
///
/// A keyword that this does not know is reported too, so that none is believed to be checked and is not.
pub(super) fn violations(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(
        schema,
        value,
        &mut At {
            path: "$".to_owned(),
            found: &mut found,
        },
    );
    found
}

struct At<'a> {
    path: String,
    found: &'a mut Vec<String>,
}

impl At<'_> {
    fn demand(&mut self, holds: Option<bool>, keyword: &str) {
        if holds == Some(false) {
            self.found.push(format!("{}: {keyword}", self.path));
        }
    }

    fn below(&mut self, step: &str) -> At<'_> {
        let path = format!("{}.{step}", self.path);
        At {
            path,
            found: self.found,
        }
    }
}

fn check(schema: &Value, value: &Value, at: &mut At<'_>) {
    let number = value.as_f64();
    let length = value.as_str().map(|text| text.chars().count());
    for (keyword, rule) in schema.as_object().expect("a schema is an object") {
        match keyword.as_str() {
            "type" => at.demand(Some(has_type(rule, value)), keyword),
            "enum" => at.demand(
                rule.as_array().map(|choices| choices.contains(value)),
                keyword,
            ),
            "minimum" => at.demand(number.map(|n| n >= bound(rule)), keyword),
            "exclusiveMinimum" => at.demand(number.map(|n| n > bound(rule)), keyword),
            "maximum" => at.demand(number.map(|n| n <= bound(rule)), keyword),
            "minLength" => at.demand(length.map(|n| n as f64 >= bound(rule)), keyword),
            "maxLength" => at.demand(length.map(|n| n as f64 <= bound(rule)), keyword),
            "maxProperties" => at.demand(
                value.as_object().map(|o| o.len() as f64 <= bound(rule)),
                keyword,
            ),
            "pattern" => at.demand(value.as_str().map(|text| matches(rule, text)), keyword),
            "required" => check_required(rule, value, at),
            "properties" => check_properties(rule, value, at),
            "propertyNames" => value
                .as_object()
                .into_iter()
                .flatten()
                .for_each(|(name, _)| {
                    check(rule, &name.as_str().into(), &mut at.below(name));
                }),
            "additionalProperties" => check_others(schema, value, at),
            "items" => value.as_array().into_iter().flatten().for_each(|item| {
                check(rule, item, &mut at.below("items"));
            }),
            "description" => assert!(rule.is_string()),
            other => at
                .found
                .push(format!("{}: unknown keyword {other}", at.path)),
        }
    }
}

fn bound(rule: &Value) -> f64 {
    rule.as_f64().expect("a bound is a number")
}

fn has_type(rule: &Value, value: &Value) -> bool {
    let is = |name: &Value| match name.as_str().expect("a type has a name") {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("unknown type {other}"),
    };
    match rule {
        Value::Array(names) => names.iter().any(is),
        name => is(name),
    }
}

/// The patterns in use, by hand: the crate has no regular expressions.
fn matches(rule: &Value, text: &str) -> bool {
    match rule.as_str().expect("a pattern is a string") {
        "\\S" => text.contains(|c: char| !c.is_whitespace()),
        "^/" => text.starts_with('/'),
        "^[^=]*$" => !text.contains('='),
        other => panic!("unknown pattern {other}"),
    }
}

fn check_required(rule: &Value, value: &Value, at: &mut At<'_>) {
    for name in rule.as_array().expect("required is an array") {
        let name = name.as_str().expect("a property has a name");
        let is_there = value.as_object().map(|object| object.contains_key(name));
        at.below(name).demand(is_there, "required");
    }
}

fn check_properties(rule: &Value, value: &Value, at: &mut At<'_>) {
    for (name, schema) in rule.as_object().expect("properties are an object") {
        if let Some(property) = value.get(name) {
            check(schema, property, &mut at.below(name));
        }
    }
}

fn check_others(schema: &Value, value: &Value, at: &mut At<'_>) {
    let is_listed = |name: &String| {
        schema
            .get("properties")
            .is_some_and(|listed| listed.get(name).is_some())
    };
    let others = value
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| !is_listed(name));
    for (name, other) in others {
        match &schema["additionalProperties"] {
            Value::Bool(allowed) => at
                .below(name)
                .demand(Some(*allowed), "additionalProperties"),
            rule => check(rule, other, &mut at.below(name)),
        }
    }
}
