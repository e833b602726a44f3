//! What a configured tool has from its user: some of its arguments, and that a call may be carried out.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::arguments::{Input, schema_at};
use super::command::Reading;
use super::schema::{BadSchema, Schema};
use super::template::Template;
use super::{Tool, Verbatim};
use crate::config::{ConfigError, Members, Node};
use crate::input::Form;
use crate::text::{INSET, indented, middle_left_out, revealed_lines, shorten};
use crate::tool::given::{Given, given};
use crate::tool::limits::{ASKED_ARGUMENT_CHARS, QUESTION_CHARS};
use crate::tool::parts::{part, relating};
use crate::tool::quote::named;
use crate::tool::raw;
use crate::tool::user_arguments::{Asks, Described, UserArguments};

/// The arguments that the user gives.
#[derive(Debug)]
pub(crate) struct User {
    /// What is asked, in this order.
    pub(crate) questions: Vec<UserQuestion>,
    /// Whether the model may give them where its client cannot ask.
    pub(crate) may_come_from_model: bool,
    /// What the arguments of the model have to be.
    rest: Input,
}

/// Some arguments that are asked for together.
#[derive(Debug)]
pub(crate) struct UserQuestion {
    asks: Asks,
    input: Input,
}

/// When a call of a tool has to be confirmed.
#[derive(Clone, Debug)]
pub(super) enum Confirm {
    Never,
    /// Always, in the server's words.
    Always,
    /// Always, in these words.
    InWords(Template),
}

/// Why a call has to be confirmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reason {
    /// What the person is asked.
    pub(crate) question: String,
    /// What the model is told.
    pub(crate) why: String,
}

impl User {
    /// Reads `userArguments` and `userArgumentsByModel`; `None` where all arguments are the model's.
    ///
    /// # Errors
    /// Where something in them is wrong.
    pub(super) fn read(
        members: &Members<'_>,
        verbatim: Verbatim<'_>,
        title: &str,
    ) -> Result<Option<Self>, ConfigError> {
        let by_model = members.optional("userArgumentsByModel", Node::switch)?;
        let Some(node) = members.get("userArguments") else {
            return match by_model {
                None => Ok(None),
                Some(_) => Err(members.error(
                    "userArgumentsByModel",
                    "says something of `userArguments`, which is missing",
                )),
            };
        };
        let Some(schema_node) = members.get("inputSchema") else {
            return Err(node.error("names arguments, but there is no `inputSchema` that has any"));
        };
        let (schema, listed) = schema_at(&schema_node, verbatim.input)?;
        relates_none(&schema).map_err(|bad| bad.at_node(&schema_node))?;
        let described = Described {
            title,
            schema: &schema,
            written: &listed,
        };
        let arguments = UserArguments::parse(node.value(), described)
            .map_err(|wrong| node.error_below(&wrong.at, wrong.reason))?;
        let Some(listed) = arguments.left_out_of(&listed) else {
            return Err(schema_node.error("has `properties` or `required` that cannot be read"));
        };
        let rest = input(&schema_node, &listed)?;
        let questions = arguments.questions.into_iter().map(|asks| {
            let part = raw(&part(&schema, &asks.names, &asks.names));
            let input = input(&schema_node, &part)?;
            Ok(UserQuestion { asks, input })
        });
        Ok(Some(Self {
            questions: questions.collect::<Result<_, ConfigError>>()?,
            may_come_from_model: by_model == Some(true),
            rest,
        }))
    }

    /// The schema of the model's arguments, as it is listed.
    pub(super) fn listed(&self) -> &RawValue {
        self.rest.listed()
    }

    /// The first question of which these arguments do not have what they have to have.
    pub(crate) fn missing_in(&self, arguments: &Map<String, Value>) -> Option<&UserQuestion> {
        let is_missing = |question: &&UserQuestion| {
            let mut names = question.asks.names.iter();
            names.any(|name| question.input.requires(name) && given(arguments, name).is_none())
        };
        self.questions.iter().find(is_missing)
    }

    /// The names of all of them.
    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        self.questions
            .iter()
            .flat_map(|question| &question.asks.names)
    }
}

impl UserQuestion {
    /// Its name.
    pub(crate) fn key(&self) -> &str {
        &self.asks.key
    }

    /// What the user is shown.
    pub(crate) fn form(&self) -> &Form {
        &self.asks.form
    }

