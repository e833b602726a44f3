"""What is written down for people: the program in the README, and the measurement that its figures come from."""

import contextlib
import json
import re
import subprocess
import sys
import typing
import unittest
from pathlib import Path
from unittest import mock

from backburner_host import guest
from backburner_host.guest import Cancellation, Notice, Outcome, Pending
from backburner_host.serve import cache_directory

from .support import DirectoryCase, component, ended
from .test_guest import META, request

HERE = Path(__file__).resolve().parent.parent


class ReadmeProgram(DirectoryCase):
    """The program in the README, with what it leaves to its reader."""

    def setUp(self) -> None:
        super().setUp()
        (self.directory / "backburner.wasm").symlink_to(component())
        (self.directory / "a/private").mkdir(parents=True)
        (self.directory / "a/private/directory").symlink_to(cache_directory())
        self.called: list[tuple] = []
        names = ("send", "keep_open", "take_back")
        self.program = {name: mock.Mock(side_effect=self.note(name)) for name in names}
        (text,) = re.findall(r"```python\n(.*?)```", (HERE / "README.md").read_text(), re.DOTALL)
        with contextlib.chdir(self.directory):
            exec(compile(text, "README.md", "exec"), self.program)  # noqa: S102 - it is our own

    def note(self, name: str) -> object:
        return lambda *arguments: self.called.append((name, *arguments))

    def receive(self, line: str) -> list[tuple]:
        """What the program calls for a message."""
        self.called.clear()
        self.program["receive"](line)
        return list(self.called)

    def test_it_answers_and_keeps_open_what_it_cannot_answer_yet(self) -> None:
        ((name, reply),) = self.receive(request("server/discover"))
        self.assertEqual((name, json.loads(reply)["id"]), ("send", 7))
        call = json.loads(request("tools/call", name="run", arguments={"command": "true"}))
        call["params"]["_meta"] = META | {"io.modelcontextprotocol/clientCapabilities": {}}
        line = json.dumps(call)
        ((name, pending, body),) = self.receive(line)
        self.assertEqual((name, body), ("keep_open", line))
        jobs = self.program["jobs"]
        ended(jobs, pending.jobs[0])
        reply = self.program["guest"].resume("who is calling", pending, "job-ended", line)
        self.assertIn("result", json.loads(reply))

    def test_it_tells_what_there_is_to_tell_and_takes_back(self) -> None:
        listen = request("subscriptions/listen", notifications={"toolsListChanged": True})
        (name, notice), (kept, pending, _body) = self.receive(listen)
        self.assertEqual((name, kept), ("send", "keep_open"))
        self.assertIn("notifications/", notice)
        self.assertIsInstance(pending, Pending)
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
        self.assertEqual(self.receive(json.dumps(cancelled)), [("take_back", pending.request)])
        self.assertEqual(self.receive('{"jsonrpc":"2.0","method":"notifications/other"}'), [])

    def test_it_has_a_case_for_every_outcome(self) -> None:
        pending = Pending("r", "t", [], 0)
        outcomes = ["a reply", pending, Notice(["a message"], pending), Cancellation("r")]
        self.assertEqual({type(it) for it in [None, *outcomes]}, set(typing.get_args(Outcome)))
        for outcome in outcomes:
            with mock.patch.object(guest.Guest, "message", return_value=outcome):
                self.assertTrue(self.receive("a line"), outcome)


class Costs(unittest.TestCase):
    """`costs.py`."""

    def test_everything_that_the_readme_says_can_be_measured(self) -> None:
        words = [sys.executable, HERE / "costs.py", component(), "--quick"]
        said = subprocess.run(words, check=True, capture_output=True, text=True).stdout
        for what in (
            "size of the component",
            "import of wasmtime",
            "compile",
            "load what was compiled",
            "instantiate and configure",
            "refuse",
            "server/discover",
            "tools/list",
            r"tasks/get of it \(1024 bytes\)",
            "tools/call until",
        ):
            self.assertRegex(said, rf"(?m)^.*{what}.* +[0-9]+(\.[0-9]+ +[0-9]+\.[0-9]+ ms| bytes)$")
