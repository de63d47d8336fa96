"""Citations of pages, which move when the pages are written: their lines as they will be."""

from __future__ import annotations

import re
from collections.abc import Mapping

_PLACE = re.compile(r"(?P<path>(?:memory/)?bank/[^,;()#\n\"]+?\.md)#L(?P<line>\d+)")
#: For each page, where its lines are to be: 1-based, by where they were.
Maps = Mapping[str, Mapping[int, int]]


def followed(text: str, maps: Maps) -> str:
    """A text with the citations in it as they will be."""

    def cite(match: re.Match[str]) -> str:
        line = int(match["line"])
        return f"{match['path']}#L{maps.get(match['path'], {}).get(line, line)}"

    return _PLACE.sub(cite, text)


def line_map(old: bytes, new: bytes) -> Mapping[int, int]:
    """Where the lines of a page stand in its new text: 1-based, told by what they say and which of equal ones they
    are."""
    where: dict[tuple[bytes, int], int] = {}
    counted: dict[bytes, int] = {}
    for number, text in enumerate(new.split(b"\n"), 1):
        counted[text] = counted.get(text, 0) + 1
        where[text, counted[text]] = number
    counted.clear()
    found: dict[int, int] = {}
    for number, text in enumerate(old.split(b"\n"), 1):
        counted[text] = counted.get(text, 0) + 1
        if (text, counted[text]) in where:
            found[number] = where[text, counted[text]]
    return found
