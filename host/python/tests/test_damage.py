"""What becomes of a job whose files somebody deleted, changed or replaced, as any of its processes may."""

import json
import os
import shutil
import signal
import stat
import threading
from collections.abc import Callable
from pathlib import Path

from backburner_host import processes
from backburner_host.capabilities import Exited, JobsFailure, Lost, Progress
from backburner_host.job_files import JobFiles

from .support import PATIENCE_SECONDS, JobsCase, ended, until


class Damage(JobsCase):
    """Nobody waits, nobody is deceived, and the job ends and can be deleted."""

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
