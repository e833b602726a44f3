//! How much it takes at most to hold a value against a schema, found out before it is done.
//!
//! The library goes on behind the first mistake, and keeps each with its place: half a megabyte of numbers that fit none of
//! several alternatives is more mistakes than an instance has memory for. A schema that refers to itself from several
//! places multiplies the work with each level of the value. The instance would trap, and whoever looks at the task next
//! would have another one trap.
//!
//! Walks as the library does, and checks nothing. Where it cannot tell whether a part of the schema applies, it counts it.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::config::escaped;
use crate::tool::limits::{VALIDATION_NESTING, VALIDATION_UNITS};

/// What a mistake takes, in units of 16 bytes, apart from its place: its own 90 bytes in a list that grows by doubling,
/// and a piece of memory for the place.
const MISTAKE_UNITS: usize = 20;

/// The keywords of which each may add a mistake to those of the others.
const ASSERTIONS: [&str; 26] = [
    "additionalItems",
    "additionalProperties",
    "anyOf",
    "contains",
    "contentEncoding",
    "contentMediaType",
    "dependencies",
    "dependentRequired",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "required",
    "uniqueItems",
];

/// The keywords that hold the same value against other schemas.
const IN_PLACE: [&str; 9] = [
    "allOf",
    "anyOf",
    "dependencies",
    "dependentSchemas",
    "else",
    "if",
    "not",
    "oneOf",
    "then",
];

/// What names of a schema stand for: an anchor, behind its `#`, or an `$id`, and the pointer to it.
#[derive(Clone, Debug, Default)]
pub(super) struct Names(BTreeMap<String, String>);

impl Names {
    /// Those in a schema.
    pub(super) fn of(schema: &Value) -> Self {
        let mut names = Self::default();
        names.collect(schema, "");
        names
    }

    fn collect(&mut self, schema: &Value, at: &str) {
        match schema {
            Value::Object(members) => {
                for (name, value) in members {
                    let named = match (name.as_str(), value.as_str()) {
                        ("$anchor" | "$dynamicAnchor", Some(anchor)) => Some(format!("#{anchor}")),
                        ("$id", Some(id)) => Some(id.to_owned()),
                        _ => None,
                    };
                    if let Some(named) = named {
                        self.0.insert(named, at.to_owned());
                    }
                    self.collect(value, &format!("{at}/{}", escaped(name)));
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.collect(item, &format!("{at}/{index}"));
                }
            }
            _ => {}
        }
    }

    /// What a reference refers to in this schema; `None` where that cannot be told.
    fn find<'s>(&self, schema: &'s Value, reference: &str) -> Option<&'s Value> {
        if let Some(pointer) = self.0.get(reference) {
            return schema.pointer(pointer);
        }
        schema.pointer(&super::schema::percent_decoded(
            reference.strip_prefix('#')?,
        ))
    }
}

/// Whether a value can be held against a schema with what an instance has.
pub(super) fn is_bearable(schema: &Value, names: &Names, value: &Value) -> bool {
    let mut effort = Effort {
        schema,
        names,
        left: VALIDATION_UNITS,
        applied: Vec::new(),
    };
    effort.visit(schema, Part { value, depth: 0 }).is_some()
}

/// A part of the value, and how deep it is in that.
#[derive(Clone, Copy)]
struct Part<'v> {
    value: &'v Value,
    depth: usize,
}

struct Effort<'s> {
    schema: &'s Value,
    names: &'s Names,
    /// How many units there are yet.
    left: usize,
    /// The schemas that are being applied, and to parts of which depth: one that comes back to itself for the same part
    /// is where the library stops.
    applied: Vec<(*const Value, usize)>,
}

