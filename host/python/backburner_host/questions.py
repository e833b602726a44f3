"""What a job asks and is answered, as files in `questions/` in its directory. No server and no supervisor has a part.

| name | what it is |
|---|---|
| `KEY.asked` | what is asked, and since when |
| `KEY.wake` | a FIFO that the asker reads for as long as it lives; a byte in it makes it look for an answer |
| `KEY.answer` | the answer: made in one step, the first one stays |

A question is open for as long as it is asked, is not answered, and its asker lives: that is the FIFO, and never a
process id. Any process of the job may have written anything here, and what is damaged is no question.
"""

import errno
import os
import re
import select
import time

from . import limits
from .capabilities import Question
from .clock import now_ms
from .job_files import is_natural, link, read_record, sync, wake, write_record

_FORM_WRITTEN_BYTES_MAX = limits.ESCAPED_BYTES * limits.FORM_BYTES_MAX + limits.RECORD_BYTES
_ANSWER_WRITTEN_BYTES_MAX = limits.ESCAPED_BYTES * limits.ANSWER_BYTES_MAX + limits.RECORD_BYTES
_KEY = re.compile("[a-z0-9-]{1,64}")


def all_open(job: str) -> list[Question]:
    """The open questions of the job in the directory `job`, oldest first."""
    directory = _directory(job)
    found: list[Question] = []
    for key in _asked_keys(directory):
        if len(found) == limits.QUESTIONS_MAX:
            break
        if question := _find_open(directory, key):
            found.append(question)
    return found


def answer(job: str, key: str, text: str) -> None:
    """Answer a question, power-safe on return, and wake its asker. One that is not open is left as it is."""
    directory = _directory(job)
    if key not in _asked_keys(directory) or _find_open(directory, key) is None:
        return
    _conclude(directory, key, text)
    _wake(directory, key)


class Asker:
    """A question of this process, which is one of the job. Withdrawn by `withdraw`, and by the end of the process."""

    def __init__(self, job: str, form: str):
        """Ask. Raises `ValueError` where the question is too long, or the job asks too many others."""
        length = len(form.encode())
        if length > limits.FORM_BYTES_MAX:
            raise ValueError(f"a question may have {limits.FORM_BYTES_MAX} bytes, and it has {length}")
        self._directory = _directory(job)
        os.makedirs(self._directory, mode=0o700, exist_ok=True)
        _tidy(self._directory)
        if len(all_open(job)) >= limits.QUESTIONS_MAX:
            raise ValueError(
                f"this job asks {limits.QUESTIONS_MAX} other questions: wait until one of them is answered"
            )
        # Sorts by its time. A job does not outlive the boot, so none comes twice.
        self._key = f"{time.monotonic_ns():016x}-{os.getpid()}"
        # Listens first: what is asked and has no listener is withdrawn.
        os.mkfifo(self._file("wake"), 0o600)
        # For writing too, so that it is never at its end.
        self._fifo: int | None = os.open(self._file("wake"), os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            write_record(self._file("draft"), {"form": form, "asked_at": now_ms()})
            os.rename(self._file("draft"), self._file("asked"))
        except OSError:
            self.withdraw()
            raise

    def answered(self, seconds: float | None = None) -> str | None:
        """Wait for the answer; `None` where there is none within so many seconds."""
        give_up_at = None if seconds is None else time.monotonic() + seconds
        while (found := self._answer()) is None:
            left = None if give_up_at is None else give_up_at - time.monotonic()
            if left is not None and left <= 0:
                return None
            # A day at most: longer ones are too long for some systems.
            select.select([self._fifo], [], [], min(left or 86_400, 86_400))
            _empty(self._fifo)
        return found

    def conclude(self, text: str) -> str:
        """Answer it itself, and give the answer in force: another one where somebody was quicker."""
        _conclude(self._directory, self._key, text)
        return self._answer() or text

    def withdraw(self) -> None:
        """Ask no longer. A second time does nothing."""
        _remove(self._directory, self._key)
        fifo, self._fifo = self._fifo, None
        if fifo is not None:
            os.close(fifo)

    def _answer(self) -> str | None:
        if not os.path.exists(self._file("answer")):
            return None
        found = read_record(self._file("answer"), _ANSWER_WRITTEN_BYTES_MAX).get("answer")
        if not isinstance(found, str):
            raise ValueError("the answer was damaged")
        return found

    def _file(self, what: str) -> str:
        return os.path.join(self._directory, f"{self._key}.{what}")


def _directory(job: str) -> str:
    return os.path.join(job, "questions")


def _asked_keys(directory: str) -> list[str]:
    """The keys of what was asked, in the order of their times.

    None where the job closed the directory, or put something else in its place.
    """
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EACCES):
            return []
        raise
    try:
        names = os.listdir(descriptor)
    finally:
        os.close(descriptor)
    keys = [name.removesuffix(".asked") for name in names if name.endswith(".asked")]
    return sorted(key for key in keys if _KEY.fullmatch(key))


def _find_open(directory: str, key: str) -> Question | None:
    # In this order: an asker that withdraws takes away the question first and the answer last, so that none looks
    # unanswered meanwhile.
    path = os.path.join(directory, key)
    try:
        record = read_record(f"{path}.asked", _FORM_WRITTEN_BYTES_MAX)
        form, asked_at = record.get("form"), record.get("asked_at")
        is_question = isinstance(form, str) and len(form.encode()) <= limits.FORM_BYTES_MAX and is_natural(asked_at)
    except (OSError, ValueError):
        return None
    if not is_question:
        return None
    if os.path.exists(f"{path}.answer"):
        # Who answered it may have ended before it woke the asker.
        _wake(directory, key)
        return None
    return Question(key, form, asked_at) if _has_asker(directory, key) else None


def _conclude(directory: str, key: str, text: str) -> None:
    """Write an answer, unless there is one by now."""
    draft = os.path.join(directory, f"draft-{key}-{os.getpid()}")
    try:
        write_record(draft, {"answer": text})
        sync(draft)
        link(draft, os.path.join(directory, f"{key}.answer"))
    finally:
        _unlink(draft)
    sync(directory)


def _wake(directory: str, key: str, data: bytes = b"!") -> bool:
    """As `job_files.wake`, of an asker."""
    try:
        return wake(os.path.join(directory, f"{key}.wake"), data)
    except OSError:
        # The job put something else in the FIFO's place.
        return False


def _has_asker(directory: str, key: str) -> bool:
    return _wake(directory, key, b"")


def _tidy(directory: str) -> None:
    """Delete what askers left that were killed: for as long as one lives, what it asked has a listener."""
    for key in _asked_keys(directory):
        if not _has_asker(directory, key):
            _remove(directory, key)


def _remove(directory: str, key: str) -> None:
    for what in ("asked", "draft", "wake", "answer"):
        _unlink(os.path.join(directory, f"{key}.{what}"))


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError:
        # Something that the job put there and that is no file: not ours to delete.
        pass


def _empty(fifo: int) -> None:
    try:
        while os.read(fifo, 512):
            pass
    except BlockingIOError:
        pass
