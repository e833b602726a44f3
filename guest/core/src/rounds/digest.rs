//! Short names for long things: the same for the same thing, and another for any other.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::Question;
use crate::tool::given::Given;

/// The SHA-256 of something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Digest(String);

/// The digest of a call's arguments. The order of their members and white space make no difference.
pub(super) fn digest_of_arguments(arguments: &Given) -> Digest {
    let mut text = String::new();
    write_object(&mut text, &arguments.values);
    // The commands differ of calls in which the same number is written in two ways.
    let mut names: Vec<&String> = arguments.values.keys().collect();
    names.sort();
    for name in names {
        if let Some(written) = arguments.written(name) {
            let (name, length) = (Value::from(name.as_str()), written.len());
            text.push_str(&format!("\n{name}={length}:{written}"));
        }
    }
    digest(&text)
}

/// The digest of all that a person sees of a question.
pub(super) fn digest_of_question(question: &Question) -> Digest {
    let text = serde_json::to_string(&question.form)
        .expect("strings, numbers and lists of them, whose serializers do not fail");
    digest(&text)
}

fn digest(text: &str) -> Digest {
    Digest(URL_SAFE_NO_PAD.encode(Sha256::digest(text)))
}

/// Writes members by name, whatever order a map keeps them in.
fn write_object(text: &mut String, members: &Map<String, Value>) {
    let mut members: Vec<_> = members.iter().collect();
    members.sort_by_key(|(name, _)| name.as_str());
    text.push('{');
    for (name, value) in members {
        text.push_str(&Value::from(name.as_str()).to_string());
        text.push(':');
        write(text, value);
        text.push(',');
    }
    text.push('}');
}

fn write(text: &mut String, value: &Value) {
    match value {
        Value::Object(members) => write_object(text, members),
        Value::Array(values) => {
            text.push('[');
            for value in values {
                write(text, value);
                text.push(',');
            }
            text.push(']');
        }
        other => text.push_str(&other.to_string()),
    }
}
