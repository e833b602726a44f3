//! Why the arguments of a call cannot be used, in words that let a model correct them.

use std::fmt;

use serde_json::Value;

use crate::tool::quote::{named, quoted};

/// What `command` has to be.
pub(super) const COMMAND: &str =
    "a shell line, or with `args` a program, for example \"cargo test\"";

/// What is wrong with a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Misfit {
    /// An argument that does not exist.
    Unknown {
        /// Its name as it was given.
        name: String,
        /// Those that exist.
        known: &'static [&'static str],
    },
    /// It is to have a terminal, and these are switched off.
    NoTerminal {
        /// What people call the configuration that says so.
        configuration: String,
    },
    /// An argument that is there more than once.
    Repeated {
        /// Which one, for example `env.PATH`.
        argument: String,
    },
    /// An argument has a number that is too great, half of a character, or too many levels.
    Unreadable {
        /// Which one.
        argument: String,
        /// What it has, in a few words.
        why: String,
    },
    /// `command` is not there.
    NoCommand,
    /// There are `args`, and `command` is more than a program.
    LineWithArgs {
        /// `command`.
        line: String,
    },
    /// A variable cannot have this name.
    VariableName {
        /// Its name as it was given.
        name: String,
    },
    /// An argument is not what it has to be.
    Wrong {
        /// Which one, for example `args[2]`.
        argument: String,
        /// What it is, in a few words.
        given: String,
        /// What it has to be, with an example.
        expected: String,
    },
    /// All arguments together are too long.
    TooLong {
        /// How long they are, in bytes of JSON.
        bytes: usize,
        /// How long they may be, in bytes of JSON.
        limit: usize,
    },
}

impl Misfit {
    /// `argument` is this, and has to be something else.
    pub(super) fn wrong(argument: &str, given: String, expected: &str) -> Self {
        Self::Wrong {
            argument: argument.to_owned(),
            given,
            expected: expected.to_owned(),
        }
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, known } => {
                write!(f, "there is no argument `{}`", named(name))?;
                match similar(name, known) {
                    Some(known) => write!(f, ", did you mean `{known}`? The arguments are: ")?,
                    None => f.write_str("; the arguments are: ")?,
                }
                f.write_str(&known.join(", "))?;
            }
            Self::NoTerminal { configuration } => write!(
                f,
                "there is no argument `interactive`, since terminals are switched off: `terminals` is false in \
                 {configuration}"
            )?,
            Self::Repeated { argument } => write!(
                f,
                "`{}` is given twice, it has to be given once",
                named(argument)
            )?,
            Self::Unreadable { argument, why } => {
                write!(f, "`{}` cannot be read: {why}", named(argument))?;
            }
            Self::NoCommand => write!(f, "`command` is missing, it has to be {COMMAND}")?,
            Self::LineWithArgs { line } => write!(
                f,
                "`args` is given, so `command` has to be a program alone and not {}; leave `args` out to run it as a \
                 shell line, or put every word behind the program into `args`",
                quoted(&line.as_str().into())
            )?,
            Self::VariableName { name } => write!(
                f,
                "`env` names a variable {}; names may not be empty or contain `=` or NUL",
                quoted(&name.as_str().into())
            )?,
            Self::Wrong {
                argument,
                given,
                expected,
            } => write!(f, "`{argument}` is {given}, it has to be {expected}")?,
            Self::TooLong { bytes, limit } => write!(
                f,
                "the arguments are {bytes} bytes long as JSON, they have to be at most {limit} together; \
                 write long input to a file and let the command read it"
            )?,
        }
        f.write_str(". Nothing was run. Call `run` again with this corrected.")
    }
}

/// The argument that was probably meant: written in another style, or without its unit.
fn similar(name: &str, known: &[&'static str]) -> Option<&'static str> {
    let bare = |name: &str| name.replace(['_', '-'], "").to_lowercase();
    let name = bare(name);
    let matches = |known: &str| name.len() >= 3 && bare(known).starts_with(&name);
    known.iter().copied().find(|known| matches(known))
}

/// What sort of value this is, where repeating it could repeat a secret.
pub(super) fn sort(value: &Value) -> String {
    let sort = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    sort.to_owned()
}
