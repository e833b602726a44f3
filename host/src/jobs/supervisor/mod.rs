//! The process that accompanies one job from its start to its end.
//!
//! It is our own program, started anew for each job, and has to stay small and simple: one thread, one loop,
//! no runtime. It knows its job's directory and its descendants, and no server: it would not notice if there
//! were none. What it promises is that there is an outcome exactly when nothing of the job runs any more.
//!
//! It starts the command in a process group of its own, copies its output to disk, and stops it when its
//! time is over or somebody wants that: SIGTERM to the group and to every other descendant, after the grace
//! SIGKILL to all of them until the kernel says that there is none. What a command leaves behind when it ends
//! by itself gets half a second to end too; then it is named in the outcome and stopped in the same way.
//!
//! A process that may not be signalled, since it runs as somebody else, is waited for. A server that runs in a
//! job, and what that server starts, descends from the job and ends with it.
//!
//! An interactive job has a terminal in the place of pipes: module `terminal`. What it waits for there is told, and
//! what somebody answers is typed: module `console`.
//!
//! Output is recorded in the order in which it was written, across both streams: module `streams` says how, and
//! how exactly.

mod command;
mod console;
mod ending;
mod family;
mod feed;
mod life;
mod lookout;
mod patience;
mod signals;
mod streams;
mod tail;
mod terminal;
mod watch;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::mem::ManuallyDrop;
use std::os::fd::OwnedFd;
use std::process::ExitCode;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use uuid::Uuid;

use self::command::Spawned;
pub(crate) use self::ending::signal_name;
use self::life::Life;
use self::patience::{Patience, Reach, Worth};
use self::signals::Signals;
use self::watch::{Post, Watch};
use super::conclusion::Believed;
use super::directory::{JobDirectory, Started};
use super::limits::OUTCOME_RETRY;
use super::model::{End, Outcome, Spec};
use super::native::{self, Side};
use super::output::Recorder;
use super::{clock, files, processes};

/// The variable that every process of a job has in its environment, with the job's id: a job can name
/// itself with it, and what is left of a lost job is found by it.
pub const TASK_VARIABLE: &str = "BACKBURNER_TASK_ID";

/// The first argument of a program that is to accompany a job. The second one is the job's id, and there is no third:
/// by this a supervisor is found whose job's files were deleted.
pub const SUPERVISE: &str = "supervise";

/// Accompanies the job whose directory is the working directory and whose id is `id`.
///
/// The program has to call this before anything else when its first argument is `supervise`: while there
/// is one thread, and nothing has been opened. Standard output has to be the job's `alive` FIFO. Returns
/// twice, in this process at once, and in the one that accompanies the job when the job is over.
#[must_use]
pub fn supervise(id: Option<OsString>) -> ExitCode {
    let id = id.and_then(|id| Uuid::try_parse(id.to_str()?).ok());
    // A person who tries this out must not start a job a second time.
    let (Some(id), true) = (id, is_wanted()) else {
        // A server has closed it, and where it cannot be written to there is nobody to be told.
        let _ = writeln!(
            io::stderr(),
            "error: `{SUPERVISE}` is how a server accompanies a job, and not for people; `--help` says what is"
        );
        return ExitCode::from(2);
    };
    match native::fork() {
        Ok(Side::Parent) => ExitCode::SUCCESS,
        Ok(Side::Child) => accompany(id),
        Err(error) => refuse(&error),
    }
}

/// There is no process for a supervisor.
fn refuse(error: &io::Error) -> ExitCode {
    let detail = format!("no process can be created: {error}");
    let left = JobDirectory::open_current().and_then(|directory| give_up(&directory, detail));
    if let Err(error) = left {
        log(&format!("the supervisor cannot be started: {error}"));
    }
    ExitCode::FAILURE
}

/// Leaves the outcome of a job that has no supervisor because of this, so that nobody takes it for killed.
pub(super) fn give_up(directory: &JobDirectory, detail: String) -> io::Result<()> {
    let (origin, _) = directory.origin_and_spec()?;
    directory.conclude(&Outcome {
        started_at: origin.started_at,
        ended_at: crate::clock::now_ms(),
        duration_ms: 0,
        end: End::NotStarted { detail },
        stopped: None,
        output_bytes: 0,
        dropped_bytes: 0,
        leftovers: Vec::new(),
    })
}

/// Whether an engine started this process: then standard output is the FIFO `alive` of this directory.
fn is_wanted() -> bool {
    let given = rustix::fs::fstat(rustix::stdio::stdout());
    let wanted = rustix::fs::lstat("alive");
    matches!((given, wanted), (Ok(given), Ok(wanted))
        if (given.st_dev, given.st_ino) == (wanted.st_dev, wanted.st_ino))
}

