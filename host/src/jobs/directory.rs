//! The directory of one job: what is written in it, by whom, and how it is read.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cap_std::fs::Dir;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::AsFd;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, statat};
use rustix::io::Errno;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::limits::{LAST_INSTANT, OUTCOME_RESERVE_BYTES, STALE};
use super::model::{Spec, StopCause};
use super::{clock, files, native};

/// The version of everything that is written here.
const FORMAT: u32 = 1;

const SPEC: &str = "spec.jsonl";
const ALIVE: &str = "alive";
const CONTROL: &str = "control";
const STOP: &str = "stop";
pub(super) const RESERVE: &str = "outcome.reserve";
const RESERVED: &str = "reserved";
const FOUND: &str = "found";

/// What is put around everything that is written, so that a later version can tell what it reads.
#[derive(Serialize, Deserialize)]
struct Numbered<T> {
    format: u32,
    content: T,
}

/// When a job was asked for, and in which boot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Origin {
    /// In milliseconds since 1970.
    pub(crate) started_at: u64,
    /// On the clock that does not jump, in milliseconds; means something in the same boot only.
    pub(crate) monotonic_ms: u64,
    /// Which boot.
    pub(crate) boot_id: String,
    /// In which PID namespace, by the inode of that; `None` where the system has none, and of older records.
    #[serde(default)]
    pub(crate) pid_namespace: Option<u64>,
    /// In which time namespace, whose clocks may show another time; `None` as above.
    #[serde(default)]
    pub(crate) time_namespace: Option<u64>,
}

impl Origin {
    /// When the job was asked for, in milliseconds on the clock that does not jump, as a process of this boot and this
    /// time namespace reads it. From another namespace it is as exact as the wall clock, which all of them share.
    pub(crate) fn monotonic_ms_in(&self, time_namespace: Option<u64>) -> u64 {
        match (self.time_namespace, time_namespace) {
            (Some(there), Some(here)) if there != here => {
                let passed_ms = crate::clock::now_ms().saturating_sub(self.started_at);
                clock::monotonic_ms().saturating_sub(passed_ms)
            }
            _ => self.monotonic_ms,
        }
    }
}

/// Which process the command is. Both numbers together are one process, in one boot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Started {
    /// Its process id, and that of its group.
    pub(crate) pid: i32,
    /// When the kernel started it, in ticks since boot; 0 where that is not known.
    pub(crate) start_ticks: u64,
    /// Its session, whose leader is its supervisor, or the command where that has a terminal.
    pub(crate) session: i32,
    /// The inode of the FIFO that its supervisor listens to; `None` in older records. It stays that one's own for as
    /// long as the supervisor has it open.
    #[serde(default)]
    pub(crate) control: Option<u64>,
}

/// Whether a job's supervisor lives.
pub(crate) enum Liveness {
    /// It does; its FIFO reads end of file when it does not any more.
    Alive(File),
    /// It does not, or there never was one.
    Dead,
}

/// Whether a supervisor will look for a request to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wakened {
    /// It will, unless it ends before.
    Yes,
    /// Somebody deleted, replaced or closed what it listens to.
    Unreachable,
}

/// Which of its files a job has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// All that it was started with.
    Whole,
    /// Some of them only, or changed ones.
    Damaged,
    /// Those of a job that was stopped before anybody started it.
    Reserved,
}

/// One job's directory, open.
#[derive(Debug)]
pub(crate) struct JobDirectory {
    dir: Dir,
}

impl JobDirectory {
    /// Takes an open directory for that of a job.
    pub(crate) fn new(dir: Dir) -> Self {
        Self { dir }
    }

    /// The working directory of this process, which is that of the job that it accompanies.
    pub(crate) fn open_current() -> io::Result<Self> {
        Ok(Self::new(Dir::open_ambient_dir(
            ".",
            cap_std::ambient_authority(),
        )?))
    }

