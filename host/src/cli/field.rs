//! Fields of a form: written by who asks, read by who answers.
//!
//! *Source:* MCP 2026-07-28, Elicitation, Requested Schema.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::json::Json;

/// What a person fills in.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(from = "Schema")]
pub(super) struct Field {
    pub(super) kind: Kind,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    /// As it is written.
    pub(super) default: Option<Json>,
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
    default: Option<Json>,
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

    /// What may be typed, behind a blank; nothing for a text, of which that goes without saying.
    pub(super) fn choices(&self) -> String {
        match &self.kind {
            Kind::Text => String::new(),
            Kind::Number => " (a number)".to_owned(),
            Kind::Integer => " (a whole number)".to_owned(),
            Kind::Boolean => " (yes or no)".to_owned(),
            Kind::One(choices) => format!(" (one of {})", all(choices)),
            Kind::Several(choices) if have_commas(choices) => format!(
                " (some of {}; by value or number, with commas between)",
                all(choices)
            ),
            Kind::Several(choices) => format!(" (some of {}, with commas between)", all(choices)),
        }
    }

    /// Its default, behind a blank; nothing where it has none.
    pub(super) fn default_in_words(&self) -> String {
        let default = self.default.as_ref();
        default.map_or_else(String::new, |default| format!(" [{}]", in_words(default)))
    }

