"""The client's two streams: one message a line, out of reach of everything else in this process.

A thread of its own reads and another one writes, since standard streams may be files, which no event loop can wait
for, and since a client that does not read must not stop anything else.
"""

import asyncio
import os
import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from enum import Enum

from . import limits

_CHUNK_BYTES = 65_536


class Special(Enum):
    """What a client's stream gives that is no message."""

    TOO_LARGE = "a line longer than the limit, which was thrown away"
    END = "the end of the stream"


Line = bytes | Special
"""A message without its line break, never empty, or what is none."""


def take_streams() -> tuple[int, int]:
    """Take standard input and output from this process, once, before anything reads or prints.

    Afterwards standard input is empty and standard output is standard error: whatever a library prints, nothing but a
    message gets to the client.
    """
    taken = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return taken


def lines(read: Callable[[], bytes], limit_bytes: int) -> Iterator[Line]:
    """Cut what `read` gives until it gives nothing. Empty lines are skipped; a last one without a line break counts.

    Holds at most the limit and one chunk in memory.
    """
    line = bytearray()
    chunk = read()
    while chunk:
        *complete, rest = chunk.split(b"\n")
        for piece in complete:
            line += piece
            yield from _finished(line, limit_bytes)
            line.clear()
        if len(line) <= limit_bytes:
            line += rest
        chunk = read()
    yield from _finished(line, limit_bytes)


def _finished(line: bytearray, limit_bytes: int) -> Iterator[Line]:
    if len(line) > limit_bytes:
        yield Special.TOO_LARGE
    elif message := bytes(line).removesuffix(b"\r"):
        yield message


class Input:
    """The messages of a client."""

    def __init__(self, descriptor: int, limit_bytes: int):
        """Read from `descriptor`, in the running event loop."""
        self._loop = asyncio.get_running_loop()
        # One line ahead: what is not worked on stays in the client's pipe.
        self._queue: asyncio.Queue[Line] = asyncio.Queue(1)
        arguments = (descriptor, limit_bytes)
        threading.Thread(target=self._read, args=arguments, name="input", daemon=True).start()

    async def next(self) -> Line:
        """The next message, or what is none."""
        return await self._queue.get()

    def _read(self, descriptor: int, limit_bytes: int) -> None:
        def read() -> bytes:
            try:
                return os.read(descriptor, _CHUNK_BYTES)
            except OSError:
                # The client's terminal is gone, for example: nothing more will come.
                return b""

        for line in lines(read, limit_bytes):
            self._hand_over(line)
        self._hand_over(Special.END)

    def _hand_over(self, line: Line) -> None:
        try:
            asyncio.run_coroutine_threadsafe(self._queue.put(line), self._loop).result()
        except (RuntimeError, CancelledError):
            # The server has ended, and nobody listens.
            pass


class Output:
    """Messages to a client, whole and one a line."""

    def __init__(self, descriptor: int):
        """Write to `descriptor`, in the running event loop."""
        self.is_closed = asyncio.Event()
        """Set when the client takes no more messages."""
        self._loop = asyncio.get_running_loop()
        self._queue: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._unread_bytes = 0
        self._is_taken = asyncio.Event()
        self._is_last = False
        threading.Thread(target=self._write, args=(descriptor,), name="output", daemon=True).start()

    def send(self, message: str) -> None:
        """Send one message. Never waits."""
        line = message.encode() + b"\n"
        self._unread_bytes += len(line)
        self._queue.put(line)

    def has_room(self) -> bool:
        """Whether no more waits for the client than may wait for one that does not read, or this is the last of it."""
        return self._unread_bytes <= limits.UNREAD_REPLIES_BYTES or self._is_last or self.is_closed.is_set()

    async def room(self) -> None:
        """Wait until there is room."""
        while not self.has_room():
            self._is_taken.clear()
            await self._is_taken.wait()

    def close(self) -> None:
        """Have nobody wait for room from now on: what is still sent is the last of it."""
        self._is_last = True
        self._is_taken.set()

    async def taken(self, seconds: float) -> None:
        """Wait until the client has taken everything, or has taken nothing for so long."""
        while self._unread_bytes and not self.is_closed.is_set():
            self._is_taken.clear()
            try:
                await asyncio.wait_for(self._is_taken.wait(), seconds)
            except TimeoutError:
                return

    def _write(self, descriptor: int) -> None:
        # Ends with the process where it is not the client that ends it.
        while True:
            rest = memoryview(self._queue.get())
            try:
                while rest:
                    count = os.write(descriptor, rest[: limits.PIECE_BYTES])
                    rest = rest[count:]
                    self._tell(self._taken, count)
            except OSError:
                return self._tell(self._closed)

    def _tell(self, callback: Callable[..., None], *arguments: int) -> None:
        try:
            self._loop.call_soon_threadsafe(callback, *arguments)
        except RuntimeError:
            # The loop has ended: the client took nothing for too long.
            pass

    def _taken(self, count: int) -> None:
        self._unread_bytes -= count
        self._is_taken.set()

    def _closed(self) -> None:
        self.is_closed.set()
        self._is_taken.set()
