//! Fields of a form: written by who asks, read by who answers.
//!
//! *Source:* MCP 2026-07-28, Elicitation, Requested Schema.

use serde::Deserialize;
use serde_json::{Map, Number, Value, json};

/// What a person fills in.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(from = "Schema")]
pub(super) struct Field {
    pub(super) kind: Kind,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) default: Option<Value>,
    /// How many characters a text has at least; `None` where nothing is said of that.
    pub(super) min_length: Option<u64>,
}

/// What kind of value it has.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Text,
    Number,
    Integer,
    Boolean,
    One(Vec<Choice>),
    Several(Vec<Choice>),
}

/// One of the values to choose from.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct Choice {
    #[serde(rename = "const")]
    pub(super) value: String,
    pub(super) title: Option<String>,
}

/// A field as the protocol writes it. The server checks answers; this is what a person is shown.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Schema {
    #[serde(rename = "type", default)]
    kind: String,
    title: Option<String>,
    description: Option<String>,
    default: Option<Value>,
    min_length: Option<u64>,
    #[serde(flatten)]
    choices: Choices,
    items: Option<Choices>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Choices {
    #[serde(rename = "enum")]
    values: Option<Vec<String>>,
    one_of: Option<Vec<Choice>>,
    any_of: Option<Vec<Choice>>,
}

impl From<Choices> for Option<Vec<Choice>> {
    fn from(it: Choices) -> Self {
        let bare = |values: Vec<String>| {
            let choices = values
                .into_iter()
                .map(|value| Choice { value, title: None });
            choices.collect()
        };
        it.one_of.or(it.any_of).or(it.values.map(bare))
    }
}

impl From<Schema> for Field {
    fn from(it: Schema) -> Self {
        let choices = Option::from(it.choices);
        let kind = match (it.kind.as_str(), choices) {
            ("number", _) => Kind::Number,
            ("integer", _) => Kind::Integer,
            ("boolean", _) => Kind::Boolean,
            ("array", _) => {
                let choices: Option<Vec<Choice>> = it.items.and_then(Option::from);
                Kind::Several(choices.unwrap_or_default())
            }
            (_, Some(choices)) => Kind::One(choices),
            (_, None) => Kind::Text,
        };
        Self {
            kind,
            title: it.title,
            description: it.description,
            default: it.default,
            min_length: it.min_length,
        }
    }
}

impl Field {
    /// A field of this kind, without anything else.
    pub(super) fn of(kind: Kind) -> Self {
        Self {
            kind,
            title: None,
            description: None,
            default: None,
            min_length: None,
        }
    }

    /// Reads a value that somebody typed.
    ///
    /// # Errors
    /// What would be right.
    pub(super) fn read(&self, text: &str) -> Result<Value, String> {
        match &self.kind {
            Kind::Text => Ok(text.into()),
            Kind::Number => number(text).ok_or_else(|| "give a number, such as 2.5".to_owned()),
            Kind::Integer => whole(text).ok_or_else(|| "give a whole number".to_owned()),
            Kind::Boolean => match text.to_lowercase().as_str() {
                "true" | "yes" | "y" => Ok(true.into()),
                "false" | "no" | "n" => Ok(false.into()),
                _ => Err("give yes or no".to_owned()),
            },
            Kind::One(choices) => pick(choices, text).map(Value::from),
            Kind::Several(choices) => {
                let parts = text
                    .split(',')
                    .map(str::trim)
                    .filter(|part| !part.is_empty());
                let mut values: Vec<String> = Vec::new();
                for part in parts {
                    let value = pick(choices, part)?;
                    // Who says a value twice, say by its name and by its number, wants it once.
                    if !values.contains(&value) {
                        values.push(value);
                    }
                }
                Ok(values.into())
            }
        }
    }

    /// Its schema.
    pub(super) fn schema(&self) -> Value {
        let mut schema = Map::new();
        let mut put = |name: &str, value: Value| {
            schema.insert(name.to_owned(), value);
        };
        let kind = match &self.kind {
            Kind::Text => "string",
            Kind::Number => "number",
            Kind::Integer => "integer",
            Kind::Boolean => "boolean",
            Kind::One(choices) => {
                let (name, list) = listed(choices, "oneOf");
                put(name, list);
                "string"
            }
            Kind::Several(choices) => {
                let (name, list) = listed(choices, "anyOf");
                put("items", json!({ "type": "string", name: list }));
                "array"
            }
        };
        put("type", kind.into());
        for (name, text) in [("title", &self.title), ("description", &self.description)] {
            if let Some(text) = text {
                put(name, text.as_str().into());
            }
        }
        if let Some(default) = &self.default {
            put("default", default.clone());
        }
        if let Some(min_length) = self.min_length {
            put("minLength", min_length.into());
        }
        Value::Object(schema)
    }
}

