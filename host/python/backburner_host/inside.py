"""`ask` and `progress`: what a job's own processes call. No server has a part in it, and none is loaded."""

import argparse
import contextlib
import dataclasses
import json
import os
import re
import sys
import uuid

from . import durations, form, report
from .capabilities import Report
from .clock import now_ms
from .job_files import DATA_VARIABLE, TASK_VARIABLE, JobFiles, jobs_directory
from .questions import Asker

_FAILURE = 125
"""The exit status where this is no job, or this program failed; of `ask` for a wrong command line, too."""

_WRONG_USAGE = {"ask": _FAILURE, "progress": 2}

_STATUS = {"accept": 0, "decline": 1, "cancel": 2}

_NOBODY = json.dumps({"action": "cancel"})
"""What is written where nobody answered in time."""

_NUMBER = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf|infinity|nan)", re.IGNORECASE)
"""A number, in the forms that the native program knows."""

_DEADLINE_MS_MAX = 365 * 86_400_000
"""How long one may wait for an answer."""

_ASK = """\
Asks a person something in a command that runs as a job, waits for the answer, and prints it in one line, a number as it
was written. Without an option for what is asked, it asks for agreement only. Never ask for secrets: clients and models
see the answers.

Exit status: 0 where the person accepted, 1 where they declined, 2 where they dismissed the question or nobody answered
before the deadline, 125 where this is no job, the command line is wrong, or this program failed.
"""

_PROGRESS = """\
Says how far a job is, in a command that runs as one: the status message of its task says this in place of the last line
of output, until it is said anew. An empty text takes it back.

A first word that is a number, with or without a % behind it, is the percentage, and a wrong command line where it is
not 0 to 100; quote a text that begins with a number as one word. All other words are the text, of which 1000 bytes are
kept.

Exit status: 0 where it was noted, 2 for a wrong command line, 125 where this is no job or this program failed.
"""


class WrongUsage(Exception):
    """The command line is wrong; the text says what to do."""


class _Parser(argparse.ArgumentParser):
    """One that leaves it to us how the program ends."""

    def error(self, message: str) -> None:
        raise WrongUsage(f"{message}; --help says what there is")


def main(words: list[str]) -> int:
    """Do what the command line says, without the program's name. Gives the exit status."""
    command, *rest = words
    try:
        return _ask(rest) if command == "ask" else _progress(rest)
    except WrongUsage as error:
        status, said = _WRONG_USAGE[command], error
    except Exception as error:
        # Whatever it is: by itself Python would end with 1, and say by that that the person declined.
        status, said = _FAILURE, error
    _complain(str(said))
    return status


def _complain(text: str) -> None:
    """Say what is wrong, where that can be said: that it cannot is not to become another exit status."""
    # Where it is closed, Python would print to the standard output, which is the answer's.
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            print(f"backburner-host: {text}", file=sys.stderr)


def _ask(words: list[str]) -> int:
    options = _ask_parser().parse_args(words)
    try:
        asked = _form(options)
        # Words of a command line may be anything.
        asked.text.encode()
    except ValueError as error:
        raise WrongUsage(str(error)) from error
    reply = form.read_answer(_answer(asked.text, options.deadline))
    if reply["action"] == "accept":
        content = reply.get("content")
        line = asked.printed_as_json(content) if options.json else asked.printed(content)
        if line is not None:
            _print(line)
    return _STATUS.get(reply["action"], _FAILURE)


def _print(line: str) -> None:
    if sys.stdout is None:
        raise OSError(
            "the answer cannot be printed: standard output is closed; send it to /dev/null if nobody wants it"
        )
    # Whatever the locale is, and half a character that an answer may end with.
    sys.stdout.buffer.write(line.encode(errors="replace") + b"\n")
    sys.stdout.buffer.flush()


def _answer(text: str, deadline_ms: int | None) -> str:
    asker = Asker(_own_job(), text)
    try:
        return asker.answered(None if deadline_ms is None else deadline_ms / 1000) or asker.conclude(_NOBODY)
    finally:
        asker.withdraw()


