//! The tools that the server offers, each in a module of its name.
//!
//! Knows what a tool's arguments mean and what its result says; knows no JSON-RPC and no task state.

pub(crate) mod run;
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "for tools of the configuration")
)]
pub(crate) mod user_arguments;

use serde_json::Value;

/// What a tool gives back, before the protocol wraps it: `content`, `structuredContent` and `isError`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ToolResult {
    /// The only text block of `content`.
    pub(crate) text: String,
    /// `structuredContent`, as the tool's output schema describes it; `None` where the tool did nothing.
    pub(crate) structured: Option<Value>,
    /// Whether the model should read the text as a failure.
    pub(crate) is_error: bool,
}

impl ToolResult {
    /// The result of a call that was not carried out; `text` tells the model why and how to call again.
    pub(crate) fn refused(text: String) -> Self {
        Self {
            text,
            structured: None,
            is_error: true,
        }
    }
}
