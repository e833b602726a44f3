"""Runs a command as a task and goes away, without waiting for it: `leave.py DATA-DIR COMMAND`. Prints the task's id."""

import sys

import anyio

from session import create, opened


async def main(data_dir: str, command: str) -> None:
    async with opened(data_dir) as client:
        print((await create(client, command)).task_id)


anyio.run(main, *sys.argv[1:])
