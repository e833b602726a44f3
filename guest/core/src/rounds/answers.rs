//! What a client says that its person answered.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::input::{Form, fitting};

/// An answer to a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// The values of its fields, all of which fit.
    Accepted(Map<String, Value>),
    /// The person does not want to.
    Declined,
    /// The person did not choose.
    Cancelled,
    /// It is no answer, or does not fit, for this reason.
    Unfit(String),
}

/// What [`fitting`] gives.
#[derive(Deserialize)]
#[serde(tag = "action", rename_all = "lowercase")]
enum Fitting {
    Accept {
        #[serde(default)]
        content: Map<String, Value>,
    },
    Decline,
    Cancel,
}

/// Reads a client's response to a form.
pub(super) fn reply(form: &Form, response: &RawValue) -> Reply {
    let text = match fitting(form, response) {
        Ok(text) => text,
        Err(why) => return Reply::Unfit(why),
    };
    match serde_json::from_str(&text) {
        Ok(Fitting::Accept { content }) => Reply::Accepted(content),
        Ok(Fitting::Decline) => Reply::Declined,
        Ok(Fitting::Cancel) => Reply::Cancelled,
        Err(error) => Reply::Unfit(error.to_string()),
    }
}
