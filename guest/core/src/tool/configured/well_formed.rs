//! Whether a JSON Schema of 2020-12 is one: each keyword has a value of the sort that it takes.
//!
//! The library can hold a schema against the metaschema. In the component that takes nearly 20 ms for the first schema
//! of an instance and one for each, much more than all else that a configuration takes.
//!
//! *Source:* JSON Schema 2020-12, Core and Validation; a keyword that they do not name has any value.

use serde_json::{Map, Value};

use super::schema::{BadSchema, Schema};
use crate::config::escaped;

const TYPES: [&str; 7] = [
    "null", "boolean", "object", "array", "number", "string", "integer",
];

/// Checks a schema and all that are in it.
///
/// # Errors
/// The first keyword that has another value than it takes.
pub(super) fn check(schema: &Value) -> Result<(), BadSchema> {
    match schema {
        Value::Bool(_) => Ok(()),
        Value::Object(keywords) => keywords.iter().try_for_each(|(keyword, value)| {
            check_keyword(keyword, value).map_err(|error| error.below(keyword))
        }),
        _ => Err(bad(
            "is no JSON Schema: it has to be an object, true or false",
        )),
    }
}

fn check_keyword(keyword: &str, value: &Value) -> Result<(), BadSchema> {
    match keyword {
        "additionalProperties"
        | "contains"
        | "contentSchema"
        | "else"
        | "if"
        | "items"
        | "not"
        | "propertyNames"
        | "then"
        | "unevaluatedItems"
        | "unevaluatedProperties" => check(value),
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => check_each(value),
        "$defs" | "definitions" | "dependentSchemas" | "properties" => check_members(value, check),
        "patternProperties" => {
            check_members(value, check)?;
            let mut expressions = value.as_object().into_iter().flat_map(Map::keys);
            expressions.try_for_each(|it| check_expression(it).map_err(|error| error.below(it)))
        }
        "pattern" => {
            let expression = value.as_str().ok_or_else(|| bad("has to be a string"))?;
            check_expression(expression)
        }
        _ => check_value(keyword, value),
    }
}

/// Checks a keyword in which there are no schemas.
fn check_value(keyword: &str, value: &Value) -> Result<(), BadSchema> {
    match keyword {
        "dependentRequired" => check_members(value, check_names),
        "required" => check_names(value),
        "type" => check_type(value),
        "$anchor" | "$comment" | "$dynamicAnchor" | "$dynamicRef" | "$id" | "$ref" | "$schema"
        | "contentEncoding" | "contentMediaType" | "description" | "format" | "title" => {
            demand(value.as_str(), "a string")
        }
        "exclusiveMaximum" | "exclusiveMinimum" | "maximum" | "minimum" => {
            demand(value.as_number(), "a number")
        }
        "multipleOf" => demand(value.as_f64().filter(|it| *it > 0.0), "a number above 0"),
        "maxContains" | "maxItems" | "maxLength" | "maxProperties" | "minContains" | "minItems"
        | "minLength" | "minProperties" => demand(count(value), "an integer of at least 0"),
        "deprecated" | "readOnly" | "uniqueItems" | "writeOnly" => {
            demand(value.as_bool(), "true or false")
        }
        "enum" | "examples" => demand(value.as_array(), "an array"),
        _ => Ok(()),
    }
}

/// `2.0` is an integer to JSON Schema.
fn count(value: &Value) -> Option<f64> {
    value.as_f64().filter(|it| *it >= 0.0 && it.fract() == 0.0)
}

fn check_type(value: &Value) -> Result<(), BadSchema> {
    let is_type = |value: &Value| value.as_str().is_some_and(|name| TYPES.contains(&name));
    let found = match value {
        Value::Array(names) => names.first().filter(|_| names.iter().all(is_type)),
        name => Some(name).filter(|name| is_type(name)),
    };
    let names = TYPES.join("\", \"");
    demand(found, &format!("one of \"{names}\", or an array of those"))
}

fn check_names(value: &Value) -> Result<(), BadSchema> {
    let names = value.as_array();
    let names = names.filter(|names| names.iter().all(Value::is_string));
    demand(names, "an array of strings")
}

