//! A finished `CallToolResult`, in the form in which it is recorded and sent: text that is never made twice. Only a
//! remark to a repeated call is put into it afterwards.

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use crate::tool::ToolResult;

/// The members of a `CallToolResult` that are the tool's own.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallResult {
    content: Box<RawValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    structured_content: Option<Box<RawValue>>,
    is_error: bool,
}

impl CallResult {
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
}

fn with_second_line(mut content: Value, line: &str) -> Option<Value> {
    let place = content.pointer_mut("/0/text")?;
    let text = place.as_str()?;
    let (first, rest) = text.split_at(text.find('\n').unwrap_or(text.len()));
    *place = format!("{first}\n{line}{rest}").into();
    Some(content)
}

impl From<ToolResult> for CallResult {
    fn from(result: ToolResult) -> Self {
        Self {
            content: raw(&json!([{ "type": "text", "text": result.text }])),
            structured_content: result.structured.as_ref().map(raw),
            is_error: result.is_error,
        }
    }
}

fn raw(value: &Value) -> Box<RawValue> {
    to_raw_value(value).expect("a JSON value always has a text")
}
