"""``NO_REPLY``: whether an agent's answer says that there is nothing to say, and what is left of one that says more.

Taken as silence, as OpenClaw takes it: the word alone, in any case, repeated, or between punctuation; as a JSON string
or as ``{"action": "NO_REPLY"}``; and any of these behind a block of reasoning.
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import NamedTuple

TOKEN = "NO_REPLY"
_ALONE = re.compile(rf"\s*{TOKEN}(?:\s+{TOKEN})*\s*", re.IGNORECASE)
_TAG = r"(?:(?:antml:|mm:)?(?:think(?:ing)?|thought)|antthinking)"
_REASONING = re.compile(rf"\s*<\s*{_TAG}\b[^<>]*>.*?<\s*/\s*{_TAG}\s*>\s*", re.IGNORECASE | re.DOTALL)
#: Reasoning that is not closed, or has but a title.
_OPEN_REASONING = re.compile(
    rf"\s*(?:<\s*{_TAG}\b[^<>]*>|(?:think(?:ing)?|thought|analysis|reasoning)[^\S\n]*:?[^\S\n]*\n)", re.IGNORECASE
)
#: At the start it counts where a line ends behind it, or where the text is stuck to it.
_AT_START = re.compile(rf"(?:{TOKEN}\s*)*{TOKEN}(?:(?=[^\W_])|[^\S\r\n]*[\r\n])", re.IGNORECASE)


class Reply(NamedTuple):
    """``silent``: nothing is to be delivered. ``text``: what is, without the token at its ends; "" when silent."""

    silent: bool
    text: str


def read_reply(text: str) -> Reply:
    """What an agent's answer to a flush amounts to. An empty answer is silent."""
    if is_silent(text):
        return Reply(True, "")
    rest = text.strip()
    leading = _AT_START.match(rest)
    if leading:
        rest = rest[leading.end() :].strip()
    while rest[-len(TOKEN) :].upper() == TOKEN and (rest[-len(TOKEN) - 1].isspace() or rest[-len(TOKEN) - 1] == "*"):
        rest = rest[: -len(TOKEN)].rstrip().rstrip("*").rstrip()
    return Reply(not rest, rest)


def is_silent(text: str) -> bool:
    """Whether a text says ``NO_REPLY`` and nothing else, or nothing at all."""
    said = text.strip()
    while match := _REASONING.match(said):
        said = said[match.end() :].strip()
    opened = _OPEN_REASONING.match(said)
    if opened:
        said = said[opened.end() :].strip() or said
    if not said:
        return True
    if _ALONE.fullmatch(said) or _ALONE.fullmatch(_without_punctuation(said)):
        return True
    if TOKEN not in said or said[0] not in '"{':
        return False
    try:
        value = json.loads(said)
    except (ValueError, RecursionError):
        return False
    if isinstance(value, dict) and list(value) == ["action"]:
        value = value["action"]
    return isinstance(value, str) and value.strip() == TOKEN


def _without_punctuation(text: str) -> str:
    start, end = 0, len(text)
    while start < end and _is_mark(text[start]):
        start += 1
    while end > start and _is_mark(text[end - 1]):
        end -= 1
    return text[start:end]


def _is_mark(char: str) -> bool:
    return char == "`" or unicodedata.category(char)[0] == "P"
