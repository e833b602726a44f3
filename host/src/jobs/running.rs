//! What can be done to a job without a server: a process of it asks something, and says how far it is; a person at a
//! terminal tells it a secret.
//!
//! The job is found by the data directory and its id, which every process of it has in its environment.

use std::io::{self, ErrorKind};
use std::path::Path;

use cap_std::fs::Dir;
use uuid::Uuid;

use super::directory::{JobDirectory, Liveness};
use super::model::Report;
use super::questions::{self, Asker, HiddenPrompt};
use super::report;
use super::supervised::JOBS;

/// A job that runs, and that this process is a part of where it asks.
#[derive(Debug)]
pub(crate) struct RunningJob {
    directory: JobDirectory,
}

/// Why this process is no part of a job.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotInside {
    /// There is no such job there.
    #[error("there is no job {0} in the data directory")]
    NoJob(Uuid),
    /// It has ended.
    #[error("job {0} does not run")]
    NotRunning(Uuid),
    /// It cannot be looked at.
    #[error("job {0} cannot be looked at")]
    Unreadable(Uuid, #[source] io::Error),
}

impl RunningJob {
    /// Opens the job with this id in the data directory at this path. Makes nothing there.
    pub(crate) fn open(data_path: &Path, id: Uuid) -> Result<Self, NotInside> {
        let path = data_path.join(JOBS).join(id.to_string());
        let opened = Dir::open_ambient_dir(path, cap_std::ambient_authority());
        let directory = JobDirectory::new(opened.map_err(|error| match error.kind() {
            ErrorKind::NotFound => NotInside::NoJob(id),
            _ => NotInside::Unreadable(id, error),
        })?);
        match directory.liveness() {
            Ok(Liveness::Alive(_)) => Ok(Self { directory }),
            Ok(Liveness::Dead) => Err(NotInside::NotRunning(id)),
            Err(error) => Err(NotInside::Unreadable(id, error)),
        }
    }

    /// Asks something, as JSON text.
    ///
    /// # Errors
    /// As [`Asker::ask`].
    pub(crate) fn ask(&self, form: String) -> io::Result<Asker> {
        Asker::ask(self.directory.dir(), form)
    }

    /// What it waits for at its terminal that is secret; `None` where that is nothing.
    ///
    /// # Errors
    /// Where it cannot be looked at.
    pub(crate) fn hidden_prompt(&self) -> io::Result<Option<HiddenPrompt>> {
        questions::hidden_prompt(self.directory.dir())
    }

    /// Tells it a secret, `None` for the end of the file. Whether it was still waited for.
    ///
    /// # Errors
    /// Where it is no line of at most 511 bytes, or cannot be told.
    pub(crate) fn tell_secret(&self, key: &str, line: Option<&str>) -> io::Result<bool> {
        questions::tell_secret(self.directory.dir(), key, line)
    }

    /// Whether the secret that was told was typed, once the prompt of this key is told no more. Says so once.
    ///
    /// # Errors
    /// Where it cannot be looked at.
    pub(crate) fn take_typed(&self, key: &str) -> io::Result<bool> {
        questions::take_typed(self.directory.dir(), key)
    }

    /// Says how far the job is.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub(crate) fn report(&self, percent: Option<u8>, text: String) -> io::Result<()> {
        let at = crate::clock::now_ms();
        report::write(self.directory.dir(), Report { percent, text, at })
    }
}
