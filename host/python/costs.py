"""Measures what this host costs: `python costs.py COMPONENT`. Run it on a quiet machine."""

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from backburner_host.guest import Guest, Program
from backburner_host.jobs import SupervisedJobs
from backburner_host.memory_store import MemoryStore
from backburner_host.store import SqliteStore

META = (
    '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":'
    '{"name":"costs","version":"0"},"io.modelcontextprotocol/clientCapabilities":'
    '{"extensions":{"io.modelcontextprotocol/tasks":{}}}}'
)


def request(method: str, params: str = "") -> str:
    """A request as a client with tasks sends it."""
    return f'{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}{META}}}}}'


def measure(what: str, times: int, call: Callable[[], object]) -> None:
    """Print the least and the median time that a call takes."""
    taken = []
    for _time in range(times):
        began = time.perf_counter()
        call()
        taken.append(time.perf_counter() - began)
    print(f"{what:64} {min(taken) * 1000:10.3f} {statistics.median(taken) * 1000:10.3f} ms")


def main() -> None:
    """Measure everything."""
    component = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        print(f"{'size of the component':64} {component.stat().st_size:10} bytes")
        measure("import of wasmtime, in a new process", 5, lambda: _python("import wasmtime.component"))
        measure("compile", 5, lambda: Program(component))
        Program(component, directory)
        measure("load what was compiled before", 20, lambda: Program(component, directory))
        program = Program(component, directory)
        jobs = SupervisedJobs(directory)
        measure("instantiate and configure", 50, lambda: Guest(program, MemoryStore(), jobs))
        for store in (MemoryStore(), SqliteStore(directory / "store")):
            _measure_calls(Guest(program, store, jobs), jobs, type(store).__name__)


def _measure_calls(guest: Guest, jobs: SupervisedJobs, store: str) -> None:
    def call(body: str) -> str:
        return guest.message("costs", body)

    measure(f"{store}: refuse", 1000, lambda: guest.refuse("", "too-large"))
    measure(f"{store}: server/discover", 1000, lambda: call(request("server/discover")))
    unknown = '"taskId":"00000000-0000-4000-8000-000000000000",'
    measure(f"{store}: tasks/get of an unknown task", 1000, lambda: call(request("tasks/get", unknown)))
    for size in (0, 1000, 100_000, 1_000_000):
        job = _ended_job(guest, jobs, f"head -c {size} /dev/zero | tr '\\\\0' x")
        get = partial(call, request("tasks/get", f'"taskId":"{job}",'))
        measure(f"{store}: first tasks/get after a job with {size} bytes of output", 1, get)
        measure(f"{store}: every later one", 200, get)
    run = request("tools/call", '"name":"run","arguments":{"command":"true"},')
    measure(f"{store}: tools/call until the task is durable and its job started", 20, lambda: call(run))


def _ended_job(guest: Guest, jobs: SupervisedJobs, command: str) -> str:
    pending = guest.message("costs", request("tools/call", f'"name":"run","arguments":{{"command":"{command}"}},'))
    (job,) = pending.jobs
    while not hasattr(jobs.inspect(job), "end"):
        time.sleep(0.01)
    return job


def _python(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], check=True)


if __name__ == "__main__":
    main()
