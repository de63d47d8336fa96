"""What hides text in a Markdown file: code fences, HTML comments, and blocks that a machine maintains.

Whichever starts first wins: a comment inside a fence is code, a fence inside a comment is hidden. Everything here is
one pass over the lines, whatever they hold.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from .names import code_spans
from .records import Diagnostic

FENCE = re.compile(r"(?P<lead>\s*(?:(?:[-*+•]|\d{1,9}[.)])\s+){0,9})(?P<marks>`{3,}|~{3,})(?P<info>.*)$")
_BLOCK_START = re.compile(r"\s*(?:[-*+•>]\s|\d{1,9}[.)]\s|#{1,6}\s|`{3}|~{3}|$)")
_MARKER = re.compile(r"\s*<!--\s*(?P<name>[^\s<>]{1,200}):(?P<end>start|end)\s*-->\s*$")
_OWN = re.compile(r"\s*<!--\s*(?P<close>/?)(?P<name>openclaw-memory:[^\s<>:]{1,100})(?:\s[^<>]*)?-->\s*$")
_ATX = re.compile(r" {0,3}(?P<marks>#{1,6})(?:\s|$)")
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,9}[.)])\s{1,4}")
_DEEPEST_INDENT = 100
_CODE_INDENT = 4

FOREIGN, OWN = 1, 2


class Fence(NamedTuple):
    """A code fence: its first and last line (0-based) and the indent of its body."""

    first: int
    last: int
    indent: str


class Masked(NamedTuple):
    """``fences``: the code fences. ``open_at``: the line (0-based) of a fence or comment that never ends, or None."""

    fences: list[Fence]
    open_at: int | None


def mask_hidden(lines: list[str], start: int, diagnostics: list[Diagnostic]) -> Masked:
    """Take comments out of ``lines`` in place, from line ``start`` (0-based) on, and find the code fences.

    An open fence runs to the end of the file, is reported as ``unclosed-fence``, and its lines are emptied. A comment
    that starts a line and never ends hides the rest, as in CommonMark; one inside a paragraph must end in it.
    """
    fences: list[Fence] = []
    closers = [n for n in range(start, len(lines)) if "-->" in lines[n]]
    breaks = [n for n in range(start, len(lines)) if _BLOCK_START.match(lines[n])]
    closing = _ClosingMarks(lines, start)
    items = _OpenItems()
    number = start
    while number < len(lines):
        line = lines[number]
        opener = FENCE.match(line) if ("```" in line or "~~~" in line) else None
        items.read(line)
        if opener and not (opener["marks"][0] == "`" and "`" in opener["info"]) and items.reach(opener["lead"]):
            last = closing.after(number, opener["marks"], _column(opener["lead"]) + _CODE_INDENT)
            if last is not None:
                fences.append(Fence(number, last, re.sub(r"\S", " ", opener["lead"])[:_DEEPEST_INDENT]))
                number = last + 1
                continue
            message = "a code fence that never ends hides the rest of the file; close it"
            diagnostics.append(Diagnostic(number + 1, "unclosed-fence", message))
            lines[number:] = [""] * (len(lines) - number)
            return Masked(fences, number)
        if "<!--" in line:
            lines[number], in_paragraph = without_comments(line)
            if in_paragraph is not None:
                opened = number
                number = _close_later(lines, number, line, in_paragraph, closers, breaks)
                if number == len(lines) and "<!--" not in lines[opened]:
                    return Masked(fences, opened)
                continue
        number += 1
    return Masked(fences, None)


def _column(lead: str) -> int:
    """How many columns a line's start takes, tabs to the next multiple of four."""
    return len(lead.expandtabs(4))


class _OpenItems:
    """The columns where the text of the open list items starts, as far as indents tell: what is indented by four or
    more beyond all of them is code, and no fence."""

    def __init__(self) -> None:
        self.columns: list[int] = []
        self.after_blank = True

    def read(self, line: str) -> None:
        """Take note of the next line (outside fences)."""
        if not line.strip():
            self.after_blank = True
            return
        indent = _column(line[: len(line) - len(line.lstrip())])
        mark = _ITEM.match(line)
        if mark or self.after_blank:
            while self.columns and self.columns[-1] > indent:
                self.columns.pop()
        if mark and len(self.columns) < _DEEPEST_INDENT:
            self.columns.append(_column(line[: mark.end()]))
        self.after_blank = False

    def reach(self, lead: str) -> bool:
        """Whether a fence after ``lead`` (blanks and list marks) is one, and not code by its indent."""
        indent = _column(lead)
        base = max((column for column in self.columns if column <= indent), default=0)
        return indent - base < _CODE_INDENT


