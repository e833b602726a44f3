//! A task that a person names: it was created earlier, in a data directory that is there.

use std::path::{Path, PathBuf};

use super::Place;
use super::client::{Client, ClientError};
use super::plain::plain;
use crate::config::NO_FILE;
use crate::data_dir::DataDir;
use crate::serve::STORE_FILE;

/// JSON-RPC's code for what the parameters of a request name and is not there.
const INVALID_PARAMS: i64 = -32602;

/// How the server's words for an id that it never gave begin. They are another's for a task that has expired.
const UNKNOWN: &str = "unknown task";

/// How they begin for a task that has expired.
const EXPIRED: &str = "this task has expired";

/// The name of a task, and where it is looked for.
pub(super) struct Earlier<'a> {
    id: &'a str,
    data_dir: PathBuf,
}

/// Why a task cannot be seen, and never again.
#[derive(Debug, thiserror::Error)]
pub(super) enum Missing {
    /// There is no such task.
    #[error("no task {id} in {data_dir}: where it was run with another data directory, give that with --data-dir",
        data_dir = data_dir.display())]
    Unknown { id: String, data_dir: PathBuf },
    /// There was one.
    #[error(
        "task {id} has expired: it was to be kept for a time only (--ttl, or what a configuration file says), which has passed; its \
         job is stopped if it still runs, and its output cannot be had any more: run the command again with a longer --ttl"
    )]
    Expired { id: String },
}

impl<'a> Earlier<'a> {
    /// A task in a data directory; `None` for the default one.
    ///
    /// # Errors
    /// Where it cannot be told which directory that is.
    pub(super) fn new(data_dir: Option<&Path>, id: &'a str) -> anyhow::Result<Self> {
        let data_dir = DataDir::resolve(data_dir.map(Path::to_owned))?;
        Ok(Self { id, data_dir })
    }

    /// The data directory.
    pub(super) fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// Starts a server on the directory, and not where that would make one: looking for something creates nothing. With no
    /// configuration file but one that is given: what a task is does not depend on it, and one with a mistake in it must not
    /// keep a person from stopping a job.
    ///
    /// # Errors
    /// [`Missing`] where nothing was ever run there, and those of [`Client::start`].
    pub(super) fn server(&self, config: Option<&Path>) -> anyhow::Result<Client> {
        // Of anything else that is wrong with the directory the server knows the words.
        if let Ok(false) = self.data_dir.join(STORE_FILE).try_exists() {
            return Err(self.missing().into());
        }
        Ok(Client::start(Place {
            data_dir: Some(&self.data_dir),
            config: Some(config.unwrap_or(Path::new(NO_FILE))),
        })?)
    }

    /// As [`Earlier::explain`], to a person who may ask again.
    pub(super) fn explain_and_advise(&self, error: anyhow::Error) -> anyhow::Error {
        match error.downcast_ref() {
            Some(ClientError::Gone | ClientError::Silent | ClientError::Malformed(_)) => {
                anyhow::anyhow!("{error:#}: try again")
            }
            _ => self.explain(error),
        }
    }

    /// Says in plain words what a server meant that was asked about the task.
    pub(super) fn explain(&self, error: anyhow::Error) -> anyhow::Error {
        match error.downcast_ref() {
            Some(ClientError::Refused { code, message }) if *code == INVALID_PARAMS => {
                self.refusal(message)
            }
            Some(ClientError::Refused { message, .. }) => anyhow::anyhow!(plain(message)),
            _ => error,
        }
    }

    fn refusal(&self, message: &str) -> anyhow::Error {
        let id = named(self.id);
        if message.starts_with(UNKNOWN) {
            self.missing().into()
        } else if message.starts_with(EXPIRED) {
            Missing::Expired { id }.into()
        } else {
            anyhow::anyhow!("task {id}: {}", plain(message))
        }
    }

    fn missing(&self) -> Missing {
        Missing::Unknown {
            id: named(self.id),
            data_dir: self.data_dir.clone(),
        }
    }
}

/// An id as a message has it: in quotes where it is none, so that it can be seen where it begins and ends.
fn named(id: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if !id.is_empty() && id.chars().all(is_plain) {
        id.to_owned()
    } else {
        format!("{id:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn earlier() -> Earlier<'static> {
        Earlier {
            id: "a b",
            data_dir: "/d".into(),
        }
    }

    fn explained(code: i64, message: &str) -> String {
        let message = message.to_owned();
        let error = ClientError::Refused { code, message };
        format!("{:#}", earlier().explain(error.into()))
    }

    #[test]
    fn who_asks_about_a_task_may_ask_again() {
        let words = "the server ended without an answer";
        let gone = || ClientError::Gone.into();
        assert_eq!(earlier().explain(gone()).to_string(), words);
        let advised = earlier().explain_and_advise(gone());
        assert_eq!(advised.to_string(), format!("{words}: try again"));
    }

    #[test]
    fn a_refusal_is_said_in_words_for_a_person() {
        let unknown = explained(INVALID_PARAMS, "unknown task: no task has this id");
        assert!(unknown.starts_with(r#"no task "a b" in /d: "#), "{unknown}");
        let expired = explained(
            INVALID_PARAMS,
            "this task has expired: its ttlMs has passed",
        );
        assert!(
            expired.starts_with(r#"task "a b" has expired: "#),
            "{expired}"
        );
        assert!(!expired.contains("ttlMs"), "{expired}");
        // Whoever ignores SIGTERM may still run.
        assert!(
            expired.contains("its job is stopped if it still runs"),
            "{expired}"
        );
        assert!(expired.ends_with("run the command again with a longer --ttl"));
        assert_eq!(explained(-32603, "the disk is full"), "the disk is full");
    }

    #[test]
    fn an_id_that_is_none_is_quoted() {
        assert_eq!(named("1c3f4a5e-7d21"), "1c3f4a5e-7d21");
        assert_eq!(named(""), r#""""#);
        assert_eq!(named("a\n"), r#""a\n""#);
    }
}