def _form(options: argparse.Namespace) -> form.Form:
    kinds = [kind for kind in form.TYPES if getattr(options, kind)]
    if len(kinds) + bool(options.field) > 1:
        raise WrongUsage("ask for one kind of value, or for fields")
    fields = [form.only(kind) for kind in kinds] + [form.named(text) for text in options.field]
    if options.optional:
        fields = [dataclasses.replace(field, is_required=False) for field in fields]
    note = "" if options.deadline is None else form.until_when(options.deadline, now_ms())
    return form.Form(options.message, fields, note)


def _progress(words: list[str]) -> int:
    parser = _parser("progress", "[PERCENT] [TEXT]...", _PROGRESS)
    parser.add_argument("words", nargs="*", help=argparse.SUPPRESS)
    percent, text = split(parser.parse_args(words).words)
    text.encode()
    report.write(_own_job(), Report(percent, text, now_ms()))
    return 0


def split(words: list[str]) -> tuple[int | None, str]:
    """A percentage, a text, or both. Several words are one text, as for `echo`."""
    if not words:
        raise WrongUsage("give a percentage, a text, or both")
    percent = _percentage(words[0])
    return percent, " ".join(words if percent is None else words[1:])


def _percentage(word: str) -> int | None:
    """What a word says that is a number; `None` where it is none."""
    number = word.strip().removesuffix("%").rstrip()
    if not _NUMBER.fullmatch(number):
        return None
    percent = float(number)
    if not 0 <= percent <= 100:
        raise WrongUsage(
            f"{word!r} is no percentage: give 0 to 100, or quote a text that begins with a number as one word"
        )
    return int(percent)


def _own_job() -> str:
    """The directory of the job that this process is a part of."""
    id, data = os.environ.get(TASK_VARIABLE), os.environ.get(DATA_VARIABLE)
    if not id or not data:
        variables = f"{TASK_VARIABLE} and {DATA_VARIABLE}"
        raise OSError(f"this is no job: {variables} are not set; use it in a command that runs as a job")
    path = os.path.join(jobs_directory(data), str(uuid.UUID(id)))
    if not JobFiles(path).is_alive():
        raise OSError(f"there is no job that runs in {path}")
    return path


def _ask_parser() -> argparse.ArgumentParser:
    parser = _parser("ask", "MESSAGE [OPTIONS]", _ASK)
    parser.add_argument("message", help=argparse.SUPPRESS)
    for kind in form.TYPES:
        parser.add_argument(f"--{kind}", action="store_true", help="ask for one value of this kind")
    parser.add_argument(
        "--field",
        action="append",
        default=[],
        metavar="NAME[?]:TYPE[:TITLE]",
        help="ask for a field, one option each; a type is boolean, text, number, integer, or choices as a|b; with ? it "
        "may be left out",
    )
    parser.add_argument("--optional", action="store_true", help="all of it may be left out")
    parser.add_argument(
        "--deadline",
        type=_duration,
        metavar="DURATION",
        help="how long to wait, such as 90, 10m or 1h30m; the message says until when [default: for ever]",
    )
    parser.add_argument("--json", action="store_true", help="print the answer as JSON in any case")
    return parser


def _parser(command: str, usage: str, description: str) -> argparse.ArgumentParser:
    name = f"backburner-host {command}"
    raw = argparse.RawDescriptionHelpFormatter
    return _Parser(prog=name, usage=f"{name} {usage}", description=description, formatter_class=raw, allow_abbrev=False)


def _duration(text: str) -> int:
    """How long to wait, in milliseconds."""
    ms = durations.read(text)
    if ms is None or not 1 <= ms <= _DEADLINE_MS_MAX:
        raise argparse.ArgumentTypeError(
            "give seconds, or numbers with ms, s, m, h or d, such as 90, 0.5s, 10m, 1.5h or 1h30m: more than 0, at "
            f"most 365d; and not {text}"
        )
    return ms
