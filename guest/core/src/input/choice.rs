//! Values of which a person picks some.

use serde::Deserialize;
use serde_json::{Value, json};

use super::limits::NAMED;
use crate::text::visible;

/// One of the values.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct Choice {
    /// What is answered where it is picked.
    #[serde(rename = "const")]
    value: String,
    /// What it is called; `None` where it is called as the value.
    title: Option<String>,
}

/// All of the values, at least one, each of them once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choices(Vec<Choice>);

/// The ways in which MCP writes them; one of them at a time.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawChoices {
    #[serde(rename = "enum")]
    values: Option<Vec<String>>,
    enum_names: Option<Vec<String>>,
    one_of: Option<Vec<Choice>>,
    any_of: Option<Vec<Choice>>,
}

impl RawChoices {
    /// Whether nothing of them is there.
    pub(super) fn is_empty(&self) -> bool {
        let Self {
            values,
            enum_names,
            one_of,
            any_of,
        } = self;
        values.is_none() && enum_names.is_none() && one_of.is_none() && any_of.is_none()
    }

    /// The values; `None` where they are written in several ways at once, or make no sense.
    pub(super) fn parse(self) -> Option<Choices> {
        let titled = self.one_of.or(self.any_of);
        let choices: Vec<Choice> = match (self.values, self.enum_names, titled) {
            (Some(values), None, None) => values.into_iter().map(Choice::untitled).collect(),
            (Some(values), Some(names), None) if values.len() == names.len() => {
                let pairs = values.into_iter().zip(names);
                pairs.map(Choice::titled).collect()
            }
            (None, None, Some(titled)) => titled,
            _ => return None,
        };
        let mut values: Vec<&str> = choices.iter().map(|it| it.value.as_str()).collect();
        values.sort_unstable();
        let is_sound = !values.is_empty() && values.windows(2).all(|pair| pair[0] != pair[1]);
        // Two that look alike could not be told apart, and one may look like what it is not.
        let is_seen = values.iter().all(|value| visible(value) == **value);
        let choices = choices.into_iter().map(Choice::seen).collect();
        (is_sound && is_seen).then_some(Choices(choices))
    }
}

impl Choice {
    fn untitled(value: String) -> Self {
        Self { value, title: None }
    }

    /// The same, where its title is what can be seen of it.
    fn seen(self) -> Self {
        Self {
            title: self.title.as_deref().map(visible),
            ..self
        }
    }

    fn titled((value, title): (String, String)) -> Self {
        let title = Some(title);
        Self { value, title }
    }
}

impl Choices {
    /// Whether this is one of the values.
    pub(super) fn contain(&self, value: &str) -> bool {
        self.0.iter().any(|choice| choice.value == value)
    }

    /// The values, as a text lists them.
    pub(super) fn listed(&self) -> String {
        let values = self.0.iter().take(NAMED);
        let values: Vec<String> = values.map(|it| format!("{:?}", it.value)).collect();
        let more = match self.0.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" or {more} more"),
        };
        format!("{}{more}", values.join(", "))
    }

    /// The member of a schema that lists them, where `titled` is its name if they have titles.
    pub(super) fn member(&self, titled: &'static str) -> (&'static str, Value) {
        if self.0.iter().all(|choice| choice.title.is_none()) {
            let values = self.0.iter().map(|choice| choice.value.as_str());
            return ("enum", values.collect());
        }
        let each = self.0.iter().map(|choice| {
            let title = choice.title.as_ref().unwrap_or(&choice.value);
            json!({ "const": choice.value, "title": title })
        });
        (titled, each.collect())
    }
}
