"""Durations and moments as people write and read them, in the words of the native program. Pure."""

import datetime
import re

_SECOND = 1000
_MINUTE = 60 * _SECOND
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR

_UNITS = {"d": _DAY, "h": _HOUR, "m": _MINUTE, "min": _MINUTE, "s": _SECOND, "ms": 1}
"""What a unit is called, and how many milliseconds it has."""

_AMOUNT = re.compile(r"([0-9]{0,20})(?:\.([0-9]{1,12}))?")


def read(text: str) -> int | None:
    """How many milliseconds a text means: a number of seconds, or numbers with a unit each, the longest one first.

    `1h30m` is such a text. What is less than a millisecond counts as one more. `None` where it is no duration.
    """
    seconds = _amount(text, _SECOND)
    if seconds is not None:
        return seconds
    total, longer = 0, _DAY + 1
    # Between a unit and the next number there may be a blank.
    for part in re.split(r"(?<=[a-z]) ?(?=[0-9.])", text):
        found = re.fullmatch(r"([0-9.]+)([a-z]+)", part)
        unit = _UNITS.get(found[2], longer) if found else longer
        # Twice the same unit, or a longer one behind a shorter one, is a slip of the finger.
        ms = _amount(found[1], unit) if unit < longer else None
        if ms is None:
            return None
        total, longer = total + ms, unit
    return total


def lasting(ms: int) -> str:
    """How long something lasts, in all its units: nothing of a deadline is rounded away."""
    if ms < _SECOND:
        return f"{ms} ms"
    parts = []
    for unit, name in (_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min"):
        count, ms = divmod(ms, unit)
        if count:
            parts.append(f"{count} {name}")
    if ms:
        seconds = f"{ms // _SECOND}.{ms % _SECOND:03}".rstrip("0").rstrip(".")
        parts.append(f"{seconds} s")
    return " ".join(parts)


def moment(ms: int) -> str:
    """A moment, in milliseconds since 1970, as a person reads it: in UTC, since nobody knows where."""
    when = datetime.datetime.fromtimestamp(ms // 1000, datetime.UTC)
    return f"{when:%Y-%m-%d %H:%M:%S} UTC"


def _amount(number: str, unit: int) -> int | None:
    """So many of a unit, such as `1`, `1.5` or `.5`, in milliseconds."""
    found = _AMOUNT.fullmatch(number)
    if not number or found is None:
        return None
    fraction = found[2] or "0"
    # Rounded up, in whole numbers: 1.1 days are no odd number of milliseconds.
    return int(found[1] or 0) * unit - (-int(fraction) * unit // 10 ** len(fraction))
