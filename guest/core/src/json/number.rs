//! Numbers as they are written. A reader takes most of them for the nearest floating-point number: that one has another
//! form, and of many digits another value.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

/// The numbers in JSON, from the first to the last.
pub(crate) fn numbers(json: &str) -> impl Iterator<Item = &str> {
    let mut is_in_string = false;
    let mut is_escaped = false;
    let parts = json.split(move |character: char| {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = is_in_string,
            '"' => is_in_string = !is_in_string,
            _ => {}
        }
        is_in_string || !(character.is_ascii_digit() || "+-.eE".contains(character))
    });
    let is_number = |part: &&str| part.starts_with(|it: char| it == '-' || it.is_ascii_digit());
    parts.filter(is_number)
}

/// Whether two numbers are equal, digit by digit.
pub(crate) fn are_equal(one: &str, other: &str) -> bool {
    one == other || Decimal::of(one).is_some_and(|one| Decimal::of(other) == Some(one))
}

/// Whether a number is a whole one to who reads it as a floating-point number, and none as it is written.
pub(crate) fn is_nearly_whole(number: &str) -> bool {
    let value: f64 = number.parse().unwrap_or(f64::NAN);
    value.fract() == 0.0 && Decimal::of(number).is_none_or(|number| number.exponent < 0)
}

/// A number without the freedom of its form.
#[derive(Debug, PartialEq, Eq)]
struct Decimal {
    is_negative: bool,
    /// Without zeros at either end; none at all is zero.
    digits: String,
    /// The power of ten that the last digit stands for.
    exponent: i64,
}

impl Decimal {
    /// Reads a number; `None` where it is none, or one of which nobody would write down the digits.
    fn of(number: &str) -> Option<Self> {
        let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
        let unsigned = mantissa.strip_prefix('-').unwrap_or(mantissa);
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let digits = format!("{whole}{fraction}");
        let significant = digits.trim_end_matches('0');
        let zeros = i64::try_from(digits.len() - significant.len()).ok()?;
        let digits = significant.trim_start_matches('0').to_owned();
        if digits.is_empty() {
            return Some(Self {
                is_negative: false,
                digits,
                exponent: 0,
            });
        }
        let exponent: i64 = exponent.parse().ok()?;
        let below = i64::try_from(fraction.len()).ok()?;
        Some(Self {
            is_negative: mantissa.starts_with('-'),
            digits,
            exponent: exponent.checked_add(zeros)?.checked_sub(below)?,
        })
    }
}

/// JSON as [`Value`] writes it, members sorted by their names, but with its numbers as they were written; `None` where it
/// cannot be read as one.
pub(crate) fn with_numbers_as_written(json: &RawValue) -> Option<String> {
    let text = json.get();
    Some(match text.as_bytes().first()? {
        b'{' => {
            let members: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
            let members = members.into_iter().map(|(name, value)| {
                let value = with_numbers_as_written(value)?;
                Some(format!("{}:{value}", Value::from(name)))
            });
            format!("{{{}}}", members.collect::<Option<Vec<_>>>()?.join(","))
        }
        b'[' => {
            let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
            let items = items.into_iter().map(with_numbers_as_written);
            format!("[{}]", items.collect::<Option<Vec<_>>>()?.join(","))
        }
        b'-' | b'0'..=b'9' => text.to_owned(),
        _ => serde_json::from_str::<Value>(text).ok()?.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::{are_equal, is_nearly_whole, numbers, with_numbers_as_written};

    #[test]
    fn numbers_are_found_outside_of_strings() {
        let json = r#"{"1":[-0,1.50,"2\"3",1E+400,true,false,null],"e":{"\\":-7}}"#;
        let found: Vec<_> = numbers(json).collect();
        assert_eq!(found, ["-0", "1.50", "1E+400", "-7"]);
        assert_eq!(numbers("12").collect::<Vec<_>>(), ["12"]);
    }

    #[test]
    fn equal_numbers_may_be_written_in_several_ways() {
        for (one, other) in [
            ("1", "1.0"),
            ("-0", "0.000"),
            ("100", "1e2"),
            ("1.5E-3", "0.0015"),
            ("0e99999999999999999999", "0"),
            ("1e99999999999999999999", "1e99999999999999999999"),
        ] {
            assert!(are_equal(one, other), "{one} {other}");
            assert!(are_equal(other, one), "{one} {other}");
        }
        for (one, other) in [
            ("1", "-1"),
            ("1", "10"),
            ("0.1000000000000000055511151231257827", "0.1"),
            ("123456789012345678901234567890", "1.2345678901234568e29"),
            ("1e99999999999999999999", "1e9999999999999999999"),
        ] {
            assert!(!are_equal(one, other), "{one} {other}");
        }
    }

    #[test]
    fn what_is_whole_only_when_it_is_read_is_found() {
        for number in ["1.00000000000000000001", "-9007199254740993.5", "1e-400"] {
            assert!(is_nearly_whole(number), "{number}");
        }
        for number in ["1", "1.0", "-0", "1e300", "0.5", "10e-1", "0.1", "1e-300"] {
            assert!(!is_nearly_whole(number), "{number}");
        }
    }

    #[test]
    fn only_numbers_are_as_they_were_written() {
        let json = r#"{ "b" : [ 1.50, 1E2 , -0 ], "a\u0061": "\u0062 1.0", "c": null }"#;
        let json = RawValue::from_string(json.to_owned()).expect("it is JSON");
        let expect = r#"{"aa":"b 1.0","b":[1.50,1E2,-0],"c":null}"#;
        assert_eq!(with_numbers_as_written(&json).as_deref(), Some(expect));
    }
}
