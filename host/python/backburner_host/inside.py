"""`ask` and `progress`: what a job's own processes call. No server has a part in it, and none is loaded."""

import argparse
import dataclasses
import json
import os
import re
import sys
import uuid

from . import form, report
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

_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_DEADLINE_DAYS_MAX = 365

_ASK = """\
Asks a person something in a command that runs as a job, waits for the answer, and prints it in one line. Without an
option for what is asked, it asks for agreement only. Never ask for secrets: clients and models see the answers.

Exit status: 0 where the person accepted, 1 where they declined, 2 where they dismissed the question or nobody answered
before the deadline, 125 where this is no job, the command line is wrong, or this program failed.
"""

_PROGRESS = """\
Says how far a job is, in a command that runs as one: the status message of its task says this in place of the last line
of output, until it is said anew. PERCENT is 0 to 100, TEXT at most 1000 bytes; either of them may be left out.

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
    except (OSError, ValueError) as error:
        status, said = _FAILURE, error
    print(f"backburner-host: {said}", file=sys.stderr)
    return status


def _ask(words: list[str]) -> int:
    options = _ask_parser().parse_args(words)
    try:
        asked = _form(options)
        # Words of a command line may be anything.
        asked.text.encode()
    except ValueError as error:
        raise WrongUsage(str(error)) from error
    reply = json.loads(_answer(asked.text, options.deadline))
    if reply["action"] == "accept":
        content = reply.get("content")
        line = asked.printed_as_json(content) if options.json else asked.printed(content)
        if line is not None:
            # Whatever the locale is, and half a character that an answer may end with.
            sys.stdout.buffer.write(line.encode(errors="replace") + b"\n")
            sys.stdout.buffer.flush()
    return _STATUS.get(reply["action"], _FAILURE)


def _answer(text: str, seconds: float | None) -> str:
    asker = Asker(_own_job(), text)
    try:
        return asker.answered(seconds) or asker.conclude(_NOBODY)
    finally:
        asker.withdraw()


def _form(options: argparse.Namespace) -> form.Form:
    kinds = [kind for kind in form.TYPES if getattr(options, kind)]
    if len(kinds) + bool(options.field) > 1:
        raise WrongUsage("ask for one kind of value, or for fields")
    fields = [form.only(kind) for kind in kinds] + [form.named(text) for text in options.field]
    if options.optional:
        fields = [dataclasses.replace(field, is_required=False) for field in fields]
    return form.Form(options.message, fields, options.deadline)


def _progress(words: list[str]) -> int:
    parser = _parser("progress", "[PERCENT] [TEXT]", _PROGRESS)
    parser.add_argument("words", nargs="*", help=argparse.SUPPRESS)
    percent, text = _split(parser.parse_args(words).words)
    text.encode()
    report.write(_own_job(), Report(percent, text, now_ms()))
    return 0


def _split(words: list[str]) -> tuple[int | None, str]:
    """A percentage, a text, or both."""
    percent = _percentage(words[0]) if words else None
    if len(words) == 1:
        return percent, words[0] if percent is None else ""
    if len(words) == 2 and percent is not None:
        return percent, words[1]
    raise WrongUsage("give a percentage from 0 to 100, a text, or both")


def _percentage(word: str) -> int | None:
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]+)?%?", word):
        return None
    number = float(word.removesuffix("%"))
    return int(number) if number <= 100 else None


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
        help="how long to wait, such as 90, 10m or 1.5h [default: for ever]",
    )
    parser.add_argument("--json", action="store_true", help="print the answer as JSON in any case")
    return parser


def _parser(command: str, usage: str, description: str) -> argparse.ArgumentParser:
    name = f"backburner-host {command}"
    raw = argparse.RawDescriptionHelpFormatter
    return _Parser(prog=name, usage=f"{name} {usage}", description=description, formatter_class=raw, allow_abbrev=False)


def _duration(text: str) -> float:
    found = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]+)?)([smhd]?)", text)
    seconds = float(found[1]) * _SECONDS[found[2]] if found else 0
    if not 0.001 <= seconds <= _DEADLINE_DAYS_MAX * _SECONDS["d"]:
        raise argparse.ArgumentTypeError(
            f"a duration is seconds, or a number with s, m, h or d, such as 1.5h, and not {text}"
        )
    return seconds
