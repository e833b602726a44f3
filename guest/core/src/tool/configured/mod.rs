//! A tool that the configuration describes: any command with a schema for its arguments.
//!
//! Knows how its description is read, what a call of it runs, and what its result says. Does not know how a job is
//! started, and not whether the client gets a task or waits for the result.

mod arguments;
mod command;
mod content;
mod defaults;
mod definition;
mod effort;
mod misfit;
mod output;
mod recorded;
mod result;
pub(crate) mod schema;
mod template;
mod user;
mod well_formed;

use std::fmt;

use serde_json::value::RawValue;

pub(crate) use recorded::Recorded;
pub(crate) use result::finished;
pub(crate) use user::{Reason, User, UserQuestion};

use crate::config::{ConfigError, Members, Node, Seconds};
use crate::limits::{GRACE_SECONDS, OUTPUT_BYTES, SYNC_SECONDS};
use crate::tool::Mode;
use crate::tool::limits::{TIMEOUT_SECONDS, TTL_SECONDS_MAX, TTL_SECONDS_MIN};
use arguments::Input;
use command::{Reading, Recipe};
use defaults::Defaults;
use output::Kind;
use template::Template;
use user::Confirm;

const MEMBERS: [&str; 24] = [
    "name",
    "title",
    "description",
    "annotations",
    "inputSchema",
    "userArguments",
    "userArgumentsByModel",
    "confirm",
    "program",
    "shell",
    "env",
    "stdin",
    "interactive",
    "cwd",
    "label",
    "idempotencyKey",
    "timeoutSeconds",
    "ttlSeconds",
    "graceSeconds",
    "outputLimitBytes",
    "syncLimitSeconds",
    "task",
    "output",
    "outputSchema",
];

/// The schemas of a tool as they were written: what is parsed and written again loses the order of its members.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Verbatim<'a> {
    /// `inputSchema`.
    pub(crate) input: Option<&'a RawValue>,
    /// `outputSchema`.
    pub(crate) output: Option<&'a RawValue>,
}

/// One tool.
pub(crate) struct Tool {
    /// Its name.
    pub(crate) name: String,
    /// How it is listed.
    pub(crate) definition: Box<RawValue>,
    /// Whether a call of it is answered with a task.
    pub(crate) mode: Mode,
    /// How long a call waits that is answered without a task, in milliseconds; `None` for what the server's
    /// configuration says.
    pub(crate) sync_limit_ms: Option<u64>,
    /// What the user gives; `None` where all arguments are the model's.
    pub(crate) user: Option<User>,
    confirm: Confirm,
    input: Input,
    defaults: Defaults,
    recipe: Recipe,
    label: Option<Template>,
    idempotency_key: Option<Template>,
    limits: Limits,
    output: Kind,
}

/// What holds for every job of a tool; `None` for what the server's configuration says.
#[derive(Clone, Copy, Debug)]
struct Limits {
    timeout_ms: Option<u64>,
    ttl_ms: Option<u64>,
    grace_ms: Option<u64>,
    output_limit_bytes: Option<u64>,
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Tool {
    /// Reads one tool; `base` is what its relative paths begin at.
    ///
    /// # Errors
    /// Where something in it is wrong.
    pub(crate) fn read(
        node: &Node<'_>,
        verbatim: Verbatim<'_>,
        base: Option<&str>,
    ) -> Result<Self, ConfigError> {
        let members = node.members(&MEMBERS)?;
        let name = definition::name(&members)?;
        let input = Input::read(&members, verbatim.input)?;
        let reading = Reading {
            base,
            known: input.names(),
        };
        let title = members.optional("title", Node::words)?;
        let user = User::read(&members, verbatim, title.unwrap_or(&name))?;
        let listed = user.as_ref().map_or(input.listed(), User::listed);
        let defaults = input.defaults(&members, user.as_ref())?;
        let output = Kind::read(&members, verbatim.output, &input)?;
        let recipe = Recipe::read(&members, reading)?;
        if recipe.interactive && !output.is_text() {
            let reason = "is for an `output` of \"text\" only: a terminal adds to what is written";
            return Err(members.error("interactive", reason));
        }
        let template = |name| members.optional(name, |node| reading.template(node));
        Ok(Self {
            definition: definition::read(&members, listed, output.schema())?,
            mode: mode(&members)?,
            sync_limit_ms: seconds(
                &members,
                "syncLimitSeconds",
                Seconds::Within(0, SYNC_SECONDS),
            )?,
            confirm: Confirm::read(&members, reading)?,
            recipe,
            label: template("label")?,
            idempotency_key: template("idempotencyKey")?,
            limits: Limits::read(&members)?,
            name,
            user,
            input,
            defaults,
            output,
        })
    }
}

impl Tool {
    /// Whether its commands have a terminal.
    pub(crate) fn is_interactive(&self) -> bool {
        self.recipe.interactive
    }
}

impl Limits {
    fn read(members: &Members<'_>) -> Result<Self, ConfigError> {
        let (least, most) = OUTPUT_BYTES;
        let ttl = Seconds::Within(TTL_SECONDS_MIN, TTL_SECONDS_MAX);
        Ok(Self {
            timeout_ms: seconds(
                members,
                "timeoutSeconds",
                Seconds::AboveZero(TIMEOUT_SECONDS),
            )?,
            ttl_ms: seconds(members, "ttlSeconds", ttl)?,
            grace_ms: seconds(members, "graceSeconds", Seconds::Within(0, GRACE_SECONDS))?,
            output_limit_bytes: members
                .optional("outputLimitBytes", |node| node.integer(least, most))?,
        })
    }
}

fn seconds(members: &Members<'_>, name: &str, range: Seconds) -> Result<Option<u64>, ConfigError> {
    members.optional(name, |node| node.milliseconds(range))
}

fn mode(members: &Members<'_>) -> Result<Mode, ConfigError> {
    let Some(node) = members.get("task") else {
        return Ok(Mode::Auto);
    };
    match node.value().as_str() {
        Some("auto") => Ok(Mode::Auto),
        Some("required") => Ok(Mode::Required),
        Some("never") => Ok(Mode::Never),
        _ => Err(node.error("has to be \"auto\", \"required\" or \"never\"")),
    }
}
