"""An MCP server over stdio: carries messages between one client and the component, and looks into none of them.

The component is called in the event loop's thread: such a call takes 0.2 to 1 ms, and its imports block on the disk.
For one client that is fine; what takes long are jobs, and those are awaited without blocking anything.
"""

import asyncio
import os
import resource
import signal
from dataclasses import dataclass

from . import limits
from .capabilities import Jobs
from .clock import now_ms
from .guest import Cancellation, Guest, Notice, Outcome, Pending, Wake, warn
from .stdio import Input, Line, Output, Special


@dataclass
class _Open:
    """A request that waits, the message that it came as, and where it is told not to wait any longer."""

    pending: Pending
    body: str
    told: asyncio.Future[Wake]

    def tell(self, why: Wake) -> None:
        if not self.told.done():
            self.told.set_result(why)


class Server:
    """One client's server."""

    def __init__(self, guest: Guest, jobs: Jobs, streams: tuple[Input, Output]):
        self._guest = guest
        self._jobs = jobs
        self._input, self._output = streams
        self._principal = f"uid:{os.geteuid()}"
        self._open: dict[asyncio.Task, _Open] = {}
        # Each has a descriptor; half of what this process may have is left for the rest.
        self._most_open = min(resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2, 10_000)

    async def run(self) -> None:
        """Serve until the client closes its stream or this process is asked to end. Jobs go on."""
        sweeping = asyncio.create_task(self._sweep_regularly())
        serving = asyncio.create_task(self._serve())
        asked = asyncio.create_task(_asked_to_end().wait())
        await asyncio.wait([serving, asked], return_when=asyncio.FIRST_COMPLETED)
        sweeping.cancel()
        if serving.done():
            return serving.result()
        serving.cancel()
        # Who asked this process to end does not wait for a client.
        await asyncio.wait([asyncio.create_task(self._shut_down())], timeout=limits.ASKED_PATIENCE_SECONDS)

    async def _serve(self) -> None:
        """Serve until the client has closed a stream, and then until everything is answered and taken."""
        closed = asyncio.create_task(self._output.is_closed.wait())
        working = asyncio.create_task(self._work())
        try:
            await asyncio.wait([closed, working], return_when=asyncio.FIRST_COMPLETED)
        finally:
            # Also where this is cancelled.
            working.cancel()
        await self._shut_down()

    async def _work(self) -> None:
        while (line := await self._input.next()) is not Special.END:
            self._handle(line)
            await self._output.room()

    def _handle(self, line: Line) -> None:
        if line is Special.TOO_LARGE:
            return self._carry_out(self._guest.refuse("", "too-large"), "")
        try:
            body = line.decode()
        except UnicodeDecodeError:
            return self._carry_out(self._guest.refuse("", "not-utf8"), "")
        self._carry_out(self._guest.message(self._principal, body), body)

    def _carry_out(self, outcome: Outcome, body: str) -> None:
        match outcome:
            case str():
                self._output.send(outcome)
            case Pending():
                self._keep_open(outcome, body)
            case Notice():
                self._tell(outcome)
                self._keep_open(outcome.pending, body)
            case Cancellation():
                for request in self._open.values():
                    if request.pending.request == outcome.request:
                        request.tell("cancelled")

    def _tell(self, notice: Notice) -> None:
        for message in notice.messages:
            self._output.send(message)

    def _keep_open(self, pending: Pending, body: str) -> None:
        request = _Open(pending, body, asyncio.get_running_loop().create_future())
        if len(self._open) >= self._most_open:
            # Answered as at shutdown: with what is known by now.
            request.tell("shutdown")
        task = asyncio.create_task(self._answer(request))
        self._open[task] = request
        task.add_done_callback(self._open.pop)

    async def _answer(self, request: _Open) -> None:
        """Wait, resume, and do so again for as long as the request stays open."""
        while True:
            why = await self._wake(request)
            why = await self._room(request) or why
            outcome = self._guest.resume(self._principal, request.pending, why, request.body)
            if isinstance(outcome, Notice):
                self._tell(outcome)
                request.pending = outcome.pending
            elif isinstance(outcome, Pending):
                request.pending = outcome
            else:
                return self._carry_out(outcome, request.body)
            # A job that ended and is not over, say because a process of it cannot be killed: look again, not at once.
            await asyncio.wait([request.told], timeout=limits.SHORTEST_WAIT_SECONDS)

    async def _wake(self, request: _Open) -> Wake:
        """Why the request is to be resumed, when it is."""
        ended = [asyncio.create_task(self._jobs.ended(id)) for id in request.pending.jobs]
        # One more, so that the deadline has come when the timer has.
        seconds = max(0, request.pending.deadline + 1 - now_ms()) / 1000
        try:
            await asyncio.wait([request.told, *ended], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if request.told.done():
                return request.told.result()
            return "job-ended" if any(job.done() for job in ended) else "deadline"
        finally:
            for job in ended:
                job.cancel()
            # What could not be waited for is for `inspect` to tell.
            await asyncio.gather(*ended, return_exceptions=True)

    async def _room(self, request: _Open) -> Wake | None:
        """Wait until the client takes what was sent, or the request is told not to wait, and give what it is told.

        Nothing happens between that and what the caller does: each request that is resumed may take the room of others.
        """
        while not (self._output.has_room() or request.told.done()):
            room = asyncio.create_task(self._output.room())
            await asyncio.wait([request.told, room], return_when=asyncio.FIRST_COMPLETED)
            room.cancel()
        return request.told.result() if request.told.done() else None

    async def _sweep_regularly(self) -> None:
        await asyncio.sleep(limits.FIRST_SWEEP_SECONDS)
        while True:
            at = self._guest.sweep()
            pause = limits.LONGEST_SWEEP_PAUSE_SECONDS if at is None else (at - now_ms()) / 1000
            shortest, longest = limits.SHORTEST_SWEEP_PAUSE_SECONDS, limits.LONGEST_SWEEP_PAUSE_SECONDS
            await asyncio.sleep(min(max(pause, shortest), longest))

    async def _shut_down(self) -> None:
        """Answer what is open with what is known by now, and wait for as long as the client takes its replies."""
        self._output.close()
        for request in self._open.values():
            request.tell("shutdown")
        await self._answered()
        if self._open:
            warn(f"{len(self._open)} requests stay without an answer")
        await self._output.taken(limits.UNTAKEN_PATIENCE_SECONDS)

    async def _answered(self) -> None:
        """Wait until no request is open, or none has been answered for too long."""
        patience, first = limits.WORK_PATIENCE_SECONDS, asyncio.FIRST_COMPLETED
        while self._open:
            done, _open = await asyncio.wait(list(self._open), timeout=patience, return_when=first)
            if not done:
                return


def _asked_to_end() -> asyncio.Event:
    """What is set when this process is asked to end by a signal."""
    asked = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, asked.set)
    return asked
