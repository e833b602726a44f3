//! What the tests of `run` ask of its schemas.

use serde_json::{Map, Value};

use crate::tool::configured::schema::{Schema, Unfit};

/// Why `value` does not conform to `schema`; `None` where it does.
pub(super) fn misfit(schema: &Value, value: &Value) -> Option<Unfit> {
    let schema = Schema::compile(schema).expect("a good schema");
    schema.check(value, "the value").err()
}

/// The keywords in a schema that are none of those in use, such as one with a slip of the pen: a validator takes them for
/// remarks, and nobody would know that they are not checked.
pub(super) fn unknown_keywords(schema: &Value) -> Vec<&str> {
    let keywords = schema.as_object().into_iter().flatten();
    let unknown = keywords.map(|(keyword, value)| match keyword.as_str() {
        "description" | "enum" | "exclusiveMinimum" | "maximum" | "maxLength" | "maxProperties"
        | "minimum" | "minLength" | "pattern" | "required" | "type" => Vec::new(),
        "additionalProperties" | "items" | "propertyNames" => unknown_keywords(value),
        "properties" => {
            let schemas = value.as_object().into_iter().flat_map(Map::values);
            schemas.flat_map(unknown_keywords).collect()
        }
        other => vec![other],
    });
    unknown.flatten().collect()
}
