"""Narrative: every list item, paragraph, table row, quote and code block that is no typed fact, as a cited note.

Most real logs have no Retain section at all; what they say must be found all the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from .chunks import pieces
from .document import Block, Document
from .masks import OWN
from .names import mentions
from .records import Note
from .retain import Placed, normalise
from .times import find_times, occurred
from .tokens import estimate_tokens

#: A note is never longer than this: a paragraph beyond it becomes several, each citing its own lines.
LONGEST_NOTE_TOKENS = 400
_TABLE_RULE = frozenset("|-: \t")


def note_id(text: str) -> str:
    """``n-`` and 12 hex digits over the normalised text: one note said twice has one id."""
    return "n-" + hashlib.sha256(normalise(text).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def parse_notes(document: Document, path: str, rest: Iterable[Placed]) -> list[Note]:
    """The notes of the blocks that hold no fact, in line order."""
    notes: list[Note] = []
    for placed in rest:
        if placed.block.managed == OWN:
            continue
        origin = "generated" if placed.block.managed else "stated"
        for text, first, last in _passages(document, placed.block):
            text = text.strip()
            if any(map(str.isalnum, text)):
                entities = tuple(mentions(text))
                heading = " > ".join(placed.trail)
                times = tuple(find_times(text, placed.day))
                where = (path, first, last, placed.day)
                notes.append(Note(text, entities, *where, times, occurred(times), heading, origin, note_id(text)))
    return notes


def _passages(document: Document, block: Block) -> Iterator[tuple[str, int, int]]:
    """(text, first line, last line) of each note in a block."""
    lines = document.lines.plain
    if block.kind == "item":
        own = min((c.line for c in block.children), default=block.end_line + 1) - 1
        own = max(own, block.line)
        if estimate_tokens(block.text) <= LONGEST_NOTE_TOKENS:
            yield block.text, block.line, _last_text(lines, block.line, own)
        else:
            yield from _bounded(lines, block.line, own)
        for child in block.children:
            yield from _passages(document, child)
    elif block.kind == "table":
        for number in range(block.line, block.end_line + 1):
            row = lines[number - 1].strip()
            if set(row) - _TABLE_RULE:
                yield from _bounded(lines, number, number)
    elif block.kind == "fence":
        yield from _bounded(lines, block.line + 1, max(block.line, block.end_line - 1))
    elif block.kind != "rule":
        if block.kind == "paragraph" and estimate_tokens(block.text) <= LONGEST_NOTE_TOKENS:
            yield block.text, block.line, block.end_line
        else:
            yield from _bounded(lines, block.line, block.end_line)


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
