//! What a task asks, as this client reads it: the fields in their order.
//!
//! *Source:* SEP-2663, Task Polling; MCP 2026-07-28, Elicitation.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::field::Field;
use super::line::{one_line, shortened};

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

/// Whether a field may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    Required,
    Optional,
}

/// How much of a question is shown in a list, in characters: enough to know which one it is.
const SHOWN_CHARS: usize = 100;

impl Question {
    /// Whether the field of this name may be left out.
    pub(super) fn need(&self, name: &str) -> Need {
        if self.required.iter().any(|required| required == name) {
            Need::Required
        } else {
            Need::Optional
        }
    }

    /// What is to be done about its page, where it has one.
    pub(super) fn to_open(&self) -> Option<String> {
        let page = self.page.as_deref()?;
        Some(format!("open this page: {}", one_line(page)))
    }

    /// The beginning of its message, in one line.
    fn in_short(&self) -> String {
        shortened(&one_line(&self.message), SHOWN_CHARS)
    }
}

/// The keys of the questions that a task asks.
pub(super) fn keys(task: &Value) -> BTreeSet<String> {
    let asked = task["inputRequests"].as_object();
    asked
        .into_iter()
        .flatten()
        .map(|(key, _)| key.clone())
        .collect()
}

/// What a person needs to know of a task's questions beside its status message: the page to open, and of several ones what
/// each of them is; `None` where that is nothing.
pub(super) fn details(task: &Value) -> Option<String> {
    // Of what cannot be read nothing more can be said.
    let questions: Vec<Question> = Asked::deserialize(task).ok()?.into();
    match questions.as_slice() {
        [] => None,
        [only] => only.to_open(),
        several => Some(format!(
            "it asks, behind the key of each question:\n{}",
            overview(several)
        )),
    }
}

/// What is asked, a line each, behind its key.
pub(super) fn overview(questions: &[Question]) -> String {
    let lines = questions.iter().map(|question| {
        let page = question.to_open().map(|page| format!(" ({page})"));
        let page = page.unwrap_or_default();
        format!("  {}  {}{page}", question.key, question.in_short())
    });
    lines.collect::<Vec<_>>().join("\n")
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
        serde_json::from_str(task.get()).map(Self::into)
    }
}

impl From<Asked> for Vec<Question> {
    fn from(asked: Asked) -> Self {
        let questions = asked.input_requests.0.into_iter();
        questions.map(Question::from).collect()
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
    use serde_json::json;

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
    fn several_questions_are_shown_with_their_keys_and_pages() {
        let question = |key: &str, message: &str, page: Option<&str>| Question {
            key: key.to_owned(),
            message: message.to_owned(),
            page: page.map(str::to_owned),
            fields: Vec::new(),
            required: Vec::new(),
        };
        let long = "x".repeat(101);
        let questions = [
            question("a", "Sure?\n\u{1b}[2J", None),
            question("b", &long, Some("https://example.org/")),
        ];
        let lines = format!(
            "  a  Sure?  [2J\n  b  {}… (open this page: https://example.org/)",
            &long[1..]
        );
        assert_eq!(overview(&questions), lines);
    }

    #[test]
    fn a_page_is_named_and_so_is_each_of_several_questions() {
        let page = json!({"params": {"message": "m", "url": "https://example.org/"}});
        let form = json!({"params": {"message": "n"}});
        let told = |asked: Value| details(&json!({ "inputRequests": asked }));
        let open = "open this page: https://example.org/";
        assert_eq!(told(json!({ "a": page })).as_deref(), Some(open));
        assert_eq!(told(json!({ "a": form })), None);
        let both = told(json!({ "a": page, "b": form }));
        let list = format!("it asks, behind the key of each question:\n  a  m ({open})\n  b  n");
        assert_eq!(both, Some(list));
        assert_eq!(details(&json!({"status": "working"})), None);
    }

    #[test]
    fn a_task_may_ask_nothing() {
        let task: &RawValue = serde_json::from_str(r#"{"status":"working"}"#).expect("it is JSON");
        assert!(Asked::parse(task).expect("it can be read").is_empty());
    }
}
