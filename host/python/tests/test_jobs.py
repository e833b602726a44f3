"""Supervised jobs, where the conformance kit does not reach: dead supervisors, damaged files, signals, time."""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from unittest import mock

from backburner_host import processes
from backburner_host.capabilities import Exited, JobsFailure, Lost, NotStarted, Outcome, Progress, Signalled, StartError
from backburner_host.job_files import JobFiles
from backburner_host.jobs import SupervisedJobs

from .support import PATIENCE_SECONDS, DirectoryCase, ended, new_id, spec, until


class Jobs(DirectoryCase):
    """Jobs in a directory of their own."""

    def setUp(self) -> None:
        super().setUp()
        self.jobs = SupervisedJobs(self.directory)

    def start(self, command: str | list[str], **others: object) -> str:
        id = new_id()
        self.jobs.start(id, spec(command, **others))
        return id

    def run_job(self, command: str | list[str], **others: object) -> Outcome:
        return ended(self.jobs, self.start(command, **others))

    def wait_for_file(self, name: str) -> Path:
        path = self.directory / name
        until(f"the job to write {name}", lambda: path.exists() and path.read_text())
        return path

    def supervisor(self, id: str) -> int:
        """The process id of a job's supervisor: the parent of its command."""
        files = self.directory / "jobs" / id / "command.json"
        until("the command to be executed", files.exists)
        command = until("its record", lambda: _json(files))["content"]
        return processes.look(command["pid"]).parent

    def test_a_command_ends_as_it_says(self) -> None:
        self.assertEqual(self.run_job("exit 3").end, Exited(3))
        self.assertEqual(self.run_job(["sh", "-c", "exit 0"]).end, Exited(0))
        self.assertEqual(self.run_job("kill -9 $$").end, Signalled("SIGKILL", False))

    def test_a_line_that_begins_with_a_dash_is_no_option(self) -> None:
        self.assertEqual(self.run_job("-x; exit 5").end, Exited(5))

    def test_a_program_that_is_not_there_is_named(self) -> None:
        end = self.run_job(["backburner-no-such-program"]).end
        self.assertIsInstance(end, NotStarted)
        self.assertIn("backburner-no-such-program", end.detail)

    def test_a_command_that_wants_a_terminal_is_refused(self) -> None:
        id = new_id()
        with self.assertRaises(StartError) as refused:
            self.jobs.start(id, spec("true", interactive=True))
        self.assertEqual(refused.exception.kind, "bad-spec")
        self.assertIsNone(self.jobs.inspect(id))

    def test_a_job_has_the_default_signals_and_no_descriptor_of_its_server(self) -> None:
        with open(self.directory / "leaked", "w") as file:
            os.set_inheritable(file.fileno(), True)
            id = self.start("grep SigIgn /proc/self/status; ls /proc/self/fd | wc -l")
            self.assertEqual(ended(self.jobs, id).end, Exited(0))
        text = b"".join(fragment.bytes for fragment in self.jobs.read(id, 0, 1000)).split()
        # What glibc starts with posix_spawn ignores its two signals, 32 and 33, which nobody else can set.
        ignored = int(text[1], 16) & ~(0b11 << 31)
        # The three standard ones, and the directory that ls lists.
        self.assertEqual((ignored, text[2]), (0, b"4"))

    def test_what_left_the_group_and_the_session_is_found_named_and_stopped(self) -> None:
        pid_file = self.directory / "pid"
        id = self.start(
            f"setsid sh -c 'echo $$ > {pid_file}; exec sleep 100' & until [ -s {pid_file} ]; do sleep 0.01; done"
        )
        outcome = ended(self.jobs, id)
        self.assertEqual(outcome.end, Exited(0))
        self.assertIn("sleep 100", [process.command for process in outcome.leftovers])
        self.assertIsNone(processes.look(int(pid_file.read_text())))

    def test_a_supervisor_that_is_killed_loses_the_job_and_nothing_of_it_is_left(self) -> None:
        pid_file = self.directory / "pid"
        id = self.start(f"setsid sh -c 'echo $$ > {pid_file}; exec sleep 100' & sleep 100")
        pid = int(self.wait_for_file("pid").read_text())
        os.kill(self.supervisor(id), signal.SIGKILL)
        outcome = ended(self.jobs, id)
        self.assertEqual(outcome.end, Lost("supervisor"))
        self.assertIsNone(processes.look(pid))
        self.assertEqual(self.jobs.inspect(id), outcome, "it never changes")

    def test_a_supervisor_that_is_asked_to_end_stops_its_job(self) -> None:
        id = self.start("sleep 100")
        os.kill(self.supervisor(id), signal.SIGTERM)
        outcome = ended(self.jobs, id)
        self.assertEqual((outcome.stopped, outcome.end), ("shut-down", Signalled("SIGTERM", False)))

    def test_a_job_of_another_boot_is_lost_with_the_machine(self) -> None:
        id = self.start("exit 0")
        ended(self.jobs, id)
        files = self.directory / "jobs" / id
        (files / "outcome.json").unlink()
        record = json.loads((files / "spec.json").read_text())
        record["content"]["origin"]["boot_id"] = "another"
        (files / "spec.json").write_text(json.dumps(record))
        self.assertEqual(self.jobs.inspect(id).end, Lost("machine"))

    def test_a_job_whose_files_were_damaged_is_told_from_one_whose_supervisor_was_killed(self) -> None:
        files = self.directory / "jobs"
        for damage in (
            lambda id: (files / id / "spec.json").write_text("nonsense"),
            lambda id: (files / id / "spec.json").write_text("[]"),
            lambda id: (files / id / "spec.json").write_text("null"),
            lambda id: (files / id / "spec.json").write_text('{"format":1,"content":{"origin":null}}'),
            lambda id: (files / id / "spec.json").write_text('{"format":1,"content":{"origin":{"started_at":"x"}}}'),
            lambda id: (files / id / "alive").unlink(),
        ):
            id = self.start("sleep 100")
            os.kill(self.supervisor(id), signal.SIGKILL)
            until("its supervisor to be gone", lambda id=id: not JobFiles(str(files / id)).is_alive())
            damage(id)
            self.assertEqual(ended(self.jobs, id).end, Lost("files"))

    def test_whatever_a_lost_job_left_beside_its_output_it_ends_and_can_be_deleted(self) -> None:
        files = self.directory / "jobs"
        for damage in (
            lambda job: shutil.copy(job / "out-0", job / "out-1"),
            lambda job: shutil.copy(job / "out-0", job / ("out-" + "9" * 20)),
            lambda job: os.truncate(job / "out-0", 1 << 40),
            lambda job: (job / "out--7").touch(),
            lambda job: (job / "out-x").touch(),
            lambda job: (job / "out-7").symlink_to("out-7"),
            lambda job: (job / "command.json").write_text('{"format":1,"content":{}}'),
        ):
            id = self.start("echo abc; exec sleep 100")
            supervisor, out = self.supervisor(id), files / id / "out-0"
            until("its output", lambda out=out: out.exists() and out.read_text() == "abc\n")
            pid = json.loads((files / id / "command.json").read_text())["content"]["pid"]
            damage(files / id)
            self.assertIsInstance(self.jobs.inspect(id), Progress)
            os.kill(supervisor, signal.SIGKILL)
            self.assertEqual(ended(self.jobs, id).end, Lost("supervisor"))
            self.assertIsNone(processes.look(pid))
            self.jobs.forget(id)
            self.assertIsNone(self.jobs.inspect(id))

    def test_a_job_whose_outcome_was_damaged_is_lost_with_its_files(self) -> None:
        for damage in ("", "nonsense", "[]", "{}", '{"format":1}', '{"format":1,"content":{"end":{"exited":{}}}}'):
            id = self.start("exit 0")
            ended(self.jobs, id)
            (self.directory / "jobs" / id / "outcome.json").write_text(damage)
            self.assertEqual(self.jobs.inspect(id).end, Lost("files"), damage)
            self.jobs.forget(id)
            self.assertIsNone(self.jobs.inspect(id))

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
        ended(self.jobs, id)
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

    def test_a_stop_that_reaches_nobody_since_something_else_is_in_the_place_of_its_fifo_fails(self) -> None:
        id = self.start("sleep 100", timeout_ms=1000)
        self.supervisor(id)
        control = self.directory / "jobs" / id / "control"
        control.unlink()
        control.write_text("")
        with self.assertRaisesRegex(JobsFailure, "no FIFO"):
            self.jobs.stop(id, "cancelled")
        self.assertEqual(control.read_text(), "")

    def test_what_a_job_puts_in_the_place_of_a_file_to_come_does_not_hold_up_its_supervisor(self) -> None:
        names = "idx-0 out-0 command.json outcome-$PPID supervisor.log"
        for put in ("mkfifo", "ln -s /dev/full", "ln -s fifo"):
            line = f"mkfifo fifo; for name in {names}; do {put} $name; done; echo abc; exit 3"
            id = self.start(f'cd "$BACKBURNER_DIR/jobs/$BACKBURNER_TASK_ID" && {line}')
            self.assertEqual(ended(self.jobs, id).end, Exited(3), put)
            self.assertIn(b"abc\n", self.look(id)[1], put)

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

    def test_a_command_that_cannot_be_recorded_runs_all_the_same(self) -> None:
        furnish = JobFiles.furnish

        def furnish_too_much(files: JobFiles, spec: dict) -> None:
            furnish(files, spec)
            # As on a full disk.
            (Path(files.path) / "command.json").mkdir()

        with mock.patch.object(JobFiles, "furnish", furnish_too_much):
            self.assertEqual(self.run_job("exit 3").end, Exited(3))

    def test_where_the_directory_of_the_host_is_gone_a_job_has_to_name_one(self) -> None:
        gone = self.directory / "gone"
        gone.mkdir()
        with contextlib.chdir(gone):
            gone.rmdir()
            with self.assertRaisesRegex(StartError, "name another one") as caught:
                self.start("exit 0")
            self.assertEqual(caught.exception.kind, "bad-directory")
            self.assertEqual(self.run_job("exit 0", directory="/").end, Exited(0))

    def test_an_id_is_started_once_whatever_became_of_it(self) -> None:
        id = self.start("exit 0")
        for _time in range(2):
            with self.assertRaises(StartError) as caught:
                self.jobs.start(id, spec("exit 1"))
            self.assertEqual(caught.exception.kind, "already-known")
            self.assertEqual(ended(self.jobs, id).end, Exited(0))

    def test_a_start_that_fails_leaves_no_descriptor_and_nothing_in_the_workshop(self) -> None:
        id = self.start("exit 0")
        before = len(os.listdir("/proc/self/fd"))
        for _time in range(10):
            with self.assertRaises(StartError):
                self.jobs.start(id, spec("exit 1"))
        # Fewer, where something of another test was collected meanwhile.
        self.assertLessEqual(len(os.listdir("/proc/self/fd")), before)
        self.assertEqual(os.listdir(self.directory / "jobs" / ".workshop"), [])

    def test_a_running_job_is_not_forgotten_and_an_ended_one_is(self) -> None:
        id = self.start("cat", stdin="x" * 200_000)
        self.assertEqual(ended(self.jobs, id).output_bytes, 200_000)
        self.jobs.forget(id)
        self.assertIsNone(self.jobs.inspect(id))
        self.assertEqual(self.jobs.read(id, 0, 1), [])
        id = self.start("sleep 100")
        with self.assertRaises(JobsFailure):
            self.jobs.forget(id)
        self.assertIsInstance(self.jobs.inspect(id), Progress)
        self.jobs.stop(id, "cancelled")
        self.assertEqual(ended(self.jobs, id).stopped, "cancelled")

    def test_a_directory_that_was_deleted_takes_the_job_with_it_and_not_the_host(self) -> None:
        gate = self.gate()
        id = self.start(f"read _ < {gate}")
        supervisor = self.supervisor(id)
        shutil.rmtree(self.directory / "jobs" / id)
        self.assertIsNone(self.jobs.inspect(id))
        gate.open()
        until("its supervisor to end", lambda: processes.look(supervisor) is None)

    def test_the_end_of_a_job_is_awaited_without_polling(self) -> None:
        gate = self.gate()
        id = self.start(f"read _ < {gate}; exit 9")

        async def wait() -> None:
            ending = asyncio.create_task(self.jobs.ended(id))
            # It gets its turn, and waits.
            await asyncio.sleep(0)
            self.assertFalse(ending.done())
            gate.open()
            await asyncio.wait_for(ending, PATIENCE_SECONDS)
            await asyncio.wait_for(self.jobs.ended(new_id()), PATIENCE_SECONDS)

        asyncio.run(wait())
        self.assertEqual(self.jobs.inspect(id).end, Exited(9))


def _json(path: Path) -> dict | None:
    try:
        return json.loads(path.read_text())
    except ValueError:
        return None
