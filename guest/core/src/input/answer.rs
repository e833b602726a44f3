//! Which answers fit what was asked.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::form::{Fields, Form, LINE, Subject};
use super::limits::ANSWER_BYTES;
use crate::json::repeated;
use crate::text::echoed;

/// What a client gives back, as MCP writes it. What is in it matters only where somebody accepts.
#[derive(Debug, Deserialize)]
struct Given<'a> {
    action: Action,
    #[serde(default, borrow)]
    content: Option<&'a RawValue>,
}

/// What the job gets of it, where it fits.
#[derive(Debug, Serialize)]
struct Answer {
    action: Action,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<BTreeMap<String, Box<RawValue>>>,
}

/// Why something is no answer at all.
const NO_ANSWER: &str = "it has to be an object with `action`, which is accept, decline or cancel, and with accept \
    `content`, an object";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    Accept,
    Decline,
    Cancel,
}

/// A client's answer as the text that the job gets: what was asked for and nothing else.
///
/// # Errors
/// Why it does not fit, in words.
pub(crate) fn fitting(form: &Form, answer: &RawValue) -> Result<String, String> {
    let answer = checked(form, answer)?;
    let text = serde_json::to_string(&answer)
        .expect("strings, numbers and lists of strings, whose serializers do not fail");
    if text.len() > ANSWER_BYTES {
        return Err(format!("it may have {ANSWER_BYTES} bytes"));
    }
    Ok(text)
}

/// A client's answer to a form of [`Form::line`] as the line that is to be typed; `None` for the end of the file, which is
/// what somebody types who gives up.
///
/// # Errors
/// Why it does not fit, in words.
pub(crate) fn typed(form: &Form, answer: &RawValue) -> Result<Option<String>, String> {
    let content = checked(form, answer)?.content;
    let line = content.and_then(|mut content| content.remove(LINE));
    let line = line.map(|line| serde_json::from_str(line.get()));
    line.transpose().map_err(|_| NO_ANSWER.to_owned())
}

fn checked(form: &Form, answer: &RawValue) -> Result<Answer, String> {
    // serde's derived code would take an array for a struct.
    let is_object = answer.get().starts_with('{');
    let given: Option<Given<'_>> = serde_json::from_str(answer.get())
        .ok()
        .filter(|_| is_object);
    let Some(Given { action, content }) = given else {
        return Err(NO_ANSWER.to_owned());
    };
    if let Some(place) = repeated(answer.get()) {
        return Err(format!("`{}` is given twice", echoed(&place)));
    }
    let content = match (action, &form.subject) {
        (Action::Accept, Subject::RequestedSchema(fields)) => {
            let content = content.map(|content| serde_json::from_str(content.get()));
            let content = content.transpose().map_err(|_| NO_ANSWER.to_owned())?;
            Some(filled_in(fields, &content.unwrap_or_default())?)
        }
        // Nothing was typed, whatever a client sends with it.
        (Action::Accept, Subject::Url(_)) | (Action::Decline | Action::Cancel, _) => None,
    };
    Ok(Answer { action, content })
}

/// The value of each field that has one. `null` counts as none, as some clients write it for what was left empty.
fn filled_in(
    fields: &Fields,
    content: &BTreeMap<String, &RawValue>,
) -> Result<BTreeMap<String, Box<RawValue>>, String> {
    let mut values = BTreeMap::new();
    for (name, field) in &fields.fields {
        match content.get(name).filter(|value| value.get() != "null") {
            None if fields.required.contains(name) => {
                return Err(format!("`{name}` is missing"));
            }
            None => {}
            Some(json) => {
                let value = field.fit_as_written(json);
                let value = value.ok_or_else(|| {
                    format!("`{name}` has to be {}", field.wanted_instead_of(json))
                })?;
                values.insert(name.clone(), value);
            }
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests;
