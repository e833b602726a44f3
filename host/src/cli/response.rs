//! What a person gives back to a question, as it is sent and as the job reads it.
//!
//! *Source:* MCP 2026-07-28, Elicitation, Response Actions.

use serde::{Deserialize, Serialize};

use super::json::Json;

/// What a person gives back. No enum, since serde reads the members of one in a way that loses how numbers are written.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Response {
    pub(super) action: Action,
    /// What is filled in; of a page, and without agreement, there is nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<Json>,
}

/// What a person does about a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Action {
    Accept,
    Decline,
    /// Neither.
    Cancel,
}

impl Response {
    /// A yes, with what is filled in.
    pub(super) fn accept(content: Option<Json>) -> Self {
        Self {
            action: Action::Accept,
            content,
        }
    }

    /// A no.
    pub(super) fn decline() -> Self {
        Self {
            action: Action::Decline,
            content: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_read_as_it_was_written() {
        let content: Json = serde_json::from_str(r#"{"a":1.50}"#).expect("it is JSON");
        for (response, json) in [
            (
                Response::accept(Some(content)),
                r#"{"action":"accept","content":{"a":1.50}}"#,
            ),
            (Response::accept(None), r#"{"action":"accept"}"#),
            (Response::decline(), r#"{"action":"decline"}"#),
        ] {
            let written = serde_json::to_string(&response).expect("it can be written");
            assert_eq!(written, json);
            let read: Response = serde_json::from_str(&written).expect("it can be read");
            assert_eq!(read, response);
        }
    }
}
