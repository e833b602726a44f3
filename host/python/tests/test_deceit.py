"""What a job does against its own supervisor, and in its place: it is stopped all the same, and deceives nobody."""

import os
from pathlib import Path
from unittest import mock

from backburner_host import limits, processes
from backburner_host.capabilities import Exited, Lost, Progress
from backburner_host.jobs import SupervisedJobs

from .support import JobsCase, ended, until

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

    def test_a_workshop_that_cannot_be_tidied_keeps_no_server_from_its_start(self) -> None:
        with mock.patch("os.scandir", side_effect=PermissionError):
            SupervisedJobs(self.directory)


def nest(path: Path) -> None:
    """Make directories below each other, with a file in each: more than there are descriptors, or levels of a recursion."""
    below = os.open(path, os.O_RDONLY)
    for _level in range(1100):
        os.mkdir("d" * 200, dir_fd=below)
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=below))
        deeper = os.open("d" * 200, os.O_RDONLY, dir_fd=below)
        os.close(below)
        below = deeper
    os.close(below)
