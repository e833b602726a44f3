"""What is done about a job whose supervisor ended without an outcome, or cannot be reached since somebody deleted or
changed the job's files: kill what is left of it, and write that it is lost.

Several processes may do this at the same time, and each of them may be killed in the middle of it: no step depends on
being the only one, and the first outcome that is written stays.
"""

import os
import time
from collections.abc import Callable

from . import limits, output, processes
from .clock import boot_ms, is_of_this_boot, now_ms
from .job_files import JobFiles, is_loss

UNSEEN = (
    "somebody deleted or changed its files, and processes are not listed here, so nobody can tell whether it runs; see "
    "that it does not and delete its directory, or start the machine anew"
)
"""Why nobody can say whether a job runs."""

INSIDE = "its supervisor is gone, and this process is a part of it and runs; ask from outside of the job"
"""Why a job cannot be said to have ended by one of its own processes."""


def bury(id: str, files: JobFiles, is_outcome: Callable[[dict], bool]) -> dict | None:
    """Make sure that nothing of the job runs and that it has an outcome, which is given.

    `None` where something that was killed has not disappeared yet. `is_outcome` says whether a record is one. Raises
    `OSError` where nobody can tell whether it runs, and where this process is a part of it: the rest has been killed
    then.
    """
    origin, is_whole = files.undamaged_origin(), files.has_fifos()
    is_this_boot = origin is not None and is_of_this_boot(origin["boot_id"], origin["started_at"])
    # Any process of the job may have written that it is of another boot. Only the recorded number is a stranger's then.
    command = files.command() if is_this_boot else None
    if not processes.are_listed():
        if _may_run(files, is_whole=origin is not None and is_whole):
            raise OSError(UNSEEN)
    else:
        # A supervisor that lives holds another FIFO than the one that is there.
        is_expected = is_whole and is_this_boot and not processes.has_supervisor(id)
        if not _kill_everything(id, files, command, is_expected):
            return None
    was_found = files.was_found()
    if not was_found:
        # Somebody may have been told that. A supervisor that was found has not ended before, whatever the job says:
        # then a loss that one of us has moved away by mistake, and was killed in that moment, is written anew.
        files.restore_outcome(lambda outcome: is_loss(outcome) and is_outcome(outcome))
    are_damaged = origin is None or was_found or files.has_discarded_outcomes() or (is_this_boot and not is_whole)
    kind = "files" if are_damaged else "supervisor" if is_this_boot else "machine"
    files.conclude(_lost(files, kind, files.made_at() if origin is None else origin["started_at"]))
    return files.outcome()


def ended(end: dict, started_at: int, stopped: str | None) -> dict:
    """The outcome of a job of whose end nothing more is known."""
    unknown = {"duration_ms": 0, "output_bytes": 0, "dropped_bytes": 0, "leftovers": []}
    return {"started_at": started_at, "ended_at": now_ms(), "end": end, "stopped": stopped} | unknown


def _may_run(files: JobFiles, *, is_whole: bool) -> bool:
    """Whether neither its files nor the time prove that a job's supervisor has ended."""
    has_ended = is_whole and not files.is_alive() and not files.is_listened_to()
    return not has_ended and files.made_at() >= boot_ms()


def _lost(files: JobFiles, kind: str, started_at: int) -> dict:
    # What an outcome counts as kept would survive a power failure, as it would itself.
    refused = output.sync(files.path)
    written, dropped, _last_at = output.usage(files.path)
    counted = {"output_bytes": written, "dropped_bytes": min(written, dropped + refused)}
    return ended({"lost": {"kind": kind}}, started_at, files.stop_cause()) | counted


def _kill_everything(id: str, files: JobFiles, command: dict | None, is_expected: bool) -> bool:
    """Whether nothing is left of the job. That something was there is noted, unless it `is_expected`."""
    is_own = False

    def find() -> list[processes.Seen]:
        nonlocal is_own
        found = processes.remains(id, command)
        others = [seen for seen in found if seen.pid != os.getpid()]
        is_own = is_own or len(others) < len(found)
        if others and not is_expected:
            # Before the first signal: whoever looks afterwards finds nothing more.
            files.mark_found()
        return others

    give_up_at = time.monotonic() + limits.BURIAL_SECONDS
    while processes.freeze_and_kill(find):
        if time.monotonic() > give_up_at:
            return False
        time.sleep(0.005)
    if is_own:
        raise OSError(INSIDE)
    return True
