"""The directory of one job: what is written in it, by whom, and how it is read.

| name | what it is |
|---|---|
| `spec.json` | when and in which boot the job was asked for, and what to run |
| `alive` | a FIFO that the supervisor holds open for as long as it lives |
| `control` | a FIFO; a byte in it makes the supervisor stop the job, for the cause in `stop` |
| `found` | a link: something of the job ran although its files said otherwise |
| `stop` | a symbolic link whose target is the cause: one atomic step, and the first one wins |
| `command.json` | which processes the command and the supervisor are, and which inode `control` is |
| `out-…`, `idx-…` | the output and what belongs to whom, see module `output` |
| `outcome.json` | how it ended; there from before the supervisor ends, and never changed |
| `outcome.damaged-…` | what was in the place of that, and could not be understood |
| `outcome.disowned-…` | the same, written by the job while its supervisor lived |
| `questions/`, `report.json` | what the job's own processes ask and say, see modules `questions` and `report` |
| `supervisor.log` | only where the supervisor failed: why |

Liveness is the FIFO and never a process id: the kernel closes it with the last of the supervisor, whatever ended it,
and a reader's end of file is a wake-up. Imported by supervisors, which have to start fast: little is imported here.

Any process of the job may have put anything in the place of a file: a FIFO that nobody writes into, a link, a device, a
file without an end. So what is read is opened by `open_file`, and up to a limit; what is written is made anew by
`create`. Neither waits or follows.
"""

import errno
import io
import json
import os
import select
import stat
import time
from collections.abc import Callable
from contextlib import suppress

from . import limits
from .clock import boot_id, monotonic_ms, now_ms

FORMAT = 1
"""The version of everything that is written here."""

TASK_VARIABLE = "BACKBURNER_TASK_ID"
"""Every process of a job has this variable, with the job's id: what is left of a lost job is found by it."""

STOP_CAUSES = ("timed-out", "cancelled", "expired", "shut-down")
"""Why a job is to stop, or was stopped."""

SOMEBODY, NOBODY_YET, NOBODY = "somebody", "nobody yet", "nobody"
"""Who hears a wake-up: whoever listens, a supervisor that is still to come, or none since somebody took away what it
listens to."""

DATA_VARIABLE = "BACKBURNER_DIR"
"""The data directory: what the server takes where nothing else names one, and where a job's processes find the job."""


class Damaged(ValueError):
    """A file is not what was written as it."""


class TooLong(ValueError):
    """What was to be written is longer than anybody reads."""


class Newer(ValueError):
    """A newer version of this program wrote a file, and only such a one can read it."""


def jobs_directory(data: str) -> str:
    """Where the jobs of a data directory are, each in a directory that is called as its id."""
    return os.path.join(data, "jobs")


