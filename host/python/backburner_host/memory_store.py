"""The store in memory: for tests, and for whoever wants to lose everything at the end."""

import bisect

from . import store_rules
from .capabilities import Change, Entry, StoreError, Versioned


class MemoryStore:
    """A store that lives as long as this value, and keeps all promises but durability."""

    def __init__(self) -> None:
        self._entries: dict[str, Versioned] = {}
        # Python orders texts by code points, which is the order of their UTF-8 bytes.
        self._keys: list[str] = []
        self._version = 0

    def get(self, key: str) -> Versioned | None:
        return self._entries.get(key)

    def scan(self, prefix: str, after: str | None, limit: int) -> list[Entry]:
        first = bisect.bisect_left(self._keys, prefix)
        if after is not None:
            first = max(first, bisect.bisect_right(self._keys, after))
        found = (Entry(key, it.value, it.version) for key in self._keys[first:] if (it := self._entries[key]))
        return store_rules.page(found, prefix, limit)

    def commit(self, changes: list[Change]) -> None:
        store_rules.check(changes)
        for change in changes:
            found = self._entries.get(change.key)
            if not change.expect.is_met_by(found.version if found else None):
                raise StoreError("conflict", f"{change.key} was written by somebody else")
        self._version += 1
        for change in changes:
            self._apply(change)

    def _apply(self, change: Change) -> None:
        place = bisect.bisect_left(self._keys, change.key)
        is_known = change.key in self._entries
        if change.value is None:
            if is_known:
                del self._keys[place], self._entries[change.key]
            return
        if not is_known:
            self._keys.insert(place, change.key)
        self._entries[change.key] = Versioned(change.value, self._version)
