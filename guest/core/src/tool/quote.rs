//! What a caller gave, as it is repeated to it: short, on one line, and without hidden characters.

use serde_json::Value;

use super::limits::QUOTED_CHARS;
use crate::text::in_one_line;

/// A value as it is repeated to the model.
pub(crate) fn quoted(value: &Value) -> String {
    let text = in_one_line(&value.to_string(), QUOTED_CHARS);
    // A shortened string still ends where its quotes say.
    if value.is_string() && text.ends_with('…') {
        return format!("{text}\"");
    }
    text
}

/// A name as it is repeated to the model.
pub(crate) fn named(name: &str) -> String {
    in_one_line(name, QUOTED_CHARS)
}
