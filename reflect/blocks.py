"""New lines for an old block: what reflect would write now, and what people made of what it wrote before.

Pure: bytes in, bytes out. All that is remembered stands in the block's end mark (``parsers.blocks``), so that nothing
depends on an index. Outside of the block no byte changes. The rules: ``docs/decisions.md``, Pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from ..bank.files import BOM, decode, newline_of
from ..parsers.blocks import (
    BLANKS,
    Block,
    Damage,
    Entry,
    end_mark,
    fenced_lines,
    is_blank,
    line_hash,
    read_block,
    start_mark,
)
from ..parsers.lines import read_lines, split_lines
from ..parsers.masks import FENCE
from .block_edits import HEADING, Line, Tombstone, claims, tombstones
from .placement import Id, Piece, Wanted, place

__all__ = ["Edit", "Line", "Merged", "merge"]

CHANGED, ADDED, DROPPED, FORGOTTEN = "changed", "added", "dropped", "forgotten"


class Edit(NamedTuple):
    """What a person did to a block, as long as it stands. ``kind``: changed (their line took the place of the one with
    ``key``), added, dropped (deleted by them; ``text`` is what would be written, "" where it is not offered any more)
    or forgotten (named by a tombstone). ``line``: theirs, or the tombstone's, on the new page (1-based; 0: none).
    ``day``: when their line was first seen. ``new``: not known before this merge."""

    kind: str
    key: str | None
    text: str
    line: int
    day: date | None
    new: bool


class Merged(NamedTuple):
    """``data``: the page as it should be. ``edits``: all that stand, in the page's order, then drops, then what is
    forgotten. ``damage``: why the page was left as it was."""

    data: bytes
    edits: tuple[Edit, ...]
    damage: Damage | None


def merge(data: bytes, name: str, lines: Sequence[Line], today: date, head: bytes = b"") -> Merged:
    """The page ``data`` with ``lines`` in its block ``name``, in their order, and with what people wrote there.

    Of lines with one key the first counts. A page without the block gets it at its end, if there is something to write;
    an empty one (``b""``) then starts with ``head``. ``today``: the day on which new lines of people's are first seen.
    A second merge of the same changes nothing.
    """
    page = split_lines(decode(data))
    block = read_block(page, name)
    if isinstance(block, Damage):
        return Merged(data, (), block)
    offered: dict[str, Line] = {}
    for line in _cleaned(lines):
        offered.setdefault(line.key, line)
    if block is not None:
        return _Merge(data, page, block, offered, today).merged()
    open_at = read_lines(decode(data)).open_at
    if open_at is not None:
        message = "a code fence or a comment that never ends would hide the block; close it"
        return Merged(data, (), Damage(open_at + 1, message))
    grown = _with_empty_block(data, name, head)
    page = split_lines(decode(grown))
    block = read_block(page, name)
    if not isinstance(block, Block):
        return Merged(data, (), block or Damage(1, f"the head of the page would hide the block {name}"))
    merged = _Merge(grown, page, block, offered, today).merged()
    return merged if merged.data != grown else merged._replace(data=data)


def _cleaned(lines: Sequence[Line]) -> Iterator[Line]:
    """The lines whose text is one line, in a form that neither hides the end mark nor looks like a mark."""
    for line in lines:
        text = line.text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
        text = text.replace("\r", " ").replace("\n", " ").replace("<!--", "<! --").replace("-->", "-- >").rstrip(BLANKS)
        fence = FENCE.match(text)
        if fence:
            text = f"{fence['lead']}\\{text[fence.end('lead') :]}"
        if text:
            yield line._replace(text=text)


def _with_empty_block(data: bytes, name: str, head: bytes) -> bytes:
    bare = data.removeprefix(BOM)
    newline = newline_of(data or head).encode()
    marks = f"{start_mark(name)}\n{end_mark(name, (), ())}".encode().replace(b"\n", newline)
    above = bare or head
    if above and not above.endswith(b"\n"):
        above += newline
        marks += b"" if bare else newline
    else:
        marks += newline
    last = above.removesuffix(b"\n").rsplit(b"\n", 1)[-1].strip() if above else b""
    return data[: len(data) - len(bare)] + above + (newline if last else b"") + marks


class _Merge:
    """One merge into one block. ``page``: the lines as ``split_lines`` gives them; ``raw``: the same as bytes."""

    def __init__(self, data: bytes, page: list[str], block: Block, offered: Mapping[str, Line], today: date) -> None:
        self.data, self.page, self.block, self.offered, self.today = data, page, block, offered, today
        self.raw = _split(data)
        self.newline = newline_of(data).encode()
        self.stones = tombstones(page, fenced_lines(page))
        self.claimed = claims(block, page, offered, block.dropped)
        self.dropped = self._dropped()
        self.above = self._above()
        self.footers = self._footers()
        self.old = self._old()

    def merged(self) -> Merged:
        pieces = place(self.old, self._wanted())
        first, last = self.block.first, self.block.last
        inside: list[bytes] = []
        numbers: list[int] = []
        blanks = self._blanks()
        previous: Piece | None = None
        for piece in pieces:
            inside += self._between(previous, piece, blanks)
            inside.append(piece.raw)
            numbers.append(first + len(inside))
            previous = piece
        inside += self._between(previous, None, blanks)
        entries = tuple(Entry(one.key, one.hash, one.day) for one in pieces)
        new = b"".join([*self.raw[:first], *inside, self._end(entries), *self.raw[last:]])
        page = split_lines(decode(new))
        again = read_block(page, self.block.name)
        standing = tuple(one._replace(line=number) for one, number in zip(entries, numbers, strict=True))
        theirs = sum(1 for one in self.old if one.day)
        if not isinstance(again, Block) or again.entries != standing or sum(1 for one in entries if one.day) != theirs:
            message = f"a code fence in the block {self.block.name} would hide its end; close it above the line"
            return Merged(self.data, (), Damage(last, message))
        return Merged(new, tuple(self._edits(pieces, numbers, page)), None)

    def _dropped(self) -> tuple[str, ...]:
        """The keys of the lines that people deleted, now or before; headings come back with their sections."""
        taken = {key for key in self.claimed.values() if key}
        standing = {one.key for one in self.block.entries if one.line and one.key}
        gone = [one.key for one in self.block.entries if not one.line and one.key]
        return tuple(
            key
            for key in dict.fromkeys([*self.block.dropped, *gone])
            if key not in taken and key not in standing and not (key in self.offered and self.offered[key].heading)
        )

    def _above(self) -> dict[str, str]:
        """The line that each one hangs below, of those that are offered."""
        above: dict[str, str] = {}
        seen: set[str] = set()
        for key, line in self.offered.items():
            if line.parent in seen and not line.heading:
                above[key] = line.parent
            if not line.heading:
                seen.add(key)
        return above

    def _footers(self) -> set[str]:
        """The keys of the paragraphs below all sections, which belong to none: ``Related: …``."""
        lines = list(self.offered.values())
        size = len(lines)
        while size and not lines[size - 1].heading and not _is_listed(lines[size - 1].text):
            size -= 1
        below = size > 1 and not lines[size - 1].heading and any(line.heading for line in lines[:size])
        return {line.key for line in lines[size:]} if below else set()

    def _old(self) -> list[Piece]:
        """The lines with text that stand in the block now."""
        days = {one.line: one for one in self.block.their_lines}
        ours = {one.line: one.key for one in self.block.entries if one.line and one.day is None}
        pieces: list[Piece] = []
        for number in range(self.block.first + 1, self.block.last):
            text = self.page[number - 1]
            if is_blank(text):
                continue
            theirs = days.get(number)
            key = ours.get(number) if theirs is None else theirs.key or self.claimed.get(number)
            offered = self.offered.get(key or "")
            heading = bool(HEADING.match(text))
            cuts = key is not None and (offered.heading or key in self.footers if offered else heading)
            indented = text[:1] in (" ", "\t") and not cuts
            hangs = indented if theirs or not offered else offered.key in self.above
            day = (theirs.day or self.today) if theirs else None
            one: Id = number if theirs else key or ""
            pieces.append(Piece(one, key, self.raw[number - 1], line_hash(text), day, cuts, heading, hangs))
        return pieces

    def _wanted(self) -> list[Wanted]:
        """The lines that are to stand, each ours or the person's that took its place."""
        theirs = {one.key: one for one in self.old if one.day and one.key}
        ours = {one.id: one for one in self.old if one.day is None}
        wanted: dict[str, Wanted] = {}
        for key, line in self.offered.items():
            parent = self.above.get(key)
            if key not in theirs and (key in self.dropped or self._stone(line) or (parent and parent not in wanted)):
                continue
            above = wanted[parent] if parent and parent in wanted else None
            root = None if above is None else above.piece.id if above.piece.day else above.above or above.piece.id
            wanted[key] = Wanted(theirs.get(key) or self._ours(line, ours.get(key)), root)
        return list(wanted.values())

    def _ours(self, line: Line, old: Piece | None) -> Piece:
        digest = line_hash(line.text)
        same = old is not None and old.hash == digest
        raw = old.raw if old is not None and same else line.text.encode() + self.newline
        cuts = line.heading or line.key in self.footers
        return Piece(line.key, line.key, raw, digest, None, cuts, line.heading, line.key in self.above)

    def _stone(self, line: Line) -> Tombstone | None:
        return None if line.heading else next((one for one in self.stones if one.names(line)), None)

    def _blanks(self) -> dict[tuple[Id | None, Id | None], list[bytes]]:
        """The blank lines between each two neighbours of the block as it stands (None: its marks)."""
        blanks: dict[tuple[Id | None, Id | None], list[bytes]] = {}
        following = iter(self.old)
        previous: Id | None = None
        run: list[bytes] = []
        for number in range(self.block.first + 1, self.block.last):
            if is_blank(self.page[number - 1]):
                run.append(self.raw[number - 1])
            else:
                one = next(following).id
                blanks[previous, one] = run
                previous, run = one, []
        blanks[previous, None] = run
        return blanks

    def _between(
        self, one: Piece | None, other: Piece | None, blanks: Mapping[tuple[Id | None, Id | None], list[bytes]]
    ) -> list[bytes]:
        """The blank lines between neighbours: as they were, else one above a heading and between paragraphs."""
        known = blanks.get((one.id if one else None, other.id if other else None))
        if known is not None:
            return known
        if one is None or other is None:
            return []
        listed = other.hangs or _is_listed(decode(other.raw))
        return [self.newline] if other.heading or not (listed or one.heading) else []

    def _end(self, entries: tuple[Entry, ...]) -> bytes:
        """The end mark: the one that is there if it says so already."""
        raw = self.raw[self.block.last - 1]
        if entries == tuple(one._replace(line=0) for one in self.block.entries) and self.dropped == self.block.dropped:
            return raw
        ending = raw[len(raw.rstrip(b"\r\n")) :]
        return end_mark(self.block.name, entries, self.dropped).encode() + ending

    def _edits(self, pieces: Sequence[Piece], numbers: Sequence[int], page: Sequence[str]) -> list[Edit]:
        new = set(self.block.unlisted)
        edits = [
            Edit(CHANGED if one.key else ADDED, one.key, page[number - 1], number, one.day, one.id in new)
            for one, number in zip(pieces, numbers, strict=True)
            if one.day
        ]
        forgotten = {key: line for key, line in self.offered.items() if self._stone(line)}
        for key in self.dropped:
            if key not in forgotten:
                text = self.offered[key].text if key in self.offered else ""
                edits.append(Edit(DROPPED, key, text, 0, None, key not in self.block.dropped))
        stones = tombstones(page, fenced_lines(page))
        before = {one.key for one in self.block.entries}
        for key, line in forgotten.items():
            at = next(one.line for one in stones if one.names(line))
            edits.append(Edit(FORGOTTEN, key, line.text, at, None, key in before))
        return edits


def _is_listed(text: str) -> bool:
    return text[:1] in (" ", "\t") or text[:2] in ("- ", "* ", "+ ")


def _split(data: bytes) -> list[bytes]:
    """Lines with their ends, split on ``\\n`` only, as ``split_lines`` splits text."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines
