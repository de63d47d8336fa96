"""Where in a log a new fact can stand so that it is read back as a fact of a Retain section.

Places are proposed from the log's own structure, best first; the first one from which the parser reads the new
bullets back is the one to use. So whatever stands in the log (open fences, blocks of other machines, odd lists), what
is retained counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..parsers.document import Block, Document, parse_document
from ..parsers.headings import LONGEST_TITLE, is_retain_heading
from ..parsers.parse import parse_file


class Place(NamedTuple):
    """Before line ``line`` (0-based; the number of lines for the end). ``in_section``: a Retain heading is there."""

    line: int
    in_section: bool


def places(text: str) -> Iterator[Place]:
    """Where a bullet could go, best first: the end of the last Retain section, right below its heading, then the ends
    of the file's visible part, where a new section has to be made."""
    document = parse_document(text)
    size = len(document.lines.raw)
    seen: set[Place] = set()
    for proposals in reversed(_sections(document)):
        for index in proposals:
            place = Place(_past_hidden(document, index), True)
            if place not in seen:
                seen.add(place)
                yield place
    visible = size if document.lines.open_at is None else document.lines.open_at
    managed = next((n for n in range(visible) if document.lines.managed[n]), visible)
    for index in (visible, managed, document.lines.front.end):
        place = Place(index, False)
        if place not in seen:
            seen.add(place)
            yield place


def reads_back(text: str, path: str, bullets: list[str], first: int, old: str) -> bool:
    """Whether the parser finds in ``text`` what it finds in the bullets alone, from line ``first`` (1-based) on, and
    besides all that it found in the ``old`` text, details included."""
    alone = parse_file("## Retain\n\n" + "\n".join(bullets), path).facts
    expected = [(fact.id, fact.confidence, fact.line - 3 + first) for fact in alone]
    now = parse_file(text, path).facts
    found = {(fact.id, fact.confidence, fact.line) for fact in now if not fact.details}
    kept = {(fact.id, fact.confidence, fact.details) for fact in now}
    before = {(fact.id, fact.confidence, fact.details) for fact in parse_file(old, path).facts}
    return before <= kept and all(one in found for one in expected)


def _sections(document: Document) -> list[tuple[int, int, int]]:
    """Each Retain section: the line index below its last block, below the last that no machine maintains, and below its
    heading."""
    found: list[tuple[int, int, int]] = []
    level = 0
    for block in document.blocks:
        if block.kind == "heading" and not block.managed:
            level = 0 if level and block.level <= level else level
            if not level and is_retain_heading(block.text[:LONGEST_TITLE]):
                level = block.level
                found.append((block.end_line,) * 3)
                continue
        if level:
            end = _end(document, block)
            found[-1] = (end, found[-1][1] if block.managed else end, found[-1][2])
    return found


def _end(document: Document, block: Block) -> int:
    """The line index below a block; above it where a fence that never ends hangs on to it."""
    raw = document.lines.raw
    end = block.end_line
    if document.lines.open_at == end and raw[end][:1].isspace():
        end = block.line - 1
        while end > 0 and not raw[end - 1].strip():
            end -= 1
    return end


def _past_hidden(document: Document, index: int) -> int:
    """``index``, or the first line after the managed block that it would fall into, or after a comment right there."""
    lines = document.lines
    if 0 < index < len(lines.raw) and lines.managed[index - 1]:
        while index < len(lines.raw) and lines.managed[index]:
            index += 1
    end = len(lines.raw) if lines.open_at is None else lines.open_at
    while index < end and lines.raw[index].strip() and not lines.plain[index].strip() and not lines.managed[index]:
        index += 1
    return index
