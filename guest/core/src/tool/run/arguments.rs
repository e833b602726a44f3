//! What a model asks `run` to do, made certain.

use serde_json::{Map, Value};

use super::misfit::{COMMAND, Misfit, sort};
use super::policy::Policy;
use crate::imports::Command;
use crate::limits::ARGUMENTS_BYTES;
use crate::text::visible;
use crate::tool::limits::{
    KEY_CHARS, LABEL_CHARS, STRING_BYTES, TIMEOUT_SECONDS, TTL_SECONDS_MAX, TTL_SECONDS_MIN,
    VARIABLES,
};
use crate::tool::quote::{named, quoted};

/// The arguments of one call, all of them within their bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arguments {
    /// What to run.
    pub(crate) command: Command,
    /// The working directory, an absolute path; `None` for the server's.
    pub(crate) directory: Option<String>,
    /// What of the configuration of `run` says that directory, in words; `None` where the call does, or nothing.
    pub(crate) directory_said_by: Option<String>,
    /// Variables to set, in the order of their names; at most 1000, each name once, without `=` and NUL.
    pub(crate) environment: Vec<(String, String)>,
    /// What the command reads from its standard input.
    pub(crate) stdin: String,
    /// Whether it has a terminal.
    pub(crate) interactive: bool,
    /// How long it may run, in milliseconds, at least 1; `None` for as long as it takes.
    pub(crate) timeout_ms: Option<u64>,
    /// What a person calls the task: one line of 1 to 100 characters that all show; `None` for nothing.
    pub(crate) label: Option<String>,
    /// How long the task is kept, in milliseconds from its creation, at least 1000; `None` for ever.
    pub(crate) ttl_ms: Option<u64>,
    /// What makes a repeated call find the first one's task: 1 to 256 characters; `None` where every call
    /// starts a job of its own.
    pub(crate) idempotency_key: Option<String>,
}

impl Arguments {
    /// The refusal of a call in whose `arguments` this one, for example `env.PATH`, is given twice: which of them
    /// was meant is not for us to guess.
    pub(crate) fn repeated(argument: String) -> String {
        Misfit::Repeated { argument }.to_string()
    }

    /// The refusal of a call in which this argument is JSON that cannot be read, for this reason.
    pub(crate) fn unreadable(argument: String, why: String) -> String {
        Misfit::Unreadable { argument, why }.to_string()
    }

    /// The refusal of a call whose `arguments` are this long as JSON, in bytes.
    pub(crate) fn too_long(bytes: usize) -> String {
        let limit = ARGUMENTS_BYTES;
        Misfit::TooLong { bytes, limit }.to_string()
    }

    /// Reads the `arguments` of a call, which `policy` bounds. `null` counts as absent, since many models send it for
    /// what they do not want to set.
    ///
    /// # Errors
    /// In words for the model: which argument is wrong, what it is, and what it has to be. The values of
    /// variables are not repeated, they may be secret.
    pub(crate) fn parse(
        arguments: Option<&Map<String, Value>>,
        policy: &Policy,
    ) -> Result<Self, String> {
        let none = Map::new();
        let given = Given(arguments.unwrap_or(&none));
        let known = given.check_names(policy.argument_names());
        let known = known.map_err(|misfit| policy.explain(misfit));
        let arguments = known.and_then(|()| Self::read(given));
        let arguments = arguments.and_then(|arguments| policy.apply(arguments));
        arguments.map_err(|misfit| misfit.to_string())
    }

    fn read(given: Given<'_>) -> Result<Self, Misfit> {
        Ok(Self {
            command: given.command()?,
            directory: given.directory()?,
            directory_said_by: None,
            environment: given.environment()?,
            stdin: given.stdin()?,
            interactive: given.interactive()?,
            timeout_ms: given.timeout_ms()?,
            label: given.label()?,
            ttl_ms: given.ttl_ms()?,
            idempotency_key: given.idempotency_key()?,
        })
    }
}

/// The arguments as they came.
#[derive(Clone, Copy)]
struct Given<'a>(&'a Map<String, Value>);

