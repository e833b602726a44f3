"""An MCP server over stdio.

A command that runs as a job can ask a person something, and say how far it is: see `ask --help` and `progress --help`.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from wasmtime import WasmtimeError

from . import config
from .capabilities import Store, StoreError
from .guest import ConfigError, Guest, Program
from .jobs import SupervisedJobs
from .server import Server
from .stdio import Input, Output, take_streams
from .store import SqliteStore

MIB = 1024 * 1024


def main() -> None:
    """Serve one client over standard input and output, until it closes the stream."""
    options = parsed()
    # Before anything else can print.
    streams = take_streams()
    try:
        asyncio.run(_serve(options, streams))
    except (OSError, StoreError, ConfigError, WasmtimeError) as error:
        sys.exit(f"backburner: cannot serve: {error}")


def parsed() -> argparse.Namespace:
    """What the command line says; ends the process where it is wrong."""
    parser = _parser()
    options = parser.parse_args()
    if options.component is None:
        parser.error("name the component's file with --component or $BACKBURNER_COMPONENT")
    return options


def assembled(options: argparse.Namespace, make_store: Callable[[Path], Store]) -> tuple[Guest, SupervisedJobs]:
    """The component as the command line wants it, and its jobs.

    `make_store` opens the store in the data directory. It is not called for a component that brings its own.
    """
    data = _private(options.data_dir)
    program = Program(options.component, cache_directory())
    store = make_store(data) if program.imports_store else None
    jobs = SupervisedJobs(data)
    return Guest(program, store, jobs, _members(options)), jobs


async def _serve(options: argparse.Namespace, streams: tuple[int, int]) -> None:
    guest, jobs = assembled(options, lambda data: SqliteStore(data / "store.sqlite3"))
    reading, writing = streams
    await Server(guest, jobs, (Input(reading, options.max_message_bytes), Output(writing))).run()


def cache_directory() -> Path:
    """Where compiled components are kept. Raises `OSError` where it cannot be made, or others may use it."""
    return _private(_user_directory("XDG_CACHE_HOME", ".cache"))


def _private(path: Path) -> Path:
    """A directory that only its owner may use: whoever can write in it can run code here.

    One that others may use is refused and not closed to them, since it may be everybody's.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = path.stat()
    if found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise PermissionError(
            f"others may use {path}; name a directory that does not exist yet, or close it (chmod 700)"
        )
    return path.absolute()


def _members(options: argparse.Namespace) -> dict[str, Any]:
    """What the component gets: what the file says, and what the command line says instead."""
    members = _place() | (config.read(options.config) if options.config else {})
    if members.get("terminals") is True:
        # Clients would be told of an argument with which each call fails.
        raise ConfigError("/terminals", "the jobs of this server have no terminals; leave it out")
    given = {
        "syncLimitMs": (options.sync_limit, 1000),
        "directLimitMs": (options.direct_limit, 1),
        "graceMs": (options.grace, 1000),
        "outputLimitBytes": (options.output_limit, 1),
    }
    return members | {name: value * unit for name, (value, unit) in given.items() if value is not None}


def _place() -> dict[str, str]:
    """Where commands run that name no directory, so that whoever confirms one is told it.

    One that was deleted, or whose name is no text, stays the process's own.
    """
    try:
        return {"workingDirectory": os.getcwdb().decode()}
    except (OSError, UnicodeDecodeError):
        return {}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="backburner-host", description=__doc__)
    parser.add_argument("serve", nargs="?", choices=["serve"], help="what it does in any case")
    parser.add_argument(
        "--component",
        type=Path,
        default=os.environ.get("BACKBURNER_COMPONENT"),
        help="the component's file [default: $BACKBURNER_COMPONENT]",
    )
    parser.add_argument(
        "--data-dir",
        type=Path,
        default=_data_directory(),
        help="where everything is kept; not to be shared with another kind of host [default: $BACKBURNER_DIR, else "
        "backburner-python in the user's state directory]",
    )
    parser.add_argument(
        "--config",
        type=Path,
        help="a backburner.toml as the native server reads it, with limits and tools; options win over it",
    )
    for name, unit, default, least, most, text in _NUMBERS:
        parser.add_argument(name, metavar=unit, type=_number(least, most), help=f"{text} [default: {default}]")
    parser.add_argument(
        "--max-message-bytes",
        metavar="N",
        type=_number(1024, 16 * MIB),
        default=4 * MIB,
        help="the longest message that is accepted [default: %(default)s]",
    )
    return parser


_NUMBERS = [
    ("--sync-limit", "SECONDS", 30, 0, 3600, "how long a client without the Tasks extension waits for a command"),
    ("--direct-limit", "MILLISECONDS", 100, 0, 60_000, "how long a client with it waits before it is given a task"),
    ("--grace", "SECONDS", 5, 0, 600, "how long a job that is stopped may take before it is killed"),
    ("--output-limit", "BYTES", 64 * MIB, 4096, 1 << 40, "how much of a job's output is kept: beginning and end"),
]


def _number(least: int, most: int):
    def number(text: str) -> int:
        value = int(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{value} is not in {least} to {most}")
        return value

    return number


def _data_directory() -> Path:
    named = os.environ.get("BACKBURNER_DIR")
    return Path(named) if named else _user_directory("XDG_STATE_HOME", ".local/state")


def _user_directory(variable: str, usual: str) -> Path:
    """Where this host keeps things of a kind, by the XDG Base Directory specification."""
    named = os.environ.get(variable, "")
    return (Path(named) if os.path.isabs(named) else Path.home() / usual) / "backburner-python"
