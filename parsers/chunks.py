"""Windows over a file's lines for ``memory_search``: about 400 tokens each, overlapping by about 80.

A window holds whole lines; only a line longer than a window is cut, so no chunk is ever larger than the bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from .records import Chunk
from .tokens import estimate_tokens

CHUNK_TOKENS = 400
OVERLAP_TOKENS = 80
_SENTENCE_END = re.compile(r"[.!?…。！？]['\"”’)）]*\s*|\s+")


class Piece(NamedTuple):
    """A stretch of one line or a whole one, with its line number (1-based) and cost."""

    text: str
    line: int
    tokens: int


def cut_line(text: str, most: int) -> Iterator[str]:
    """A line in pieces of at most ``most`` tokens each, cut after a sentence or a word in the last third where there is
    one. Joined they are the line."""
    while text:
        size = most * 4 if text[: most * 4].isascii() else most
        while size < len(text) and size < most * 4 and estimate_tokens(text[: size + 32]) <= most:
            size += 32
        if size >= len(text) and estimate_tokens(text) <= most:
            yield text
            return
        window = text[:size]
        ends = [m.end() for m in _SENTENCE_END.finditer(window, size * 2 // 3)]
        stops = [end for end in ends if not window[end - 1].isspace() or window[:end].rstrip()[-1:] in ".!?…。！？"]
        at = (stops or ends or [size])[-1]
        yield text[:at]
        text = text[at:]


def pieces(lines: list[str], first: int, last: int, most: int = CHUNK_TOKENS) -> Iterator[Piece]:
    """Lines ``first`` to ``last`` (1-based, both included), each whole if it costs at most ``most`` tokens, else
    cut."""
    for number in range(first, last + 1):
        line = lines[number - 1]
        cost = estimate_tokens(line) + 1
        if cost <= most:
            yield Piece(line, number, cost)
        else:
            for text in cut_line(line, most - 1):
                yield Piece(text, number, estimate_tokens(text) + 1)


def make_chunks(lines: list[str], headings: list[tuple[int, str]], start: int) -> Iterator[Chunk]:
    """Chunks of a file's lines from ``start`` (0-based: the front matter's end) on.

    ``headings``: (line, trail) of each heading, in order; a chunk's trail is the one in force at its first line, that
    of the line itself included.
    """
    window: list[Piece] = []
    cost = 0
    at = -1
    fresh = 0
    for piece in pieces(lines, start + 1, len(lines)):
        if cost + piece.tokens > CHUNK_TOKENS and fresh:
            at, chunk = _chunk(window, headings, at)
            if chunk:
                yield chunk
            fresh = 0
            while window and (cost > OVERLAP_TOKENS or cost + piece.tokens > CHUNK_TOKENS):
                cost -= window.pop(0).tokens
        window.append(piece)
        cost += piece.tokens
        fresh += 1
    if fresh:
        _, chunk = _chunk(window, headings, at)
        if chunk:
            yield chunk


def _chunk(window: list[Piece], headings: list[tuple[int, str]], at: int) -> tuple[int, Chunk | None]:
    first, last = window[0].line, window[-1].line
    while at + 1 < len(headings) and headings[at + 1][0] <= first:
        at += 1
    parts: list[str] = []
    for number, piece in enumerate(window):
        same_line = number > 0 and window[number - 1].line == piece.line
        parts.append(piece.text if same_line or not number else "\n" + piece.text)
    text = "".join(parts)
    if not text.strip():
        return at, None
    return at, Chunk(text, first, last, headings[at][1] if at >= 0 else "")
