"""Measures what this host costs: `python costs.py COMPONENT`. Run it on a quiet machine.

With `--quick` everything is measured once: that shows that it can be measured, and says nothing of the costs.
"""

import argparse
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

OUTPUT_BYTES = (0, 1024, 100_000, 1_000_000)
"""How much the jobs have written whose tasks are read. The second is that of the other hosts' benchmarks."""


class Bench:
    """Measures, and prints what it measured."""

    def __init__(self, is_quick: bool):
        self._is_quick = is_quick

    def measure(self, what: str, times: int, call: Callable[[], object]) -> None:
        """Print the median and the least time that a call takes."""
        taken = []
        for _time in range(1 if self._is_quick else times):
            began = time.perf_counter()
            call()
            taken.append(time.perf_counter() - began)
        print(f"{what:72} {statistics.median(taken) * 1000:10.3f} {min(taken) * 1000:10.3f} ms")


def request(method: str, params: str = "") -> str:
    """A request as a client with tasks sends it."""
    return f'{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}{META}}}}}'


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("component", type=Path, help="the component's file")
    parser.add_argument("--quick", action="store_true", help="measure everything once")
    options = parser.parse_args()
    component, bench = options.component, Bench(options.quick)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        directory = Path(name)
        print(f"{'size of the component':72} {component.stat().st_size:10} bytes")
        print(f"{'':72} {'median':>10} {'least':>10}")
        bench.measure("import of wasmtime, in a new process", 5, lambda: _python("import wasmtime.component"))
        bench.measure("compile", 5, lambda: Program(component))
        Program(component, directory)
        bench.measure("load what was compiled before", 20, lambda: Program(component, directory))
        program = Program(component, directory)
        jobs = SupervisedJobs(directory)
        bench.measure("instantiate and configure", 50, lambda: Guest(program, MemoryStore(), jobs))
        for store in (MemoryStore(), SqliteStore(directory / "store")):
            _measure_calls(bench, Guest(program, store, jobs), jobs, type(store).__name__)


def _measure_calls(bench: Bench, guest: Guest, jobs: SupervisedJobs, store: str) -> None:
    def measure(what: str, times: int, body: str) -> None:
        bench.measure(f"{store}: {what}", times, partial(guest.message, "costs", body))

    bench.measure(f"{store}: refuse", 1000, lambda: guest.refuse("", "too-large"))
    measure("server/discover", 1000, request("server/discover"))
    measure("tools/list", 1000, request("tools/list"))
    unknown = '"taskId":"00000000-0000-4000-8000-000000000000",'
    measure("tasks/get of an unknown task", 1000, request("tasks/get", unknown))
    for size in OUTPUT_BYTES:
        job = _ended_job(guest, jobs, f"head -c {size} /dev/zero | tr '\\\\0' x")
        get = request("tasks/get", f'"taskId":"{job}",')
        measure(f"first tasks/get after a job with {size} bytes of output", 1, get)
        measure(f"every later tasks/get of it ({size} bytes)", 200, get)
    run = request("tools/call", '"name":"run","arguments":{"command":"true"},')
    measure("tools/call until the task is durable and its job started", 20, run)


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
