//! The arguments of a tool that its user gives, and not the model.
//!
//! Knows how they are described, which of them are asked together, and how a schema is listed without them. Does not know
//! whether a client can ask, and not how.

use std::collections::BTreeSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::limits::{QUESTION_CHARS, QUESTION_KEY_CHARS};
use super::parts::raw_properties;
use crate::config::escaped;
use crate::input::Form;
use crate::text::is_hidden;

/// The name of the only question, where none is given.
const DEFAULT_KEY: &str = "arguments";

/// The name of the question whether a command may be run.
const TAKEN_KEY: &str = "confirm";

const EXPECTED: &str = "has to be an array of names of arguments, which are asked for together, or of tables with `key`, \
    `message` and `arguments`, which are asked for one after the other";

const FORM_EXPECTED: &str = "cannot be asked for: a question can ask for a string, a number, an integer, a boolean, or \
    one or several of some strings, and the `type` of the argument has to say which; a `format` can be email, uri, date or \
    date-time; lengths and numbers of items have to be whole numbers, and a `minimum` or `maximum` a number; a `default` has \
    to fit all of that; and no choice or default may have a character that nobody sees";

/// All questions of a tool, in the order in which they are asked; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UserArguments {
    /// The questions.
    pub(crate) questions: Vec<Asks>,
}

/// Arguments that are asked for together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asks {
    /// The name of the question.
    pub(crate) key: String,
    /// Which arguments it asks for.
    pub(crate) names: Vec<String>,
    /// What the user is shown.
    pub(crate) form: Form,
}

/// A part of a description that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrongPart {
    /// Where: a JSON pointer (RFC 6901) from the description on.
    pub(crate) at: String,
    /// What is wrong with it, or what it has to be.
    pub(crate) reason: String,
}

/// The tool whose arguments they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Described<'a> {
    /// What people call the tool.
    pub(crate) title: &'a str,
    /// Its `inputSchema`.
    pub(crate) schema: &'a Value,
    /// The same as it was written.
    pub(crate) written: &'a RawValue,
}

impl UserArguments {
    /// Reads `userArguments`.
    ///
    /// # Errors
    /// [`WrongPart`] for the first thing that is wrong.
    pub(crate) fn parse(value: &Value, tool: Described<'_>) -> Result<Self, WrongPart> {
        let Some(items) = value.as_array().filter(|items| !items.is_empty()) else {
            return Err(wrong(String::new(), EXPECTED));
        };
        let mut reader = Reader {
            tool,
            names: BTreeSet::new(),
            keys: BTreeSet::from([TAKEN_KEY]),
        };
        let questions = if items.iter().all(Value::is_string) {
            let message = format!("`{}` needs this from you.", tool.title);
            vec![reader.asks("", (DEFAULT_KEY, &message), items)?]
        } else {
            let items = items.iter().enumerate();
            let read = items.map(|(index, item)| reader.table(&format!("/{index}"), item));
            read.collect::<Result<_, _>>()?
        };
        Ok(Self { questions })
    }

    /// The names of all of them.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let questions = self.questions.iter();
        questions.flat_map(|asks| asks.names.iter().map(String::as_str))
    }

    /// A schema as the model sees it: without them, and in all else as it was written.
    pub(crate) fn left_out_of(&self, schema: &RawValue) -> Option<Box<RawValue>> {
        let names: BTreeSet<&str> = self.names().collect();
        let Ordered(members) = serde_json::from_str(schema.get()).ok()?;
        let members = members.into_iter().map(|(name, value)| {
            let value = match name.as_str() {
                "properties" => without_members(value, &names)?,
                "required" => without_items(value, &names)?,
                _ => value.get().to_owned(),
            };
            Some((name, value))
        });
        let text = written(members.collect::<Option<Vec<_>>>()?);
        RawValue::from_string(text).ok()
    }
}

/// What was read of the questions of a tool so far.
struct Reader<'a> {
    tool: Described<'a>,
    names: BTreeSet<&'a str>,
    keys: BTreeSet<&'a str>,
}