impl<'s> Effort<'s> {
    /// Counts what it takes to hold a part against this schema; `None` where that is too much.
    fn visit(&mut self, schema: &'s Value, part: Part<'_>) -> Option<()> {
        let applied = (std::ptr::from_ref(schema), part.depth);
        let to_this_part = self.applied.iter().rev();
        let mut to_this_part = to_this_part.take_while(|(_, depth)| *depth == part.depth);
        if to_this_part.any(|other| *other == applied) {
            return Some(());
        }
        if self.applied.len() == VALIDATION_NESTING {
            return None;
        }
        let keywords = schema.as_object();
        self.pay(keywords.map_or(1, mistakes) * (MISTAKE_UNITS + part.depth))?;
        let Some(keywords) = keywords else {
            return Some(());
        };
        self.applied.push(applied);
        self.pay(of_format(keywords, part.value))?;
        self.visit_references(keywords, part)?;
        self.visit_in_place(keywords, part)?;
        match part.value {
            Value::Object(members) => self.visit_members(keywords, members, part.depth)?,
            Value::Array(items) => self.visit_items(keywords, items, part.depth)?,
            _ => {}
        }
        self.applied.pop();
        Some(())
    }

    fn pay(&mut self, units: usize) -> Option<()> {
        self.left = self.left.checked_sub(units)?;
        Some(())
    }

    fn visit_references(&mut self, keywords: &'s Map<String, Value>, part: Part<'_>) -> Option<()> {
        for keyword in ["$dynamicRef", "$recursiveRef", "$ref"] {
            let reference = keywords.get(keyword).and_then(Value::as_str);
            let target = reference.and_then(|it| self.names.find(self.schema, it));
            if let Some(target) = target {
                self.visit(target, part)?;
            }
        }
        Some(())
    }

    fn visit_in_place(&mut self, keywords: &'s Map<String, Value>, part: Part<'_>) -> Option<()> {
        for keyword in IN_PLACE {
            match keywords.get(keyword) {
                Some(Value::Array(schemas)) => {
                    for schema in schemas {
                        self.visit(schema, part)?;
                    }
                }
                Some(Value::Object(schemas)) if keyword.starts_with("depend") => {
                    for (_, schema) in schemas.iter().filter(|(name, _)| has(part.value, name)) {
                        self.visit(schema, part)?;
                    }
                }
                Some(schema) => self.visit(schema, part)?,
                None => {}
            }
        }
        Some(())
    }

    fn visit_members(
        &mut self,
        keywords: &'s Map<String, Value>,
        members: &Map<String, Value>,
        depth: usize,
    ) -> Option<()> {
        let properties = keywords.get("properties");
        let patterns = keywords.get("patternProperties").and_then(Value::as_object);
        let others = ["additionalProperties", "unevaluatedProperties"];
        for (name, value) in members {
            let part = Part {
                value,
                depth: depth + 1,
            };
            let own = properties.and_then(|properties| properties.get(name));
            let patterns = patterns.into_iter().flat_map(Map::values);
            let others = others.iter().filter_map(|keyword| keywords.get(*keyword));
            for schema in own.into_iter().chain(patterns).chain(others) {
                self.visit(schema, part)?;
            }
            if let Some(schema) = keywords.get("propertyNames") {
                let value = &Value::String(name.clone());
                self.visit(schema, Part { value, ..part })?;
            }
        }
        Some(())
    }

    fn visit_items(
        &mut self,
        keywords: &'s Map<String, Value>,
        items: &[Value],
        depth: usize,
    ) -> Option<()> {
        for (index, value) in items.iter().enumerate() {
            let part = Part {
                value,
                depth: depth + 1,
            };
            for keyword in ["items", "prefixItems"] {
                let schema = match keywords.get(keyword) {
                    Some(Value::Array(schemas)) => schemas.get(index),
                    schema => schema,
                };
                if let Some(schema) = schema {
                    self.visit(schema, part)?;
                }
            }
            for keyword in ["additionalItems", "contains", "unevaluatedItems"] {
                if let Some(schema) = keywords.get(keyword) {
                    self.visit(schema, part)?;
                }
            }
        }
        Some(())
    }
}

