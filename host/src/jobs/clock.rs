//! The clock that does not jump, and the name of the boot.

use rustix::time::{ClockId, clock_gettime};

/// Milliseconds since some moment of this boot, the same one for every process. Never jumps, and stands
/// still while the machine is suspended: a job that cannot run does not use up its timeout.
pub(crate) fn monotonic_ms() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    let millis = u64::try_from(now.tv_nsec / 1_000_000).unwrap_or(0);
    seconds * 1000 + millis
}

/// What tells this boot of the machine from every other one; empty where the system does not say, and
/// then every boot looks the same.
pub(crate) fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .map(|text| text.trim().to_owned())
        .unwrap_or_default()
}
