"""The component composed with another one that supplies its store. BACKBURNER_COMPOSED names the composition's file."""

import json
import unittest
from pathlib import Path

from backburner_host.guest import Guest, Program
from backburner_host.jobs import SupervisedJobs

from .support import DirectoryCase, ended, given
from .test_guest import request

COMPOSED = given("BACKBURNER_COMPOSED")


@unittest.skipUnless(COMPOSED, "BACKBURNER_COMPOSED does not name a composition's file")
class Composition(DirectoryCase):
    """One component made of two."""

    def test_a_task_is_kept_by_the_component_that_supplies_the_store(self) -> None:
        jobs = SupervisedJobs(self.directory)
        # No store at all: whatever called it would trap.
        guest = Guest(Program(Path(COMPOSED)), None, jobs, {"directLimitMs": 0})
        call = request("tools/call", name="run", arguments={"command": "echo kept; exit 3"})
        created = json.loads(guest.message("somebody", call))["result"]
        ended(jobs, created["taskId"])
        get = request("tasks/get", taskId=created["taskId"])
        result = json.loads(guest.message("somebody", get))["result"]["result"]
        self.assertEqual(result["structuredContent"]["exitCode"], 3)
        self.assertIn("kept", result["content"][0]["text"])
