"""Where in a daily log a new fact goes: the end of its last Retain section.

The lines are read as Markdown only as far as that takes: front matter, fences, comments, managed blocks, list
items and headings. Where readers could differ, the place is chosen so that a fact written there counts for
all of them: what is doubtful opens no section, but ends one; and nothing goes below a fence or a comment that
never closes.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ..parsers.headings import is_retain_heading

_ATX = re.compile(r" {0,3}(?:\d{1,9}[.)][ \t]+)?(#{1,6})(?:\s+(.*?))??(?:\s+#+)?\s*$")
_SETEXT = re.compile(r" {0,3}(=+|-+)\s*$")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")
_MARKER = re.compile(r" *(?:[-*+•]|\d{1,9}[.)])(?=\s|$)")
_INTERRUPTS = re.compile(r" *(?:[-*+•]|1[.)])\s+\S")
_FENCE = re.compile(r"(`{3,})[^`]*$|(~{3,})")
_HTML = re.compile(r" {0,3}</?[A-Za-z][\w-]*(?:\s|/?>|$)")
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_COMMENT = re.compile(r"<!--.*?-->")
_START = re.compile(r"<!--\s*(?:(?P<name>\S+):start\b|(?P<own>openclaw-memory:\S+)\s+v\d).*-->\s*$")
_KEY = re.compile(r"[^\s#:-][^:]*:(?:\s|$)")


class _Heading(NamedTuple):
    first: int
    last: int
    level: int
    retain: bool


class _Outline:
    """The headings of a file, and the line from which on it is inside something that never closes."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = [line.rstrip("\r") for line in lines]
        self.headings: list[_Heading] = []
        self.limit = len(lines)
        self.open_marks: list[int] = []
        self._hidden: tuple[int, int] | None = None
        self._fresh()
        self._html = False
        index = self._after_front_matter()
        while index < self.limit:
            index = self._read(index)
        if self._hidden is not None and self._hidden[0] < 2:
            self.limit = min(self.limit, self._hidden[1])

    def _fresh(self) -> None:
        """No block is open. ``_text``, ``_item``: the lines where the paragraph and the outermost list item began;
        ``_content``: the column of the item's text; ``_lazy``: whether a line at the margin would continue it."""
        self._text: int | None = None
        self._item: int | None = None
        self._content = 0
        self._lazy = False

    def _after_front_matter(self) -> int:
        if not self.lines or self.lines[0].removeprefix("\ufeff").rstrip() != "---":
            return 0
        for index in range(1, len(self.lines)):
            if self.lines[index].rstrip() == "---":
                return index + 1 if any(_KEY.match(line) for line in self.lines[1:index]) else 0
        return 0

    def _read(self, index: int) -> int:
        """Take in the block line at ``index``; the line to go on with."""
        line = self.lines[index]
        if index == 0:
            line = line.removeprefix("\ufeff")
        if not line.strip():
            self._text, self._lazy, self._html = None, False, False
            return index + 1
        line = line.expandtabs(4)
        indent = len(line) - len(line.lstrip(" "))
        if self._item is not None and not self._lazy and indent < self._content:
            self._item = None
        if indent > 3 and self._item is None:
            # Code or the rest of a paragraph; but not every reader lets a fence stand there.
            following = self._fence(index, line, indent)
            if following or not self._lazy:
                return following or index + 1
        if self._heading(index, line, inside=self._html or (self._item is not None and indent >= self._content)):
            return index + 1
        if indent < 4 or self._item is not None:
            following = self._fence(index, line, indent) or self._comment(index, line, indent)
            if following:
                return following
        self._flow(index, line, indent)
        return self._inline_comment_end(index, line)

    def _heading(self, index: int, line: str, inside: bool) -> bool:
        match = _ATX.match(line)
        if match:
            self._add(index, index, len(match.group(1)), "" if inside else match.group(2) or "")
            if not inside:
                self._fresh()
            return True
        match = _SETEXT.match(line)
        if match and self._text is not None:
            title = "" if inside else " ".join(part.strip() for part in self.lines[self._text : index])
            self._add(self._text, index, 1 if match.group(1)[0] == "=" else 2, title)
            return True
        return False

    def _add(self, first: int, last: int, level: int, title: str) -> None:
        if self._hidden is not None and level <= self._hidden[0]:
            self._hidden = None
        retain = self._hidden is None and is_retain_heading(title.removeprefix("\ufeff"))
        self.headings.append(_Heading(first, last, level, retain))
        self._text, self._lazy = None, False

    def _fence(self, index: int, line: str, indent: int) -> int:
        """The line after the fence that opens at ``index``; 0 where none opens."""
        inner, column = _unwrap(line)
        match = _FENCE.match(inner)
        if not match:
            return 0
        mark = match.group(1) or match.group(2)
        return self._block(index, line, indent, column, rf"\s*{mark[0]}{{{len(mark)},}}\s*$")

    def _comment(self, index: int, line: str, indent: int) -> int:
        """The line after the comment or managed block that opens at ``index``; 0 where none opens."""
        inner, _ = _unwrap(line)
        if not inner.startswith("<!--"):
            return 0
        managed = _START.match(inner)
        if managed:
            return self._managed(index, managed)
        if "-->" in inner[2:]:
            self._open(index, line, indent)
            self._text = None
            return index + 1
        return self._block(index, line, indent, _unwrap(line)[1], ".*-->")

    def _open(self, index: int, line: str, indent: int) -> None:
        """Note the list item that begins at ``index``, or that ended before it."""
        outermost = _unwrap(line, deep=False)[1]
        if outermost > indent and (self._item is None or indent < self._content):
            self._item, self._content = index, outermost
        elif indent < self._content:
            self._item = None
        inner = _unwrap(line)[0]
        self._lazy = self._item is not None and bool(inner) and not inner.startswith("<!--") and not _ATX.match(inner)

    def _block(self, index: int, line: str, indent: int, column: int, closes: str) -> int:
        """The line after the block from ``index`` to the line that ``closes`` matches.

        A block in a list item also ends with the item, and an HTML block holds no other up to its blank line;
        where that comes first, readers differ on what is inside: it counts as never closed, from the item on.
        """
        self._open(index, line, indent)
        self._text, self._lazy = None, False
        if self._item is None:
            least = 4 if indent > 3 else 0
        else:
            least = column if column > indent + 1 else self._content
        end = re.compile(closes)
        for last in range(index + 1, len(self.lines)):
            following = self.lines[last].expandtabs(4)
            depth = len(following) - len(following.lstrip(" "))
            if depth < least if following.strip() else self._html:
                break
            if end.match(following) and (depth < least + 4 or closes.startswith(".")):
                return last + 1
        self.limit = index if self._item is None else self._item
        return len(self.lines)

    def _managed(self, index: int, start: re.Match[str]) -> int:
        name = start.group("name")
        end = rf"<!--\s*{re.escape(name)}:end\b" if name else rf"<!--\s*/{re.escape(start.group('own'))}\b"
        for last in range(index + 1, len(self.lines)):
            if re.search(end, self.lines[last]):
                if self._open_fence(index + 1, last):
                    self.limit = index
                    return len(self.lines)
                levels = [len(m.group(1)) for line in self.lines[index:last] if (m := _ATX.match(line))]
                if levels:
                    # Whether a heading in there ends the section is left open: what comes before is safe.
                    self.headings.append(_Heading(index, last, min(levels), retain=False))
                self._fresh()
                return last + 1
        self.open_marks.append(index)
        if self._hidden is None:
            self._hidden = (self.headings[-1].level if self.headings else 6, index)
        return index + 1

    def _open_fence(self, first: int, last: int) -> bool:
        """Whether a fence opens in the lines from ``first`` to before ``last`` and does not close there."""
        mark = ""
        for line in self.lines[first:last]:
            match = _FENCE.match(_unwrap(line.expandtabs(4))[0])
            if not mark and match:
                mark = match.group(1) or match.group(2)
            elif mark and re.fullmatch(rf"\s*{mark[0]}{{{len(mark)},}}\s*", line):
                mark = ""
        return bool(mark)

    def _flow(self, index: int, line: str, indent: int) -> None:
        """Keep track of what the line leaves open: a list item, a quote, an HTML block, a paragraph."""
        if _RULE.match(line):
            self._fresh()
        elif _MARKER.match(line) and (self._text is None or _INTERRUPTS.match(line)):
            self._open(index, line, indent)
            self._text = None
        elif line.lstrip().startswith(">"):
            self._text, self._lazy = None, True
        elif _HTML.match(line) and indent >= self._content > 0:
            self._lazy = True
        elif _HTML.match(line):
            self._html = True
            if self._item is None:
                self._text, self._lazy = index, False
        elif self._item is not None or self._lazy:
            self._lazy = True
        elif self._text is None:
            self._text = index

    def _inline_comment_end(self, index: int, line: str) -> int:
        """The line to go on with, past a comment that opens in this line and closes in the same paragraph."""
        if "<!--" in line and "<!--" in _COMMENT.sub("", _CODE.sub("", line)):
            for last in range(index + 1, len(self.lines)):
                following = self.lines[last]
                if not following.strip() or "<!--" in following or _breaks_paragraph(following):
                    break
                if "-->" in following:
                    return last + 1
        return index + 1


