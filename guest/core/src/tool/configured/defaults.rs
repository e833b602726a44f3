//! What an argument of a configured tool is that a call does not give: the `default` of its property.
//!
//! To JSON Schema a default says nothing of what conforms, and leaves it to who applies the schema whether it is filled
//! in. A model reads it as what holds where it gives nothing, so that is what holds.
//!
//! *Source:* JSON Schema 2020-12, Validation, 9.2, "default".

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::schema::{BadSchema, Schema, Unfit};
use crate::config::escaped;
use crate::tool::given::{Given, Unreadable};
use crate::tool::parts::{part, raw_properties, relating};

/// The defaults of arguments, each of which conforms.
#[derive(Clone, Debug, Default)]
pub(super) struct Defaults(Given);

#[derive(Deserialize)]
struct Property<'a> {
    /// `null` counts as none: an argument that is `null` is absent.
    #[serde(default, borrow)]
    default: Option<&'a RawValue>,
}

impl Defaults {
    /// Reads those of a schema, which is compiled already; `listed` is how it was written. Those which `is_user_given`
    /// are left out: their user sees them as a suggestion, and may want none.
    ///
    /// # Errors
    /// Where one of them is not what its argument has to be, or may be in the way of another argument.
    pub(super) fn read(
        schema: &Value,
        listed: &RawValue,
        is_user_given: impl Fn(&str) -> bool,
    ) -> Result<Self, BadSchema> {
        let properties = raw_properties(listed).into_iter();
        let defaults = properties.filter(|(name, _)| !is_user_given(name));
        let defaults = defaults.filter_map(|(name, property)| {
            // One that is `true` or `false` has none.
            let property: Property<'_> = serde_json::from_str(property.get()).ok()?;
            Some((name, property.default?))
        });
        let defaults = Given::read(defaults.collect())
            .map_err(|Unreadable { argument, why }| bad(&argument, &why))?;
        let names: Vec<String> = defaults.values.keys().cloned().collect();
        if names.is_empty() {
            return Ok(Self::default());
        }
        if let Some(keyword) = relating(schema) {
            return Err(beside_relation(keyword));
        }
        // Once for all of them: it is compiled with all that any argument refers to. As it requires none and relates
        // none, each may be held against it by itself.
        let alone = Schema::compile(&part(schema, &names, &[]))?;
        for (name, value) in &defaults.values {
            let arguments = Value::Object([(name.clone(), value.clone())].into_iter().collect());
            match alone.check(&arguments, "it") {
                Ok(()) => {}
                Err(Unfit::Wrong(words)) => return Err(bad(name, &words)),
                Err(Unfit::TooMuch) => return Err(bad(name, "it has too many parts")),
            }
        }
        Ok(Self(defaults))
    }

    /// Arguments with those that they do not have.
    pub(super) fn fill(&self, given: Given) -> Given {
        given.or(&self.0)
    }
}

/// An argument that is filled in counts as given. Where arguments are related to each other, a call that gives another
/// one would be refused for what its model never gave.
fn beside_relation(keyword: &str) -> BadSchema {
    BadSchema {
        at: format!("/{keyword}"),
        reason: "may not be here beside a `default` of an argument: it relates arguments to each other, and a default \
                 counts as if the call gave it; leave the `default` out, or say of each of the `properties` what it \
                 has to be"
            .to_owned(),
    }
}

fn bad(name: &str, why: &str) -> BadSchema {
    BadSchema {
        at: format!("/properties/{}/default", escaped(name)),
        reason: format!("is filled in where the argument is not given, and cannot be: {why}"),
    }
}
