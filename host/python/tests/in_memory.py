"""A server whose tasks are in memory, for the corpus of transcripts: one process, which serves client after client.

Its flags are those of `backburner-host serve`. The store is a `MemoryStore`, or what the component brings where that is
composed with one. A line of nothing but EOT, the byte 4, ends the input of one client and begins that of the next:
their servers are others, the guest stays. So this process is what a data directory is for servers that keep their tasks
on a disk.

It is no test, and is run as a script: it takes the package that is installed.
"""

import asyncio
import os
import queue
import threading
from argparse import Namespace
from collections.abc import Iterator

from backburner_host.guest import Guest
from backburner_host.jobs import SupervisedJobs
from backburner_host.memory_store import MemoryStore
from backburner_host.serve import assembled, parsed
from backburner_host.server import Server
from backburner_host.stdio import Input, Output, take_streams

NEXT_CLIENT = b"\x04\n"


def main() -> None:
    """Serve all clients of standard input and output."""
    options = parsed()
    reading, writing = take_streams()
    guest, jobs = assembled(options, lambda _data: MemoryStore())
    for client in _clients(reading):
        # An event loop for each, as if it were a process: what a server leaves in it ends with it.
        asyncio.run(_serve(guest, jobs, options, (client, writing)))


async def _serve(guest: Guest, jobs: SupervisedJobs, options: Namespace, streams: tuple[int, int]) -> None:
    client, writing = streams
    await Server(guest, jobs, (Input(client, options.max_message_bytes), Output(writing))).run()
    os.close(client)


def _clients(reading: int) -> Iterator[int]:
    """What each client sends, as a descriptor: when the one before has its replies."""
    clients: queue.SimpleQueue[int | None] = queue.SimpleQueue()
    threading.Thread(target=_divide, args=(reading, clients), name="clients", daemon=True).start()
    return iter(clients.get, None)


def _divide(reading: int, clients: "queue.SimpleQueue[int | None]") -> None:
    with open(reading, "rb") as lines:
        is_over = False
        while not is_over:
            client, sending = os.pipe()
            clients.put(client)
            with open(sending, "wb", buffering=0) as messages:
                is_over = not _send_one(lines, messages)
    clients.put(None)


def _send_one(lines, messages) -> bool:
    """Send what is of one client. Whether there is another one."""
    for line in lines:
        if line == NEXT_CLIENT:
            return True
        messages.write(line)
    return False


if __name__ == "__main__":
    main()
