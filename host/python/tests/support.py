"""What several tests need: the component, directories, waiting, and a server as a client sees it."""

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from backburner_host import processes
from backburner_host.capabilities import Jobs, Outcome, Spec
from backburner_host.guest import Program
from backburner_host.job_files import JobFiles
from backburner_host.jobs import SupervisedJobs
from backburner_host.serve import cache_directory

PATIENCE_SECONDS = 60
"""How long a test waits for what has to come: for ever, as far as a loaded machine is concerned."""

TASKS = {"extensions": {"io.modelcontextprotocol/tasks": {}}}


def component() -> Path:
    """The component's file."""
    return Path(os.environ["BACKBURNER_COMPONENT"])


def given(variable: str) -> str | None:
    """What an environment variable says, and where it says nothing `None`: then what needs it is left out.

    Where `BACKBURNER_ALL_TESTS` is 1, nothing may be left out.
    """
    value = os.environ.get(variable)
    if not value and os.environ.get("BACKBURNER_ALL_TESTS") == "1":
        raise LookupError(f"{variable} is not set, and all tests were asked for")
    return value or None


def program() -> Program:
    """The component, one for all tests of this process and compiled once for all processes."""
    if not _programs:
        _programs.append(Program(component(), cache_directory()))
    return _programs[0]


_programs: list[Program] = []


def until(what: str, look: Callable[[], Any]) -> Any:
    """Wait until `look` gives something that is true, and give it."""
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    while not (found := look()):
        if time.monotonic() > give_up_at:
            raise AssertionError(f"waited for {what} in vain; the last look gave {found!r}")
        time.sleep(0.01)
    return found


def spec(command: str | list[str], **others: Any) -> Spec:
    """What to run, with what is usual in a test."""
    usual = {
        "directory": None,
        "environment": [],
        "stdin": "",
        "interactive": False,
        "timeout_ms": None,
        "lifetime_ms": None,
        "grace_ms": 5000,
        "output_limit_bytes": 1 << 20,
    }
    return Spec(command, **usual | others)


def ended(jobs: Jobs, id: str) -> Outcome:
    """The outcome of a job, when it has one."""
    return until("a job to end", lambda: isinstance(found := jobs.inspect(id), Outcome) and found)


def new_id() -> str:
    """A job's name."""
    return str(uuid.uuid4())


class Gate:
    """Where a job waits until the test lets it go on: `read _ < {gate}`."""

    def __init__(self, path: Path):
        os.mkfifo(path)
        self._path = path
        # For both directions, so that neither side waits for the other when it opens its end.
        self._end = os.open(path, os.O_RDWR)

    def __str__(self) -> str:
        return str(self._path)

    def open(self) -> None:
        """Let one job go on."""
        os.write(self._end, b"go\n")

    def close(self) -> None:
        """Let everybody go on who waits now."""
        os.close(self._end)


class DirectoryCase(unittest.TestCase):
    """A test with a directory of its own."""

    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory(prefix="backburner-test-", ignore_cleanup_errors=True)
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def gate(self, name: str = "one") -> Gate:
        """A gate that is open at the latest when the test has ended."""
        gate = Gate(self.directory / f"gate-{name}")
        self.addCleanup(gate.close)
        return gate


class JobsCase(DirectoryCase):
    """A test with supervised jobs in a directory of its own."""

    def setUp(self) -> None:
        super().setUp()
        self.jobs = SupervisedJobs(self.directory)

    def start(self, command: str | list[str], **others: object) -> str:
        """Start a job, and give its name."""
        id = new_id()
        self.jobs.start(id, spec(command, **others))
        return id

    def run_job(self, command: str | list[str], **others: object) -> Outcome:
        """Start a job and wait for its end."""
        return ended(self.jobs, self.start(command, **others))

    def files(self, id: str) -> Path:
        """The directory of a job."""
        return self.directory / "jobs" / id

    def wait_for_file(self, name: str) -> Path:
        """A file that a job writes, when there is something in it."""
        path = self.directory / name
        until(f"the job to write {name}", lambda: path.exists() and path.read_text())
        return path

    def command(self, id: str) -> int:
        """The process id of a job's command, when it was executed."""
        record = self.files(id) / "command.json"
        until("the command to be executed", record.exists)
        return until("its record", lambda: _json(record))["content"]["pid"]

    def supervisor(self, id: str) -> int:
        """The process id of a job's supervisor: the parent of its command."""
        supervisor = processes.look(self.command(id)).parent
        # What a test kills is never the first process, nor all of them.
        assert supervisor > 1, supervisor
        return supervisor

    def wait_for_all_of(self, id: str) -> None:
        """Wait until a job has ended and its supervisor, too, which has more to do in its last instant."""
        ended(self.jobs, id)
        until("its supervisor to be gone", lambda: not processes.has_supervisor(id))

    def kill_supervisor(self, id: str) -> int:
        """Kill a job's supervisor and wait for its end. Gives the process id of the job's command."""
        pid = self.command(id)
        os.kill(self.supervisor(id), signal.SIGKILL)
        until("its supervisor to be gone", lambda: not JobFiles(str(self.files(id))).is_alive())
        return pid


