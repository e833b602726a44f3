"""The Tasks extension for the official client, which brings none: what a client needs at least, and no more."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal

import anyio
from mcp.client import ClientSession
from mcp.client.extension import ClaimContext, ClientExtension, NotificationBinding, ResultClaim
from mcp_types import (
    CallToolResult,
    ElicitRequest,
    ElicitResult,
    ErrorData,
    Request,
    Result,
    SubscriptionFilter,
    SubscriptionsListenRequest,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
)

Answer = Callable[[ElicitRequest], Awaitable[ElicitResult]]
"""Who answers the questions of a task."""

Told = Callable[["ToldTask"], Awaitable[None]]
"""Who is told of the tasks that are listened to."""

TERMINAL = ("completed", "failed", "cancelled")


class Task(Result):
    """What every task says of itself."""

    task_id: str
    status: Literal["working", "input_required", "completed", "failed", "cancelled"]
    status_message: str | None = None
    created_at: str
    last_updated_at: str
    ttl_ms: int | None
    poll_interval_ms: int | None = None


class CreatedTask(Task):
    """The answer to a call that has become a task."""

    result_type: Literal["task"]


class ToldTask(Task):
    """What `notifications/tasks` says: all that there is of the task."""

    result: CallToolResult | None = None
    error: ErrorData | None = None
    input_requests: dict[str, ElicitRequest] | None = None


class DetailedTask(ToldTask):
    """The answer to `tasks/get`."""

    result_type: Literal["complete"]


class Acknowledgement(Result):
    """The answer to `tasks/update` and `tasks/cancel`."""

    result_type: Literal["complete"]


class TaskRequest(Request[dict[str, Any], str]):
    """A request about one task."""

    name_param = "taskId"


async def get(session: ClientSession, task_id: str) -> DetailedTask:
    """Asks how a task is."""
    request = TaskRequest(method="tasks/get", params={"taskId": task_id})
    return await session.send_request(request, DetailedTask)


async def cancel(session: ClientSession, task_id: str) -> None:
    """Asks to stop a task."""
    request = TaskRequest(method="tasks/cancel", params={"taskId": task_id})
    await session.send_request(request, Acknowledgement)


async def update(session: ClientSession, task_id: str, responses: dict[str, ElicitResult]) -> None:
    """Answers questions of a task."""
    inputs = {key: response.model_dump(by_alias=True, exclude_none=True) for key, response in responses.items()}
    request = TaskRequest(method="tasks/update", params={"taskId": task_id, "inputResponses": inputs})
    await session.send_request(request, Acknowledgement)


@asynccontextmanager
async def listening(session: ClientSession, task_id: str) -> AsyncIterator[None]:
    """Has the client told of a task. The client's own `listen` has no filter for tasks."""
    wanted = SubscriptionFilter(taskIds=[task_id])
    request = SubscriptionsListenRequest(params=SubscriptionsListenRequestParams(notifications=wanted))
    async with anyio.create_task_group() as group:
        group.start_soon(session.send_request, request, SubscriptionsListenResult)
        yield
        group.cancel_scope.cancel()


async def end(session: ClientSession, task_id: str, answer: Answer | None = None) -> DetailedTask:
    """Polls a task to its end, and has its questions answered, each of them once."""
    answered: set[str] = set()
    while True:
        task = await get(session, task_id)
        if task.status in TERMINAL:
            return task
        requests = (task.input_requests or {}).items()
        new = {key: await answer(request) for key, request in requests if answer and key not in answered}
        if new:
            await update(session, task_id, new)
            answered.update(new)
        else:
            await anyio.sleep((task.poll_interval_ms or 0) / 1000)


class Tasks(ClientExtension):
    """Makes `Client.call_tool` wait for the result of a call that has become a task."""

    identifier = "io.modelcontextprotocol/tasks"

    def __init__(self, answer: Answer | None = None, told: Told | None = None) -> None:
        self._answer = answer
        self._told = told

    def claims(self) -> Sequence[ResultClaim[Any]]:
        return (ResultClaim(result_type="task", model=CreatedTask, resolve=self._resolve),)

    def notifications(self) -> Sequence[NotificationBinding[Any]]:
        if self._told is None:
            return ()
        return (NotificationBinding(method="notifications/tasks", params_type=ToldTask, handler=self._told),)

    async def _resolve(self, created: CreatedTask, cx: ClaimContext) -> CallToolResult:
        task = await end(cx.session, created.task_id, self._answer)
        if task.result is None:
            raise RuntimeError(f"the task did not complete: {task}")
        return task.result
