//! What the configuration says of `run`: what holds for a call that does not say, and what no call may say.

use super::ARGUMENT_NAMES;
use super::arguments::Arguments;
use super::misfit::Misfit;
use crate::config::{ConfigError, Members, Node, Seconds};
use crate::text::{duration, is_within, normalised, revealed};
use crate::tool::Terminals;
use crate::tool::limits::{LISTED_NAMES, TIMEOUT_SECONDS, TTL_SECONDS_MAX, TTL_SECONDS_MIN};
use crate::tool::quote::quoted;

const MEMBERS: [&str; 7] = [
    "enabled",
    "cwd",
    "directories",
    "timeoutSeconds",
    "maxTimeoutSeconds",
    "ttlSeconds",
    "maxTtlSeconds",
];

/// The argument that is there only with terminals.
const TERMINAL: &str = "interactive";

/// Defaults and bounds of the calls of `run`; by default there are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Policy {
    /// The working directory of a call that names none; `None` for the server's own.
    pub(super) directory: Option<String>,
    /// Which member says that; `None` where none does.
    directory_member: Option<&'static str>,
    /// Where a call may work: in these directories and below them; anywhere where there is none.
    pub(super) directories: Vec<String>,
    /// How long a command may run.
    pub(super) timeout: Span,
    /// How long a task is kept.
    pub(super) ttl: Span,
    /// Whether a call may ask for a terminal.
    terminals: Terminals,
    /// What people call the configuration that says so: the path of its file. `None` where that is not known.
    file: Option<String>,
}

/// A default and a bound of a time, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    /// What holds for a call that does not say: the bound where there is no other default, and for ever where there is
    /// neither.
    pub(super) default_ms: Option<u64>,
    /// What no call may exceed.
    pub(super) max_ms: Option<u64>,
}

impl Policy {
    /// Reads the member `run`; `None` where it switches the tool off. `base` is what a relative path begins at, and
    /// `file` what people call the configuration.
    ///
    /// # Errors
    /// Where something in it is wrong.
    pub(crate) fn read(
        node: &Node<'_>,
        base: Option<&str>,
        file: Option<&str>,
    ) -> Result<Option<Self>, ConfigError> {
        let members = node.members(&MEMBERS)?;
        let timeout = Seconds::AboveZero(TIMEOUT_SECONDS);
        let ttl = Seconds::Within(TTL_SECONDS_MIN, TTL_SECONDS_MAX);
        let directories = directories(&members, base)?;
        let mut saying = ["cwd", "directories"].into_iter();
        let policy = Self {
            directory_member: saying.find(|name| members.get(name).is_some()),
            directory: directory(&members, base, &directories)?,
            directories,
            timeout: span(&members, timeout, ["timeoutSeconds", "maxTimeoutSeconds"])?,
            ttl: span(&members, ttl, ["ttlSeconds", "maxTtlSeconds"])?,
            terminals: Terminals::default(),
            file: file.map(str::to_owned),
        };
        let is_enabled = members.optional("enabled", Node::switch)?;
        Ok((is_enabled != Some(false)).then_some(policy))
    }

    /// The same of a configuration that people call so.
    pub(crate) fn of(self, file: Option<&str>) -> Self {
        let file = file.map(str::to_owned);
        Self { file, ..self }
    }

    /// The same on a host that has these terminals.
    pub(crate) fn with(self, terminals: Terminals) -> Self {
        Self { terminals, ..self }
    }

