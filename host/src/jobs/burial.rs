//! What is done about a job whose supervisor ended without an outcome: kill what is left of it, and say so.
//!
//! Several processes may do this at the same time, and each of them may be killed in the middle of it: no
//! step depends on being the only one, and the first outcome that is written stays.

use std::io;
use std::time::Instant;

use uuid::Uuid;

use super::directory::{JobDirectory, Origin, Started};
use super::limits::{BURIAL, BURIAL_PAUSE};
use super::model::{End, Loss, Outcome};
use super::processes::{self, Seen};
use super::{files, output};

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
    /// The caller has seen that the supervisor is dead, and that there was no outcome after that.
    pub(crate) fn bury(&self) -> io::Result<Option<Outcome>> {
        // Unreadable where the machine failed before the disk had it: then nothing of the job can run.
        let origin = self
            .directory
            .origin()
            .unwrap_or_else(|_| self.unrecorded());
        let same_boot = origin.boot_id == self.boot_id;
        if same_boot && !self.kill_everything() {
            return Ok(None);
        }
        let usage = output::usage(self.directory.dir())?;
        let outcome = Outcome {
            started_at: origin.started_at,
            ended_at: crate::clock::now_ms(),
            duration_ms: 0,
            end: End::Lost {
                kind: if same_boot {
                    Loss::Supervisor
                } else {
                    Loss::Machine
                },
            },
            stopped: self.directory.stop_cause()?,
            output_bytes: usage.written_bytes,
            dropped_bytes: usage.written_bytes.saturating_sub(usage.kept_bytes),
            leftovers: Vec::new(),
        };
        self.conclude(&outcome)?;
        self.directory.outcome()
    }

    /// What is known of a job whose record is gone.
    fn unrecorded(&self) -> Origin {
        Origin {
            started_at: crate::clock::now_ms(),
            monotonic_ms: 0,
            boot_id: String::new(),
        }
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

    /// Whether nothing is left of the job.
    fn kill_everything(&self) -> bool {
        let started = self.directory.started();
        let deadline = Instant::now() + BURIAL;
        loop {
            let killed = processes::freeze_and_kill(|| remains(self.id, started.as_ref()));
            if killed.is_empty() {
                return true;
            }
            if Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(BURIAL_PAUSE);
        }
    }
}

/// What provably belongs to the job: processes with its id in their environment, the command itself, their
/// descendants, and the command's group as long as one of these is in it.
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
        .filter(|seen| is_command(seen) || processes::belongs_to(seen, id))
        .copied()
        .collect();
    if let Some(group) = started.map(|it| it.pid)
        && proven.iter().any(|seen| seen.group == group)
    {
        let members = others().filter(|seen| seen.group == group);
        let more: Vec<Seen> = members
            .filter(|seen| !proven.contains(seen))
            .copied()
            .collect();
        proven.extend(more);
    }
    let roots: Vec<i32> = proven.iter().map(|seen| seen.pid).collect();
    proven.extend(processes::below(&everything, &roots));
    proven.retain(|seen| !seen.zombie && u32::try_from(seen.pid) != Ok(own));
    proven
}
