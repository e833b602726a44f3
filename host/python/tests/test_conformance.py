"""The host conformance kit against this host's stores and jobs. BACKBURNER_CONFORMANCE_KIT names the kit's file."""

import os
import unittest
from pathlib import Path

from backburner_host.jobs import SupervisedJobs
from backburner_host.memory_store import MemoryStore
from backburner_host.store import SqliteStore

from .kit import Host, Kit
from .support import DirectoryCase

KIT = os.environ.get("BACKBURNER_CONFORMANCE_KIT")


@unittest.skipUnless(KIT, "BACKBURNER_CONFORMANCE_KIT does not name the kit's file")
class Conformance(DirectoryCase):
    """Every promise that the kit can check is kept."""

    def check(self, host: Host, prefix: str) -> None:
        kit = Kit(KIT)
        names = [name for name in kit.checks(host)[0] if name.startswith(prefix)]
        self.assertTrue(names, "the kit checks nothing")
        for name in names:
            with self.subTest(name):
                self.assertIsNone(kit.run(host, name))

    def test_sqlite_and_supervised_jobs_keep_every_promise(self) -> None:
        everything = {"lasting-store", "processes", "lasting-jobs", "descendants"}
        self.check(Host(lambda: _lasting(self.directory), frozenset(everything)), "")

    def test_memory_keeps_every_promise_but_durability(self) -> None:
        store, jobs = MemoryStore(), SupervisedJobs(self.directory)
        self.check(Host(lambda: (store, jobs), frozenset()), "store/")


def _lasting(directory: Path) -> tuple[SqliteStore, SupervisedJobs]:
    return SqliteStore(directory / "store"), SupervisedJobs(directory / "jobs")
