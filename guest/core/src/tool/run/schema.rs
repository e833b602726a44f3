//! The form that the JSON Schemas of `run` share.
//!
//! They name no dialect: 2020-12 is the default of MCP, and some clients refuse a schema that names one they do
//! not know.

use serde_json::{Map, Value, json};

/// The schema of an object that has these properties and no others.
///
/// Each of `properties` is an object from names to their schemas; together they are all properties.
pub(super) fn closed_object<const N: usize>(
    properties: [Value; N],
    is_required: impl Fn(&str) -> bool,
) -> Value {
    let properties: Map<String, Value> = properties
        .into_iter()
        .filter_map(|part| match part {
            Value::Object(schemas) => Some(schemas),
            _ => None,
        })
        .flatten()
        .collect();
    let required: Vec<&String> = properties.keys().filter(|name| is_required(name)).collect();
    json!({
        "type": "object",
        "required": required,
        "properties": properties,
        "additionalProperties": false,
    })
}
