//! What a job asks: fields to fill in, or a page to open.

use std::fmt;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::field::{Field, RawField};
use super::format::is_page;
use super::limits::{FIELDS, FORM_BYTES, MESSAGE_CHARS, NAME_CHARS, TYPED_CHARS, URL_CHARS};
use crate::text::{is_hidden, visible};

/// The field with what is to be typed into a terminal.
pub(super) const LINE: &str = "answer";

/// Something that a person is asked. Serialized, it is the parameters of `elicitation/create`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Form {
    mode: Mode,
    message: String,
    #[serde(flatten)]
    pub(super) subject: Subject,
}

/// How a person gives what is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Mode {
    /// By filling in a form, which the client sees.
    #[default]
    Form,
    /// On a page, of which the client knows the address alone.
    Url,
}

/// What is to be filled in or opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Subject {
    /// The fields of a form, in their order.
    RequestedSchema(Fields),
    /// The address of a page.
    Url(String),
}

/// Fields by name, and which of them have to be filled in. None at all ask for agreement only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fields {
    pub(super) fields: Vec<(String, Field)>,
    pub(super) required: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawForm {
    #[serde(default)]
    mode: Mode,
    message: String,
    requested_schema: Option<RawSchema>,
    url: Option<String>,
}

#[derive(Deserialize)]
struct RawSchema {
    #[serde(rename = "type")]
    kind: String,
    properties: RawFields,
    #[serde(default)]
    required: Vec<String>,
}

impl Form {
    /// Reads what a job or a tool asks; `None` where it makes no sense.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.len() > FORM_BYTES {
            return None;
        }
        let raw: RawForm = serde_json::from_str(text).ok()?;
        let message = shown(&raw.message);
        if message.is_empty() || message.chars().count() > MESSAGE_CHARS {
            return None;
        }
        let subject = match raw.mode {
            Mode::Form => Subject::RequestedSchema(Fields::parse(raw.requested_schema?)?),
            Mode::Url => Subject::Url(raw.url.filter(|url| is_address(url))?),
        };
        Some(Self {
            mode: raw.mode,
            message,
            subject,
        })
    }

    /// A form with nothing but one box, which is to be ticked or not.
    pub(crate) fn yes_or_no(message: String, name: &str, title: &str) -> Self {
        let fields = Fields {
            fields: vec![(name.to_owned(), Field::yes_or_no(title))],
            required: vec![name.to_owned()],
        };
        Self {
            mode: Mode::Form,
            message,
            subject: Subject::RequestedSchema(fields),
        }
    }

    /// A form for the line that is to be typed into a terminal which shows this last.
    pub(crate) fn line(shown: String) -> Self {
        let fields = Fields {
            fields: vec![(LINE.to_owned(), Field::line(TYPED_CHARS))],
            required: vec![LINE.to_owned()],
        };
        Self {
            mode: Mode::Form,
            message: shown,
            subject: Subject::RequestedSchema(fields),
        }
    }

    /// The same form, where a line about it comes first.
    pub(crate) fn preceded_by(self, line: &str) -> Self {
        Self {
            message: format!("{line}\n\n{}", self.message),
            ..self
        }
    }

    /// How a person gives what is asked for.
    pub(super) fn mode(&self) -> Mode {
        self.mode
    }

    /// Whether a page is to be opened.
    pub(crate) fn is_page(&self) -> bool {
        self.mode == Mode::Url
    }

    /// What the person reads: a text of several lines, maybe.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }
}

/// What a person reads of a text of several lines, maybe.
pub(super) fn shown(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(visible).collect();
    lines.join("\n").trim().to_owned()
}

fn is_address(url: &str) -> bool {
    url.chars().count() <= URL_CHARS && is_page(url)
}

impl Fields {
    fn parse(raw: RawSchema) -> Option<Self> {
        let parsed = raw.properties.0.into_iter().map(|(name, field)| {
            let is_name =
                !name.is_empty() && name.chars().count() <= NAME_CHARS && !name.contains(is_hidden);
            Some((name, Field::parse(field)?)).filter(|_| is_name)
        });
        let fields: Vec<(String, Field)> = parsed.collect::<Option<_>>()?;
        let is_there = |name: &String| fields.iter().any(|(other, _)| other == name);
        let is_sound = raw.kind == "object" && raw.required.iter().all(is_there);
        is_sound.then_some(Self {
            fields,
            required: raw.required,
        })
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut schema = serializer.serialize_map(None)?;
        schema.serialize_entry("type", "object")?;
        schema.serialize_entry("properties", &Properties(&self.fields))?;
        if !self.required.is_empty() {
            schema.serialize_entry("required", &self.required)?;
        }
        schema.end()
    }
}

/// Fields in their order, which a map of `serde_json` does not keep.
struct Properties<'a>(&'a [(String, Field)]);

impl Serialize for Properties<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, field)| (name, field.schema())))
    }
}

/// Fields in the order in which they were written, each name once.
struct RawFields(Vec<(String, RawField)>);

impl<'de> Deserialize<'de> for RawFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RawFieldsVisitor)
    }
}

struct RawFieldsVisitor;

impl<'de> Visitor<'de> for RawFieldsVisitor {
    type Value = RawFields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the properties of an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<RawFields, M::Error> {
        let mut fields: Vec<(String, RawField)> = Vec::new();
        while let Some((name, field)) = members.next_entry::<String, RawField>()? {
            if fields.len() == FIELDS || fields.iter().any(|(other, _)| *other == name) {
                return Err(M::Error::custom("too many fields, or one of them twice"));
            }
            fields.push((name, field));
        }
        Ok(RawFields(fields))
    }
}

#[cfg(test)]
mod tests;
