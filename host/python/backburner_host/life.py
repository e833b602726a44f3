"""When a job is stopped, how, and when it is over: a state machine without a clock, a file or a process.

    running ──stop──▶ ending ──grace──▶ killing
       │                ▲
       └─command ended─▶ lingering ──too long──┘      nothing left, in any state: over

All times are in milliseconds on the clock that does not jump.
"""

from . import limits

WAIT, TERMINATE, KILL = "wait", "terminate", "kill"
"""What a supervisor has to do now: nothing, ask everything that runs to end, or kill it."""


class Life:
    """The life of one job whose command runs."""

    def __init__(self, spec: dict, started_ms: int):
        self.stopped: str | None = None
        self.has_leftovers = False
        self._grace_ms = spec["grace_ms"]
        limited = {"timed-out": spec["timeout_ms"], "expired": spec["lifetime_ms"]}
        deadlines = [(started_ms + ms, cause) for cause, ms in limited.items() if ms is not None]
        self._first_deadline = min(deadlines, key=lambda deadline: deadline[0], default=None)
        self._phase = "running"
        self._until_ms = 0

    @property
    def is_running(self) -> bool:
        """Whether the command runs and nobody has stopped it."""
        return self._phase == "running"

    def overdue(self, now_ms: int) -> str | None:
        """Why the job is to be stopped because of the time alone; the caller then settles the cause with `stop`."""
        if not self.is_running or self._first_deadline is None:
            return None
        at_ms, cause = self._first_deadline
        return cause if now_ms >= at_ms else None

    def command_ended(self, now_ms: int) -> None:
        """The command has ended, and others may run."""
        if self.is_running:
            self._phase, self._until_ms = "lingering", now_ms + limits.LINGER_MS

    def stop(self, cause: str, now_ms: int) -> str:
        """Somebody wants the job to stop. The first cause stays; a command that ended by itself was not stopped."""
        if self._phase == "running":
            self.stopped = cause
            return self._end(now_ms)
        if self._phase == "lingering":
            return self._end_leftovers(now_ms)
        return WAIT

    def tick(self, now_ms: int) -> str:
        """Time has passed."""
        if self._phase == "running" or now_ms < self._until_ms:
            return WAIT
        return self._end_leftovers(now_ms) if self._phase == "lingering" else self._kill(now_ms)

    def wake_at_ms(self) -> int | None:
        """When to look at the clock again, if nothing else happens before."""
        if self._phase != "running":
            return self._until_ms
        return self._first_deadline[0] if self._first_deadline else None

    def _end_leftovers(self, now_ms: int) -> str:
        self.has_leftovers = True
        return self._end(now_ms)

    def _end(self, now_ms: int) -> str:
        if self._grace_ms == 0:
            return self._kill(now_ms)
        self._phase, self._until_ms = "ending", now_ms + self._grace_ms
        return TERMINATE

    def _kill(self, now_ms: int) -> str:
        self._phase, self._until_ms = "killing", now_ms + limits.KILL_AGAIN_MS
        return KILL
