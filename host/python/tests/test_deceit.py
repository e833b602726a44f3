"""What a job does against its own supervisor, and in its place: it is stopped all the same, and deceives nobody."""

import asyncio
import json
import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from unittest import mock

from backburner_host import burial, clock, job_files, limits, processes, supervisor
from backburner_host.capabilities import Exited, Lost, Progress, Signalled
from backburner_host.job_files import FORMAT, JobFiles, is_at_end, wake
from backburner_host.jobs import SupervisedJobs
from backburner_host.life import Life
from backburner_host.output import Recorder

from .support import JobsCase, ended, until
from .test_damage import rewrite_origin

AT_HOME = 'cd "$BACKBURNER_DIR/jobs/$BACKBURNER_TASK_ID"'
"""How a job gets to its own files."""

LISTEN = "while :; do read -t 1000 _ <&8; done"
"""How it takes what is to wake its supervisor."""


class Deceit(JobsCase):
    def hold_alive(self, id: str) -> int:
        """Hold what a supervisor holds, as a process that nobody knows to be of the job."""
        alive = os.open(self.files(id) / "alive", os.O_RDWR)
        self.addCleanup(os.close, alive)
        return alive

    def test_a_job_that_takes_its_supervisors_place_can_be_stopped(self) -> None:
        for name, take in {
            "all of it": f"exec 7<>alive 8<>control; kill -9 $PPID; {LISTEN}",
            "no record": f"exec 7<>alive 8<>control; rm command.json; kill -9 $PPID; {LISTEN}",
            "deaf": "exec 7<>alive; rm command.json; kill -9 $PPID; sleep 1000",
        }.items():
            with self.subTest(name):
                gate = self.gate(name.replace(" ", "-"))
                id = self.start(f"{AT_HOME}; read _ < {gate}; {take}")
                supervisor, pid = self.supervisor(id), self.command(id)
                gate.open()
                until("its supervisor to be killed", lambda it=supervisor: processes.look(it) is None)
                self.assertIsInstance(self.jobs.inspect(id), Progress)
                self.jobs.stop(id, "cancelled")
                outcome = ended(self.jobs, id)
                self.assertEqual((outcome.end, outcome.stopped), (Lost("supervisor"), "cancelled"))
                self.assertIsNone(processes.look(pid))

    def test_a_look_at_a_job_that_is_being_stopped_looks_at_its_supervisor_alone(self) -> None:
        gate = self.gate()
        id = self.start(f"trap '' TERM; echo > {self.directory}/deaf; read _ < {gate}; exit 3", grace_ms=600_000)
        self.wait_for_file("deaf")
        self.command(id)
        with mock.patch.object(processes, "all", side_effect=AssertionError("it takes long")):
            self.jobs.stop(id, "cancelled")
            self.assertEqual(self.jobs.inspect(id).stopping, "cancelled")
        gate.open()
        self.assertEqual(ended(self.jobs, id).end, Exited(3))

    def test_an_outcome_is_believed_where_no_supervisor_holds_what_it_held(self) -> None:
        id = self.start("exit 3")
        self.wait_for_all_of(id)
        self.hold_alive(id)
        self.assertIsInstance(self.jobs.inspect(id), Progress)
        with mock.patch.object(limits, "LAST_INSTANT_SECONDS", 0.1):
            self.jobs.stop(id, "cancelled")
            self.assertEqual(ended(self.jobs, id).end, Exited(3))

    def test_a_loss_that_a_job_has_forged_is_not_believed_by_a_supervisor_that_lives(self) -> None:
        gate = self.gate()
        # Also what only a newer version can read.
        for forged in (self.forged_loss(), '{"format": 2}'):
            id = self.start(f"read _ < {gate}; exit 3")
            self.supervisor(id)
            (self.files(id) / "found").symlink_to("found")
            (self.files(id) / "outcome.json").write_text(forged)
            gate.open()
            self.assertEqual(ended(self.jobs, id).end, Exited(3))

    def forged_loss(self) -> str:
        """What says that a job was lost with its machine."""
        outcome = burial.ended({"lost": {"kind": "machine"}}, 7, None)
        return json.dumps({"format": FORMAT, "content": outcome})

    def lost_with_its_files(self) -> str:
        """A job that has taken away what its supervisor listens to, and forged what says that it was lost before."""
        id = self.start("exec sleep 100")
        self.supervisor(id)
        (self.files(id) / "control").unlink()
        (self.files(id) / "outcome.damaged-7-7").write_text(self.forged_loss())
        with mock.patch.object(limits, "LAST_INSTANT_SECONDS", 0.1):
            self.jobs.stop(id, "cancelled")
        self.assertEqual(ended(self.jobs, id).end, Lost("files"))
        return id

    def test_a_loss_is_told_as_before_by_who_has_just_seen_the_supervisor_live(self) -> None:
        id = self.lost_with_its_files()
        outcome = self.jobs.inspect(id)
        self.hold_alive(id)
        seen = mock.patch.object(processes, "has_supervisor", return_value=True)
        with seen, mock.patch.object(limits, "LAST_INSTANT_SECONDS", 0.1):
            self.assertEqual(self.jobs.inspect(id), outcome)

    def test_what_is_taken_for_dead_before_it_was_started_stays_lost(self) -> None:
        recorder = Recorder(str(self.directory), 1 << 20)
        files = JobFiles(str(self.directory))
        files.conclude(lost := burial.ended({"lost": {"kind": "supervisor"}}, 7, "cancelled"))
        supervisor.conclude(files, lost | {"end": {"not-started": {"detail": "it was stopped"}}}, recorder)
        self.assertEqual(files.outcome(), lost)

    def test_a_job_that_takes_the_request_to_stop_away_is_cancelled_all_the_same(self) -> None:
        for numbers in ((), (signal.SIGTERM,)):
            id = self.start("sleep 100")
            pid = self.supervisor(id)
            os.kill(pid, signal.SIGSTOP)
            self.assertTrue(wake(str(self.files(id) / "control")))
            for number in (*numbers, signal.SIGCONT):
                os.kill(pid, number)
            outcome = ended(self.jobs, id)
            self.assertEqual((outcome.end, outcome.stopped), (Signalled("SIGTERM", False), "cancelled"))

    def test_a_request_that_comes_right_before_the_signal_is_seen_by_who_heeds_that(self) -> None:
        files = JobFiles(str(self.directory))
        files.furnish({})
        life = Life({"grace_ms": 0, "timeout_ms": None, "lifetime_ms": None}, 0)
        with mock.patch.object(supervisor, "signal"):
            watch = supervisor._Watch(files, Recorder(files.path, 1 << 20), life)
        self.addCleanup(os.close, watch._control)
        files.wake()
        watch._heed_signal()
        self.assertEqual((watch._is_asked, life.is_running), (True, True), "a command that was faster was not stopped")

    def test_who_writes_faster_than_is_read_keeps_nobody(self) -> None:
        with mock.patch("os.read", side_effect=[b"x"] * 100 + [AssertionError("for ever")]):
            self.assertFalse(is_at_end(7))
        with mock.patch("os.read", side_effect=[b"x" * 512, AssertionError("for ever")]):
            self.assertTrue(supervisor._empty(7))

    def test_a_job_that_writes_where_its_supervisor_is_seen_to_live_seldom_wakes_who_waits(self) -> None:
        id = self.start("sleep 100")
        self.supervisor(id)
        alive = self.hold_alive(id)

        async def wait() -> None:
            def read(fifo: int) -> bool:
                found = is_at_end(fifo)
                os.write(alive, b"x")
                return found

            with mock.patch.object(job_files, "is_at_end", side_effect=read) as looked, suppress(TimeoutError):
                await asyncio.wait_for(self.jobs.ended(id), 0.5)
            self.assertLess(looked.call_count, 20)

        asyncio.run(wait())
        self.jobs.stop(id, "cancelled")
        ended(self.jobs, id)

    def test_where_boots_have_no_names_a_job_of_an_earlier_one_has_not_run_in_this_one(self) -> None:
        id = self.start("exec sleep 100")
        self.supervisor(id)
        rewrite_origin(self.files(id) / "spec.json", boot_id="", started_at=7, monotonic_ms=0)
        with mock.patch.object(clock, "boot_id", lambda: ""):
            self.assertEqual(self.jobs.inspect(id).running_ms, 0)
            self.jobs.stop(id, "cancelled")
            ended(self.jobs, id)
            until("its supervisor to be gone", lambda: not processes.has_supervisor(id))
            (self.files(id) / "outcome.json").unlink()
            self.assertEqual(self.jobs.inspect(id).end, Lost("machine"))

    def test_directories_that_are_nested_more_deeply_than_a_path_is_long_are_deleted(self) -> None:
        id = self.start("exit 0")
        self.wait_for_all_of(id)
        stale = self.directory / "jobs" / ".workshop" / "gone-7"
        stale.mkdir()
        for path in (self.files(id), stale):
            nest(path)
        self.jobs.forget(id)
        self.assertIsNone(self.jobs.inspect(id))
        with mock.patch.object(limits, "STALE_SECONDS", -1):
            SupervisedJobs(self.directory)
        self.assertEqual(os.listdir(stale.parent), [])

    def test_what_a_link_in_the_place_of_a_directory_leads_to_is_left_alone(self) -> None:
        theirs = self.directory / "theirs"
        (theirs / "below").mkdir(parents=True)
        (theirs / "file").write_text("theirs")
        theirs.chmod(0o755)
        id = self.start("exit 0")
        self.wait_for_all_of(id)
        stale = self.directory / "jobs" / ".workshop" / "gone-7"
        (stale / "below").mkdir(parents=True)
        for link in (stale / "link", stale / "below" / "link", stale.parent / "gone-8"):
            link.symlink_to(theirs)
        self.files(id).rename(self.directory / "away")
        self.files(id).symlink_to(theirs)
        self.assertIsNone(self.jobs.inspect(id))
        self.jobs.forget(id)
        with mock.patch.object(limits, "STALE_SECONDS", -1):
            SupervisedJobs(self.directory)
        self.assertEqual(os.listdir(stale.parent), [])
        self.assertEqual(sorted(os.listdir(theirs)), ["below", "file"])
        self.assertEqual(theirs.stat().st_mode & 0o777, 0o755)

    def test_a_job_is_stopped_whatever_is_in_the_place_of_its_directory(self) -> None:
        theirs = self.directory / "theirs"
        theirs.mkdir()

        def make_file(path: Path) -> None:
            path.write_text("theirs")

        for put in (lambda path: path.symlink_to(theirs), lambda path: path.symlink_to("nowhere"), make_file):
            id = self.start("exit 0")
            self.wait_for_all_of(id)
            self.files(id).rename(self.directory / f"away-{id}")
            put(self.files(id))
            self.jobs.stop(id, "cancelled")
            outcome = self.jobs.inspect(id)
            self.assertEqual(outcome.end, Lost("never-started"))
        self.assertEqual(os.listdir(theirs), [])

    def test_a_link_in_the_place_of_the_workshop_is_not_followed(self) -> None:
        theirs = self.directory / "theirs"
        (theirs / "below").mkdir(parents=True)
        workshop = self.directory / "jobs" / ".workshop"
        for put in (lambda: workshop.symlink_to(theirs), lambda: workshop.write_text("theirs")):
            workshop.rename(self.directory / f"away-{time.monotonic_ns()}")
            put()
            with mock.patch.object(limits, "STALE_SECONDS", -1):
                SupervisedJobs(self.directory)
            self.assertTrue(workshop.is_dir() and not workshop.is_symlink())
        self.assertEqual(os.listdir(theirs), ["below"])

    def test_an_outcome_that_a_job_forged_in_its_supervisors_place_does_not_keep_it_running(self) -> None:
        gate = self.gate()
        forged = json.dumps({"format": FORMAT, "content": {}})
        (self.directory / "forged").write_text(forged)
        take = f"exec 7<>alive; cp {self.directory}/forged outcome.json; kill -9 $PPID; sleep 1000"
        id = self.start(f"{AT_HOME}; read _ < {gate}; {take}")
        supervisor, pid = self.supervisor(id), self.command(id)
        gate.open()
        until("its supervisor to be killed", lambda: processes.look(supervisor) is None)
        self.jobs.stop(id, "cancelled")
        ended(self.jobs, id)
        self.assertIsNone(processes.look(pid))

    def test_a_workshop_that_cannot_be_tidied_keeps_no_server_from_its_start(self) -> None:
        with mock.patch("os.scandir", side_effect=PermissionError):
            SupervisedJobs(self.directory)


def nest(path: Path) -> None:
    """Make directories below each other, with a file in each.

    They are more than a process may have descriptors, or a recursion levels.
    """
    below = os.open(path, os.O_RDONLY)
    for _level in range(1100):
        os.mkdir("d" * 200, dir_fd=below)
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=below))
        deeper = os.open("d" * 200, os.O_RDONLY, dir_fd=below)
        os.close(below)
        below = deeper
    os.close(below)
