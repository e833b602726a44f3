"""Jobs as directories and supervised processes.

A job is a directory, `jobs/<id>`, and a supervisor (module `supervisor`): a Python process of its own, detached from
the server that asked for it. There is no daemon. Servers and supervisors find each other through the directory, and
what is in it is said in module `job_files`.
"""

import asyncio
import dataclasses
import errno
import itertools
import os
import re
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from . import capabilities as cap
from . import job_files, limits, output, processes, questions, report
from .burial import bury, ended
from .clock import is_of_this_boot, monotonic_ms, now_ms
from .job_files import STOP_CAUSES, Damaged, JobFiles, Newer, TooLong, is_natural, jobs_directory, sync

_HALF = re.compile("[\ud800-\udfff]")
"""A half of a pair that is one character in UTF-16."""

_ENDS = {"exited": cap.Exited, "signalled": cap.Signalled, "not-started": cap.NotStarted, "lost": cap.Lost}


class SupervisedJobs:
    """Jobs in `jobs`, below one directory. Any number of these, in any number of processes, may use the same one.

    Every method blocks for a few system calls and files; `start` for the creation of a process; and whatever looks at a
    job whose supervisor was killed, or cannot be reached, until what is left of it has disappeared: for
    `LAST_INSTANT_SECONDS` and `BURIAL_SECONDS` at most.
    """

    def __init__(self, data: Path):
        """Open the jobs of the data directory, and clear away what a crash left half built or half deleted."""
        self._path = Path(jobs_directory(str(data.absolute())))
        self._workshop = self._path / ".workshop"
        if os.path.lexists(self._workshop) and not _is_real_directory(self._workshop):
            # What somebody put in its place: behind a link everything would be taken for rubbish.
            self._workshop.unlink(missing_ok=True)
        self._workshop.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._numbers = itertools.count()
        # The short-lived processes that supervisors are forked from.
        self._starters: list[int] = []
        self._tidy()

    def start(self, id: str, spec: cap.Spec) -> None:
        spec = _complete(spec)
        self._reap()

        with ExitStack() as held:
            # Held before anybody can know the job, so that it never looks dead before it lives.
            alive = self._furnish(id, spec, held)
            try:
                self._starters.append(self._spawn_supervisor(id, alive))
            except OSError as error:
                self._remove(id)
                raise cap.StartError("other", f"the job's supervisor cannot be started: {error}") from error

    def stop(self, id: str, reason: str) -> None:
        with _failures(id, "stopped"):
            while True:
                files = self._find(id)
                if files is None:
                    if self._establish(id, lambda files: _never_started(files, reason)):
                        return sync(str(self._path))
                    # Somebody started it since we looked: look again.
                    continue
                if files.is_alive():
                    files.request_stop(reason)
                    if _wake(id, files):
                        return
                # It has ended, or nobody else will end what is left of it.
                self._look(id, files)
                return

    def inspect(self, id: str) -> cap.Progress | cap.Outcome | None:
        self._reap()
        with _failures(id, "inspected"):
            files = self._find(id)
            return None if files is None else self._look(id, files)

    def answer(self, id: str, key: str, answer: str) -> None:
        with _failures(id, "answered"):
            if len(answer.encode()) > limits.ANSWER_BYTES_MAX:
                raise ValueError(f"an answer may have {limits.ANSWER_BYTES_MAX} bytes")
            files = self._find(id)
            if files is not None and files.is_alive():
                questions.answer(files.path, key, answer)

    def enter(self, id: str, key: str, line: str | None) -> None:
        """Do nothing: a job that wants a terminal is refused."""

    def read(self, id: str, offset: int, limit: int) -> list[cap.Fragment]:
        with _failures(id, "read"):
            files = self._find(id)
            if files is None:
                return []
            limit = max(1, min(limit, limits.READ_BYTES_MAX))
            return [cap.Fragment(*run) for run in output.read(files.path, offset, limit, files.is_alive())]

    def forget(self, id: str) -> None:
        if isinstance(self.inspect(id), cap.Progress):
            raise cap.JobsFailure(f"job {id} cannot be deleted: it runs; stop it first")
        with _failures(id, "deleted"):
            self._remove(id)

    async def ended(self, id: str) -> None:
        files = self._find(id)
        fifo = files.watch_alive() if files else None
        if fifo is None:
            return
        try:
            while not job_files.is_at_end(fifo):
                await _readable(fifo)
                if not job_files.is_at_end(fifo):
                    # The job writes there.
                    await asyncio.sleep(limits.SHORTEST_WAIT_SECONDS)
        finally:
            os.close(fifo)

    def _find(self, id: str) -> JobFiles | None:
        path = self._path / id
        if not _is_real_directory(path):
            # What somebody put in its place is nobody's job, and nothing could be put there.
            with suppress(FileNotFoundError):
                path.rename(self._unique("damaged", id))
            return None
        # The job may have closed it, and then nobody could end or delete it. Where that fails, so does what it is for.
        if path.stat().st_mode & stat.S_IRWXU != stat.S_IRWXU:
            with suppress(OSError):
                path.chmod(0o700)
        return JobFiles(str(path))

    def _furnish(self, id: str, spec: cap.Spec, held: ExitStack) -> int:
        """Make the job known, and give what makes it count as running, which `held` lets go of."""

        def furnish(files: JobFiles) -> None:
            files.furnish(dataclasses.asdict(spec))
            held.callback(os.close, alive := files.hold_alive())
            kept.append(alive)

        kept: list[int] = []
        try:
            if not self._establish(id, furnish):
                raise cap.StartError("already-known", "this id was started or stopped before")
        except TooLong as error:
            detail = f"the job takes {error}; pass what is long in a file"
            raise cap.StartError("bad-spec", detail) from error
        except OSError as error:
            kind = "no-space" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "other"
            raise cap.StartError(kind, f"the job's files cannot be written: {error}") from error
        return kept[0]

    def _establish(self, id: str, furnish: Callable[[JobFiles], None]) -> bool:
        """Build a directory and make it the job's in one step, which succeeds for one caller only.

        This is what makes an id start at most once, whoever asks and whoever is killed. False where it is known.
        """
        building = self._unique("new", id)
        building.mkdir(mode=0o700)
        try:
            furnish(JobFiles(str(building)))
            # One that its job has emptied would be replaced.
            if (self._path / id).is_dir():
                raise FileExistsError(errno.EEXIST, "the job is known")
            building.rename(self._path / id)
            return True
        except (OSError, TooLong) as error:
            _delete(building)
            # Nor is one replaced that is not empty.
            if isinstance(error, OSError) and error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                return False
            raise

    def _spawn_supervisor(self, id: str, alive: int) -> int:
        here = Path(__file__).resolve().parent.parent
        # Isolated and without `site`: a supervisor needs the standard library alone and starts in half the time.
        words = [sys.executable, "-I", "-S", "-c", processes.SUPERVISOR, here, self._path / id, id, str(alive)]
        devnull = subprocess.DEVNULL
        starter = subprocess.Popen(
            words, pass_fds=[alive], stdin=devnull, stdout=devnull, stderr=devnull, start_new_session=True
        )
        # Not waited for here, and not by Popen either: its status tells nothing.
        starter.returncode = 0
        return starter.pid

    def _reap(self) -> None:
        """Take leave of the starters that have ended, so that they do not stay in the process table."""
        self._starters = [pid for pid in self._starters if not _has_ended(pid)]

    def _look(self, id: str, files: JobFiles) -> cap.Progress | cap.Outcome:
        """What is known of a job. Ends what is left of one that nobody else will end."""
        # In this order: an outcome is written while the supervisor lives, so one that is missing after its death will
        # never come.
        if files.is_alive():
            progress = _progress(files)
            # A request is as good as heard, unless somebody else took the wake-up: every look gives another one.
            if progress.stopping is None or _wake(id, files):
                return progress
            # Where it has no supervisor, a process of the job holds `alive`: it looks as after the supervisor's death.
            if not files.is_gone_soon():
                if not processes.are_listed() or processes.has_supervisor(id):
                    files.disown_outcome()
                else:
                    _right_outcome(files)
                return _buried(id, files)
        return _right_outcome(files) or _buried(id, files)

    def _remove(self, id: str) -> None:
        """Take a job's directory away in one step, so that the id is unknown, and then delete it."""
        gone = self._unique("gone", id)
        try:
            (self._path / id).rename(gone)
        except FileNotFoundError:
            return
        _delete(gone)

    def _unique(self, what: str, id: str) -> Path:
        return self._workshop / f"{what}-{id}-{os.getpid()}-{next(self._numbers)}"

    def _tidy(self) -> None:
        # What a job has left there must keep no server from its start.
        with suppress(OSError):
            for entry in list(os.scandir(self._workshop)):
                # Where that fails, somebody else is clearing it away.
                with suppress(OSError):
                    is_old = time.time() - entry.stat(follow_symlinks=False).st_mtime > limits.STALE_SECONDS
                    if is_old and not JobFiles(entry.path).is_alive():
                        _delete(entry.path)


