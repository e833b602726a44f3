//! The name of a task, which is also that of its job.

use serde::{Deserialize, Serialize};
use uuid::Uuid;
use uuid::fmt::Hyphenated;

/// A UUID in its one canonical form: 36 characters, lower case, hyphenated. Nothing else is an id, so
/// that no text that a client sends can reach a key or a path that way.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct TaskId(String);

impl TaskId {
    /// A version 4 UUID of 16 random bytes, of which 122 bits stay random.
    pub(crate) fn from_random_bytes(bytes: [u8; 16]) -> Self {
        Self(
            uuid::Builder::from_random_bytes(bytes)
                .into_uuid()
                .hyphenated()
                .to_string(),
        )
    }

    /// Reads an id; `None` where the text is not a UUID in its canonical form.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let uuid = Uuid::try_parse(text).ok()?;
        let mut canonical = [0; Hyphenated::LENGTH];
        let is_canonical = uuid.hyphenated().encode_lower(&mut canonical) == text;
        is_canonical.then(|| Self(text.to_owned()))
    }

    /// The 36 characters.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for TaskId {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("not a UUID in its canonical form")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_random_bit_but_those_that_say_what_it_is_stays() {
        for bytes in [[0; 16], [0xff; 16], *b"0123456789abcdef"] {
            let id = TaskId::from_random_bytes(bytes);
            let kept = Uuid::try_parse(id.as_str())
                .expect("it is one")
                .into_bytes();
            let differs = |at: usize| bytes[at] ^ kept[at];
            assert_eq!(differs(6) & 0x0f, 0, "the version has four bits");
            assert_eq!(differs(8) & 0x3f, 0, "the variant has two bits");
            let others = (0..16).filter(|at| ![6, 8].contains(at));
            assert!(others.clone().all(|at| differs(at) == 0), "{}", id.as_str());
        }
    }
}
