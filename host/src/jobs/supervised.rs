//! The engine: jobs as directories and supervised processes.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::future::Future;
use std::io::{self, ErrorKind};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cap_std::fs::{Dir, DirBuilder, DirBuilderExt, MetadataExt, Permissions, PermissionsExt};
use tokio::net::unix::pipe::Receiver;
use uuid::Uuid;

use super::burial::Burial;
use super::conclusion::Believed;
use super::directory::{JobDirectory, Liveness, Origin, Wakened};
use super::limits::{ASIDE, READ_BYTES, UNWAITED_PAUSE};
use super::model::{Failure, Fragment, Outcome, Progress, Spec, StartError, State, StopReason};
use super::output::{self, Request, Writer};
use super::reaper::Reaper;
use super::supervisor::{self, SUPERVISE};
use super::{Jobs, clock, directory, files, processes, questions, report, spec};
use crate::data_dir;

/// Where the jobs are, below the data directory.
pub(super) const JOBS: &str = "jobs";

/// Where a job is built and taken apart, below [`JOBS`]. Not an id, so never a job.
const WORKSHOP: &str = ".workshop";

/// Jobs in one data directory. Any number of these, in any number of processes, may use the same one.
#[derive(Debug)]
pub struct SupervisedJobs {
    jobs: Dir,
    workshop: Mutex<Arc<Dir>>,
    data_path: PathBuf,
    program: PathBuf,
    boot_id: String,
    pid_namespace: Option<u64>,
    time_namespace: Option<u64>,
    reaper: Reaper,
}

impl SupervisedJobs {
    /// Opens the jobs of a data directory, and clears away what a crash left half built or half deleted.
    ///
    /// `data_path` is where `data` is, absolute. `program supervise ID` has to call
    /// [`supervise`](super::supervisor::supervise). The umask has to leave all rights to the owner of what is made.
    ///
    /// # Errors
    /// Where the directory of the jobs can be neither opened nor made.
    pub fn open(data: &Dir, data_path: &Path, program: PathBuf) -> io::Result<Self> {
        let jobs = open_private(data, JOBS)?;
        // What somebody put in its place is not followed, where it is a link, and keeps no server from its start.
        if jobs
            .symlink_metadata(WORKSHOP)
            .is_ok_and(|found| !found.is_dir())
        {
            ignore_missing(jobs.remove_file(WORKSHOP))?;
        }
        let workshop = open_private(&jobs, WORKSHOP)?;
        let opened = Self {
            jobs,
            workshop: Mutex::new(Arc::new(workshop)),
            data_path: data_path.to_owned(),
            program,
            boot_id: clock::boot_id(),
            pid_namespace: processes::namespace(),
            time_namespace: clock::time_namespace(),
            reaper: Reaper::default(),
        };
        opened.tidy(SystemTime::now());
        Ok(opened)
    }

    /// Whether a data directory has any job, one that was lost or has only been reserved included. A directory of jobs
    /// that cannot be read counts as one without.
    pub(crate) fn has_any(data: &Dir) -> bool {
        let Ok(jobs) = data.open_dir(JOBS) else {
            return false;
        };
        let names = jobs.entries().into_iter().flatten().flatten();
        names
            .filter_map(|entry| entry.file_name().into_string().ok())
            .any(|name| Uuid::try_parse(&name).is_ok())
    }

    /// The workshop, made anew where somebody has deleted it: nothing could be started or forgotten without it.
    fn workshop(&self) -> Arc<Dir> {
        let workshop = self.workshop.lock();
        let mut workshop = workshop.unwrap_or_else(PoisonError::into_inner);
        let is_deleted = rustix::fs::fstat(&**workshop).is_ok_and(|found| found.st_nlink == 0);
        if is_deleted && let Ok(anew) = open_private(&self.jobs, WORKSHOP) {
            *workshop = Arc::new(anew);
        }
        Arc::clone(&workshop)
    }

    /// Deletes what other processes left in the workshop and cannot be at work on any more. What cannot be looked at
    /// or deleted stays: it is in nobody's way.
    fn tidy(&self, now: SystemTime) {
        let workshop = self.workshop();
        let entries = workshop.entries().into_iter().flatten().flatten();
        for name in entries.map(|entry| entry.file_name()) {
            let found = workshop.open_dir(&name).map(JobDirectory::new);
            let _stays = match found {
                Ok(unfinished) if unfinished.is_stale().unwrap_or(false) => {
                    remove_all(&workshop, &name)
                }
                Err(_no_directory) if is_long_aside(&workshop, &name, now) => {
                    workshop.remove_file(&name)
                }
                _ => Ok(()),
            };
        }
    }

