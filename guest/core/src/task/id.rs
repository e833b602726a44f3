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
