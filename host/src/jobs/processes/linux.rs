//! Linux: `/proc` and process descriptors.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use uuid::Uuid;

use super::newcomers::Glance;
use super::{Seen, Stage};
use crate::jobs::limits::{COMMAND_LINE_BYTES, COMMAND_LINE_CHARS, ENVIRONMENT_BYTES};
use crate::jobs::supervisor::{SUPERVISE, TASK_VARIABLE};

/// Every process that can be seen; none where there is no `/proc`.
///
/// # Errors
/// Where there may be more: say no file can be opened at the moment.
pub(crate) fn all() -> io::Result<Vec<Seen>> {
    let mut everything = Vec::new();
    for entry in told(std::fs::read_dir("/proc"))?.into_iter().flatten() {
        let name = entry?.file_name();
        if let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) {
            everything.extend(look(pid)?);
        }
    }
    Ok(everything)
}

/// The number that was given out last, to a process or a thread; `None` where the system does not say.
///
/// # Errors
/// Where it may say so another time.
pub(crate) fn newest() -> io::Result<Option<i32>> {
    // In a container the second one may be that of the machine.
    for place in ["/proc/sys/kernel/ns_last_pid", "/proc/loadavg"] {
        let text = told(std::fs::read_to_string(place))?.unwrap_or_default();
        let last = text.split_ascii_whitespace().next_back();
        let newest = last.and_then(|last| last.parse().ok());
        // A sandbox may say 0.
        if let Some(newest) = newest.filter(|newest| *newest > 0) {
            return Ok(Some(newest));
        }
    }
    Ok(None)
}

/// In which of the spaces that have process ids of their own this process is, such as that of a container, by the
/// number that nobody else has as long as it lives; `None` where the system does not say.
pub(crate) fn namespace() -> Option<u64> {
    let namespace = std::fs::metadata("/proc/self/ns/pid").ok()?;
    Some(namespace.ino())
}

/// Whether the processes of this user can be seen: not where `/proc` is missing.
///
/// # Errors
/// As [`look`].
pub(crate) fn are_listed() -> io::Result<bool> {
    Ok(look(rustix::process::getpid().as_raw_nonzero().get())?.is_some())
}

/// One process; `None` where it has ended.
///
/// # Errors
/// Where that is not known.
pub(crate) fn look(pid: i32) -> io::Result<Option<Seen>> {
    // It is shorter with the longest name.
    let mut buffer = [0; 1024];
    let read = File::open(format!("/proc/{pid}/stat")).and_then(|mut file| file.read(&mut buffer));
    Ok(told(read)?.and_then(|read| parse_stat(pid, &buffer[..read])))
}

/// What the system says of a process; `None` where that has ended, or is hidden since it is another user's. Any other
/// error, say for want of a descriptor or of memory, says nothing of it.
pub(super) fn told<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(told) => Ok(Some(told)),
        Err(error) if is_end(&error) || error.kind() == ErrorKind::PermissionDenied => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_end(error: &io::Error) -> bool {
    let ended = [Errno::NOENT, Errno::SRCH];
    Errno::from_io_error(error).is_some_and(|errno| ended.contains(&errno))
}

/// Signals the process that was seen, and no other that got its id since.
pub(crate) fn signal(seen: &Seen, signal: Signal) {
    let Some(pid) = Pid::from_raw(seen.pid).filter(|_| seen.pid > 1) else {
        return;
    };
    let process = match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(process) => process,
        // It has ended, and the number may by now be that of a thread.
        Err(Errno::SRCH | Errno::NOENT | Errno::INVAL) => return,
        Err(_) => return signal_by_id(seen, pid, signal),
    };
    // Whoever is not signalled for any reason shows at the next look.
    if is_same(seen).unwrap_or(false) {
        let _gone = pidfd_send_signal(process, signal);
    }
}

/// For kernels and sandboxes without process descriptors: there is an instant in which the id could be
/// given out again.
fn signal_by_id(seen: &Seen, pid: Pid, signal: Signal) {
    if is_same(seen).unwrap_or(false) {
        let _gone = rustix::process::kill_process(pid, signal);
    }
}

