"""The component: compiled once, instantiated under limits, called one call at a time."""

import hashlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import wasmtime
from wasmtime import Config, Engine, WasiConfig, WasmtimeError
from wasmtime.component import Component, Linker, Record

from . import imports, limits
from .capabilities import Jobs, Store
from .clock import now_ms

Wake = Literal["job-ended", "deadline", "configured", "cancelled", "shutdown"]
"""Why a request that waited is resumed."""


@dataclass(frozen=True)
class Pending:
    """A request that cannot be answered yet: resume it when one of `jobs` has ended or at `deadline`."""

    request: str
    ticket: str
    jobs: list[str]
    deadline: int


@dataclass(frozen=True)
class Notice:
    """Send these messages, in this order; then keep the request open."""

    messages: list[str]
    pending: Pending


@dataclass(frozen=True)
class Cancellation:
    """The client takes back the open request of this name."""

    request: str


Outcome = None | str | Pending | Notice | Cancellation
"""What to do after a call: nothing, send this message, keep the request open, the same after sending notifications, or
resume another as cancelled."""


class ConfigError(Exception):
    """The component refuses its configuration.

    `at` is a JSON pointer to the wrong member, empty for the whole; `reason` says what is wrong in words.
    """

    def __init__(self, at: str, reason: str):
        super().__init__(f"{at}: {reason}" if at else reason)
        self.at = at
        self.reason = reason


class Program:
    """A component, compiled for this machine. Any number of guests in one thread may use it."""

    def __init__(self, path: Path, cache: Path | None = None):
        """Compile the component at `path`, or take it from the directory `cache` where it was compiled before.

        Whoever can write to `cache` can run any code in this process: it has to be private.
        """
        config = Config()
        config.epoch_interruption = True
        self.engine = Engine(config)
        self.component = _compiled(self.engine, path.read_bytes(), cache)
        self.imports_store = imports.interface("store") in self.component.type.imports(self.engine)
        """Whether a host has to supply a store; not where the component is composed with one."""
        self.ticker = _Ticker(self.engine)


class Guest:
    """The server's logic: one configured instance at a time, replaced when it traps or gets old.

    One that is composed with a store does not get old: the tasks may be in its memory, and are lost with it.

    Calls block for as long as the component computes (0.2 to 1 ms is usual) and its imports wait for the disk.
    Not for several threads at the same time.
    """

    def __init__(self, program: Program, store: Store | None, jobs: Jobs, config: dict[str, Any] | None = None):
        """Make an instance. `config` has the members of `configure`, see the README of the WIT package.

        `store` may be `None` where the program does not import one.

        Raises `ConfigError` where the component refuses it.
        """
        self._program = program
        self._linker = Linker(program.engine)
        self._config = json.dumps(config or {})
        imports.define(self._linker, store, jobs, program.ticker.pausing)
        self._instance: _Instance | None = self._make()

    def message(self, principal: str, body: str) -> Outcome:
        """Handle one message of a client. Never fails: where an instance traps, the outcome says so."""
        return self._handle(body, "message", _context(principal), body)

    def resume(self, principal: str, pending: Pending, why: Wake, body: str) -> Outcome:
        """Go on with a request that had to wait. `body` is the message that it came as."""
        return self._handle(body, "resume", _context(principal), pending.ticket, why)

    def refuse(self, body: str, why: Literal["trapped", "too-large", "not-utf8"]) -> str | None:
        """The reply to a message that was not handled, and `None` where it gets none."""
        try:
            return self._call("refuse", body, why)
        except Exception as error:
            if body:
                # The message is what it trapped on: an answer without its id is better than none.
                return self.refuse("", why)
            warn(f"a message stays without an answer: {error}")
            return None

    def sweep(self) -> int | None:
        """Look after tasks that no client asks about. Gives when to do it again, in milliseconds since 1970."""
        try:
            return self._call("sweep", now_ms())
        except Exception as error:
            warn(f"a sweep failed: {error}")
            return None

    def _handle(self, body: str, name: str, *arguments: Any) -> Outcome:
        try:
            return _outcome(self._call(name, *arguments))
        except Exception as error:
            # Also what an import raised: wasmtime raises it again here.
            warn(f"an instance trapped and was dropped: {error}")
            return self.refuse(body, "trapped")

    def _call(self, name: str, *arguments: Any) -> Any:
        instance, self._instance = self._instance or self._make(), None
        result = instance.call(name, *arguments)
        # Only here, so that one that trapped is not used again.
        self._instance = None if self._is_old(instance) else instance
        return result

    def _is_old(self, instance: "_Instance") -> bool:
        return self._program.imports_store and instance.calls >= limits.CALLS_PER_INSTANCE

    def _make(self) -> "_Instance":
        instance = _Instance(self._program, self._linker)
        refused = instance.call("configure", self._config)
        if refused is not None:
            raise ConfigError(refused.at, refused.reason)
        return instance


