//! What Linux shows of processes in `/proc`.

use std::fs;

/// The most memory that a process ever had resident, in KiB.
///
/// # Panics
/// Where there is no such process.
#[must_use]
pub fn peak_memory_kib(pid: u32) -> u64 {
    status_kib(pid, "VmHWM:")
}

/// The memory that a process has resident now, in KiB.
///
/// # Panics
/// Where there is no such process.
#[must_use]
pub fn resident_memory_kib(pid: u32) -> u64 {
    status_kib(pid, "VmRSS:")
}

/// How much of its address space a process uses or has reserved, in KiB.
///
/// # Panics
/// Where there is no such process.
#[must_use]
pub fn address_space_kib(pid: u32) -> u64 {
    status_kib(pid, "VmSize:")
}

fn status_kib(pid: u32, field: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))
        .unwrap_or_else(|error| panic!("process {pid} cannot be looked at: {error}"));
    status
        .lines()
        .find_map(|line| line.strip_prefix(field))
        .and_then(|rest| rest.trim().strip_suffix(" kB"))
        .and_then(|number| number.trim().parse().ok())
        .unwrap_or_else(|| panic!("process {pid} shows no {field}: {status}"))
}

/// The command lines of all processes that can be looked at, arguments joined by spaces.
///
/// # Panics
/// Where there is no `/proc`.
#[must_use]
pub fn command_lines() -> Vec<(u32, String)> {
    fs::read_dir("/proc")
        .expect("Linux has /proc")
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|pid: u32| {
            // A process may end between the listing and the look.
            let bytes = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
            let words: Vec<_> = bytes
                .split(|byte| *byte == 0)
                .map(String::from_utf8_lossy)
                .collect();
            Some((pid, words.join(" ").trim_end().to_owned()))
        })
        .collect()
}

/// The direct children of a process.
///
/// # Panics
/// Where there is no `/proc`.
#[must_use]
pub fn children(parent: u32) -> Vec<u32> {
    command_lines()
        .into_iter()
        .map(|(pid, _)| pid)
        .filter(|pid| parent_of(*pid) == Some(parent))
        .collect()
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may contain anything; what follows it is the state and the parent.
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(1)?.parse().ok()
}
