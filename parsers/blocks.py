"""The blocks of a page that reflect maintains: where they stand, and which of their lines are a person's.

A block runs from ``<!-- openclaw-memory:NAME v1 -->`` to ``<!-- /openclaw-memory:NAME lines=… dropped=… kept=… -->``.
``lines`` tells of each line, in order, ``KEY:HASH`` for one of ours and ``+`` for one of a person's, which ``kept``
tells of as ``KEY:HASH:DAY``: the key of the line whose place it took (``-``: of none) and the day it was first seen.
``dropped`` are the keys of lines that a person deleted. A line that is not told of is a person's and new. Blank lines
are not told of. The rules: ``docs/decisions.md``, Pages.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import NamedTuple

from .alignment import align
from .front_matter import read_front_matter
from .masks import mask_hidden
from .names import code_spans

#: What does not count at the end of a line, and what a blank line is made of.
BLANKS = " \t\r\f\v"
_TRACE = re.compile(r"<!--?\s*(?P<close>/?)\s*openclaw-memory:(?P<name>[^\s<>:]{1,100}?)(?=\s|-->|[<>:]|$)")
_MARK = re.compile(r"\s*<!--\s*/?openclaw-memory:[^\s<>:]{1,100}?(?P<rest>\s[^<>]*)?-->\s*$")
_END = re.compile(r"lines=(?P<lines>\S*)\s+dropped=(?P<dropped>\S*)(?:\s+kept=(?P<kept>\S*))?")
_KEY = re.compile(r"[0-9a-f]{8}")
_OURS = re.compile(r"([0-9a-f]{8}):([0-9a-f]{6})")
_THEIRS = re.compile(r"([0-9a-f]{8}|-):([0-9a-f]{6}):(\d{4}-\d\d-\d\d)")


class Entry(NamedTuple):
    """A line that the end mark tells of. ``key``: what it shows, or whose place a person's line took (None: no line's).
    ``day``: when a person's line was first seen, None for ours. ``line``: where it stands (1-based), 0: nowhere."""

    key: str | None
    hash: str
    day: date | None
    line: int = 0


class TheirLine(NamedTuple):
    """A person's line in a block. ``line`` is 1-based; ``day`` is None until the next run has seen it."""

    line: int
    key: str | None
    day: date | None


class Block(NamedTuple):
    """``first`` and ``last``: the lines (1-based) of its marks. ``entries`` in the end mark's order; ``dropped``: keys;
    ``unlisted``: lines (1-based) with text that the end mark does not tell of."""

    name: str
    first: int
    last: int
    entries: tuple[Entry, ...]
    dropped: tuple[str, ...]
    unlisted: tuple[int, ...]

    @property
    def own_lines(self) -> tuple[int, ...]:
        """The lines (1-based) that reflect wrote and nobody changed."""
        return tuple(sorted(one.line for one in self.entries if one.line and one.day is None))

    @property
    def their_lines(self) -> tuple[TheirLine, ...]:
        """The lines that people wrote or changed, in order."""
        known = [TheirLine(one.line, one.key, one.day) for one in self.entries if one.line and one.day]
        return tuple(sorted([*known, *(TheirLine(line, None, None) for line in self.unlisted)]))


class Damage(NamedTuple):
    """Why a block cannot be told from the rest of a page: ``line`` (1-based) and what is wrong there."""

    line: int
    message: str


class _Mark(NamedTuple):
    """A mark of ours. ``line``: 0-based. ``rest``: what stands behind the name, None where the mark is not whole."""

    line: int
    name: str
    closes: bool
    rest: str | None


def is_blank(line: str) -> bool:
    return not line.strip(BLANKS)


def line_hash(line: str) -> str:
    """The first 6 hex digits of the SHA-256 of a line's text, line end and blanks at its end left out."""
    return hashlib.sha256(line.rstrip(BLANKS).encode("utf-8", "surrogatepass")).hexdigest()[:6]


def start_mark(name: str) -> str:
    return f"<!-- openclaw-memory:{name} v1 -->"


def end_mark(name: str, entries: Iterable[Entry], dropped: Iterable[str]) -> str:
    """The end mark that tells of ``entries``, in the order in which they stand."""
    entries = list(entries)
    lines = ",".join("+" if one.day else f"{one.key}:{one.hash}" for one in entries)
    kept = ",".join(f"{one.key or '-'}:{one.hash}:{one.day.isoformat()}" for one in entries if one.day)
    return f"<!-- /openclaw-memory:{name} lines={lines} dropped={','.join(dropped)} kept={kept} -->"


def block_names(lines: Sequence[str]) -> tuple[str, ...]:
    """The names of all blocks of a page, damaged ones too, in order. ``lines``: as ``lines.split_lines`` gives them."""
    return tuple(dict.fromkeys(mark.name for mark in _marks(lines, fenced_lines(lines))))