    /// The directory itself, for the output's files.
    pub(crate) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Whether both are one directory.
    pub(crate) fn is_same(&self, other: &Self) -> io::Result<bool> {
        let [own, other] = [&self.dir, &other.dir].map(rustix::fs::fstat);
        let (own, other) = (own?, other?);
        Ok((own.st_dev, own.st_ino) == (other.st_dev, other.st_ino))
    }

    /// Writes what a job needs before it is known: its [`record`], FIFOs, and room for the outcome.
    pub(crate) fn furnish(&self, record: &[u8]) -> io::Result<()> {
        files::create(&self.dir, SPEC)?.write_all(record)?;
        native::make_fifo(self.dir.as_fd(), c"alive")?;
        native::make_fifo(self.dir.as_fd(), c"control")?;
        files::create(&self.dir, RESERVE)?.write_all(&[b' '; OUTCOME_RESERVE_BYTES])
    }

    /// Opens `alive` for the supervisor. As long as anybody holds it, the job counts as running.
    pub(crate) fn hold_alive(&self) -> io::Result<File> {
        // For reading too, since a FIFO that nobody reads cannot be opened for writing without waiting.
        files::open(&self.dir, ALIVE, OFlags::RDWR)?.ok_or_else(|| ErrorKind::NotFound.into())
    }

