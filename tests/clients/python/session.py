"""Sessions of the official client, and the server processes that they start."""

import os

from mcp import Client, StdioServerParameters
from mcp_types import ElicitRequestParams, ElicitResult

from tasks import Answer, CreatedTask, Tasks, Told

BACKBURNER = os.environ.get("BACKBURNER", "backburner")
"""The program that is tested."""


def opened(data_dir: str, answer: Answer | None = None, told: Told | None = None) -> Client:
    """A client that starts a server which never answers a call directly."""
    args = ["--data-dir", data_dir, "serve", "--direct-limit", "0"]
    server = StdioServerParameters(command=BACKBURNER, args=args, env=dict(os.environ))
    declared = _no_question if answer else None
    return Client(server, extensions=[Tasks(answer, told)], elicitation_callback=declared, read_timeout_seconds=60)


async def create(client: Client, command: str) -> CreatedTask:
    """Runs a command as a task, and does not wait for it."""
    # A job of a test that fails ends by itself.
    arguments = {"command": command, "timeoutSeconds": 120}
    created = await client.session.call_tool("run", arguments, allow_claimed=True)
    assert isinstance(created, CreatedTask), created
    return created


async def _no_question(_context: object, params: ElicitRequestParams) -> ElicitResult:
    """Declares to the server that this client answers questions. Those of tasks come by way of the tasks."""
    raise AssertionError(f"a question that no task asks: {params}")