impl<'a> Given<'a> {
    fn check_names(self, known: &'static [&'static str]) -> Result<(), Misfit> {
        let mut names = self.0.keys();
        match names.find(|name| !known.contains(&name.as_str())) {
            Some(name) => Err(Misfit::Unknown {
                name: name.clone(),
                known,
            }),
            None => Ok(()),
        }
    }

    fn command(self) -> Result<Command, Misfit> {
        let Some(command) = self.text("command", COMMAND)? else {
            return Err(Misfit::NoCommand);
        };
        if command.trim().is_empty() {
            return Err(Misfit::wrong("command", "blank".to_owned(), COMMAND));
        }
        check_string("command", command)?;
        match self.value("args") {
            None => Ok(Command::Shell(command.to_owned())),
            Some(list) => Ok(Command::Program(program(command, list)?)),
        }
    }

    fn directory(self) -> Result<Option<String>, Misfit> {
        const EXPECTED: &str = "an absolute path, for example \"/home/me/project\"; `~` and variables are not \
            expanded in it, leave it out for the directory of the server";
        let Some(path) = self.text("cwd", EXPECTED)? else {
            return Ok(None);
        };
        if !path.starts_with('/') {
            return Err(Misfit::wrong("cwd", quoted(&path.into()), EXPECTED));
        }
        check_string("cwd", path)?;
        Ok(Some(path.to_owned()))
    }

    fn environment(self) -> Result<Vec<(String, String)>, Misfit> {
        const EXPECTED: &str =
            "an object with a string for each variable, for example {\"PORT\": \"8080\"}";
        match self.value("env") {
            None => Ok(Vec::new()),
            Some(Value::Object(variables)) if variables.len() > VARIABLES => {
                let expected = format!("at most {VARIABLES} variables");
                Err(Misfit::wrong(
                    "env",
                    format!("{} variables", variables.len()),
                    &expected,
                ))
            }
            Some(Value::Object(variables)) => variables
                .iter()
                .map(|(name, value)| variable(name, value))
                .collect(),
            Some(other) => Err(Misfit::wrong("env", sort(other), EXPECTED)),
        }
    }

    fn stdin(self) -> Result<String, Misfit> {
        let text = self.text("stdin", "a string, for example \"yes\\n\"")?;
        Ok(text.unwrap_or_default().to_owned())
    }

    fn interactive(self) -> Result<bool, Misfit> {
        match self.value("interactive") {
            None => Ok(false),
            Some(Value::Bool(interactive)) => Ok(*interactive),
            Some(other) => Err(Misfit::wrong("interactive", quoted(other), "true or false")),
        }
    }

    fn timeout_ms(self) -> Result<Option<u64>, Misfit> {
        let limit = f64::from(TIMEOUT_SECONDS);
        self.milliseconds(
            "timeoutSeconds",
            |seconds| seconds > 0.0 && seconds <= limit,
            || {
                format!(
                    "a number of seconds above 0 and at most {TIMEOUT_SECONDS}, for example 600"
                )
            },
        )
    }

    fn ttl_ms(self) -> Result<Option<u64>, Misfit> {
        let range = f64::from(TTL_SECONDS_MIN)..=f64::from(TTL_SECONDS_MAX);
        self.milliseconds("ttlSeconds", |seconds| range.contains(&seconds), || {
            format!("a number of seconds from {TTL_SECONDS_MIN} to {TTL_SECONDS_MAX}, for example 86400")
        })
    }

    fn label(self) -> Result<Option<String>, Misfit> {
        let expected = format!(
            "one line of 1 to {LABEL_CHARS} characters, none of them a control or format character, for example \
             \"nightly build\""
        );
        let Some(given) = self.text("label", &expected)? else {
            return Ok(None);
        };
        // Blanks around it would be part of all that is said of the task. Nobody means a tab or a line break there; cut
        // off, the label would be another than its caller looks for.
        let label = given.trim();
        if label.is_empty() || label.chars().count() > LABEL_CHARS || visible(given) != given {
            return Err(Misfit::wrong("label", quoted(&given.into()), &expected));
        }
        Ok(Some(label.to_owned()))
    }

    fn idempotency_key(self) -> Result<Option<String>, Misfit> {
        let expected = format!("1 to {KEY_CHARS} characters, for example \"deploy-2026-07-28\"");
        let Some(key) = self.text("idempotencyKey", &expected)? else {
            return Ok(None);
        };
        if key.is_empty() || key.chars().count() > KEY_CHARS {
            return Err(Misfit::wrong(
                "idempotencyKey",
                quoted(&key.into()),
                &expected,
            ));
        }
        Ok(Some(key.to_owned()))
    }

    fn value(self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    fn text(self, name: &str, expected: &str) -> Result<Option<&'a str>, Misfit> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::String(text)) => {
                check_no_nul(name, text)?;
                Ok(Some(text))
            }
            Some(other) => Err(Misfit::wrong(name, quoted(other), expected)),
        }
    }

    /// A number of seconds, of which `is_valid` is true, rounded up: no limit becomes shorter than asked for.
    fn milliseconds(
        self,
        name: &str,
        is_valid: impl Fn(f64) -> bool,
        expected: impl Fn() -> String,
    ) -> Result<Option<u64>, Misfit> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        match value.as_f64().filter(|&seconds| is_valid(seconds)) {
            // Exact: a valid number is positive, and at most the milliseconds of a year.
            Some(seconds) => Ok(Some((seconds * 1_000.0).ceil() as u64)),
            None => Err(Misfit::wrong(name, quoted(value), &expected())),
        }
    }
}

