//! A finished `CallToolResult`, in the form in which it is recorded and sent: text that is never made twice.

use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

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

impl From<ToolResult> for CallResult {
    fn from(result: ToolResult) -> Self {
        let text = |value| to_raw_value(&value).expect("a JSON value always has a text");
        Self {
            content: text(json!([{ "type": "text", "text": result.text }])),
            structured_content: result.structured.map(text),
            is_error: result.is_error,
        }
    }
}
