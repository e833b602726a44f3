"""The store as a SQLite file, which several processes use at the same time.

Write-ahead logging, so that reads never wait for writes; `synchronous` FULL, so that a commit is on the disk when it
returns. SQLite compares texts by their UTF-8 bytes, which is the order of the contract.
"""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from . import limits, store_rules
from .capabilities import Change, Entry, StoreError, Versioned

_SCHEMA = 1
_TABLES = """
    CREATE TABLE entry (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL, version INTEGER NOT NULL) STRICT;
    CREATE TABLE sequence (version INTEGER NOT NULL) STRICT;
    INSERT INTO sequence VALUES (0);
"""
_KINDS = {
    sqlite3.SQLITE_FULL: "no-space",
    sqlite3.SQLITE_CORRUPT: "corrupt",
    sqlite3.SQLITE_NOTADB: "corrupt",
}


class SqliteStore:
    """A store in a file, for one thread."""

    def __init__(self, path: Path):
        """Open the store at `path`, on a local disk, and create it where there is none.

        Raises `StoreError` where the file cannot be used.
        """
        _create(path)
        with _errors():
            self._db = sqlite3.connect(path, timeout=limits.STORE_BUSY_SECONDS, isolation_level=None)
            try:
                _use_log(self._db)
                self._db.execute("PRAGMA synchronous = FULL")
                self._prepare()
            except BaseException:
                self._db.close()
                raise

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def get(self, key: str) -> Versioned | None:
        with _errors():
            row = self._db.execute("SELECT value, version FROM entry WHERE key = ?", (key,)).fetchone()
        return None if row is None else Versioned(*row)

    def scan(self, prefix: str, after: str | None, limit: int) -> list[Entry]:
        condition, first = ("key >= ?", prefix) if after is None or after < prefix else ("key > ?", after)
        with _errors():
            rows = self._db.execute(
                f"SELECT key, value, version FROM entry WHERE {condition} ORDER BY key LIMIT ?",
                (first, store_rules.entries_at_most(limit)),
            )
            return store_rules.page((Entry(*row) for row in rows), prefix, limit)

    def commit(self, changes: list[Change]) -> None:
        store_rules.check(changes)
        with _errors(), self._transaction():
            for change in changes:
                self._check(change)
            self._db.execute("UPDATE sequence SET version = version + 1")
            (version,) = self._db.execute("SELECT version FROM sequence").fetchone()
            for change in changes:
                self._apply(change, version)

    def _check(self, change: Change) -> None:
        row = self._db.execute("SELECT version FROM entry WHERE key = ?", (change.key,)).fetchone()
        if not change.expect.is_met_by(row[0] if row else None):
            raise StoreError("conflict", f"{change.key} was written by somebody else")

    def _apply(self, change: Change, version: int) -> None:
        if change.value is None:
            self._db.execute("DELETE FROM entry WHERE key = ?", (change.key,))
            return
        self._db.execute(
            "INSERT INTO entry VALUES (?, ?, ?) ON CONFLICT (key) "
            "DO UPDATE SET value = excluded.value, version = excluded.version",
            (change.key, change.value, version),
        )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        # Immediate: what is checked stays so until the changes are made.
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            # A full disk has rolled it back already.
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def _prepare(self) -> None:
        if self._schema() == 0:
            with self._transaction():
                # Again, since another process may have done it before the lock was ours.
                if self._schema() == 0:
                    for statement in _TABLES.split(";"):
                        self._db.execute(statement)
                    self._db.execute(f"PRAGMA user_version = {_SCHEMA}")
        if self._schema() != _SCHEMA:
            raise StoreError("other", f"the store has schema {self._schema()}, and this version knows {_SCHEMA}")

    def _schema(self) -> int:
        return self._db.execute("PRAGMA user_version").fetchone()[0]


def _create(path: Path) -> None:
    """Make an empty file that nobody else can read; what SQLite puts beside it gets its mode."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        # And it is not opened: closing it again would let go of all locks that this process has on it.
        pass


def _use_log(db: sqlite3.Connection) -> None:
    """Switch the file to write-ahead logging, which it then keeps.

    SQLite does not wait where two processes switch at the same time, since each would wait for the other.
    """
    give_up_at = time.monotonic() + limits.STORE_BUSY_SECONDS
    while True:
        try:
            (mode,) = db.execute("PRAGMA journal_mode = WAL").fetchone()
            break
        except sqlite3.OperationalError as error:
            if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > give_up_at:
                raise
            time.sleep(0.001)
    if mode != "wal":
        raise StoreError("other", "the file system of the store cannot carry a write-ahead log: use a local disk")


@contextmanager
def _errors() -> Iterator[None]:
    """Turn what SQLite raises into what the contract says."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(_KINDS.get(_code(error), "other"), f"SQLite: {error}") from error


def _code(error: sqlite3.Error) -> int:
    # The lowest byte is the primary code, whatever more SQLite knows.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