    /// What is wrong with an answer, in words; `None` where it is right.
    pub(crate) fn misfit(&self, answer: &Map<String, Value>) -> Option<String> {
        self.input.accept(answer).err()
    }

    /// Whether a call cannot be carried out without an answer.
    pub(crate) fn is_required(&self) -> bool {
        let mut names = self.asks.names.iter();
        names.any(|name| self.input.requires(name))
    }

    /// What it asks for, as a JSON Schema of each.
    pub(crate) fn described(&self) -> String {
        let form = serde_json::to_value(&self.asks.form).unwrap_or_default();
        let properties = form.pointer("/requestedSchema/properties");
        let properties = properties.map(Value::to_string).unwrap_or_default();
        shorten(&properties, QUESTION_CHARS)
    }

    /// The names of what it asks for.
    pub(crate) fn names(&self) -> String {
        let names: Vec<String> = self.asks.names.iter().map(|name| named(name)).collect();
        format!("`{}`", names.join("`, `"))
    }
}

impl Tool {
    /// What is wrong with the arguments of the model, where the user gives others; `None` where nothing is.
    pub(crate) fn misfit_of_rest(
        &self,
        user: &User,
        arguments: &Map<String, Value>,
    ) -> Option<String> {
        let mut names = user.names();
        let misfit = match names.find(|name| given(arguments, name).is_some()) {
            Some(name) => format!(
                "`{}` is given by the user and not by you: leave it out, and they are asked for it",
                named(name)
            ),
            None => user.rest.accept(arguments).err()?,
        };
        Some(self.refused(&misfit))
    }

    /// Why a call with these arguments has to be confirmed whatever it runs; `None` where it does not.
    pub(crate) fn confirmation(&self, arguments: &Given) -> Option<Reason> {
        let name = &self.name;
        let words = match &self.confirm {
            Confirm::Never => return None,
            Confirm::Always => None,
            // Neither may an argument look like what is said of the command, nor take the place of what its author says.
            Confirm::InWords(template) => template.render_as(arguments, |before, text| {
                let text = indented(&middle_left_out(text, ASKED_ARGUMENT_CHARS));
                let begins_line = before.is_empty() || before.ends_with('\n');
                if begins_line {
                    format!("{INSET}{text}")
                } else {
                    text
                }
            }),
        };
        let question = match words {
            None => format!("May the tool `{name}` run this command?"),
            Some(words) => revealed_lines(&words),
        };
        let why = format!("Each call of the tool `{name}` has to be confirmed");
        Some(Reason { question, why })
    }
}

impl Confirm {
    /// Reads `confirm`.
    ///
    /// # Errors
    /// Where it is neither a switch nor a template.
    pub(super) fn read(members: &Members<'_>, reading: Reading<'_>) -> Result<Self, ConfigError> {
        let Some(node) = members.get("confirm") else {
            return Ok(Self::Never);
        };
        match node.value() {
            Value::Bool(true) => Ok(Self::Always),
            Value::Bool(false) => Ok(Self::Never),
            Value::String(_) => {
                node.words()?;
                Ok(Self::InWords(reading.template(&node)?))
            }
            _ => Err(node.error("has to be true, or the question that the person is asked")),
        }
    }
}

/// Sees that a schema says of each argument by itself what it has to be. What the model gives and what the user does are
/// judged apart from each other, by whom can correct it: nobody could be told of what is wrong between the two.
fn relates_none(schema: &Value) -> Result<(), BadSchema> {
    match relating(schema) {
        None => Ok(()),
        Some(keyword) => Err(BadSchema {
            at: format!("/{keyword}"),
            reason: "may not be here beside `userArguments`: it relates arguments to each other, and what the model gives is \
                     judged before the user is asked for the others; say of each of the `properties` what it has to be"
                .to_owned(),
        }),
    }
}

/// What a part of the arguments has to be, of which the whole schema is at this node.
fn input(node: &Node<'_>, schema: &RawValue) -> Result<Input, ConfigError> {
    let value: Value = serde_json::from_str(schema.get())
        .map_err(|error| node.error(format!("cannot be read in part: {error}")))?;
    let compiled = Schema::compile(&value).map_err(|bad| bad.at_node(node))?;
    Ok(Input::new(&value, schema.to_owned(), compiled))
}