def read_block(lines: Sequence[str], name: str) -> Block | Damage | None:
    """The block called ``name``: None where there is none, ``Damage`` where its marks are not one start and, below it,
    one end that can be read. ``lines``: the page's, as ``lines.split_lines`` gives them."""
    marks = list(_marks(lines, fenced_lines(lines)))
    return _block(lines, name, marks)


def read_blocks(lines: Sequence[str], fenced: Sequence[int]) -> Iterator[Block]:
    """The undamaged blocks of a page, in order. ``fenced``: per line whether marks are no marks there."""
    marks = list(_marks(lines, fenced))
    for name in dict.fromkeys(mark.name for mark in marks):
        block = _block(lines, name, marks)
        if isinstance(block, Block):
            yield block


def fenced_lines(lines: Sequence[str]) -> bytearray:
    """Per line whether it belongs to a code fence or to the front matter, where marks are no marks."""
    fenced = bytearray(len(lines))
    if any("<!-" in line for line in lines):
        front = read_front_matter(list(lines)).end
        fenced[:front] = b"\1" * front
        for fence in mask_hidden([""] * front + list(lines[front:]), front, []).fences:
            fenced[fence.first : fence.last + 1] = b"\1" * (fence.last + 1 - fence.first)
    return fenced


def _marks(lines: Sequence[str], fenced: Sequence[int]) -> Iterator[_Mark]:
    for number, line in enumerate(lines):
        if "openclaw-memory:" not in line or fenced[number]:
            continue
        spans = code_spans(line)
        for trace in _TRACE.finditer(line):
            if not any(first <= trace.start() < end for first, end in spans):
                whole = _MARK.match(line)
                rest = (whole["rest"] or "").strip() if whole else None
                yield _Mark(number, trace["name"], bool(trace["close"]), rest)


def _block(lines: Sequence[str], name: str, marks: Sequence[_Mark]) -> Block | Damage | None:
    own = [mark for mark in marks if mark.name == name]
    if not own:
        return None
    first = own[0]
    remedy = "put the marks of the block back as they were, or delete them with what stands between them"
    for mark in own:
        if mark.rest is None or not (mark.closes or mark.rest == "v1"):
            return Damage(mark.line + 1, f"a mark of the block {name} is damaged; {remedy}")
    if first.closes:
        return Damage(first.line + 1, f"the block {name} ends without a start; {remedy}")
    if len(own) == 1:
        return Damage(first.line + 1, f"the block {name} has no end; {remedy}")
    last = own[1]
    if len(own) > 2 or not last.closes:
        again = own[2] if last.closes else last
        return Damage(again.line + 1, f"the block {name} is there twice; keep one of the two")
    for mark in marks:
        if first.line < mark.line < last.line:
            return Damage(mark.line + 1, f"another mark stands inside the block {name}; {remedy}")
    told = _told(last.rest or "")
    if told is None:
        return Damage(last.line + 1, f"the end mark of the block {name} cannot be read; {remedy}")
    entries, dropped = told
    inside = [(n, line_hash(lines[n])) for n in range(first.line + 1, last.line) if not is_blank(lines[n])]
    places = align([one.hash for one in entries], [one for _, one in inside])
    standing = tuple(
        one if at is None else one._replace(line=inside[at][0] + 1) for one, at in zip(entries, places, strict=True)
    )
    found = set(places)
    unlisted = tuple(number + 1 for at, (number, _) in enumerate(inside) if at not in found)
    return Block(name, first.line + 1, last.line + 1, standing, dropped, unlisted)


def _told(rest: str) -> tuple[list[Entry], tuple[str, ...]] | None:
    """What an end mark says, or None where it is not as we write it."""
    match = _END.fullmatch(rest)
    if match is None:
        return None
    lines, dropped, kept = (text.split(",") if text else [] for text in (match[1], match[2], match[3] or ""))
    theirs: list[Entry] = []
    for text in kept:
        one = _THEIRS.fullmatch(text)
        try:
            day = date.fromisoformat(one[3]) if one else None
        except ValueError:
            return None
        if one is None:
            return None
        theirs.append(Entry(None if one[1] == "-" else one[1], one[2], day))
    if len(theirs) != lines.count("+") or not all(map(_KEY.fullmatch, dropped)):
        return None
    entries: list[Entry] = []
    following = iter(theirs)
    for text in lines:
        own = _OURS.fullmatch(text)
        if text != "+" and own is None:
            return None
        entries.append(Entry(own[1], own[2], None) if own else next(following))
    keys = [one.key for one in entries if one.key]
    return (entries, tuple(dropped)) if len(set(keys)) == len(keys) else None
