"""Drives the host conformance kit, a component that checks any store and jobs against the promises of the WIT."""

import dataclasses
import time
from collections.abc import Callable
from typing import Any

import wasmtime
from wasmtime import Engine, WasiConfig
from wasmtime.component import Component, Linker

from backburner_host import imports
from backburner_host.capabilities import Jobs, Progress, Store
from backburner_host.clock import now_ms

POLL_SECONDS = 0.02


@dataclasses.dataclass(frozen=True)
class Host:
    """A host to be checked: how its store and jobs are opened, and what it offers of what checks need."""

    open: Callable[[], tuple[Store, Jobs]]
    offers: frozenset[str]


class Kit:
    """The kit, compiled."""

    def __init__(self, path: str):
        self._engine = Engine()
        self._component = Component.from_file(self._engine, path)

    def checks(self, host: Host) -> tuple[list[str], list[str]]:
        """The names of the checks that a host is up to, and of those that it is not."""
        checks = self._instance(host).call("checks")
        fit = [check.name for check in checks if set(check.needs) <= host.offers]
        return fit, [check.name for check in checks if check.name not in fit]

    def run(self, host: Host, name: str) -> str | None:
        """What is wrong; `None` where the promise is kept."""
        instance = self._instance(host)
        progress = instance.call("begin", name, now_ms())
        while progress.tag not in ("passed", "failed"):
            payload = progress.payload
            if progress.tag == "wait":
                instance.wait(payload.jobs, payload.deadline)
            elif progress.tag == "restart":
                time.sleep(max(0, getattr(payload, "not-before") - now_ms()) / 1000)
                instance = self._instance(host)
            else:
                broken = self._crowd(host, payload.members)
                if broken:
                    return broken
            progress = instance.call("resume", payload.ticket, now_ms())
        return progress.payload.reason if progress.tag == "failed" else None

    def _crowd(self, host: Host, members: list[str]) -> str | None:
        """One after the other, each as if it were a process of its own: a store belongs to one thread."""
        for ticket in members:
            progress = self._instance(host).call("resume", ticket, now_ms())
            if progress.tag == "failed":
                return progress.payload.reason
        return None

    def _instance(self, host: Host) -> "_Instance":
        return _Instance(self._engine, self._component, host)


class _Instance:
    """An instance of the kit on a store and jobs that were opened for it."""

    def __init__(self, engine: Engine, component: Component, host: Host):
        store, self._jobs = host.open()
        linker = Linker(engine)
        imports.define(linker, store, self._jobs, lambda function: function)
        self._store = wasmtime.Store(engine)
        self._store.set_wasi(WasiConfig())
        self._instance = linker.instantiate(self._store, component)
        self._interface = self._instance.get_export_index(self._store, imports.interface("conformance"))

    def call(self, name: str, *arguments: Any) -> Any:
        index = self._instance.get_export_index(self._store, name, self._interface)
        return self._instance.get_func(self._store, index)(self._store, *arguments)

    def wait(self, jobs: list[str], deadline: int) -> None:
        while now_ms() < deadline and all(isinstance(self._jobs.inspect(id), Progress) for id in jobs):
            time.sleep(POLL_SECONDS)
