//! Which answers fit what was asked.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::form::{Fields, Form, Subject};
use super::limits::ANSWER_BYTES;

/// What a client gives back, as MCP writes it; also what the job gets, where it fits.
#[derive(Debug, Deserialize, Serialize)]
struct Answer {
    action: Action,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<BTreeMap<String, Value>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    Accept,
    Decline,
    Cancel,
}

/// A client's answer as the text that the job gets: what was asked for and nothing else. `None` where it does not fit.
pub(crate) fn fitting(form: &Form, answer: &RawValue) -> Option<String> {
    // serde's derived code would take an array for a struct.
    if !answer.get().starts_with('{') {
        return None;
    }
    let answer: Answer = serde_json::from_str(answer.get()).ok()?;
    let content = match (answer.action, &form.subject) {
        (Action::Accept, Subject::RequestedSchema(fields)) => {
            Some(filled_in(fields, &answer.content.unwrap_or_default())?)
        }
        // Nothing was typed, whatever a client sends with it.
        (Action::Accept, Subject::Url(_)) | (Action::Decline | Action::Cancel, _) => None,
    };
    let action = answer.action;
    let text = serde_json::to_string(&Answer { action, content })
        .expect("strings, numbers and lists of strings, whose serializers do not fail");
    (text.len() <= ANSWER_BYTES).then_some(text)
}

/// The value of each field that has one. `null` counts as none, as some clients write it for what was left empty.
fn filled_in(
    fields: &Fields,
    content: &BTreeMap<String, Value>,
) -> Option<BTreeMap<String, Value>> {
    let mut values = BTreeMap::new();
    for (name, field) in &fields.fields {
        match content.get(name) {
            None | Some(Value::Null) if fields.required.contains(name) => return None,
            None | Some(Value::Null) => {}
            Some(value) => {
                values.insert(name.clone(), field.fit(value)?);
            }
        }
    }
    Some(values)
}

#[cfg(test)]
mod tests;
