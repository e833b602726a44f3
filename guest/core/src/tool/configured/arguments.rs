//! The arguments of a call of a configured tool: what they have to be, and what they make of it.

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::Tool;
use super::User;
use super::defaults::Defaults;
use super::schema::{BadSchema, Schema, Unfit};
use super::template::Template;
use crate::config::{ConfigError, Members, Node};
use crate::json::{one_line, repeated};
use crate::limits::ARGUMENTS_BYTES;
use crate::text::{revealed, shorten, visible};
use crate::tool::given::Given;
use crate::tool::limits::{KEY_CHARS, LABEL_CHARS, LISTED_NAMES};
use crate::tool::quote::named;
use crate::tool::run::Arguments;
use crate::tool::{Wanted, raw};

/// What the arguments of a tool have to be.
#[derive(Debug)]
pub(super) struct Input {
    schema: Schema,
    listed: Box<RawValue>,
    names: Vec<String>,
    required: Vec<String>,
}

impl Input {
    /// Reads `inputSchema`; without it there are no arguments.
    ///
    /// # Errors
    /// Where it is no schema of an object.
    pub(super) fn read(
        members: &Members<'_>,
        verbatim: Option<&RawValue>,
    ) -> Result<Self, ConfigError> {
        let Some(node) = members.get("inputSchema") else {
            let none = json!({ "type": "object", "additionalProperties": false });
            let compiled = Schema::compile(&none).map_err(|bad| members.error_here(bad.reason))?;
            return Ok(Self::new(&none, raw(&none), compiled));
        };
        let (schema, listed) = schema_at(&node, verbatim)?;
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            return Err(node.error("has to have the `type` \"object\": arguments have names"));
        }
        let compiled = Schema::compile(&schema).map_err(|bad| bad.at_node(&node))?;
        Ok(Self::new(&schema, listed, compiled))
    }

    /// What arguments of this schema have to be, which is compiled already.
    pub(super) fn new(schema: &Value, listed: Box<RawValue>, compiled: Schema) -> Self {
        let properties = schema.get("properties").and_then(Value::as_object);
        let names = properties.into_iter().flat_map(Map::keys).cloned();
        let required = schema.get("required").and_then(Value::as_array);
        let required = required.into_iter().flatten().filter_map(Value::as_str);
        Self {
            names: names.collect(),
            required: required.map(str::to_owned).collect(),
            schema: compiled,
            listed,
        }
    }

    /// The schema as it is listed.
    pub(super) fn listed(&self) -> &RawValue {
        &self.listed
    }

    /// What the arguments are that a call does not give, but for those that its user gives.
    ///
    /// # Errors
    /// Where a default is not what its argument has to be.
    pub(super) fn defaults(
        &self,
        members: &Members<'_>,
        user: Option<&User>,
    ) -> Result<Defaults, ConfigError> {
        let Some(node) = members.get("inputSchema") else {
            return Ok(Defaults::default());
        };
        let is_user_given = |name: &str| {
            let names = user.map(User::names);
            names.is_some_and(|mut names| names.any(|other| other == name))
        };
        Defaults::read(self.schema.source(), &self.listed, is_user_given)
            .map_err(|bad| bad.at_node(&node))
    }

    /// The names of the arguments that the schema lists.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether a call has to give this argument.
    pub(super) fn requires(&self, name: &str) -> bool {
        self.required.iter().any(|required| required == name)
    }

    /// The arguments that hold for a call which gave these. `null` counts as absent where the schema does not allow it,
    /// since many models send it for what they do not want to set.
    ///
    /// # Errors
    /// In words for the model: what is wrong with them.
    pub(super) fn accept(
        &self,
        arguments: &Map<String, Value>,
    ) -> Result<Map<String, Value>, String> {
        let unfit = match self.fitting(arguments.clone()) {
            Ok(arguments) => return Ok(arguments),
            Err(unfit) => unfit,
        };
        let is_there = |(name, value): &(&String, &Value)| !value.is_null() || self.requires(name);
        let there = arguments.iter().filter(is_there);
        let there: Map<_, _> = there
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let has_null = there.len() < arguments.len();
        let rest = has_null.then(|| self.fitting(there).ok()).flatten();
        rest.ok_or_else(|| self.refusal(unfit))
    }

    /// Gives arguments back that conform.
    fn fitting(&self, arguments: Map<String, Value>) -> Result<Map<String, Value>, Unfit> {
        let whole = Value::Object(arguments);
        self.schema.check(&whole, "the object of arguments")?;
        match whole {
            Value::Object(arguments) => Ok(arguments),
            _ => unreachable!("it was made an object above"),
        }
    }

    fn refusal(&self, unfit: Unfit) -> String {
        let words = match unfit {
            Unfit::Wrong(words) => words,
            Unfit::TooMuch => {
                return "the arguments have too many parts to be held against the tool's schema, there have to be fewer"
                    .to_owned();
            }
        };
        if !words.starts_with("there is no ") {
            return words;
        }
        let listed: Vec<&str> = self
            .names
            .iter()
            .take(LISTED_NAMES)
            .map(String::as_str)
            .collect();
        match listed.as_slice() {
            [] => format!("{words}; there are no arguments"),
            listed => format!("{words}; the arguments are: {}", listed.join(", ")),
        }
    }
}

impl Tool {
    /// The arguments of a call with the defaults of those that it does not give.
    pub(crate) fn with_defaults(&self, given: Given) -> Given {
        self.defaults.fill(given)
    }

