//! A configuration while it is read: each value knows where it is, so that every error can say so.
//!
//! Knows JSON and pointers into it. Does not know what any member means.

use serde_json::{Map, Value};

use super::ConfigError;
use crate::text::{absolute, echoed};

/// One value of the configuration.
#[derive(Clone, Debug)]
pub(crate) struct Node<'a> {
    value: &'a Value,
    at: String,
}

/// The members of an object of the configuration.
#[derive(Clone, Debug)]
pub(crate) struct Members<'a> {
    map: &'a Map<String, Value>,
    at: String,
}

/// A range of seconds, of which fractions are allowed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Seconds {
    /// From the first to the second.
    Within(u32, u32),
    /// Above 0, at most this.
    AboveZero(u32),
}

impl<'a> Node<'a> {
    /// The whole configuration.
    pub(crate) fn root(value: &'a Value) -> Self {
        Self {
            value,
            at: String::new(),
        }
    }

    /// The value itself.
    pub(crate) fn value(&self) -> &'a Value {
        self.value
    }

    /// The error that this value is not what it has to be.
    pub(crate) fn error(&self, reason: impl Into<String>) -> ConfigError {
        self.error_below("", reason)
    }

    /// The error that the value at this pointer below is not what it has to be.
    pub(crate) fn error_below(&self, pointer: &str, reason: impl Into<String>) -> ConfigError {
        ConfigError {
            at: format!("{}{pointer}", self.at),
            reason: reason.into(),
        }
    }

    /// The members of an object that has none but these.
    ///
    /// # Errors
    /// Where it is no object, or has another member.
    pub(crate) fn members(&self, known: &[&str]) -> Result<Members<'a>, ConfigError> {
        let members = self.any_members()?;
        for name in members.map.keys() {
            if !known.contains(&name.as_str()) {
                let names = known.join("`, `");
                let given = echoed(name);
                let reason = format!("there is no member `{given}` here, there are `{names}`");
                return Err(members.error(name, reason));
            }
        }
        Ok(members)
    }

    /// The members of an object, whatever their names.
    ///
    /// # Errors
    /// Where it is no object.
    pub(crate) fn any_members(&self) -> Result<Members<'a>, ConfigError> {
        match self.value {
            Value::Object(map) => Ok(Members {
                map,
                at: self.at.clone(),
            }),
            _ => Err(self.error("has to be an object (in TOML, a table)")),
        }
    }

    /// The items of an array.
    ///
    /// # Errors
    /// Where it is no array.
    pub(crate) fn items(&self) -> Result<Vec<Node<'a>>, ConfigError> {
        let Value::Array(items) = self.value else {
            return Err(self.error("has to be an array"));
        };
        let item = |(index, value)| Node {
            value,
            at: format!("{}/{index}", self.at),
        };
        Ok(items.iter().enumerate().map(item).collect())
    }

    /// A string, which may be empty.
    ///
    /// # Errors
    /// Where it is none, or has a NUL.
    pub(crate) fn text(&self) -> Result<&'a str, ConfigError> {
        match self.value {
            Value::String(text) if text.contains('\0') => {
                Err(self.error("has to be a string without a NUL"))
            }
            Value::String(text) => Ok(text),
            _ => Err(self.error("has to be a string")),
        }
    }

    /// A string that is not blank.
    ///
    /// # Errors
    /// Where it is none.
    pub(crate) fn words(&self) -> Result<&'a str, ConfigError> {
        match self.text()? {
            blank if blank.trim().is_empty() => Err(self.error("may not be empty")),
            text => Ok(text),
        }
    }

    /// One line of text that is not empty.
    ///
    /// # Errors
    /// Where it is none.
    pub(crate) fn line(&self) -> Result<&'a str, ConfigError> {
        match self.value.as_str() {
            Some(text) if !text.is_empty() && !text.contains(char::is_control) => Ok(text),
            _ => Err(self.error("has to be one line of text, without control characters")),
        }
    }

    /// An absolute path.
    ///
    /// # Errors
    /// Where it is none.
    pub(crate) fn absolute_path(&self) -> Result<&'a str, ConfigError> {
        match self.words()? {
            path if path.starts_with('/') => Ok(path),
            _ => Err(self.error("has to be an absolute path")),
        }
    }

    /// A path, made absolute by `base`.
    ///
    /// # Errors
    /// Where it is none, or relative without a base.
    pub(crate) fn path(&self, base: Option<&str>) -> Result<String, ConfigError> {
        absolute(base, self.words()?).ok_or_else(|| {
            self.error(
                "has to be an absolute path, since there is no `baseDirectory` for a relative one",
            )
        })
    }

    /// `true` or `false`.
    ///
    /// # Errors
    /// Where it is neither.
    pub(crate) fn switch(&self) -> Result<bool, ConfigError> {
        self.value
            .as_bool()
            .ok_or_else(|| self.error("has to be true or false"))
    }

    /// An integer within these bounds.
    ///
    /// # Errors
    /// Where it is none.
    pub(crate) fn integer(&self, min: u64, max: u64) -> Result<u64, ConfigError> {
        match self.value.as_u64() {
            Some(number) if (min..=max).contains(&number) => Ok(number),
            _ => Err(self.error(format!("has to be an integer from {min} to {max}"))),
        }
    }

    /// A number of seconds, in milliseconds, rounded up: no limit becomes shorter than asked for.
    ///
    /// # Errors
    /// Where it is none, or out of range.
    pub(crate) fn milliseconds(&self, range: Seconds) -> Result<u64, ConfigError> {
        let is_valid = |seconds: &f64| match range {
            Seconds::Within(min, max) => (f64::from(min)..=f64::from(max)).contains(seconds),
            Seconds::AboveZero(max) => *seconds > 0.0 && *seconds <= f64::from(max),
        };
        match self.value.as_f64().filter(is_valid) {
            // Exact: a valid number is not negative, and at most the milliseconds of a year.
            Some(seconds) => Ok((seconds * 1_000.0).ceil() as u64),
            None => Err(self.error(match range {
                Seconds::Within(min, max) => {
                    format!("has to be a number of seconds from {min} to {max}")
                }
                Seconds::AboveZero(max) => {
                    format!("has to be a number of seconds above 0 and at most {max}")
                }
            })),
        }
    }
}

