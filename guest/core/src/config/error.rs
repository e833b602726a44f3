//! Why a configuration is refused, and which part of it.

use std::fmt;

use crate::text::revealed;

/// What is wrong with a configuration: the place, for whoever knows the file that it came from, and the words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// A JSON pointer to the wrong member, or to where a missing one has to be; empty for the whole.
    ///
    /// *Source:* RFC 6901.
    pub at: String,
    /// What is wrong and what is expected, in words that need not name the place again.
    pub reason: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at.as_str() {
            "" => f.write_str(&self.reason),
            at => write!(f, "{}: {}", revealed(at), self.reason),
        }
    }
}

impl std::error::Error for ConfigError {}
