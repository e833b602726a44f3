//! The text of a configuration file as the JSON that the component takes: one to one, in the order of the file.
//!
//! Knows TOML and JSON, and where in the text a value is. Does not know what any member means.

use std::fmt;
use std::ops::Range;

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The character of that line, from 1.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

impl Position {
    /// The place of a byte; of the text's end, where it has no such byte.
    pub(super) fn of(text: &str, byte: usize) -> Self {
        let before = &text[..text.floor_char_boundary(byte)];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

/// What is wrong with a text, and where.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) position: Position,
    /// In words, on one line.
    pub(super) reason: String,
}

/// Members of a JSON object, in order, each with the text of its value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Members(Vec<(String, String)>);

impl Members {
    /// Reads the text of a configuration file.
    ///
    /// # Errors
    /// Where it is not TOML, or has a value that JSON has not.
    pub(super) fn parse(text: &str) -> Result<Self, Wrong> {
        let wrong = |span: Range<usize>, reason| Wrong {
            position: Position::of(text, span.start),
            reason,
        };
        let document = DeTable::parse(text).map_err(|error| {
            let span = error.span().unwrap_or_default();
            let reason = error.message().lines().collect::<Vec<_>>().join(": ");
            let reason = match reason.as_str() {
                // Its own words are those for a string without quotes.
                UNQUOTED if span.is_empty() => NO_VALUE.to_owned(),
                _ => reason,
            };
            wrong(span, reason)
        })?;
        let members = document.get_ref().iter().map(|(name, value)| {
            let mut json = String::new();
            write(value, &mut json).map_err(|Unfit { span, reason }| wrong(span, reason))?;
            Ok((name.get_ref().clone().into_owned(), json))
        });
        members.collect::<Result<_, _>>().map(Self)
    }

    /// Whether there is a member of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| known == name)
    }

    /// Sets a member, at the place of an earlier one of that name where there is one.
    pub(super) fn set(&mut self, name: &str, value: &Value) {
        let value = value.to_string();
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, earlier)) => *earlier = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    /// Sets a member that is not there.
    pub(super) fn set_default(&mut self, name: &str, value: &Value) {
        if !self.has(name) {
            self.set(name, value);
        }
    }
}

/// As JSON on one line.
impl fmt::Display for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (index, (name, value)) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{}:{value}", quoted(name))?;
        }
        f.write_str("}")
    }
}

/// A value that JSON has not.
struct Unfit {
    span: Range<usize>,
    reason: String,
}

/// Appends a value as JSON.
fn write(value: &Spanned<DeValue<'_>>, json: &mut String) -> Result<(), Unfit> {
    let unfit = |reason: &str| Unfit {
        span: value.span(),
        reason: reason.to_owned(),
    };
    match value.get_ref() {
        DeValue::String(text) => json.push_str(&quoted(text)),
        DeValue::Boolean(is_so) => json.push_str(if *is_so { "true" } else { "false" }),
        DeValue::Integer(number) => {
            let number = integer(number).ok_or_else(|| unfit(NO_INTEGER))?;
            json.push_str(&number.to_string());
        }
        DeValue::Float(number) => {
            let number = number
                .as_str()
                .parse()
                .ok()
                .filter(|it: &f64| it.is_finite());
            let number = number.ok_or_else(|| unfit(NO_FLOAT))?;
            json.push_str(&Value::from(number).to_string());
        }
        DeValue::Datetime(_) => return Err(unfit(NO_DATE)),
        DeValue::Array(items) => {
            json.push('[');
            for (index, item) in items.iter().enumerate() {
                separate(index, json);
                write(item, json)?;
            }
            json.push(']');
        }
        DeValue::Table(members) => {
            json.push('{');
            for (index, (name, member)) in members.iter().enumerate() {
                separate(index, json);
                json.push_str(&quoted(name.get_ref()));
                json.push(':');
                write(member, json)?;
            }
            json.push('}');
        }
    }
    Ok(())
}

/// How the parser says that a value is none that it knows.
const UNQUOTED: &str = "string values must be quoted, expected literal string";

const NO_VALUE: &str =
    "there is no value behind `=`: give one, such as 'text' in quotes, 1, true, [1, 2] or {a = 1}";
const NO_INTEGER: &str = "this number is too large: an integer has 64 bits";
const NO_FLOAT: &str = "this number is none that can be used: give a finite one";
const NO_DATE: &str = "a date or time cannot be used here: write it as a string, in quotes";

fn integer(number: &DeInteger<'_>) -> Option<i64> {
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

fn separate(index: usize, json: &mut String) {
    if index > 0 {
        json.push(',');
    }
}

/// A string of JSON.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Where in a text the value is that a JSON pointer names: a member's name, or the beginning of an array's element.
/// Where there is no such value, what it would be in; `None` for the whole, and where the text is not TOML.
///
/// *Source:* RFC 6901, JSON Pointer.
pub(super) fn locate(text: &str, pointer: &str) -> Option<Position> {
    let document = DeTable::parse(text).ok()?;
    let mut found = None;
    let mut within = DeValue::Table(document.into_inner());
    for token in pointer.split('/').skip(1) {
        let token = token.replace("~1", "/").replace("~0", "~");
        let Some((start, value)) = child(within, &token) else {
            break;
        };
        found = Some(start);
        within = value;
    }
    found.map(|start| Position::of(text, start))
}

/// One step of a pointer: where it leads, and the value there.
fn child<'a>(within: DeValue<'a>, token: &str) -> Option<(usize, DeValue<'a>)> {
    match within {
        DeValue::Table(members) => {
            let mut members = members.into_iter();
            let (name, value) = members.find(|(name, _)| name.get_ref() == token)?;
            Some((name.span().start, value.into_inner()))
        }
        DeValue::Array(items) => {
            let item = items.into_iter().nth(token.parse().ok()?)?;
            Some((item.span().start, item.into_inner()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
