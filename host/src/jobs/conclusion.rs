//! How a job ended, in its directory: how that is written and read, and who may say so.
//!
//! It knows the files `outcome.json` and `outcome.reserve`, and nothing of processes.
//!
//! A job runs as the same user and can write here what it likes, so an outcome means something only where nobody but us
//! can have had a reason to write it. A supervisor writes its own into the reserve, gives it the second name and takes
//! the first one away, all of it while it holds `alive`: who sees that held believes nothing that is written. A burial
//! writes that the job was lost, into the reserve where the disk is full, and takes the reserve away as the last thing
//! too. So an outcome beside a reserve has been told to nobody. It is true where it is the reserve itself, or a loss:
//! whoever wrote it was killed before the last step. Any other one is the job's own work.

use std::fs::File;
use std::io::{self, ErrorKind, Write};

use rustix::fs::{Access, AtFlags, accessat};

use super::directory::{JobDirectory, RESERVE, aside_prefix, decode, encode, is_damage, is_later};
use super::files;
use super::limits::OUTCOME_RESERVE_BYTES;
use super::model::{End, Outcome};

/// How the job ended.
pub(super) const OUTCOME: &str = "outcome.json";

/// What is believed of an outcome that is there though the job's supervisor is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Believed {
    /// Nothing.
    Nothing,
    /// That the job was lost: somebody of us may have taken the supervisor for dead meanwhile, and said so.
    Losses,
}

/// Whether what was read says that the job was lost, or may say so, as a later version wrote it.
fn may_be_loss(read: &io::Result<Option<Outcome>>) -> bool {
    match read {
        Ok(outcome) => outcome.as_ref().is_some_and(is_loss),
        Err(error) => is_later(error),
    }
}

impl JobDirectory {
    /// How the job ended, if somebody may have been told that already.
    ///
    /// Of a job whose `alive` is held this means nothing.
    pub(crate) fn settled_outcome(&self) -> io::Result<Option<Outcome>> {
        // In this order: the reserve goes last, so what is there after it is what stays.
        match self.stat(RESERVE)? {
            Some(_unsettled) => Ok(None),
            None => self.outcome(),
        }
    }

    /// How the job ended, for whoever has seen that nothing of it runs: from then on everybody may be told. What none
    /// of us can have written is moved out of the way.
    pub(crate) fn settle(&self) -> io::Result<Option<Outcome>> {
        // In this order, since somebody else may settle it meanwhile.
        let is_doubtful = self.is_beside_reserve()?;
        let Some(outcome) = self.outcome()? else {
            return Ok(None);
        };
        if is_loss(&outcome) || !is_doubtful {
            // Where it stays, whoever looks next comes to the same.
            let _stays = self.release_reserve();
            return Ok(Some(outcome));
        }
        let is_other = |aside: &str| match self.outcome_in(aside) {
            Ok(found) => found.is_some_and(|found| found != outcome),
            Err(error) => is_later(&error),
        };
        self.put_aside(OUTCOME, is_other).map(|()| None)
    }

