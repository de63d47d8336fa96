"""As much of a file as fits into some tokens: the important and the wanted entries first, in the order of the file.

What comes out is clean Markdown wherever it is pasted: no comments, no half of a code fence, nothing that a machine
maintains, nothing that looks like a key. A pure function of the file's text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import NamedTuple

from ..parsers.days import day_of
from ..parsers.document import Block, Document, parse_document
from ..parsers.headings import is_retain_heading
from ..parsers.masks import FENCE, OWN
from ..parsers.secrets import looks_secret
from ..parsers.tokens import estimate_tokens
from .triggers import IMPORTANCE, read_marks

#: The headings of a file are put below those of the text that shows it.
DEEPER, DEEPEST = 2, 6
_PLENTY = 1 << 30
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,9}[.)])\s")


class Unit(NamedTuple):
    """An entry of a file: a list item with what hangs below it, a paragraph, a fence and so on. ``line``, ``end_line``:
    1-based. ``text``: its lines as they are shown. ``heading``: the number of the heading that it stands under, in
    ``Excerpts.headings``, or -1."""

    line: int
    end_line: int
    text: str
    importance: int
    heading: int


class Excerpt(NamedTuple):
    """``text``: what is shown, with a line end. ``units``: those that are. ``omitted``: how many are not. ``cost``: of
    the tokens that were given, how many it takes; the same budget less what is left shows the same."""

    text: str
    units: tuple[Unit, ...]
    omitted: int
    cost: int


class Excerpts:
    """A file whose entries can be shown. ``cite``: whether each is followed by its lines (``(#L12)``)."""

    def __init__(self, text: str, *, cite: bool = False, machine: bool = False) -> None:
        """``machine``: entries that other machines maintain are shown too."""
        document = parse_document(text)
        self.cite = cite
        self.headings: list[tuple[int, str]] = []
        units: list[Unit] = []
        secret = 0
        for block in document.blocks:
            if block.managed and (block.managed == OWN or not machine):
                continue
            if block.kind == "heading":
                marks = "#" * min(DEEPEST, block.level + DEEPER)
                bare = is_retain_heading(block.text) or looks_secret(block.text) or not block.text
                bare = bare or (block.level == 1 and day_of(block.text) is not None)
                self.headings.append((block.line, "" if bare else f"{marks} {harmless(block.text)}"))
                continue
            shown = _shown(document, block)
            if looks_secret(shown):
                secret += 1
            elif any(map(str.isalnum, shown)):
                # A comment below an entry may be its own.
                raw = document.lines.raw[block.line - 1 : _end_of_marks(document, block)]
                importance = read_marks("\n".join(raw)).importance or IMPORTANCE
                units.append(Unit(block.line, block.end_line, shown, importance, len(self.headings) - 1))
        self.units = tuple(units)
        self.secret = secret
        self._lines: dict[Unit, tuple[str, int]] = {}
        self._whole: dict[frozenset[tuple[int, int]], tuple[Excerpt, int]] = {}
        self._raw, self._plain = document.lines.raw, document.lines.plain

    def best(
        self, budget: int, order: Callable[[Unit], tuple[int, ...]], *, without: Collection[tuple[int, int]] = ()
    ) -> Excerpt:
        """Entries that cost at most ``budget`` tokens together, taken in an ``order``, shown in that of the file.
        ``without``: lines of entries that are shown elsewhere; they count neither as shown nor as omitted."""
        wanted = [unit for unit in self.units if (unit.line, unit.end_line) not in without]
        taken: set[Unit] = set()
        headings: set[int] = set()
        left = budget
        for unit in sorted(wanted, key=order):
            cost = self._line_of(unit)[1]
            title = self.headings[unit.heading][1] if unit.heading >= 0 and unit.heading not in headings else ""
            cost += estimate_tokens(f"\n{title}\n\n") if title else 0
            if cost <= left:
                left -= cost
                taken.add(unit)
                headings.add(unit.heading)
        chosen = [unit for unit in wanted if unit in taken]
        return Excerpt(self._render(chosen), tuple(chosen), len(wanted) - len(chosen) + self.secret, budget - left)

    def heading_of(self, unit: Unit) -> str:
        """The heading that an entry stands under, without marks; "" without one."""
        return self.headings[unit.heading][1].lstrip("# ") if unit.heading >= 0 else ""

    def whole(self, without: Collection[tuple[int, int]] = ()) -> tuple[Excerpt, int]:
        """All entries but those shown elsewhere, and the tokens of their text."""
        key = frozenset(without)
        if key not in self._whole:
            everything = self.best(_PLENTY, lambda unit: (unit.line,), without=key)
            self._whole[key] = everything, estimate_tokens(everything.text)
        return self._whole[key]

    def _line_of(self, unit: Unit) -> tuple[str, int]:
        """An entry as it is shown, and its tokens with its line ends."""
        if unit not in self._lines:
            line = self._line(unit)
            self._lines[unit] = line, estimate_tokens(line) + 1
        return self._lines[unit]

    def _line(self, unit: Unit) -> str:
        if not self.cite:
            return unit.text
        place = f"(#L{unit.line})" if unit.end_line == unit.line else f"(#L{unit.line}-L{unit.end_line})"
        first, _, rest = unit.text.partition("\n")
        if any(FENCE.match(line) for line in unit.text.split("\n")) or first.lstrip().startswith(("|", ">")):
            return f"{place}\n{unit.text}"
        if rest and _ITEM.match(first):
            return f"{first} {place}\n{rest}"
        return f"{unit.text} {place}"

    def _render(self, units: list[Unit]) -> str:
        lines: list[str] = []
        heading, above = -1, None
        for unit in units:
            if unit.heading != heading:
                heading = unit.heading
                title = self.headings[heading][1] if heading >= 0 else ""
                lines += [*([""] if lines else []), title, ""] if title else [""] if lines else []
            elif above is not None and not self._joined(above, unit):
                lines.append("")
            lines.append(self._line_of(unit)[0])
            above = unit
        return "".join(f"{line}\n" for line in lines)

    def _joined(self, above: Unit, unit: Unit) -> bool:
        """Whether two entries may stand right below each other: items of a list, or lines that do so in the file."""
        items = all(_ITEM.match(one.text) for one in (above, unit))
        between = self._raw[above.end_line : unit.line - 1]
        return items or (not between and not self._plain[unit.line - 1].startswith("```"))


def _end_of_marks(document: Document, block: Block) -> int:
    """The last line of an entry with the lines of comments alone right below it."""
    raw, plain = document.lines.raw, document.lines.plain
    end = block.end_line
    while end < len(raw) and raw[end].lstrip().startswith("<!--") and not plain[end].strip():
        if document.lines.managed[end]:
            break
        end += 1
    return end


def _shown(document: Document, block: Block) -> str:
    """A block's lines without comments; a fence as it is, closed."""
    plain = document.lines.plain[block.line - 1 : block.end_line]
    fenced = document.lines.fenced[block.line - 1 : block.end_line]
    lines = [
        line.rstrip().replace("<!--", "<! --") if inside else harmless(line.rstrip())
        for line, inside in zip(plain, fenced, strict=True)
        if inside or line.strip()
    ]
    return "\n".join(lines)


def harmless(line: str) -> str:
    """A line that opens no fence and no comment, wherever it is put."""
    if "<!--" in line or "-->" in line:
        line = line.replace("<!--", "<! --").replace("-->", "-- >")
    return line.replace("```", "'''").replace("~~~", "~ ~ ~") if FENCE.match(line) else line
