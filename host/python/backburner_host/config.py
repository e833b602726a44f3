"""A `backburner.toml`, the configuration file of the native server, as the members of the WIT's `configure`."""

import datetime
import math
import re
import tomllib
from pathlib import Path
from typing import Any

from .guest import ConfigError

_NO_LINE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""What is not in one line of text: control characters, and what stands for bytes of a path that are no text."""


def read(path: Path) -> dict[str, Any]:
    """The members that a file has, one to one: what they mean is the component's. Paths in it begin where the file is.

    Raises `OSError` where it cannot be read, and `ConfigError` where it is not TOML or has a value that JSON has not.
    """
    try:
        members = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError("", f"{path}: {error}") from error
    _check(members, "")
    file = path.absolute()
    places = {"baseDirectory": str(file.parent), "configurationFile": str(file)}
    # Without the first one the component refuses what is relative to it, and says so.
    return {name: place for name, place in places.items() if not _NO_LINE.search(place)} | members


def _check(value: Any, at: str) -> None:
    """Refuse what JSON has not. `at` is the place of the value, a JSON pointer."""
    match value:
        case dict():
            for name, member in value.items():
                _check(member, f"{at}/{name.replace('~', '~0').replace('/', '~1')}")
        case list():
            for index, item in enumerate(value):
                _check(item, f"{at}/{index}")
        case datetime.date() | datetime.time():
            raise ConfigError(at, "a date or time is written as a string, in quotes")
        case float() if not math.isfinite(value):
            raise ConfigError(at, "a number is finite")
