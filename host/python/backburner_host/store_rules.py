"""What every store has to refuse or compute alike. Pure."""

from collections.abc import Iterable

from . import limits
from .capabilities import Change, Entry, StoreError


def check(changes: list[Change]) -> None:
    """Raise `StoreError` for changes that break the contract whatever the state of the store is."""
    _at_most("a commit with a number of changes", len(changes), limits.CHANGES_MAX)
    for change in changes:
        _check_key(change.key)
        if change.value is not None:
            _at_most("a value with a number of bytes", len(change.value.encode()), limits.VALUE_BYTES_MAX)
    if len({change.key for change in changes}) < len(changes):
        raise StoreError("other", "a commit names a key twice")


def _check_key(key: str) -> None:
    _at_most("a key with a number of bytes", len(key.encode()), limits.KEY_BYTES_MAX)
    if not key or "\0" in key:
        raise StoreError("other", "a key is empty or contains NUL")


def _at_most(what: str, found: int, limit: int) -> None:
    if found > limit:
        raise StoreError("too-large", f"{what} of {found}, where at most {limit} are allowed")


def entries_at_most(limit: int) -> int:
    """How many entries a scan may give that was asked for `limit`."""
    return max(1, min(limit, limits.SCAN_ENTRIES_MAX))


def page(entries: Iterable[Entry], prefix: str, limit: int) -> list[Entry]:
    """The first of `entries`, which begin in the right place and are in order, until a limit is reached."""
    found: list[Entry] = []
    size = 0
    for entry in entries:
        if not entry.key.startswith(prefix):
            break
        found.append(entry)
        size += len(entry.key) + len(entry.value)
        if len(found) >= entries_at_most(limit) or size >= limits.SCAN_BYTES_MAX:
            break
    return found