class JobFiles:
    """The files of one job, in the directory `path`."""

    def __init__(self, path: str):
        self.path = path

    def furnish(self, spec: dict) -> None:
        """Write what a job needs before it is known. Raises `TooLong` where that is."""
        origin = {"started_at": now_ms(), "monotonic_ms": monotonic_ms(), "boot_id": boot_id()}
        self._write("spec.json", {"origin": origin, "spec": spec})
        os.mkfifo(self._name("alive"), 0o600)
        os.mkfifo(self._name("control"), 0o600)

    def origin(self) -> dict:
        """When and in which boot the job was asked for."""
        return self._read("spec.json")["origin"]

    def undamaged_origin(self) -> dict | None:
        """As `origin`; `None` where somebody deleted, closed or damaged the record of that.

        Raises `Newer`, or the `OSError` of a system that cannot read now: that is no damage.
        """
        try:
            origin = self.origin()
            are_natural = is_natural(origin["started_at"]) and is_natural(origin["monotonic_ms"])
            return origin if are_natural and isinstance(origin["boot_id"], str) else None
        except (FileNotFoundError, Damaged, KeyError, TypeError):
            return None

    def has_fifos(self) -> bool:
        """Whether both are there: without `alive` a supervisor looks dead, and without `control` it hears nothing."""
        return self._fifo("alive") is not None and self._fifo("control") is not None

    def is_listened_to(self) -> bool:
        """Whether somebody reads `control`, as a supervisor does for as long as it lives."""
        return wake(self._name("control"), b"")

    def made_at(self) -> int:
        """When the job was asked for as far as its directory shows: for where the record of that was damaged."""
        # In the FIFO's place the directory shows when it last changed. Not the time of the last writing, which a
        # process of the job can set to one before this boot: this one it can only set to the present.
        return max(0, (self._fifo("alive") or os.stat(self.path)).st_ctime_ns // 1_000_000)

    def spec(self) -> dict:
        """What to run."""
        return self._read("spec.json")["spec"]

    def hold_alive(self) -> int:
        """A descriptor that makes the job count as running for as long as anybody has it."""
        # For reading too, since a FIFO that nobody reads cannot be opened for writing without waiting.
        return os.open(self._name("alive"), os.O_RDWR | os.O_CLOEXEC)

    def watch_alive(self) -> int | None:
        """A descriptor that is readable when the supervisor has ended; `None` where it has, or never was.

        Ask this first: only when it is dead does an outcome, or that there is none, mean anything. One whose FIFO
        somebody took away or replaced looks dead too, so whoever buries its job looks for it among the processes.
        """
        try:
            fifo = open_fifo(self._name("alive"), os.O_RDONLY)
        except (FileNotFoundError, Damaged):
            return None
        try:
            is_dead = is_at_end(fifo)
        except BaseException:
            os.close(fifo)
            raise
        if is_dead:
            os.close(fifo)
        return None if is_dead else fifo

    def is_alive(self) -> bool:
        """Whether the supervisor lives."""
        fifo = self.watch_alive()
        if fifo is not None:
            os.close(fifo)
        return fifo is not None

    def is_gone_soon(self) -> bool:
        """Wait until a supervisor that seemed to live is gone, which it soon is in its last instant. Whether it is."""
        give_up_at = time.monotonic() + limits.LAST_INSTANT_SECONDS
        while (fifo := self.watch_alive()) is not None:
            try:
                left = give_up_at - time.monotonic()
                if left <= 0:
                    return False
                poll = select.poll()
                poll.register(fifo, select.POLLIN)
                poll.poll(left * 1000)
            finally:
                os.close(fifo)
        return True

    def open_control(self) -> int:
        """The supervisor's end of `control`, which is never at end of file."""
        return os.open(self._name("control"), os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)

    def request_stop(self, cause: str) -> str:
        """Record why the job is to stop, and give the cause in force: the first that was recorded."""
        try:
            os.symlink(cause, self._name("stop"))
        except FileExistsError:
            return self.stop_cause() or cause
        return cause

    def stop_cause(self) -> str | None:
        """Why the job is to stop; `None` where nobody asked for it.

        Whatever else is in the place of that cancels it: a process of the job put it there, and nobody else could stop
        the job any more.
        """
        try:
            cause = os.readlink(self._name("stop"))
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            # It is no link.
            cause = ""
        return cause if cause in STOP_CAUSES else "cancelled"

    def wake(self) -> str:
        """Make the supervisor look for a request. Gives who has heard that, as far as the files tell."""
        try:
            fifo = open_fifo(self._name("control"), os.O_WRONLY)
        except (FileNotFoundError, Damaged):
            return NOBODY
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            # The supervisor will look for a request once it has it open, which it has before it starts the command:
            # afterwards it listens to another one.
            return NOBODY_YET if self._fifo("control") is not None and self.command() is None else NOBODY
        try:
            known = (self.command() or {}).get("control")
            # One that somebody else put there, and listens to.
            if known is not None and known != os.fstat(fifo).st_ino:
                return NOBODY
            _write_wakeup(fifo, b"!")
        finally:
            os.close(fifo)
        return SOMEBODY

    def record_command(self, pid: int, start_ticks: int, control: int) -> None:
        """Record which process the command is, that this one is its supervisor, and which inode that listens to."""
        command = {"pid": pid, "start_ticks": start_ticks, "supervisor": os.getpid(), "control": control}
        self._write("command.json", command)

    def command(self) -> dict | None:
        """Which process the command is, if that was recorded; half a record is none."""
        try:
            command = self._read("command.json")
        except (FileNotFoundError, ValueError):
            return None
        pid = command.get("pid")
        # No command is the first process, and 0 is none.
        is_whole = is_natural(pid) and pid > 1 and is_natural(command.get("start_ticks"))
        return command if is_whole else None

    def supervisor(self) -> int | None:
        """Which process the supervisor says that it is, if that was recorded."""
        pid = (self.command() or {}).get("supervisor")
        return pid if is_natural(pid) else None

    def mark_found(self) -> None:
        """Leave word that something of the job ran although its files say otherwise: who looks later finds nothing."""
        try:
            os.symlink("found", self._name("found"))
        except FileExistsError:
            pass

    def was_found(self) -> bool:
        """Whether something of the job ran although its files said otherwise."""
        return os.path.islink(self._name("found"))

    def outcome(self) -> dict | None:
        """How the job ended, if that is known. Raises `Damaged` where somebody damaged the file."""
        try:
            return self._read("outcome.json")
        except FileNotFoundError:
            return None

    def replace_outcome(self, outcome: dict) -> None:
        """As `conclude`, by the supervisor of a job that ran: what is there in its place was written by the job.

        Also what says that the job is lost: who takes a supervisor for dead kills it before they write that.
        """
        with suppress(FileNotFoundError):
            os.rename(self._name("outcome.json"), self._name(f"outcome.disowned-{unique()}"))
        self.conclude(outcome)

    def disown_outcome(self) -> None:
        """Move an outcome out of the way that was there when the supervisor was seen to live: the job has written it.

        Not a loss, where one of us has killed that supervisor since: they had found it, and noted that.
        """
        self._discard_outcome("disowned", lambda outcome: is_loss(outcome) and self.was_found())

    def discard_outcome(self, is_right: Callable[[dict], bool]) -> None:
        """Move an outcome that is not `is_right` out of the way, whatever it is. That there was one stays known."""
        self._discard_outcome("damaged", is_right)

    def _discard_outcome(self, why: str, is_right: Callable[[dict], bool]) -> None:
        """Several processes may do this at once."""
        path, aside = self._name("outcome.json"), self._name(f"outcome.{why}-{unique()}")
        # Not moved before it was looked at: whoever looks meanwhile must not miss one that is right.
        if _is_record(path, is_right):
            return
        try:
            os.rename(path, aside)
        except FileNotFoundError:
            return
        if _is_record(aside, is_right):
            # Another process has written it meanwhile, and somebody may have been told.
            link(aside, path)
            remove(aside)

    def has_discarded_outcomes(self) -> bool:
        """Whether there was an outcome that somebody had damaged."""
        return bool(self._discarded_outcomes())

    def restore_outcome(self, is_right: Callable[[dict], bool]) -> None:
        """Give an outcome its name back that one of us has moved away by mistake, and not given back so far."""
        for aside in self._discarded_outcomes():
            if _is_record(aside, is_right):
                link(aside, self._name("outcome.json"))

    def _discarded_outcomes(self) -> list[str]:
        return [self._name(name) for name in os.listdir(self.path) if name.startswith("outcome.damaged-")]

    def conclude(self, outcome: dict) -> None:
        """Write the outcome, unless there is one; power-safe on return. Several processes may do this at once."""
        # Another one each time, which the job cannot have taken.
        name = f"outcome-{unique()}"
        try:
            self._write(name, outcome)
            sync(self._name(name))
            link(self._name(name), self._name("outcome.json"))
        finally:
            remove(self._name(name))
        sync(self.path)

    def log(self, text: str) -> None:
        """Leave a trace for whoever looks into the directory; a supervisor has no other place to complain."""
        with open(create(self._name("supervisor.log")), "w") as file:
            file.write(text)

    def _fifo(self, name: str) -> os.stat_result | None:
        """What the system says of a FIFO; `None` where there is none of this name that may be read."""
        try:
            found = os.lstat(self._name(name))
        except FileNotFoundError:
            return None
        return found if stat.S_ISFIFO(found.st_mode) and not _is_closed(found, os.O_RDONLY) else None

    def _name(self, name: str) -> str:
        return os.path.join(self.path, name)

    def _write(self, name: str, content: dict) -> None:
        write_record(self._name(name), content)

    def _read(self, name: str) -> dict:
        return read_record(self._name(name), limits.RECORD_BYTES_MAX)


def is_loss(outcome: dict) -> bool:
    """Whether an outcome says that the job was lost."""
    end = outcome.get("end")
    return isinstance(end, dict) and "lost" in end


def open_file(path: str) -> io.BufferedReader:
    """Open a file for reading. Raises `Damaged` where its name is that of something else, or its mode forbids it."""
    return os.fdopen(_open_kind(path, os.O_RDONLY, stat.S_ISREG), "rb")


def open_fifo(path: str, access: int) -> int:
    """Open a FIFO, and never wait for it. Raises as `open_file`; `ENXIO` where nobody reads what is to be written."""
    return _open_kind(path, access, stat.S_ISFIFO)


def _open_kind(path: str, access: int, is_kind: Callable[[int], bool]) -> int:
    try:
        descriptor = os.open(path, access | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        # A link, a directory that is to be written, a socket.
        is_other = error.errno in (errno.ELOOP, errno.EISDIR) or (access, error.errno) == (os.O_RDONLY, errno.ENXIO)
        if is_other or (error.errno == errno.EACCES and _is_closed(os.lstat(path), access)):
            raise Damaged(f"{path} is something else, or closed") from error
        raise
    try:
        if not is_kind(os.fstat(descriptor).st_mode):
            raise Damaged(f"{path} is something else")
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _is_closed(found: os.stat_result, access: int) -> bool:
    """Whether a mode or an owner keeps us from what we have made so that neither does.

    That something may not be opened says less: a security module or the network's file system may refuse it, too.
    """
    needed = stat.S_IWUSR if access == os.O_WRONLY else stat.S_IRUSR
    return found.st_uid != os.geteuid() or not found.st_mode & needed


def is_at_end(fifo: int) -> bool:
    """Whether nobody has it open for writing.

    Takes what is in it: only a job writes there, and whoever waits for the end would be woken by that again and again.
    """
    try:
        # Not until it is empty: somebody may write faster than we read.
        return not all(os.read(fifo, limits.PIPE_READ_BYTES) for _round in range(limits.DRAIN_ROUNDS))
    except BlockingIOError:
        return False


def unique() -> str:
    """A part of a name that nobody else takes, and that nobody knows before."""
    return f"{os.getpid()}-{time.monotonic_ns()}"


def create(path: str) -> int:
    """Make a file for writing. What has its name is deleted: it is of nobody who still writes."""
    remove(path)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)


def remove(path: str) -> None:
    """Delete a file; one that is not there is no error."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def link(path: str, name: str) -> None:
    """Give a file another name, unless that is taken: in one step, and the first one stays."""
    try:
        os.link(path, name)
    except FileExistsError:
        pass


def write_record(path: str, content: dict) -> None:
    """Write a file with the number of its format, which is not synchronised.

    Raises `TooLong` where nobody would read it.
    """
    text = json.dumps({"format": FORMAT, "content": content}).encode()
    if len(text) > limits.RECORD_BYTES_MAX:
        raise TooLong(f"{len(text)} bytes as JSON, and {limits.RECORD_BYTES_MAX} are the most")
    with open(create(path), "wb") as file:
        file.write(text)


def read_record(path: str, limit_bytes: int) -> dict:
    """Read a file that any process of the job may have written or put there.

    Raises `Damaged` where it is no such record, or longer than that, `Newer`, or `OSError`.
    """
    with open_file(path) as file:
        text = file.read(limit_bytes + 1)
    if len(text) > limit_bytes:
        raise Damaged(f"{path} is longer than {limit_bytes} bytes")
    return _content(text)


def _is_record(path: str, is_right: Callable[[dict], bool]) -> bool:
    """Whether there is a record that `is_right`, or of which only a newer version can say that."""
    try:
        return is_right(read_record(path, limits.RECORD_BYTES_MAX))
    except (FileNotFoundError, Damaged):
        return False
    except Newer:
        return True


def _content(text: bytes) -> dict:
    """What is in a record. Raises `Damaged` or `Newer`."""
    try:
        numbered = json.loads(text.decode())
        # All that every format has.
        format = numbered["format"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise Damaged(f"this is no record: {error!r}") from error
    if is_natural(format) and format > FORMAT:
        raise Newer(f"a job's file has format {format}, and this version knows {FORMAT}; use a newer version")
    content = numbered.get("content")
    if format != FORMAT or not isinstance(content, dict):
        raise Damaged("a record has members")
    return content


NATURAL_MAX = (1 << 63) - 1
"""The greatest number in a record."""


def is_natural(value: object, most: int = NATURAL_MAX) -> bool:
    """Whether this is a whole number that is not negative, as a record has it. (Python counts `True` as one.)"""
    return type(value) is int and 0 <= value <= most


def modified_at(found: os.stat_result) -> int:
    """When what the system says this of was last written. Any process of the job may have set it to any time."""
    return min(max(0, found.st_mtime_ns // 1_000_000), NATURAL_MAX)


def wake(path: str, data: bytes = b"!") -> bool:
    """Wake whoever reads a FIFO, or with no data only look. Whether somebody reads it."""
    try:
        fifo = open_fifo(path, os.O_WRONLY)
    except (FileNotFoundError, Damaged):
        return False
    except OSError as error:
        if error.errno == errno.ENXIO:
            return False
        raise
    try:
        return _write_wakeup(fifo, data)
    finally:
        os.close(fifo)


def _write_wakeup(fifo: int, data: bytes) -> bool:
    """Whether somebody reads it."""
    try:
        os.write(fifo, data)
    except BlockingIOError:
        # Full of what is still to be read.
        pass
    except BrokenPipeError:
        # Dead meanwhile.
        return False
    return True


def sync(path: str) -> None:
    """Make what was written into a file or a directory survive a power failure."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
