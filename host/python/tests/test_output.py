"""The output's files: what is kept of much, and reading while it is written."""

import os
import shutil
from types import SimpleNamespace
from unittest import mock

from backburner_host import limits, output
from backburner_host.job_files import NATURAL_MAX, modified_at
from backburner_host.output import Recorder

from .support import DirectoryCase


class Output(DirectoryCase):
    """Recording and reading."""

    def setUp(self) -> None:
        super().setUp()
        self.path = str(self.directory)

    def read(self, offset: int = 0, limit: int = 1 << 20, is_growing: bool = False) -> list[output.Run]:
        return output.read(self.path, offset, limit, is_growing)

    def test_what_was_written_is_read_in_order_with_its_stream(self) -> None:
        recorder = Recorder(self.path, 1 << 20)
        for stream, data in [(0, b"one\n"), (1, b"two\n"), (1, b"\xff\x00"), (0, b"three\n")]:
            recorder.record(stream, data)
        found = [(run.offset, run.stream, run.bytes) for run in self.read()]
        self.assertEqual(found, [(0, "stdout", b"one\n"), (4, "stderr", b"two\n\xff\x00"), (10, "stdout", b"three\n")])

    def test_reading_begins_and_ends_anywhere(self) -> None:
        recorder = Recorder(self.path, 1 << 20)
        recorder.record(0, b"abc")
        recorder.record(1, b"def")
        whole = b"abcdef"
        self.assertEqual(self.read((1 << 64) - 1), [])
        for offset in range(8):
            for limit in range(1, 8):
                runs = self.read(offset, limit)
                self.assertEqual(b"".join(run.bytes for run in runs), whole[offset : offset + limit])
                self.assertTrue(all(run.offset >= offset for run in runs))

    def test_of_much_the_beginning_and_the_end_are_kept(self) -> None:
        limit = 64 * 1024
        recorder = Recorder(self.path, limit)
        whole = b"".join(b"%07d\n" % number for number in range(100_000))
        for place in range(0, len(whole), 1000):
            recorder.record(0, whole[place : place + 1000])
        runs = self.read()
        for run in runs:
            self.assertEqual(run.bytes, whole[run.offset : run.offset + len(run.bytes)])
        self.assertEqual(runs[0].offset, 0)
        self.assertEqual(runs[-1].offset + len(runs[-1].bytes), len(whole))
        kept = sum(len(run.bytes) for run in runs)
        self.assertEqual(kept + recorder.dropped_bytes, len(whole))
        self.assertTrue(limit / 2 < kept <= limit)
        self.assertTrue(sum(os.stat(entry).st_size for entry in os.scandir(self.path)) <= limit)
        self.assertEqual(output.usage(self.path)[:2], (len(whole), len(whole) - kept))

    def test_a_gap_is_skipped(self) -> None:
        recorder = Recorder(self.path, 8 * 1024)
        recorder.record(0, b"x" * 100_000)
        head = self.read()[0]
        after_gap = self.read(len(head.bytes) + 1)[0]
        self.assertGreater(after_gap.offset, len(head.bytes) + 1)

    def test_bytes_without_an_entry_wait_for_it_or_are_standard_output(self) -> None:
        Recorder(self.path, 1 << 20).record(1, b"known")
        with open(os.path.join(self.path, "out-0"), "ab") as file:
            file.write(b"unknown")
        self.assertEqual([run.bytes for run in self.read(is_growing=True)], [b"known"])
        self.assertEqual([(run.stream, run.bytes) for run in self.read()][1], ("stdout", b"unknown"))

    def test_a_disk_that_takes_nothing_costs_the_output_and_not_the_job(self) -> None:
        recorder = Recorder(os.path.join(self.path, "missing"), 1 << 20)
        recorder.record(0, b"lost")
        self.assertEqual((recorder.written_bytes, recorder.dropped_bytes), (4, 4))

    def test_a_disk_that_takes_half_of_a_segment_costs_no_descriptor_for_each_attempt(self) -> None:
        for start in (0, 3):
            os.mkdir(os.path.join(self.path, f"out-{start}"))
        recorder = Recorder(self.path, 1 << 20)
        before = len(os.listdir("/proc/self/fd"))
        with mock.patch.object(limits, "OUTPUT_RETRY_MS", 0):
            recorder.record(0, b"abc")
            recorder.record(0, b"def")
        self.assertEqual(recorder.dropped_bytes, 6)
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)

    def test_bytes_whose_stream_cannot_be_written_down_are_not_kept(self) -> None:
        recorder = Recorder(self.path, 1 << 20)
        recorder.record(0, b"kept")
        write, entry_bytes = os.pwrite, 16

        def write_no_entry(file: int, data: bytes, place: int) -> int:
            if len(data) == entry_bytes:
                raise OSError("as on a full disk")
            return write(file, data, place)

        with mock.patch("os.pwrite", write_no_entry):
            recorder.record(1, b"lost")
        self.assertEqual(b"".join(run.bytes for run in self.read()), b"kept")
        self.assertEqual((recorder.written_bytes, recorder.dropped_bytes), (8, 4))

    def test_what_is_kept_is_made_to_last_its_bytes_before_what_belongs_to_whom(self) -> None:
        recorder, synced = self.some_output(), []
        with mock.patch("os.fsync", lambda it: synced.append(os.path.basename(os.readlink(f"/proc/self/fd/{it}")))):
            recorder.sync()
            self.assertEqual(output.sync(self.path), 0)
        starts = [start for start, _length in recorder._kept]
        self.assertGreater(len(starts), 2)
        self.assertEqual(synced, 2 * [f"{kind}-{start}" for start in starts for kind in ("out", "idx")])
        self.assertEqual(recorder.dropped_bytes, output.usage(self.path)[1])

    def test_what_does_not_last_counts_as_dropped_once(self) -> None:
        recorder = self.some_output()
        dropped, (start, length) = recorder.dropped_bytes, recorder._kept[1]
        os.unlink(os.path.join(self.path, f"idx-{start}"))
        for _time in range(2):
            recorder.sync()
            self.assertEqual(recorder.dropped_bytes, dropped + length)
        self.assertEqual(output.sync(self.path), length)
        while recorder.sacrifice():
            pass
        self.assertEqual(recorder.dropped_bytes, recorder.written_bytes)

    def some_output(self) -> Recorder:
        """More than is kept, in several segments."""
        recorder = Recorder(self.path, 8 * 1024)
        for _time in range(100):
            recorder.record(0, b"x" * 1000)
        recorder._close()
        return recorder

    def test_an_endless_index_is_not_read_as_a_whole(self) -> None:
        Recorder(self.path, 1 << 20).record(1, b"abc")
        os.truncate(os.path.join(self.path, "idx-0"), 1 << 40)
        self.assertEqual([run.bytes for run in self.read()], [b"abc"])

    def test_segments_and_entries_that_overlap_give_no_byte_twice(self) -> None:
        recorder = Recorder(self.path, 1 << 20)
        for stream in (0, 1):
            recorder.record(stream, b"abc")
        for kind in ("out", "idx"):
            shutil.copy(os.path.join(self.path, f"{kind}-0"), os.path.join(self.path, f"{kind}-2"))
        self.assertEqual([(run.offset, run.bytes) for run in self.read()][:2], [(0, b"abc"), (3, b"abc")])
        places = [place for run in self.read() for place in range(run.offset, run.offset + len(run.bytes))]
        self.assertEqual(places, sorted(set(places)))
        with open(os.path.join(self.path, "idx-0"), "r+b") as file:
            first, second = file.read(16), file.read(16)
            file.seek(0)
            # The second run ends where the first one is to begin.
            file.write(second + first)
        self.assertEqual([(run.offset, run.bytes) for run in self.read()], [(0, b"abcabc"), (6, b"bc")])

    def test_a_read_ends_after_many_runs_and_the_next_one_goes_on(self) -> None:
        recorder, place = Recorder(self.path, 1 << 20), 0
        for number in range(10):
            recorder.record(number % 2, b"x")
        with mock.patch.object(limits, "READ_FRAGMENTS_MAX", 4):
            for expected in (4, 4, 2, 0):
                runs = self.read(place)
                self.assertEqual([run.offset for run in runs], list(range(place, place + expected)))
                place += expected

    def test_a_job_last_wrote_when_there_was_no_room_for_it(self) -> None:
        Recorder(self.path, 1 << 20).record(0, b"abc")
        late = os.path.join(self.path, "out-3")
        open(late, "w").close()
        os.utime(late, (7_000_000_000, 7_000_000_000))
        self.assertEqual(output.usage(self.path), (3, 0, 7_000_000_000_000))

    def test_no_time_of_a_file_is_one_that_nobody_could_take(self) -> None:
        for nanoseconds, ms in [(-1, 0), (1_999_999, 1), (10**40, NATURAL_MAX)]:
            self.assertEqual(modified_at(SimpleNamespace(st_mtime_ns=nanoseconds)), ms)