/// A program and its arguments.
fn program(command: &str, list: &Value) -> Result<Vec<String>, Misfit> {
    let Value::Array(arguments) = list else {
        let expected = "an array of strings, for example [\"test\", \"--release\"]; leave it out to run \
            `command` as a shell line";
        return Err(Misfit::wrong("args", quoted(list), expected));
    };
    if is_line(command) {
        return Err(Misfit::LineWithArgs {
            line: command.to_owned(),
        });
    }
    let mut program = vec![command.to_owned()];
    for (index, argument) in arguments.iter().enumerate() {
        let name = format!("args[{index}]");
        let Value::String(text) = argument else {
            let expected = "a string; write a number as \"8080\"";
            return Err(Misfit::wrong(&name, quoted(argument), expected));
        };
        check_no_nul(&name, text)?;
        check_string(&name, text)?;
        program.push(text.clone());
    }
    Ok(program)
}

/// Whether this was meant as a shell line: no program that is looked up by name has a space in it. A path may have one.
fn is_line(command: &str) -> bool {
    command.trim().contains(char::is_whitespace) && !command.contains('/')
}

/// One variable.
fn variable(name: &str, value: &Value) -> Result<(String, String), Misfit> {
    if name.is_empty() || name.contains(['=', '\0']) {
        return Err(Misfit::VariableName {
            name: name.to_owned(),
        });
    }
    let argument = format!("env.{}", named(name));
    let Value::String(text) = value else {
        let expected = "a string, for example \"8080\"; leave it out to keep what the server has";
        return Err(Misfit::wrong(&argument, sort(value), expected));
    };
    check_no_nul(&argument, text)?;
    // Name, `=` and value are one string to the operating system.
    check_length(&argument, name.len() + 1 + text.len())?;
    Ok((name.to_owned(), text.clone()))
}

fn check_no_nul(argument: &str, text: &str) -> Result<(), Misfit> {
    if text.contains('\0') {
        let given = "text with a NUL character".to_owned();
        return Err(Misfit::wrong(argument, given, "text without one"));
    }
    Ok(())
}

fn check_string(argument: &str, text: &str) -> Result<(), Misfit> {
    check_length(argument, text.len())
}

fn check_length(argument: &str, bytes: usize) -> Result<(), Misfit> {
    if bytes > STRING_BYTES {
        let expected = format!("at most {STRING_BYTES}; write long text to a file or to `stdin`");
        return Err(Misfit::wrong(
            argument,
            format!("{bytes} bytes long"),
            &expected,
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
