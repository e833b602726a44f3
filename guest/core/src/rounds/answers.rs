//! What a client says that its person answered.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::input::{Form, fitting};
use crate::json::are_equal;

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
struct Fitting {
    action: Action,
    #[serde(default)]
    content: BTreeMap<String, Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    Accept,
    Decline,
    Cancel,
}

/// Reads a client's response to a form.
pub(super) fn reply(form: &Form, response: &RawValue) -> Reply {
    let text = match fitting(form, response) {
        Ok(text) => text,
        Err(why) => return Reply::Unfit(why),
    };
    let Fitting { action, content } = match serde_json::from_str(&text) {
        Ok(fitting) => fitting,
        Err(error) => return Reply::Unfit(error.to_string()),
    };
    match action {
        Action::Accept => values(content).map_or_else(Reply::Unfit, Reply::Accepted),
        Action::Decline => Reply::Declined,
        Action::Cancel => Reply::Cancelled,
    }
}

/// The values of the fields. They are carried as values from here on, so a number has to be one that stays what it is.
fn values(content: BTreeMap<String, Box<RawValue>>) -> Result<Map<String, Value>, String> {
    let values = content.into_iter().map(|(name, json)| {
        let value: Value = serde_json::from_str(json.get()).map_err(|error| error.to_string())?;
        match value.is_number() && !are_equal(json.get(), &value.to_string()) {
            true => Err(format!("`{name}` has to be a number of at most 15 digits")),
            false => Ok((name, value)),
        }
    });
    values.collect()
}
