"""The official client in Python with a small Tasks extension, over stdio, against the real binary."""

import asyncio
import itertools
import pathlib
import sys
import tempfile
import unittest

import anyio
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitRequest, ElicitResult

import tasks
from session import create, opened

HERE = pathlib.Path(__file__).parent

PATIENCE_SECONDS = 30
"""How long a task may take to be told of what has to come."""

ASKS = "backburner ask 'Go on?' --boolean; echo it ended with $?."
"""A command that asks a question."""


async def yes(request: ElicitRequest) -> ElicitResult:
    """Says yes to a question with one field."""
    (field,) = request.params.requested_schema["properties"]
    return ElicitResult(action="accept", content={field: True})


def until(path: pathlib.Path) -> str:
    """A command that waits for a file."""
    return f"until [ -e '{path}' ]; do sleep 0.01; done"


async def next_of(told: asyncio.Queue[tasks.ToldTask], status: str, says: str = "") -> tasks.ToldTask:
    """The next that is told with this status and these words."""
    last = None
    try:
        with anyio.fail_after(PATIENCE_SECONDS):
            while last is None or last.status != status or says not in last.status_message:
                last = await told.get()
    except TimeoutError:
        raise AssertionError(f"not told: {status} {says}; the last that came meanwhile is {last}") from None
    return last


class PythonClient(unittest.IsolatedAsyncioTestCase):
    """Each test has a directory of its own."""

    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory(prefix="backburner-python-")
        self.addCleanup(directory.cleanup)
        self.path = pathlib.Path(directory.name)
        self.data_dir = str(self.path / "data")

    async def leave(self, command: str) -> str:
        """Has another process run a command as a task and go away. Gives the task's id."""
        left = await anyio.run_process([sys.executable, HERE / "leave.py", self.data_dir, command], stderr=None)
        return left.stdout.decode().strip()

    async def test_discovery_offers_tools_and_tasks(self) -> None:
        async with opened(self.data_dir) as client:
            self.assertEqual(client.session.protocol_version, "2026-07-28")
            capabilities = client.session.server_capabilities
            assert capabilities and capabilities.extensions is not None
            self.assertEqual(capabilities.extensions[tasks.Tasks.identifier], {})
            listed = await client.list_tools()
            self.assertIn("run", [tool.name for tool in listed.tools])

    async def test_a_call_waits_for_the_true_result_of_its_task(self) -> None:
        async with opened(self.data_dir) as client:
            result = await client.call_tool("run", {"command": "sleep 0.2; echo well done; exit 3"})
            self.assertTrue(result.is_error)
            self.assertEqual(result.structured_content["exitCode"], 3)
            self.assertIn("well done", result.content[0].text)

    async def test_a_created_task_can_be_polled_to_its_end(self) -> None:
        async with opened(self.data_dir) as client:
            created = await create(client, "sleep 0.2; echo well done")
            self.assertEqual(created.status, "working")
            task = await tasks.end(client.session, created.task_id)
            self.assertEqual(task.status, "completed")
            self.assertIn("well done", task.result.content[0].text)

    async def test_a_cancelled_task_is_shown_as_cancelled(self) -> None:
        async with opened(self.data_dir) as client:
            created = await create(client, "sleep 600")
            for _ in range(2):
                await tasks.cancel(client.session, created.task_id)
            task = await tasks.end(client.session, created.task_id)
            self.assertEqual(task.status, "cancelled")

    async def test_a_new_process_goes_on_with_the_task_of_one_that_has_gone(self) -> None:
        go = self.path / "go"
        task_id = await self.leave(f"{until(go)}; echo after the session; exit 7")
        async with opened(self.data_dir) as client:
            between = await tasks.get(client.session, task_id)
            self.assertEqual(between.status, "working")
            go.touch()
            task = await tasks.end(client.session, task_id)
            self.assertEqual(task.result.structured_content["exitCode"], 7)
            self.assertIn("after the session", task.result.content[0].text)

    async def test_a_question_of_a_job_is_answered(self) -> None:
        async with opened(self.data_dir, answer=yes) as client:
            result = await client.call_tool("run", {"command": ASKS, "timeoutSeconds": 120})
            self.assertIn("it ended with 0.", result.content[0].text)

    async def test_a_question_can_be_declined(self) -> None:
        async def no(_request: ElicitRequest) -> ElicitResult:
            return ElicitResult(action="decline")

        async with opened(self.data_dir, answer=no) as client:
            result = await client.call_tool("run", {"command": ASKS, "timeoutSeconds": 120})
            self.assertIn("it ended with 1.", result.content[0].text)

    async def test_a_new_process_answers_the_question_of_a_job_whose_client_has_gone(self) -> None:
        task_id = await self.leave(ASKS)
        async with opened(self.data_dir, answer=yes) as client:
            task = await tasks.end(client.session, task_id, yes)
            self.assertIn("it ended with 0.", task.result.content[0].text)

    async def test_a_client_that_listens_is_told_a_question_its_answer_what_the_job_says_and_the_end(self) -> None:
        ask, say, end = (self.path / name for name in ("ask", "say", "end"))
        command = f"{until(ask)}; {ASKS}; {until(say)}; echo nearly done; {until(end)}; exit 7"
        told: asyncio.Queue[tasks.ToldTask] = asyncio.Queue()
        statuses: list[str] = []

        async def tell(task: tasks.ToldTask) -> None:
            statuses.append(task.status)
            await told.put(task)

        async with opened(self.data_dir, answer=yes, told=tell) as client:
            task_id = (await create(client, command)).task_id
            async with tasks.listening(client.session, task_id):
                await next_of(told, "working")
                ask.touch()
                asked = await next_of(told, "input_required")
                ((key, request),) = asked.input_requests.items()
                await tasks.update(client.session, task_id, {key: await yes(request)})
                answered = await next_of(told, "working")
                self.assertIsNone(answered.input_requests)
                say.touch()
                await next_of(told, "working", "nearly done")
                end.touch()
                ended = await next_of(told, "completed")
            self.assertEqual(ended.task_id, task_id)
            self.assertEqual(ended.result.structured_content["exitCode"], 7)
            self.assertIn("it ended with 0.", ended.result.content[0].text)
        # Nothing of it comes again, such as the question when it was answered.
        changes = [status for status, _ in itertools.groupby(statuses)]
        self.assertEqual(changes, ["working", "input_required", "working", "completed"])

    async def test_an_unknown_task_is_an_invalid_parameter(self) -> None:
        async with opened(self.data_dir) as client:
            with self.assertRaises(MCPError) as caught:
                await tasks.get(client.session, "0e7b9a7e-8f5c-4d55-9d0f-6f6c2d1b7a10")
            self.assertEqual(caught.exception.code, -32602)


if __name__ == "__main__":
    unittest.main()
