"""What time it is, on the clock of people and on the one that does not jump, and which boot this is."""

import time


def now_ms() -> int:
    """The present, in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def monotonic_ms() -> int:
    """Milliseconds since some moment of this boot, the same one for every process. Never jumps."""
    return time.monotonic_ns() // 1_000_000


def boot_ms() -> int:
    """When this boot began, in milliseconds since 1970, by the clock of people as it is set now."""
    # The first one counts while the machine is suspended, where there is such a clock.
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return now_ms() - time.clock_gettime_ns(clock) // 1_000_000


def is_of_this_boot(recorded_id: str, at: int) -> bool:
    """Whether something was recorded in this boot. Where the system names none, its time says so."""
    named = boot_id()
    return recorded_id == named if named else at >= boot_ms()


def boot_id() -> str:
    """What tells this boot from every other one; empty where the system does not say."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    except OSError:
        return ""
