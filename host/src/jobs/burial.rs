//! What is done about a job whose supervisor ended without an outcome, or cannot be reached since somebody deleted
//! or damaged the job's files: kill what is left of it, and say so.
//!
//! Several processes may do this at the same time, and each of them may be killed in the middle of it: no
//! step depends on being the only one, and the first outcome that is written stays.

use std::io;
use std::time::Instant;

use rustix::process::Signal;
use uuid::Uuid;

use super::directory::{Condition, JobDirectory, Liveness, Origin, Started};
use super::limits::{BURIAL, BURIAL_LOOKS, BURIAL_PAUSE, UNCLEAR_PAUSE};
use super::model::{End, Loss, Outcome};
use super::processes::{self, Glance, Newcomers, Seen, Stage, Turn};
use super::{clock, files, output};

/// A job to bury.
pub(crate) struct Burial<'a> {
    /// Its directory.
    pub(crate) directory: &'a JobDirectory,
    /// Its id, which its processes have in their environment.
    pub(crate) id: Uuid,
    /// This boot.
    pub(crate) boot_id: &'a str,
    /// The PID namespace of this process; `None` where the system has none.
    pub(crate) pid_namespace: Option<u64>,
    /// A file name that nobody else uses.
    pub(crate) unique: &'a str,
}

