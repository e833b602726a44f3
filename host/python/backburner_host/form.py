"""What a job asks, as the command line says it: the parameters of `elicitation/create`, and how an answer is printed.

*Source:* MCP 2026-07-28, Elicitation, Requested Schema.
"""

import json
import re
import string
import unicodedata
from dataclasses import dataclass
from typing import Any

from . import durations

MESSAGE_CHARACTERS_MAX = 4000
"""How long a message may be, in characters, with what is added to it. What the component takes."""

FIELDS_MAX = 32
"""How many fields there may be. What the component takes."""

TYPES = {"boolean": "boolean", "text": "string", "number": "number", "integer": "integer"}
"""The kinds of values, and what the protocol calls them."""

_ONLY = "answer"
"""The name of a single field, which nobody sees."""

_FIELD = re.compile(r"(?P<name>.{1,100}?)(?P<mark>\?)?:(?P<type>[^:]*)(?::(?P<title>.*))?", re.DOTALL)

_UNSEEN = re.compile(
    "[\u115f\u1160\u3164\uffa0\u034f\u17b4\u17b5\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
"""Letters in whose place nobody sees anything, and marks that nobody sees."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class Number(str):
    """A number as it was written. As one of Python, `1.50` would be `1.5`, and of many digits another one."""


@dataclass(frozen=True)
class Field:
    """One value that is asked for."""

    name: str
    schema: dict[str, Any]
    is_required: bool
    is_alone: bool = False
    """Whether it is all that is asked for, and nobody chose its name."""


class Form:
    """A message, and the fields that go with it."""

    def __init__(self, message: str, fields: list[Field], note: str = ""):
        """Ask for `fields`; `note` is added to the message, see `until_when`.

        Raises `ValueError`, with what is wrong, for what nobody can be asked.
        """
        if len({field.name for field in fields}) < len(fields):
            raise ValueError("a field is given twice")
        if len(fields) > FIELDS_MAX:
            raise ValueError(f"give at most {FIELDS_MAX} fields")
        self._message = message + note
        if _is_blank(message) or len(self._message) > MESSAGE_CHARACTERS_MAX:
            why = f": what --deadline adds to it takes {len(note)} of {MESSAGE_CHARACTERS_MAX}" if note else ""
            raise ValueError(f"give a message of 1 to {MESSAGE_CHARACTERS_MAX - len(note)} characters{why}")
        self._fields = fields

    @property
    def text(self) -> str:
        """As JSON, with the fields in their order."""
        properties = {field.name: field.schema for field in self._fields}
        required = [field.name for field in self._fields if field.is_required]
        schema = {"type": "object", "properties": properties, "required": required}
        return _json({"message": self._message, "requestedSchema": schema})

    def printed(self, content: dict[str, Any] | None) -> str | None:
        """The line that is printed of an answer's content, as `read_answer` gives it; `None` where there is none."""
        if not self._fields:
            return None
        if not self._has_one_value():
            return self.printed_as_json(content)
        value = (content or {}).get(_ONLY)
        if value is None:
            return ""
        return _CONTROL.sub(" ", value if isinstance(value, str) else _json(value))

    def printed_as_json(self, content: dict[str, Any] | None) -> str:
        """The same as JSON, in any case."""
        content = content or {}
        return _json(content.get(_ONLY) if self._has_one_value() else content)

    def _has_one_value(self) -> bool:
        return any(field.is_alone for field in self._fields)


def only(kind: str) -> Field:
    """The field where one value is asked for."""
    return Field(_ONLY, {"type": TYPES[kind]}, is_required=True, is_alone=True)


def named(text: str) -> Field:
    """The field of `NAME[?]:TYPE[:TITLE]`; raises `ValueError` where that is none."""
    found = _FIELD.fullmatch(text)
    choices = found["type"].split("|") if found and "|" in found["type"] else []
    kind = "string" if choices else TYPES.get(found["type"]) if found else None
    if kind is None or not _is_name(found["name"]) or not _are_distinct(choices):
        types = f"{', '.join(TYPES)} or different choices as a|b, and nothing in it that nobody sees"
        names = "a name of 1 to 100 letters, digits, blanks and punctuation of ASCII without =, no blank at its ends"
        raise ValueError(f"--field {text!r} is none: give NAME[?]:TYPE[:TITLE], with {names}, and {types}")
    title = {} if found["title"] is None else {"title": found["title"]}
    return Field(found["name"], {"type": kind} | _listed(choices) | title, is_required=not found["mark"])


def read_answer(text: str) -> Any:
    """What JSON says, with its numbers as they were written."""
    return json.loads(text, parse_int=Number, parse_float=Number)


def until_when(deadline_ms: int, now_ms: int) -> str:
    """What is added to a message: a person who reads it has to know until when, also where that is later."""
    until = f"{durations.moment(now_ms + deadline_ms)}, {durations.lasting(deadline_ms)} after this was asked"
    return f"\n(if nobody answers by {until}, there is no answer)"


def _is_name(text: str) -> bool:
    """Whether a person can see where it begins and ends. The length is that of `_FIELD`."""
    if text == "?" or text.strip(" ") != text or _UNSEEN.search(text):
        return False
    is_letter = False
    for character in text:
        # Many languages write a part of a letter as a mark behind it.
        is_part = is_letter and unicodedata.category(character).startswith("M")
        if not (is_part or _shows_in_a_name(character)):
            return False
        is_letter = is_part or character.isalpha()
    return True


def _shows_in_a_name(character: str) -> bool:
    """Whether it is a letter, a digit, a blank or punctuation of ASCII, without what is behind a name elsewhere."""
    return character == " " or character.isalnum() or (character in string.punctuation and character != "=")


def _are_distinct(choices: list[str]) -> bool:
    """Whether each has a value, as one can see, and no other has the same."""
    values = [choice.partition("=")[0] for choice in choices]
    # What joins the characters around it is seen, as in some emoji.
    are_seen = all(not _is_blank(it) and not any(map(_is_hidden, re.sub("[\u200c\u200d]", "", it))) for it in values)
    return are_seen and len(set(values)) == len(values)


def _is_blank(text: str) -> bool:
    """Whether there is nothing to see."""
    return all(character.isspace() or _is_hidden(character) for character in text)


def _is_hidden(character: str) -> bool:
    """Whether nobody sees it.

    The component does not show what has it in a name or a value, or nothing else in its message.
    """
    return unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp")


def _listed(choices: list[str]) -> dict[str, Any]:
    """Choices of which some have a title, as `VALUE=TITLE`, or none."""
    if not any("=" in choice for choice in choices):
        return {"enum": choices} if choices else {}
    pairs = [choice.partition("=") for choice in choices]
    return {"oneOf": [{"const": value, "title": title if sign else value} for value, sign, title in pairs]}


def _json(value: object) -> str:
    match value:
        case Number():
            return str(value)
        case dict():
            members = [f"{_json(name)}:{_json(member)}" for name, member in value.items()]
            return "{" + ",".join(members) + "}"
        case list():
            return "[" + ",".join(map(_json, value)) + "]"
        case _:
            return json.dumps(value, ensure_ascii=False)
