"""The process that accompanies one job from its start to its end.

Started anew for each job by `jobs`, detached from the server that asked for it, it knows its job's directory and its
descendants, and no server. What it promises is that there is an outcome exactly when nothing of the job runs any more.

It starts the command in a process group of its own, copies its output to disk, and stops it when its time is over or
somebody wants that: SIGTERM to the group and to every other descendant, after the grace SIGKILL to all of them until
there is none. What a command leaves behind when it ends by itself gets half a second to end too; then it is named in
the outcome and stopped in the same way. On Linux this process is a subreaper, so it sees every descendant until the
last has ended; elsewhere what leaves the command's group leaves the job.

One thread, one loop over `selectors`. Not asyncio, for two reasons: importing it takes four times as long as all the
rest, at every job; and its child watchers tell neither of a core dump nor of the end of adopted grandchildren.
"""

import errno
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable

from . import limits, processes
from .clock import monotonic_ms, now_ms
from .job_files import DATA_VARIABLE, TASK_VARIABLE, JobFiles
from .life import KILL, TERMINATE, WAIT, Life
from .output import Recorder

_PR_SET_CHILD_SUBREAPER = 36


def main(path: str, job_id: str, alive: int) -> None:
    """Accompany the job in the directory `path`; the descriptor `alive` keeps it counting as running."""
    files = JobFiles(path)
    # A person who tries this out must not start a job a second time.
    if not os.path.samestat(os.fstat(alive), os.stat(os.path.join(path, "alive"))):
        sys.exit("a supervisor is started by a server")
    # Once more, so that a client that kills its server with all children does not find the jobs among them.
    if os.fork() > 0:
        os._exit(0)
    try:
        _detach(alive)
        _accompany(files, job_id)
        # Before the system closes `control`: who sees this held and nobody who reads that takes the files for changed.
        os.close(alive)
        os._exit(0)
    except BaseException as error:
        files.log(f"the supervisor failed: {error!r}")
        raise


def _detach(alive: int) -> None:
    """Leave the session, the signals and the working directory of whoever started this process."""
    os.setsid()
    os.chdir("/")
    os.set_inheritable(alive, False)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        try:
            signal.signal(number, signal.SIG_DFL)
        except OSError:
            # One that the system's library keeps for itself.
            pass
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    # A command that does not read its input must not end us; Popen gives the command the default again.
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _accompany(files: JobFiles, job_id: str) -> None:
    origin, spec = files.origin(), files.spec()
    recorder = Recorder(files.path, spec["output_limit_bytes"])
    outcome = {
        "started_at": origin["started_at"],
        "end": {"not-started": {"detail": "it was stopped before its command was executed"}},
        "stopped": None,
        "leftovers": [],
    }
    # Opened before the first look for a request to stop, so that a later one is noticed.
    watch = _Watch(files, recorder, Life(spec, origin["monotonic_ms"]))
    outcome["stopped"] = files.stop_cause()
    if outcome["stopped"] is None:
        try:
            command = _spawn(job_id, spec, data=os.path.dirname(os.path.dirname(files.path)))
        except (OSError, ValueError) as error:
            outcome["end"] = {"not-started": {"detail": _explain(error, spec)}}
        else:
            watch.run(command, spec["stdin"].encode())
            outcome |= {"end": watch.end, "stopped": watch.stopped, "leftovers": watch.leftovers}
    outcome["ended_at"] = now_ms()
    outcome["duration_ms"] = monotonic_ms() - origin["monotonic_ms"]
    conclude(files, outcome, recorder)