/// Whether a process was started with the job's id in its environment.
///
/// # Errors
/// Where that is not known.
pub(crate) fn recognize(seen: &Seen, id: Uuid) -> io::Result<Glance> {
    if matches!(seen.stage, Stage::Zombie | Stage::Kernel) {
        return Ok(Glance::Other);
    }
    let environment = memory_of(seen, "environ", ENVIRONMENT_BYTES)?;
    let Some(environment) = environment else {
        return Ok(Glance::Other);
    };
    if environment.is_empty() {
        return Ok(Glance::Unclear);
    }
    let wanted = format!("{TASK_VARIABLE}={id}");
    let found = environment
        .split(|byte| *byte == 0)
        .any(|entry| entry == wanted.as_bytes());
    Ok(if found && is_same(seen)? {
        Glance::Wanted(*seen)
    } else {
        Glance::Other
    })
}

/// What is behind a number. Threads have numbers too, and show the environment of their process.
///
/// # Errors
/// Where that is not known.
pub(crate) fn glance(pid: i32, id: Uuid) -> io::Result<Glance> {
    let Some(seen) = look(pid)? else {
        return Ok(Glance::Other);
    };
    match recognize(&seen, id)? {
        Glance::Wanted(_) if !is_process(pid)? => Ok(Glance::Other),
        other => Ok(other),
    }
}

/// Whether a number is that of a process, and not that of a thread other than its main one.
fn is_process(pid: i32) -> io::Result<bool> {
    let status = told(std::fs::read(format!("/proc/{pid}/status")))?.unwrap_or_default();
    let status = String::from_utf8_lossy(&status);
    let process = status.lines().find_map(|line| line.strip_prefix("Tgid:"));
    Ok(process.and_then(|process| process.trim().parse().ok()) == Some(pid))
}

/// Whether a process is the supervisor of the job, by its command line. Its environment is that of its server.
///
/// # Errors
/// Where that is not known.
pub(crate) fn supervises(seen: &Seen, id: Uuid) -> io::Result<bool> {
    let line = memory_of(seen, "cmdline", COMMAND_LINE_BYTES)?.unwrap_or_default();
    let id = id.to_string();
    let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
    // The name may be any, and the last word ends with a NUL too.
    let found = matches!(words[..], [_name, verb, of, []]
        if verb == SUPERVISE.as_bytes() && of == id.as_bytes());
    Ok(found && is_same(seen)?)
}

/// Whether a process that was seen still has its id.
fn is_same(seen: &Seen) -> io::Result<bool> {
    Ok(look(seen.pid)?.is_some_and(|now| now.is_process(seen)))
}

/// What to call a process: its command line, or its name in brackets where it has none.
pub(crate) fn command_line(seen: &Seen) -> String {
    // Only for people: what cannot be read is not there.
    let line = memory_of(seen, "cmdline", COMMAND_LINE_BYTES)
        .ok()
        .flatten();
    let line = line.unwrap_or_default();
    let mut text = String::from_utf8_lossy(&line).replace('\0', " ");
    if text.trim().is_empty() {
        let name = std::fs::read_to_string(format!("/proc/{}/comm", seen.pid)).unwrap_or_default();
        text = format!("[{}]", name.trim());
    }
    text.trim_end().chars().take(COMMAND_LINE_CHARS).collect()
}

/// The first bytes of one of the files that show a process's memory: none where it has none, since it is about to end
/// or to execute another program; `None` where it has ended, or is another user's.
fn memory_of(seen: &Seen, name: &str, limit_bytes: u64) -> io::Result<Option<Vec<u8>>> {
    let process = PathBuf::from(format!("/proc/{}", seen.pid));
    if seen.stage != Stage::Headless {
        return start_of(&process.join(name), limit_bytes);
    }
    // A thread that has ended has no memory any more, and one that goes on has that of all.
    let mut found = None;
    let threads = told(std::fs::read_dir(process.join("task")))?;
    for thread in threads.into_iter().flatten() {
        let Some(thread) = told(thread)? else { break };
        found = start_of(&thread.path().join(name), limit_bytes)?.or(found);
        if found.as_ref().is_some_and(|bytes| !bytes.is_empty()) {
            break;
        }
    }
    Ok(found)
}

fn start_of(path: &Path, limit_bytes: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(limit_bytes).read_to_end(&mut bytes));
    // Unreadable half way means that it ended.
    Ok(told(read)?.map(|_length| bytes))
}

/// The flag of a process that is the kernel's own.
const KERNEL_THREAD: u32 = 0x0020_0000;

