//! What a call gives a tool: the values of its arguments, and how their numbers were written.
//!
//! Schemas are held against the values. A command gets the numbers as they were written: the value of `1.50` is 1.5, and
//! that of an integer of thirty digits is another number.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::quote::named;
use crate::json::{is_nearly_whole, numbers, with_numbers_as_written};
use crate::rpc::members::read;

/// The arguments of a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    /// Their values by name.
    pub(crate) values: Map<String, Value>,
    /// The JSON of those whose values have numbers that are written in another way.
    written: BTreeMap<String, String>,
}

/// An argument that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable {
    /// Its name.
    pub(crate) argument: String,
    /// Why, in words.
    pub(crate) why: String,
}

impl From<Map<String, Value>> for Given {
    fn from(values: Map<String, Value>) -> Self {
        Self {
            values,
            written: BTreeMap::new(),
        }
    }
}

impl Given {
    /// Reads arguments as they came.
    ///
    /// # Errors
    /// The first one that cannot be read.
    pub(crate) fn read(arguments: BTreeMap<String, &RawValue>) -> Result<Self, Unreadable> {
        let mut given = Self::default();
        for (argument, raw) in arguments {
            match readable(raw) {
                Ok(value) => given.add(argument, value, raw),
                Err(why) => return Err(Unreadable { argument, why }),
            }
        }
        Ok(given)
    }

    fn add(&mut self, name: String, value: Value, raw: &RawValue) {
        let is_respelled = |number: &str| {
            let value: Option<Value> = serde_json::from_str(number).ok();
            let written = value.map(|value| value.to_string());
            written.is_some_and(|written| written != number)
        };
        if numbers(raw.get()).any(is_respelled)
            && let Some(written) = with_numbers_as_written(raw)
        {
            self.written.insert(name.clone(), written);
        }
        self.values.insert(name, value);
    }

    /// The same numbers with these values, which are some of them.
    pub(crate) fn with_values(&self, values: Map<String, Value>) -> Self {
        Self {
            values,
            written: self.written.clone(),
        }
    }

    /// The same, and of these others those that are absent or `null` in it.
    pub(crate) fn or(mut self, others: &Self) -> Self {
        for (name, value) in &others.values {
            if self.value(name).is_none() {
                self.values.insert(name.clone(), value.clone());
                let written = others.written.get(name).cloned();
                self.written.extend(written.map(|it| (name.clone(), it)));
            }
        }
        self
    }

    /// The value of an argument; `None` where it is absent or `null`.
    pub(crate) fn value(&self, name: &str) -> Option<&Value> {
        given(&self.values, name)
    }

    /// An argument as it stands in a text: a string is itself, anything else its JSON. `None` where it is absent or `null`.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        let value = self.value(name)?;
        let written = self.written.get(name).cloned();
        Some(written.unwrap_or_else(|| in_text(value)))
    }

    /// The items of an argument as they stand in texts; `None` where it is no list.
    pub(crate) fn items(&self, name: &str) -> Option<Vec<String>> {
        let items = self.value(name)?.as_array()?;
        let written = self.written.get(name).map(String::as_str);
        let written: Option<Vec<&RawValue>> =
            written.and_then(|written| serde_json::from_str(written).ok());
        let texts = items.iter().enumerate().map(|(index, item)| {
            let raw = written.as_ref().and_then(|written| written.get(index));
            match raw.filter(|_| !item.is_string()) {
                Some(raw) => raw.get().to_owned(),
                None => in_text(item),
            }
        });
        Some(texts.collect())
    }

    /// All of them as one line of JSON.
    pub(crate) fn json(&self) -> String {
        let members = self.values.iter().map(|(name, value)| {
            let name_in_json = Value::from(name.as_str());
            match self.written(name) {
                Some(written) => format!("{name_in_json}:{written}"),
                None => format!("{name_in_json}:{value}"),
            }
        });
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    }

    /// The JSON of an argument, sorted by names, where its numbers are written in another way than those of its value.
    pub(crate) fn written(&self, name: &str) -> Option<&str> {
        self.written.get(name).map(String::as_str)
    }
}

/// The value of an argument; `None` where it is absent or `null`.
pub(crate) fn given<'a>(arguments: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    arguments.get(name).filter(|value| !value.is_null())
}

/// Reads a value. One with a number that has a fraction, which the value does not have, is refused: a schema that wants a
/// whole number would take it.
fn readable(raw: &RawValue) -> Result<Value, String> {
    let value = read(raw)?;
    match numbers(raw.get()).find(|number| is_nearly_whole(number)) {
        None => Ok(value),
        Some(number) => Err(format!(
            "the number {} has more digits than can be held against a schema",
            named(number)
        )),
    }
}

fn in_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::value::RawValue;

    use super::Given;

    fn read(json: &str) -> Result<Given, String> {
        let arguments: BTreeMap<String, &RawValue> = serde_json::from_str(json).expect("an object");
        Given::read(arguments).map_err(|unreadable| unreadable.why)
    }

    #[test]
    fn numbers_stand_in_texts_as_they_were_written() {
        for number in [
            "7",
            "-0",
            "1.50",
            "1e2",
            "31.245270191439438",
            "0.1000000000000000055511151231257827",
            "123456789012345678901234567890",
        ] {
            let json = format!(r#"{{"a":{number},"b":[{number},"{number}",[{number}]]}}"#);
            let given = read(&json).expect("they can be read");
            assert_eq!(given.text("a").as_deref(), Some(number));
            let list = format!("[{number}]");
            let items = given.items("b").expect("a list");
            assert_eq!(items, [number, number, &list]);
            assert_eq!(given.json(), json);
        }
    }

    #[test]
    fn what_is_left_out_has_no_text() {
        let given = read(r#"{"a":1.50,"b":null}"#).expect("they can be read");
        let rest = given.with_values(serde_json::Map::new());
        assert_eq!(rest.text("a"), None);
        assert_eq!(rest.json(), "{}");
        assert_eq!(given.text("b"), None);
    }

    #[test]
    fn a_number_that_no_schema_can_judge_is_refused() {
        for number in ["1e400", "1.00000000000000000001", "1e-400"] {
            let why = read(&format!(r#"{{"a":[{number}]}}"#)).expect_err("it cannot be read");
            assert!(why.contains("number"), "{number}: {why}");
        }
    }
}
