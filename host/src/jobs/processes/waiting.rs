//! Linux: what the processes of a job wait for, by the system calls that their threads are in.
//!
//! `/proc/PID/task/TID/syscall` has a call's number and arguments as long as a thread sleeps in it. The kernel shows it
//! to who may trace the process: its supervisor, unless it runs as somebody else, or a security module forbids it.
//! Nothing is stopped or slowed down.
//!
//! *Source:* proc_pid_syscall(5), proc_pid_fdinfo(5); the kernel's `fs/proc/base.c`, `proc_pid_syscall`.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::{FileExt as _, FileTypeExt as _, MetadataExt as _};
use std::path::Path;

use super::system::told;
use super::{Device, Wait, descendants};
use crate::jobs::limits::POLLED;

/// The number of `/dev/tty`, which is for each process the terminal of its session.
const OWN_TERMINAL: (u32, u32) = (5, 0);

/// What the processes below this one do at a terminal.
pub(crate) fn wait_for_terminal(device: Device) -> Wait {
    // A lack of descriptors or memory says nothing of the job.
    look(device).unwrap_or(Wait::Unseen)
}

fn look(device: Device) -> io::Result<Wait> {
    let own = rustix::process::getpid();
    let pids = match below(own.as_raw_nonzero().get())? {
        Some(pids) => pids,
        None => descendants(own)?.iter().map(|seen| seen.pid).collect(),
    };
    if pids.is_empty() {
        // Where there is no `/proc`: somebody runs, or nobody would look.
        return Ok(Wait::Unseen);
    }
    let mut found = Wait::Elsewhere;
    for pid in pids {
        match (Process { pid, device }).wait()? {
            Wait::Reads => return Ok(Wait::Reads),
            Wait::Watches => found = Wait::Watches,
            Wait::Unseen if found == Wait::Elsewhere => found = Wait::Unseen,
            Wait::Elsewhere | Wait::Unseen => {}
        }
    }
    Ok(found)
}

/// Every process below one, without reading the whole table; `None` where the kernel does not say which those are. A job
/// may have any number of generations.
fn below(root: i32) -> io::Result<Option<HashSet<i32>>> {
    let mut found = HashSet::new();
    let mut unread = vec![root];
    while let Some(pid) = unread.pop() {
        for thread in threads(pid)? {
            let Some(children) = told(std::fs::read_to_string(thread.join("children")))? else {
                if thread.exists() {
                    return Ok(None);
                }
                continue;
            };
            let children = children.split_ascii_whitespace().flat_map(str::parse);
            unread.extend(children.filter(|child| found.insert(*child)));
        }
    }
    Ok(Some(found))
}

/// The directories of a process's threads; none where it has ended.
fn threads(pid: i32) -> io::Result<Vec<std::path::PathBuf>> {
    let threads = told(std::fs::read_dir(format!("/proc/{pid}/task")))?;
    let threads = threads.into_iter().flatten().flatten();
    Ok(threads.map(|thread| thread.path()).collect())
}

/// What a thread is seen to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    /// It sleeps in this call.
    Sleeps(Call),
    /// It runs.
    Runs,
    /// It sleeps outside of one, or has ended.
    Else,
    /// It is not shown.
    Hidden,
}

/// A system call that a thread sleeps in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Call {
    number: libc::c_long,
    arguments: [u64; 2],
}

fn doing(thread: &Path) -> io::Result<Doing> {
    match std::fs::read_to_string(thread.join("syscall")) {
        Ok(text) => Ok(parse(&text)),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(Doing::Hidden),
        // A kernel that was built without it shows a thread and not this.
        Err(error) if error.kind() == io::ErrorKind::NotFound && thread.exists() => {
            Ok(Doing::Hidden)
        }
        other => Ok(told(other)?.map_or(Doing::Else, |text| parse(&text))),
    }
}

/// Reads `number argument…`, arguments in hexadecimal, or `running`. A number of -1 is no call.
fn parse(text: &str) -> Doing {
    let mut words = text.split_ascii_whitespace();
    let number = words.next().unwrap_or_default();
    if number == "running" {
        return Doing::Runs;
    }
    let mut argument = || u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok();
    match (number.parse(), argument(), argument()) {
        (Ok(number), Some(first), Some(second)) if number >= 0 => Doing::Sleeps(Call {
            number,
            arguments: [first, second],
        }),
        _ => Doing::Else,
    }
}

/// A process, and the terminal that it may wait for.
#[derive(Clone, Copy)]
struct Process {
    pid: i32,
    device: Device,
}

