"""Snippets: at most 700 characters around the line that answers, never the head of its chunk."""

from __future__ import annotations

import re
from typing import NamedTuple

LONGEST_SNIPPET = 700


class Snippet(NamedTuple):
    """Text and the lines (1-based) that it shows."""

    text: str
    line: int
    end_line: int


def make_snippet(
    text: str, first: int, answer: tuple[int, int], words: list[re.Pattern[str]], longest: int = LONGEST_SNIPPET
) -> Snippet:
    """A snippet of a chunk's text, which starts at line ``first``, around the lines ``answer``, of ``longest``
    characters at most.

    The lines of the answer come whole where they fit, then as many of their neighbours; of a longer answer those around
    the line with most of the question's words, and of a longer line a window with most of them.
    """
    lines = text.split("\n")
    start = min(max(answer[0] - first, 0), len(lines) - 1)
    end = min(max(answer[1] - first, start), len(lines) - 1)
    while end > start and len("\n".join(lines[start : end + 1])) > longest:
        hit = max(range(start, end + 1), key=lambda n: sum(1 for word in words if word.search(lines[n])))
        start, end = (start + 1, end) if hit - start > end - hit else (start, end - 1)
    shown = "\n".join(lines[start : end + 1])
    if len(shown) > longest:
        return Snippet(_cut_around(shown, words, longest), first + start, first + end)
    size = len(shown)
    below = True
    while True:
        fits = [
            number
            for number in ((end + 1, start - 1) if below else (start - 1, end + 1))
            if 0 <= number < len(lines) and size + 1 + len(lines[number]) <= longest
        ]
        if not fits:
            break
        size += 1 + len(lines[fits[0]])
        below = fits[0] < start
        start, end = min(start, fits[0]), max(end, fits[0])
    while end > start and not lines[end].strip():
        end -= 1
    while start < end and not lines[start].strip():
        start += 1
    return Snippet("\n".join(lines[start : end + 1]), first + start, first + end)


def _cut_around(text: str, words: list[re.Pattern[str]], longest: int) -> str:
    """A window of a long line in which most of the question's words stand, cut at blanks."""
    hits = sorted({match.start() for word in words for match in list(word.finditer(text))[:200]}) or [0]
    room = longest - 4
    if room < 1:
        return text[:longest]
    best = max(hits, key=lambda at: (sum(1 for h in hits if at <= h < at + room * 3 // 4), -at))
    start = max(0, min(best - room // 8, len(text) - room))
    if start and (blank := text.find(" ", start, best)) >= 0:
        start = blank + 1
    end = min(len(text), start + room)
    if end < len(text) and (blank := text.rfind(" ", start + room // 2, end)) >= 0:
        end = blank
    return ("… " if start else "") + text[start:end] + (" …" if end < len(text) else "")
