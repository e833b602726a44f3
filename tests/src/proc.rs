//! What Linux shows of processes in `/proc`.

use std::fs;

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

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

/// The address space that a process uses, in KiB.
///
/// # Panics
/// Where there is no such process.
#[must_use]
pub fn address_space_kib(pid: u32) -> u64 {
    status_kib(pid, "VmSize:")
}

/// Lets a process, and those that it starts from now on, use this much address space in KiB.
///
/// # Panics
/// Where there is no such process, or it is somebody else's.
pub fn limit_address_space(pid: u32, kib: u64) {
    limit(pid, Resource::As, Some(kib * 1024));
}

/// Lets a process, and those that it starts from now on, have only descriptors below this number; `None` for as many
/// as it could ever have.
///
/// # Panics
/// Where there is no such process, or it is somebody else's.
pub fn limit_descriptors(pid: u32, count: Option<u64>) {
    limit(pid, Resource::Nofile, count);
}

/// Sets the limit that counts; `None` for the one that it cannot be raised beyond, which stays.
fn limit(pid: u32, resource: Resource, to: Option<u64>) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let maximum = getrlimit(resource).maximum;
    let current = to.or(maximum);
    prlimit(pid, resource, Rlimit { current, maximum }).expect("a process of ours may be limited");
}

/// How many descriptors a process has open.
///
/// # Panics
/// Where there is no such process, or it is somebody else's.
#[must_use]
pub fn descriptors(pid: u32) -> u64 {
    entries(pid, "fd")
}

/// How many threads a process has.
///
/// # Panics
/// Where there is no such process.
#[must_use]
pub fn threads(pid: u32) -> u64 {
    entries(pid, "task")
}

fn entries(pid: u32, directory: &str) -> u64 {
    let entries = fs::read_dir(format!("/proc/{pid}/{directory}"))
        .unwrap_or_else(|error| panic!("process {pid} cannot be looked at: {error}"));
    entries.count() as u64
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
