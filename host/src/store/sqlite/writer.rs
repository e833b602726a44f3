//! Which process keeps all others from writing, and whether it will ever let go of its lock.
//!
//! SQLite only says that somebody has the lock. A process that was stopped (SIGSTOP, or Ctrl-Z) at that moment keeps it
//! for as long as it stands still, and nobody is helped by waiting for it.
//!
//! *Source:* SQLite, WAL-mode File Format, WAL Locks; Linux, `proc_locks(5)` and `proc_pid_stat(5)`.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

/// The byte of the log's index whose lock lets a process write.
const WRITE_LOCK: u64 = 120;

/// The process that has the lock, if it is stopped; `index` is device and inode of the log's index. `None` also where
/// the system does not tell, as without `/proc` and for a process of another container.
pub(super) fn stopped(index: (u64, u64)) -> Option<u32> {
    // Not by asking for the lock: closing a descriptor of the index would drop those that this process has.
    let locks = fs::read_to_string("/proc/locks").ok()?;
    let mut writers = locks.lines().filter_map(|line| writer(line, index.1));
    writers.find(|pid| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
        stat.is_ok_and(|stat| is_stopped(&stat)) && has_open(*pid, index)
    })
}

/// Whether a process has this file open. The device is not told from the list of locks: some file systems have another
/// one there than a file's own.
fn has_open(pid: u32, file: (u64, u64)) -> bool {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd"));
    let mut descriptors = descriptors.into_iter().flatten().flatten();
    descriptors.any(|descriptor| {
        // What the link leads to.
        fs::metadata(descriptor.path()).is_ok_and(|found| (found.dev(), found.ino()) == file)
    })
}

/// The process whose lock this line tells of, where that is the one to write with this index.
fn writer(line: &str, index: u64) -> Option<u32> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    // One that waits for a lock has an arrow in front of these.
    let [_, "POSIX", _, "WRITE", pid, file, first, last] = words[..] else {
        return None;
    };
    let inode = file.rsplit(':').next()?.parse::<u64>().ok()?;
    let first: u64 = first.parse().ok()?;
    // `EOF` for one without an end.
    let last = last.parse().unwrap_or(u64::MAX);
    let is_it = inode == index && (first..=last).contains(&WRITE_LOCK);
    pid.parse().ok().filter(|_| is_it)
}

/// Whether this is what the system says of a process that is stopped. One that is being traced may go on at any moment.
fn is_stopped(stat: &str) -> bool {
    // The name is in parentheses, and may have some in it.
    let state = stat.rsplit_once(')').map(|(_, rest)| rest.trim_start());
    state.is_some_and(|state| state.starts_with('T'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_writer_is_who_has_the_lock_to_write_with_this_index() {
        let line = "3: POSIX  ADVISORY  WRITE 4711 fe:00:1234 120 120";
        assert_eq!(writer(line, 1234), Some(4711));
        assert_eq!(
            writer("3: POSIX ADVISORY WRITE 4711 fe:00:1234 0 EOF", 1234),
            Some(4711)
        );
        for other in [
            "3: POSIX  ADVISORY  WRITE 4711 fe:00:1235 120 120",
            "3: POSIX  ADVISORY  WRITE 4711 fe:00:1234 121 124",
            "3: POSIX  ADVISORY  READ  4711 fe:00:1234 120 120",
            "3: OFDLCK ADVISORY  WRITE -1 fe:00:1234 120 120",
            "3: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF",
            "3: -> POSIX  ADVISORY  WRITE 4711 fe:00:1234 120 120",
            "",
        ] {
            assert_eq!(writer(other, 1234), None, "{other}");
        }
    }

    #[test]
    fn a_name_does_not_stop_a_process() {
        assert!(is_stopped("4711 (sh) T 1 4711"));
        assert!(is_stopped("4711 (a) S) T 1 4711"));
        assert!(!is_stopped("4711 (a) T) S 1 4711"));
        assert!(!is_stopped("4711 (sh) t 1 4711"));
        assert!(!is_stopped(""));
    }
}
