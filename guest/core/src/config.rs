//! The server's configuration: parsed once, afterwards known to be in range.

use std::fmt;

use serde_json::{Map, Value};

/// What can be configured. Each member of the JSON object is optional.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Config {
    /// `syncLimitMs`: how long a client without the Tasks extension waits for a job before it is told that
    /// the job goes on, in milliseconds, 0 to 3 600 000; default 30 000.
    pub(crate) sync_limit_ms: u64,
    /// `directLimitMs`: how long a client with the Tasks extension waits for a direct result before it gets
    /// a task, in milliseconds, 0 (never) to 60 000; default 100.
    pub(crate) direct_limit_ms: u64,
    /// `graceMs`: how long a job that is being stopped may take before it is killed, in milliseconds, 0
    /// (killed at once) to 600 000; default 5 000.
    pub(crate) grace_ms: u64,
    /// `outputLimitBytes`: how many bytes of a job's output are kept, 4 096 to 1 099 511 627 776 (1 TiB);
    /// default 67 108 864 (64 MiB).
    pub(crate) output_limit_bytes: u64,
    /// `showCommand`: the shell command that shows a task when a space and its id are appended; one line, not
    /// empty. `None`, the default, where the host has none: then nobody is told of it.
    pub(crate) show_command: Option<String>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            sync_limit_ms: 30_000,
            direct_limit_ms: 100,
            grace_ms: 5_000,
            output_limit_bytes: 64 * 1024 * 1024,
            show_command: None,
        }
    }
}

impl Config {
    /// Parses a JSON object.
    ///
    /// # Errors
    /// Any [`ConfigError`].
    pub(crate) fn parse(text: &str) -> Result<Self, ConfigError> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| ConfigError::NotJson(error.to_string()))?;
        let Value::Object(members) = value else {
            return Err(ConfigError::NotAnObject);
        };
        Self::from_members(&members)
    }

    fn from_members(members: &Map<String, Value>) -> Result<Self, ConfigError> {
        let mut config = Self::default();
        for (name, value) in members {
            match name.as_str() {
                "syncLimitMs" => config.sync_limit_ms = integer(name, value, 0, 3_600_000)?,
                "directLimitMs" => config.direct_limit_ms = integer(name, value, 0, 60_000)?,
                "graceMs" => config.grace_ms = integer(name, value, 0, 600_000)?,
                "outputLimitBytes" => {
                    config.output_limit_bytes = integer(name, value, 4096, 1 << 40)?;
                }
                "showCommand" => config.show_command = Some(line(name, value)?),
                // Where relative paths are to begin; there are none yet.
                "baseDirectory" => {
                    line(name, value)?;
                }
                _ => return Err(ConfigError::UnknownMember(name.clone())),
            }
        }
        Ok(config)
    }
}

fn integer(name: &str, value: &Value, min: u64, max: u64) -> Result<u64, ConfigError> {
    match value.as_u64() {
        Some(number) if (min..=max).contains(&number) => Ok(number),
        _ => Err(ConfigError::OutOfRange {
            member: name.to_owned(),
            min,
            max,
        }),
    }
}

fn line(name: &str, value: &Value) -> Result<String, ConfigError> {
    match value.as_str() {
        Some(text) if !text.is_empty() && !text.contains(char::is_control) => Ok(text.to_owned()),
        _ => Err(ConfigError::NotALine(name.to_owned())),
    }
}

/// Why a configuration was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigError {
    /// It is not JSON, for this reason.
    NotJson(String),
    /// It is JSON but not an object.
    NotAnObject,
    /// It has a member of this name, which nothing would read.
    UnknownMember(String),
    /// A member is not an integer from `min` to `max`.
    OutOfRange {
        /// The member's name.
        member: String,
        /// The least allowed value.
        min: u64,
        /// The greatest allowed value.
        max: u64,
    },
    /// The member of this name is not one line of text.
    NotALine(String),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson(detail) => write!(f, "the configuration is not JSON: {detail}"),
            Self::NotAnObject => write!(f, "the configuration is not a JSON object"),
            Self::UnknownMember(name) => write!(
                f,
                "unknown member `{name}`: there are `syncLimitMs`, `directLimitMs`, `graceMs`, \
                 `outputLimitBytes`, `showCommand` and `baseDirectory`"
            ),
            Self::OutOfRange { member, min, max } => {
                write!(f, "`{member}` has to be an integer from {min} to {max}")
            }
            Self::NotALine(member) => write!(
                f,
                "`{member}` has to be one line of text, without control characters"
            ),
        }
    }
}

impl std::error::Error for ConfigError {}
