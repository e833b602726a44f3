"""The output of a job on disk: raw bytes in segments, and beside each an index of what belongs to whom.

A segment is two files named after the offset of its first byte: `out-<offset>` holds the bytes as they came,
`idx-<offset>` entries of 16 bytes, each for a run of bytes of one stream. So the total is the last segment's offset
and size, and a position is found by binary search.

Within the limit the first segment, half of it, is the beginning of the output and stays; the others, an eighth each,
are its end, and the oldest of them is deleted when a new one is needed. Index entries count as output. Bytes are
written before their entry; bytes without one, after a supervisor was killed in between, count as standard output.
"""

import contextlib
import os
import re
import struct
from bisect import bisect_right
from collections import deque, namedtuple

from . import limits
from .clock import monotonic_ms, now_ms
from .job_files import NATURAL_MAX, Damaged, create, modified_at, open_file

STREAMS = ("stdout", "stderr")

Run = namedtuple("Run", "offset at stream bytes")
"""Bytes of one stream that follow each other: how many came before, when the first did, which stream, what."""

_ENTRY = struct.Struct("<QQ")
"""The offset after a run's last byte; when its first was seen, shifted by one, with the stream below."""

_NAME = re.compile("out-(0|[1-9][0-9]{0,17})")
"""What a segment is called: no number that a file's position could not be."""