fn check_each(value: &Value) -> Result<(), BadSchema> {
    let schemas = value.as_array().filter(|schemas| !schemas.is_empty());
    let schemas = schemas.ok_or_else(|| bad("has to be an array of at least one schema"))?;
    let mut schemas = schemas.iter().enumerate();
    schemas.try_for_each(|(index, schema)| {
        check(schema).map_err(|error| error.below(&index.to_string()))
    })
}

fn check_members(
    value: &Value,
    check: impl Fn(&Value) -> Result<(), BadSchema>,
) -> Result<(), BadSchema> {
    let members: &Map<String, Value> = value
        .as_object()
        .ok_or_else(|| bad("has to be an object"))?;
    members
        .iter()
        .try_for_each(|(name, member)| check(member).map_err(|error| error.below(name)))
}

fn check_expression(expression: &str) -> Result<(), BadSchema> {
    Schema::bad_expression(expression).map_or(Ok(()), |reason| Err(bad(&reason)))
}

/// That something was found, which is expected in these words.
fn demand<T>(found: Option<T>, expected: &str) -> Result<(), BadSchema> {
    let problem = || bad(&format!("has to be {expected}"));
    found.map(drop).ok_or_else(problem)
}

fn bad(reason: &str) -> BadSchema {
    BadSchema {
        at: String::new(),
        reason: reason.to_owned(),
    }
}

impl BadSchema {
    /// The same, seen from one step above.
    fn below(self, step: &str) -> Self {
        Self {
            at: format!("/{}{}", escaped(step), self.at),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use boon::{Compiler, Schemas};
    use serde_json::{Value, json};

    use super::check;

    /// What the library says, by the metaschema.
    fn is_schema(schema: &Value) -> bool {
        let mut compiler = Compiler::new();
        let added = compiler.add_resource("x:///s", schema.clone());
        added.is_ok() && compiler.compile("x:///s", &mut Schemas::new()).is_ok()
    }

    /// Every keyword, each with values of every sort, somewhere in a schema.
    fn each_keyword_with_each_sort(mut see: impl FnMut(&Value)) {
        const KEYWORDS: &str = "$anchor $comment $defs $dynamicAnchor $id $schema additionalProperties allOf anyOf contains \
            contentEncoding contentMediaType contentSchema default deprecated dependentRequired dependentSchemas \
            description else enum examples exclusiveMaximum exclusiveMinimum format if items maxContains maxItems \
            maxLength maxProperties maximum minContains minItems minLength minProperties minimum multipleOf not oneOf \
            patternProperties prefixItems properties propertyNames readOnly required then title type \
            unevaluatedItems unevaluatedProperties uniqueItems writeOnly anything";
        let sorts = [
            json!(null),
            json!(true),
            json!(0),
            json!(-1),
            json!(1.5),
            json!(2.0),
            json!("string"),
            json!("other"),
            json!([]),
            json!(["string"]),
            json!(["x", "y"]),
            json!([1]),
            json!([{}]),
            json!([true]),
            json!({}),
            json!({"a": true}),
            json!({"a": ["x"]}),
            json!({"a": [1]}),
            json!({"a": 1}),
            json!({"type": 1}),
        ];
        for keyword in KEYWORDS.split_whitespace() {
            for sort in &sorts {
                see(&json!({ keyword: sort }));
                see(&json!({ "properties": { "a/b": { keyword: sort } } }));
            }
        }
    }

    #[test]
    fn it_agrees_with_the_metaschema() {
        let mut differences = Vec::new();
        each_keyword_with_each_sort(|schema| {
            // Names and dialects that the library cannot resolve are told by itself.
            let is_name = ["$id", "$schema", "$anchor", "$dynamicAnchor"]
                .iter()
                .any(|name| schema.to_string().contains(name));
            if check(schema).is_ok() != is_schema(schema) && !is_name {
                differences.push(schema.to_string());
            }
        });
        assert!(differences.is_empty(), "{differences:#?}");
    }

    #[test]
    fn a_wrong_keyword_is_named_by_its_place() {
        let schema = json!({"properties": {"a/b": {"anyOf": [{}, {"type": "strin"}]}}});
        let error = check(&schema).expect_err("there is no such type");
        assert_eq!(error.at, "/properties/a~1b/anyOf/1/type");
        assert!(
            error.reason.starts_with("has to be one of \"null\""),
            "{}",
            error.reason
        );
        assert_eq!(check(&json!([])).expect_err("no schema").at, "");
    }
}