    /// Whether there was an outcome that could not be understood, or that none of us had written.
    pub(crate) fn has_outcome_aside(&self) -> io::Result<bool> {
        for entry in self.dir().entries()? {
            let name = entry?.file_name();
            if name.to_string_lossy().starts_with(&aside_prefix(OUTCOME)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Moves an outcome out of the way that is not `believed`.
    pub(crate) fn disown_outcome(&self, believed: Believed) -> io::Result<()> {
        // Not read: what it says counts for nothing, and the job may have closed it to all.
        if believed == Believed::Nothing {
            return self.put_aside(OUTCOME, |_aside| false);
        }
        match self.outcome() {
            Ok(None) => Ok(()),
            Err(error) if !is_later(&error) => Err(error),
            read if may_be_loss(&read) => Ok(()),
            _ => self.put_aside(OUTCOME, |aside| may_be_loss(&self.outcome_in(aside))),
        }
    }

    /// Whether the room for an outcome is still there: where it is not, there was an outcome.
    pub(crate) fn has_reserve(&self) -> io::Result<bool> {
        Ok(self.stat(RESERVE)?.is_some())
    }

    /// Whether the outcome is another file than the reserve, and that is there.
    fn is_beside_reserve(&self) -> io::Result<bool> {
        let (reserve, outcome) = (self.stat(RESERVE)?, self.stat(OUTCOME)?);
        let (Some(reserve), Some(outcome)) = (reserve, outcome) else {
            return Ok(false);
        };
        Ok((reserve.st_dev, reserve.st_ino) != (outcome.st_dev, outcome.st_ino))
    }

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
    /// the supervisor, and for a server that could start none.
    ///
    /// There is one where somebody took this supervisor for dead, since the file `alive` was not its own any more: who
    /// has read that is not told anything else. One that the job itself has written is disowned before this.
    pub(crate) fn conclude(&self, outcome: &Outcome) -> io::Result<()> {
        // Also where this is called again: the room may be the outcome by now.
        if !self.is_concluded()? {
            self.write_in_reserve(&encode(outcome)?)?.sync_all()?;
            self.publish(RESERVE)?;
        }
        // Where it stays it is a second name of the outcome, or what somebody else has put there.
        let _stays = files::remove(self.dir(), RESERVE);
        self.sync_names()
    }

    /// Sees that the outcome could be kept: that the reserve can be written, and that the directory takes another name.
    /// Before anything runs whose end could not be told.
    ///
    /// # Errors
    /// What would keep everybody from writing the outcome, such as a file system that can only be read by now.
    pub(crate) fn check_reserve(&self) -> io::Result<()> {
        let mut file = self.open_reserve()?;
        file.write_all(&[b' '; OUTCOME_RESERVE_BYTES])?;
        file.set_len(OUTCOME_RESERVE_BYTES as u64)?;
        let how = Access::WRITE_OK | Access::EXEC_OK;
        Ok(accessat(self.dir(), ".", how, AtFlags::empty())?)
    }

    /// Lets others see how long the job ran, before its outcome is safe and told: its supervisor lives for as long as
    /// that takes, which may be long where the disk is slow or full.
    pub(crate) fn note_end(&self, outcome: &Outcome) -> io::Result<()> {
        self.write_in_reserve(&encode(outcome)?).map(|_file| ())
    }

    /// How long the job ran, in milliseconds, if it is over though its supervisor lives; `None` also where that cannot
    /// be read. It may be the job that says so, and is good for nothing but to show how long that ran.
    pub(crate) fn noted_duration_ms(&self) -> io::Result<Option<u64>> {
        let name = match self.stat(RESERVE)? {
            Some(reserve) if reserve.st_size == OUTCOME_RESERVE_BYTES as i64 => return Ok(None),
            Some(_) => RESERVE,
            None => OUTCOME,
        };
        let noted = self.outcome_in(name).ok().flatten();
        Ok(noted.map(|outcome| outcome.duration_ms))
    }

    fn open_reserve(&self) -> io::Result<File> {
        match files::overwrite(self.dir(), RESERVE) {
            Err(error) if files::is_other_kind(&error) || files::is_closed(&error) => {
                self.put_aside(RESERVE, |_aside| false)?;
                files::overwrite(self.dir(), RESERVE)
            }
            other => other,
        }
    }

    fn write_in_reserve(&self, text: &[u8]) -> io::Result<File> {
        let mut file = self.open_reserve()?;
        file.write_all(text)?;
        file.set_len(text.len() as u64)?;
        Ok(file)
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
        // Nobody has waited for the job's own name so far. Where the file system has one journal, it is safe by now,
        // and this costs nothing.
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

    /// As [`conclude_once`](Self::conclude_once), on a disk without room: into what was reserved, which is there until
    /// an outcome has its name, also where this is killed or fails in the middle of it.
    ///
    /// # Errors
    /// [`ErrorKind::WouldBlock`] while another process does this: two that write at once would mix what they write.
    pub(crate) fn conclude_in_reserve(&self, outcome: &Outcome) -> io::Result<()> {
        let reserve = self.open_reserve()?;
        reserve.try_lock()?;
        self.conclude(outcome)
    }

    /// Gives back the room that was reserved for an outcome, as there is one.
    fn release_reserve(&self) -> io::Result<()> {
        files::remove(self.dir(), RESERVE)
    }
}

/// Whether an outcome says that nobody knows how the job ended: all that is ever said by others than its supervisor,
/// but for jobs that had none.
fn is_loss(outcome: &Outcome) -> bool {
    matches!(outcome.end, End::Lost { .. })
}
