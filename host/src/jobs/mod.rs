//! Jobs: commands that outlive the request, the connection and the server that started them.
//!
//! This module knows processes, files and time. It knows nothing of the protocol, of tasks or of who is
//! calling: a job is named by a UUID and described by a [`Spec`]. The promises are those of the WIT
//! interface `jobs`, whose comments are the contract.
//!
//! A job is a directory, `jobs/<id>`, and a *supervisor*: our own program, started anew for each job,
//! detached from whoever asked for it. There is no daemon. Servers and supervisors find each other
//! through the directory, and whatever one of them has to know of the other is there:
//!
//! | name | what it is |
//! |---|---|
//! | `spec.jsonl` | when and where (boot, PID and time namespace) the job was asked for; what to run; which process the command is, and which inode `control` is |
//! | `alive` | a FIFO that somebody holds open for writing as long as the supervisor lives |
//! | `control` | a FIFO; a byte in it makes the supervisor look for `stop` |
//! | `stop` | a symbolic link whose target is the cause: one atomic step, the first one wins, no block needed |
//! | `out-…`, `idx-…` | the output and what belongs to whom, see module `output` |
//! | `questions/` | what the job asks and is answered, see module `questions`; only where it has asked something |
//! | `report.json` | what the job last said of itself; only where it has |
//! | `outcome.reserve` | room for the outcome, so that a full disk cannot keep a job from ending |
//! | `outcome.json` | how it ended; there from before the supervisor ends, and never changed once `alive` is free |
//! | `….damaged-…` | what somebody else put in the place of something, moved aside |
//! | `reserved` | instead of `spec.jsonl` and the FIFOs: the job was stopped before anybody started it |
//! | `found` | only where processes of a job were found whose files had been changed, before they are killed |
//! | `supervisor.log` | only where the supervisor failed: why |
//!
//! Liveness is the FIFO and never a process id: the kernel closes it with the last of the supervisor,
//! whatever ended it, and a reader's end of file is a wake-up, not something to poll for.
//!
//! Who deletes or changes these files while the job runs takes the job from its owners, and nobody could stop it any
//! more: the next one who asks about such a job finds its supervisor and its processes by command line and
//! environment, kills them, and says what happened. Never is a job said to have ended while one of them lives; where
//! processes cannot be listed, nothing is said but that nobody knows.
//!
//! A job runs as the same user, so it can do all of that too. What its mode closes to us counts as changed, and a
//! directory is opened to its owner again. What it writes of its own end is not believed while its
//! supervisor lives, and the supervisor puts its own in the place; after that it is believed only where everything looks
//! as if a supervisor had written it, see module `conclusion`.
//!
//! On Linux a supervisor is a subreaper, so it sees every descendant until the last has ended. Elsewhere
//! only the command's process group is known: what leaves the group leaves the job, and what is left of a job whose
//! supervisor is gone is not found.

mod burial;
mod clock;
mod conclusion;
mod directory;
mod files;
mod limits;
mod model;
mod native;
mod output;
mod processes;
mod questions;
mod reaper;
mod report;
mod running;
mod spec;
mod supervised;
pub mod supervisor;

pub use model::{
    Command, End, Failure, Fragment, Loss, Outcome, Process, Progress, Prompt, Question, Report,
    Spec, StartError, State, StopCause, StopReason, Stream,
};
pub(crate) use questions::HiddenPrompt;
pub(crate) use running::RunningJob;
pub use supervised::SupervisedJobs;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use uuid::Uuid;

/// Work that outlives the process that started it.
///
/// The contract is that of the interface `jobs` of the component, in `wit/jobs.wit` of this repository, whose README says
/// how the host conformance kit checks it. A method that has a default here does what a host does that lacks it. What is
/// said of supervisors and of processes holds for [`SupervisedJobs`]; another implementation has its own reasons to fail.
///
/// Every method may be called from several threads and several processes at the same time; each blocks for a few system
/// calls and never for a job that has a supervisor. Whoever inspects or stops one that lost it blocks for as long as it
/// takes to find and kill what is left of it, which is a fraction of a second, and at most for two and what it takes to
/// read the table of all processes a few times; one that cannot be reached is given another second before that.
pub trait Jobs: Send + Sync {
    /// Starts a job and returns when it is certain to be started; each id at most once, ever.
    ///
    /// # Errors
    /// Any [`StartError`]; then the job has not run, and for any but [`StartError::AlreadyKnown`] the id
    /// is still unknown, or ended and [`End::NotStarted`] where what was made of it could not be taken away. Until it
    /// returns, others may see a job that runs.
    fn start(&self, id: Uuid, spec: &Spec) -> Result<(), StartError>;

