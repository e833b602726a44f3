//! The program that is followed, with all of its threads and children.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Write as _, stdout};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::Context as _;
use backburner_tests::{Call, Point, Seen, Watch};
use nix::errno::Errno;
use nix::libc;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;

/// The pause between two looks at threads none of which has stopped.
const PAUSE: Duration = Duration::from_micros(50);

/// Stops before it becomes the program of its arguments: who follows it from there on misses nothing that the program does,
/// however late it comes.
const STOPS_FIRST: &str = "kill -STOP $$; exec \"$0\" \"$@\"";

/// Runs the program that the arguments name, and ends as it did.
///
/// # Errors
/// Where it cannot be run, or what is seen of it cannot be written down.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    let watch = Watch::of_this_process()?;
    let program: Vec<OsString> = std::env::args_os().skip(1).collect();
    anyhow::ensure!(!program.is_empty(), "name a program");
    let client = open_as(Path::new("/proc/self"), i64::from(stdout().as_raw_fd()));
    let server = Command::new("sh")
        .args(["-c", STOPS_FIRST])
        .args(program)
        .spawn()?;
    let mut follower = Follower {
        server: Pid::from_raw(i32::try_from(server.id())?),
        client,
        log: File::create(&watch.log)?,
        kill_at: watch.kill_at,
        replies: 0,
        comes: 0,
        threads: BTreeMap::new(),
    };
    // Or it has ended, as there is no such program: that is told below.
    let stopped = WaitPidFlag::WSTOPPED | WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
    waitid(Id::Pid(follower.server), stopped)?;
    if let Err(error) = follower.seize().and_then(|()| follower.look()) {
        follower.note(&Seen::Refused(format!("{error:#}")))?;
    }
    kill(follower.server, Signal::SIGCONT)?;
    follower.follow()
}

/// What a descriptor of a process is: a file, or a pipe by its number.
fn open_as(process: &Path, descriptor: i64) -> PathBuf {
    fs::read_link(process.join(format!("fd/{descriptor}"))).unwrap_or_default()
}

/// A program and all of its threads and children.
struct Follower {
    server: Pid,
    /// Where it writes its replies.
    client: PathBuf,
    log: File,
    /// Where it is killed; `None` for nowhere.
    kill_at: Option<Point>,
    /// How many replies it has written.
    replies: usize,
    /// How often it has come to that call since its first reply.
    comes: usize,
    /// Each thread that is followed, with the call that it is in.
    threads: BTreeMap<Pid, Inside>,
}

/// Where a thread is.
enum Inside {
    /// In its own code.
    Program,
    /// In a system call, which may be one that is written down.
    System(Option<Seen>),
}

impl Follower {
    /// Begins to follow the program, which has one thread yet; what that starts is followed by itself.
    fn seize(&self) -> anyhow::Result<()> {
        let options = Options::PTRACE_O_TRACESYSGOOD
            | Options::PTRACE_O_TRACECLONE
            | Options::PTRACE_O_TRACEFORK
            | Options::PTRACE_O_TRACEVFORK
            | Options::PTRACE_O_TRACEEXEC;
        Ok(ptrace::seize(self.server, options)?)
    }

    /// Sees that the calls of what is followed can be read: some systems let follow a program, and do not tell these.
    fn look(&self) -> anyhow::Result<()> {
        let path = format!("/proc/{}/syscall", self.server);
        let text = fs::read_to_string(&path).with_context(|| path.clone())?;
        anyhow::ensure!(!text.trim().is_empty(), "{path} is empty");
        Ok(())
    }

    /// Follows until the program has ended, and ends as it did. What else is left then goes on by itself.
    fn follow(mut self) -> anyhow::Result<ExitCode> {
        // It is our child, followed or not.
        self.threads.entry(self.server).or_insert(Inside::Program);
        loop {
            let mut is_idle = true;
            let threads: Vec<Pid> = self.threads.keys().copied().collect();
            for thread in threads {
                let news = waitid(Id::Pid(thread), news_flags());
                is_idle &= news == Ok(WaitStatus::StillAlive);
                if let Some(end) = self.take(thread, news)? {
                    return Ok(end);
                }
            }
            if is_idle && !self.finds_unknown() {
                std::thread::sleep(PAUSE);
            }
        }
    }

    /// Whether a thread has news that nobody told of; it is looked at from now on.
    ///
    /// A thread that is killed while it starts another one does not report it, but that one is followed, too: unless its
    /// end is taken note of, the program never ends.
    fn finds_unknown(&mut self) -> bool {
        let news = waitid(Id::All, news_flags() | WaitPidFlag::WNOWAIT);
        let thread = news.ok().and_then(|news| news.pid());
        let Some(thread) = thread.filter(|thread| !self.threads.contains_key(thread)) else {
            return false;
        };
        self.threads.insert(thread, Inside::Program);
        true
    }

