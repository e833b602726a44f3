"""Drives the host conformance kit, a component that checks any store and jobs against the promises of the WIT.

`python -m tests.kit KIT CACHE DIRECTORY METHOD TEXT` is a process of its own that calls this method of `Kit`, says on
its standard output how far the check has come, and ends as a crash would.
"""

import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import wasmtime
from wasmtime import WasiConfig
from wasmtime.component import Linker, Record, Variant

from backburner_host import imports
from backburner_host.capabilities import Jobs, Progress, Store
from backburner_host.clock import now_ms
from backburner_host.guest import Program
from backburner_host.jobs import SupervisedJobs
from backburner_host.memory_store import MemoryStore
from backburner_host.store import SqliteStore

POLL_SECONDS = 0.02

LASTING = frozenset(["lasting-store", "lasting-jobs"])
"""Each of these is a need of every check that may want a restart."""

SCRIPTS = {"KIT_ASK": 'ask "$1" --text', "KIT_PROGRESS": 'progress "$1" "$2"'}
"""The scripts of the need `questions`: the variable that names each to the jobs, and what it does with this program."""


class LastingHost:
    """Everything that this package has, in a directory, for any number of processes."""

    offers = frozenset(["lasting-store", "processes", "lasting-jobs", "descendants", "questions"])
    threads = 4
    """How many checks may run at the same time. They mostly wait."""

    def __init__(self, directory: Path):
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        for variable, command in SCRIPTS.items():
            _give_script(directory, variable, command)

    def open(self) -> tuple[Store, Jobs]:
        """A store and jobs as a new process opens them."""
        jobs = SupervisedJobs(self.directory)
        return SqliteStore(self.directory / "store"), jobs


def _give_script(directory: Path, variable: str, command: str) -> None:
    """Write a script, and name it to the jobs. The processes of checks and crowds do so at the same time."""
    top = shlex.quote(str(Path(__file__).resolve().parent.parent))
    line = f"exec env PYTHONPATH={top} {shlex.quote(sys.executable)} -m backburner_host {command}\n"
    path = directory / variable
    with tempfile.NamedTemporaryFile("w", dir=directory, delete=False) as file:
        file.write(line)
    os.replace(file.name, path)
    os.environ[variable] = str(path)


class MemoryHost:
    """A store in memory, and jobs that are not checked."""

    offers: frozenset[str] = frozenset()
    threads = 1
    """A store in memory is not made for several."""
    directory = None

    def __init__(self, directory: Path):
        self._opened = MemoryStore(), SupervisedJobs(directory)

    def open(self) -> tuple[Store, Jobs]:
        """The same store and jobs every time: what is in memory cannot be opened again."""
        return self._opened


Host = LastingHost | MemoryHost