    /// Asks a job to stop, and returns when that would be carried out whatever happens to this process.
    ///
    /// Idempotent: the first cause stays, a job that has ended is not changed. An unknown id is thereby
    /// known, ended and [`Loss::NeverStarted`].
    ///
    /// # Errors
    /// [`Failure`] where the request could not be recorded; trying again is safe.
    fn stop(&self, id: Uuid, reason: StopReason) -> Result<(), Failure>;

    /// Says what is known of a job now.
    ///
    /// Where a supervisor ended without an outcome this kills what is left of its job first.
    ///
    /// # Errors
    /// [`Failure`] where the job's files cannot be read, where its supervisor is gone and processes cannot be looked at now,
    /// where its files are damaged and processes are not listed at all, so that nobody knows whether it runs, and where its
    /// supervisor is gone and this process is a part of it.
    fn inspect(&self, id: Uuid) -> Result<State, Failure>;

    /// Answers a question of a job that runs, and wakes who asked it; the first answer stays. One to a question that is
    /// not open changes nothing. Does nothing where jobs have no way to ask, as here.
    ///
    /// # Errors
    /// [`Failure`] where the answer is longer than 1 MiB, or could not be kept; trying again is safe.
    fn answer(&self, _id: Uuid, _key: &str, _answer: &str) -> Result<(), Failure> {
        Ok(())
    }

    /// Types a line into the terminal of a job that waits for one, with Enter behind it; `None` for the end of the file. The
    /// first one stays, and it is typed only where the job then still waits with the same prompt. One to a prompt that is
    /// not open or is hidden changes nothing. Does nothing where jobs have no terminals, as here.
    ///
    /// # Errors
    /// [`Failure`] where the line is longer than 1000 characters, or could not be kept; trying again is safe.
    fn enter(&self, _id: Uuid, _key: &str, _line: Option<&str>) -> Result<(), Failure> {
        Ok(())
    }

    /// Reads output in the order of arrival, from the first kept byte at or after `offset`.
    ///
    /// `limit` is clamped to 1 to 262144 bytes in all. Gives fewer where that is convenient, and nothing
    /// only where there is nothing more now; an unknown job has no output.
    ///
    /// # Errors
    /// [`Failure`] where the job's files cannot be read.
    fn read(&self, id: Uuid, offset: u64, limit: u32) -> Result<Vec<Fragment>, Failure>;

    /// Deletes everything that is kept of a job that has ended. Idempotent.
    ///
    /// # Errors
    /// [`Failure`] where the job runs, and then nothing is changed, or where its files cannot be deleted.
    fn forget(&self, id: Uuid) -> Result<(), Failure>;

    /// Resolves when the job does not run, or not any more: at once for one that is unknown.
    ///
    /// It is a wake-up and not a verdict: ask [`Jobs::inspect`] then. It may wake without need, after a while, where the
    /// job's files cannot be opened. One that never resolves costs promptness alone: a call that waits for the job is
    /// answered when its time is up.
    ///
    /// # Panics
    /// Where it is polled outside a tokio runtime whose I/O and time are enabled.
    fn ended(&self, id: Uuid) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>>;

    /// Resolves when what the job asks may have changed after this call: it has asked, was answered, took a question back.
    ///
    /// A wake-up as [`Jobs::ended`] is, which may come without need. One that never resolves, as by default, costs
    /// promptness alone: whoever listens to the job's task is told within a second.
    ///
    /// # Panics
    /// As [`Jobs::ended`].
    fn asks(&self, id: Uuid) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        let _not_seen = id;
        Box::pin(std::future::pending())
    }
}

/// The same jobs for several servers, or for whoever looks at them beside one.
impl<J: Jobs + ?Sized> Jobs for Arc<J> {
    fn start(&self, id: Uuid, spec: &Spec) -> Result<(), StartError> {
        (**self).start(id, spec)
    }

    fn stop(&self, id: Uuid, reason: StopReason) -> Result<(), Failure> {
        (**self).stop(id, reason)
    }

    fn inspect(&self, id: Uuid) -> Result<State, Failure> {
        (**self).inspect(id)
    }

    fn answer(&self, id: Uuid, key: &str, answer: &str) -> Result<(), Failure> {
        (**self).answer(id, key, answer)
    }

    fn enter(&self, id: Uuid, key: &str, line: Option<&str>) -> Result<(), Failure> {
        (**self).enter(id, key, line)
    }

    fn read(&self, id: Uuid, offset: u64, limit: u32) -> Result<Vec<Fragment>, Failure> {
        (**self).read(id, offset, limit)
    }

    fn forget(&self, id: Uuid) -> Result<(), Failure> {
        (**self).forget(id)
    }

    fn ended(&self, id: Uuid) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        (**self).ended(id)
    }

    fn asks(&self, id: Uuid) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        (**self).asks(id)
    }
}