def conclude(files: JobFiles, outcome: dict, recorder: Recorder) -> None:
    """Write the outcome, whatever it takes: room is made from output, and what fails is tried again."""
    # An outcome would survive a power failure, and so has what it counts as kept.
    recorder.sync()
    while True:
        outcome |= {"output_bytes": recorder.written_bytes, "dropped_bytes": recorder.dropped_bytes}
        try:
            # Of a job that was not started nobody but a server can have written one, which took us for dead.
            return files.conclude(outcome) if "not-started" in outcome["end"] else files.replace_outcome(outcome)
        except FileNotFoundError:
            # Somebody deleted the whole directory: there is nobody left to tell.
            raise
        except OSError as error:
            is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            if not (is_full and recorder.sacrifice()):
                time.sleep(limits.OUTCOME_RETRY_SECONDS)


def _spawn(job_id: str, spec: dict, data: str) -> subprocess.Popen:
    environment = os.environ | {DATA_VARIABLE: data} | dict(spec["environment"])
    words = spec["command"]
    if isinstance(words, str):
        # The two dashes: a line that begins with one is a line and no option.
        words = [_shell(environment.get("PATH", "")), "-c", "--", words]
    return subprocess.Popen(
        words,
        cwd=spec["directory"],
        # Last: a job that named itself otherwise would not be found when its supervisor is lost.
        env=environment | {TASK_VARIABLE: job_id},
        process_group=0,
        stdin=subprocess.PIPE if spec["stdin"] else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    )


def _shell(search_path: str) -> str:
    """bash where there is one, since that is what people and models write, else the system's own shell."""
    named = [place for place in search_path.split(os.pathsep) if os.path.isabs(place)]
    places = [f"{place}/bash" for place in (*named, "/bin", "/usr/bin", "/usr/local/bin")]
    return next((file for file in places if os.path.isfile(file) and os.access(file, os.X_OK)), "/bin/sh")


def _explain(error: OSError | ValueError, spec: dict) -> str:
    """Why a command could not be executed, and what to do, as a text: not every directory's name is one."""
    return _reason(error, spec)[: limits.DETAIL_CHARS].encode(errors="replace").decode()


def _reason(error: OSError | ValueError, spec: dict) -> str:
    name = spec["command"][0] if isinstance(spec["command"], list) else "the shell"
    code = getattr(error, "errno", None)
    if not os.path.isdir(spec["directory"]):
        return f"the directory {spec['directory']} does not exist any more; name another one"
    if code == errno.ENOENT and "/" in name:
        found = os.path.exists(os.path.join(spec["directory"], name))
        return (
            f"the interpreter that {name} names in its first line does not exist"
            if found
            else f"there is no file {name}"
        )
    if code == errno.ENOENT and any(character.isspace() for character in name):
        return f"there is no program `{name}`; a shell line is given alone, without a list of arguments"
    if code == errno.ENOENT:
        return f"there is no program {name} on the PATH; install it or give its full path"
    if code == errno.EACCES and os.path.isdir(name):
        return f"{name} is a directory; name a program"
    if code == errno.EACCES:
        return f"{name} may not be executed; make it executable or name another program"
    if code == errno.E2BIG:
        return f"the arguments and variables of {name} are too long; pass them on stdin"
    return f"{name} cannot be executed: {error}"


