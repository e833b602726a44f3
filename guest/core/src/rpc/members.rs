//! Reading the members of an object that a client sent, with errors that name the member.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::RpcError;
use crate::json::repeated_outside;
use crate::limits::MISFIT_CHARS;
use crate::text::{echoed, in_one_line};

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

/// Reads the object that `name` stands for, whose members have names that the client chose.
///
/// # Errors
/// As [`object`], and where a name stands in it twice: who answers a question twice has not answered it. What is below is
/// left to who knows what it is.
pub(crate) fn entries<'a>(
    name: &str,
    raw: Option<&'a RawValue>,
) -> Result<BTreeMap<String, &'a RawValue>, RpcError> {
    let entries = object(name, raw)?;
    match raw.and_then(|raw| repeated_outside(raw.get())) {
        None => Ok(entries),
        Some(place) => {
            let place = echoed(&place);
            let words = format!("`{name}` has `{place}` twice, it has to be given once");
            Err(RpcError::InvalidParams(words))
        }
    }
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
    // They may repeat what the client wrote, as long as it is.
    in_one_line(words.strip_suffix(&place).unwrap_or(&words), MISFIT_CHARS)
}

/// Reads the string that `name` stands for.
///
/// # Errors
/// [`RpcError::InvalidParams`] where it is missing or something else.
pub(crate) fn string(name: &str, raw: Option<&RawValue>) -> Result<String, RpcError> {
    let raw = raw.ok_or_else(|| missing(name, "a string"))?;
    serde_json::from_str(raw.get()).map_err(|_| wrong(name, "a string"))
}

fn missing(name: &str, expected: &str) -> RpcError {
    RpcError::InvalidParams(format!("`{name}` is missing: {expected} is expected"))
}

fn wrong(name: &str, expected: &str) -> RpcError {
    RpcError::InvalidParams(format!("`{name}` has to be {expected}"))
}
