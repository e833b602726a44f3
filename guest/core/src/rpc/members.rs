//! Reading the members of an object that a client sent, with errors that name the member.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::RpcError;

/// Reads a member that is there, `null` included: `"id": null` is not the same as no id.
pub(crate) fn present<'de, D>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error>
where
    D: Deserializer<'de>,
{
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Reads the object that `name` stands for.
///
/// # Errors
/// [`RpcError::InvalidParams`] where it is missing or something else, and where it cannot be read: the message is JSON
/// as a whole by then, but JSON may be nested deeper, have greater numbers, or halves of characters.
pub(crate) fn object<'a, T: Deserialize<'a>>(
    name: &str,
    raw: Option<&'a RawValue>,
) -> Result<T, RpcError> {
    let raw = raw.ok_or_else(|| missing(name, "an object"))?;
    if !raw.get().starts_with('{') {
        return Err(wrong(name, "an object"));
    }
    read(raw).map_err(|why| RpcError::InvalidParams(format!("`{name}` cannot be read: {why}")))
}

/// Reads a part of a message.
///
/// # Errors
/// Why it cannot be read, in words.
pub(crate) fn read<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Result<T, String> {
    serde_json::from_str(raw.get()).map_err(|error| without_place(&error))
}

/// What is wrong with a part of a message, but not where: the line and the column would be counted from the beginning
/// of the part, which the client does not know.
fn without_place(error: &serde_json::Error) -> String {
    let place = format!(" at line {} column {}", error.line(), error.column());
    let words = error.to_string();
    words.strip_suffix(&place).unwrap_or(&words).to_owned()
}

/// Reads the string that `name` stands for.
///
/// # Errors
/// [`RpcError::InvalidParams`] where it is missing or something else.
pub(crate) fn string(name: &str, raw: Option<&RawValue>) -> Result<String, RpcError> {
    let raw = raw.ok_or_else(|| missing(name, "a string"))?;
    serde_json::from_str(raw.get()).map_err(|_| wrong(name, "a string"))
}

/// The first name that stands in the object twice, or more often; `None` where there is none, and where the text is
/// no object.
///
/// A reader of JSON that keeps the last one, as `serde_json` does, and one that keeps the first would run different
/// commands for the same call.
pub(crate) fn repeated(object: &RawValue) -> Option<String> {
    serde_json::from_str::<Repeated>(object.get()).ok()?.0
}

/// What [`repeated`] finds.
struct Repeated(Option<String>);

impl<'de> Deserialize<'de> for Repeated {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RepeatedVisitor)
    }
}

struct RepeatedVisitor;

impl<'de> Visitor<'de> for RepeatedVisitor {
    type Value = Repeated;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<Repeated, M::Error> {
        let mut names = BTreeSet::new();
        let mut found = None;
        while let Some(name) = members.next_key::<String>()? {
            members.next_value::<IgnoredAny>()?;
            if let Some(again) = names.replace(name) {
                found.get_or_insert(again);
            }
        }
        Ok(Repeated(found))
    }
}

fn missing(name: &str, expected: &str) -> RpcError {
    RpcError::InvalidParams(format!("`{name}` is missing: {expected} is expected"))
}

fn wrong(name: &str, expected: &str) -> RpcError {
    RpcError::InvalidParams(format!("`{name}` has to be {expected}"))
}