class _ClosingMarks:
    """Where the next line stands that closes a fence: the same character, at least as long, nothing else, not indented
    as code."""

    def __init__(self, lines: list[str], start: int) -> None:
        self.at: dict[str, list[int]] = {"`": [], "~": []}
        self.longest: dict[str, list[int]] = {}
        self.length: dict[int, int] = {}
        self.indent: dict[int, int] = {}
        for number in range(start, len(lines)):
            mark = lines[number].strip()
            if mark[:3] in ("```", "~~~") and not mark.strip(mark[0]):
                self.at[mark[0]].append(number)
                self.length[number] = len(mark)
                self.indent[number] = _column(lines[number][: len(lines[number]) - len(lines[number].lstrip())])
        for char, numbers in self.at.items():
            longest, sofar = [], 0
            for number in reversed(numbers):
                sofar = max(sofar, self.length[number])
                longest.append(sofar)
            self.longest[char] = longest[::-1]

    def after(self, number: int, marks: str, below: int) -> int | None:
        """The first such line after ``number`` whose indent is less than ``below`` columns."""
        numbers, longest = self.at[marks[0]], self.longest[marks[0]]
        index = bisect_right(numbers, number)
        if index == len(numbers) or longest[index] < len(marks):
            return None
        for at in range(index, len(numbers)):
            if self.length[numbers[at]] >= len(marks) and self.indent[numbers[at]] < below:
                return numbers[at]
        return None


def without_comments(line: str) -> tuple[str, int | None]:
    """The line without its comments, and where one starts that does not end on it (None: nowhere).

    Blanks around a comment become one, or none at the ends; what looks like a comment in a code span is text.
    """
    spans = iter([*code_spans(line), (len(line), len(line))])
    span = next(spans)
    kept: list[str] = []
    at = 0
    opened = line.find("<!--")
    while opened >= 0:
        while span[1] <= opened and span[0] < len(line):
            span = next(spans)
        if span[0] <= opened < span[1]:
            opened = line.find("<!--", span[1])
            continue
        closed = line.find("-->", opened + 4)
        piece = line[at:opened]
        if closed < 0:
            kept.append(piece)
            return "".join(kept), opened
        after = closed + 3
        if piece.strip() or kept:
            blank = piece[-1:].isspace() or line[after : after + 1].isspace() or (not piece and not kept)
            kept.append(piece.rstrip() + (" " if blank else ""))
            while line[after : after + 1].isspace():
                after += 1
        elif piece:
            kept.append(piece)
        at = after
        opened = line.find("<!--", at)
    kept.append(line[at:])
    return "".join(kept).rstrip() if at else line, None


def _close_later(lines: list[str], number: int, line: str, opened: int, closers: list[int], breaks: list[int]) -> int:
    """Empty the lines of a comment that spans several; return the line to go on with."""
    later = bisect_right(closers, number)
    last = closers[later] if later < len(closers) else None
    before = lines[number]
    if before.strip():
        next_break = bisect_right(breaks, number)
        if last is None or (next_break < len(breaks) and breaks[next_break] <= last):
            lines[number] = before + line[opened:]
            return number + 1
    lines[number] = before.rstrip()
    if last is None:
        lines[number + 1 :] = [""] * (len(lines) - number - 1)
        return len(lines)
    lines[number + 1 : last] = [""] * (last - number - 1)
    lines[last] = lines[last].split("-->", 1)[1].lstrip()
    return last


def find_managed(raw: list[str], start: int, fenced: bytearray) -> bytearray:
    """Per line: 0, or FOREIGN or OWN where it stands inside a block that a machine maintains.

    A block runs from ``<!-- NAME:start -->`` to the first matching end, or, without an end, to the next heading of the
    same or a higher level. Ours is written ``<!-- openclaw-memory:NAME v1 -->`` … ``<!-- /openclaw-memory:NAME -->``.
    """
    kinds = bytearray(len(raw))
    starts: list[tuple[int, str, int]] = []
    ends: dict[str, list[int]] = {}
    for number in range(start, len(raw)):
        if "<!--" not in raw[number]:
            continue
        marker, own = _MARKER.match(raw[number]), _OWN.match(raw[number])
        if marker and marker["end"] == "end":
            ends.setdefault(marker["name"], []).append(number)
        elif marker and not fenced[number]:
            starts.append((number, marker["name"], OWN if marker["name"].startswith("openclaw-memory:") else FOREIGN))
        elif own and own["close"]:
            ends.setdefault(own["name"], []).append(number)
        elif own and not fenced[number]:
            starts.append((number, own["name"], OWN))
    done = start
    for first, name, kind in starts:
        if first < done:
            continue
        closing = ends.get(name, [])
        index = bisect_right(closing, first)
        done = closing[index] + 1 if index < len(closing) else _section_end(raw, first)
        kinds[first:done] = bytes([kind]) * (done - first)
    return kinds


def _section_end(raw: list[str], first: int) -> int:
    above = (_ATX.match(raw[n]) for n in range(first, -1, -1))
    level = next((len(m["marks"]) for m in above if m), 6)
    for number in range(first + 1, len(raw)):
        heading = _ATX.match(raw[number])
        if heading and len(heading["marks"]) <= level:
            return number
    return len(raw)
