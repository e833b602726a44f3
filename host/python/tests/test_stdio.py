"""Messages out of a byte stream, and into one."""

import asyncio
import io
import os
import unittest
from functools import partial

from backburner_host import limits
from backburner_host.stdio import Line, Output, Special, lines

from .support import PATIENCE_SECONDS

LIMIT_BYTES = 8


class Lines(unittest.TestCase):
    """Cutting a stream into messages."""

    def check(self, stream: bytes, expected: list[Line]) -> None:
        for chunk_bytes in (1, 3, 64):
            read = partial(io.BytesIO(stream).read, chunk_bytes)
            self.assertEqual(list(lines(read, LIMIT_BYTES)), expected)

    def test_each_line_is_a_message(self) -> None:
        self.check(b"one\ntwo\n", [b"one", b"two"])
        self.check(b"one\r\ntwo", [b"one", b"two"])
        self.check(b"", [])

    def test_empty_lines_are_skipped(self) -> None:
        self.check(b"\n\r\n\none\n\n", [b"one"])

    def test_a_line_of_the_limit_is_accepted_and_a_longer_one_is_not(self) -> None:
        self.check(b"12345678\n", [b"12345678"])
        self.check(b"123456789\nnext\n", [Special.TOO_LARGE, b"next"])
        self.check(b"123456789", [Special.TOO_LARGE])

    def test_bytes_that_are_not_text_arrive_as_they_are(self) -> None:
        self.check(b"\xff\x00\n", [b"\xff\x00"])


class Messages(unittest.IsolatedAsyncioTestCase):
    """What a client is sent over a pipe."""

    async def asyncSetUp(self) -> None:
        # Else it is written down how long a busy machine takes.
        asyncio.get_running_loop().set_debug(False)

    def setUp(self) -> None:
        self.read_end, self.write_end = os.pipe()
        self.addCleanup(os.close, self.write_end)

    async def test_a_client_that_reads_late_gets_all_of_it(self) -> None:
        self.addCleanup(os.close, self.read_end)
        output, message = Output(self.write_end), "x" * 200_000
        output.send(message)
        taking = asyncio.create_task(output.taken(PATIENCE_SECONDS))
        done, _waiting = await asyncio.wait([taking], timeout=0.1)
        self.assertEqual(done, set(), "most of it is unread")
        read = b""
        while len(read) <= len(message):
            read += await asyncio.to_thread(os.read, self.read_end, 1 << 20)
        self.assertEqual(read, message.encode() + b"\n")
        await taking

    async def test_a_client_that_takes_nothing_is_not_waited_for_for_ever(self) -> None:
        output = Output(self.write_end)
        output.send("x" * 200_000)
        async with asyncio.timeout(PATIENCE_SECONDS):
            await output.taken(0.1)
        # Its thread ends with the pipe.
        os.close(self.read_end)
        async with asyncio.timeout(PATIENCE_SECONDS):
            await output.is_closed.wait()

    async def test_a_client_that_is_gone_keeps_nobody(self) -> None:
        output = Output(self.write_end)
        for _message in range(3):
            output.send("x" * limits.UNREAD_REPLIES_BYTES)
        waiting = asyncio.create_task(output.room())
        os.close(self.read_end)
        async with asyncio.timeout(PATIENCE_SECONDS):
            await waiting
            await output.taken(2 * PATIENCE_SECONDS)

    async def test_nobody_waits_for_room_once_the_last_is_sent(self) -> None:
        output = Output(self.write_end)
        output.send("x" * 2 * limits.UNREAD_REPLIES_BYTES)
        waiting = asyncio.create_task(output.room())
        done, _waiting = await asyncio.wait([waiting], timeout=0.1)
        self.assertEqual(done, set())
        output.close()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await waiting
            await output.room()
        os.close(self.read_end)
        async with asyncio.timeout(PATIENCE_SECONDS):
            await output.is_closed.wait()