def _json(path: Path) -> dict | None:
    try:
        return json.loads(path.read_text())
    except ValueError:
        return None


PROGRAM = ("-m", "backburner_host")
"""How Python is told to run this host."""

PATIENT_PROGRAM = (
    "-c",
    "from backburner_host import limits, serve\nlimits.UNTAKEN_PATIENCE_SECONDS = 3600\nserve.main()",
)
"""The same, but a client may take nothing for as long as it likes: a busy machine may keep a test from reading."""


def start(data: Path, *flags: str, place: Path | None = None, program: tuple[str, str] = PROGRAM) -> subprocess.Popen:
    """A server process, whose output nobody reads yet. It works in `place`, and where that is `None` in our own."""
    words = [sys.executable, *program, "serve", "--data-dir", str(data), *flags]
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=place)


def request(id: int, method: str, params: dict, capabilities: dict = TASKS) -> bytes:
    """A request as a line."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    }
    message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params | {"_meta": meta}}
    return json.dumps(message).encode() + b"\n"


class Server:
    """A server process on a data directory, and the client's ends of its streams."""

    def __init__(self, data: Path, *flags: str, place: Path | None = None):
        self.process = start(data, *flags, place=place)
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._next_id = 1
        self._inbox: list[dict] = []
        threading.Thread(target=self._read, daemon=True).start()

    def send_raw(self, line: bytes) -> None:
        """Send bytes as they are; a line ends with a line break."""
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def post(self, method: str, params: dict, capabilities: dict = TASKS) -> int:
        """Send a request, and give the id that it was given."""
        id, self._next_id = self._next_id, self._next_id + 1
        self.send_raw(request(id, method, params, capabilities))
        return id

    def notify_cancelled(self, id: int) -> None:
        """Take a request back."""
        message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}
        self.send_raw(json.dumps(message).encode() + b"\n")

    def receive(self) -> dict:
        """The next message, whatever it answers."""
        if self._inbox:
            return self._inbox.pop(0)
        line = self._lines.get(timeout=PATIENCE_SECONDS)
        if not line:
            raise AssertionError("the server closed its output")
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0", message
        return message

    def reply(self, id: int) -> dict:
        """The reply to a request; others are kept for later."""
        others = []
        while (message := self.receive()).get("id") != id:
            others.append(message)
        self._inbox = others + self._inbox
        return message

    def ask(self, method: str, params: dict, capabilities: dict = TASKS) -> dict:
        """Send a request and give its result."""
        reply = self.reply(self.post(method, params, capabilities))
        assert "result" in reply, reply
        return reply["result"]

    def run(self, command: str, **arguments: Any) -> str:
        """Run a shell line and give its task's id, also where the call was answered directly."""
        call = {"name": "run", "arguments": {"command": command} | arguments}
        result = self.ask("tools/call", call)
        return result.get("taskId") or result["structuredContent"]["taskId"]

    def task(self, id: str) -> dict:
        """What `tasks/get` gives."""
        return self.ask("tasks/get", {"taskId": id})

    def ended_task(self, id: str) -> dict:
        """A task that is not `working` any more."""
        return until("a task to end", lambda: (task := self.task(id))["status"] != "working" and task)

    def close(self) -> list[dict]:
        """Close the server's input, wait for its good end, and give what nobody has received."""
        self.process.stdin.close()
        status = self.process.wait(PATIENCE_SECONDS)
        assert status == 0, status
        unread = list(self._inbox)
        while line := self._lines.get(timeout=PATIENCE_SECONDS):
            unread.append(json.loads(line))
        return unread

    def kill(self) -> None:
        """Kill the server, and nothing else."""
        self.process.kill()
        self.process.wait()
        # Its reader ends with the stream.
        self.process.stdin.close()

    def _read(self) -> None:
        with self.process.stdout as lines:
            for line in lines:
                self._lines.put(line)
        self._lines.put(b"")
