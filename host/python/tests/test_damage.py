"""What becomes of a job whose files somebody deleted, changed or replaced, as any of its processes may."""

import asyncio
import errno
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from unittest import mock

from backburner_host import burial, clock, limits, processes
from backburner_host.capabilities import Exited, JobsFailure, Lost, Progress, Signalled, StartError
from backburner_host.clock import now_ms
from backburner_host.job_files import NOBODY, NOBODY_YET, Damaged, JobFiles, open_file

from .support import PATIENCE_SECONDS, JobsCase, ended, new_id, spec, until

HERE = Path(__file__).resolve().parent.parent

ENDLESS_BYTES = 1 << 40
"""How long a file may be of which nothing is on the disk."""

STRANGER = 65534
"""A user, and a group, who are not root."""


def endless(path: Path) -> None:
    """Make a file that nobody can read as a whole."""
    path.touch()
    os.truncate(path, ENDLESS_BYTES)


def loop(path: Path) -> None:
    """Put a link to itself in the place of a file."""
    path.unlink(missing_ok=True)
    path.symlink_to(path.name)


def directory(path: Path) -> None:
    """Put a directory, with something in it, in the place of a file."""
    path.unlink(missing_ok=True)
    path.mkdir()
    (path / "file").touch()


def text(path: Path) -> None:
    """Put a file in the place of a FIFO."""
    path.unlink(missing_ok=True)
    path.write_text("text")


def fifo(path: Path) -> None:
    """Put another FIFO there, which nobody opens."""
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def rewrite_origin(path: Path, **members: object) -> None:
    """Change when and where a job was asked for, in its `spec.json`."""
    record = json.loads(path.read_text())
    record["content"]["origin"] |= members
    path.write_text(json.dumps(record))


