//! What a task asks, as this client reads it: the fields in their order.
//!
//! *Source:* SEP-2663, Task Polling; MCP 2026-07-28, Elicitation.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::field::Field;

/// The questions of a task, in their order.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Asked {
    #[serde(default)]
    input_requests: Ordered<Request>,
}

/// One question.
#[derive(Debug)]
pub(super) struct Question {
    /// Its name.
    pub(super) key: String,
    /// What the person reads.
    pub(super) message: String,
    /// The page to open; `None` where there is a form.
    pub(super) page: Option<String>,
    /// What to fill in, by name.
    pub(super) fields: Vec<(String, Field)>,
    /// What has to be filled in.
    pub(super) required: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Request {
    params: Params,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    #[serde(default)]
    message: String,
    url: Option<String>,
    #[serde(default)]
    requested_schema: Schema,
}

#[derive(Debug, Default, Deserialize)]
struct Schema {
    #[serde(default)]
    properties: Ordered<Field>,
    #[serde(default)]
    required: Vec<String>,
}

impl Asked {
    /// Reads them from a task as the server wrote it.
    ///
    /// # Errors
    /// Where they cannot be read.
    pub(super) fn parse(task: &RawValue) -> serde_json::Result<Vec<Question>> {
        let asked: Self = serde_json::from_str(task.get())?;
        let questions = asked.input_requests.0.into_iter();
        Ok(questions.map(Question::from).collect())
    }
}

impl From<(String, Request)> for Question {
    fn from((key, Request { params }): (String, Request)) -> Self {
        Self {
            key,
            message: params.message,
            page: params.url,
            fields: params.requested_schema.properties.0,
            required: params.requested_schema.required,
        }
    }
}

/// The members of an object, in their order.
#[derive(Debug)]
struct Ordered<T>(Vec<(String, T)>);

impl<T> Default for Ordered<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ordered<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<T>(Vec<(String, T)>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
            type Value = Ordered<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(
                mut self,
                mut members: M,
            ) -> Result<Ordered<T>, M::Error> {
                while let Some(member) = members.next_entry()? {
                    self.0.push(member);
                }
                Ok(Ordered(self.0))
            }
        }

        deserializer.deserialize_map(Members(Vec::new()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_and_their_fields_keep_their_order() {
        let task = concat!(
            r#"{"status":"input_required","inputRequests":{"b":{"method":"elicitation/create","params":{"message":"m","#,
            r#""requestedSchema":{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"boolean"}},"required":["a"]}}},"#,
            r#""a":{"method":"elicitation/create","params":{"mode":"url","message":"n","url":"https://example.org/"}}}}"#,
        );
        let task: &RawValue = serde_json::from_str(task).expect("it is JSON");
        let questions = Asked::parse(task).expect("it can be read");
        let [first, second] = questions.as_slice() else {
            panic!("there are two: {questions:?}");
        };
        let names: Vec<&str> = first.fields.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!((first.key.as_str(), names), ("b", vec!["z", "a"]));
        assert_eq!(first.required, ["a"]);
        assert_eq!(second.page.as_deref(), Some("https://example.org/"));
    }

    #[test]
    fn a_task_may_ask_nothing() {
        let task: &RawValue = serde_json::from_str(r#"{"status":"working"}"#).expect("it is JSON");
        assert!(Asked::parse(task).expect("it can be read").is_empty());
    }
}