    /// Whether the supervisor lives. Ask this first: only when it is dead does an outcome, or that there
    /// is none, mean anything.
    ///
    /// A supervisor whose `alive` somebody deleted, replaced or closed to all looks dead too, so whoever buries its job
    /// looks for it among the processes.
    pub(crate) fn liveness(&self) -> io::Result<Liveness> {
        let Some(mut fifo) = files::open_fifo(&self.dir, ALIVE, OFlags::RDONLY)? else {
            return Ok(Liveness::Dead);
        };
        match fifo.read(&mut [0]) {
            Ok(0) => Ok(Liveness::Dead),
            Ok(_) => Ok(Liveness::Alive(fifo)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(Liveness::Alive(fifo)),
            Err(error) => Err(error),
        }
    }

    /// Waits until a supervisor that seemed to live is gone, which it is at once where it was in its last instant.
    /// Whether it is, after [`LAST_INSTANT`] at most.
    pub(crate) fn is_gone_soon(&self, alive: &File) -> io::Result<bool> {
        self.is_gone_within(LAST_INSTANT, alive)
    }

    fn is_gone_within(&self, limit: Duration, alive: &File) -> io::Result<bool> {
        let deadline = Instant::now() + limit;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let limit = Timespec::try_from(left).expect("it is a few seconds");
            match poll(&mut [PollFd::new(alive, PollFlags::IN)], Some(&limit)) {
                // What is told by a look in any case.
                Ok(_) => return Ok(matches!(self.liveness()?, Liveness::Dead)),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Whether this, which its supervisor holds, is what others take for a sign that it lives.
    pub(crate) fn has_as_alive(&self, held: impl AsFd) -> io::Result<bool> {
        let held = rustix::fs::fstat(held)?;
        // Not opened: others may be kept from that by its mode alone, and take this supervisor for dead.
        Ok(self.stat(ALIVE)?.is_some_and(|named| {
            FileType::from_raw_mode(named.st_mode) == FileType::Fifo
                && Mode::from_raw_mode(named.st_mode).contains(Mode::RUSR)
                && (held.st_dev, held.st_ino) == (named.st_dev, named.st_ino)
        }))
    }

    /// What the system says of a name, links not followed; `None` where there is none.
    pub(super) fn stat(&self, name: &str) -> io::Result<Option<Stat>> {
        match statat(&self.dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens `control` for the supervisor, so that it is never at end of file.
    pub(crate) fn open_control(&self) -> io::Result<File> {
        files::open(&self.dir, CONTROL, OFlags::RDWR)?.ok_or_else(|| ErrorKind::NotFound.into())
    }

    /// Makes the supervisor look for a request.
    pub(crate) fn wake(&self) -> io::Result<Wakened> {
        let control = match files::open_fifo(&self.dir, CONTROL, OFlags::WRONLY) {
            Ok(Some(control)) if self.is_listened_to_by_supervisor(&control)? => control,
            Ok(_) => return Ok(Wakened::Unreachable),
            Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => {
                return self.wakened_later();
            }
            Err(error) => return Err(error),
        };
        match rustix::io::write(control, b"!") {
            // Full of wake-ups that are still to be read, or dead meanwhile: nothing is lost.
            Ok(_) | Err(Errno::AGAIN | Errno::PIPE) => Ok(Wakened::Yes),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether a supervisor will hear of a request once it has opened `control`, which nobody has opened. One that has
    /// started its command listens to another file, of which somebody took the name, and one whose record is damaged
    /// will not start any.
    fn wakened_later(&self) -> io::Result<Wakened> {
        let can_start = unless_damaged(self.origin_and_spec())?.is_some();
        Ok(if can_start && self.started()?.is_none() {
            Wakened::Yes
        } else {
            Wakened::Unreachable
        })
    }

    /// Whether this is the FIFO that the supervisor has opened, and not one that somebody else put in its place and
    /// listens to.
    fn is_listened_to_by_supervisor(&self, control: &File) -> io::Result<bool> {
        let known = self.started()?.and_then(|started| started.control);
        let inode = rustix::fs::fstat(control)?.st_ino;
        Ok(known.is_none_or(|known| known == inode))
    }

    /// Records why the job is to stop, and gives the cause in force: the first that was recorded.
    pub(crate) fn request_stop(&self, cause: StopCause) -> io::Result<StopCause> {
        loop {
            match rustix::fs::symlinkat(cause_name(cause), &self.dir, STOP) {
                Ok(()) => return Ok(cause),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            if let Some(earlier) = self.stop_cause()? {
                return Ok(earlier);
            }
            // Nobody of us made this, and nobody of us would understand it.
            self.put_aside(STOP, |aside| matches!(self.cause_in(aside), Ok(Some(_))))?;
        }
    }

    /// Moves what is in the place of a file of ours out of the way, so that somebody may look at it. It may be gone by
    /// now, and then what is moved may be what another process of ours has put there since: that is put back.
    pub(super) fn put_aside(
        &self,
        name: &str,
        is_ours: impl FnOnce(&str) -> bool,
    ) -> io::Result<()> {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let aside = format!("{}{}-{number}", aside_prefix(name), std::process::id());
        match self.dir.rename(name, &self.dir, &aside) {
            Ok(()) if is_ours(&aside) => {}
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => return Ok(()),
        }
        match files::link(&self.dir, &aside, name) {
            // There is a third one by now, which somebody may have read.
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
            _ => files::remove(&self.dir, &aside),
        }
    }

    /// Why the job is to stop, if it is.
    pub(crate) fn stop_cause(&self) -> io::Result<Option<StopCause>> {
        self.cause_in(STOP)
    }

    fn cause_in(&self, name: &str) -> io::Result<Option<StopCause>> {
        match rustix::fs::readlinkat(&self.dir, name, Vec::new()) {
            Ok(name) => Ok(cause_named(&name.to_string_lossy())),
            // What is no link is no request.
            Err(Errno::NOENT | Errno::INVAL) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes what keeps everybody from starting a job that nobody has started yet; power-safe on return, but for the
    /// name of the directory itself.
    pub(crate) fn reserve(&self, origin: &Origin, cause: StopCause) -> io::Result<()> {
        self.request_stop(cause)?;
        let mut file = files::create(&self.dir, RESERVED)?;
        file.write_all(&encode(origin)?)?;
        file.sync_all()?;
        files::sync(&self.dir)
    }

    /// Takes note that something of the job was found after somebody had changed its files. It is killed then, and who
    /// looks afterwards finds nothing more.
    pub(crate) fn mark_found(&self) -> io::Result<()> {
        match rustix::fs::symlinkat(FOUND, &self.dir, FOUND) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether something of the job was found after somebody had changed its files.
    pub(crate) fn was_found(&self) -> io::Result<bool> {
        match rustix::fs::readlinkat(&self.dir, FOUND, Vec::new()) {
            Ok(_) => Ok(true),
            Err(Errno::NOENT | Errno::INVAL) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether the file `alive` is there and may be opened, or another FIFO in its place.
    pub(crate) fn has_alive(&self) -> io::Result<bool> {
        Ok(files::open_fifo(&self.dir, ALIVE, OFlags::RDONLY)?.is_some())
    }

    /// Whether somebody may listen to the file `control`: a supervisor does as long as it lives. True also where nobody
    /// can tell.
    pub(crate) fn is_listened_to(&self) -> io::Result<bool> {
        match files::open(&self.dir, CONTROL, OFlags::WRONLY) {
            Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => Ok(false),
            Err(error) if files::is_closed(&error) => Ok(true),
            Err(error) if files::is_other_kind(&error) => Ok(false),
            other => match other? {
                Some(file) => files::is_fifo(file),
                None => Ok(false),
            },
        }
    }

    /// Which of its files the job has.
    ///
    /// # Errors
    /// Also where a later version wrote them: that is no damage.
    pub(crate) fn condition(&self) -> io::Result<Condition> {
        if files::open_file(&self.dir, RESERVED)?.is_some() {
            return Ok(Condition::Reserved);
        }
        let mut whole = unless_damaged(self.origin_and_spec())?.is_some();
        for fifo in [ALIVE, CONTROL] {
            whole &= files::open_fifo(&self.dir, fifo, OFlags::RDONLY)?.is_some();
        }
        Ok(if whole {
            Condition::Whole
        } else {
            Condition::Damaged
        })
    }

    /// When the job was asked for; `None` where the record of it was damaged.
    ///
    /// # Errors
    /// Also where a later version wrote it.
    pub(crate) fn undamaged_origin(&self) -> io::Result<Option<Origin>> {
        unless_damaged(self.origin())
    }

    /// When the job was asked for.
    pub(crate) fn origin(&self) -> io::Result<Origin> {
        let mut file = files::open_file(&self.dir, SPEC)?;
        if file.is_none() {
            file = files::open_file(&self.dir, RESERVED)?;
        }
        let mut start = [0; 512];
        let read = rustix::io::read(file.ok_or(ErrorKind::NotFound)?, &mut start)?;
        let line = start[..read]
            .split(|byte| *byte == b'\n')
            .next()
            .unwrap_or_default();
        decode(line)
    }

    /// When the job was asked for as far as its directory shows, in milliseconds since 1970: where the record of it
    /// was damaged.
    pub(crate) fn made_at(&self) -> io::Result<u64> {
        let fifo = files::open_fifo(&self.dir, ALIVE, OFlags::RDONLY)?;
        // Nobody writes into it, so it never changes.
        let made = match fifo {
            Some(fifo) => fifo.metadata()?.modified()?,
            None => self.dir.dir_metadata()?.modified()?.into_std(),
        };
        let since = made.duration_since(std::time::UNIX_EPOCH);
        Ok(u64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(u64::MAX))
    }

    /// Everything that the job was asked for.
    pub(crate) fn origin_and_spec(&self) -> io::Result<(Origin, Spec)> {
        let text = files::read(&self.dir, SPEC)?.ok_or(ErrorKind::NotFound)?;
        let mut lines = text.split(|byte| *byte == b'\n');
        let origin = decode(lines.next().unwrap_or_default())?;
        let spec = serde_json::from_slice(lines.next().unwrap_or_default())?;
        Ok((origin, spec))
    }

    /// Records which process the command is, as one more line: a file of its own is what costs most about a short
    /// job on some file systems.
    pub(crate) fn record_started(&self, started: &Started) -> io::Result<()> {
        let file = files::open(&self.dir, SPEC, OFlags::WRONLY | OFlags::APPEND)?;
        let mut file = file.ok_or(ErrorKind::NotFound)?;
        file.write_all(&encode(started)?)
    }

    /// Which process the command is, if that was recorded.
    pub(crate) fn started(&self) -> io::Result<Option<Started>> {
        let text = unless_damaged(files::read(&self.dir, SPEC))?.flatten();
        let text = text.unwrap_or_default();
        let line = text.split(|byte| *byte == b'\n').nth(2);
        // A supervisor that was killed while it wrote leaves half a record, which is none.
        Ok(line.and_then(|line| decode(line).ok()))
    }

    /// Whether something that was never finished can be deleted: old, and nobody is at work in it.
    pub(crate) fn is_stale(&self) -> io::Result<bool> {
        let modified = self.dir.dir_metadata()?.modified()?.into_std();
        let old = modified.elapsed().is_ok_and(|age| age > STALE);
        Ok(old && matches!(self.liveness()?, Liveness::Dead))
    }
}

/// How the names of what was moved away from a name begin.
pub(super) fn aside_prefix(name: &str) -> String {
    format!("{name}.damaged-")
}

/// What is written of a job before it is known. More than [`SPEC_BYTES`](super::limits::SPEC_BYTES) would not be read.
pub(crate) fn record(origin: &Origin, spec: &Spec) -> io::Result<Vec<u8>> {
    // Two lines, so that a look at a running job reads the first and never a megabyte of input.
    let mut text = encode(origin)?;
    text.push(b'\n');
    serde_json::to_writer(&mut text, spec)?;
    text.push(b'\n');
    Ok(text)
}

/// `None` for what is not there or was damaged.
fn unless_damaged<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Ok(found) => Ok(Some(found)),
        Err(error) if is_damage(&error) || error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether a later version wrote what was read.
pub(super) fn is_later(error: &io::Error) -> bool {
    error.kind() == ErrorKind::Unsupported && error.raw_os_error().is_none()
}

/// Whether what was read is not what anybody of us wrote, or is closed to us, as opposed to what a later version wrote.
pub(super) fn is_damage(error: &io::Error) -> bool {
    let kinds = [ErrorKind::InvalidData, ErrorKind::UnexpectedEof];
    kinds.contains(&error.kind()) || files::is_other_kind(error) || files::is_closed(error)
}

/// What is in a file of ours, of at most so many bytes; `None` where it is not there, cannot be read or understood, or
/// was written by a later version.
pub(super) fn readable<T: DeserializeOwned>(
    dir: &Dir,
    name: &str,
    limit: u64,
) -> io::Result<Option<T>> {
    let read = files::read_at_most(dir, name, limit);
    let others = [ErrorKind::Unsupported, ErrorKind::PermissionDenied];
    match read.and_then(|text| text.map(|text| decode(&text)).transpose()) {
        Err(error) if is_damage(&error) || others.contains(&error.kind()) => Ok(None),
        other => other,
    }
}

pub(super) fn encode<T: Serialize>(content: T) -> io::Result<Vec<u8>> {
    Ok(serde_json::to_vec(&Numbered {
        format: FORMAT,
        content,
    })?)
}

pub(super) fn decode<T: DeserializeOwned>(text: &[u8]) -> io::Result<T> {
    /// What every format has.
    #[derive(Deserialize)]
    struct Number {
        format: u32,
    }
    let format = serde_json::from_slice::<Number>(text)?.format;
    if format != FORMAT {
        let detail = format!(
            "a job's file has format {format}, and this version knows {FORMAT}; use a newer version"
        );
        return Err(io::Error::new(ErrorKind::Unsupported, detail));
    }
    Ok(serde_json::from_slice::<Numbered<T>>(text)?.content)
}

/// The target of the link `stop`.
fn cause_name(cause: StopCause) -> &'static str {
    match cause {
        StopCause::TimedOut => "timed-out",
        StopCause::Cancelled => "cancelled",
        StopCause::Expired => "expired",
        StopCause::ShutDown => "shut-down",
    }
}

fn cause_named(name: &str) -> Option<StopCause> {
    use StopCause::{Cancelled, Expired, ShutDown, TimedOut};
    [TimedOut, Cancelled, Expired, ShutDown]
        .into_iter()
        .find(|cause| cause_name(*cause) == name)
}

#[cfg(test)]
#[path = "directory_tests.rs"]
mod tests;
