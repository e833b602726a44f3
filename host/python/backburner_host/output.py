"""The output of a job on disk: raw bytes in segments, and beside each an index of what belongs to whom.

A segment is two files named after the offset of its first byte: `out-<offset>` holds the bytes as they came,
`idx-<offset>` entries of 16 bytes, each for a run of bytes of one stream. So the total is the last segment's offset
and size, and a position is found by binary search.

Within the limit the first segment, half of it, is the beginning of the output and stays; the others, an eighth each,
are its end, and the oldest of them is deleted when a new one is needed. Index entries count as output. Bytes are
written before their entry; bytes without one, after a supervisor was killed in between, count as standard output.
"""

import os
import re
import struct
from bisect import bisect_right
from collections import deque, namedtuple

from . import limits
from .clock import monotonic_ms, now_ms
from .job_files import NATURAL_MAX, Damaged, create, open_file

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


def usage(path: str) -> tuple[int, int, int | None]:
    """How many bytes were written, how many of them are not kept, and when the last was, in milliseconds since 1970.

    Any process of the job may have put another segment beside these, or made one longer: then the numbers are wrong,
    and numbers all the same.
    """
    written, kept, last_at = 0, 0, None
    for start in _segments(path):
        try:
            found = os.stat(os.path.join(path, f"out-{start}"))
        except FileNotFoundError:
            continue
        written = start + found.st_size
        kept += found.st_size
        last_at = _modified_at(found) if found.st_size else last_at
    written = min(written, NATURAL_MAX)
    return written, max(0, written - kept), last_at


def read(path: str, offset: int, limit: int, is_growing: bool) -> list[Run]:
    """Read kept output in order, from the first kept byte at or after `offset`, at most `limit` bytes.

    `is_growing`: a supervisor lives, and bytes without an entry are about to get one.
    """
    runs: list[Run] = []
    for start in _segments(path):
        try:
            found = _read_segment(path, start, (offset, limit, is_growing))
        except (FileNotFoundError, Damaged):
            # Deleted since it was listed, to make room for something newer, or by the job.
            continue
        for run in found:
            if limit <= 0 or len(runs) >= limits.READ_FRAGMENTS_MAX:
                return runs
            runs.append(run._replace(bytes=run.bytes[:limit]))
            limit -= len(run.bytes)
    return runs


def _segments(path: str) -> list[int]:
    """Where each segment begins. What else is called `out-…` is none."""
    with os.scandir(path) as entries:
        names = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
    return sorted(int(found[1]) for name in names if (found := _NAME.fullmatch(name)))


def _modified_at(found: os.stat_result) -> int:
    return max(0, found.st_mtime_ns // 1_000_000)


def _read_segment(path: str, start: int, wanted: tuple[int, int, bool]) -> list[Run]:
    """The runs of one segment that are in what is wanted, and maybe a little more."""
    offset, limit, is_growing = wanted
    # In this order: bytes are deleted before their index.
    entries = _entries(os.path.join(path, f"idx-{start}"))
    with open_file(os.path.join(path, f"out-{start}")) as file:
        end = start + os.fstat(file.fileno()).st_size
        indexed = entries[-1][0] if entries else start
        if end > indexed and not is_growing:
            at = entries[-1][1] if entries else _modified_at(os.fstat(file.fileno())) << 1
            entries.append((end, at & ~1))
        first = max(offset, start)
        if first >= end:
            # Also what no file could be as long as.
            return []
        file.seek(first - start)
        data = file.read(limit)
    return _cut(data, first, entries)


def _entries(path: str) -> list[tuple[int, int]]:
    """What an index says; nothing where the job took it away."""
    try:
        with open_file(path) as file:
            packed = file.read()
    except (FileNotFoundError, Damaged):
        return []
    return list(_ENTRY.iter_unpack(packed[: len(packed) // _ENTRY.size * _ENTRY.size]))


def _cut(data: bytes, first: int, entries: list[tuple[int, int]]) -> list[Run]:
    """Cut bytes, the first of which has the offset `first`, where the index says."""
    runs: list[Run] = []
    place, last = first, first + len(data)
    for end, packed in entries[bisect_right(entries, first, key=lambda entry: entry[0]) :]:
        end = min(end, last)
        if end <= place or len(runs) >= limits.READ_FRAGMENTS_MAX:
            break
        runs.append(Run(place, packed >> 1, STREAMS[packed & 1], data[place - first : end - first]))
        place = end
    return runs
