"""The host conformance kit against this host's stores and jobs. BACKBURNER_CONFORMANCE_KIT names the kit's file."""

import os
import unittest
from concurrent.futures import ThreadPoolExecutor

from .kit import Host, Kit, LastingHost, MemoryHost
from .support import DirectoryCase

KIT = os.environ.get("BACKBURNER_CONFORMANCE_KIT")


@unittest.skipUnless(KIT, "BACKBURNER_CONFORMANCE_KIT does not name the kit's file")
class Conformance(DirectoryCase):
    """Every promise that the kit can check is kept."""

    def check(self, host: Host) -> None:
        kit = Kit(KIT, self.directory)
        names = kit.checks(host)
        self.assertTrue(names, "the kit checks nothing")
        with ThreadPoolExecutor(host.threads) as pool:
            for name, broken in zip(names, pool.map(lambda name: kit.run(host, name), names), strict=True):
                with self.subTest(name):
                    self.assertIsNone(broken)

    def test_sqlite_and_supervised_jobs_keep_every_promise(self) -> None:
        self.check(LastingHost(self.directory / "host"))

    def test_memory_keeps_every_promise_but_durability(self) -> None:
        self.check(MemoryHost(self.directory / "host"))