    /// What a call with these arguments asks for.
    ///
    /// # Errors
    /// In words for the model: what is wrong with the arguments.
    pub(crate) fn wanted(&self, arguments: &Given) -> Result<Wanted, String> {
        self.read_call(arguments)
            .map_err(|misfit| self.refused(&misfit))
    }

    /// The refusal of a call whose arguments have this wrong.
    pub(super) fn refused(&self, misfit: &str) -> String {
        let name = &self.name;
        format!("{misfit}. Nothing was run. Call `{name}` again with this corrected.")
    }

    /// The refusal of a call in which this argument is given twice: which of them was meant is not for us to guess.
    pub(crate) fn repeated(&self, argument: &str) -> String {
        let argument = named(argument);
        self.refused(&format!(
            "`{argument}` is given twice, it has to be given once"
        ))
    }

    /// The refusal of a call in which this argument is JSON that cannot be read, for this reason.
    pub(crate) fn unreadable(&self, argument: &str, why: &str) -> String {
        let argument = named(argument);
        self.refused(&format!("`{argument}` cannot be read: {why}"))
    }

    /// The refusal of a call whose arguments are this long as JSON, in bytes.
    pub(crate) fn too_long(&self, bytes: usize) -> String {
        self.refused(&format!(
            "the arguments are {bytes} bytes long as JSON, they have to be at most {ARGUMENTS_BYTES} together"
        ))
    }

    fn read_call(&self, given: &Given) -> Result<Wanted, String> {
        let arguments = &given.with_values(self.input.accept(&given.values)?);
        let prepared = self.recipe.prepare(arguments)?;
        let tool = self.output.for_call(&self.name, arguments);
        let tool = tool.ok_or("an argument that names the resource is null, it has to be given")?;
        Ok(Wanted {
            arguments: Arguments {
                command: prepared.command,
                directory: self.recipe.directory.clone(),
                directory_said_by: None,
                environment: prepared.environment,
                stdin: prepared.stdin,
                interactive: self.recipe.interactive,
                timeout_ms: self.limits.timeout_ms,
                label: Some(self.label(arguments)),
                ttl_ms: self.limits.ttl_ms,
                idempotency_key: self.key(arguments)?,
            },
            grace_ms: self.limits.grace_ms,
            output_limit_bytes: self.limits.output_limit_bytes,
            tool: Some(tool),
        })
    }

    /// What the task is called: one line, as it stands before a status message.
    fn label(&self, arguments: &Given) -> String {
        let made = self
            .label
            .as_ref()
            .and_then(|label| label.render(arguments));
        let words = made.unwrap_or_default();
        let words: Vec<&str> = words.split_whitespace().collect();
        let line = visible(&words.join(" "));
        match line.trim() {
            "" => shorten(&self.name, LABEL_CHARS),
            line => shorten(line, LABEL_CHARS),
        }
    }

    fn key(&self, arguments: &Given) -> Result<Option<String>, String> {
        let Some(template) = &self.idempotency_key else {
            return Ok(None);
        };
        let Some(key) = template.render(arguments).filter(|key| !key.is_empty()) else {
            return Ok(None);
        };
        let characters = key.chars().count();
        if characters > KEY_CHARS || key.contains('\0') {
            return Err(format!(
                "{} is {characters} characters long, it has to be at most {KEY_CHARS}, without NUL, as calls are told \
                 apart by it",
                subject(template, arguments)
            ));
        }
        Ok(Some(key))
    }
}

/// The arguments that a text is made of.
fn subject(template: &Template, arguments: &Given) -> String {
    let names = template
        .arguments()
        .filter(|name| arguments.value(name).is_some());
    let names: Vec<String> = names.map(named).collect();
    match names.as_slice() {
        [] => "the text that is made of the arguments".to_owned(),
        names => format!("the text that is made of `{}`", names.join("`, `")),
    }
}

/// A schema and how it is listed: a table, or a string with JSON in it.
pub(super) fn schema_at(
    node: &Node<'_>,
    verbatim: Option<&RawValue>,
) -> Result<(Value, Box<RawValue>), ConfigError> {
    let (schema, written) = match node.value() {
        Value::String(text) => {
            let schema = serde_json::from_str(text).map_err(|error| {
                node.error(format!("is a string, so it has to be JSON: {error}"))
            })?;
            // It is listed as it was written, and clients may read another one than we do.
            if let Some(place) = repeated(text) {
                let place = named(&place);
                return Err(node.error(format!("has `{place}` twice, it has to be there once")));
            }
            (schema, one_line(text))
        }
        value => (value.clone(), verbatim.and_then(|raw| one_line(raw.get()))),
    };
    if !schema.is_object() {
        return Err(
            node.error("has to be a JSON Schema: a table, or a string with a JSON object in it")
        );
    }
    let written = written.unwrap_or_else(|| raw(&schema));
    Ok((schema, written))
}

impl BadSchema {
    /// The error that it is of the configuration, where the schema is at this node.
    pub(super) fn at_node(self, node: &Node<'_>) -> ConfigError {
        // It repeats parts of the schema, and has to stay on its line.
        let reason = revealed(&self.reason);
        match node.value() {
            // No file has a place within the string.
            Value::String(_) if self.at.is_empty() => node.error(reason),
            Value::String(_) => node.error(format!("at {}: {reason}", self.at)),
            _ => node.error_below(&self.at, reason),
        }
    }
}
