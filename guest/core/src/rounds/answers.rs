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
    /// It is no answer, or does not fit.
    Unfit,
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
    let fitting = fitting(form, response).ok();
    let fitting = fitting.and_then(|text| serde_json::from_str(&text).ok());
    match fitting {
        Some(Fitting::Accept { content }) => Reply::Accepted(content),
        Some(Fitting::Decline) => Reply::Declined,
        Some(Fitting::Cancel) => Reply::Cancelled,
        None => Reply::Unfit,
    }
}
