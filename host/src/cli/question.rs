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
use super::terminal::set_in;
use crate::shell_word::shell_word;

/// The questions of a task.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asked {
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

    /// What is to be filled in, a line for each field: its name, as `--set` takes it, and what may be typed.
    pub(super) fn to_fill_in(&self) -> impl Iterator<Item = String> {
        self.fields.iter().map(|(name, field)| {
            let need = match self.need(name) {
                Need::Required => "",
                Need::Optional => ", may be left out",
            };
            let words = [&field.title, &field.description].into_iter().flatten();
            let words: String = words.map(|text| format!(": {text}")).collect();
            let (choices, default) = (field.choices(), field.default_in_words());
            one_line(&format!(
                "field {}{choices}{default}{need}{words}",
                shell_word(name)
            ))
        })
    }

    /// All of its message; its lines behind the first are set in, so that none of them can look like one of ours.
    fn whole(&self) -> String {
        set_in(&self.message)
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

/// What a person needs to know of questions beside the status message of their task, which is `said`: what it has no room
/// for, the page to open or what is to be filled in, and of several ones what each of them is; `None` where that is nothing.
pub(super) fn details(questions: &[Question], said: &str) -> Option<String> {
    match questions {
        [] => None,
        [only] => {
            // Where it is there, it is in one line.
            let is_said = said.contains(&one_line(&only.message));
            let whole = (!is_said).then(|| only.whole());
            let whole = whole.map(|whole| format!("it asks:\n    {whole}"));
            let others = only.to_open().into_iter().chain(only.to_fill_in());
            let lines: Vec<String> = whole.into_iter().chain(others).collect();
            (!lines.is_empty()).then(|| lines.join("\n"))
        }
        several => Some(format!(
            "it asks, behind the key of each question:\n{}",
            listed(several, Question::whole)
        )),
    }
}

/// What is asked, the beginning of each question behind its key, with what is to be filled in.
pub(super) fn overview(questions: &[Question]) -> String {
    listed(questions, Question::in_short)
}

fn listed(questions: &[Question], message: fn(&Question) -> String) -> String {
    let lines = questions.iter().map(|question| {
        let page = question.to_open().map(|page| format!(" ({page})"));
        let page = page.unwrap_or_default();
        let fields = question.to_fill_in().map(|line| format!("\n    {line}"));
        let fields: String = fields.collect();
        format!("  {}  {}{page}{fields}", question.key, message(question))
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

/// Reads what a task asks from the task as the server wrote it; in their order.
///
/// # Errors
/// Where they cannot be read.
pub(super) fn parse(task: &RawValue) -> serde_json::Result<Vec<Question>> {
    let asked: Asked = serde_json::from_str(task.get())?;
    let questions = asked.input_requests.0.into_iter();
    Ok(questions.map(Question::from).collect())
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
        let questions = parse(task).expect("it can be read");
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

    /// What is told of a task that asks this.
    fn told(asked: &Value) -> Option<String> {
        let task = json!({ "inputRequests": asked }).to_string();
        let task: &RawValue = serde_json::from_str(&task).expect("it is JSON");
        details(
            &parse(task).expect("it can be read"),
            "waits for an answer: m n; running for 1 s",
        )
    }

    #[test]
    fn a_page_is_named_and_so_is_each_of_several_questions() {
        let page = json!({"params": {"message": "m", "url": "https://example.org/"}});
        let form = json!({"params": {"message": "n"}});
        let open = "open this page: https://example.org/";
        assert_eq!(told(&json!({ "a": page })).as_deref(), Some(open));
        assert_eq!(told(&json!({ "a": form })), None);
        let both = told(&json!({ "a": page, "b": form }));
        let list = format!("it asks, behind the key of each question:\n  a  m ({open})\n  b  n");
        assert_eq!(both, Some(list));
        assert_eq!(details(&[], ""), None);
    }

    #[test]
    fn what_the_status_message_has_no_room_for_is_told_whole() {
        let long = format!("Delete\n{}?", "x".repeat(200));
        let form = json!({"params": {"message": long}});
        let whole = format!("Delete\n    {}?", "x".repeat(200));
        assert_eq!(
            told(&json!({ "a": form })),
            Some(format!("it asks:\n    {whole}"))
        );
        let several = told(&json!({ "a": form, "b": form })).expect("they are listed");
        assert!(
            several.ends_with(&format!("\n  a  {whole}\n  b  {whole}")),
            "{several}"
        );
    }

    #[test]
    fn what_is_to_be_filled_in_is_told_of_each_field() {
        let form = json!({"params": {"message": "n", "requestedSchema": {
            "properties": {
                "branch": {"type": "string", "enum": ["main", "dev"], "default": "main"},
                "how many": {"type": "integer", "title": "Number", "description": "of\nfiles"},
            },
            "required": ["how many"],
        }}});
        let (branch, number) = (
            "field branch (one of main, dev) [main], may be left out",
            "field 'how many' (a whole number): Number: of files",
        );
        assert_eq!(
            told(&json!({ "a": form })),
            Some(format!("{branch}\n{number}"))
        );
        let several = told(&json!({ "a": form, "b": {"params": {"message": "m"}} }));
        let list = format!("  a  n\n    {branch}\n    {number}\n  b  m");
        assert_eq!(
            several,
            Some(format!("it asks, behind the key of each question:\n{list}"))
        );
    }

    #[test]
    fn a_task_may_ask_nothing() {
        let task: &RawValue = serde_json::from_str(r#"{"status":"working"}"#).expect("it is JSON");
        assert!(parse(task).expect("it can be read").is_empty());
    }
}