fn accompany(id: Uuid) -> ExitCode {
    let origin_ms = clock::monotonic_ms();
    std::panic::set_hook(Box::new(|panic| log(&panic.to_string())));
    let done = detach().and_then(|alive| carry_out(id, &JobDirectory::open_current()?, alive));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let ran_ms = clock::monotonic_ms() - origin_ms;
            log(&format!("the supervisor failed after {ran_ms} ms: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Executes the command, stays with it, and returns when its outcome is on disk. `alive` is what shows that this
/// process lives; it is closed when that is so, and else with the process.
fn carry_out(id: Uuid, directory: &JobDirectory, alive: ManuallyDrop<OwnedFd>) -> io::Result<()> {
    // Both before the first look for a request to stop, so that a later one is noticed.
    let signals = Signals::install()?;
    let control = directory.open_control()?;
    let (origin, spec) = directory.origin_and_spec()?;
    let asked_ms = origin.monotonic_ms_in(clock::time_namespace());
    let recorder = Recorder::new(directory.dir().try_clone()?, spec.output_limit_bytes);
    let mut post = Post {
        directory,
        signals,
        control,
        recorder,
    };
    let mut outcome = Outcome {
        started_at: origin.started_at,
        ended_at: 0,
        duration_ms: 0,
        end: End::NotStarted {
            detail: "it was stopped before its command was executed".into(),
        },
        stopped: directory.stop_cause()?,
        output_bytes: 0,
        dropped_bytes: 0,
        leftovers: Vec::new(),
    };
    let mut worth = Worth::End;
    if outcome.stopped.is_none() {
        let asked = Asked {
            id,
            spec,
            at_ms: asked_ms,
        };
        worth = execute(asked, &mut post, &mut outcome);
    }
    outcome.ended_at = crate::clock::now_ms();
    outcome.duration_ms = clock::monotonic_ms().saturating_sub(asked_ms);
    // Before what takes its time. Where there is no room for it, the job seems to run until its outcome is written.
    let _unnoted = directory.note_end(&outcome);
    match conclude(&mut post, outcome, &alive, Patience::of(worth)) {
        Ok(()) => leave(post, alive),
        Err(error) => {
            // Not before it has said why.
            std::mem::forget(post);
            return Err(error);
        }
    }
    Ok(())
}

/// Closes what others know this process by: `alive` before `control`. A server that sees `alive` held and nobody who
/// reads `control` takes the files for changed, and not this process for one that is about to end; the system closes
/// them in no order that can be relied on.
fn leave(post: Post<'_>, alive: ManuallyDrop<OwnedFd>) {
    drop(ManuallyDrop::into_inner(alive));
    drop(post);
}

/// What is to be executed.
struct Asked {
    id: Uuid,
    spec: Spec,
    /// Since when, on the clock that does not jump.
    at_ms: u64,
}

/// Executes the command and stays with it until nothing of it runs. Gives what the outcome is worth.
fn execute(asked: Asked, post: &mut Post<'_>, outcome: &mut Outcome) -> Worth {
    if let Err(error) = post.directory.check_reserve() {
        let detail = unkept(error);
        outcome.end = End::NotStarted { detail };
        return Worth::Reason;
    }
    let life = Life::new(&asked.spec, asked.at_ms);
    match command::spawn(asked.id, asked.spec) {
        Ok(command) => {
            record_started(post, &command);
            let over = Watch::new(post, life, command).run();
            outcome.end = ending::end(over.status);
            outcome.stopped = over.stopped;
            outcome.leftovers = over.leftovers;
        }
        Err(detail) => outcome.end = End::NotStarted { detail },
    }
    Worth::End
}

/// Why a command is not executed whose end could not be told.
fn unkept(error: io::Error) -> String {
    let error = files::explained(error);
    format!("what it comes to could not be kept in the server's data directory: {error}")
}

fn record_started(post: &Post<'_>, command: &Spawned) {
    let pid = command.pid.as_raw_nonzero().get();
    // What is not known, or on a full disk not recorded: what is left of a lost job is found by its environment too.
    let seen = processes::look(pid).ok().flatten();
    let start_ticks = seen.map_or(0, |seen| seen.start_ticks);
    let session = match command.terminal {
        None => rustix::process::getpid().as_raw_nonzero().get(),
        // A terminal belongs to one session, which the command leads.
        Some(_) => pid,
    };
    let started = Started {
        pid,
        start_ticks,
        session,
        control: rustix::fs::fstat(&post.control).ok().map(|it| it.st_ino),
    };
    let _unrecorded = post.directory.record_started(&started);
}

/// Writes the outcome, whatever it takes: room is made from output, and what fails is tried again, for as long as it
/// may succeed.
fn conclude(
    post: &mut Post<'_>,
    mut outcome: Outcome,
    alive: &OwnedFd,
    mut patience: Patience,
) -> io::Result<()> {
    let (dir, recorder) = (post.directory, &mut post.recorder);
    // First, so that no outcome counts bytes as kept that a power failure would take.
    recorder.sync();
    let mut place = Place::Unknown;
    loop {
        outcome.output_bytes = recorder.written_bytes();
        outcome.dropped_bytes = recorder.dropped_bytes();
        let free = match place {
            Place::Unknown => free_place(dir, alive).map(|()| place = Place::Free),
            Place::Free => Ok(()),
        };
        match free.and_then(|()| dir.conclude(&outcome)) {
            Err(error) if files::is_full(&error) && recorder.sacrifice() => {}
            Err(error) if patience.is_over(&error, reach(), clock::monotonic_ms()) => {
                return Err(error);
            }
            Err(error) => await_help(dir, &error),
            Ok(()) => return Ok(()),
        }
    }
}

/// Waits until an outcome that failed like this is to be tried again. Where the job has closed its directory, or that
/// of all jobs, it is open then.
fn await_help(dir: &JobDirectory, error: &io::Error) {
    if error.kind() == io::ErrorKind::PermissionDenied {
        files::open_up_with_parent(dir.dir());
    }
    std::thread::sleep(OUTCOME_RETRY);
}

/// Whether anybody else can still get to the job's directory, which is the working directory.
fn reach() -> Reach {
    match std::env::current_dir() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Reach::Cut,
        _ => Reach::There,
    }
}

/// What is in the place of the outcome.
#[derive(Clone, Copy)]
enum Place {
    /// Perhaps what the job has put there.
    Unknown,
    /// Nothing but what this process has.
    Free,
}

/// Moves away what the job has written of its own end.
fn free_place(dir: &JobDirectory, alive: &OwnedFd) -> io::Result<()> {
    let believed = if dir.has_as_alive(alive)? {
        // Nobody of us takes this supervisor for dead.
        Believed::Nothing
    } else {
        Believed::Losses
    };
    dir.disown_outcome(believed)
}

/// Leaves the session, the signals and the descriptors of whoever started this process, and gives what
/// keeps the job alive.
fn detach() -> io::Result<ManuallyDrop<OwnedFd>> {
    rustix::process::setsid()?;
    native::reset_signals();
    native::close_inherited();
    // Held to the end of the process, whatever fails: only after an outcome may the job count as ended, and one that
    // fails has ended when it has said why and cannot be found any more.
    let alive = ManuallyDrop::new(rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?);
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)?;
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    Ok(alive)
}

/// Leaves a trace for whoever looks into the job's directory; there is no other place to complain.
fn log(text: &str) {
    let written = Dir::open_ambient_dir(".", ambient_authority())
        .and_then(|dir| files::create(&dir, "supervisor.log"))
        .and_then(|mut file| file.write_all(text.as_bytes()));
    // A supervisor that cannot even do this is reported as lost, which is true.
    let _nowhere_else = written;
}

#[cfg(test)]
mod tests {
    use super::super::directory::{Liveness, Origin};
    use super::*;

    /// A limit on processes does not hold for root, so the system call is not made to fail.
    #[test]
    fn a_job_without_a_process_was_not_started_and_says_why() {
        let place = tempfile::tempdir().expect("there is room");
        let opened = Dir::open_ambient_dir(place.path(), ambient_authority());
        let directory = JobDirectory::new(opened.expect("it is there"));
        let origin = Origin {
            started_at: 17,
            monotonic_ms: 0,
            boot_id: "this one".to_owned(),
            pid_namespace: None,
            time_namespace: None,
        };
        let spec = Spec::of_line("true");
        let record = super::super::directory::record(&origin, &spec).expect("it can be written");
        directory.furnish(&record).expect("there is room");
        let why = "no process can be created: too many".to_owned();
        give_up(&directory, why.clone()).expect("there is room");
        let outcome = directory.outcome().expect("it is whole");
        let outcome = outcome.expect("it is there");
        let End::NotStarted { detail } = &outcome.end else {
            panic!("{outcome:?}");
        };
        assert_eq!(detail, &why);
        assert_eq!(outcome.started_at, 17);
        let liveness = directory.liveness().expect("it can be looked at");
        assert!(matches!(liveness, Liveness::Dead));
    }
}
