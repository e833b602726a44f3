//! Numbers within bounds.

use std::cmp::Ordering;

use serde_json::{Map, Number, Value};

/// The greatest whole number up to which every one has a form of its own as a floating-point number.
const GREATEST_SAFE: f64 = 9_007_199_254_740_991.0;

/// The least and the greatest number that fit; `None` for no such.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) minimum: Option<Number>,
    pub(super) maximum: Option<Number>,
    /// The number that is suggested, as it was written: who takes it gives that back.
    pub(super) default: Option<String>,
}

impl Bounds {
    /// Whether a number lies within them.
    pub(super) fn contain(&self, number: &Number) -> bool {
        let is_least = |least: &Number| compare(least, number).is_some_and(Ordering::is_le);
        let is_most = |most: &Number| compare(number, most).is_some_and(Ordering::is_le);
        self.minimum.as_ref().is_none_or(is_least) && self.maximum.as_ref().is_none_or(is_most)
    }

    /// Whether a number, as JSON, lies outside of them, also one with too many digits for a reader. It is rounded: one
    /// that is beyond a bound by less than that lies within.
    pub(super) fn exclude(&self, json: &str) -> bool {
        let number: f64 = json.parse().unwrap_or(f64::NAN);
        let bound = |bound: &Option<Number>| bound.as_ref().and_then(Number::as_f64);
        bound(&self.minimum).is_some_and(|least| number < least)
            || bound(&self.maximum).is_some_and(|most| number > most)
    }

    /// Them in words, to follow what is bounded.
    pub(super) fn in_words(&self) -> String {
        match (&self.minimum, &self.maximum) {
            (None, None) => String::new(),
            (Some(least), None) => format!(", at least {least}"),
            (None, Some(most)) => format!(", at most {most}"),
            (Some(least), Some(most)) => format!(", {least} to {most}"),
        }
    }

    /// Adds them to the schema of a field, without what is suggested.
    pub(super) fn describe(&self, schema: &mut Map<String, Value>) {
        let members = [("minimum", &self.minimum), ("maximum", &self.maximum)];
        for (name, number) in members {
            if let Some(number) = number {
                schema.insert(name.to_owned(), Value::Number(number.clone()));
            }
        }
    }
}

/// A whole number as one, however it was written, such as `5.0`; `None` for any other.
pub(super) fn whole(number: &Number) -> Option<Number> {
    if exact(number).is_some() {
        return Some(number.clone());
    }
    let value = number.as_f64()?;
    let is_whole = value.fract() == 0.0 && value.abs() <= GREATEST_SAFE;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "it is whole, and much smaller than what fits"
    )]
    is_whole.then(|| Number::from(value as i64))
}

/// Whether JSON is a whole number of which [`whole`] makes nothing, since it is too large.
pub(super) fn is_too_large(json: &str) -> bool {
    let value = json.parse().unwrap_or(f64::NAN);
    // Infinite is what has too many digits for the reader.
    value.abs() > GREATEST_SAFE
        && serde_json::from_str(json)
            .ok()
            .as_ref()
            .and_then(whole)
            .is_none()
}

fn compare(one: &Number, other: &Number) -> Option<Ordering> {
    match (exact(one), exact(other)) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

fn exact(number: &Number) -> Option<i128> {
    let signed = number.as_i64().map(i128::from);
    signed.or_else(|| number.as_u64().map(i128::from))
}
