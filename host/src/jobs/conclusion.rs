//! How a job ended, in its directory: how that is written and read, and who may say so.
//!
//! It knows the files `outcome.json` and `outcome.reserve`, and nothing of processes.

use std::io::{self, ErrorKind, Write};

use super::directory::{JobDirectory, RESERVE, decode, encode, is_damage, is_later};
use super::files;
use super::model::Outcome;

/// How the job ended.
pub(super) const OUTCOME: &str = "outcome.json";

impl JobDirectory {
    /// How the job ended, if that is known. One that cannot be understood is moved out of the way: it is written in
    /// one step, so somebody else changed it.
    pub(crate) fn outcome(&self) -> io::Result<Option<Outcome>> {
        match self.outcome_in(OUTCOME) {
            Err(error) if is_damage(&error) => {
                let is_ours = |aside: &str| match self.outcome_in(aside) {
                    Ok(found) => found.is_some(),
                    Err(error) => is_later(&error),
                };
                self.put_aside(OUTCOME, is_ours).map(|()| None)
            }
            other => other,
        }
    }

    fn outcome_in(&self, name: &str) -> io::Result<Option<Outcome>> {
        let text = files::read(self.dir(), name)?;
        text.map(|text| decode(&text)).transpose()
    }

    /// Whether there is an outcome, also one of a later version.
    fn is_concluded(&self) -> io::Result<bool> {
        match self.outcome() {
            Ok(found) => Ok(found.is_some()),
            Err(error) if is_later(&error) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Writes the outcome into the room that was reserved for it, unless there is one by now; power-safe on return. For
    /// the supervisor only.
    ///
    /// There is one where somebody took this supervisor for dead, since the file `alive` was not its own any more: who
    /// has read that is not told anything else.
    pub(crate) fn conclude(&self, outcome: &Outcome) -> io::Result<()> {
        // Also where this is called again: the room may be the outcome by now.
        if !self.is_concluded()? {
            self.write_in_reserve(&encode(outcome)?)?;
            self.publish(RESERVE)?;
        }
        // Where it stays it is a second name of the outcome, or what somebody else has put there.
        let _stays = files::remove(self.dir(), RESERVE);
        self.sync_names()
    }

    fn write_in_reserve(&self, text: &[u8]) -> io::Result<()> {
        let mut file = match files::overwrite(self.dir(), RESERVE) {
            Err(error) if files::is_other_kind(&error) => {
                self.put_aside(RESERVE, |_aside| false)?;
                files::overwrite(self.dir(), RESERVE)
            }
            other => other,
        }?;
        file.write_all(text)?;
        file.set_len(text.len() as u64)?;
        file.sync_all()
    }

    /// Gives a whole outcome its name, unless there is one: the first stays.
    fn publish(&self, name: &str) -> io::Result<()> {
        loop {
            match files::link(self.dir(), name, OUTCOME) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                other => return other,
            }
            // What is no outcome has been moved away.
            if self.is_concluded()? {
                return Ok(());
            }
        }
    }

    /// Makes the names of the outcome, the output and the job itself survive a power failure.
    fn sync_names(&self) -> io::Result<()> {
        files::sync(self.dir())?;
        // Nobody has waited for the job's own name so far. Where the file system has one journal, it is safe by now, and
        // this costs nothing.
        files::sync_parent(self.dir())
    }

    /// Writes the outcome of a job that has no supervisor, unless there is one by now; power-safe on
    /// return. `unique` is a name that nobody else uses.
    pub(crate) fn conclude_once(&self, outcome: &Outcome, unique: &str) -> io::Result<()> {
        let mut file = files::create(self.dir(), unique)?;
        let published = file
            .write_all(&encode(outcome)?)
            .and_then(|()| file.sync_all())
            .and_then(|()| self.publish(unique));
        files::remove(self.dir(), unique)?;
        published?;
        self.sync_names()
    }

    /// Gives back the room that was reserved for an outcome, for one that is written by somebody else.
    pub(crate) fn release_reserve(&self) -> io::Result<()> {
        files::remove(self.dir(), RESERVE)
    }
}
