"""What people did to a block: whose place their lines took, and what they want forgotten."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..parsers.alignment import gap_of, increasing
from ..parsers.blocks import Block
from ..parsers.names import code_spans

HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")
_COMMENT = re.compile(r"\s*<!--.*-->\s*$")
_FORGET = re.compile(r"<!--\s*forget(?:\s*:\s*(?P<words>[^<>]*?)|\s+(?P<anchor>[^\s<>]+))\s*-->", re.IGNORECASE)
_LEAST_LETTERS = 3


class Line(NamedTuple):
    """A line that a block should have. ``key``: 8 hex digits, the identity of what it shows, one line a key. ``text``:
    one line of Markdown. ``heading``: starts a section, and is written only where the section has something.
    ``parent``: the key of a line above it that it hangs below. ``anchors``: the ids (``^o-…``) and citations
    (``memory/2025-12-02.md#L10``) by which it is known, also to a person who wrote it anew."""

    key: str
    text: str
    heading: bool = False
    parent: str = ""
    anchors: tuple[str, ...] = ()


class Tombstone(NamedTuple):
    """``<!-- forget ^o-… -->``, ``<!-- forget memory/….md#L5 -->`` or ``<!-- forget: words of the line -->``: what it
    names is not to be written. ``line`` is 1-based."""

    line: int
    anchor: str
    words: str

    def names(self, line: Line) -> bool:
        if self.anchor:
            wanted = (self.anchor, f"^{self.anchor}")
            return any(one in line.anchors for one in wanted) or carries(line.text, self.anchor)
        words = re.escape(_plain(self.words))
        return bool(re.search(rf"(?<!\w){words}(?!\w)", _plain(line.text)))


def tombstones(lines: Sequence[str], fenced: Sequence[int]) -> list[Tombstone]:
    """All of a page, in order."""
    found: list[Tombstone] = []
    for number, line in enumerate(lines):
        if "<!--" not in line or fenced[number]:
            continue
        spans = code_spans(line)
        for match in _FORGET.finditer(line):
            words, anchor = match["words"] or "", match["anchor"] or ""
            told = anchor or sum(map(str.isalnum, words)) >= _LEAST_LETTERS
            if told and not any(first <= match.start() < end for first, end in spans):
                found.append(Tombstone(number + 1, anchor, words))
    return found


def carries(text: str, anchor: str) -> bool:
    """Whether a text holds an id or a citation, as a whole."""
    return anchor in text and bool(re.search(rf"(?<![\w/-]){re.escape(anchor)}(?!\w|-[\wL])", text))


def claims(
    block: Block, lines: Sequence[str], offered: Mapping[str, Line], dropped: Collection[str]
) -> dict[int, str | None]:
    """Whose place each line that the end mark does not tell of took: its key, or None, by the line (1-based).

    A line that carries an anchor of a line that is gone took its place; else one that stands alone where one line alone
    is gone: of the same kind, between the same two lines.
    """
    chain = increasing([(n, one.line) for n, one in enumerate(block.entries) if one.line])
    missing = {number: gap_of(chain, number, 0) for number, one in enumerate(block.entries) if not one.line}
    new = {line: gap_of(chain, line, 1) for line in block.unlisted if not _COMMENT.match(lines[line - 1])}
    claimed: dict[int, str | None] = dict.fromkeys(block.unlisted)
    named = dict(_named(block, offered, missing, dropped))
    for line in list(new):
        found = [
            (not anchor.startswith("^"), missing.get(number) != new[line], number, key)
            for (number, key), anchors in named.items()
            for anchor in anchors
            if carries(lines[line - 1], anchor)
        ]
        if found:
            _, _, number, claimed[line] = min(found)
            del named[number, min(found)[3]], new[line]
            missing.pop(number, None)
    gaps: dict[tuple[int, str], tuple[list[int], list[int]]] = {}
    for number, gap in missing.items():
        gaps.setdefault((gap, _kind_of(offered.get(block.entries[number].key or ""))), ([], []))[0].append(number)
    for line, gap in new.items():
        gaps.setdefault((gap, _kind(lines[line - 1])), ([], []))[1].append(line)
    for gone, come in gaps.values():
        if len(gone) == len(come) == 1:
            claimed[come[0]] = block.entries[gone[0]].key
    return claimed


def _named(
    block: Block, offered: Mapping[str, Line], missing: Collection[int], dropped: Collection[str]
) -> Iterator[tuple[tuple[int, str], tuple[str, ...]]]:
    """The anchors of what is gone from the block, by its number there and its key; what went before comes last."""
    for number in missing:
        line = offered.get(block.entries[number].key or "")
        if line and line.anchors:
            yield (number, line.key), line.anchors
    for number, key in enumerate(dropped, len(block.entries)):
        if key in offered and offered[key].anchors:
            yield (number, key), offered[key].anchors


def _kind_of(line: Line | None) -> str:
    return "heading" if line and line.heading else "hanging" if line and line.parent else "line"


def _kind(text: str) -> str:
    return "heading" if HEADING.match(text) else "hanging" if text[:1] in (" ", "\t") else "line"


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