    /// The job's directory; `None` for an unknown id. What somebody else put in its place is moved away, and is
    /// nobody's job.
    fn find(&self, id: Uuid) -> io::Result<Option<JobDirectory>> {
        let name = id.to_string();
        match self.open_place(&name) {
            Ok(dir) => Ok(Some(JobDirectory::new(dir))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => match self.jobs.symlink_metadata(&name) {
                Ok(found) if !found.is_dir() => {
                    let aside = unique("damaged", id);
                    ignore_missing(self.jobs.rename(&name, &self.workshop(), aside))?;
                    Ok(None)
                }
                _ => Err(error),
            },
        }
    }

    /// Opens a job's directory, which the job may have closed to its owner, or that of all jobs: it would be out of
    /// reach then.
    fn open_place(&self, name: &str) -> io::Result<Dir> {
        let opened = self.jobs.open_dir(name);
        let is_closed = match &opened {
            Ok(dir) => dir.dir_metadata()?.permissions().mode() & PRIVATE != PRIVATE,
            Err(error) => error.kind() == ErrorKind::PermissionDenied,
        };
        if !is_closed {
            return opened;
        }
        files::open_up(&self.jobs);
        // Where it stays closed, that is what is said of it.
        let _closed = self
            .jobs
            .set_permissions(name, Permissions::from_mode(PRIVATE));
        self.jobs.open_dir(name)
    }

    /// Does what changes the names in the two directories that all jobs share, which one of them may have closed: that
    /// is no reason to refuse others.
    fn with_open_directories<T>(&self, change: impl Fn() -> io::Result<T>) -> io::Result<T> {
        match change() {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                files::open_up(&self.jobs);
                files::open_up(&self.workshop());
                change()
            }
            other => other,
        }
    }

    /// Builds a directory and makes it the job's in one step, which succeeds for one caller only: this is
    /// what makes an id start at most once, whoever asks and whoever is killed. False where the id is known.
    fn establish<T>(
        &self,
        id: Uuid,
        furnish: impl FnOnce(&JobDirectory) -> io::Result<T>,
    ) -> io::Result<Option<T>> {
        let name = unique("new", id);
        let workshop = self.workshop();
        self.with_open_directories(|| workshop.create_dir_with(&name, &private()))?;
        let furnished = workshop
            .open_dir(&name)
            .and_then(|dir| furnish(&JobDirectory::new(dir)));
        let placed = furnished.and_then(|furnished| {
            let place = || workshop.rename(&name, &self.jobs, id.to_string());
            self.with_open_directories(place).map(|()| furnished)
        });
        match placed {
            Ok(furnished) => Ok(Some(furnished)),
            Err(error) => {
                // What stays is deleted with other rubbish; why this failed is what is to be told.
                let _stays = remove_all(&workshop, &name);
                // A job's directory is never empty, so it is never replaced.
                let known = [ErrorKind::DirectoryNotEmpty, ErrorKind::AlreadyExists];
                if known.contains(&error.kind()) {
                    Ok(None)
                } else {
                    Err(error)
                }
            }
        }
    }

    fn origin(&self) -> Origin {
        Origin {
            started_at: crate::clock::now_ms(),
            monotonic_ms: clock::monotonic_ms(),
            boot_id: self.boot_id.clone(),
            pid_namespace: self.pid_namespace,
            time_namespace: self.time_namespace,
        }
    }

    /// Starts what becomes the supervisor. It is in a process group of its own from its first instant, so a
    /// client that kills its server's group does not meet it.
    fn spawn_supervisor(&self, id: Uuid, alive: &File) -> io::Result<()> {
        let child = Command::new(&self.program)
            // For whoever looks at the process table: the program may be a name of the kernel's.
            .arg0("backburner")
            .arg(SUPERVISE)
            .arg(id.to_string())
            .current_dir(self.data_path.join(JOBS).join(id.to_string()))
            // For the job, which gets its supervisor's environment: there this program is to find the same tasks.
            .env(data_dir::VARIABLE, &self.data_path)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(alive.try_clone()?)
            .stderr(Stdio::null())
            .spawn()?;
        self.reaper.take(child);
        Ok(())
    }

