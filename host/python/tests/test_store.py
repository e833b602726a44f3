"""The SQLite store, where the conformance kit does not reach: several processes, and files that cannot be used."""

import multiprocessing
import os
import stat
from pathlib import Path

from backburner_host.capabilities import Change, Expectation, StoreError
from backburner_host.store import SqliteStore

from .support import DirectoryCase

PROCESSES, TURNS = 4, 25


def count_up(path: Path) -> None:
    """Add to a number as often as it is this process's turn, and try again at every conflict."""
    store = SqliteStore(path)
    for _turn in range(TURNS):
        while True:
            found = store.get("number")
            expect = Expectation("written-by", found.version) if found else Expectation("absent")
            try:
                store.commit([Change("number", str(int(found.value) + 1 if found else 1), expect)])
                break
            except StoreError as error:
                assert error.kind == "conflict", error


class Store(DirectoryCase):
    """The SQLite store."""

    def test_several_processes_lose_no_update(self) -> None:
        path = self.directory / "store"
        context = multiprocessing.get_context("spawn")
        # They also make the file at the same time.
        processes = [context.Process(target=count_up, args=(path,)) for _ in range(PROCESSES)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
            self.assertEqual(process.exitcode, 0)
        self.assertEqual(SqliteStore(path).get("number").value, str(PROCESSES * TURNS))

    def test_opening_it_again_lets_go_of_no_lock(self) -> None:
        path = self.directory / "store"
        first = SqliteStore(path)
        SqliteStore(path)
        # A process that thinks it is the last one takes the log away when it leaves.
        other = multiprocessing.get_context("spawn").Process(target=count_up, args=(path,))
        other.start()
        other.join()
        self.assertTrue(path.with_name("store-wal").exists())
        first.commit([Change("key", "value", Expectation("absent"))])
        self.assertEqual(first.get("number").value, str(TURNS))

    def test_nobody_else_can_read_it(self) -> None:
        SqliteStore(self.directory / "store").commit([Change("key", "value", Expectation("anything"))])
        for file in self.directory.iterdir():
            self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600, file.name)

    def test_a_file_that_is_no_store_is_refused(self) -> None:
        path = self.directory / "store"
        path.write_text("this is a text, and no database, and it is long enough to be looked at" * 100)
        with self.assertRaises(StoreError) as caught:
            SqliteStore(path)
        self.assertEqual(caught.exception.kind, "corrupt")

    def test_a_newer_schema_is_refused(self) -> None:
        path = self.directory / "store"
        SqliteStore(path)._db.execute("PRAGMA user_version = 99")
        with self.assertRaisesRegex(StoreError, "schema 99"):
            SqliteStore(path)

    def test_a_store_that_cannot_be_opened_leaves_no_descriptor(self) -> None:
        path = self.directory / "store"
        store = SqliteStore(path)
        store._db.execute("PRAGMA user_version = 99")
        store.close()
        try:
            SqliteStore(path)
        except StoreError as error:
            # As long as the error is known, nothing of where it comes from is collected.
            opened = [os.readlink(link) for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
            self.assertEqual([it for it in opened if str(path) in it], [], error)
        else:
            self.fail("it was opened")