    /// Reads a value that somebody typed.
    ///
    /// # Errors
    /// What would be right.
    pub(super) fn read(&self, text: &str) -> Result<Json, String> {
        match &self.kind {
            Kind::Text => Ok(json!(text).into()),
            Kind::Number => number(text),
            Kind::Integer => whole(text),
            Kind::Boolean => match text.to_lowercase().as_str() {
                "true" | "yes" | "y" => Ok(json!(true).into()),
                "false" | "no" | "n" => Ok(json!(false).into()),
                _ => Err("give yes or no".to_owned()),
            },
            Kind::One(choices) => pick(choices, text).map(|value| json!(value).into()),
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
                Ok(json!(values).into())
            }
        }
    }

    /// Its schema.
    pub(super) fn schema(&self) -> Json {
        let mut schema: BTreeMap<String, Json> = BTreeMap::new();
        let mut put = |name: &str, value: Value| {
            schema.insert(name.to_owned(), value.into());
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
        if let Some(min_length) = self.min_length {
            put("minLength", min_length.into());
        }
        if let Some(default) = &self.default {
            schema.insert("default".to_owned(), default.clone());
        }
        schema.into()
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

/// A value in words, as a person would type it.
pub(super) fn in_words(json: &Json) -> String {
    match json.value() {
        Value::String(text) => text,
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Array(values) if values.is_empty() => "none".to_owned(),
        Value::Array(values) => {
            let values = values.into_iter().map(|value| in_words(&value.into()));
            values.collect::<Vec<String>>().join(", ")
        }
        _ => json.to_string(),
    }
}

fn number(text: &str) -> Result<Json, String> {
    let number = Json::number(text).ok_or("give a number, such as 2.5")?;
    // Of one that is larger no reader could make anything.
    let is_finite = |value: f64| value.is_finite();
    if !number.text().parse().is_ok_and(is_finite) {
        return Err(format!(
            "give a number from {:e} to {:e}",
            f64::MIN,
            f64::MAX
        ));
    }
    Ok(number)
}

/// The least and the greatest whole number that the server takes.
const LEAST: i128 = i64::MIN as i128;
const GREATEST: i128 = u64::MAX as i128;

fn whole(text: &str) -> Result<Json, String> {
    let number = Json::number(text).filter(|it| !it.text().contains(['.', 'e', 'E']));
    let number = number.ok_or("give a whole number")?;
    let is_in_range = |value: i128| (LEAST..=GREATEST).contains(&value);
    if !number.text().parse().is_ok_and(is_in_range) {
        return Err(format!("give a whole number from {LEAST} to {GREATEST}"));
    }
    // What reads it as a floating-point number would make -0.0 of it.
    Ok(match number.text() {
        "-0" => json!(0).into(),
        _ => number,
    })
}

/// The values to choose from, with what they mean. With their numbers where a comma in one of them would hide where it
/// ends.
fn all(choices: &[Choice]) -> String {
    let each = choices.iter().map(|choice| match &choice.title {
        Some(title) if *title != choice.value => format!("{} = {title}", choice.value),
        _ => choice.value.clone(),
    });
    if have_commas(choices) {
        let numbered = (1..)
            .zip(each)
            .map(|(number, it)| format!("{number}: {it}"));
        return numbered.collect::<Vec<_>>().join("; ");
    }
    each.collect::<Vec<_>>().join(", ")
}

/// Whether one of them, or what it means, has a comma.
fn have_commas(choices: &[Choice]) -> bool {
    let has_comma = |it: &Choice| {
        let title = it.title.as_deref().unwrap_or_default();
        it.value.contains(',') || title.contains(',')
    };
    choices.iter().any(has_comma)
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
                default: Json::number("1.50"),
                min_length: Some(0),
                ..Field::of(kind)
            };
            let read = serde_json::from_str(field.schema().text());
            assert_eq!(read.ok(), Some(field));
        }
    }

    #[test]
    fn what_is_typed_is_read_as_what_the_field_has() {
        let read = |kind: Kind, text: &str| Some(Field::of(kind).read(text).ok()?.to_string());
        let is = |json: &str| Some(json.to_owned());
        assert_eq!(read(Kind::Text, "1"), is("\"1\""));
        assert_eq!(read(Kind::Number, "2.50"), is("2.50"));
        assert_eq!(read(Kind::Number, "2"), is("2"));
        assert_eq!(read(Kind::Number, ".3"), is("0.3"));
        assert_eq!(read(Kind::Number, "nan"), None);
        assert_eq!(read(Kind::Integer, "-17"), is("-17"));
        assert_eq!(read(Kind::Integer, "-0"), is("0"));
        assert_eq!(read(Kind::Integer, "2.5"), None);
        assert_eq!(read(Kind::Boolean, "Yes"), is("true"));
        assert_eq!(read(Kind::Boolean, "1"), None);
    }

    #[test]
    fn a_number_that_is_too_large_is_told_what_would_not_be() {
        let read = |kind: Kind, text: &str| Field::of(kind).read(text);
        for right in ["18446744073709551615", "-9223372036854775808"] {
            read(Kind::Integer, right).expect("it is just small enough");
        }
        for large in [
            "18446744073709551616",
            "-9223372036854775809",
            &"9".repeat(60),
        ] {
            let error = read(Kind::Integer, large).expect_err("it is too large");
            let words = "give a whole number from -9223372036854775808 to 18446744073709551615";
            assert_eq!(error, words);
        }
        let error = read(Kind::Number, "1e400").expect_err("it is too large");
        assert!(error.starts_with("give a number from -1.79"), "{error}");
    }

    #[test]
    fn values_are_said_as_they_are_typed() {
        for (value, words) in [
            (json!("a b"), "a b"),
            (json!(["a", "c"]), "a, c"),
            (json!([]), "none"),
            (json!(true), "yes"),
            (json!(2.5), "2.5"),
        ] {
            assert_eq!(in_words(&value.into()), words);
        }
        let number = Json::number("1.50").expect("it is one");
        assert_eq!(in_words(&number), "1.50");
    }

    #[test]
    fn a_choice_has_a_value_a_title_and_a_number() {
        let choices = || vec![choice("r", Some("Red")), choice("1", None)];
        let read = |kind: Kind, text: &str| Some(Field::of(kind).read(text).ok()?.value());
        let one = |text: &str| read(Kind::One(choices()), text);
        assert_eq!(one("r"), Some(json!("r")));
        assert_eq!(one("Red"), Some(json!("r")));
        assert_eq!(one("1"), Some(json!("1")));
        assert_eq!(one("2"), Some(json!("1")));
        assert_eq!(one("0"), None);
        let several = |text: &str| read(Kind::Several(choices()), text);
        assert_eq!(several("1, Red"), Some(json!(["1", "r"])));
        assert_eq!(several("r,1,Red,2"), Some(json!(["r", "1"])));
        assert_eq!(several(""), Some(json!([])));
        assert_eq!(several("x"), None);
    }

    #[test]
    fn a_choice_whose_title_has_a_comma_is_shown_with_its_number_and_picked_by_it() {
        let choices = || vec![choice("a", Some("Yes, all")), choice("b", None)];
        let (one, several) = (
            Field::of(Kind::One(choices())),
            Field::of(Kind::Several(choices())),
        );
        assert_eq!(one.choices(), " (one of 1: a = Yes, all; 2: b)");
        let list = " (some of 1: a = Yes, all; 2: b; by value or number, with commas between)";
        assert_eq!(several.choices(), list);
        let value = |field: &Field, text: &str| Some(field.read(text).ok()?.value());
        for text in ["Yes, all", "1", "a"] {
            assert_eq!(value(&one, text), Some(json!("a")), "{text}");
        }
        assert_eq!(value(&several, "2,1"), Some(json!(["b", "a"])));
        assert_eq!(value(&several, "Yes, all"), None);
    }
}