/// How many mistakes a schema finds in one part at most, those of others in it aside.
fn mistakes(keywords: &Map<String, Value>) -> usize {
    let names = keywords.get("required").and_then(Value::as_array);
    // The names of what is missing are listed, at less than a unit each.
    let names = names.map_or(0, |names| names.len().div_ceil(MISTAKE_UNITS));
    let is_there = |keyword: &&&str| keywords.contains_key(**keyword);
    1 + ASSERTIONS.iter().filter(is_there).count() + names
}

/// What a format takes beside a mistake. A regular expression is read anew for each class in it.
fn of_format(keywords: &Map<String, Value>, value: &Value) -> usize {
    let format = keywords.get("format").and_then(Value::as_str);
    let length = value.as_str().map_or(0, str::len);
    match format {
        None => 0,
        Some("regex") => length.saturating_mul(length) / 16,
        Some(_) => length / 16,
    }
}

fn has(value: &Value, name: &str) -> bool {
    value.get(name).is_some()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Names, is_bearable};

    fn check(schema: &Value, value: &Value, expect: bool) {
        let is_bearable = is_bearable(schema, &Names::of(schema), value);
        assert_eq!(is_bearable, expect, "{schema}");
    }

    /// A value that is this deep, in lists of one.
    fn deep(levels: usize) -> Value {
        (0..levels).fold(json!(1), |inner, _| json!([inner]))
    }

    #[test]
    fn what_a_command_usually_prints_is_no_effort() {
        let schema = json!({
            "type": "array",
            "items": {
                "type": "object", "properties": {
                    "id": { "type": "integer", "minimum": 1 }, "name": { "type": "string", "maxLength": 80 },
                    "kind": { "anyOf": [{ "enum": ["a", "b"] }, { "type": "null" }] },
                },
                "required": ["id", "name", "kind"], "additionalProperties": false,
            },
        });
        let record = json!({ "id": 1, "name": "something", "kind": "a" });
        check(&schema, &json!(vec![record; 5_000]), true);
    }

    #[test]
    fn many_parts_and_many_alternatives_are_too_much_together() {
        let numbers = json!(vec![1; 250_000]);
        let alternatives = |number: usize| json!({ "items": { "anyOf": vec![json!({ "type": "string" }); number] } });
        check(&json!({ "maxItems": 1 }), &numbers, true);
        check(&alternatives(3), &numbers, false);
        check(&alternatives(3), &json!(vec![1; 10_000]), true);
        check(&alternatives(1_000), &json!(vec![1; 10_000]), false);
    }

    #[test]
    fn a_place_counts_with_each_mistake() {
        let schema = json!({ "$ref": "#/$defs/a", "$defs": { "a": { "items": { "$ref": "#/$defs/a" }, "type": "array" } } });
        let wide = json!(vec![1; 50_000]);
        check(&schema, &wide, true);
        let nested = (0..120).fold(wide, |inner, _| json!([inner]));
        check(&schema, &nested, false);
    }

    #[test]
    fn what_multiplies_with_each_level_is_too_much() {
        for reference in ["#", "#me", "x:me"] {
            let items = json!({ "items": { "$ref": reference } });
            let schema =
                json!({ "$id": "x:me", "$anchor": "me", "anyOf": [items, items], "type": "array" });
            check(&schema, &deep(5), true);
            check(&schema, &deep(60), false);
        }
    }

    #[test]
    fn what_refers_to_itself_without_end_is_no_effort() {
        for schema in [
            json!({ "$ref": "#" }),
            json!({ "anyOf": [{ "$ref": "#" }] }),
        ] {
            check(&schema, &deep(100), true);
        }
    }

    #[test]
    fn a_regular_expression_is_paid_for_by_the_square_of_its_length() {
        let schema = json!({ "items": { "format": "regex" } });
        check(&schema, &json!(["\\d".repeat(1_000)]), true);
        check(&schema, &json!(["\\d".repeat(10_000)]), false);
        check(&schema, &json!(vec!["\\d".repeat(1_000); 100]), false);
        let other = json!({ "items": { "format": "email" } });
        check(&other, &json!(["\\d".repeat(200_000)]), true);
    }
}
