"""Supervised jobs, where the conformance kit does not reach: dead supervisors, signals, time, lengths."""

import asyncio
import contextlib
import errno
import json
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path
from unittest import mock

from backburner_host import processes, supervisor
from backburner_host.capabilities import Exited, JobsFailure, Lost, NotStarted, Progress, Signalled, StartError
from backburner_host.job_files import JobFiles
from backburner_host.output import Recorder

from .support import PATIENCE_SECONDS, JobsCase, ended, new_id, spec, until


class Jobs(JobsCase):
    """Jobs that nobody damages."""

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
        # Written twice, it would be longer than an outcome that is read.
        self.assertIsInstance(self.run_job(["x" * (9 << 20)]).end, NotStarted)

    def test_a_directory_whose_name_is_no_text_is_named_in_words(self) -> None:
        gone = FileNotFoundError(errno.ENOENT, "gone")
        words = {"command": "true", "directory": os.fsdecode(b"/nowhere/a\xff")}
        self.assertIn("/nowhere/a? does not exist", supervisor._explain(gone, words).encode().decode())

    def test_a_supervisor_is_starting_until_it_has_started_something(self) -> None:
        id, starting = self.start("sleep 100"), new_id()
        self.supervisor(id)
        words = ["sh", "-c", "read _", processes.SUPERVISOR, "program", "directory", starting, "7"]
        with subprocess.Popen(words, stdin=subprocess.PIPE) as program:
            until("it to be seen", lambda: processes.has_supervisor(starting))
            with mock.patch.object(processes, "all", side_effect=processes.all) as looked:
                found = [processes.is_starting(it) for it in (id, new_id(), starting)]
                self.assertEqual((found, looked.call_count), ([False, False, True], 3))
            program.communicate(b"\n")
        self.jobs.stop(id, "cancelled")
        ended(self.jobs, id)

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

    def test_a_command_that_ended_before_it_was_to_stop_was_not_stopped(self) -> None:
        id = self.start(f"read _ < {(gate := self.gate())}; exit 3")
        supervisor, pid = self.supervisor(id), self.command(id)
        os.kill(supervisor, signal.SIGSTOP)
        gate.open()
        until("the command to end", lambda: processes.look(pid) is None)
        self.jobs.stop(id, "cancelled")
        os.kill(supervisor, signal.SIGCONT)
        outcome = ended(self.jobs, id)
        self.assertEqual((outcome.end, outcome.stopped), (Exited(3), None))

    def test_the_signal_for_a_supervisor_spares_what_is_to_become_its_command(self) -> None:
        id = new_id()
        words = ["sh", "-c", "read _", processes.SUPERVISOR, "program", "directory", id, "7"]
        command, told = (
            subprocess.Popen(words, stdin=subprocess.PIPE, start_new_session=leads) for leads in (False, True)
        )
        self.addCleanup(told.communicate)
        self.addCleanup(command.communicate)
        until("both to be seen", lambda: len(processes._supervisors(processes.all(), id)) == 2)
        for likely in (command.pid, None):
            processes.tell_supervisor(id, likely)
        self.assertEqual(told.wait(PATIENCE_SECONDS), -signal.SIGTERM)
        self.assertIsNone(command.poll())

    def test_a_supervisor_awaits_a_signal_before_anybody_can_see_that_it_listens(self) -> None:
        ends = os.pipe()
        for end in ends:
            self.addCleanup(os.close, end)
        done = mock.Mock()
        done.files.open_control.return_value = ends[0]
        with mock.patch.object(supervisor, "signal", done.signal):
            supervisor._Watch(done.files, done.recorder, done.life)
        names = [name for name, _arguments, _named in done.mock_calls]
        self.assertEqual(names[-1], "files.open_control")
        self.assertEqual(names.count("signal.signal"), 2)

    def test_a_job_of_another_boot_is_lost_with_the_machine(self) -> None:
        id = self.start("exit 0")
        self.wait_for_all_of(id)
        files = self.directory / "jobs" / id
        (files / "outcome.json").unlink()
        record = json.loads((files / "spec.json").read_text())
        record["content"]["origin"]["boot_id"] = "another"
        (files / "spec.json").write_text(json.dumps(record))
        self.assertEqual(self.jobs.inspect(id).end, Lost("machine"))

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

    def test_waiting_for_an_end_that_cannot_be_awaited_leaves_no_descriptor(self) -> None:
        id = self.start("sleep 100")
        self.supervisor(id)

        async def wait() -> None:
            with mock.patch.object(asyncio.get_running_loop(), "add_reader", side_effect=OSError("no room")):
                await self.jobs.ended(id)

        before = len(os.listdir("/proc/self/fd"))
        with self.assertRaisesRegex(OSError, "no room"):
            asyncio.run(wait())
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)
        self.jobs.stop(id, "cancelled")
        ended(self.jobs, id)

    def test_a_spec_of_two_mebibytes_is_carried_out_whatever_is_in_it(self) -> None:
        self.assertEqual(self.run_job("cat", stdin="\x01" * (2 << 20)).output_bytes, 2 << 20)

    def test_a_spec_that_nobody_would_read_is_refused_and_leaves_nothing(self) -> None:
        id = new_id()
        with self.assertRaisesRegex(StartError, "16777216 are the most; pass what is long in a file") as caught:
            self.jobs.start(id, spec("cat", stdin="x" * (16 << 20)))
        self.assertEqual(caught.exception.kind, "bad-spec")
        self.assertIsNone(self.jobs.inspect(id))
        self.assertEqual(os.listdir(self.directory / "jobs"), [".workshop"])
        self.assertEqual(os.listdir(self.directory / "jobs" / ".workshop"), [])

    def test_an_outcome_is_written_when_the_output_that_it_counts_is_on_the_disk(self) -> None:
        recorder = Recorder(str(self.directory), 1 << 20)
        recorder.record(0, b"abc")
        files, synced = JobFiles(str(self.directory)), []
        outcome = {"started_at": 1, "ended_at": 2, "end": {"exited": {"code": 0}}}

        def note(descriptor: int) -> None:
            synced.append(re.sub("-[0-9].*", "", Path(os.readlink(f"/proc/self/fd/{descriptor}")).name))

        with mock.patch("os.fsync", note):
            supervisor.conclude(files, outcome, recorder)
        self.assertEqual(synced[:3], ["out", "idx", "outcome"])

    def test_output_that_the_disk_refuses_is_not_counted_as_kept(self) -> None:
        id = self.start("echo abc; exec sleep 100")
        out = self.files(id) / "out-0"
        until("its output", lambda: out.exists() and out.read_text() == "abc\n")
        self.kill_supervisor(id)
        fsync = os.fsync

        def refuse(descriptor: int) -> None:
            if os.readlink(f"/proc/self/fd/{descriptor}") == str(out):
                raise OSError(errno.EIO, "as of a broken disk")
            fsync(descriptor)

        with mock.patch("os.fsync", refuse):
            outcome = ended(self.jobs, id)
        self.assertEqual((outcome.output_bytes, outcome.dropped_bytes), (4, 4))
