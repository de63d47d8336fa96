"""A JSON text in which a few members of one object change, and every other byte stays as it is.

Another program writes the file, in its own order and with its own blanks; what is put in follows those.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from json import JSONDecodeError
from typing import Any, NamedTuple

_BLANKS = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


class Member(NamedTuple):
    """One member of an object: ``start``, ``value_at`` and ``end`` are where its key, and its value, begin and end."""

    key: str
    start: int
    value_at: int
    end: int


def members(text: str, at: int) -> Iterator[Member]:
    """The members of the object that begins at ``at`` (its brace), in order. Raises ``JSONDecodeError``."""
    if text[at : at + 1] != "{":
        raise JSONDecodeError("an object was expected", text, at)
    at = _skip(text, at + 1)
    while text[at : at + 1] != "}":
        start = at
        if text[at : at + 1] != '"':
            raise JSONDecodeError("a key was expected", text, at)
        key, at = _DECODER.raw_decode(text, at)
        at = _skip(text, at)
        if text[at : at + 1] != ":":
            raise JSONDecodeError("a colon was expected", text, at)
        value_at = _skip(text, at + 1)
        _, end = _DECODER.raw_decode(text, value_at)
        yield Member(key, start, value_at, end)
        at = _skip(text, end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != "}":
            raise JSONDecodeError("a comma was expected", text, at)


def with_members(text: str, key: str, changes: Mapping[str, Any]) -> str:
    """``text``, an object of objects, with members of the object at ``key`` set, or taken out where None is given.

    The object is made where there is none. Of a key that stands there twice, the last counts, as in JSON. Raises
    ``JSONDecodeError`` where the text is not such a document.
    """
    top = _skip(text, 0)
    found = [member for member in members(text, top) if member.key == key]
    if not found:
        new = {name: value for name, value in changes.items() if value is not None}
        return _inserted(text, top, key, new, 1)
    for name, value in changes.items():
        inner = next(member for member in reversed(list(members(text, top))) if member.key == key).value_at
        there = [member for member in members(text, inner) if member.key == name]
        if value is None:
            for member in reversed(there):
                text = _without(text, inner, member)
        elif there:
            text = text[: there[-1].value_at] + _dumped(text, value, 2) + text[there[-1].end :]
        else:
            text = _inserted(text, inner, name, value, 2)
    return text


def _inserted(text: str, at: int, key: str, value: Any, depth: int) -> str:
    """A member behind the last one of the object at ``at``, which stands ``depth`` braces deep."""
    there = list(members(text, at))
    pretty = "\n" in text
    if there:
        gap = text[there[-1].start - len(_before(text, there[-1].start)) : there[-1].start]
        colon = text[there[-1].start : there[-1].value_at]
        blank = colon[colon.rindex(":") + 1 :]
        written = f",{gap}{_text(key)}:{blank}{_dumped(text, value, depth)}"
        return text[: there[-1].end] + written + text[there[-1].end :]
    line = "\n" + "  " * depth if pretty else ""
    close = "\n" + "  " * (depth - 1) if pretty else ""
    written = f"{line}{_text(key)}:{' ' if pretty else ''}{_dumped(text, value, depth)}{close}"
    return text[: at + 1] + written + text[_skip(text, at + 1) :]


def _without(text: str, at: int, member: Member) -> str:
    there = list(members(text, at))
    number = there.index(member)
    if number:
        return text[: there[number - 1].end] + text[member.end :]
    following = there[1].start if len(there) > 1 else member.end
    return text[: member.start] + text[following:]


def _dumped(text: str, value: Any, depth: int) -> str:
    """A value in the manner of the text around it: on lines of its own, or without any blank."""
    if "\n" not in text:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return json.dumps(value, ensure_ascii=False, indent=2).replace("\n", "\n" + "  " * depth)


def _text(key: str) -> str:
    return json.dumps(key, ensure_ascii=False)


def _before(text: str, at: int) -> str:
    """The blanks that end at ``at``."""
    start = at
    while start and text[start - 1] in " \t\r\n":
        start -= 1
    return text[start:at]


def _skip(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    assert match is not None
    return match.end()