class Kit:
    """The kit, compiled."""

    def __init__(self, path: str, cache: Path):
        """Compile the kit, or take it from `cache`, as the processes of checks and crowds do."""
        self._words = [sys.executable, "-m", "tests.kit", path, str(cache)]
        self._program = Program(Path(path), cache)

    def checks(self, host: Host) -> tuple[list[Record], list[Record]]:
        """The checks that a host is up to, and those that it is not."""
        checks = self._instance(host).call("checks")
        return tuple([it for it in checks if (set(it.needs) <= host.offers) is wanted] for wanted in (True, False))

    def run(self, host: Host, check: Record) -> str | None:
        """What is wrong; `None` where the promise is kept."""
        is_lasting = not LASTING.isdisjoint(check.needs)
        # What is promised whatever becomes of a host process is seen only where that ends.
        call = self._apart if is_lasting else self._here
        progress = call(host, "begin", check.name)
        while progress.tag == "restart":
            time.sleep(max(0, getattr(progress.payload, "not-before") - now_ms()) / 1000)
            progress = call(host, "resume", progress.payload.ticket)
        return _verdict(progress)

    def begin(self, host: Host, name: str) -> Variant:
        """Begin a check, and come as far as this process can: to its end, or to where the host has to end."""
        return self._advance(host, "begin", name)

    def resume(self, host: Host, ticket: str) -> Variant:
        """Go on with a check, as far as `begin`."""
        return self._advance(host, "resume", ticket)

    def take_part(self, host: Host, ticket: str) -> Variant:
        """Go on with a check as a member of a crowd, which has nothing to wait for."""
        return self._instance(host).call("resume", ticket, now_ms())

    def _advance(self, host: Host, function: str, text: str) -> Variant:
        instance = self._instance(host)
        progress = instance.call(function, text, now_ms())
        while progress.tag in ("wait", "crowd"):
            if progress.tag == "wait":
                instance.wait(progress.payload)
            elif (broken := self._crowd(host, progress.payload.members)) is not None:
                return _failed(broken)
            progress = instance.call("resume", progress.payload.ticket, now_ms())
        return progress

    def _crowd(self, host: Host, members: list[str]) -> str | None:
        call, threads = (self._here, 1) if host.directory is None else (self._apart, len(members))
        with ThreadPoolExecutor(threads) as pool:
            ends = list(pool.map(lambda ticket: _verdict(call(host, "take_part", ticket)), members))
        return next((broken for broken in ends if broken is not None), None)

    def _here(self, host: Host, method: str, text: str) -> Variant:
        return getattr(self, method)(host, text)

    def _apart(self, host: LastingHost, method: str, text: str) -> Variant:
        """What a method says in a process of its own, which has ended afterwards as a crash would end it."""
        words = [*self._words, str(host.directory), method, text]
        top = Path(__file__).resolve().parent.parent
        process = subprocess.run(words, cwd=top, capture_output=True, check=False)
        # One that came to its end in good order may have done what a host that is killed does not.
        if not process.stdout or process.returncode != -signal.SIGKILL:
            return _failed(f"a process of the check failed: {process.stderr.decode()}")
        tag, payload = json.loads(process.stdout)
        return Variant(tag, SimpleNamespace(**payload))

    def _instance(self, host: Host) -> "_Instance":
        return _Instance(self._program, host)


# Wasmtime's bindings find out what a value is in a set that all threads share, so that two calls at the same time may
# take it for nothing that there is. Pauses, which are most of a check, are outside of calls.
_CALL = threading.Lock()


class _Instance:
    """An instance of the kit on a store and jobs that were opened for it."""

    def __init__(self, program: Program, host: Host):
        with _CALL:
            self._open(program, host)

    def _open(self, program: Program, host: Host) -> None:
        store, self._jobs = host.open()
        linker = Linker(program.engine)
        imports.define(linker, store, self._jobs, lambda function: function)
        self._store = wasmtime.Store(program.engine)
        self._store.set_wasi(WasiConfig())
        # Nobody advances the engine's epoch, so the next one never comes.
        self._store.set_epoch_deadline(1)
        self._instance = linker.instantiate(self._store, program.component)
        self._interface = self._instance.get_export_index(self._store, imports.interface("conformance"))

    def call(self, name: str, *arguments: Any) -> Any:
        with _CALL:
            index = self._instance.get_export_index(self._store, name, self._interface)
            return self._instance.get_func(self._store, index)(self._store, *arguments)

    def wait(self, pause: Record) -> None:
        while now_ms() < pause.deadline and all(isinstance(self._jobs.inspect(id), Progress) for id in pause.jobs):
            time.sleep(POLL_SECONDS)


def _failed(reason: str) -> Variant:
    return Variant("failed", SimpleNamespace(reason=reason))


def _said(progress: Variant) -> str:
    """What `Kit.run` has to know of progress in another process."""
    names = {"failed": ["reason"], "restart": ["not-before", "ticket"]}.get(progress.tag, [])
    return json.dumps([progress.tag, {name: getattr(progress.payload, name) for name in names}])


def _verdict(progress: Variant) -> str | None:
    """What is wrong at the end of a check: everything but that it has passed."""
    match progress.tag:
        case "passed":
            return None
        case "failed":
            return progress.payload.reason
        case tag:
            return f"it neither passed nor failed: {tag}"


if __name__ == "__main__":
    kit, cache, directory, method, text = sys.argv[1:]
    progress = getattr(Kit(kit, Path(cache)), method)(LastingHost(Path(directory)), text)
    print(_said(progress), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
