"""Other processes: which there are, whose children they are, and how to signal one that is certainly the one seen.

A process id says nothing by itself, since it is given out again; `Seen` carries when the process was started too.
Linux only: elsewhere `all` fails, and only the command's process group is known.
"""

import errno
import os
import signal
from collections import namedtuple
from collections.abc import Callable

from . import limits
from .job_files import TASK_VARIABLE

SUPERVISOR = (
    "import sys; path, job, id, alive = sys.argv[1:]; sys.path.append(path); "
    "from backburner_host.supervisor import main; main(job, id, int(alive))"
)
"""The program that a supervisor is: one is told by it and the words behind it."""

Seen = namedtuple("Seen", "pid parent group start_ticks")
"""A process that had not ended when it was seen: its id, its parent's, its group, when the kernel started it."""


_UNSEEN = (FileNotFoundError, ProcessLookupError, PermissionError)
"""What the system says of a process that has ended, or is hidden. Anything else says nothing of it, say that this
process has too many files open."""


def are_listed() -> bool:
    """Whether this system lists its processes."""
    return os.path.exists("/proc/self/stat")


def all() -> list[Seen]:
    """Every process that has not ended. Raises `OSError` where the system does not list them, or cannot now."""
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    found = [seen for pid in pids if (seen := look(pid))]
    if not found:
        raise OSError(errno.ENOSYS, "processes are not listed here")
    return found


def look(pid: int) -> Seen | None:
    """One process; `None` where it has ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The name before the last parenthesis may hold anything.
            fields = file.read().rpartition(b")")[2].split()
    except _UNSEEN:
        return None
    if len(fields) < 20 or fields[0] in (b"Z", b"X"):
        return None
    return Seen(pid, int(fields[1]), int(fields[2]), int(fields[19]))


def descendants(roots: list[int]) -> list[Seen]:
    """Every process below one of `roots`."""
    return _below(all(), roots)


def _below(everything: list[Seen], roots: list[int]) -> list[Seen]:
    found, known = [], list(roots)
    for parent in known:
        below = [seen for seen in everything if seen.parent == parent and seen.pid not in known]
        known += [seen.pid for seen in below]
        found += below
    return found


def send(seen: Seen, number: int) -> None:
    """Signal the process that was seen, and no other that got its id since."""
    if seen.pid <= 1:
        return
    try:
        descriptor = os.pidfd_open(seen.pid)
    except OSError:
        return
    try:
        now = look(seen.pid)
        if now is not None and now.start_ticks == seen.start_ticks:
            signal.pidfd_send_signal(descriptor, number)
    except OSError:
        # Ended, or another user's by now: both show at the next look.
        pass
    finally:
        os.close(descriptor)


def freeze_and_kill(find: Callable[[], list[Seen]]) -> list[Seen]:
    """Stop every process that `find` gives until it finds no new one, and then kill them all.

    A stopped process cannot fork, so what is found after the last round has no children that were missed.
    """
    frozen: list[Seen] = []
    for _round in range(limits.FREEZE_ROUNDS):
        known = {(seen.pid, seen.start_ticks) for seen in frozen}
        fresh = [seen for seen in find() if (seen.pid, seen.start_ticks) not in known]
        if not fresh:
            break
        for seen in fresh:
            send(seen, signal.SIGSTOP)
        frozen += fresh
    for seen in frozen:
        send(seen, signal.SIGKILL)
    return frozen


def remains(job_id: str, command: dict | None) -> list[Seen]:
    """What provably belongs to a job: its supervisor, its processes with what descends from them, the command's group.

    This process may be among them.
    """
    mark = f"{TASK_VARIABLE}={job_id}".encode()
    started = (command["pid"], command["start_ticks"]) if command else None
    everything = all()
    proven = [
        seen
        for seen in everything
        if (seen.pid, seen.start_ticks) == started
        or _supervises(seen.pid, job_id)
        or mark in _words(seen.pid, "environ")
    ]
    if started and any(seen.group == started[0] for seen in proven):
        proven += [seen for seen in everything if seen.group == started[0] and seen not in proven]
    return proven + _below(everything, [seen.pid for seen in proven])


def has_supervisor(job_id: str) -> bool:
    """Whether a job has a supervisor."""
    return bool(_supervisors(all(), job_id))


def is_starting(job_id: str) -> bool:
    """Whether a job has a supervisor, which has started nothing."""
    everything = all()
    supervisors = _supervisors(everything, job_id)
    return bool(supervisors) and not _below(everything, [seen.pid for seen in supervisors])


def tell_supervisor(job_id: str, likely: int | None) -> bool:
    """Send a job's supervisor, which listens by now, SIGTERM. Whether there is one.

    Where the process `likely` is one, no other is looked for: that takes long where there are many processes.
    """
    seen = look(likely) if likely is not None and _supervises(likely, job_id) else None
    # Not what it has forked to become the command, which has its words until then, and would end unseen.
    told = [seen for seen in ([seen] if seen else _supervisors(all(), job_id)) if _leads_session(seen.pid)]
    for seen in told:
        send(seen, signal.SIGTERM)
    return bool(told)


def _leads_session(pid: int) -> bool:
    try:
        return os.getsid(pid) == pid
    except ProcessLookupError:
        return False


def _supervisors(everything: list[Seen], job_id: str) -> list[Seen]:
    return [seen for seen in everything if _supervises(seen.pid, job_id)]


def _supervises(pid: int, job_id: str) -> bool:
    words = _words(pid, "cmdline")
    # What `SUPERVISOR` is followed by: where this program is, the job's directory and id, a descriptor.
    return SUPERVISOR.encode() in words[-6:-5] and words[-3:-2] == [job_id.encode()]


def _words(pid: int, what: str) -> list[bytes]:
    """What the system shows of a process as words that end with a NUL, with an empty one at the end.

    None where it has ended, or is hidden.
    """
    try:
        with open(f"/proc/{pid}/{what}", "rb") as file:
            return file.read().split(b"\0")
    except _UNSEEN:
        return []


def command_line(pid: int) -> str:
    """What to call a process: its command line, or its name in brackets where it has none."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read(4 * limits.COMMAND_LINE_CHARS).replace(b"\0", b" ")
        if not words.strip():
            with open(f"/proc/{pid}/comm", "rb") as file:
                words = b"[" + file.read().strip() + b"]"
    except OSError:
        return ""
    return words.decode(errors="replace").rstrip()[: limits.COMMAND_LINE_CHARS]
