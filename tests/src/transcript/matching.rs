//! Whether a reply is the expected one: exactly, but for placeholders.

use std::collections::BTreeMap;

use serde_json::{Value, json};

type Members = serde_json::Map<String, Value>;

/// What a play has met that has a name in the transcript, by its placeholder: `<uuid:name>`, `<state:name>`, `<key:name>`.
pub(super) type Names = BTreeMap<String, String>;

/// The least length of a `requestState`: its signature alone has more characters.
const STATE_CHARS_MIN: usize = 43;

/// Where two values differ.
#[derive(Debug)]
pub(super) struct Mismatch {
    /// The path to the place, such as `result.status`.
    path: String,
    expected: Value,
    found: Value,
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "at `{}`: expected {}, found {}",
            self.path, self.expected, self.found
        )
    }
}

/// Compares, and remembers the names that `expected` gives.
pub(super) fn compare(expected: &Value, found: &Value, names: &mut Names) -> Result<(), Mismatch> {
    at("", expected, found, names)
}

fn at(path: &str, expected: &Value, found: &Value, names: &mut Names) -> Result<(), Mismatch> {
    let is_same = match (expected, found) {
        (Value::Object(wanted), Value::Object(given)) => {
            let wanted = &named_as(wanted, given, names);
            let keys: std::collections::BTreeSet<&String> =
                wanted.keys().chain(given.keys()).collect();
            for key in keys {
                let path = if path.is_empty() {
                    key.clone()
                } else {
                    format!("{path}.{key}")
                };
                let absent = json!("(absent)");
                let wanted = wanted.get(key).unwrap_or(&absent);
                let given = given.get(key).unwrap_or(&absent);
                at(&path, wanted, given, names)?;
            }
            true
        }
        (Value::Array(wanted), Value::Array(given)) if wanted.len() == given.len() => {
            for (index, (wanted, given)) in wanted.iter().zip(given).enumerate() {
                at(&format!("{path}[{index}]"), wanted, given, names)?;
            }
            true
        }
        (Value::String(wanted), found) => is_met(wanted, found, names),
        _ => expected == found,
    };
    if is_same {
        return Ok(());
    }
    Err(Mismatch {
        path: path.to_owned(),
        expected: expected.clone(),
        found: found.clone(),
    })
}

/// The members that are wanted, where the name of the only one may be a placeholder: then with what it stands for.
fn named_as(wanted: &Members, given: &Members, names: &mut Names) -> Members {
    let mut members = wanted.clone();
    if let (Some((name, value)), Some(found)) = (wanted.iter().next(), given.keys().next())
        && wanted.len() == 1
        && is_met(name, &json!(found), names)
    {
        members = Members::from_iter([(found.clone(), value.clone())]);
    }
    members
}

/// Whether `found` is what the string `wanted` stands for.
pub(super) fn is_met(wanted: &str, found: &Value, names: &mut Names) -> bool {
    if let Some(sort) = sort(wanted) {
        return is_named(sort, wanted, found, names);
    }
    let wanted = fill_in(wanted, names);
    match wanted.as_str() {
        "<any>" => *found != "(absent)",
        "<int>" => found.is_i64() || found.is_u64(),
        "<time>" => found.as_str().is_some_and(is_time),
        "@server" => *found == server_meta(),
        text => match text
            .strip_prefix("<text:")
            .and_then(|rest| rest.strip_suffix('>'))
        {
            Some(parts) => found.as_str().is_some_and(|found| contains(found, parts)),
            None => found == text,
        },
    }
}

/// Whether a string is a placeholder, and not itself.
pub(super) fn is_placeholder(text: &str) -> bool {
    matches!(text, "<any>" | "<int>" | "<time>" | "@server")
        || text.starts_with("<text:")
        || sort(text).is_some()
}

/// What every result says of its server.
pub(super) fn server_meta() -> Value {
    json!({
        "io.modelcontextprotocol/serverInfo": {
            "name": "backburner",
            "title": "Backburner",
            "version": env!("CARGO_PKG_VERSION"),
        }
    })
}

/// What a name can stand for.
#[derive(Clone, Copy)]
pub(super) enum Sort {
    Task,
    RequestState,
    Question,
}

/// What the name in `<uuid:name>`, `<state:name>` or `<key:name>` stands for, where that is the whole text.
pub(super) fn sort(text: &str) -> Option<Sort> {
    let (sort, name) = text.strip_prefix('<')?.strip_suffix('>')?.split_once(':')?;
    match sort {
        _ if name.contains('<') => None,
        "uuid" => Some(Sort::Task),
        "state" => Some(Sort::RequestState),
        "key" => Some(Sort::Question),
        _ => None,
    }
}