impl Process {
    fn wait(self) -> io::Result<Wait> {
        let (mut found, mut runs) = (Wait::Elsewhere, false);
        for thread in threads(self.pid)? {
            let seen = match doing(&thread)? {
                Doing::Sleeps(call) => self.wait_in(call),
                Doing::Hidden => Wait::Unseen,
                Doing::Else => Wait::Elsewhere,
                Doing::Runs => {
                    runs = true;
                    Wait::Elsewhere
                }
            };
            found = found.max(seen);
        }
        Ok(match found {
            Wait::Elsewhere => Wait::Elsewhere,
            // By another machine's numbers, or since nobody continues it.
            Wait::Reads | Wait::Watches if !self.is_of_this_machine() => Wait::Unseen,
            Wait::Reads | Wait::Watches if !self.stat().is_some_and(|it| self.may_read(&it)) => {
                Wait::Elsewhere
            }
            // One thread waits for a command, and another one is at work on the last.
            Wait::Reads if runs => Wait::Watches,
            found => found,
        })
    }

    fn wait_in(self, call: Call) -> Wait {
        let [first, second] = call.arguments;
        let watches = match call.number {
            libc::SYS_read | libc::SYS_readv => {
                let reads = i32::try_from(first).is_ok_and(|fd| self.is_terminal(fd));
                return if reads { Wait::Reads } else { Wait::Elsewhere };
            }
            // What it waits for is in memory that it shares with the kernel.
            libc::SYS_io_uring_enter => return Wait::Unseen,
            // A `poll` that was stopped and continued has its arguments still.
            number if is_poll(number) || number == libc::SYS_restart_syscall => {
                self.polls(first, second)
            }
            number if is_select(number) => self.selects(first, second),
            number if is_epoll(number) => self.awaits(first),
            _ => false,
        };
        if watches {
            Wait::Watches
        } else {
            Wait::Elsewhere
        }
    }

    /// Whether it would get what is typed. The system stops one in the background of the terminal's session when it reads;
    /// one of another session is in nobody's background.
    fn may_read(self, stat: &Stat) -> bool {
        let is_behind = stat.terminal == self.device.number && stat.group != stat.in_front;
        !stat.is_stopped && !is_behind
    }

    /// Whether its calls have the numbers that this program was compiled with: a program of 32 bits has others.
    fn is_of_this_machine(self) -> bool {
        const CLASS: usize = 4;
        let mut head = [0; CLASS + 1];
        let read = File::open(format!("/proc/{}/exe", self.pid))
            .and_then(|mut file| file.read_exact(&mut head));
        read.is_ok() && head[CLASS] == 2
    }

    fn is_terminal(self, fd: i32) -> bool {
        let Ok(found) = std::fs::metadata(format!("/proc/{}/fd/{fd}", self.pid)) else {
            return false;
        };
        if !found.file_type().is_char_device() {
            return false;
        }
        let number = (
            rustix::fs::major(found.rdev()),
            rustix::fs::minor(found.rdev()),
        );
        let Device { number: ours, of } = self.device;
        // In another container another terminal has the same number.
        (found.rdev(), found.dev()) == (ours, of)
            || number == OWN_TERMINAL && self.stat().is_some_and(|stat| stat.terminal == ours)
    }

    fn stat(self) -> Option<Stat> {
        let text = std::fs::read(format!("/proc/{}/stat", self.pid)).ok()?;
        Stat::parse(&String::from_utf8_lossy(&text))
    }

    /// Whether this array of `struct pollfd` has the terminal, to be read.
    fn polls(self, array: u64, length: u64) -> bool {
        let length = usize::try_from(length).unwrap_or(POLLED).min(POLLED);
        let bytes = self.memory(array, length * 8).unwrap_or_default();
        bytes.chunks_exact(8).any(|entry| {
            let fd = i32::from_ne_bytes([entry[0], entry[1], entry[2], entry[3]]);
            let events = i16::from_ne_bytes([entry[4], entry[5]]);
            events & libc::POLLIN != 0 && fd >= 0 && self.is_terminal(fd)
        })
    }

    /// Whether this set of descriptors, all below `end`, has the terminal.
    fn selects(self, end: u64, set: u64) -> bool {
        let end = usize::try_from(end).unwrap_or(POLLED).min(POLLED);
        // The set is made of words.
        let bytes = self.memory(set, end.div_ceil(64) * 8).unwrap_or_default();
        let is_in = |fd: usize| bytes.get(fd / 8).is_some_and(|it| it >> (fd % 8) & 1 == 1);
        let fds = (0..end).filter(|fd| is_in(*fd));
        fds.flat_map(i32::try_from).any(|fd| self.is_terminal(fd))
    }

    /// Whether the epoll instance with this descriptor has the terminal, to be read.
    fn awaits(self, epoll: u64) -> bool {
        let path = format!("/proc/{}/fdinfo/{epoll}", self.pid);
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.lines().any(|line| {
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            let ["tfd:", fd, "events:", events, ..] = words.as_slice() else {
                return false;
            };
            let reads = u32::from_str_radix(events, 16).is_ok_and(|events| events & 1 == 1);
            reads && fd.parse().is_ok_and(|fd| self.is_terminal(fd))
        })
    }

    fn memory(self, at: u64, length: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; length];
        let memory = File::open(format!("/proc/{}/mem", self.pid)).ok()?;
        memory.read_exact_at(&mut bytes, at).ok()?;
        Some(bytes)
    }
}

