//! The configuration file: which one it is, what is in it as JSON, and what becomes of its changes.
//!
//! Knows files, TOML and JSON. Does not know what any member means: that is the component's, which names the member that it
//! refuses, and this says where in the file it is.

mod chain;
mod document;
mod error;
mod file;
mod find;
mod follow;
mod watch;

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

pub use self::document::Position;
use self::document::{Members, Wrong, locate};
pub use self::error::Error;
pub(crate) use self::find::{FILE_NAME, NO_FILE};
pub use self::find::{Found, VARIABLE, find};
pub(crate) use self::follow::follow;
use crate::engine::BadConfig;
use crate::log;

/// The members that this host sets, each from what it knows itself: a file has none of them. `terminals` is no such one, as a
/// file may switch those off.
const OWN_MEMBERS: [&str; 6] = [
    "answerCommand",
    "baseDirectory",
    "configurationFile",
    "runCommand",
    "showCommand",
    "workingDirectory",
];

/// What a configuration is made of: a file, which may be none, what wins over it, and what it wins over.
#[derive(Clone, Debug, Default)]
pub struct Source {
    file: Option<PathBuf>,
    options: Map<String, Value>,
    defaults: Map<String, Value>,
}

/// A configuration as it was read.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    source: Source,
    /// What was in the file; empty where there is none.
    text: String,
    /// The same, with the options.
    members: Members,
}

impl Source {
    /// A configuration of `file`, by its absolute path, and of `options`, which are members of `configure` as the README of
    /// the WIT has them, and win over those of the file.
    #[must_use]
    pub fn new(file: Option<PathBuf>, options: Map<String, Value>) -> Self {
        let mut defaults = Map::new();
        let directory = file.as_deref().and_then(Path::parent);
        for (member, path) in [
            // Without it the component refuses what is relative to it, and says so.
            ("baseDirectory", directory),
            ("configurationFile", file.as_deref()),
        ] {
            let text = path.and_then(Path::to_str);
            if let Some(text) = text.filter(|it| !it.contains(char::is_control)) {
                defaults.insert(member.to_owned(), text.into());
            }
        }
        Self {
            file,
            options,
            defaults,
        }
    }

    /// A configuration of the file that [`find`] finds, and of `options`. A file that is not used since it is somebody else's
    /// is named on standard error.
    ///
    /// # Errors
    /// [`Error::NoWorkingDirectory`].
    pub fn find(explicit: Option<&Path>, options: Map<String, Value>) -> Result<Self, Error> {
        let found = find(explicit)?;
        for unused in found.foreign_in_words() {
            log::warn(format_args!("{unused}"));
        }
        Ok(Self::new(found.file, options))
    }

    /// The file; `None` where there is none.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Reads the file.
    ///
    /// # Errors
    /// Any [`Error`] but [`Error::NoWorkingDirectory`].
    pub(crate) fn load(self) -> Result<Loaded, Error> {
        let text = self.read()?;
        let members = self.members(&text)?;
        Ok(Loaded {
            source: self,
            text,
            members,
        })
    }

    fn read(&self) -> Result<String, Error> {
        self.file.as_deref().map_or(Ok(String::new()), file::read)
    }

    /// What the component is configured with, where this is what is in the file.
    fn json(&self, text: &str) -> Result<String, Error> {
        Ok(self.complete(self.members(text)?))
    }

    /// The members of this text, and those that win over them.
    fn members(&self, text: &str) -> Result<Members, Error> {
        let members = Members::parse(text);
        let mut members =
            members.map_err(|Wrong { position, reason }| self.wrong(position, reason))?;
        if let Some(name) = OWN_MEMBERS.iter().find(|name| members.has(name)) {
            let reason = "there is no such member in a file: the server sets it itself";
            let (at, reason) = (format!("/{name}"), reason.to_owned());
            return Err(self.explain(text, BadConfig { at, reason }));
        }
        for (name, value) in &self.options {
            members.set(name, value);
        }
        Ok(members)
    }

    /// The members, and those that they win over, as JSON.
    fn complete(&self, mut members: Members) -> String {
        for (name, value) in &self.defaults {
            members.set_default(name, value);
        }
        members.to_string()
    }

    /// Where in the file something is that the component refuses.
    fn explain(&self, text: &str, refused: BadConfig) -> Error {
        let member = refused.at.split('/').nth(1).unwrap_or_default();
        if self.file.is_none() || self.options.contains_key(member) {
            return Error::Refused(refused);
        }
        let position = locate(text, &refused.at).unwrap_or(Position { line: 1, column: 1 });
        // With the member: where one is missing, the place is only that of what it is missing in.
        self.wrong(position, without_own(&refused.to_string()))
    }

    fn wrong(&self, position: Position, reason: String) -> Error {
        match &self.file {
            Some(path) => Error::Wrong {
                path: path.clone(),
                position,
                reason,
            },
            None => Error::Refused(BadConfig {
                at: String::new(),
                reason,
            }),
        }
    }
}

/// Why something is refused, where that lists the members that there are, without those that a file cannot have.
fn without_own(reason: &str) -> String {
    let names = OWN_MEMBERS.iter();
    names.fold(reason.to_owned(), |reason, name| {
        reason.replace(&format!("`{name}`, "), "")
    })
}

impl Found {
    /// Why each file is not used that is somebody else's, and what to do about it.
    pub(crate) fn foreign_in_words(&self) -> impl Iterator<Item = String> {
        self.foreign.iter().map(|file| {
            format!(
                "{}: belongs to another user, or its directory does, and is not used: name it with --config if you trust it",
                file.display()
            )
        })
    }
}

impl Loaded {
    /// Sets a member that the file may set otherwise, or cannot set.
    pub(crate) fn set_default(&mut self, name: &str, value: Value) {
        self.source.defaults.insert(name.to_owned(), value);
    }

    /// What the component is configured with: a JSON object.
    pub(crate) fn json(&self) -> String {
        self.source.complete(self.members.clone())
    }

    /// Whether there is a file and nothing is in it.
    pub(crate) fn is_empty_file(&self) -> bool {
        self.source.file.is_some() && self.text.trim().is_empty()
    }

    /// Why the component refuses it, or what else there is to say of a member.
    pub(crate) fn explain(&self, refused: BadConfig) -> Error {
        self.source.explain(&self.text, refused)
    }
}

#[cfg(test)]
mod tests;