def _breaks_paragraph(line: str) -> bool:
    """Whether the line cannot be the continuation of a paragraph."""
    marks = (_ATX, _SETEXT, _RULE, _MARKER, _HTML)
    return line.lstrip().startswith((">", "```", "~~~")) or any(mark.match(line) for mark in marks)


def _unwrap(line: str, deep: bool = True) -> tuple[str, int]:
    """What a line holds past its list markers (past the first one, if not ``deep``), and the column where that
    starts; without a marker that is its indent."""
    column = 0
    while (marker := _MARKER.match(line, column)) and not _RULE.match(line[column:]):
        blanks = len(line) - marker.end() - len(line[marker.end() :].lstrip(" "))
        column = marker.end() + (blanks if 0 < blanks < 5 and line[marker.end() :].strip() else 1)
        if blanks > 4 or not deep:
            break
    if column:
        return line[column:].rstrip(), column
    return line.strip(), len(line) - len(line.lstrip(" "))


def insertion_point(lines: list[str]) -> tuple[int, bool]:
    """Where new bullets go in a log: the index in ``lines`` to insert before, and whether it has the section.

    ``lines`` are without their ``\\n`` (a ``\\r`` may remain). With a section the place is after the last
    line of the last one that is not blank; without, it is where a new heading goes: the end, or before what
    never closes.
    """
    outline = _Outline(lines)
    usable = [heading for heading in outline.headings if heading.last < outline.limit]
    section = next((heading for heading in reversed(usable) if heading.retain), None)
    if section is None:
        return outline.limit, False
    ends = [heading.first for heading in usable if heading.first > section.last and heading.level <= section.level]
    ends += [mark for mark in outline.open_marks if mark > section.last]
    index = min([outline.limit, *ends])
    while index > section.last + 1 and not lines[index - 1].strip():
        index -= 1
    return index, True