/// What `/proc/PID/stat` says of it.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    /// Whether it is stopped, as one in the background that wants to read from the terminal.
    is_stopped: bool,
    group: i32,
    /// The number of the terminal of its session.
    terminal: u64,
    /// The group that is in the foreground of that terminal.
    in_front: i32,
}

impl Stat {
    fn parse(text: &str) -> Option<Self> {
        // Behind the name, which may hold anything: state, parent, group, session, terminal, group in the foreground.
        let (_, fields) = text.rsplit_once(')')?;
        let fields: Vec<&str> = fields.split_ascii_whitespace().take(6).collect();
        let number = |at: usize| -> Option<i32> { fields.get(at)?.parse().ok() };
        let terminal = number(4)?;
        // As the kernel writes a number of 12 and 20 bits in 32.
        let (major, minor) = (
            terminal >> 8 & 0xfff,
            terminal & 0xff | terminal >> 12 & 0xf_ff00,
        );
        Some(Self {
            is_stopped: matches!(*fields.first()?, "T" | "t"),
            group: number(2)?,
            terminal: rustix::fs::makedev(major.cast_unsigned(), minor.cast_unsigned()),
            in_front: number(5)?,
        })
    }
}

fn is_poll(number: libc::c_long) -> bool {
    #[cfg(target_arch = "x86_64")]
    if number == libc::SYS_poll {
        return true;
    }
    number == libc::SYS_ppoll
}

fn is_select(number: libc::c_long) -> bool {
    #[cfg(target_arch = "x86_64")]
    if number == libc::SYS_select {
        return true;
    }
    number == libc::SYS_pselect6
}

fn is_epoll(number: libc::c_long) -> bool {
    #[cfg(target_arch = "x86_64")]
    if number == libc::SYS_epoll_wait {
        return true;
    }
    number == libc::SYS_epoll_pwait || number == libc::SYS_epoll_pwait2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_read_and_what_is_none_is_not() {
        let call = Call {
            number: 0,
            arguments: [3, 0x7fed],
        };
        let text = "0 0x3 0x7fed 0x20000 0x0 0x0 0x0 0x7ffd 0x7fed\n";
        assert_eq!(parse(text), Doing::Sleeps(call));
        assert_eq!(parse("running\n"), Doing::Runs);
        for text in ["-1 0x7ffd 0x7fed\n", "", "0 0x3\n"] {
            assert_eq!(parse(text), Doing::Else, "{text:?}");
        }
    }

    #[test]
    fn the_terminal_of_a_session_is_read_whatever_its_program_is_called() {
        let stat = |is_stopped, minor, group, in_front| {
            Some(Stat {
                is_stopped,
                group,
                terminal: rustix::fs::makedev(136, minor),
                in_front,
            })
        };
        let text = "7 (a) T) b) S 1 7 7 34819 8 0";
        assert_eq!(Stat::parse(text), stat(false, 3, 7, 8));
        let text = "7 (sh) T 1 7 7 1083427 7";
        assert_eq!(Stat::parse(text), stat(true, 0x123, 7, 7));
        assert_eq!(Stat::parse("7 (sh) S 1 7 7 34819"), None);
    }

    #[test]
    fn children_are_found_without_the_whole_table() {
        let sleep = std::process::Command::new("sleep").arg("100").spawn();
        let mut child = sleep.expect("it exists");
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let pids = below(own).expect("there is /proc");
        let pid = i32::try_from(child.id()).expect("process ids are small");
        child.kill().expect("it runs");
        child.wait().expect("it is ours");
        assert!(pids.as_ref().is_none_or(|it| it.contains(&pid)), "{pids:?}");
    }

    #[test]
    fn generations_take_no_stack() {
        use std::os::unix::process::CommandExt as _;
        const GENERATIONS: usize = 300;
        let line = "test $N -eq 1 && exec sleep 100; N=$((N - 1)) sh -c \"$LINE\"; :";
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", line]).process_group(0);
        shell.env("N", GENERATIONS.to_string()).env("LINE", line);
        let mut first = shell.spawn().expect("it exists");
        let pid = i32::try_from(first.id()).expect("process ids are small");
        let look = move || {
            let begun = std::time::Instant::now();
            loop {
                let found = below(pid).expect("there is /proc").map(|it| it.len());
                let is_there = found.is_none_or(|count| count == GENERATIONS - 1);
                if is_there || begun.elapsed().as_secs() > 60 {
                    return (is_there, found);
                }
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
        };
        let little_stack = std::thread::Builder::new().stack_size(128 << 10);
        let looked = little_stack.spawn(look).expect("there is room").join();
        let group = rustix::process::Pid::from_raw(pid).expect("it is no process group of ours");
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).expect("it runs");
        first.wait().expect("it is ours");
        let (is_there, found) = looked.expect("it looks");
        assert!(is_there, "{found:?}");
    }
}
