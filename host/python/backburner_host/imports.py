"""What the component imports: looks up, converts, delegates.

How wasmtime-py shows WIT types, as found out with version 50: a record is an object whose attributes have the WIT's
names, hyphens included; an enum is a text; a variant, an option or a result is the bare payload where the payloads of
its cases are of different Python types, and a `Variant` with tag and payload where they are not (two records are not).
An exception in an import ends the component's call as a trap and is raised again by it; so an expected failure is
returned as a value here.
"""

import dataclasses
import re
from collections.abc import Callable
from typing import Any

from wasmtime.component import Linker, Record, Variant

from . import byte_lists
from . import capabilities as cap

PACKAGE = "backburner:server"
VERSION = "0.1.0"

_JOB_ID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_END_TAGS = {cap.Exited: "exited", cap.Signalled: "signalled", cap.NotStarted: "not-started", cap.Lost: "lost"}


def interface(name: str) -> str:
    """The full name of one of our interfaces."""
    return f"{PACKAGE}/{name}@{VERSION}"


def define(linker: Linker, store: cap.Store | None, jobs: cap.Jobs, around: Callable[[Callable], Callable]) -> None:
    """Give a linker WASI, the jobs, and the store where there is one. `around` wraps each function of these two."""
    byte_lists.install()
    linker.add_wasip2()
    interfaces = {"jobs": _JobsImports(jobs)} | ({"store": _StoreImports(store)} if store is not None else {})
    with linker.root() as root:
        for name, functions in interfaces.items():
            with root.add_instance(interface(name)) as instance:
                for function in functions.NAMES:
                    instance.add_func(function, around(getattr(functions, function)))


class _StoreImports:
    """The interface `store`; the first argument of each function is wasmtime's and not needed."""

    NAMES = ("get", "scan", "commit")

    def __init__(self, store: cap.Store):
        self._store = store

    def get(self, _caller: Any, key: str) -> Variant:
        try:
            found = self._store.get(key)
        except cap.StoreError as error:
            return Variant("err", _error(error))
        return Variant("ok", None if found is None else to_record(found))

    def scan(self, _caller: Any, prefix: str, after: str | None, limit: int) -> list[Record] | Record:
        try:
            return [to_record(entry) for entry in self._store.scan(prefix, after, limit)]
        except cap.StoreError as error:
            return _error(error)

    def commit(self, _caller: Any, changes: list[Variant]) -> Record | None:
        try:
            self._store.commit([_change(change) for change in changes])
        except cap.StoreError as error:
            return _error(error)
        return None


class _JobsImports:
    """The interface `jobs`. What does not parse as a UUID in its lower-case form names no job."""

    NAMES = ("start", "stop", "inspect", "answer", "enter", "read", "forget")

    def __init__(self, jobs: cap.Jobs):
        self._jobs = jobs

    def start(self, _caller: Any, id: str, spec: Record) -> Record | None:
        try:
            if not _is_job_id(id):
                raise cap.StartError("bad-spec", "a job's name is a UUID")
            self._jobs.start(id, cap.Spec(**_fields(spec)))
        except cap.StartError as error:
            return _error(error)
        return None

    def stop(self, _caller: Any, id: str, reason: str) -> Record | None:
        if not _is_job_id(id):
            return _failure("a job's name is a UUID")
        return _attempt(lambda: self._jobs.stop(id, reason))

    def inspect(self, _caller: Any, id: str) -> Variant | Record:
        return _attempt(lambda: _state(self._jobs.inspect(id) if _is_job_id(id) else None))

    def answer(self, _caller: Any, id: str, key: str, answer: str) -> Record | None:
        return _attempt(lambda: self._jobs.answer(id, key, answer)) if _is_job_id(id) else None

    def enter(self, _caller: Any, id: str, key: str, line: str | None) -> Record | None:
        return _attempt(lambda: self._jobs.enter(id, key, line)) if _is_job_id(id) else None

    def read(self, _caller: Any, id: str, offset: int, limit: int) -> list[Record] | Record:
        if not _is_job_id(id):
            return []
        return _attempt(lambda: [to_record(it) for it in self._jobs.read(id, offset, limit)])

    def forget(self, _caller: Any, id: str) -> Record | None:
        return _attempt(lambda: self._jobs.forget(id)) if _is_job_id(id) else None


def to_record(value: Any) -> Record:
    """A dataclass as a WIT record."""
    record = Record()
    for field in dataclasses.fields(value):
        setattr(record, field.name.replace("_", "-"), getattr(value, field.name))
    return record


def _fields(record: Record) -> dict[str, Any]:
    return {name.replace("-", "_"): value for name, value in vars(record).items()}


def _error(error: cap.StoreError | cap.StartError) -> Record:
    record = Record()
    record.kind, record.detail = error.kind, _text(error.detail)
    return record


def _failure(detail: str) -> Record:
    record = Record()
    record.detail = _text(detail)
    return record


def _text(detail: str) -> str:
    """What the component can take: a directory may have a name that is no text, and be named in an error."""
    return detail.encode(errors="replace").decode()


def _attempt(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except cap.JobsFailure as error:
        return _failure(str(error))


def _is_job_id(id: str) -> bool:
    return _JOB_ID.fullmatch(id) is not None


def _change(change: Variant) -> cap.Change:
    step = change.payload
    expect = cap.Expectation(step.expect.tag, step.expect.payload)
    return cap.Change(step.key, step.value if change.tag == "put" else None, expect)


def _state(state: cap.Progress | cap.Outcome | None) -> Variant:
    if state is None:
        return Variant("unknown")
    record = to_record(state)
    if isinstance(state, cap.Progress):
        record.questions = [to_record(question) for question in state.questions]
        record.prompt = None if state.prompt is None else to_record(state.prompt)
        record.report = None if state.report is None else to_record(state.report)
        return Variant("running", record)
    record.end = Variant(_END_TAGS[type(state.end)], to_record(state.end))
    record.leftovers = [to_record(process) for process in state.leftovers]
    return Variant("ended", record)
