"""The comments that OpenClaw and this program leave in Markdown, and the links of wikis: which kinds stand where.

Pure: lines in, marks out. What stands in a code fence is none.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .lines import Lines
from .names import code_spans

_COMMENT = re.compile(r"<!--(?P<inner>[^<>]*)-->")
_PROMOTION = re.compile(r"\s*openclaw-memory-promotion:", re.IGNORECASE)
_DREAMING = re.compile(r"\s*openclaw:dreaming:(?P<name>[\w-]+)(?P<rest>.*)", re.IGNORECASE)
_OWN = re.compile(r"\s*openclaw-memory:(?P<name>[\w-]+)")
_SETTING = re.compile(
    r"(?:^|\|)\s*(?P<name>trigger|importance|project|observed|description|read[-_ ]?only)s?\s*(?=[:|]|$)"
)
_WIKI = re.compile(r"(?P<embed>!?)\[\[[^\[\]\n]{1,200}\]\]")


class Mark(NamedTuple):
    """``kind``: ``promotion``, ``dreaming:light`` (a block), ``dreaming-entry``, ``trigger``, ``importance``,
    ``project``, ``observed``, ``description``, ``read-only``, ``own:entity`` (a block that reflect maintains),
    ``wiki-link`` or ``embed``. ``line``: 1-based."""

    kind: str
    line: int


def find_marks(lines: Lines) -> list[Mark]:
    """All marks of a file, in line order."""
    found: list[Mark] = []
    for number, raw in enumerate(lines.raw):
        if number < lines.front.end or lines.fenced[number]:
            continue
        if "<!--" in raw:
            found += [Mark(kind, number + 1) for comment in _COMMENT.finditer(raw) for kind in _kinds(comment["inner"])]
        if "[[" in raw:
            spans = code_spans(raw)
            for link in _WIKI.finditer(raw):
                if not any(start <= link.start() < end for start, end in spans):
                    found.append(Mark("embed" if link["embed"] else "wiki-link", number + 1))
    return found


def _kinds(inner: str) -> list[str]:
    if _PROMOTION.match(inner):
        return ["promotion"]
    dreaming = _DREAMING.match(inner)
    if dreaming:
        rest = dreaming["rest"].strip()
        if rest == ":end":
            return []
        return [f"dreaming:{dreaming['name'].lower()}"] if rest == ":start" else ["dreaming-entry"]
    own = _OWN.match(inner)
    if own:
        return [f"own:{own['name']}"]
    return [re.sub(r"read[-_ ]?only", "read-only", setting["name"]) for setting in _SETTING.finditer(inner)]