def _right_outcome(files: JobFiles) -> cap.Outcome | None:
    """The outcome that a job's supervisor left, or `None`: one that is damaged is taken away."""
    try:
        found = files.outcome()
        return None if found is None else _outcome(found)
    except Damaged:
        # Nothing else: what cannot be read now, or not by this version, is right all the same.
        files.discard_outcome(_is_outcome)
        return None


def _delete(directory: str | Path) -> None:
    """Delete a directory with all that is in it. What cannot be deleted stays: it is in nobody's way.

    Directories below others are moved up first: a job may have made more of them than a recursion has levels, a path
    letters, or a process descriptors. No link is followed.
    """
    found, unique = [os.fspath(directory)], job_files.unique()
    # It grows meanwhile.
    for path in found:
        with suppress(OSError):
            if not stat.S_ISDIR(os.lstat(path).st_mode):
                os.unlink(path)
                continue
            _open_up(path)
            opened = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                found.extend(_emptied(opened, path, found[0], f"{unique}-{len(found)}"))
            finally:
                os.close(opened)
    for path in reversed(found):
        with suppress(OSError):
            os.rmdir(path)


def _emptied(opened: int, path: str, top: str, unique: str) -> list[str]:
    """Delete all files of a directory, and give where its directories are then: in the one at the top."""
    left = []
    for name in os.listdir(opened):
        with suppress(OSError):
            if not stat.S_ISDIR(os.stat(name, dir_fd=opened, follow_symlinks=False).st_mode):
                os.unlink(name, dir_fd=opened)
            elif path == top:
                left.append(os.path.join(top, name))
            else:
                # One that is closed cannot be moved.
                _open_up(name, opened)
                moved = os.path.join(top, f"{unique}-{len(left)}")
                os.rename(name, moved, src_dir_fd=opened)
                left.append(moved)
    return left


