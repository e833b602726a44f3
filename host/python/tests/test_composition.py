"""The component composed with another one that supplies its store. BACKBURNER_COMPOSED names the composition's file."""

import json
import unittest
from pathlib import Path

from backburner_host.guest import Guest, Program
from backburner_host.jobs import SupervisedJobs
from backburner_host.limits import CALLS_PER_INSTANCE
from backburner_host.serve import cache_directory

from .support import DirectoryCase, Server, ended, given, program
from .test_guest import request

COMPOSED = given("BACKBURNER_COMPOSED")


@unittest.skipUnless(COMPOSED, "BACKBURNER_COMPOSED does not name a composition's file")
class Composition(DirectoryCase):
    """One component made of two."""

    def setUp(self) -> None:
        super().setUp()
        # Kept, also for the servers that play the transcripts afterwards: compiling it takes seconds.
        self.program = Program(Path(COMPOSED), cache_directory())

    def test_a_task_is_kept_by_the_component_that_supplies_the_store(self) -> None:
        self.assertEqual((self.program.imports_store, program().imports_store), (False, True))
        jobs = SupervisedJobs(self.directory)
        # No store at all: whatever called it would trap.
        guest = Guest(self.program, None, jobs, {"directLimitMs": 0})
        call = request("tools/call", name="run", arguments={"command": "echo kept; exit 3"})
        created = json.loads(guest.message("somebody", call))["result"]
        ended(jobs, created["taskId"])
        get = request("tasks/get", taskId=created["taskId"])
        # Longer than any other instance lives.
        for _time in range(CALLS_PER_INSTANCE + 1):
            task = json.loads(guest.message("somebody", get))
        result = task["result"]["result"]
        self.assertEqual(result["structuredContent"]["exitCode"], 3)
        self.assertIn("kept", result["content"][0]["text"])

    def test_the_server_serves_it_and_makes_no_store_of_its_own(self) -> None:
        server = Server(self.directory / "data", "--component", COMPOSED)
        self.addCleanup(server.kill)
        self.assertEqual(server.ended_task(server.run("exit 4"))["result"]["structuredContent"]["exitCode"], 4)
        self.assertEqual(server.close(), [])
        self.assertEqual([path.name for path in (self.directory / "data").iterdir()], ["jobs"])