/// Replaces every placeholder whose name is known.
pub(super) fn fill_in(text: &str, names: &Names) -> String {
    let mut text = text.to_owned();
    for (placeholder, meaning) in names {
        text = text.replace(placeholder, meaning);
    }
    text
}

fn is_named(sort: Sort, placeholder: &str, found: &Value, names: &mut Names) -> bool {
    let Some(found) = found.as_str() else {
        return false;
    };
    let may_be = match sort {
        Sort::Task => is_uuid(found),
        Sort::RequestState => is_state(found),
        Sort::Question => is_key(found),
    };
    match names.get(placeholder) {
        Some(known) => known == found,
        None if may_be && !names.values().any(|known| known == found) => {
            names.insert(placeholder.to_owned(), found.to_owned());
            true
        }
        None => false,
    }
}

/// Whether `text` may be a `requestState`.
fn is_state(text: &str) -> bool {
    let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    text.len() >= STATE_CHARS_MIN && text.bytes().all(is_fit)
}

/// Whether `text` may be the key of a question.
pub(super) fn is_key(text: &str) -> bool {
    let is_fit = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=64).contains(&text.len()) && text.bytes().all(is_fit)
}

/// Whether `text` is a version 4 UUID in the form that task ids have.
pub(super) fn is_uuid(text: &str) -> bool {
    let Ok(id) = uuid::Uuid::parse_str(text) else {
        return false;
    };
    id.get_version_num() == 4 && id.hyphenated().to_string() == text
}

/// Whether `text` is a moment like `2026-07-28T12:34:56.789Z`.
pub(super) fn is_time(text: &str) -> bool {
    const FORM: &[u8; 24] = b"0000-00-00T00:00:00.000Z";
    text.len() == FORM.len()
        && text.bytes().zip(FORM).all(|(found, form)| match form {
            b'0' => found.is_ascii_digit(),
            _ => found == *form,
        })
}

/// Whether `text` has all parts, which `…` separates, one after the other.
fn contains(text: &str, parts: &str) -> bool {
    let mut rest = text;
    parts.split('…').all(|part| match rest.split_once(part) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expected: &Value, found: &Value, is_same: bool) {
        let result = compare(expected, found, &mut Names::new());
        assert_eq!(
            result.is_ok(),
            is_same,
            "{expected} against {found}: {result:?}"
        );
    }

    #[test]
    fn values_match_exactly_but_for_placeholders() {
        check(&json!({"a": 1}), &json!({"a": 1}), true);
        check(&json!({"a": 1}), &json!({"a": 1, "b": 2}), false);
        check(&json!({"a": 1, "b": 2}), &json!({"a": 1}), false);
        check(&json!({"a": "<any>"}), &json!({}), false);
        check(&json!({"a": "<any>"}), &json!({"a": null}), true);
        check(&json!("<int>"), &json!(-3), true);
        check(&json!("<int>"), &json!(3.5), false);
        check(&json!("<time>"), &json!("2026-07-28T12:34:56.789Z"), true);
        check(&json!("<time>"), &json!("2026-07-28T12:34:56Z"), false);
        check(&json!("<text:one…three>"), &json!("one two three"), true);
        check(&json!("<text:three…one>"), &json!("one two three"), false);
        check(&json!([1, "<any>"]), &json!([1]), false);
    }

    #[test]
    fn a_name_is_bound_once_and_to_one_task() {
        let [one, two] = [
            "1c3f4a5e-7d21-4f0e-9a86-0d9f6a1b2c3d",
            "2c3f4a5e-7d21-4f0e-9a86-0d9f6a1b2c3d",
        ];
        check(&json!(["<uuid:a>", "<uuid:a>"]), &json!([one, one]), true);
        check(&json!(["<uuid:a>", "<uuid:a>"]), &json!([one, two]), false);
        check(&json!(["<uuid:a>", "<uuid:b>"]), &json!([one, two]), true);
        check(&json!(["<uuid:a>", "<uuid:b>"]), &json!([one, one]), false);
        check(
            &json!(["<uuid:a>", "<text:id <uuid:a>>"]),
            &json!([one, format!("the id {one}")]),
            true,
        );
        check(&json!("<uuid:a>"), &json!("1c3f4a5e"), false);
        let named = json!([{"<key:a>": 1}, "<key:a>"]);
        check(&named, &json!([{"q-1": 1}, "q-1"]), true);
        check(&named, &json!([{"q-1": 2}, "q-1"]), false);
        check(&named, &json!([{"q-1": 1}, "q-2"]), false);
        check(&named, &json!([{"q-1": 1, "q-2": 1}, "q-1"]), false);
    }
}
