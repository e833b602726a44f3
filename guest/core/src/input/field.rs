//! One field of a form.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Number, Value, json};

use super::choice::{Choices, RawChoices};
use super::format::Format;
use super::number::{Bounds, is_too_large, whole};
use crate::json::{are_equal, is_nearly_whole};
use crate::text::{visible, visible_lines};

/// What a person fills in, and how it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    title: Option<String>,
    description: Option<String>,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Text(Text),
    Number(Bounds),
    Integer(Bounds),
    Boolean(Option<bool>),
    One(Choices, Option<String>),
    Several(Several),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Text {
    min_length: Option<u64>,
    max_length: Option<u64>,
    format: Option<Format>,
    default: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Several {
    choices: Choices,
    min_items: Option<u64>,
    max_items: Option<u64>,
    default: Option<Vec<String>>,
}

/// A field as MCP writes it. What is none of these members means nothing to us, and is not passed on.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawField {
    #[serde(rename = "type")]
    kind: RawKind,
    title: Option<String>,
    description: Option<String>,
    default: Option<Box<RawValue>>,
    min_length: Option<u64>,
    max_length: Option<u64>,
    format: Option<Format>,
    minimum: Option<Number>,
    maximum: Option<Number>,
    #[serde(flatten)]
    choices: RawChoices,
    items: Option<RawChoices>,
    min_items: Option<u64>,
    max_items: Option<u64>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RawKind {
    String,
    Number,
    Integer,
    Boolean,
    Array,
}

impl Field {
    /// Reads a field; `None` where it makes no sense, as one does whose default does not fit it.
    pub(super) fn parse(raw: RawField) -> Option<Self> {
        let default = raw.default.clone();
        let field = Self {
            title: raw.title.as_deref().map(visible),
            description: raw.description.as_deref().map(visible_lines),
            kind: Kind::parse(raw)?,
        };
        match default {
            Some(default) => field.fit_as_written(&default).map(|_| field),
            None => Some(field),
        }
    }

    /// A box with this title, which is to be ticked or not.
    pub(super) fn yes_or_no(title: &str) -> Self {
        Self {
            title: Some(title.to_owned()),
            description: None,
            kind: Kind::Boolean(None),
        }
    }

    /// A line of at most `most` characters, maybe none, that is typed into a terminal.
    pub(super) fn line(most: u64) -> Self {
        let description = "typed into the command's terminal, with Enter behind it; who declines types the end of file (Ctrl-D)";
        Self {
            title: None,
            description: Some(description.to_owned()),
            kind: Kind::Text(Text {
                min_length: Some(0),
                max_length: Some(most),
                format: None,
                default: None,
            }),
        }
    }

    /// The value of an answer in its one form; `None` where it does not fit.
    pub(super) fn fit(&self, value: &Value) -> Option<Value> {
        match (&self.kind, value) {
            (Kind::Text(text), Value::String(value)) => text.fits(value).then(|| json!(value)),
            (Kind::Number(bounds), Value::Number(number)) => {
                bounds.contain(number).then(|| json!(number))
            }
            (Kind::Integer(bounds), Value::Number(number)) => {
                let number = whole(number).filter(|number| bounds.contain(number))?;
                Some(Value::Number(number))
            }
            (Kind::Boolean(_), Value::Bool(value)) => Some(Value::Bool(*value)),
            (Kind::One(choices, _), Value::String(value)) => {
                choices.contain(value).then(|| json!(value))
            }
            (Kind::Several(several), Value::Array(values)) => several.fit(values),
            _ => None,
        }
    }

    /// The JSON of an answer in its one form, where its numbers are as they were written: those of a job may have more
    /// digits than ours. `None` where it does not fit.
    pub(super) fn fit_as_written(&self, json: &RawValue) -> Option<Box<RawValue>> {
        let value: Value = serde_json::from_str(json.get()).ok()?;
        let fitting = self.fit(&value)?;
        if !value.is_number() {
            return to_raw_value(&fitting).ok();
        }
        if is_nearly_whole(json.get()) {
            return None;
        }
        match fitting == value {
            true => Some(json.to_owned()),
            // A whole number that was not written as one.
            false => to_raw_value(&fitting)
                .ok()
                .filter(|fitting| are_equal(fitting.get(), json.get())),
        }
    }

    /// What would fit in the place of an answer that does not, in words.
    pub(super) fn wanted_instead_of(&self, json: &RawValue) -> String {
        let wanted = self.wanted();
        let json = json.get();
        match &self.kind {
            // Who is told the bound that it breaks knows enough.
            Kind::Integer(bounds) if is_too_large(json) && !bounds.exclude(json) => format!(
                "{wanted}, and none is taken but from {} to {}, written without `.` and `e`",
                i64::MIN,
                u64::MAX
            ),
            _ => wanted,
        }
    }

    /// What fits, in words.
    fn wanted(&self) -> String {
        match &self.kind {
            Kind::Text(text) => text.wanted(),
            Kind::Number(bounds) => format!("a number{}", bounds.in_words()),
            Kind::Integer(bounds) => format!("a whole number{}", bounds.in_words()),
            Kind::Boolean(_) => "true or false".to_owned(),
            Kind::One(choices, _) => format!("one of {}", choices.listed()),
            Kind::Several(several) => {
                let number = counted(several.min_items, several.max_items);
                let number = number.map(|number| format!("{number} "));
                let number = number.unwrap_or_default();
                format!("a list of {number}of {}", several.choices.listed())
            }
        }
    }

    /// Its schema, in the order of its members' names.
    pub(super) fn schema(&self) -> BTreeMap<String, Box<RawValue>> {
        let members = self.members().into_iter();
        let members = members.map(|(name, value)| {
            let value = to_raw_value(&value).expect("a JSON value always has a text");
            (name, value)
        });
        let mut schema: BTreeMap<_, _> = members.collect();
        if let Kind::Number(bounds) | Kind::Integer(bounds) = &self.kind
            && let Some(default) = bounds.default.clone()
        {
            let default = RawValue::from_string(default).expect("it was read as JSON");
            schema.insert("default".to_owned(), default);
        }
        schema
    }

    /// The members of its schema, but for a number that is suggested.
    fn members(&self) -> Map<String, Value> {
        let mut schema = match &self.kind {
            Kind::Text(text) => text.schema(),
            Kind::Number(bounds) => bounded("number", bounds),
            Kind::Integer(bounds) => bounded("integer", bounds),
            Kind::Boolean(default) => members("boolean", [("default", default.map(Value::Bool))]),
            Kind::One(choices, default) => {
                let (name, list) = choices.member("oneOf");
                let default = default.as_ref().map(|default| json!(default));
                members("string", [(name, Some(list)), ("default", default)])
            }
            Kind::Several(several) => several.schema(),
        };
        let words = [("title", &self.title), ("description", &self.description)];
        for (name, text) in words {
            if let Some(text) = text {
                schema.insert(name.to_owned(), json!(text));
            }
        }
        schema
    }
}

impl Kind {
    /// The default is read as what it has to be, and checked by who calls this.
    fn parse(raw: RawField) -> Option<Self> {
        let written = raw.default;
        let default = written.as_ref().map(|raw| serde_json::from_str(raw.get()));
        let default: Option<Value> = default.transpose().ok()?;
        Some(match raw.kind {
            RawKind::String if raw.choices.is_empty() => {
                let default = default.as_ref().and_then(Value::as_str);
                // It is sent back as it is by who does not touch it, so nothing may be in it that nobody sees.
                if default.is_some_and(|default| !is_visible_in_lines(default)) {
                    return None;
                }
                Self::Text(Text {
                    min_length: raw.min_length,
                    max_length: raw.max_length,
                    format: raw.format,
                    default: default.map(str::to_owned),
                })
            }
            RawKind::String => {
                let default = default.as_ref().and_then(Value::as_str).map(str::to_owned);
                Self::One(raw.choices.parse()?, default)
            }
            RawKind::Number | RawKind::Integer => {
                let bounds = Bounds {
                    minimum: raw.minimum,
                    maximum: raw.maximum,
                    default: written.map(|raw| raw.get().to_owned()),
                };
                match raw.kind {
                    RawKind::Integer => Self::Integer(bounds),
                    _ => Self::Number(bounds),
                }
            }
            RawKind::Boolean => Self::Boolean(default.as_ref().and_then(Value::as_bool)),
            RawKind::Array => Self::Several(Several {
                choices: raw.items?.parse()?,
                min_items: raw.min_items,
                max_items: raw.max_items,
                default: default.and_then(|default| serde_json::from_value(default).ok()),
            }),
        })
    }
}

impl Text {
    fn fits(&self, text: &str) -> bool {
        let length = count(text.chars().count());
        self.min_length.is_none_or(|least| least <= length)
            && self.max_length.is_none_or(|most| length <= most)
            && self.format.is_none_or(|format| format.fits(text))
    }

    fn wanted(&self) -> String {
        let length = counted(self.min_length, self.max_length).map(|number| {
            let is_one = self.max_length.or(self.min_length) == Some(1);
            let unit = if is_one { "character" } else { "characters" };
            format!(" of {number} {unit}")
        });
        let format = self.format.map(|format| format!(", {}", format.in_words()));
        format!(
            "a text{}{}",
            length.unwrap_or_default(),
            format.unwrap_or_default()
        )
    }

    fn schema(&self) -> Map<String, Value> {
        let list = [
            ("minLength", self.min_length.map(Value::from)),
            ("maxLength", self.max_length.map(Value::from)),
            ("format", self.format.map(|format| json!(format))),
            (
                "default",
                self.default.as_ref().map(|default| json!(default)),
            ),
        ];
        members("string", list)
    }
}

impl Several {
    fn fit(&self, values: &[Value]) -> Option<Value> {
        let picked: Vec<&str> = values.iter().map(Value::as_str).collect::<Option<_>>()?;
        let length = count(picked.len());
        let is_fit = picked.iter().all(|value| self.choices.contain(value))
            && self.min_items.is_none_or(|least| least <= length)
            && self.max_items.is_none_or(|most| length <= most);
        is_fit.then(|| json!(picked))
    }

    fn schema(&self) -> Map<String, Value> {
        let (name, list) = self.choices.member("anyOf");
        let items = match name {
            "enum" => json!({ "type": "string", name: list }),
            _ => json!({ name: list }),
        };
        let list = [
            ("items", Some(items)),
            ("minItems", self.min_items.map(Value::from)),
            ("maxItems", self.max_items.map(Value::from)),
            (
                "default",
                self.default.as_ref().map(|default| json!(default)),
            ),
        ];
        members("array", list)
    }
}

/// A number that may be of these, in words; `None` where it may be any.
fn counted(least: Option<u64>, most: Option<u64>) -> Option<String> {
    match (least, most) {
        (None, None) => None,
        (Some(least), None) => Some(format!("at least {least}")),
        (None, Some(most)) => Some(format!("at most {most}")),
        (Some(least), Some(most)) if least == most => Some(least.to_string()),
        (Some(least), Some(most)) => Some(format!("{least} to {most}")),
    }
}

/// Whether all of a text of several lines can be seen.
fn is_visible_in_lines(text: &str) -> bool {
    text.lines().all(|line| visible(line) == line)
}

fn bounded(kind: &str, bounds: &Bounds) -> Map<String, Value> {
    let mut schema = members(kind, []);
    bounds.describe(&mut schema);
    schema
}

fn members<const N: usize>(
    kind: &str,
    list: [(&'static str, Option<Value>); N],
) -> Map<String, Value> {
    let mut members = Map::new();
    members.insert("type".to_owned(), json!(kind));
    for (name, value) in list {
        if let Some(value) = value {
            members.insert(name.to_owned(), value);
        }
    }
    members
}

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