class _Watch:
    """The loop: waits for pipes, signals, requests and deadlines, and does what they call for."""

    def __init__(self, files: JobFiles, recorder: Recorder, life: Life):
        self.end: dict = {}
        self.leftovers: list[dict] = []
        self._files = files
        self._recorder = recorder
        self._life = life
        self._selector = selectors.DefaultSelector()
        self._is_asked = False
        self._is_told_to_end = False
        # In this order: who sees `control` read may send a signal, which would end a process that does not await it.
        self._listen(self._signals(), _empty)
        self._control = files.open_control()
        self._listen(self._control, self._asked)

    @property
    def stopped(self) -> str | None:
        """Why the job was stopped; `None` where its command ended by itself."""
        return self._life.stopped

    def run(self, command: subprocess.Popen, stdin: bytes) -> None:
        """Return when nothing of the job runs and all that it wrote has been taken."""
        self._family = _Family(command)
        self._record(command.pid)
        self._pipes = [command.stdout.fileno(), command.stderr.fileno()]
        for stream, pipe in enumerate(self._pipes):
            os.set_blocking(pipe, False)
            self._listen(pipe, lambda pipe, stream=stream: self._take(pipe, stream))
        if command.stdin is not None:
            self._feed(command.stdin, stdin)
        while self._turn():
            pass
        self._drain()
        self.end = self._family.end()

    def _record(self, pid: int) -> None:
        try:
            seen = processes.look(pid)
            self._files.record_command(pid, seen.start_ticks if seen else 0, os.fstat(self._control).st_ino)
        except OSError:
            # On a full disk it is not recorded: what is left of a lost job is found by its environment too.
            pass

    def _turn(self) -> bool:
        """Wait for the next thing to happen and do what it calls for. Whether anything of the job runs."""
        for key, _events in self._selector.select(self._timeout()):
            key.data(key.fd)
        # In this order: at a shutdown everybody is asked to end at once, so the request comes before its effect. Any
        # other request comes after the end of a command that was faster.
        if self._is_told_to_end:
            self._heed_signal()
        if not self._family.is_anything_left():
            return False
        if self._family.has_command_ended():
            self._life.command_ended(monotonic_ms())
        self._obey()
        self._act(self._life.tick(monotonic_ms()))
        return True

    def _heed_signal(self) -> None:
        """Look for a request that was made before the signal; without one it is the machine that ends."""
        self._is_told_to_end = False
        # The job may have taken away the request itself, or put another FIFO in the place of the one that we read.
        self._asked(self._control)
        if not self._is_asked:
            try:
                self._is_asked = self._files.stop_cause() is not None
            except OSError:
                # Where none can be looked for, it is done all the same.
                pass
        if not self._is_asked:
            self._stop_for("shut-down")

    def _obey(self) -> None:
        """Stop the job where somebody asked for it, or its time is over."""
        if self._is_asked:
            self._is_asked = False
            # For the cause that was asked for, unless the job has taken that away.
            self._stop_for("cancelled")
        overdue = self._life.overdue(monotonic_ms())
        if overdue is not None:
            self._stop_for(overdue)

    def _timeout(self) -> float | None:
        wake_at_ms = self._life.wake_at_ms()
        if wake_at_ms is None:
            return None
        seconds = max(0, wake_at_ms - monotonic_ms()) / 1000
        # Without a subreaper nothing tells when the last of a process group ends. And no timer is for ever.
        return min(seconds, 3600 if sys.platform == "linux" else limits.KILL_AGAIN_MS / 1000)

    def _signals(self) -> int:
        """A descriptor that is readable when a signal has come."""
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        os.set_blocking(writing, False)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, self._tell_to_end)
        return reading

    def _tell_to_end(self, *_signal: object) -> None:
        self._is_told_to_end = True

    def _asked(self, descriptor: int) -> None:
        self._is_asked = _empty(descriptor) or self._is_asked

    def _stop_for(self, cause: str) -> None:
        """Stop the job for a reason of our own, unless somebody was faster."""
        if self._life.is_running:
            try:
                cause = self._files.request_stop(cause)
            except OSError:
                # Where it cannot be recorded, it is done all the same.
                pass
        self._act(self._life.stop(cause, monotonic_ms()))

    def _act(self, action: str) -> None:
        if action != WAIT and self._life.has_leftovers and not self.leftovers:
            self.leftovers = self._family.leftovers()
        if action == TERMINATE:
            self._family.terminate()
        elif action == KILL:
            self._family.kill()

    def _take(self, pipe: int, stream: int) -> bool:
        """Record what a pipe holds now, at most once its size. Whether there was anything."""
        try:
            data = os.read(pipe, limits.PIPE_READ_BYTES)
        except BlockingIOError:
            return False
        if data:
            self._recorder.record(stream, data)
        elif pipe in self._selector.get_map():
            self._selector.unregister(pipe)
        return bool(data)

    def _drain(self) -> None:
        for _round in range(limits.DRAIN_ROUNDS):
            taken = [self._take(pipe, stream) for stream, pipe in enumerate(self._pipes)]
            if not any(taken):
                return

    def _feed(self, pipe, stdin: bytes) -> None:
        os.set_blocking(pipe.fileno(), False)
        rest = memoryview(stdin)

        def advance(descriptor: int) -> None:
            nonlocal rest
            try:
                rest = rest[os.write(descriptor, rest) :]
            except BlockingIOError:
                return
            except BrokenPipeError:
                # The command does not read it.
                rest = rest[:0]
            if not rest:
                self._selector.unregister(descriptor)
                pipe.close()

        self._selector.register(pipe.fileno(), selectors.EVENT_WRITE, advance)

    def _listen(self, descriptor: int, callback: Callable[[int], object]) -> None:
        self._selector.register(descriptor, selectors.EVENT_READ, callback)


