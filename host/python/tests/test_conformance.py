"""The host conformance kit against this host's stores and jobs. BACKBURNER_CONFORMANCE_KIT names the kit's file."""

import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from unittest import mock

from wasmtime.component import Variant

from .kit import Host, Kit, LastingHost, MemoryHost
from .support import DirectoryCase, given

KIT = given("BACKBURNER_CONFORMANCE_KIT")

CHECKS_IN_MEMORY_LEAST = 20
"""How many checks at least need nothing but a store and names of jobs."""

CHECKS_LEAST = 72
"""How many checks there are at least."""


@unittest.skipUnless(KIT, "BACKBURNER_CONFORMANCE_KIT does not name the kit's file")
class Conformance(DirectoryCase):
    """Every promise that the kit can check is kept."""

    def check(self, host: Host) -> None:
        kit = Kit(KIT, self.directory)
        checks, left_out = kit.checks(host)
        has_everything = isinstance(host, LastingHost)
        if has_everything:
            needs = {need for check in left_out for need in check.needs}
            self.assertEqual(needs - set(host.offers), {"terminals"}, "a host that has all else is up to all else")
        self.assertGreaterEqual(len(checks), CHECKS_LEAST if has_everything else CHECKS_IN_MEMORY_LEAST)
        with ThreadPoolExecutor(host.threads) as pool:
            for check, broken in zip(checks, pool.map(lambda check: kit.run(host, check), checks), strict=True):
                with self.subTest(check.name):
                    self.assertIsNone(broken)

    def test_sqlite_and_supervised_jobs_keep_every_promise(self) -> None:
        self.check(LastingHost(self.directory / "host"))

    def test_memory_keeps_every_promise_but_durability(self) -> None:
        self.check(MemoryHost(self.directory / "host"))


class Verdicts(unittest.TestCase):
    """What counts as passed."""

    def ended(self, end: Variant) -> str | None:
        """What is wrong where a member of a crowd ends so, and the check passes else."""
        begun = Variant("crowd", SimpleNamespace(members=("a member",), ticket="the check"))

        def call(function: str, ticket: str, _now: int) -> Variant:
            return begun if function == "begin" else Variant("passed") if ticket == "the check" else end

        kit, host = object.__new__(Kit), SimpleNamespace(directory=None)
        with mock.patch.object(Kit, "_instance", lambda *_: SimpleNamespace(call=call)):
            return kit.run(host, SimpleNamespace(name="a check", needs=[]))

    def test_a_member_of_a_crowd_that_neither_passed_nor_failed_has_failed(self) -> None:
        for tag in ("wait", "restart", "crowd"):
            self.assertIn(tag, self.ended(Variant(tag)))
        self.assertIsNone(self.ended(Variant("passed")))

    def test_a_failure_without_a_reason_is_one(self) -> None:
        self.assertEqual(self.ended(Variant("failed", SimpleNamespace(reason=""))), "")

    def apart(self, code: str) -> str | None:
        """What is wrong with a check whose process runs this."""
        kit, host = object.__new__(Kit), SimpleNamespace(directory="")
        kit._words = [sys.executable, "-c", code]
        return kit.run(host, SimpleNamespace(name="a check", needs=["lasting-store"]))

    def test_a_process_that_does_not_say_how_far_the_check_has_come_has_failed(self) -> None:
        self.assertIn("why", self.apart("raise SystemExit('why')"))

    def test_a_process_that_did_not_end_as_a_crash_would_has_failed(self) -> None:
        said = """import os; print('["passed", {}]', flush=True); """
        self.assertIsNone(self.apart(f"{said} os.kill(os.getpid(), 9)"))
        for end in ("", "os.kill(os.getpid(), 15)"):
            self.assertIn("failed", self.apart(said + end))


class LeftOut(unittest.TestCase):
    """What happens where a file is not named."""

    def test_a_file_that_is_not_named_leaves_its_tests_out_unless_all_were_asked_for(self) -> None:
        with mock.patch.dict("os.environ", {"BACKBURNER_ALL_TESTS": "", "BACKBURNER_X": ""}):
            self.assertIsNone(given("BACKBURNER_X"))
        with mock.patch.dict("os.environ", {"BACKBURNER_ALL_TESTS": "1", "BACKBURNER_X": ""}):
            self.assertRaises(LookupError, given, "BACKBURNER_X")
