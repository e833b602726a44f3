//! What the schema of a tool's arguments says of single ones.
//!
//! Knows how such a schema is taken apart, and where it cannot be; does not know who gives which argument.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// The keywords of a schema of an object by which what one member has to be may depend on another.
const RELATING: [&str; 17] = [
    "$dynamicRef",
    "$recursiveRef",
    "$ref",
    "allOf",
    "anyOf",
    "const",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "enum",
    "if",
    "maxProperties",
    "minProperties",
    "not",
    "oneOf",
    "then",
];

/// What says nothing of other arguments, or says it of each by itself.
const KEPT: [&str; 8] = [
    "$schema",
    "$id",
    "$defs",
    "definitions",
    "patternProperties",
    "properties",
    "required",
    "type",
];

/// The first keyword by which a schema may relate arguments to each other; `None` where it says of each by itself what
/// it has to be.
pub(super) fn relating(schema: &Value) -> Option<&'static str> {
    let has = |keyword: &&str| schema.get(*keyword).is_some();
    RELATING.into_iter().find(has)
}

/// The schema of these arguments alone, of which those are required that it requires and that are among `required`.
pub(super) fn part(schema: &Value, names: &[String], required: &[String]) -> Value {
    let mut part = schema.as_object().cloned().unwrap_or_default();
    part.retain(|name, _| KEPT.contains(&name.as_str()));
    if let Some(Value::Object(properties)) = part.get_mut("properties") {
        properties.retain(|name, _| names.contains(name));
    }
    if let Some(Value::Array(all)) = part.get_mut("required") {
        all.retain(|name| required.iter().any(|other| name == other));
    }
    Value::Object(part)
}

/// The `properties` of a schema as they were written, so that their numbers are; none where they cannot be read.
pub(super) fn raw_properties(schema: &RawValue) -> BTreeMap<String, &RawValue> {
    #[derive(Deserialize)]
    struct Written<'a> {
        #[serde(default, borrow)]
        properties: BTreeMap<String, &'a RawValue>,
    }
    let written: Option<Written<'_>> = serde_json::from_str(schema.get()).ok();
    written.map(|it| it.properties).unwrap_or_default()
}