class Recorder:
    """Takes whatever comes, keeps what the limit and the disk allow, counts the rest. Never fails."""

    def __init__(self, path: str, limit_bytes: int):
        self.written_bytes = 0
        self.dropped_bytes = 0
        self._path = path
        self._limit_bytes = max(limit_bytes, limits.OUTPUT_LIMIT_LEAST_BYTES)
        self._open: _Segment | None = None
        self._kept: deque[tuple[int, int]] = deque()
        self._retry_at_ms = 0

    def record(self, stream: int, data: bytes) -> None:
        """Take bytes that follow all earlier ones; `stream` is an index of `STREAMS`."""
        while data:
            try:
                taken = self._append(stream, data)
            except OSError:
                # Full or broken: a job must not wait for the disk, which is tried again a little later.
                self._close()
                self._retry_at_ms = max(self._retry_at_ms, monotonic_ms() + limits.OUTPUT_RETRY_MS)
                taken = len(data)
                self.dropped_bytes += taken
            self.written_bytes += taken
            data = data[taken:]

    def sync(self) -> None:
        """Make what is kept survive a power failure; what the disk refuses, or the job took away, counts as dropped."""
        self._close()
        for segment in list(self._kept):
            if not _sync_segment(self._path, segment[0]):
                self._kept.remove(segment)
                self.dropped_bytes += segment[1]

    def sacrifice(self) -> bool:
        """Delete the oldest part of the end, the beginning last, to make room. Whether there was anything."""
        self._close()
        if not self._kept:
            return False
        self._drop(1 if len(self._kept) > 1 else 0)
        return True

    def _append(self, stream: int, data: bytes) -> int:
        at = now_ms()
        if self._open is None or self._open.room(stream, at) <= 0:
            self._close()
            if monotonic_ms() < self._retry_at_ms:
                raise OSError("the disk was full a moment ago")
            self._begin_segment()
        return self._open.append(stream, data, at)

    def _begin_segment(self) -> None:
        is_head = self.written_bytes == 0
        if len(self._kept) > limits.TAIL_SEGMENTS:
            self._drop(1)
        share = 2 if is_head else 2 * limits.TAIL_SEGMENTS
        self._open = _Segment(self._path, self.written_bytes, self._limit_bytes // share)

    def _close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._kept.append((self._open.start, self._open.length))
            self._open = None

    def _drop(self, index: int) -> None:
        start, length = self._kept[index]
        del self._kept[index]
        self.dropped_bytes += length
        for kind in ("out", "idx"):
            try:
                os.unlink(os.path.join(self._path, f"{kind}-{start}"))
            except OSError:
                # What cannot be deleted stays readable, and counts as dropped all the same.
                pass


class _Segment:
    """The segment that is being written."""

    def __init__(self, path: str, start: int, capacity: int):
        # The index first: whoever finds the bytes finds it too.
        self._index = create(os.path.join(path, f"idx-{start}"))
        try:
            self._data = create(os.path.join(path, f"out-{start}"))
        except OSError:
            os.close(self._index)
            raise
        self._capacity = capacity
        self._entries = 0
        self._last_at, self._last_stream = -1, -1
        self.start, self.length = start, 0

    def close(self) -> None:
        os.close(self._index)
        os.close(self._data)

    def room(self, stream: int, at: int) -> int:
        """How many bytes of this stream still fit."""
        entries = self._entries + (not self._extends(stream, at))
        return self._capacity - self.length - entries * _ENTRY.size

    def append(self, stream: int, data: bytes, at: int) -> int:
        """Write at least one byte and its entry, or nothing."""
        taken = os.pwrite(self._data, data[: self.room(stream, at)], self.length)
        if not self._extends(stream, at):
            self._entries += 1
            self._last_at, self._last_stream = at, stream
        end = self.start + self.length + taken
        entry = _ENTRY.pack(end, self._last_at << 1 | stream)
        try:
            os.pwrite(self._index, entry, (self._entries - 1) * _ENTRY.size)
        except OSError:
            # Bytes whose stream nobody would know are not kept.
            os.ftruncate(self._data, self.length)
            raise
        self.length += taken
        return taken

    def _extends(self, stream: int, at: int) -> bool:
        return self._last_stream == stream and 0 <= at - self._last_at < limits.ENTRY_SPAN_MS


def sync(path: str) -> int:
    """Make all output survive a power failure. Gives how many bytes of it may not."""
    refused = 0
    for start in _segments(path):
        if not _sync_segment(path, start):
            refused += _size(path, start)
    return refused


def usage(path: str) -> tuple[int, int, int | None]:
    """How many bytes were written, how many of them are not kept, and when the last was, in milliseconds since 1970.

    Any process of the job may have put another segment beside these, or made one longer: then the numbers are wrong,
    and numbers all the same.
    """
    written, kept, last_at = 0, 0, None
    for start in _segments(path):
        try:
            found = os.lstat(os.path.join(path, f"out-{start}"))
        except FileNotFoundError:
            continue
        written = start + found.st_size
        kept += found.st_size
        # Of an empty one too: the job wrote then, and there was no room for it.
        last_at = modified_at(found)
    written = min(written, NATURAL_MAX)
    return written, max(0, written - kept), last_at


def read(path: str, offset: int, limit: int, is_growing: bool) -> list[Run]:
    """Read kept output in order, from the first kept byte at or after `offset`, at most `limit` bytes.

    `is_growing`: a supervisor lives, and bytes without an entry are about to get one.
    """
    runs: list[Run] = []
    for start in _segments(path):
        if limit <= 0 or len(runs) >= limits.READ_FRAGMENTS_MAX:
            break
        try:
            found = _read_segment(path, start, (offset, limit, is_growing))
        except (FileNotFoundError, Damaged):
            # Deleted since it was listed, to make room for something newer, or by the job.
            continue
        for run in found[: limits.READ_FRAGMENTS_MAX - len(runs)]:
            runs.append(run)
            limit -= len(run.bytes)
            # The job may have made segments that overlap.
            offset = run.offset + len(run.bytes)
    return runs


def _segments(path: str) -> list[int]:
    """Where each segment begins. What else is called `out-…` is none."""
    with os.scandir(path) as entries:
        names = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
    return sorted(int(found[1]) for name in names if (found := _NAME.fullmatch(name)))


def _size(path: str, start: int) -> int:
    try:
        return os.lstat(os.path.join(path, f"out-{start}")).st_size
    except FileNotFoundError:
        return 0


def _sync_segment(path: str, start: int) -> bool:
    """Make one segment survive a power failure. Whether it does."""
    try:
        # The bytes first: an entry without its bytes would promise some.
        for kind in ("out", "idx"):
            with open_file(os.path.join(path, f"{kind}-{start}")) as file:
                os.fsync(file.fileno())
    except (OSError, Damaged):
        return False
    return True


def _read_segment(path: str, start: int, wanted: tuple[int, int, bool]) -> list[Run]:
    """The runs of one segment that are in what is wanted."""
    offset, limit, is_growing = wanted
    # In this order: bytes are deleted before their index.
    index_of_it = contextlib.closing(_Index(os.path.join(path, f"idx-{start}")))
    with index_of_it as index, open_file(os.path.join(path, f"out-{start}")) as file:
        found = os.fstat(file.fileno())
        first = max(offset, start)
        if first >= start + found.st_size:
            # Also what no file could be as long as.
            return []
        number = index.first_after(first)
        file.seek(first - start)
        data = file.read(limit)
        entries = index.entries(number)
        if number + len(entries) >= index.length and not is_growing:
            last_at = index.entry(index.length - 1)[1] if index.length else modified_at(found) << 1
            entries.append((start + found.st_size, last_at & ~1))
    return _cut(data, first, entries)


class _Index:
    """The index of a segment, however long the job made it; an empty one where the job took it away."""

    def __init__(self, path: str):
        self.length = 0
        self._file = None
        with contextlib.suppress(FileNotFoundError, Damaged):
            self._file = open_file(path)
            self.length = os.fstat(self._file.fileno()).st_size // _ENTRY.size

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def entry(self, number: int) -> tuple[int, int]:
        """The entry with this number. Raises `Damaged` where the index was made shorter meanwhile."""
        packed = os.pread(self._file.fileno(), _ENTRY.size, number * _ENTRY.size)
        if len(packed) < _ENTRY.size:
            raise Damaged("the index was made shorter")
        return _ENTRY.unpack(packed)

    def first_after(self, offset: int) -> int:
        """The number of the first entry of a run that ends after `offset`."""
        return bisect_right(range(self.length), offset, key=lambda number: self.entry(number)[0])

    def entries(self, number: int) -> list[tuple[int, int]]:
        """As many entries from this one on as one read takes."""
        if self._file is None:
            return []
        packed = os.pread(self._file.fileno(), limits.READ_FRAGMENTS_MAX * _ENTRY.size, number * _ENTRY.size)
        return list(_ENTRY.iter_unpack(packed[: len(packed) // _ENTRY.size * _ENTRY.size]))


def _cut(data: bytes, first: int, entries: list[tuple[int, int]]) -> list[Run]:
    """Cut bytes, the first of which has the offset `first`, where the index says."""
    runs: list[Run] = []
    place, last = first, first + len(data)
    for end, packed in entries:
        end = min(end, last)
        # Also where the job has written entries that go backwards: what follows them is nobody's.
        if end <= place:
            break
        runs.append(Run(place, packed >> 1, STREAMS[packed & 1], data[place - first : end - first]))
        place = end
    return runs
