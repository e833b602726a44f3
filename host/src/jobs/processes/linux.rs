//! Linux: `/proc` and process descriptors.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use uuid::Uuid;

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

/// Looks at each process that begins, as soon as it is there, for this long or until `find` takes one, which is given.
/// A table of all processes takes longer to read than some processes live.
pub(crate) fn watch_new(
    duration: Duration,
    find: impl Fn(&Seen) -> io::Result<bool>,
) -> io::Result<Option<Seen>> {
    let end = Instant::now() + duration;
    let Some(mut last) = last_pid()? else {
        return Ok(None);
    };
    while Instant::now() < end {
        let Some(newest) = last_pid()? else {
            return Ok(None);
        };
        // Where the numbers begin anew, those before are left out.
        let in_time = |_: &i32| Instant::now() < end;
        for pid in (last.saturating_add(1)..=newest).take_while(in_time) {
            if let Some(seen) = look(pid)?
                && find(&seen)?
            {
                return Ok(Some(seen));
            }
        }
        last = newest;
    }
    Ok(None)
}

/// The process id that was given out last; `None` where the system does not say.
fn last_pid() -> io::Result<Option<i32>> {
    let load = told(std::fs::read_to_string("/proc/loadavg"))?.unwrap_or_default();
    let last = load.split_ascii_whitespace().next_back();
    Ok(last.and_then(|last| last.parse().ok()))
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
fn told<T>(result: io::Result<T>) -> io::Result<Option<T>> {
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
pub(crate) fn belongs_to(seen: &Seen, id: Uuid) -> io::Result<bool> {
    let environment = memory_of(seen, "environ", ENVIRONMENT_BYTES)?;
    let wanted = format!("{TASK_VARIABLE}={id}");
    let found = environment
        .split(|byte| *byte == 0)
        .any(|entry| entry == wanted.as_bytes());
    Ok(found && is_same(seen)?)
}

/// Whether a process is the supervisor of the job, by its command line. Its environment is that of its server.
///
/// # Errors
/// Where that is not known.
pub(crate) fn supervises(seen: &Seen, id: Uuid) -> io::Result<bool> {
    let line = memory_of(seen, "cmdline", COMMAND_LINE_BYTES)?;
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
    let line = memory_of(seen, "cmdline", COMMAND_LINE_BYTES).unwrap_or_default();
    let mut text = String::from_utf8_lossy(&line).replace('\0', " ");
    if text.trim().is_empty() {
        let name = std::fs::read_to_string(format!("/proc/{}/comm", seen.pid)).unwrap_or_default();
        text = format!("[{}]", name.trim());
    }
    text.trim_end().chars().take(COMMAND_LINE_CHARS).collect()
}

/// The first bytes of one of the files that show a process's memory; none where it has ended.
fn memory_of(seen: &Seen, name: &str, limit_bytes: u64) -> io::Result<Vec<u8>> {
    let process = PathBuf::from(format!("/proc/{}", seen.pid));
    if seen.stage != Stage::Headless {
        return start_of(&process.join(name), limit_bytes);
    }
    // A thread that has ended has no memory any more, and one that goes on has that of all.
    for thread in told(std::fs::read_dir(process.join("task")))?
        .into_iter()
        .flatten()
    {
        let Some(thread) = told(thread)? else { break };
        let bytes = start_of(&thread.path().join(name), limit_bytes)?;
        if !bytes.is_empty() {
            return Ok(bytes);
        }
    }
    Ok(Vec::new())
}

fn start_of(path: &Path, limit_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(limit_bytes).read_to_end(&mut bytes));
    // Unreadable half way means that it ended.
    told(read)?;
    Ok(bytes)
}

/// Reads `pid (name) state parent group session … threads … start …`, where the name may hold anything, also
/// parentheses.
fn parse_stat(pid: i32, text: &[u8]) -> Option<Seen> {
    let end_of_name = text.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(&text[end_of_name + 1..]).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let session = fields.next()?.parse().ok()?;
    // The number of threads is field 20 of all, the session field 6 and the start field 22.
    let threads: u32 = fields.nth(13)?.parse().ok()?;
    let start_ticks = fields.nth(1)?.parse().ok()?;
    let stage = match state {
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
