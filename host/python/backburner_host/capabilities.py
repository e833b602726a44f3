"""What the component asks of its host, in Python's words: the WIT interfaces `store` and `jobs`.

The contract, with every promise, is in the comments of `wit/store.wit` and `wit/jobs.wit`. Implement the protocols
`Store` and `Jobs` of this module to put something else behind the component.
"""

from dataclasses import dataclass, field
from typing import Literal, Protocol


class StoreError(Exception):
    """A call of the store failed, and nothing of it has happened."""

    def __init__(self, kind: Literal["conflict", "no-space", "too-large", "corrupt", "other"], detail: str):
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


@dataclass(frozen=True)
class Versioned:
    """A value and the writing that it came from."""

    value: str
    version: int


@dataclass(frozen=True)
class Entry:
    """One row of a scan: a whole key, its value, and the writing that it came from."""

    key: str
    value: str
    version: int


@dataclass(frozen=True)
class Expectation:
    """What has to be true of a key at the moment of the commit."""

    kind: Literal["anything", "absent", "written-by"]
    version: int | None = None

    def is_met_by(self, version: int | None) -> bool:
        """Whether a key meets this that was last written by `version`; `None` where it does not exist."""
        match self.kind:
            case "anything":
                return True
            case "absent":
                return version is None
            case "written-by":
                return version == self.version


@dataclass(frozen=True)
class Change:
    """One step of a commit: write `value`, or remove the key where it is `None`."""

    key: str
    value: str | None
    expect: Expectation


class Store(Protocol):
    """Durable, ordered, transactional storage of small texts. Every method may raise `StoreError`."""

    def get(self, key: str) -> Versioned | None:
        """Read one key."""

    def scan(self, prefix: str, after: str | None, limit: int) -> list[Entry]:
        """Read keys that start with `prefix` and are greater than `after`, in the order of their UTF-8 bytes.

        Gives at most `limit` entries (1 to 1000), maybe fewer, and none only where there are no more.
        """

    def commit(self, changes: list[Change]) -> None:
        """Make all changes, or none; they survive a power failure when this returns."""


class StartError(Exception):
    """A job was not started, and has not run."""

    def __init__(self, kind: Literal["already-known", "bad-directory", "bad-spec", "no-space", "other"], detail: str):
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


class JobsFailure(Exception):
    """The host itself failed; nothing is known of what the call did, and trying again is safe."""


StopCause = Literal["timed-out", "cancelled", "expired", "shut-down"]
"""Why a job was stopped instead of ending by itself."""


@dataclass(frozen=True)
class Spec:
    """What to run, and how: the whole truth about a job."""

    command: str | list[str]
    """A line for a shell, or a program and its arguments."""
    directory: str | None
    environment: list[tuple[str, str]]
    stdin: str
    interactive: bool
    """Whether the command has a terminal."""
    timeout_ms: int | None
    lifetime_ms: int | None
    grace_ms: int
    output_limit_bytes: int


@dataclass(frozen=True)
class Question:
    """Something that a job waits to be told."""

    key: str
    form: str
    asked_at: int


@dataclass(frozen=True)
class Prompt:
    """What a job waits to be typed at its terminal."""

    key: str
    text: str
    hidden: bool
    asked_at: int


@dataclass(frozen=True)
class Report:
    """How far a job is, in its own words."""

    percent: int | None
    text: str
    at: int


@dataclass(frozen=True)
class Progress:
    """What is known of a job that runs."""

    started_at: int
    running_ms: int
    output_bytes: int
    last_output_at: int | None
    stopping: StopCause | None
    questions: list[Question] = field(default_factory=list)
    prompt: Prompt | None = None
    """`None` where it has no terminal, as the jobs of this package."""
    report: Report | None = None


@dataclass(frozen=True)
class Exited:
    """The command ended with an exit status, 0 to 255."""

    code: int


@dataclass(frozen=True)
class Signalled:
    """A signal ended the command."""

    signal: str
    core_dumped: bool


@dataclass(frozen=True)
class NotStarted:
    """The command was never executed."""

    detail: str


@dataclass(frozen=True)
class Lost:
    """Nobody saw how the job ended."""

    kind: Literal["supervisor", "machine", "files", "never-started"]


@dataclass(frozen=True)
class Process:
    """A process that was still there when its command had ended."""

    pid: int
    command: str


@dataclass(frozen=True)
class Outcome:
    """All there is to know of a job that ended. It never changes."""

    started_at: int
    ended_at: int
    duration_ms: int
    end: Exited | Signalled | NotStarted | Lost
    stopped: StopCause | None
    output_bytes: int
    dropped_bytes: int
    leftovers: list[Process]


@dataclass(frozen=True)
class Fragment:
    """A piece of output: bytes that follow each other, from one stream."""

    offset: int
    at: int
    stream: Literal["stdout", "stderr"]
    bytes: bytes


class Jobs(Protocol):
    """Work that outlives the process that started it. Every method but `start` may raise `JobsFailure`."""

    def start(self, id: str, spec: Spec) -> None:
        """Start a job, each id at most once, ever; raises `StartError`."""

    def stop(self, id: str, reason: Literal["cancelled", "expired"]) -> None:
        """Ask a job to stop; an unknown one is thereby known, ended and never started."""

    def inspect(self, id: str) -> Progress | Outcome | None:
        """What is known of a job now; `None` where it is unknown."""

    def answer(self, id: str, key: str, answer: str) -> None:
        """Answer an open question; does nothing where jobs have no way to ask."""

    def enter(self, id: str, key: str, line: str | None) -> None:
        """Type a line, or the end of the file, where a job waits at its terminal; does nothing where jobs have none."""

    def read(self, id: str, offset: int, limit: int) -> list[Fragment]:
        """Read output from the first kept byte at or after `offset`, at most `limit` bytes (1 to 262144)."""

    def forget(self, id: str) -> None:
        """Delete everything that is kept of a job that has ended; fails while it runs."""

    async def ended(self, id: str) -> None:
        """Return when the job does not run, or not any more. A wake-up and not a verdict: ask `inspect` then."""
