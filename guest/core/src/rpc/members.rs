//! Reading the members of an object that a client sent, with errors that name the member.

use serde::{Deserialize, Deserializer};
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::RpcError;

/// Reads a member that is there, `null` included.
pub(crate) fn present<'de, D>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error>
where
    D: Deserializer<'de>,
{
    super::incoming::present(deserializer)
}

/// Reads the object that `name` stands for.
///
/// # Errors
/// [`RpcError::InvalidParams`] where it is missing or something else, [`RpcError::NotJson`] where it is
/// nested too deeply to be read.
pub(crate) fn object<'a, T: Deserialize<'a>>(
    name: &str,
    raw: Option<&'a RawValue>,
) -> Result<T, RpcError> {
    let raw = raw.ok_or_else(|| missing(name, "an object"))?;
    if !raw.get().starts_with('{') {
        return Err(wrong(name, "an object"));
    }
    serde_json::from_str(raw.get()).map_err(|error| match error.classify() {
        Category::Data => RpcError::InvalidParams(format!("`{name}` cannot be read: {error}")),
        Category::Io | Category::Syntax | Category::Eof => RpcError::NotJson(error.to_string()),
    })
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
