//! What is done about a job whose supervisor ended without an outcome, or cannot be reached since somebody deleted
//! or damaged the job's files: kill what is left of it, and say so.
//!
//! Several processes may do this at the same time, and each of them may be killed in the middle of it: no
//! step depends on being the only one, and the first outcome that is written stays.

use std::io;
use std::time::Instant;

use uuid::Uuid;

use super::directory::{Condition, JobDirectory, Started};
use super::limits::{BURIAL, BURIAL_PAUSE};
use super::model::{End, Loss, Outcome};
use super::processes::{self, Seen, Stage};
use super::{clock, files, output};

/// A job to bury.
pub(crate) struct Burial<'a> {
    /// Its directory.
    pub(crate) directory: &'a JobDirectory,
    /// Its id, which its processes have in their environment.
    pub(crate) id: Uuid,
    /// This boot.
    pub(crate) boot_id: &'a str,
    /// A file name that nobody else uses.
    pub(crate) unique: &'a str,
}

impl Burial<'_> {
    /// Makes sure that nothing of the job runs and that it has an outcome, which is given; `None` where
    /// something that was killed has not disappeared yet.
    ///
    /// The caller has seen that there is no supervisor to be reached, and that there was no outcome after that.
    pub(crate) fn bury(&self) -> io::Result<Option<Outcome>> {
        let mut condition = self.directory.condition()?;
        let origin = self.directory.origin().ok();
        let same_boot = origin.as_ref().map(|it| it.boot_id == self.boot_id);
        // In another boot the recorded numbers are those of strangers, and nothing of the job can run. Without a record
        // nobody knows: its supervisor and its environment are proof enough.
        let started = same_boot.and_then(|same| self.directory.started().filter(|_| same));
        let found = match same_boot {
            Some(false) => Found::Nothing,
            _ => {
                if condition == Condition::Whole && self.has_supervisor() {
                    // It holds another FIFO than the one that is there.
                    condition = Condition::Damaged;
                }
                self.kill_everything(started.as_ref())
            }
        };
        if found == Found::StillThere {
            return Ok(None);
        }
        let started_at = match &origin {
            Some(origin) => origin.started_at,
            None => self.directory.made_at()?,
        };
        // Without a record it is from this boot if it was made in it.
        let same_boot = same_boot.unwrap_or(started_at >= clock::boot_ms());
        let kind = loss(condition, same_boot, found);
        let usage = output::usage(self.directory.dir())?;
        // Whoever reserved the id did so only because there seemed to be no job.
        let unasked = condition == Condition::Reserved && kind == Loss::Files;
        let outcome = Outcome {
            started_at,
            ended_at: crate::clock::now_ms(),
            duration_ms: 0,
            end: End::Lost { kind },
            stopped: self.directory.stop_cause()?.filter(|_| !unasked),
            output_bytes: usage.written_bytes,
            dropped_bytes: usage.written_bytes.saturating_sub(usage.kept_bytes),
            leftovers: Vec::new(),
        };
        self.conclude(&outcome)?;
        self.directory.outcome()
    }

    fn conclude(&self, outcome: &Outcome) -> io::Result<()> {
        match self.directory.conclude_once(outcome, self.unique) {
            Err(error) if files::is_full(&error) => {
                self.directory.release_reserve()?;
                self.directory.conclude_once(outcome, self.unique)
            }
            other => other,
        }
    }

    /// Whether the supervisor lives after all. One that was killed has no command line any more when its FIFO ends.
    fn has_supervisor(&self) -> bool {
        let everything = processes::all();
        everything
            .iter()
            .any(|seen| processes::supervises(seen, self.id))
    }

    fn kill_everything(&self, started: Option<&Started>) -> Found {
        let deadline = Instant::now() + BURIAL;
        let mut found = Found::Nothing;
        loop {
            let killed = processes::freeze_and_kill(|| remains(self.id, started));
            if killed.is_empty() {
                return found;
            }
            found = Found::Killed;
            if Instant::now() >= deadline {
                return Found::StillThere;
            }
            std::thread::sleep(BURIAL_PAUSE);
        }
    }
}

/// What was found of a job among the processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// Nothing, ever.
    Nothing,
    /// Something, which has been killed and is gone.
    Killed,
    /// Something that was killed and has not disappeared yet.
    StillThere,
}

/// What happened to a job of which this was found.
fn loss(condition: Condition, same_boot: bool, found: Found) -> Loss {
    match (condition, found) {
        (Condition::Reserved, Found::Nothing) => Loss::NeverStarted,
        (Condition::Whole, _) if same_boot => Loss::Supervisor,
        (_, Found::Nothing) if !same_boot => Loss::Machine,
        _ => Loss::Files,
    }
}

/// What provably belongs to the job: its supervisor, processes with its id in their environment, the command itself,
/// their descendants, and the job's session as long as one of these is in it.
fn remains(id: Uuid, started: Option<&Started>) -> Vec<Seen> {
    let everything: Vec<Seen> = processes::all();
    let is_command = |seen: &Seen| {
        started.is_some_and(|it| it.pid == seen.pid && it.start_ticks == seen.start_ticks)
    };
    let own = std::process::id();
    let others = || {
        everything
            .iter()
            .filter(|seen| u32::try_from(seen.pid) != Ok(own))
    };
    let mut proven: Vec<Seen> = others()
        .filter(|seen| {
            is_command(seen) || processes::belongs_to(seen, id) || processes::supervises(seen, id)
        })
        .copied()
        .collect();
    // As long as one process is in it, a session keeps its number: nobody else can have been given that.
    if let Some(session) = started.map(|it| it.session)
        && proven.iter().any(|seen| seen.session == session)
    {
        let members = others().filter(|seen| seen.session == session);
        let more: Vec<Seen> = members
            .filter(|seen| !proven.contains(seen))
            .copied()
            .collect();
        proven.extend(more);
    }
    let roots: Vec<i32> = proven.iter().map(|seen| seen.pid).collect();
    proven.extend(processes::below(&everything, &roots));
    proven.retain(|seen| seen.stage != Stage::Zombie && u32::try_from(seen.pid) != Ok(own));
    proven
}