/// Reads `pid (name) state parent group session … flags … threads … start …`, where the name may hold anything, also
/// parentheses.
fn parse_stat(pid: i32, text: &[u8]) -> Option<Seen> {
    let end_of_name = text.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(&text[end_of_name + 1..]).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let session = fields.next()?.parse().ok()?;
    // The session is field 6 of all, the flags field 9, the number of threads field 20, and the start field 22.
    let flags: u32 = fields.nth(2)?.parse().ok()?;
    let threads: u32 = fields.nth(10)?.parse().ok()?;
    let start_ticks = fields.nth(1)?.parse().ok()?;
    let stage = match state {
        _ if flags & KERNEL_THREAD != 0 => Stage::Kernel,
        // The state is that of the main thread, which may end before the others do.
        "Z" | "X" if threads > 1 => Stage::Headless,
        "Z" | "X" => Stage::Zombie,
        _ => Stage::Whole,
    };
    Some(Seen {
        pid,
        parent,
        group,
        session,
        start_ticks,
        stage,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_and_spaces_is_no_trap() {
        let text = b"42 (a) Z 9 (x)) S 7 40 41 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 98765 1 2\n";
        let seen = parse_stat(42, text).expect("it is a whole line");
        assert_eq!((seen.parent, seen.group, seen.session), (7, 40, 41));
        assert_eq!(seen.start_ticks, 98765);
        assert_eq!(seen.stage, Stage::Whole);
    }

    #[test]
    fn a_process_has_ended_when_its_last_thread_has() {
        for (state, threads, wanted) in [
            ("Z", 1, Stage::Zombie),
            ("X", 0, Stage::Zombie),
            ("Z", 2, Stage::Headless),
            ("S", 2, Stage::Whole),
        ] {
            let text = format!("9 (x) {state} 7 9 9 0 -1 4 1 2 3 4 5 6 7 8 20 0 {threads} 0 55 1");
            let seen = parse_stat(9, text.as_bytes()).expect("it is a whole line");
            assert_eq!((seen.stage, seen.start_ticks), (wanted, 55), "{text}");
        }
    }

    #[test]
    fn what_is_the_kernels_own_is_told_by_its_flag() {
        let text = b"2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 30 0 0";
        let seen = parse_stat(2, text).expect("it is a whole line");
        assert_eq!((seen.stage, seen.start_ticks), (Stage::Kernel, 30));
    }

    #[test]
    fn a_thread_is_no_process_of_a_job() {
        let (say, hear) = std::sync::mpsc::channel::<i32>();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            let own = std::fs::read_link("/proc/thread-self").expect("there is /proc");
            let own = own.file_name().and_then(|name| name.to_str()?.parse().ok());
            say.send(own.expect("a number")).expect("it is heard");
            ended.recv().expect_err("nothing is ever sent");
        });
        let number = hear.recv().expect("it is said");
        let own = i32::try_from(std::process::id()).expect("process ids are small");
        let is = |pid| is_process(pid).expect("there is /proc");
        assert_eq!((is(own), is(number)), (true, false));
        drop(end);
        thread.join().expect("it does not panic");
    }

    #[test]
    fn the_newest_number_is_at_least_that_of_a_new_process() {
        let before = newest().expect("there is /proc").expect("Linux says it");
        let mut child = std::process::Command::new("true")
            .spawn()
            .expect("it exists");
        let pid = i32::try_from(child.id()).expect("process ids are small");
        let after = newest().expect("there is /proc").expect("Linux says it");
        child.wait().expect("it is ours");
        // Unless they began anew.
        assert!(
            (before < pid && pid <= after) || after < before,
            "{before} {pid} {after}"
        );
    }

    #[test]
    fn half_a_line_is_no_process() {
        assert_eq!(parse_stat(42, b"42 (name) S 7 40"), None);
        assert_eq!(parse_stat(42, b""), None);
    }

    #[test]
    fn this_process_is_found_under_its_parent() {
        let own = i32::try_from(std::process::id()).expect("process ids are small");
        let seen = look(own).expect("there is /proc").expect("we are running");
        assert!(seen.start_ticks > 0 && seen.stage == Stage::Whole);
        assert!(all().expect("it can be read").contains(&seen));
        assert!(!command_line(&seen).is_empty());
    }

    #[test]
    fn a_process_that_only_has_the_same_id_is_left_alone() {
        let mut child = std::process::Command::new("sleep")
            .arg("100")
            .spawn()
            .expect("it exists");
        let pid = i32::try_from(child.id()).expect("process ids are small");
        let seen = look(pid).expect("there is /proc").expect("it runs");
        signal(
            &Seen {
                start_ticks: seen.start_ticks + 1,
                ..seen
            },
            Signal::KILL,
        );
        assert!(child.try_wait().expect("it is ours").is_none());
        signal(&seen, Signal::KILL);
        assert!(!child.wait().expect("it is ours").success());
    }
}