def _open_up(name: str, directory: int | None = None) -> None:
    """Let the owner of a directory do everything with it, which a job may have taken away."""
    with suppress(OSError):
        os.chmod(name, 0o700, dir_fd=directory)


async def _readable(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    readable = loop.create_future()
    try:
        loop.add_reader(descriptor, lambda: readable.done() or readable.set_result(None))
        await readable
    finally:
        loop.remove_reader(descriptor)


def _is_real_directory(path: Path) -> bool:
    """Whether this is a directory and no link to one, behind which there may be what is somebody else's."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except FileNotFoundError:
        return False


def _has_ended(child: int) -> bool:
    try:
        return os.waitpid(child, os.WNOHANG)[0] == child
    except ChildProcessError:
        # Somebody else in this process waits for all children.
        return True


def _complete(spec: cap.Spec) -> cap.Spec:
    """Make a spec the whole truth, or raise what is wrong with it."""
    if spec.interactive:
        raise cap.StartError(
            "bad-spec",
            "this host has no terminals; leave out `interactive`, and give the command what it asks by `stdin`",
        )
    words = [spec.command] if isinstance(spec.command, str) else spec.command
    if any("\0" in word for word in words):
        raise cap.StartError("bad-spec", "a command cannot contain a NUL character; remove it")
    if not words or (isinstance(spec.command, list) and not words[0]):
        raise cap.StartError("bad-spec", "the name of the program is missing")
    for name, value in spec.environment:
        if not re.fullmatch("[^=\0]+", name):
            raise cap.StartError("bad-spec", "the name of an environment variable is empty or contains = or NUL")
        if "\0" in value:
            # The value may be a secret: name the variable only.
            raise cap.StartError("bad-spec", f"the value of the environment variable {name} contains NUL")
    directory = _own_directory() if spec.directory is None else spec.directory
    _check_directory(directory)
    return dataclasses.replace(spec, directory=directory)


def _own_directory() -> str:
    try:
        return os.getcwd()
    except OSError as error:
        raise cap.StartError("bad-directory", "the server's own directory is gone; name another one") from error


def _check_directory(path: str) -> None:
    """The directory may change until the command starts in it; the supervisor says so then."""
    if not os.path.isabs(path) or "\0" in path:
        raise cap.StartError("bad-spec", f"the directory {path} is not an absolute path; give it in full")
    try:
        is_directory = stat.S_ISDIR(os.stat(path).st_mode)
    except FileNotFoundError:
        raise cap.StartError(
            "bad-directory", f"the directory {path} does not exist; create it or name another one"
        ) from None
    except NotADirectoryError:
        is_directory = False
    except OSError as error:
        raise cap.StartError("bad-directory", f"the directory {path} cannot be used: {error}") from error
    if not is_directory:
        raise cap.StartError("bad-directory", f"{path} is not a directory; name a directory")
    if not os.access(path, os.X_OK):
        raise cap.StartError(
            "bad-directory", f"the directory {path} may not be entered; change its permissions or name another one"
        )


def _never_started(files: JobFiles, reason: str) -> None:
    files.conclude(ended({"lost": {"kind": "never-started"}}, now_ms(), reason))


def _wake(id: str, files: JobFiles) -> bool:
    """Make the supervisor look for a request to stop. Whether it will."""
    heard = files.wake()
    if heard == job_files.NOBODY or not processes.are_listed():
        return heard != job_files.NOBODY
    # What listens, and what holds `alive`, may be a process of the job in the supervisor's place. A signal reaches a
    # supervisor that lives all the same.
    if heard == job_files.SOMEBODY:
        return processes.tell_supervisor(id, files.supervisor())
    return processes.is_starting(id)


def _buried(id: str, files: JobFiles) -> cap.Progress | cap.Outcome:
    """What is known of a job when what is left of it was killed: that it runs as long as that has not disappeared."""
    found = bury(id, files, _is_outcome)
    return _progress(files) if found is None else _outcome(found)


def _progress(files: JobFiles) -> cap.Progress:
    started_at, running_ms = _duration(files)
    written, _dropped, last_at = output.usage(files.path)
    return cap.Progress(
        started_at=started_at,
        running_ms=running_ms,
        output_bytes=written,
        last_output_at=last_at,
        stopping=files.stop_cause(),
        questions=questions.all_open(files.path),
        report=report.read(files.path),
    )


def _duration(files: JobFiles) -> tuple[int, int]:
    """Since when a job runs, and how long that is. It runs all the same where the record of it cannot be read."""
    try:
        origin = files.undamaged_origin()
    except (OSError, Newer):
        # Its supervisor has read it long ago.
        origin = None
    if origin is None:
        made_at = files.made_at()
        return made_at, max(0, now_ms() - made_at)
    # The clock of people was set back, or the job wrote something else there.
    is_same_boot = is_of_this_boot(origin["boot_id"], origin["started_at"])
    return origin["started_at"], max(0, monotonic_ms() - origin["monotonic_ms"]) if is_same_boot else 0


def _outcome(found: dict) -> cap.Outcome:
    """An outcome as the contract has it.

    Raises `Damaged` for what is none: any process of the job may have written it, and the component could not take it.
    """
    try:
        ((tag, payload),) = found["end"].items()
        leftovers = [cap.Process(**process) for process in found["leftovers"]]
        outcome = cap.Outcome(**found | {"end": _ENDS[tag](**payload), "leftovers": leftovers})
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise Damaged(f"this is no outcome: {error!r}") from error
    if not _is_sound(outcome):
        raise Damaged("an outcome has other members")
    return outcome


def _is_outcome(found: dict) -> bool:
    try:
        return _outcome(found) is not None
    except Damaged:
        return False


def _is_sound(it: cap.Outcome) -> bool:
    numbers = [it.started_at, it.ended_at, it.duration_ms, it.output_bytes, it.dropped_bytes]
    match it.end:
        case cap.Exited(code):
            is_end = is_natural(code, 255)
        case cap.Signalled(name, core_dumped):
            is_end = _is_text(name, limits.SIGNAL_NAME_CHARS) and isinstance(core_dumped, bool)
        case cap.NotStarted(detail):
            is_end = _is_text(detail, limits.DETAIL_CHARS)
        case cap.Lost(kind):
            is_end = kind in ("supervisor", "machine", "files", "never-started")
    is_stopped = it.stopped is None or it.stopped in STOP_CAUSES
    are_few = len(it.leftovers) <= limits.LEFTOVERS_MAX
    are_numbers = all(map(is_natural, numbers)) and it.dropped_bytes <= it.output_bytes
    return is_end and is_stopped and are_few and all(map(_is_process, it.leftovers)) and are_numbers


def _is_process(it: cap.Process) -> bool:
    return is_natural(it.pid, (1 << 32) - 1) and _is_text(it.command, limits.COMMAND_LINE_CHARS)


def _is_text(it: object, characters_max: int) -> bool:
    """Whether this is a text of at most so many characters. JSON may have halves of some, which no text has."""
    return isinstance(it, str) and len(it) <= characters_max and not _HALF.search(it)


@contextmanager
def _failures(id: str, what: str) -> Iterator[None]:
    """Turn what the system and damaged files raise into what the contract says."""
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise cap.JobsFailure(f"job {id} cannot be {what}: {error}") from error