    /// Takes back a job that has no supervisor because of `error`. One that cannot be taken away has ended instead.
    fn withdraw(&self, id: Uuid, error: io::Error) -> StartError {
        let Err(stays) = self.remove(id) else {
            return StartError::Supervisor(error);
        };
        let Ok(Some(directory)) = self.find(id) else {
            // It is nobody's job any more, and what stays of it is deleted with other rubbish.
            return StartError::Supervisor(error);
        };
        let detail = format!("its supervisor cannot be started: {error}");
        // Where not even that can be written, it is buried as one whose supervisor ended, which it never had.
        match supervisor::give_up(&directory, detail) {
            Ok(()) => StartError::Supervisor(error),
            Err(_) => StartError::Files(stays),
        }
    }

    /// Takes a job's directory away in one step, so that the id is unknown, and then deletes it.
    fn remove(&self, id: Uuid) -> io::Result<()> {
        let name = unique("gone", id);
        let workshop = self.workshop();
        let take_away = || self.jobs.rename(id.to_string(), &workshop, &name);
        match self.with_open_directories(take_away) {
            Ok(()) => ignore_missing(remove_all(&workshop, &name)),
            // Not where it is the workshop that is missing.
            Err(error) if error.kind() == ErrorKind::NotFound && self.find(id)?.is_none() => Ok(()),
            other => other,
        }
    }

    fn state(&self, id: Uuid) -> io::Result<State> {
        match self.look(id) {
            // Its directory was taken away while it was looked at: its start failed, or it was forgotten.
            Err(error) if error.kind() == ErrorKind::NotFound && self.find(id)?.is_none() => {
                Ok(State::Unknown)
            }
            looked => looked,
        }
    }

    fn look(&self, id: Uuid) -> io::Result<State> {
        let Some(directory) = self.find(id)? else {
            return Ok(State::Unknown);
        };
        // In this order: an outcome is written while the supervisor lives, so one that is missing after
        // its death will never come.
        if let Liveness::Alive(alive) = directory.liveness()? {
            let progress = self.progress(&directory)?;
            // A request is as good as heard, unless somebody else took the wake-up: every look gives another one.
            let heard = progress.stopping.is_none() || directory.wake()? == Wakened::Yes;
            if heard {
                return Ok(State::Running(progress));
            }
            if !directory.is_gone_soon(&alive)? {
                // Before it is killed: nobody can have been told of this so far.
                directory.disown_outcome(Believed::Losses)?;
            }
        }
        let settled = directory.settled_outcome();
        if let Some(outcome) = settled.map_err(|error| unreadable(&error))? {
            return Ok(State::Ended(outcome));
        }
        let buried = self.bury(id, &directory)?;
        match buried {
            // What was taken away is deleted file by file, and looks like a job that lost some meanwhile.
            _ if !self.is_place_of(id, &directory)? => self.look(id),
            Some(outcome) => Ok(State::Ended(outcome)),
            None => Ok(State::Running(self.progress(&directory)?)),
        }
    }

    /// Whether this is the job's directory still, and not one that was taken away.
    fn is_place_of(&self, id: Uuid, directory: &JobDirectory) -> io::Result<bool> {
        let Some(now) = self.find(id)? else {
            return Ok(false);
        };
        directory.is_same(&now)
    }

    fn bury(&self, id: Uuid, directory: &JobDirectory) -> io::Result<Option<Outcome>> {
        let unique = unique("outcome", id);
        let burial = Burial {
            directory,
            id,
            boot_id: &self.boot_id,
            pid_namespace: self.pid_namespace,
            unique: &unique,
        };
        burial.bury()
    }

    fn progress(&self, directory: &JobDirectory) -> io::Result<Progress> {
        let usage = output::usage(directory.dir())?;
        let (started_at, running_ms) = match directory.origin() {
            Ok(origin) if origin.boot_id == self.boot_id => {
                let since_ms = origin.monotonic_ms_in(self.time_namespace);
                let running_ms = clock::monotonic_ms().saturating_sub(since_ms);
                (origin.started_at, running_ms)
            }
            Ok(origin) => (origin.started_at, 0),
            // Its supervisor has read it long ago; the job is none the worse for it.
            Err(_damaged) => {
                let made_at = directory.made_at()?;
                (made_at, crate::clock::now_ms().saturating_sub(made_at))
            }
        };
        // After the look at the clock: it may be over since.
        let ran_ms = directory.noted_duration_ms()?.unwrap_or(u64::MAX);
        Ok(Progress {
            started_at,
            running_ms: running_ms.min(ran_ms),
            output_bytes: usage.written_bytes,
            last_output_at: usage.last_at,
            stopping: directory.stop_cause()?,
            questions: questions::open_ones(directory.dir())?,
            prompt: questions::prompt(directory.dir())?,
            report: report::read(directory.dir())?,
        })
    }

