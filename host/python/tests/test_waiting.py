"""Requests that wait, of a client that does not read."""

import asyncio
import os
import types
import unittest
from unittest import mock

from backburner_host import limits
from backburner_host.guest import Cancellation, Notice, Outcome, Pending
from backburner_host.server import Server
from backburner_host.stdio import Output, Special

from .support import PATIENCE_SECONDS

LONG = "x" * 200_000
"""More than a pipe holds."""


class Guest:
    """A component that tells something of each request, and keeps it open until a moment that has passed.

    `cancel NAME` takes a request back.
    """

    def __init__(self) -> None:
        self.resumed: list[tuple[str, str]] = []

    def message(self, _principal: str, body: str) -> Outcome:
        if body.startswith("cancel "):
            return Cancellation(body.removeprefix("cancel "))
        return Notice([f"{body} begins {LONG}"], Pending(body, body, [], 0))

    def resume(self, _principal: str, pending: Pending, why: str, _body: str) -> Outcome:
        self.resumed.append((pending.request, why))
        return None if why == "cancelled" else f"{pending.request} ends {LONG}"


class Waiting(unittest.IsolatedAsyncioTestCase):
    """What is resumed, and when."""

    async def asyncSetUp(self) -> None:
        # Else it is written down how long a busy machine takes.
        asyncio.get_running_loop().set_debug(False)
        patch = mock.patch.object(limits, "UNREAD_REPLIES_BYTES", 1000)
        patch.start()
        self.addCleanup(patch.stop)
        self.read_end, write_end = os.pipe()
        self.addCleanup(os.close, write_end)
        self.text = b""
        self.guest = Guest()
        self.output = Output(write_end)
        # Else its thread would not end.
        self.addCleanup(os.close, self.read_end)
        self.server = Server(self.guest, None, (types.SimpleNamespace(next=self.next), self.output))
        self.lines: asyncio.Queue[bytes | Special] = asyncio.Queue()

    async def next(self) -> bytes | Special:
        return await self.lines.get()

    async def resumed(self, count: int) -> list[tuple[str, str]]:
        """What was resumed, when that are so many, and nothing more is."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while len(self.guest.resumed) < count:
                await asyncio.sleep(0.01)
        await self.turns()
        return self.guest.resumed

    async def turns(self) -> None:
        """Let everything happen that does not wait for anything."""
        for _turn in range(50):
            await asyncio.sleep(0)

    async def read(self, message: str) -> None:
        """Read what the client was sent, until this is among it."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while f"{message} {LONG}\n".encode() not in self.text:
                self.text += await asyncio.to_thread(os.read, self.read_end, 1 << 20)

    async def test_a_request_is_not_resumed_before_its_notifications_are_taken_and_one_after_the_other(self) -> None:
        for name in ("a", "b"):
            self.server._handle(name.encode())
        self.assertEqual(await self.resumed(0), [])
        await self.read("b begins")
        self.assertEqual(await self.resumed(1), [("a", "deadline")], "its reply is not taken yet")
        await self.read("a ends")
        self.assertEqual(await self.resumed(2), [("a", "deadline"), ("b", "deadline")])
        await self.read("b ends")

    async def test_what_is_taken_back_and_what_is_open_at_shutdown_waits_for_no_client(self) -> None:
        for name in ("a", "b", "cancel a"):
            self.server._handle(name.encode())
        self.assertEqual(await self.resumed(1), [("a", "cancelled")])
        ending = asyncio.create_task(self.server._shut_down())
        self.assertEqual(await self.resumed(2), [("a", "cancelled"), ("b", "shutdown")])
        await self.read("b ends")
        async with asyncio.timeout(PATIENCE_SECONDS):
            await ending