impl Burial<'_> {
    /// Makes sure that nothing of the job runs and that it has an outcome, which is given; `None` where
    /// something of it may be there still.
    ///
    /// The caller has seen that there is no supervisor to be reached, and after that no outcome that anybody may have
    /// been told of. One that is there all the same is told if it may be true.
    ///
    /// # Errors
    /// Also where it cannot be known whether anything of the job runs, and where this process itself is a part of it:
    /// the rest has been killed then.
    pub(crate) fn bury(&self) -> io::Result<Option<Outcome>> {
        let mut remains = self.remains()?;
        let found = self.clear(&mut remains)?;
        if found == Found::StillThere || self.may_be_unseen(&remains)? {
            return Ok(None);
        }
        if let Some(outcome) = self.directory.settle()? {
            return Ok(Some(outcome));
        }
        let outcome = self.outcome(&remains, found)?;
        self.conclude(&outcome)?;
        self.directory.settle()
    }

    /// Whether the supervisor lives where this process cannot see it, as somebody holds `alive`.
    fn may_be_unseen(&self, remains: &Remains) -> io::Result<bool> {
        let is_strange = remains
            .origin
            .as_ref()
            .is_some_and(|it| !self.has_numbers_of(it));
        let is_held = matches!(self.directory.liveness()?, Liveness::Alive(_));
        Ok(is_held && (is_strange || !processes::are_listed()?))
    }

    fn remains(&self) -> io::Result<Remains> {
        let condition = self.directory.condition()?;
        let origin = self.directory.undamaged_origin()?;
        // Where the system does not name its boots, nobody knows either.
        let named = origin.as_ref().filter(|it| !it.boot_id.is_empty());
        let named = named.filter(|_| !self.boot_id.is_empty());
        let same_boot = named.map(|it| it.boot_id == self.boot_id);
        // In another boot, and in another container, the recorded numbers are those of strangers. Without a record
        // nobody knows: its supervisor and its environment are proof enough.
        let started = match (same_boot, &origin) {
            (Some(true), Some(origin)) if self.has_numbers_of(origin) => {
                self.directory.started()?
            }
            _ => None,
        };
        Ok(Remains {
            condition,
            origin,
            same_boot,
            started,
        })
    }

    /// Whether the process ids of a job that was asked for there are those that this process sees. That it is the same
    /// namespace is not certain, as a new one may get the number of one that is gone; older records do not say.
    fn has_numbers_of(&self, origin: &Origin) -> bool {
        origin.pid_namespace.is_none() || origin.pid_namespace == self.pid_namespace
    }

    /// Ends everything that is left of the job.
    fn clear(&self, remains: &mut Remains) -> io::Result<Found> {
        let mut found = Found::Nothing;
        // Nothing of another boot can run.
        if remains.same_boot != Some(false) {
            if remains.condition == Condition::Whole && self.has_supervisor()? {
                // It holds another FIFO than the one that is there.
                remains.condition = Condition::Damaged;
            }
            if self.is_unknowable(remains)? {
                return Err(io::Error::other(UNSEEN));
            }
            found = self.kill_everything(remains)?;
        }
        // Somebody else was here first, and may have been killed before saying what was found.
        if found != Found::StillThere && self.directory.was_found()? {
            found = Found::Killed;
            if remains.condition == Condition::Whole {
                remains.condition = Condition::Damaged;
            }
        }
        Ok(found)
    }

    fn outcome(&self, remains: &Remains, found: Found) -> io::Result<Outcome> {
        let condition = remains.condition;
        let started_at = self.started_at(remains)?;
        // Where nobody knows, it is from this boot if it was made in it.
        let same_boot = remains.same_boot.unwrap_or(started_at >= clock::boot_ms());
        let is_missing = || -> io::Result<bool> {
            // Whoever writes an outcome takes the reserve away when that has its name, and never before.
            let has_ended = !self.directory.has_reserve()?;
            Ok(has_ended && same_boot && condition == Condition::Whole)
        };
        let kind = if condition != Condition::Reserved
            && (self.directory.has_outcome_aside()? || is_missing()?)
        {
            // It may have ended long ago, by itself.
            Loss::Files
        } else {
            loss(condition, same_boot, found)
        };
        let refused_bytes = output::sync(self.directory.dir())?;
        let usage = output::usage(self.directory.dir())?;
        let safe_bytes = usage.kept_bytes.saturating_sub(refused_bytes);
        // Whoever reserved the id did so only because there seemed to be no job.
        let unasked = condition == Condition::Reserved && kind == Loss::Files;
        Ok(Outcome {
            started_at,
            ended_at: crate::clock::now_ms(),
            duration_ms: 0,
            end: End::Lost { kind },
            stopped: self.directory.stop_cause()?.filter(|_| !unasked),
            output_bytes: usage.written_bytes,
            dropped_bytes: usage.written_bytes.saturating_sub(safe_bytes),
            leftovers: Vec::new(),
        })
    }

    fn conclude(&self, outcome: &Outcome) -> io::Result<()> {
        match self.directory.conclude_once(outcome, self.unique) {
            // Where it is gone, somebody has told the end meanwhile, or has deleted it.
            Err(error) if files::is_full(&error) && self.directory.has_reserve()? => {
                self.directory.conclude_in_reserve(outcome)
            }
            other => other,
        }
    }

    /// Whether the supervisor lives after all. One that was killed has no command line any more when its FIFO ends.
    fn has_supervisor(&self) -> io::Result<bool> {
        for seen in processes::all()? {
            if processes::supervises(&seen, self.id)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether nobody can tell if the job runs: its processes would not be seen, and neither its files nor the time
    /// prove that its supervisor has ended.
    fn is_unknowable(&self, remains: &Remains) -> io::Result<bool> {
        // Whoever reserved an id had found nothing of the job, and there is nothing else to go by.
        if processes::are_listed()? || remains.condition == Condition::Reserved {
            return Ok(false);
        }
        let has_ended = self.directory.has_alive()? && !self.directory.is_listened_to()?;
        Ok(!has_ended && self.started_at(remains)? >= clock::boot_ms())
    }

    fn started_at(&self, remains: &Remains) -> io::Result<u64> {
        match &remains.origin {
            Some(origin) => Ok(origin.started_at),
            None => self.directory.made_at(),
        }
    }

    /// Leaves word that something of the job ran although its files say otherwise. Before the first signal. On a full
    /// disk it is killed all the same, and only the reason may be lost.
    fn mark_found(&self, remains: &Remains) {
        if remains.condition != Condition::Whole {
            let _unmarked = self.directory.mark_found();
        }
    }

    fn kill_everything(&self, remains: &Remains) -> io::Result<Found> {
        let deadline = Instant::now() + BURIAL;
        let mut pause = BURIAL_PAUSE;
        let mut found = Found::Nothing;
        let mut is_own = false;
        let mut looks = 0;
        while looks < BURIAL_LOOKS {
            let look = self.look(remains, deadline, &mut is_own)?;
            match look {
                Look::Nothing => {
                    looks += 1;
                    continue;
                }
                Look::Unknown => {}
                Look::Killed | Look::KilledNew => {
                    found = Found::Killed;
                    looks = 0;
                }
            }
            if look == Look::Killed {
                std::thread::sleep(pause);
                pause *= 2;
            }
            if Instant::now() >= deadline {
                return Ok(Found::StillThere);
            }
        }
        if is_own {
            return Err(io::Error::other(INSIDE));
        }
        Ok(found)
    }

    /// Looks for what lives of the job, and kills it.
    fn look(&self, remains: &Remains, deadline: Instant, is_own: &mut bool) -> io::Result<Look> {
        // Before the table is read: whatever is not met in it has a number after this one.
        let mut newcomers = Newcomers::since(processes::newest()?);
        let find = || {
            let Members { proven, unclear } = members(self.id, remains.started.as_ref())?;
            newcomers.add_unclear(&unclear);
            let (own, others): (Vec<Seen>, Vec<Seen>) = proven.into_iter().partition(is_this);
            *is_own |= !own.is_empty();
            if !others.is_empty() {
                self.mark_found(remains);
            }
            Ok(others)
        };
        if !processes::freeze_and_kill(find)?.is_empty() {
            return Ok(Look::Killed);
        }
        match self.watch(newcomers, deadline)? {
            Turn::Found(newcomer) => {
                self.mark_found(remains);
                processes::signal(&newcomer, Signal::KILL);
                Ok(Look::KilledNew)
            }
            Turn::Quiet => Ok(Look::Nothing),
            Turn::Passed | Turn::Unclear | Turn::Lost => Ok(Look::Unknown),
        }
    }

    /// Looks at what was started since, until something is found, nothing is new or nobody can tell.
    fn watch(&self, mut newcomers: Newcomers, deadline: Instant) -> io::Result<Turn> {
        loop {
            let newest = processes::newest()?;
            let turn = newcomers.turn(newest, |pid| processes::glance(pid, self.id))?;
            match turn {
                Turn::Found(_) | Turn::Quiet | Turn::Lost => return Ok(turn),
                Turn::Passed => {}
                Turn::Unclear => std::thread::sleep(UNCLEAR_PAUSE),
            }
            if Instant::now() >= deadline {
                return Ok(turn);
            }
        }
    }
}

/// Why nobody can say whether a job runs.
const UNSEEN: &str = "somebody deleted or changed its files, and processes cannot be listed here, so nobody can tell \
    whether it runs; see that it does not and delete its directory, or start the machine anew";

/// Why a job cannot be said to have ended by one of its own processes.
const INSIDE: &str = "its supervisor is gone, and this process is a part of it and runs; ask from outside of the job";

/// What a job's directory says of it.
struct Remains {
    condition: Condition,
    /// When it was asked for; `None` where that was damaged.
    origin: Option<Origin>,
    /// Whether that was in this boot; `None` where nobody knows.
    same_boot: Option<bool>,
    /// Its command, if it is of this boot and its process id means something here.
    started: Option<Started>,
}

/// What one look at all processes, and at those that are started during it, came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    /// Nothing of the job was there.
    Nothing,
    /// Nothing was found, and there may have been something: so many processes were started that it does not count.
    Unknown,
    /// Something was, and has been killed.
    Killed,
    /// Something that is not in the table was, and has been killed. It may have started the next one already.
    KilledNew,
}