class _Family:
    """The command and everything that descends from it: who has ended, who is left, and how to stop them."""

    def __init__(self, command: subprocess.Popen):
        self._command = command
        self._status: int | None = None

    def has_command_ended(self) -> bool:
        """Whether the command itself has, whatever else runs."""
        return self._status is not None

    def is_anything_left(self) -> bool:
        """Take leave of everything that has ended, and say whether anything runs."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return sys.platform != "linux" and self._signal_group(0)
            if pid == 0:
                return True
            if pid == self._command.pid:
                self._status = status
                # Popen must not wait for it itself.
                self._command.returncode = status

    def end(self) -> dict:
        """How the command ended, from what the kernel said."""
        if os.WIFSIGNALED(self._status):
            number = os.WTERMSIG(self._status)
            return {"signalled": {"signal": _signal_name(number), "core_dumped": os.WCOREDUMP(self._status)}}
        return {"exited": {"code": os.WEXITSTATUS(self._status)}}

    def terminate(self) -> None:
        """Ask everything to end, also what is suspended."""
        for number in (signal.SIGTERM, signal.SIGCONT):
            self._signal_group(number)
        for seen in self._outside_of_group():
            processes.send(seen, signal.SIGTERM)
            processes.send(seen, signal.SIGCONT)

    def kill(self) -> None:
        """Kill everything that there is now. What is forked meanwhile may need another call."""
        processes.freeze_and_kill(_descendants)
        self._signal_group(signal.SIGKILL)

    def leftovers(self) -> list[dict]:
        """What is left, for people."""
        left = _descendants()[: limits.LEFTOVERS_MAX]
        return [{"pid": seen.pid, "command": processes.command_line(seen.pid)} for seen in left]

    def _outside_of_group(self) -> list[processes.Seen]:
        return [seen for seen in _descendants() if self._status is not None or seen.group != self._command.pid]

    def _signal_group(self, number: int) -> bool:
        """Signal the command's group, in one step that no fork in it escapes. Whether there is one."""
        # Once its status has been taken, its number may be others'; then each is signalled for itself, where the
        # system lets us find them.
        if self._status is not None and sys.platform == "linux":
            return False
        try:
            os.killpg(self._command.pid, number)
        except OSError as error:
            return error.errno == errno.EPERM
        return True


def _descendants() -> list[processes.Seen]:
    try:
        return processes.descendants([os.getpid()])
    except OSError:
        # Where they are not listed, or cannot be now: the group is signalled in any case, and the killing is repeated.
        return []


def _signal_name(number: int) -> str:
    try:
        name = signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"
    # Real-time signals have a number only.
    return f"SIG{number}" if name.startswith("SIGRT") else name


def _empty(descriptor: int) -> bool:
    """Take bytes of a descriptor that does not block; they mean no more than that they are there. Whether they are."""
    try:
        # Once: a job may write faster than we read, and what is left wakes us again.
        return bool(os.read(descriptor, limits.PIPE_READ_BYTES))
    except BlockingIOError:
        return False