    /// The names of the arguments that a call may have.
    pub(super) fn argument_names(&self) -> &'static [&'static str] {
        match self.terminals {
            Terminals::There => &ARGUMENT_NAMES,
            Terminals::Lacking | Terminals::Off => &ARGUMENT_NAMES[..ARGUMENT_NAMES.len() - 1],
        }
    }

    /// What is wrong with a call, where it may be an argument that the configuration takes away: who gives it knows it.
    pub(super) fn explain(&self, misfit: Misfit) -> Misfit {
        match misfit {
            Misfit::Unknown { name, .. }
                if name == TERMINAL && self.terminals == Terminals::Off =>
            {
                let configuration = self.configuration();
                Misfit::NoTerminal { configuration }
            }
            other => other,
        }
    }

    /// The arguments of a call with what holds where it did not say.
    ///
    /// # Errors
    /// Where it says what it may not.
    pub(super) fn apply(&self, arguments: Arguments) -> Result<Arguments, Misfit> {
        let bounds = |span: Span, given_ms, [argument, member]: [&str; 2]| {
            let bound = span.apply(given_ms);
            bound.map_err(|Beyond { given_ms, max_ms }| {
                let expected = format!("at most {}{}", seconds(max_ms), self.said_by(member));
                Misfit::wrong(argument, seconds(given_ms), &expected)
            })
        };
        let timeout = ["timeoutSeconds", "maxTimeoutSeconds"];
        let timeout_ms = bounds(self.timeout, arguments.timeout_ms, timeout)?;
        let ttl_ms = bounds(self.ttl, arguments.ttl_ms, ["ttlSeconds", "maxTtlSeconds"])?;
        let saying = self.directory_member;
        let saying = saying.filter(|_| arguments.directory.is_none());
        let directory_said_by = saying.map(|member| self.member(member));
        let directory = arguments.directory.or_else(|| self.directory.clone());
        if let Some(path) = directory.as_ref().filter(|path| !self.allows(path)) {
            let path = quoted(&path.as_str().into());
            let expected = format!("{}{}", self.allowed(), self.said_by("directories"));
            return Err(Misfit::wrong("cwd", path, &expected));
        }
        Ok(Arguments {
            directory,
            directory_said_by,
            timeout_ms,
            ttl_ms,
            ..arguments
        })
    }

    /// Where a call may work, in words.
    pub(super) fn allowed(&self) -> String {
        let listed: Vec<&str> = self
            .directories
            .iter()
            .take(LISTED_NAMES)
            .map(String::as_str)
            .collect();
        format!(
            "one of these directories or below it: {}",
            listed.join(", ")
        )
    }

    /// Which member of the configuration says something, as the end of a sentence.
    fn said_by(&self, member: &str) -> String {
        format!(", as {} says", self.member(member))
    }

    /// A member, and where it is.
    fn member(&self, member: &str) -> String {
        format!("`run.{member}` in {}", self.configuration())
    }

    /// What people call the configuration.
    fn configuration(&self) -> String {
        let file = self.file.as_deref().map(revealed);
        file.unwrap_or_else(|| "the server's configuration".to_owned())
    }

    fn allows(&self, path: &str) -> bool {
        self.directories.is_empty()
            || self
                .directories
                .iter()
                .any(|directory| is_within(path, directory))
    }
}

/// That a call asks for more than it may.
struct Beyond {
    given_ms: u64,
    max_ms: u64,
}

impl Span {
    fn apply(self, given_ms: Option<u64>) -> Result<Option<u64>, Beyond> {
        match (given_ms, self.max_ms) {
            (None, _) => Ok(self.default_ms),
            (Some(given_ms), Some(max_ms)) if given_ms > max_ms => Err(Beyond { given_ms, max_ms }),
            (given_ms, _) => Ok(given_ms),
        }
    }

    /// What holds for a call that does not say, in words.
    pub(super) fn default_in_words(self) -> String {
        match self.default_ms {
            None => "never".to_owned(),
            Some(ms) => format!("after {}", duration(ms)),
        }
    }
}

/// Milliseconds as a number of seconds.
pub(super) fn seconds(ms: u64) -> String {
    (ms as f64 / 1_000.0).to_string()
}

fn directories(members: &Members<'_>, base: Option<&str>) -> Result<Vec<String>, ConfigError> {
    let Some(node) = members.get("directories") else {
        return Ok(Vec::new());
    };
    let items = node.items()?;
    if items.is_empty() {
        return Err(node.error("has to name a directory; without this member, any will do"));
    }
    // As they are compared, so that what is shown is what holds.
    let path = |item: &Node<'_>| Ok(normalised(&item.path(base)?));
    items.iter().map(path).collect()
}

/// The directory of a call that names none: of the allowed ones the first, as the server's own may be none of them.
fn directory(
    members: &Members<'_>,
    base: Option<&str>,
    directories: &[String],
) -> Result<Option<String>, ConfigError> {
    let Some(node) = members.get("cwd") else {
        return Ok(directories.first().cloned());
    };
    let path = node.path(base)?;
    let is_allowed = directories
        .iter()
        .any(|directory| is_within(&path, directory));
    if !directories.is_empty() && !is_allowed {
        return Err(node.error("has to be one of `directories` or below it"));
    }
    Ok(Some(path))
}

fn span(
    members: &Members<'_>,
    range: Seconds,
    [default, max]: [&str; 2],
) -> Result<Span, ConfigError> {
    let read = |name: &str| members.optional(name, |node| node.milliseconds(range));
    let max_ms = read(max)?;
    let default_ms = read(default)?;
    match (default_ms, max_ms) {
        (Some(default_ms), Some(max_ms)) if default_ms > max_ms => {
            Err(members.error(default, format!("has to be at most `{max}`")))
        }
        (None, max_ms) => Ok(Span {
            default_ms: max_ms,
            max_ms,
        }),
        (default_ms, max_ms) => Ok(Span { default_ms, max_ms }),
    }
}

#[cfg(test)]
mod tests;