fn listed(choices: &[Choice], titled: &'static str) -> (&'static str, Value) {
    if choices.iter().all(|choice| choice.title.is_none()) {
        return ("enum", choices.iter().map(|it| it.value.as_str()).collect());
    }
    let each = choices.iter().map(|choice| {
        let title = choice.title.as_ref().unwrap_or(&choice.value);
        json!({ "const": choice.value, "title": title })
    });
    (titled, each.collect())
}

/// The value of a choice that is called by its value, its title, or its number in the list.
fn pick(choices: &[Choice], text: &str) -> Result<String, String> {
    let by_name = choices
        .iter()
        .find(|choice| choice.value == text)
        .or_else(|| choices.iter().find(|it| it.title.as_deref() == Some(text)));
    let by_number = || choices.get(text.parse::<usize>().ok()?.checked_sub(1)?);
    let names: Vec<&str> = choices.iter().map(|it| it.value.as_str()).collect();
    let choice = by_name.or_else(by_number);
    choice.map(|choice| choice.value.clone()).ok_or_else(|| {
        format!(
            "give one of {}, or its number in this list",
            names.join(", ")
        )
    })
}

fn number(text: &str) -> Option<Value> {
    whole(text).or_else(|| Some(Number::from_f64(text.parse().ok()?)?.into()))
}

fn whole(text: &str) -> Option<Value> {
    text.parse::<i64>().ok().map(Value::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(value: &str, title: Option<&str>) -> Choice {
        let (value, title) = (value.to_owned(), title.map(str::to_owned));
        Choice { value, title }
    }

    #[test]
    fn what_was_written_is_read_again() {
        let choices = vec![choice("r", Some("Red")), choice("g", Some("g"))];
        for kind in [
            Kind::Text,
            Kind::Number,
            Kind::Integer,
            Kind::Boolean,
            Kind::One(vec![choice("a", None)]),
            Kind::One(choices.clone()),
            Kind::Several(choices),
        ] {
            let field = Field {
                title: Some("t".to_owned()),
                default: Some(json!(1)),
                min_length: Some(0),
                ..Field::of(kind)
            };
            let read = serde_json::from_value(field.schema());
            assert_eq!(read.ok(), Some(field));
        }
    }

    #[test]
    fn what_is_typed_is_read_as_what_the_field_has() {
        let read = |kind: Kind, text: &str| Field::of(kind).read(text).ok();
        assert_eq!(read(Kind::Text, "1"), Some(json!("1")));
        assert_eq!(read(Kind::Number, "2.5"), Some(json!(2.5)));
        assert_eq!(read(Kind::Number, "2"), Some(json!(2)));
        assert_eq!(read(Kind::Number, "nan"), None);
        assert_eq!(read(Kind::Integer, "2.5"), None);
        assert_eq!(read(Kind::Boolean, "Yes"), Some(json!(true)));
        assert_eq!(read(Kind::Boolean, "1"), None);
    }

    #[test]
    fn a_choice_has_a_value_a_title_and_a_number() {
        let choices = || vec![choice("r", Some("Red")), choice("1", None)];
        let one = |text: &str| Field::of(Kind::One(choices())).read(text).ok();
        assert_eq!(one("r"), Some(json!("r")));
        assert_eq!(one("Red"), Some(json!("r")));
        assert_eq!(one("1"), Some(json!("1")));
        assert_eq!(one("2"), Some(json!("1")));
        assert_eq!(one("0"), None);
        let several = |text: &str| Field::of(Kind::Several(choices())).read(text).ok();
        assert_eq!(several("1, Red"), Some(json!(["1", "r"])));
        assert_eq!(several("r,1,Red,2"), Some(json!(["r", "1"])));
        assert_eq!(several(""), Some(json!([])));
        assert_eq!(several("x"), None);
    }
}