class Damage(JobsCase):
    """Nobody waits, nobody is deceived, and the job ends and can be deleted."""

    def started(self) -> str:
        """A job that has written `abc`, and runs."""
        id = self.start("echo abc; exec sleep 100")
        self.supervisor(id)
        out = self.files(id) / "out-0"
        until("its output", lambda: out.exists() and out.read_text() == "abc\n")
        return id

    def forget(self, id: str) -> None:
        self.jobs.forget(id)
        self.assertIsNone(self.jobs.inspect(id))

    def test_a_job_whose_record_was_damaged_is_told_from_one_whose_supervisor_was_killed(self) -> None:
        for name, damage in {
            "nonsense": lambda path: path.write_text("nonsense"),
            "a list": lambda path: path.write_text("[]"),
            "null": lambda path: path.write_text("null"),
            "no origin": lambda path: path.write_text('{"format":1,"content":{"origin":null}}'),
            "a time of letters": lambda path: rewrite_origin(path, started_at="x"),
            "no boot": lambda path: rewrite_origin(path, boot_id=None),
            "a boot that is a number": lambda path: rewrite_origin(path, boot_id=5),
            "endless": endless,
            "deleted": Path.unlink,
            "a FIFO": fifo,
            "a directory": directory,
            "no alive": lambda path: path.with_name("alive").unlink(),
            "no control": lambda path: path.with_name("control").unlink(),
            "another alive": lambda path: directory(path.with_name("alive")),
        }.items():
            with self.subTest(name):
                id = self.started()
                pid = self.kill_supervisor(id)
                damage(self.files(id) / "spec.json")
                self.assertEqual(ended(self.jobs, id).end, Lost("files"))
                self.assertIsNone(processes.look(pid))
                self.forget(id)

    def test_no_job_has_run_for_less_than_no_time(self) -> None:
        id = self.started()
        rewrite_origin(self.files(id) / "spec.json", monotonic_ms=1 << 62)
        self.assertEqual(self.jobs.inspect(id).running_ms, 0)
        (self.files(id) / "spec.json").unlink()
        with mock.patch("backburner_host.jobs.now_ms", lambda: 7):
            # As where the clock of people was set back.
            self.assertEqual(self.jobs.inspect(id).running_ms, 0)
        self.jobs.stop(id, "cancelled")
        ended(self.jobs, id)

    def test_a_job_that_says_that_it_is_of_another_boot_has_not_ended_for_that(self) -> None:
        id = self.started()
        pid = self.kill_supervisor(id)
        rewrite_origin(self.files(id) / "spec.json", boot_id="another")
        with mock.patch.object(limits, "BURIAL_SECONDS", -1):
            # The process that looks at it gives up, after it has killed what there was.
            self.assertIsInstance(self.jobs.inspect(id), Progress)
        until("its command to disappear", lambda: processes.look(pid) is None)
        self.assertEqual(self.jobs.inspect(id).end, Lost("files"), "also where nothing is found any more")

    def test_a_record_of_another_boot_names_no_process_of_this_one(self) -> None:
        id = self.start("exit 0")
        self.wait_for_all_of(id)
        files = self.files(id)
        (files / "outcome.json").unlink()
        with subprocess.Popen(["sleep", "100"]) as stranger:
            seen = processes.look(stranger.pid)
            JobFiles(str(files)).record_command(seen.pid, seen.start_ticks, 0)
            rewrite_origin(files / "spec.json", boot_id="another")
            self.assertEqual(self.jobs.inspect(id).end, Lost("machine"))
            self.assertIsNone(stranger.poll())
            stranger.kill()

    def test_a_job_is_ended_with_its_supervisor_where_that_cannot_be_seen_to_live(self) -> None:
        before = len(os.listdir("/proc/self/fd"))
        for put in (text, directory, loop, fifo, Path.unlink):
            with self.subTest(put.__name__):
                id = self.started()
                supervisor, pid = self.supervisor(id), self.command(id)
                put(self.files(id) / "alive")
                self.assertEqual(ended(self.jobs, id).end, Lost("files"))
                self.assertEqual((processes.look(pid), processes.look(supervisor)), (None, None))
                self.assertEqual(self.look(id)[1], b"abc\n")
                self.forget(id)
        self.assertLessEqual(len(os.listdir("/proc/self/fd")), before)

    def test_a_look_that_fails_leaves_no_descriptor(self) -> None:
        id = self.started()
        before = len(os.listdir("/proc/self/fd"))
        for function in ("read", "fstat"):
            broken = mock.patch(f"os.{function}", side_effect=OSError(errno.EIO, "as of a broken disk"))
            with broken, self.assertRaises(JobsFailure):
                self.jobs.inspect(id)
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)
        self.jobs.stop(id, "cancelled")
        ended(self.jobs, id)

    def test_a_job_that_takes_away_what_its_supervisor_listens_to_can_be_stopped(self) -> None:
        for name, put in {
            "nothing": Path.unlink,
            "a file": text,
            "a directory": directory,
            "a link": loop,
            "a FIFO that nobody reads": fifo,
            "a FIFO that somebody else reads": self.listen,
            "a FIFO, and no record of the command": lambda path: (fifo(path), path.with_name("command.json").unlink()),
        }.items():
            with self.subTest(name):
                id = self.started()
                supervisor, pid = self.supervisor(id), self.command(id)
                put(self.files(id) / "control")
                self.assertIsInstance(self.jobs.inspect(id), Progress, "it does no harm before")
                self.jobs.stop(id, "cancelled")
                outcome = ended(self.jobs, id)
                self.assertEqual((outcome.end, outcome.stopped), (Lost("files"), "cancelled"))
                self.assertEqual((processes.look(pid), processes.look(supervisor)), (None, None))
                self.forget(id)

    def test_a_job_that_listens_in_its_supervisors_place_is_stopped_by_that_all_the_same(self) -> None:
        for name, deceive in {
            "no record of the command": Path.unlink,
            "a record of the other FIFO": self.record_another,
        }.items():
            with self.subTest(name):
                id = self.started()
                files = self.files(id)
                self.listen(files / "control")
                deceive(files / "command.json")
                self.jobs.stop(id, "expired")
                outcome = ended(self.jobs, id)
                self.assertEqual((outcome.end, outcome.stopped), (Signalled("SIGTERM", False), "expired"))

    def record_another(self, path: Path) -> None:
        """Write into the record of a command that its supervisor listens to the FIFO that is there."""
        record = json.loads(path.read_text())
        record["content"]["control"] = path.with_name("control").stat().st_ino
        path.write_text(json.dumps(record))

    def listen(self, path: Path) -> None:
        fifo(path)
        self.addCleanup(os.close, os.open(path, os.O_RDWR))

    def test_what_a_job_that_cannot_be_stopped_says_of_its_end_is_not_believed(self) -> None:
        other = self.start("exit 7")
        ended(self.jobs, other)
        id = self.started()
        shutil.copy(self.files(other) / "outcome.json", self.files(id))
        (self.files(id) / "control").unlink()
        self.jobs.stop(id, "cancelled")
        self.assertEqual(ended(self.jobs, id).end, Lost("files"))

    def test_what_a_job_says_of_its_own_end_is_not_believed(self) -> None:
        other = self.start("exit 7")
        ended(self.jobs, other)
        id = self.start(f"read _ < {(gate := self.gate())}; exit 3")
        self.supervisor(id)
        shutil.copy(self.files(other) / "outcome.json", self.files(id))
        self.assertIsInstance(self.jobs.inspect(id), Progress)
        gate.open()
        self.assertEqual(ended(self.jobs, id).end, Exited(3))

    def test_a_job_that_says_that_it_is_lost_is_not_believed_while_its_supervisor_lives(self) -> None:
        other = self.started()
        self.kill_supervisor(other)
        ended(self.jobs, other)
        forged = (self.files(other) / "outcome.json").read_text().replace("supervisor", "machine")
        gate = self.gate()
        natural, stopped = (self.start(f"read _ < {gate}; exit 3") for _job in range(2))
        for id in (natural, stopped):
            self.supervisor(id)
            (self.files(id) / "outcome.json").write_text(forged)
        (self.files(stopped) / "control").unlink()
        self.jobs.stop(stopped, "cancelled")
        self.assertEqual(ended(self.jobs, stopped).end, Lost("files"))
        gate.open()
        self.assertEqual(ended(self.jobs, natural).end, Exited(3))

    def test_a_supervisor_that_has_not_listened_yet_will_hear_of_a_request(self) -> None:
        files = JobFiles(str(self.directory / "job"))
        os.mkdir(files.path)
        files.furnish({})
        self.assertEqual(files.wake(), NOBODY_YET)
        files.record_command(7, 7, 7)
        self.assertEqual(files.wake(), NOBODY)

    def test_a_record_of_a_command_that_is_none_is_not_used(self) -> None:
        files = JobFiles(str(self.directory))
        for pid, ticks, is_right in [(2, 0, True), (1, 7, False), (0, 7, False), (-7, 7, False), (True, 7, False)]:
            files.record_command(pid, ticks, 7)
            self.assertEqual(files.command() is not None, is_right, pid)

    def test_whatever_a_lost_job_left_it_ends_and_its_output_is_read_and_it_can_be_deleted(self) -> None:
        for name, damage in {
            "a segment that overlaps": lambda job: shutil.copy(job / "out-0", job / "out-1"),
            "one with its index": lambda job: [shutil.copy(job / f"{it}-0", job / f"{it}-1") for it in ("out", "idx")],
            "a number that is too large": lambda job: shutil.copy(job / "out-0", job / ("out-" + "9" * 20)),
            "an endless segment": lambda job: os.truncate(job / "out-0", ENDLESS_BYTES),
            "an endless index": lambda job: os.truncate(job / "idx-0", ENDLESS_BYTES),
            "an index that goes backwards": lambda job: (job / "idx-0").write_bytes((job / "idx-0").read_bytes() * 2),
            "a negative number": lambda job: (job / "out--7").touch(),
            "no number": lambda job: (job / "out-x").touch(),
            "a link to itself": lambda job: loop(job / "out-7"),
            "half a record of the command": lambda job: (job / "command.json").write_text('{"format":1,"content":{}}'),
            "an endless record of the command": lambda job: endless(job / "command.json"),
            "a time before all": lambda job: os.utime(job / "alive", ns=(0, -(10**15))),
        }.items():
            with self.subTest(name):
                id = self.started()
                supervisor, pid = self.supervisor(id), self.command(id)
                damage(self.files(id))
                self.assertIsInstance(self.jobs.inspect(id), Progress)
                # What is read before the end depends on what was damaged.
                self.read(id)
                os.kill(supervisor, signal.SIGKILL)
                self.assertEqual(ended(self.jobs, id).end, Lost("supervisor"))
                self.assertTrue(self.read(id).startswith(b"abc\n"))
                self.assertIsNone(processes.look(pid))
                self.forget(id)

    def read(self, id: str) -> bytes:
        """As much output as one read gives; every piece is behind the one before."""
        end, found = 0, self.jobs.read(id, 0, 1 << 20)
        for fragment in found:
            self.assertGreaterEqual(fragment.offset, end)
            end = fragment.offset + len(fragment.bytes)
        return b"".join(fragment.bytes for fragment in found)

    def test_a_job_whose_outcome_was_damaged_is_lost_with_its_files(self) -> None:
        texts = ("", "nonsense", "[]", "{}", '{"format":1}', '{"format":1,"content":{"end":{"exited":{}}}}')
        written = {it: lambda path, it=it: path.write_text(it) for it in texts}
        puts = {"endless": endless, "a directory": directory, "a link to itself": loop, "a FIFO": fifo}
        for name, damage in (written | puts).items():
            with self.subTest(name):
                id = self.start("exit 0")
                ended(self.jobs, id)
                damage(self.files(id) / "outcome.json")
                outcome = self.jobs.inspect(id)
                self.assertEqual(outcome.end, Lost("files"))
                self.assertEqual(self.jobs.inspect(id), outcome, "it never changes")
                self.forget(id)

    def test_a_damaged_outcome_of_an_earlier_boot_is_no_loss_with_the_machine(self) -> None:
        # Also where whoever moved it away was killed before the job was said to be lost.
        for name in ("outcome.json", "outcome.damaged-7-7"):
            id = self.start("exit 0")
            self.wait_for_all_of(id)
            rewrite_origin(self.files(id) / "spec.json", boot_id="another")
            (self.files(id) / "outcome.json").rename(self.files(id) / name)
            (self.files(id) / name).write_text("nonsense")
            self.assertEqual(self.jobs.inspect(id).end, Lost("files"), name)

    def test_a_loss_that_was_moved_away_by_mistake_is_told_as_before(self) -> None:
        id = self.started()
        self.kill_supervisor(id)
        outcome = ended(self.jobs, id)
        # As by a process that is killed before it gives that its name back.
        (self.files(id) / "outcome.json").rename(self.files(id) / "outcome.damaged-7-7")
        self.assertEqual(self.jobs.inspect(id), outcome)

    def test_an_outcome_that_somebody_wrote_in_the_place_of_a_damaged_one_stays(self) -> None:
        id = self.start("exit 3")
        ended(self.jobs, id)
        # As if another process had done so since it was found to be damaged, before it is moved and in that moment.
        files = JobFiles(str(self.files(id)))
        with mock.patch("os.rename", side_effect=AssertionError("somebody could miss it")):
            files.discard_outcome(lambda _found: True)
        looks = iter((False, True))
        files.discard_outcome(lambda _found: next(looks))
        self.assertEqual(self.jobs.inspect(id).end, Exited(3))
        (self.files(id) / "outcome.json").write_text('{"format": 2}')
        files.discard_outcome(lambda _found: False)
        self.assertEqual(
            (self.files(id) / "outcome.json").read_text(), '{"format": 2}', "only a newer version can tell"
        )
        self.assertEqual([it.name for it in self.files(id).glob("outcome*")], ["outcome.json"])

    def test_a_host_that_is_a_part_of_a_lost_job_ends_the_rest_and_does_not_say_that_it_has_ended(self) -> None:
        id = self.started()
        pid = self.kill_supervisor(id)
        code = (
            "import sys; from pathlib import Path; from backburner_host.jobs import SupervisedJobs\n"
            "try: print(SupervisedJobs(Path(sys.argv[1])).inspect(sys.argv[2]))\n"
            "except Exception as error: print(error)\n"
        )
        words = [sys.executable, "-c", code, self.directory, id]
        inside = os.environ | {processes.TASK_VARIABLE: id}
        ran = subprocess.run(words, stdout=subprocess.PIPE, text=True, env=inside, cwd=HERE, check=True)
        self.assertIn("this process is a part of it", ran.stdout)
        until("the rest to disappear", lambda: processes.look(pid) is None)
        self.assertFalse((self.files(id) / "outcome.json").exists())
        self.assertEqual(self.jobs.inspect(id).end, Lost("supervisor"))

    def test_where_processes_are_not_listed_only_files_that_are_whole_prove_that_a_job_has_ended(self) -> None:
        ids = {name: self.start("exit 0") for name in ("whole", "damaged", "listened to")}
        for id in ids.values():
            self.wait_for_all_of(id)
            (self.files(id) / "outcome.json").unlink()
        (self.files(ids["damaged"]) / "spec.json").write_text("nonsense")
        os.utime(self.files(ids["damaged"]) / "alive", (0, 0))
        self.listen(self.files(ids["listened to"]) / "control")
        with mock.patch.object(processes, "are_listed", lambda: False):
            self.assertEqual(self.jobs.inspect(ids["whole"]).end, Lost("supervisor"))
            for name in ("damaged", "listened to"):
                with self.assertRaisesRegex(JobsFailure, "processes are not listed here"):
                    self.jobs.inspect(ids[name])
            # As after the next start of the machine.
            with mock.patch.object(burial, "boot_ms", lambda: now_ms() + 1000):
                self.assertEqual(self.jobs.inspect(ids["damaged"]).end, Lost("files"))

    def test_where_boots_have_no_names_the_time_tells_whether_a_job_is_of_this_one(self) -> None:
        with mock.patch.object(clock, "boot_id", lambda: ""):
            self.assertTrue(clock.is_of_this_boot("", now_ms()))
            self.assertFalse(clock.is_of_this_boot("", clock.boot_ms() - 1))

    def test_a_process_that_cannot_be_looked_at_now_has_not_ended(self) -> None:
        with mock.patch("os.listdir", return_value=["self", "version"]), self.assertRaisesRegex(OSError, "not listed"):
            processes.all()
        with mock.patch("builtins.open", side_effect=OSError(errno.EMFILE, "too many files")):
            self.assertRaises(OSError, processes.all)
            self.assertRaises(OSError, processes.remains, new_id(), None)
        for ending in (FileNotFoundError, ProcessLookupError, PermissionError):
            with mock.patch("builtins.open", side_effect=ending):
                self.assertIsNone(processes.look(os.getpid()))

    def test_a_directory_that_a_job_closed_is_opened_again(self) -> None:
        id = self.started()
        self.files(id).chmod(0)
        self.assertIsInstance(self.jobs.inspect(id), Progress)
        self.assertEqual(stat.S_IMODE(self.files(id).stat().st_mode), 0o700)
        self.jobs.stop(id, "cancelled")
        self.assertEqual(ended(self.jobs, id).stopped, "cancelled")

    def test_a_job_with_closed_directories_is_forgotten_with_all_that_is_in_them(self) -> None:
        id = self.start("exit 0")
        self.wait_for_all_of(id)
        for name in ("a", "a/b", "c"):
            (self.files(id) / name).mkdir()
            (self.files(id) / name / "file").touch()
        (self.files(id) / "link").symlink_to(self.directory)
        for name, mode in {"a/b": 0, "a": 0, "c": 0o500}.items():
            (self.files(id) / name).chmod(mode)
        self.as_somebody(lambda: self.forget(id))
        self.assertEqual(os.listdir(self.directory / "jobs" / ".workshop"), [])

    def as_somebody(self, act: Callable[[], object]) -> None:
        """Do something as a user whom modes keep from what they forbid: root is kept from nothing."""
        child = os.fork()
        if child == 0:
            try:
                if os.geteuid() == 0:
                    for path, names, files in os.walk(self.directory):
                        for name in (".", *names, *files):
                            os.chown(Path(path, name), STRANGER, STRANGER, follow_symlinks=False)
                    os.setgroups([])
                    os.setgid(STRANGER)
                    os.setuid(STRANGER)
                act()
                os._exit(0)
            finally:
                traceback.print_exc()
                os._exit(1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_a_job_that_empties_its_directory_is_not_started_again(self) -> None:
        id = self.started()
        pid = self.command(id)
        shutil.rmtree(self.files(id))
        self.files(id).mkdir()
        with self.assertRaises(StartError) as caught:
            self.jobs.start(id, spec("exit 0"))
        self.assertEqual(caught.exception.kind, "already-known")
        self.assertEqual(ended(self.jobs, id).end, Lost("files"))
        self.assertIsNone(processes.look(pid))

    def test_what_a_job_writes_where_its_supervisor_is_seen_to_live_wakes_nobody_for_long(self) -> None:
        id = self.started()
        self.write_into_alive(id)
        looks = mock.patch.object(JobFiles, "watch_alive", autospec=True, side_effect=JobFiles.watch_alive)
        with mock.patch.object(limits, "LAST_INSTANT_SECONDS", 0.1), looks as looked:
            self.assertFalse(JobFiles(str(self.files(id))).is_gone_soon())
        self.assertLess(looked.call_count, 10)

        async def wait() -> None:
            ending = asyncio.create_task(self.jobs.ended(id))
            await asyncio.sleep(0)
            self.write_into_alive(id)
            for _turn in range(10):
                await asyncio.sleep(0)
            self.assertFalse(ending.done())
            self.jobs.stop(id, "cancelled")
            await asyncio.wait_for(ending, PATIENCE_SECONDS)

        asyncio.run(wait())
        self.assertEqual(ended(self.jobs, id).stopped, "cancelled")

    def write_into_alive(self, id: str) -> None:
        with open(self.files(id) / "alive", "r+b", buffering=0) as fifo:
            fifo.write(b"x" * 10_000)

    def test_what_a_mode_forbids_counts_as_damaged_and_what_the_system_refuses_does_not(self) -> None:
        path = self.directory / "file"
        path.touch(mode=0o600)
        with mock.patch("os.open", side_effect=PermissionError(errno.EACCES, "as for everybody but root")):
            self.assertRaises(PermissionError, open_file, str(path))
            path.chmod(0)
            self.assertRaises(Damaged, open_file, str(path))

    def test_an_outcome_with_other_members_than_it_has_is_damaged(self) -> None:
        id = self.start("exit 0")
        ended(self.jobs, id)
        file = self.directory / "jobs" / id / "outcome.json"
        whole = json.loads(file.read_text())
        for wrong in (
            {"ended_at": -1},
            {"stopped": "nonsense"},
            {"leftovers": [{"pid": -7, "command": "x"}]},
            {"leftovers": [None]},
            {"end": {"exited": {"code": 256}}},
            {"end": {"exited": {}}},
            {"end": {"signalled": {"signal": 9, "core_dumped": False}}},
            {"end": {"lost": {"kind": "nonsense"}}},
            {"end": {"nonsense": {}}},
            {"end": {"signalled": {"signal": "SIG\ud800", "core_dumped": False}}},
            {"end": {"signalled": {"signal": "S" * 33, "core_dumped": False}}},
            {"end": {"not-started": {"detail": "\udfff"}}},
            {"end": {"not-started": {"detail": "x" * 4001}}},
            {"leftovers": [{"pid": 7, "command": "\ud800"}]},
            {"leftovers": [{"pid": 7, "command": "x" * 201}]},
            {"leftovers": [{"pid": 7, "command": "x"}] * 21},
            {"output_bytes": 1, "dropped_bytes": 2},
            {"more": 1},
        ):
            file.write_text(json.dumps(whole | {"content": whole["content"] | wrong}))
            self.assertEqual(self.jobs.inspect(id).end, Lost("files"), wrong)

    def test_whatever_is_put_in_the_place_of_a_request_to_stop_is_one(self) -> None:
        for put in (lambda stop: stop.symlink_to("nonsense"), lambda stop: stop.touch()):
            id = self.start("sleep 100")
            self.supervisor(id)
            put(self.directory / "jobs" / id / "stop")
            state = self.jobs.inspect(id)
            # Its supervisor may have been about to look for one.
            self.assertEqual(state.stopping if isinstance(state, Progress) else state.stopped, "cancelled")
            self.jobs.stop(id, "expired")
            self.assertEqual(ended(self.jobs, id).stopped, "cancelled")

    def test_an_outcome_that_only_a_newer_version_can_read_is_left_to_it(self) -> None:
        id = self.start("exit 3")
        ended(self.jobs, id)
        file = self.directory / "jobs" / id / "outcome.json"
        whole = file.read_text()
        for newer in (whole.replace('"format": 1', '"format": 2'), '{"format": 2}'):
            file.write_text(newer)
            with self.assertRaisesRegex(JobsFailure, "has format 2.*use a newer version"):
                self.jobs.inspect(id)
        file.write_text(whole)
        self.assertEqual(self.jobs.inspect(id).end, Exited(3))

    def test_a_lost_job_whose_record_only_a_newer_version_can_read_is_left_to_it(self) -> None:
        id = self.start("exec sleep 100")
        supervisor, files = self.supervisor(id), self.directory / "jobs" / id
        pid = json.loads((files / "command.json").read_text())["content"]["pid"]
        whole = (files / "spec.json").read_text()
        (files / "spec.json").write_text('{"format": 2}')
        self.assertIsInstance(self.jobs.inspect(id), Progress, "its supervisor has read it before")
        os.kill(supervisor, signal.SIGKILL)
        until("its supervisor to be gone", lambda: not JobFiles(str(files)).is_alive())
        for call in (self.jobs.inspect, self.jobs.forget):
            with self.assertRaisesRegex(JobsFailure, "has format 2.*use a newer version"):
                call(id)
        self.assertIsNotNone(processes.look(pid), "nothing of it was killed")
        (files / "spec.json").write_text(whole)
        self.assertEqual(ended(self.jobs, id).end, Lost("supervisor"))

    def test_what_is_no_file_is_neither_waited_for_nor_followed(self) -> None:
        whole = self.directory / "jobs" / self.start("echo abc")
        ended(self.jobs, whole.name)
        for put in (
            os.mkfifo,
            os.mkdir,
            lambda path: path.symlink_to(whole / path.name),
            lambda path: os.mknod(path, stat.S_IFSOCK | 0o600),
        ):
            for name, end, text in (
                ("idx-0", Exited(0), b"abc\n"),
                ("out-0", Exited(0), b""),
                ("outcome.json", Lost("files"), b"abc\n"),
                ("spec.json", Lost("files"), b"abc\n"),
                ("command.json", Lost("supervisor"), b"abc\n"),
                ("alive", Lost("files"), b"abc\n"),
            ):
                if (put, name) == (os.mkfifo, "alive"):
                    # Another FIFO is as good as its own when its supervisor is dead.
                    continue
                with self.subTest(name=name, put=put):
                    self.look_at_a_job_with(name, put, (end, text))

    def look_at_a_job_with(self, name: str, put: Callable[[Path], object], told: tuple) -> None:
        """See what is told of a job that has ended, with something else in the place of a file."""
        id = self.start("echo abc")
        self.wait_for_all_of(id)
        files = self.directory / "jobs" / id
        if isinstance(told[0], Lost) and name != "outcome.json":
            (files / "outcome.json").unlink()
        (files / name).unlink()
        put(files / name)
        found = []
        looking = threading.Thread(target=lambda: found.append(self.look(id)), daemon=True)
        looking.start()
        looking.join(PATIENCE_SECONDS)
        self.assertEqual(found, [told])
        self.jobs.forget(id)
        self.assertIsNone(self.jobs.inspect(id))

    def look(self, id: str) -> tuple:
        """How a job has ended, and its output."""
        outcome = self.jobs.inspect(id)
        return outcome.end, b"".join(fragment.bytes for fragment in self.jobs.read(id, 0, 1000))

    def test_what_a_job_puts_in_the_place_of_a_file_to_come_does_not_hold_up_its_supervisor(self) -> None:
        names = "idx-0 out-0 command.json outcome.json"
        for put in ("mkfifo", "ln -s /dev/full", "ln -s fifo"):
            line = f"mkfifo fifo; for name in {names}; do {put} $name; done; echo abc; exit 3"
            id = self.start(f'cd "$BACKBURNER_DIR/jobs/$BACKBURNER_TASK_ID" && {line}')
            self.assertEqual(ended(self.jobs, id).end, Exited(3), put)
            self.assertIn(b"abc\n", self.look(id)[1], put)

    def test_what_a_job_puts_in_the_place_of_the_log_does_not_hold_up_its_supervisor(self) -> None:
        log = self.directory / "supervisor.log"
        for put in (os.mkfifo, lambda path: path.symlink_to("/dev/full")):
            put(log)
            JobFiles(str(self.directory)).log("it failed")
            self.assertEqual(log.read_text(), "it failed")
            log.unlink()

    def test_a_job_whose_record_was_damaged_while_it_runs_is_told_and_ends_as_its_supervisor_says(self) -> None:
        id = self.start(f"read _ < {(gate := self.gate())}; exit 3")
        self.supervisor(id)
        spec_file = self.directory / "jobs" / id / "spec.json"
        started_at = self.jobs.inspect(id).started_at
        for damage in ("nonsense", "[]", "null"):
            spec_file.write_text(damage)
            first = self.jobs.inspect(id)
            self.assertAlmostEqual(first.started_at, started_at, delta=60_000)
            second = until(
                "time to pass", lambda past=first: (it := self.jobs.inspect(id)).running_ms > past.running_ms and it
            )
            self.assertEqual(second.started_at, first.started_at)
        gate.open()
        self.assertEqual(ended(self.jobs, id).end, Exited(3))
