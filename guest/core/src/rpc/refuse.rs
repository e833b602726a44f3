//! The reply to a message that nobody handled.
//!
//! Touches no import, and reads the message in one pass that keeps nothing but the id, so that a message
//! whose handling exhausted an instance can still be answered by a fresh one.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use super::{Id, RpcError, reply};
use crate::outcome::Refusal;

/// What of a message decides how it is refused.
#[derive(Default)]
struct Outline {
    id: Option<Option<Id>>,
    has_method: bool,
    has_answer: bool,
}

/// The reply to `body`, and `None` where it gets none.
pub(crate) fn refuse(body: &str, why: Refusal) -> Option<String> {
    let error = match why {
        Refusal::Trapped => RpcError::Internal(
            "the server ran out of time or memory on this message, or has a bug; what it asked for may \
             have happened",
        ),
        Refusal::TooLarge => RpcError::TooLarge,
        Refusal::NotUtf8 => RpcError::NotJson("the message is not UTF-8".to_owned()),
    };
    let Ok(outline) = serde_json::from_str::<Outline>(body) else {
        return Some(reply::failure(None, &error));
    };
    let is_response = outline.has_answer && !outline.has_method;
    match outline.id {
        // Neither a notification nor a response is ever answered.
        None => None,
        Some(_) if is_response => None,
        Some(id) => Some(reply::failure(id.as_ref(), &error)),
    }
}

impl<'de> Deserialize<'de> for Outline {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(OutlineVisitor)
    }
}

struct OutlineVisitor;

impl<'de> Visitor<'de> for OutlineVisitor {
    type Value = Outline;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Outline, A::Error> {
        let mut outline = Outline::default();
        while let Some(key) = map.next_key::<Key>()? {
            match key {
                Key::Id => {
                    outline.id = Some(map.next_value::<MaybeId>()?.0);
                    continue;
                }
                Key::Method => outline.has_method = true,
                Key::Result | Key::Error => outline.has_answer = true,
                Key::Other => {}
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(outline)
    }
}

/// A member's name, of which only these matter.
#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Key {
    Id,
    Method,
    Result,
    Error,
    #[serde(other)]
    Other,
}

/// An id, or whatever stands in its place.
#[derive(Deserialize)]
#[serde(transparent)]
struct MaybeId(#[serde(deserialize_with = "id_or_nothing")] Option<Id>);

fn id_or_nothing<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Id>, D::Error> {
    let raw = <&serde_json::value::RawValue>::deserialize(deserializer)?;
    Ok(Id::parse(raw))
}
