"""A Markdown file as blocks with their lines: headings, list items with their children, paragraphs, fences, tables.

The block structure is markdown-it's (CommonMark and tables, no inline parsing, no raw HTML, no link definitions);
text is taken from the file's own lines, so that nothing of it is changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from .lines import Lines, read_lines
from .records import Diagnostic

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_ITEM_MARK = re.compile(r"\s*(?:[-*+•–—]|\d{1,9}[.)])(?=\s|$)\s*")
_HEADING_MARKS = re.compile(r"\s*(?:\d{1,9}[.)]\s+)?#{1,6}(?:\s+|$)|\s+#+\s*$")
_LEAF = {
    "fence": "fence",
    "code_block": "code",
    "hr": "rule",
    "table_open": "table",
    "blockquote_open": "quote",
}


class Block(NamedTuple):
    """One block of a document; ``line`` and ``end_line`` are 1-based, blank lines at the end not counted.

    ``kind``: heading, item, paragraph, fence, code, table, quote, rule. ``text`` is the block's own text, its lines
    joined by one blank (headings, items, paragraphs) or by line ends (the others). ``marker`` of an item: bullet,
    number, bare (a typed line at the margin without a bullet) or dash. ``managed``: 0, or whose machine maintains it
    (see ``masks``).
    """

    kind: str
    line: int
    end_line: int
    text: str
    level: int = 0
    marker: str = ""
    children: tuple[Block, ...] = ()
    managed: int = 0
    parts: tuple[tuple[str, int, int], ...] = ()


class Document(NamedTuple):
    """``blocks`` in order, lists flattened to their items; ``lines`` as read."""

    blocks: tuple[Block, ...]
    lines: Lines

    @property
    def diagnostics(self) -> list[Diagnostic]:
        return self.lines.diagnostics


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"maxNesting": 400}).enable("table")
    parser.disable(["html_block", "reference"])
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def parse_document(text: str) -> Document:
    """Read a file's text. Any text is a document; time is linear in its size."""
    lines = read_lines(text)
    tokens = _parser().parse("\n".join(lines.structure))
    return Document(tuple(_Builder(lines).blocks(iter(tokens), "")), lines)


class _Builder:
    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.opened: dict[int, int] = {}

    def blocks(self, tokens: Iterator[Token], closing: str) -> list[Block]:
        """The blocks up to the token type ``closing`` (at the end of the tokens for "")."""
        found: list[Block] = []
        for token in tokens:
            if token.type == closing:
                break
            if token.map is None or token.type in ("bullet_list_open", "ordered_list_open", "inline"):
                continue
            first, end = token.map
            last = self._last_line(first, end)
            if token.type == "list_item_open":
                found.append(self._item(tokens, first))
            elif token.type == "heading_open":
                level = int(token.tag[1:])
                end = end if token.markup.startswith("#") else end - 1
                title = _HEADING_MARKS.sub("", self._joined(first, end)) if token.markup[0] == "#" else None
                found.append(self._block("heading", first, last, title or self._joined(first, end), level))
            elif token.type == "paragraph_open":
                found.append(self._block("paragraph", first, last, self._joined(first, end)))
            elif token.type in _LEAF:
                if token.type.endswith("_open"):
                    self._skip(tokens, token.type)
                text = "\n".join(self.lines.plain[first : last + 1])
                found.append(self._block(_LEAF[token.type], first, last, text))
        return found

    def _item(self, tokens: Iterator[Token], first: int) -> Block:
        lines = self.lines
        self.opened[first] = self.opened.get(first, 0) + 1
        depth = self.opened[first]
        marker = "bullet"
        if first in lines.bare and depth == 1:
            marker = "bare"
        elif first in lines.dashed and depth == 1:
            marker = "dash"
        elif re.match(r"\s*\d", self._after_marks(first, depth - 1)):
            marker = "number"
        inside = self.blocks(tokens, "list_item_close")
        parts: list[tuple[str, int, int]] = []
        children: list[Block] = []
        after_child = False
        for block in inside:
            code = block.kind == "code" and not parts and not children
            if block.kind not in ("paragraph", "heading") and not code:
                children.append(block)
                after_child = True
                continue
            text = self._item_text(block, first, depth)
            start = block.line
            if parts and not after_child:
                above, start, _ = parts.pop()
                text = f"{above} {text}".strip()
            parts.append((text, start, block.end_line))
            after_child = False
        last = max((block.end_line for block in inside), default=first + 1)
        text = " ".join(part[0] for part in parts if part[0])
        managed = lines.managed[first]
        return Block("item", first + 1, last, text, 0, marker, tuple(children), managed, tuple(parts))

    def _item_text(self, block: Block, first: int, depth: int) -> str:
        if block.line - 1 != first:
            return block.text if block.kind != "code" else self._joined(block.line - 1, block.end_line)
        rest = [self.lines.plain[n].strip() for n in range(first + 1, block.end_line)]
        return " ".join(filter(None, [self._after_marks(first, depth).strip(), *rest]))

    def _after_marks(self, number: int, depth: int) -> str:
        """A line without the first ``depth`` list marks (a bare line has none to drop)."""
        line = self.lines.plain[number]
        at = 0
        for level in range(depth):
            if level == 0 and number in self.lines.bare:
                continue
            mark = _ITEM_MARK.match(line, at)
            at = mark.end() if mark else at
        return line[at:]

    def _joined(self, first: int, end: int) -> str:
        return " ".join(filter(None, (line.strip() for line in self.lines.plain[first:end])))

    def _block(self, kind: str, first: int, last: int, text: str, level: int = 0) -> Block:
        return Block(kind, first + 1, last + 1, text, level, "", (), self.lines.managed[first])

    def _last_line(self, first: int, end: int) -> int:
        last = min(end, len(self.lines.structure)) - 1
        while last > first and not self.lines.structure[last].strip():
            last -= 1
        return last

    @staticmethod
    def _skip(tokens: Iterator[Token], opened: str) -> None:
        depth = 1
        closing = opened.replace("_open", "_close")
        while depth and (token := next(tokens, None)):
            depth += (token.type == opened) - (token.type == closing)
