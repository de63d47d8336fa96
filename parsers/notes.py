"""Narrative: every list item, paragraph, table row, quote and code block that is no typed fact, as a cited note.

Most real logs have no Retain section at all; what they say must be found all the same.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator

from .chunks import pieces
from .days import is_dream_report
from .document import Block, Document
from .masks import OWN
from .names import mentions
from .records import Note
from .retain import Placed, normalise
from .times import find_times, occurred
from .tokens import estimate_tokens

#: A note is never longer than this: a paragraph beyond it becomes several, each citing its own lines.
LONGEST_NOTE_TOKENS = 400
#: How much of a list item's text goes into the heading of what hangs below it.
_LONGEST_PARENT = 80
_TABLE_RULE = frozenset("|-: \t")
#: Lines that people mean as entries of their own though Markdown does not: other dashes and bullets, `-[ ]`, a time of
#: day.
_ENTRY = re.compile(r"\s*(?:[–—→⇒‣▪●○◦·»]\s|[-*+]\[[ xX]\]|\d{1,2}:\d\d(?!\d))")
_MARK = re.compile(r"(?:[-*+•]\s+|\d{1,9}[.)]\s+|[–—→⇒‣▪●○◦·»]\s+|[-*+](?=\[[ xX]\]))")


def note_id(text: str) -> str:
    """``n-`` and 12 hex digits over the normalised text: one note said twice has one id."""
    return "n-" + hashlib.sha256(normalise(text).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def parse_notes(document: Document, path: str, rest: Iterable[Placed]) -> list[Note]:
    """The notes of the blocks that hold no fact, in line order."""
    notes: list[Note] = []
    for placed in rest:
        if placed.block.managed == OWN:
            continue
        origin = "generated" if placed.block.managed or is_dream_report(path) else "stated"
        for text, first, last, above in _passages(document, placed.block, ()):
            text = text.strip()
            if any(map(str.isalnum, text)):
                entities = tuple(mentions(text))
                heading = " > ".join((*placed.trail, *above))
                times = tuple(find_times(text, placed.day))
                where = (path, first, last, placed.day)
                notes.append(Note(text, entities, *where, times, occurred(times), heading, origin, note_id(text)))
    return notes


_Passage = tuple[str, int, int, tuple[str, ...]]


def _passages(document: Document, block: Block, above: tuple[str, ...]) -> Iterator[_Passage]:
    """(text, first line, last line, the items that it hangs below) of each note in a block."""
    lines = document.lines.plain
    if block.kind == "item":
        for text, first, last in block.parts:
            yield from ((*entry, above) for entry in _entries(lines, text, first, last))
        inner = (*above, block.text[:_LONGEST_PARENT]) if block.text else above
        for child in block.children:
            yield from _passages(document, child, inner)
    elif block.kind == "table":
        for number in range(block.line, block.end_line + 1):
            row = lines[number - 1].strip()
            if set(row) - _TABLE_RULE:
                yield from ((*entry, above) for entry in _bounded(lines, number, number))
    elif block.kind == "fence":
        first, last = block.line + 1, max(block.line, block.end_line - 1)
        yield from ((*entry, above) for entry in _bounded(lines, first, last))
    elif block.kind == "paragraph":
        yield from ((*entry, above) for entry in _entries(lines, block.text, block.line, block.end_line))
    elif block.kind != "rule":
        yield from ((*entry, above) for entry in _bounded(lines, block.line, block.end_line))


def _entries(lines: list[str], text: str, first: int, last: int) -> Iterator[tuple[str, int, int]]:
    """A paragraph or an item's text as one note, or as several where its lines start like entries of their own."""
    starts = [first, *(number for number in range(first + 1, last + 1) if _ENTRY.match(lines[number - 1]))]
    if len(starts) > 1:
        for start, end in zip(starts, [*starts[1:], last + 1], strict=True):
            parts = [line.strip() for line in lines[start - 1 : end - 1]]
            parts[0] = _MARK.sub("", parts[0])
            joined = " ".join(filter(None, parts))
            if estimate_tokens(joined) <= LONGEST_NOTE_TOKENS:
                yield joined, start, _last_text(lines, start, end - 1)
            else:
                yield from _bounded(lines, start, end - 1)
    elif estimate_tokens(text) <= LONGEST_NOTE_TOKENS:
        yield text, first, last
    else:
        yield from _bounded(lines, first, last)


def _last_text(lines: list[str], first: int, last: int) -> int:
    while last > first and not lines[last - 1].strip():
        last -= 1
    return last


def _bounded(lines: list[str], first: int, last: int) -> Iterator[tuple[str, int, int]]:
    """Lines joined into notes within the bound."""
    texts: list[str] = []
    cost, start, end = 0, first, first
    for piece in pieces(lines, first, last, LONGEST_NOTE_TOKENS):
        if texts and cost + piece.tokens > LONGEST_NOTE_TOKENS:
            yield "\n".join(texts), start, end
            texts, cost = [], 0
        if not texts:
            start = piece.line
        texts.append(piece.text)
        cost += piece.tokens
        end = piece.line
    if texts:
        yield "\n".join(texts), start, end