impl<'a> Reader<'a> {
    fn table(&mut self, at: &str, item: &'a Value) -> Result<Asks, WrongPart> {
        let Some(members) = item.as_object() else {
            return Err(wrong(at.to_owned(), EXPECTED));
        };
        let known = ["key", "message", "arguments"];
        if let Some(name) = members.keys().find(|name| !known.contains(&name.as_str())) {
            let name = escaped(name);
            let reason = "is unknown: a question has `key`, `message` and `arguments`";
            return Err(wrong(format!("{at}/{name}"), reason));
        }
        let text = |name: &str| {
            members
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let (key, message) = (text("key"), text("message"));
        let is_key = |it: char| it.is_ascii_alphanumeric() || "_.-".contains(it);
        if key.is_empty() || key.len() > QUESTION_KEY_CHARS || !key.chars().all(is_key) {
            let reason =
                format!("has to be 1 to {QUESTION_KEY_CHARS} letters, digits, `_`, `.` and `-`");
            return Err(wrong(format!("{at}/key"), &reason));
        }
        if !self.keys.insert(key) {
            return Err(wrong(format!("{at}/key"), "is taken by another question"));
        }
        let is_long = message.chars().count() > QUESTION_CHARS;
        let has_hidden = message.lines().any(|line| line.contains(is_hidden));
        if is_long || has_hidden || message.trim().is_empty() {
            let reason =
                format!("has to be a text of 1 to {QUESTION_CHARS} characters for the user");
            return Err(wrong(format!("{at}/message"), &reason));
        }
        let at = format!("{at}/arguments");
        let names = members.get("arguments").and_then(Value::as_array);
        let Some(names) = names.filter(|names| !names.is_empty()) else {
            return Err(wrong(at, "has to be an array of names of arguments"));
        };
        self.asks(&at, (key, message), names)
    }

    /// One question: its key, its message, and the names of what it asks for.
    fn asks(
        &mut self,
        at: &str,
        (key, message): (&str, &str),
        names: &'a [Value],
    ) -> Result<Asks, WrongPart> {
        let mut fields = Vec::new();
        for (index, name) in names.iter().enumerate() {
            let at = format!("{at}/{index}");
            let Some(name) = name.as_str() else {
                return Err(wrong(at, "has to be the name of an argument"));
            };
            let Some(schema) = self.tool.property(name) else {
                return Err(wrong(
                    at,
                    "is no argument: the `properties` of the input schema do not have it",
                ));
            };
            if !self.names.insert(name) {
                return Err(wrong(at, "is asked for twice"));
            }
            if self.tool.form("?", &[(name, schema)]).is_none() {
                return Err(wrong(at, FORM_EXPECTED));
            }
            fields.push((name, schema));
        }
        let Some(form) = self.tool.form(message, &fields) else {
            return Err(wrong(at.to_owned(), "asks for too much at once"));
        };
        Ok(Asks {
            key: key.to_owned(),
            names: fields.iter().map(|(name, _)| (*name).to_owned()).collect(),
            form,
        })
    }
}

impl<'a> Described<'a> {
    fn property(self, name: &str) -> Option<&'a Value> {
        self.schema.get("properties")?.get(name)
    }

    fn requires(self, name: &str) -> bool {
        let required = self.schema.get("required").and_then(Value::as_array);
        required.is_some_and(|names| names.iter().any(|other| other == name))
    }

    /// The form that asks for these; `None` where one of them cannot be asked for.
    fn form(self, message: &str, fields: &[(&str, &Value)]) -> Option<Form> {
        // Numbers that are suggested are as they were written.
        let source = raw_properties(self.written);
        let properties = fields.iter().map(|(name, schema)| {
            let raw = source.get(*name);
            let property = raw.map_or_else(|| schema.to_string(), |raw| raw.get().to_owned());
            ((*name).to_owned(), property)
        });
        let required = fields.iter().filter(|(name, _)| self.requires(name));
        let required: Vec<&str> = required.map(|(name, _)| *name).collect();
        let schema = written(vec![
            ("type".to_owned(), "\"object\"".to_owned()),
            ("properties".to_owned(), written(properties.collect())),
            ("required".to_owned(), Value::from(required).to_string()),
        ]);
        let form = written(vec![
            ("message".to_owned(), Value::from(message).to_string()),
            ("requestedSchema".to_owned(), schema),
        ]);
        Form::parse(&form)
    }
}

fn wrong(at: String, reason: &str) -> WrongPart {
    let reason = reason.to_owned();
    WrongPart { at, reason }
}

fn without_members(object: &RawValue, names: &BTreeSet<&str>) -> Option<String> {
    let Ordered(members) = serde_json::from_str(object.get()).ok()?;
    let rest = members
        .into_iter()
        .filter(|(name, _)| !names.contains(name.as_str()));
    Some(written(
        rest.map(|(name, value)| (name, value.get().to_owned()))
            .collect(),
    ))
}

fn without_items(array: &RawValue, names: &BTreeSet<&str>) -> Option<String> {
    let mut items: Vec<String> = serde_json::from_str(array.get()).ok()?;
    items.retain(|name| !names.contains(name.as_str()));
    Some(Value::from(items).to_string())
}

/// An object of these members, whose values are JSON already.
fn written(members: Vec<(String, String)>) -> String {
    let members = members.into_iter();
    let members = members.map(|(name, value)| format!("{}:{value}", Value::from(name)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

/// The members of an object in their order, which a map of `serde_json` does not keep.
struct Ordered<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Ordered<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(OrderedVisitor).map(Self)
    }
}

struct OrderedVisitor;

impl<'de> Visitor<'de> for OrderedVisitor {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(members)
    }
}

#[cfg(test)]
mod tests;
