//! Values as JSON, with their numbers as they were written: a reader that takes them for floating-point numbers makes
//! `1.5` of `1.50`, and of many digits another number. Pure.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// A value as JSON, in one line where it was made here.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(transparent)]
pub(super) struct Json(Box<RawValue>);

impl Json {
    /// A number that a person or a script wrote, with its digits as they are; `None` where it is none. Forms that JSON
    /// has not, such as `.5`, `+5` and `007`, become the nearest one that it has.
    pub(super) fn number(text: &str) -> Option<Self> {
        let text = text.trim();
        let (sign, unsigned) = match text.strip_prefix('-') {
            Some(unsigned) => ("-", unsigned),
            None => ("", text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) =
            unsigned.split_at(unsigned.find(['e', 'E']).unwrap_or(unsigned.len()));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let has_digits = !mantissa.trim_matches('.').is_empty();
        if !(has_digits && is_digits(whole) && is_digits(fraction)) {
            return None;
        }
        let whole = match whole.trim_start_matches('0') {
            "" => "0",
            whole => whole,
        };
        let point = if fraction.is_empty() { "" } else { "." };
        let json = format!("{sign}{whole}{point}{fraction}{exponent}");
        // The exponent may still be none.
        RawValue::from_string(json).ok().map(Self)
    }

    /// It as it is written.
    pub(super) fn text(&self) -> &str {
        self.0.get()
    }

    /// It as a value, whose numbers may have another form.
    pub(super) fn value(&self) -> Value {
        serde_json::from_str(self.text()).unwrap_or_default()
    }

    /// A member of an object; `None` where it has none of this name.
    pub(super) fn member(&self, name: &str) -> Option<Self> {
        let mut members: BTreeMap<String, Self> = serde_json::from_str(self.text()).ok()?;
        members.remove(name)
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        let json = serde_json::value::to_raw_value(&value);
        Self(json.expect("a value can be written, whatever it is"))
    }
}

impl From<BTreeMap<String, Json>> for Json {
    fn from(members: BTreeMap<String, Json>) -> Self {
        let json = serde_json::value::to_raw_value(&members);
        Self(json.expect("names and JSON can be written, whatever they are"))
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_keep_their_digits() {
        for (text, json) in [
            ("1.50", "1.50"),
            ("-0.10", "-0.10"),
            ("1E3", "1E3"),
            ("2e-7", "2e-7"),
            ("0", "0"),
            ("00", "0"),
            ("007", "7"),
            (".5", "0.5"),
            ("-.5", "-0.5"),
            ("5.", "5"),
            ("+5", "5"),
            (" 5 ", "5"),
            (
                "123456789012345678901234567890.5",
                "123456789012345678901234567890.5",
            ),
        ] {
            let found = Json::number(text).map(|it| it.to_string());
            assert_eq!(found.as_deref(), Some(json), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_none() {
        for text in [
            "", ".", "-", "+-1", "--1", "e3", "1e", "1.e", "1.5.5", "1,5", "1 2", "- 1", "x",
            "null", "true", "nan", "inf", "0x10", "1_000", "[]", "\"1\"",
        ] {
            assert_eq!(Json::number(text), None, "{text:?}");
        }
    }

    #[test]
    fn members_are_as_they_were_written() {
        let read: Json = serde_json::from_str(r#"{"a":1.50,"b":"x"}"#).expect("it is JSON");
        let member = |name: &str| read.member(name).map(|it| it.to_string());
        assert_eq!(member("a").as_deref(), Some("1.50"));
        assert_eq!(member("c"), None);
        assert_eq!(Json::from(Value::Null).member("a"), None);
        let members = BTreeMap::from([
            ("b".to_owned(), Json::from(json!("x"))),
            ("a".to_owned(), Json::number("1.50").expect("it is one")),
        ]);
        assert_eq!(Json::from(members), read);
    }
}
