//! Writing down what was received as what is expected.

use serde_json::{Map, Value};

use super::matching::{Names, is_met, is_placeholder, server_meta};
use super::parse::{Action, Transcript};
use super::play::Failure;

/// The longest expectation that is written on one line, in characters.
const WIDTH: usize = 110;

/// The transcript's text with the unmet expectation replaced by the reply that came. Placeholders that were met stay.
pub(super) fn rewritten(transcript: &Transcript, failure: &Failure) -> String {
    let Some((index, reply)) = &failure.unmet else {
        panic!("this cannot be blessed: {}", failure.message)
    };
    let step = &transcript.steps[*index];
    let Action::Expect(expected) = &step.action else {
        unreachable!("only an expectation is unmet by a reply")
    };
    let mut names = failure.names.clone();
    let expectation = generalized(expected, reply, &mut names);
    let mut lines = transcript.lines.clone();
    let old = step.first_line..step.first_line + step.line_count;
    lines.splice(old, written(&expectation));
    lines.join("\n") + "\n"
}

/// `reply` with the placeholders of `expected` that it meets, and with the names of tasks instead of their ids.
fn generalized(expected: &Value, reply: &Value, names: &mut Names) -> Value {
    if let Value::String(text) = expected
        && is_placeholder(text)
        && is_met(text, reply, names)
    {
        return expected.clone();
    }
    match reply {
        Value::Object(_) if *reply == server_meta() => "@server".into(),
        Value::Object(members) => {
            let mut written = Map::new();
            for (key, value) in members {
                let old = expected.get(key).unwrap_or(&Value::Null);
                written.insert(key.clone(), generalized(old, value, names));
            }
            written.into()
        }
        Value::Array(items) => {
            let old = |index| expected.get(index).unwrap_or(&Value::Null);
            let items = items.iter().enumerate();
            items
                .map(|(index, item)| generalized(old(index), item, names))
                .collect()
        }
        Value::String(text) => {
            let mut text = text.clone();
            for (placeholder, meaning) in names {
                text = text.replace(meaning.as_str(), placeholder);
            }
            text.into()
        }
        other => other.clone(),
    }
}

fn written(expectation: &Value) -> Vec<String> {
    let line = format!("< {expectation}");
    if line.chars().count() <= WIDTH {
        return vec![line];
    }
    let text = format!("{expectation:#}");
    let lines = text.lines().enumerate();
    lines
        .map(|(index, line)| format!("{} {line}", if index == 0 { "<" } else { " " }))
        .collect()
}