    fn request_stop(&self, id: Uuid, reason: StopReason) -> io::Result<()> {
        loop {
            if let Some(directory) = self.find(id)? {
                let wakened = match directory.liveness()? {
                    Liveness::Alive(_) => {
                        directory.request_stop(reason.into())?;
                        directory.wake()?
                    }
                    Liveness::Dead => Wakened::Unreachable,
                };
                if wakened == Wakened::Unreachable {
                    // It has ended, or nobody else will end what is left of it.
                    self.state(id)?;
                }
                return Ok(());
            }
            let origin = self.origin();
            let reserved =
                self.establish(id, |directory| directory.reserve(&origin, reason.into()))?;
            if reserved.is_some() {
                files::sync(&self.jobs)?;
                // Its files may have been deleted while it ran: nobody may say that it never did before that is clear.
                self.state(id)?;
                return Ok(());
            }
            // Somebody started it since we looked: look again.
        }
    }
}

impl Jobs for SupervisedJobs {
    fn start(&self, id: Uuid, spec: &Spec) -> Result<(), StartError> {
        let spec = spec::complete(spec)?;
        let record = directory::record(&self.origin(), &spec).map_err(StartError::Files)?;
        spec::check_record(&record)?;
        let established = self.establish(id, |directory| {
            directory.furnish(&record)?;
            // Held before anybody can know the job, so that it never looks dead before it lives.
            directory.hold_alive()
        });
        let alive = match established {
            Ok(Some(alive)) => alive,
            Ok(None) => return Err(StartError::AlreadyKnown),
            Err(error) if files::is_disk_full(&error) => return Err(StartError::NoSpace),
            Err(error) => return Err(StartError::Files(files::explained(error))),
        };
        let started = self.spawn_supervisor(id, &alive);
        let withdrawn = started.map_err(|error| self.withdraw(id, error));
        // Until its directory is away, a job without a supervisor must not look like one that lost it.
        drop(alive);
        withdrawn
    }

    fn stop(&self, id: Uuid, reason: StopReason) -> Result<(), Failure> {
        self.request_stop(id, reason)
            .map_err(|error| failure("stopped", id, &error))
    }

    fn inspect(&self, id: Uuid) -> Result<State, Failure> {
        self.state(id)
            .map_err(|error| failure("inspected", id, &error))
    }

    fn answer(&self, id: Uuid, key: &str, answer: &str) -> Result<(), Failure> {
        let found = self.find(id);
        let answered = found.and_then(|found| match found {
            Some(directory) => questions::answer(directory.dir(), key, answer),
            None => Ok(()),
        });
        answered.map_err(|error| failure("answered", id, &error))
    }

    fn enter(&self, id: Uuid, key: &str, line: Option<&str>) -> Result<(), Failure> {
        let found = self.find(id);
        let entered = found.and_then(|found| match found {
            Some(directory) => questions::enter(directory.dir(), key, line),
            None => Ok(()),
        });
        entered.map_err(|error| failure("told what to type", id, &error))
    }

    fn read(&self, id: Uuid, offset: u64, limit: u32) -> Result<Vec<Fragment>, Failure> {
        let read = || {
            let Some(directory) = self.find(id)? else {
                return Ok(Vec::new());
            };
            let writer = match directory.liveness()? {
                Liveness::Alive(_) => Writer::Alive,
                Liveness::Dead => Writer::Gone,
            };
            let limit = limit.clamp(1, READ_BYTES) as usize;
            output::read(
                directory.dir(),
                Request {
                    offset,
                    limit,
                    writer,
                },
            )
        };
        read().map_err(|error: io::Error| failure("read", id, &error))
    }

    fn forget(&self, id: Uuid) -> Result<(), Failure> {
        match self.inspect(id)? {
            State::Unknown => Ok(()),
            State::Ended(_) => self
                .remove(id)
                .map_err(|error| failure("deleted", id, &error)),
            State::Running(_) => Err(Failure {
                detail: format!("job {id} cannot be deleted: it runs; stop it first"),
            }),
        }
    }

    fn ended(&self, id: Uuid) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        let found = self
            .find(id)
            .and_then(|found| found.map(|it| it.liveness()).transpose());
        Box::pin(until_ended(found))
    }

    #[cfg(target_os = "linux")]
    fn asks(&self, id: Uuid) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        match self.find(id) {
            Ok(Some(found)) => Box::pin(questions::changed(found.dir())),
            Ok(None) | Err(_) => Box::pin(std::future::pending()),
        }
    }
}