impl<'a> Members<'a> {
    /// The member of this name; `None` where there is none.
    pub(crate) fn get(&self, name: &str) -> Option<Node<'a>> {
        self.map.get(name).map(|value| Node {
            value,
            at: self.pointer(name),
        })
    }

    /// The member of this name.
    ///
    /// # Errors
    /// Where there is none.
    pub(crate) fn required(&self, name: &str) -> Result<Node<'a>, ConfigError> {
        self.get(name)
            .ok_or_else(|| self.error_here(format!("`{name}` is missing")))
    }

    /// The member of this name, read by `read`; `None` where there is none.
    ///
    /// # Errors
    /// Those of `read`.
    pub(crate) fn optional<T>(
        &self,
        name: &str,
        read: impl FnOnce(&Node<'a>) -> Result<T, ConfigError>,
    ) -> Result<Option<T>, ConfigError> {
        self.get(name).map(|node| read(&node)).transpose()
    }

    /// All members, in the order of their names.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&'a str, Node<'a>)> {
        self.map.iter().map(|(name, value)| {
            let at = self.pointer(name);
            (name.as_str(), Node { value, at })
        })
    }

    /// The error that the member of this name, which may be missing, is not what it has to be.
    pub(crate) fn error(&self, name: &str, reason: impl Into<String>) -> ConfigError {
        ConfigError {
            at: self.pointer(name),
            reason: reason.into(),
        }
    }

    /// The error that the object is not what it has to be.
    pub(crate) fn error_here(&self, reason: impl Into<String>) -> ConfigError {
        ConfigError {
            at: self.at.clone(),
            reason: reason.into(),
        }
    }

    fn pointer(&self, name: &str) -> String {
        format!("{}/{}", self.at, escaped(name))
    }
}

/// A name as a step of a JSON pointer.
pub(crate) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
