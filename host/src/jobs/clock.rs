//! The clock that does not jump, and the name of the boot.

use std::os::unix::fs::MetadataExt as _;

use rustix::time::{ClockId, Timespec, clock_gettime};

/// Milliseconds since some moment of this boot, the same one for every process of a [`time_namespace`]. Never jumps,
/// and stands still while the machine is suspended: a job that cannot run does not use up its timeout.
pub(crate) fn monotonic_ms() -> u64 {
    milliseconds(clock_gettime(ClockId::Monotonic))
}

/// As [`monotonic_ms`], in nanoseconds.
pub(crate) fn monotonic_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// In which of the spaces that have such a clock of their own this process is, such as that of a container, by the
/// number that nobody else has as long as it lives; `None` where the system does not say.
pub(crate) fn time_namespace() -> Option<u64> {
    let namespace = std::fs::metadata("/proc/self/ns/time").ok()?;
    Some(namespace.ino())
}

fn milliseconds(time: Timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let millis = u64::try_from(time.tv_nsec / 1_000_000).unwrap_or(0);
    seconds * 1000 + millis
}

/// When this boot began, in milliseconds since 1970, by the wall clock as it is set now. Where the clock was set since,
/// it is wrong by as much.
pub(crate) fn boot_ms() -> u64 {
    let up_ms = milliseconds(clock_gettime(BOOT_CLOCK));
    crate::clock::now_ms().saturating_sub(up_ms)
}

/// Counts while the machine is suspended, where there is such a clock.
#[cfg(target_os = "linux")]
const BOOT_CLOCK: ClockId = ClockId::Boottime;
#[cfg(not(target_os = "linux"))]
const BOOT_CLOCK: ClockId = ClockId::Monotonic;

/// What tells this boot of the machine from every other one; empty where the system does not say, and then only the
/// clock tells.
pub(crate) fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .map(|text| text.trim().to_owned())
        .unwrap_or_default()
}