/// What was found of a job among the processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// Nothing, ever.
    Nothing,
    /// Something, which has been killed and is gone.
    Killed,
    /// Something that was killed and has not disappeared yet, or starts itself anew faster than it is killed; or nobody
    /// could tell in time.
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

/// The processes of a job, as the table of all shows them.
struct Members {
    /// Those that certainly are.
    proven: Vec<Seen>,
    /// The numbers of those that may be, in their order.
    unclear: Vec<i32>,
}

/// What provably belongs to the job: its supervisor, processes with its id in their environment, the command itself,
/// their descendants, and the job's session as long as one of these is in it.
fn members(id: Uuid, started: Option<&Started>) -> io::Result<Members> {
    let everything: Vec<Seen> = processes::all()?;
    let is_command = |seen: &Seen| {
        started.is_some_and(|it| it.pid == seen.pid && it.start_ticks == seen.start_ticks)
    };
    let (mut proven, mut unclear): (Vec<Seen>, Vec<i32>) = Default::default();
    for seen in &everything {
        let glance = processes::recognize(seen, id)?;
        if is_command(seen) || glance == Glance::Wanted(*seen) || processes::supervises(seen, id)? {
            proven.push(*seen);
        } else if glance == Glance::Unclear {
            unclear.push(seen.pid);
        }
    }
    // As long as one process is in it, a session keeps its number: nobody else can have been given that.
    if let Some(session) = started.map(|it| it.session)
        && proven.iter().any(|seen| seen.session == session)
    {
        let members = everything.iter().filter(|seen| seen.session == session);
        let more: Vec<Seen> = members
            .filter(|seen| !proven.contains(seen))
            .copied()
            .collect();
        proven.extend(more);
    }
    let roots: Vec<i32> = proven.iter().map(|seen| seen.pid).collect();
    proven.extend(processes::below(&everything, &roots));
    proven.retain(|seen| seen.stage != Stage::Zombie);
    unclear.sort_unstable();
    Ok(Members { proven, unclear })
}

/// Whether a process is the one that asks.
fn is_this(seen: &Seen) -> bool {
    u32::try_from(seen.pid) == Ok(std::process::id())
}