class _Instance:
    """One instance in a wasmtime store of its own."""

    FUNCTIONS = ("configure", "message", "resume", "refuse", "sweep")

    def __init__(self, program: Program, linker: Linker):
        self.calls = 0
        self._ticker = program.ticker
        self._store = wasmtime.Store(program.engine)
        self._store.set_limits(memory_size=limits.GUEST_MEMORY_BYTES, table_elements=limits.GUEST_TABLE_ELEMENTS)
        wasi = WasiConfig()
        # The message of a panic; nothing else of WASI is open to the component but random numbers.
        wasi.inherit_stderr()
        self._store.set_wasi(wasi)
        self._arm()
        instance = linker.instantiate(self._store, program.component)
        exported = instance.get_export_index(self._store, imports.interface("protocol"))
        self._functions = {
            name: instance.get_func(self._store, instance.get_export_index(self._store, name, exported))
            for name in self.FUNCTIONS
        }

    def call(self, name: str, *arguments: Any) -> Any:
        """Call an export with a full budget of time. After an exception this instance must be dropped."""
        self.calls += 1
        self._arm()
        with self._ticker.running():
            return self._functions[name](self._store, *arguments)

    def _arm(self) -> None:
        self._store.set_epoch_deadline(round(limits.GUEST_SECONDS / limits.EPOCH_TICK_SECONDS))


class _Ticker:
    """Advances an engine's epoch while the component computes, and neither while an import works nor when idle."""

    def __init__(self, engine: Engine):
        self._computing = threading.Event()
        self._engine = engine
        threading.Thread(target=self._tick, name="epoch", daemon=True).start()

    def running(self) -> "_Ticker":
        """A context in which the component computes."""
        return self

    def __enter__(self) -> None:
        self._computing.set()

    def __exit__(self, *_error: object) -> None:
        self._computing.clear()

    def pausing(self, function: Callable) -> Callable:
        """The same function, at the host's expense and not at the component's."""

        def paused(*arguments: Any) -> Any:
            self._computing.clear()
            try:
                return function(*arguments)
            finally:
                self._computing.set()

        return paused

    def _tick(self) -> None:
        while True:
            self._computing.wait()
            time.sleep(limits.EPOCH_TICK_SECONDS)
            if self._computing.is_set():
                self._engine.increment_epoch()


def warn(text: str) -> None:
    """Say something to the person who runs this: on standard error, which is no client's."""
    print(f"backburner: {text}", file=sys.stderr, flush=True)


def _context(principal: str) -> Record:
    context = Record()
    context.now, context.principal = now_ms(), principal
    return context


def _outcome(outcome: Any) -> Outcome:
    payload = outcome.payload
    match outcome.tag:
        case "reply":
            return payload
        case "wait":
            return _pending(payload)
        case "notify":
            return Notice(payload.messages, _pending(payload.pending))
        case "cancel":
            return Cancellation(payload.request)
        case _:
            return None


def _pending(payload: Any) -> Pending:
    return Pending(payload.request, payload.ticket, payload.jobs, payload.deadline)


def _compiled(engine: Engine, wasm: bytes, cache: Path | None) -> Component:
    if cache is None:
        return Component(engine, wasm)
    digest = hashlib.sha256(wasm).hexdigest()[:32]
    path = cache / f"component-{digest}.cwasm"
    try:
        return Component.deserialize_file(engine, str(path))
    except WasmtimeError:
        # Not there, or made by another wasmtime or for another processor: wasmtime checks that.
        component = Component(engine, wasm)
    try:
        _write_whole(path, component.serialize())
    except OSError as error:
        warn(f"the compiled component cannot be kept, so each start compiles it again: {error}")
    return component


def _write_whole(path: Path, content: bytes) -> None:
    """Write a file that appears in one step: another process may be reading or writing it."""
    unfinished = path.with_suffix(f".{os.getpid()}")
    try:
        unfinished.write_bytes(content)
        unfinished.rename(path)
    except OSError:
        # On a full disk each start would leave another one.
        unfinished.unlink(missing_ok=True)
        raise