    /// Takes note of what happened to a thread; gives how the program ended where that is it.
    fn take(
        &mut self,
        thread: Pid,
        news: nix::Result<WaitStatus>,
    ) -> anyhow::Result<Option<ExitCode>> {
        let signal = match news {
            Ok(WaitStatus::StillAlive) => return Ok(None),
            Ok(WaitStatus::Exited(_, code)) if thread == self.server => {
                return Ok(Some(u8::try_from(code)?.into()));
            }
            Ok(WaitStatus::Signaled(..)) if thread == self.server => {
                return Ok(Some(ExitCode::FAILURE));
            }
            // The thread that executed a program took the place of this one, or it has gone.
            Ok(WaitStatus::Exited(..) | WaitStatus::Signaled(..)) | Err(Errno::ECHILD) => {
                self.threads.remove(&thread);
                return Ok(None);
            }
            Ok(WaitStatus::PtraceSyscall(_)) => {
                self.cross(thread)?;
                None
            }
            // A signal is about to arrive.
            Ok(WaitStatus::PtraceEvent(_, signal, 0)) => Some(signal),
            Ok(WaitStatus::PtraceEvent(_, _, _)) => {
                self.meet(thread);
                None
            }
            Ok(_) => None,
            Err(error) => return Err(error.into()),
        };
        // Fails where it was killed meanwhile, which is told next.
        let _ = ptrace::syscall(thread, signal);
        Ok(None)
    }

    /// Follows what a thread has started, if that is why it stopped.
    fn meet(&mut self, thread: Pid) {
        let started = ptrace::getevent(thread).ok();
        let started = started.and_then(|number| i32::try_from(number).ok());
        let Some(started) = started.filter(|number| *number > 0).map(Pid::from_raw) else {
            return;
        };
        // Of another kind of stop the number may be anything.
        if Path::new(&format!("/proc/{started}/status")).exists() {
            self.threads.entry(started).or_insert(Inside::Program);
        }
    }

    /// A thread enters a system call or leaves it.
    fn cross(&mut self, thread: Pid) -> anyhow::Result<()> {
        let place = place_of(&mut self.threads, thread);
        if let Inside::System(seen) = std::mem::replace(place, Inside::Program) {
            return match seen {
                Some(seen) => self.left(&seen),
                None => Ok(()),
            };
        }
        let seen = self.entered(thread);
        *place_of(&mut self.threads, thread) = Inside::System(seen.clone());
        match seen {
            Some(seen) => self.begins(seen),
            None => Ok(()),
        }
    }

    /// The call that a thread is about to make, if it is one that is written down.
    fn entered(&self, thread: Pid) -> Option<Seen> {
        let process = PathBuf::from(format!("/proc/{thread}"));
        let text = fs::read_to_string(process.join("syscall")).ok()?;
        let mut words = text.split_whitespace();
        let call = call_of(words.next()?.parse().ok()?)?;
        let first = words.next()?.strip_prefix("0x")?;
        let first = i64::from_str_radix(first, 16).unwrap_or(-1);
        let place = match call {
            Call::Execute | Call::Start => PathBuf::new(),
            _ => open_as(&process, first),
        };
        let is_server = Path::new(&format!("/proc/{}/task/{thread}", self.server)).exists();
        Some(match (is_server, place == self.client) {
            (true, true) if call == Call::Write => Seen::Reply,
            (true, _) => Seen::Server(call, place),
            (false, _) => Seen::Other(call, place),
        })
    }

    /// A call is about to be made. What is to be safe is so when it has been made, and all else may be seen from now on.
    fn begins(&mut self, seen: Seen) -> anyhow::Result<()> {
        if self.is_time(&seen) {
            kill(self.server, Signal::SIGKILL)?;
            return self.note(&Seen::Killed(Box::new(seen)));
        }
        if seen.is_sync() {
            return Ok(());
        }
        self.note(&seen)
    }

    /// Whether the program is at the point at which it is killed.
    fn is_time(&mut self, seen: &Seen) -> bool {
        let Some(point) = self.kill_at.as_ref().filter(|_| self.replies > 0) else {
            return false;
        };
        let comes = seen
            .of_server()
            .is_some_and(|(call, name)| call == point.call && name == point.name);
        self.comes += usize::from(comes);
        comes && self.comes == point.number
    }

    /// A call has been made.
    fn left(&mut self, seen: &Seen) -> anyhow::Result<()> {
        if *seen == Seen::Reply {
            self.replies += 1;
        }
        if seen.is_sync() {
            return self.note(seen);
        }
        Ok(())
    }

    fn note(&mut self, seen: &Seen) -> anyhow::Result<()> {
        Ok(writeln!(self.log, "{}", serde_json::to_string(seen)?)?)
    }
}

/// Which news of a thread are asked for, without waiting for any.
fn news_flags() -> WaitPidFlag {
    WaitPidFlag::WSTOPPED | WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::__WALL
}

/// Where a thread is; in its own code where nothing is known of it.
fn place_of(threads: &mut BTreeMap<Pid, Inside>, thread: Pid) -> &mut Inside {
    threads.entry(thread).or_insert(Inside::Program)
}

/// What a system call does, by its number on this machine.
fn call_of(number: i64) -> Option<Call> {
    Some(match number {
        libc::SYS_fsync | libc::SYS_fdatasync => Call::Sync,
        libc::SYS_write | libc::SYS_writev | libc::SYS_pwrite64 => Call::Write,
        libc::SYS_linkat => Call::Link,
        libc::SYS_renameat | libc::SYS_renameat2 => Call::Rename,
        libc::SYS_mkdirat => Call::MakeDirectory,
        libc::SYS_clone | libc::SYS_clone3 => Call::Start,
        libc::SYS_execve => Call::Execute,
        _ => return None,
    })
}
