//! A finished `CallToolResult`, in the form in which it is recorded and sent: text that is never made twice. Only a
//! remark to a repeated call is put into it afterwards.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use crate::tool::RawResult;

/// The members of a `CallToolResult` that are the tool's own.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallResult {
    content: Box<RawValue>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    structured_content: Option<Box<RawValue>>,
    is_error: bool,
}

/// Reads structured content that is there, `null` included: it is a value like any other.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(deserializer).map(Some)
}

impl CallResult {
    /// Whether the model should read it as a failure.
    pub(crate) fn is_error(&self) -> bool {
        self.is_error
    }

    /// The same result, where this follows the first line of its text. Unchanged where the record was damaged, so
    /// that no text is found in it.
    pub(crate) fn with_second_line(self, line: &str) -> Self {
        let content = serde_json::from_str(self.content.get()).ok();
        match content.and_then(|content| with_second_line(content, line)) {
            Some(content) => Self {
                content: raw(&content),
                ..self
            },
            None => self,
        }
    }

    /// The same result with this text as a block behind all others, which stay as they were written. Unchanged where the
    /// record was damaged.
    pub(crate) fn with_last_block(self, text: &str) -> Self {
        let blocks = serde_json::from_str::<Vec<&RawValue>>(self.content.get()).ok();
        let last = raw(&json!({ "type": "text", "text": text }));
        let content = blocks.map(|mut blocks| {
            blocks.push(&last);
            to_raw_value(&blocks).expect("JSON values always have a text")
        });
        match content {
            Some(content) => Self { content, ..self },
            None => self,
        }
    }
}

fn with_second_line(mut content: Value, line: &str) -> Option<Value> {
    let place = content.pointer_mut("/0/text")?;
    let text = place.as_str()?;
    let (first, rest) = text.split_at(text.find('\n').unwrap_or(text.len()));
    *place = format!("{first}\n{line}{rest}").into();
    Some(content)
}

impl<R: Into<RawResult>> From<R> for CallResult {
    fn from(result: R) -> Self {
        let RawResult {
            content,
            structured,
            is_error,
        } = result.into();
        Self {
            content,
            structured_content: structured,
            is_error,
        }
    }
}

fn raw(value: &Value) -> Box<RawValue> {
    to_raw_value(value).expect("a JSON value always has a text")
}
