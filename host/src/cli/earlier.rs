//! A task that a person names: it was created earlier, in a data directory that is there.

use std::path::{Path, PathBuf};

use super::client::{Client, ClientError};
use crate::data_dir::DataDir;
use crate::serve::STORE_FILE;

/// JSON-RPC's code for what the parameters of a request name and is not there.
const INVALID_PARAMS: i64 = -32602;

/// How the server's words for an id that it never gave begin. They are another's for a task that has expired.
const UNKNOWN: &str = "unknown task";

/// The name of a task, and where it is looked for.
pub(super) struct Earlier<'a> {
    id: &'a str,
    data_dir: PathBuf,
}

/// There is no such task.
#[derive(Debug, thiserror::Error)]
#[error("no task {id} in {data_dir}: where it was run with another data directory, give that with --data-dir",
    data_dir = data_dir.display())]
pub(super) struct NoTask {
    id: String,
    data_dir: PathBuf,
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

    /// Starts a server on the directory, and not where that would make one: looking for something creates nothing.
    ///
    /// # Errors
    /// [`NoTask`] where nothing was ever run there, and those of [`Client::start`].
    pub(super) fn server(&self) -> anyhow::Result<Client> {
        // Of anything else that is wrong with the directory the server knows the words.
        if let Ok(false) = self.data_dir.join(STORE_FILE).try_exists() {
            return Err(self.missing().into());
        }
        Ok(Client::start(Some(&self.data_dir))?)
    }

    /// Says in plain words what a server meant that was asked about the task.
    pub(super) fn explain(&self, error: anyhow::Error) -> anyhow::Error {
        match error.downcast_ref() {
            Some(ClientError::Refused { code, message, .. }) if *code == INVALID_PARAMS => {
                if message.starts_with(UNKNOWN) {
                    self.missing().into()
                } else {
                    anyhow::anyhow!("task {}: {message}", self.id)
                }
            }
            _ => error,
        }
    }

    fn missing(&self) -> NoTask {
        NoTask {
            id: self.id.to_owned(),
            data_dir: self.data_dir.clone(),
        }
    }
}