/// Waits until a job does not run that was found like this. What cannot be waited for is for the caller to look at, but
/// not over and over: it lasts, say as long as all descriptors of this process are in use.
async fn until_ended(found: io::Result<Option<Liveness>>) {
    let waited = match found {
        Ok(Some(Liveness::Alive(fifo))) => end_of(fifo).await,
        Ok(Some(Liveness::Dead) | None) => Ok(()),
        Err(error) => Err(error),
    };
    if waited.is_err() {
        tokio::time::sleep(UNWAITED_PAUSE).await;
    }
}

/// Waits until nobody holds the other side. It is seen even if that happens before the first wait, since
/// the FIFO was opened while somebody did.
async fn end_of(fifo: File) -> io::Result<()> {
    let fifo = Receiver::from_file(fifo)?;
    loop {
        fifo.readable().await?;
        match fifo.try_read(&mut [0]) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
}

/// Whether something that is no directory was moved into the workshop long ago.
fn is_long_aside(workshop: &Dir, name: &OsStr, now: SystemTime) -> bool {
    let found = workshop.symlink_metadata(name);
    found.is_ok_and(|found| {
        // Not when it was written, which may have been any time before.
        let moved_s = u64::try_from(MetadataExt::ctime(&found)).unwrap_or(0);
        let moved = UNIX_EPOCH + Duration::from_secs(moved_s);
        !found.is_dir() && now.duration_since(moved).is_ok_and(|age| age > ASIDE)
    })
}

/// A file name that no other process, thread or call uses.
fn unique(what: &str, id: Uuid) -> String {
    static NUMBERS: AtomicU64 = AtomicU64::new(0);
    let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
    format!("{what}-{id}-{}-{number}", std::process::id())
}

/// Open to the owner alone.
pub(super) const PRIVATE: u32 = 0o700;

fn private() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.mode(PRIVATE);
    builder
}

/// Opens a directory that only its owner may use, making it where it does not exist. Its mode is corrected: a umask may
/// have taken it from its owner.
fn open_private(parent: &Dir, name: &str) -> io::Result<Dir> {
    let is_new = match parent.create_dir_with(name, &private()) {
        Ok(()) => true,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => false,
        Err(error) => return Err(error),
    };
    let found = parent.symlink_metadata(name)?;
    // Not what a link leads to.
    if found.is_dir() && found.permissions().mode() & 0o777 != PRIVATE {
        parent.set_permissions(name, Permissions::from_mode(PRIVATE))?;
    }
    if is_new {
        // Once for all: what is safe below a name that is not would be lost with it.
        files::sync(parent)?;
    }
    parent.open_dir(name)
}

/// Deletes a directory with all that is in it, also what a job has closed to its owner.
fn remove_all(parent: &Dir, name: impl AsRef<Path>) -> io::Result<()> {
    match parent.remove_dir_all(&name) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            open_all(parent.open_dir(&name)?)?;
            parent.remove_dir_all(&name)
        }
        other => other,
    }
}

/// Opens a directory and all below it to their owner, with one descriptor for each level.
fn open_all(dir: Dir) -> io::Result<()> {
    let mut levels = vec![(directories_in(&dir)?, dir)];
    while let Some((names, dir)) = levels.last_mut() {
        match names.pop() {
            Some(name) => {
                let below = dir.open_dir(&name)?;
                levels.push((directories_in(&below)?, below));
            }
            None => drop(levels.pop()),
        }
    }
    Ok(())
}

/// The names of the directories in one that is opened for it.
fn directories_in(dir: &Dir) -> io::Result<Vec<OsString>> {
    files::open_up(dir);
    let mut names = Vec::new();
    for entry in dir.entries()? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            names.push(entry.file_name());
        }
    }
    Ok(names)
}

/// Several processes may delete the same thing.
fn ignore_missing(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// That the outcome of a job cannot be read.
fn unreadable(error: &io::Error) -> io::Error {
    let detail = format!("its outcome.json cannot be read, and it may have ended: {error}");
    io::Error::new(error.kind(), detail)
}

fn failure(what: &str, id: Uuid, error: &io::Error) -> Failure {
    Failure {
        detail: format!("job {id} cannot be {what}: {error}"),
    }
}

#[cfg(test)]
#[path = "supervised_tests.rs"]
mod tests;
