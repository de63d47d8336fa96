"""The block between two ``---`` lines at the top of a file: ``key: value`` lines, values kept as text.

Only the forms that people write in notes are read (scalars, quoted scalars, ``[a, b]``, ``- item`` lists, block
scalars). ``no``, ``1.10`` and impossible dates stay the text they are.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_KEY = re.compile(r"(?P<key>[^\s:#'\"\[\]{}-][^:]{0,100}?)\s*:(?:\s+(?P<value>.*))?$")
_BLOCK_SCALAR = re.compile(r"[|>][+-]?\d?$")

Values = dict[str, str | tuple[str, ...]]


class FrontMatter(NamedTuple):
    """``end``: how many lines the block takes (0: there is none). ``bad``: there is one, but it does not parse;
    then ``end`` is 0 and the lines are plain Markdown."""

    values: Values
    end: int
    bad: bool


NONE = FrontMatter({}, 0, False)


def read_front_matter(lines: list[str]) -> FrontMatter:
    """The front matter of a file's lines (without line ends, BOM dropped)."""
    if not lines or lines[0].rstrip() != "---":
        return NONE
    close = next((n for n in range(1, len(lines)) if lines[n].rstrip() in ("---", "...")), 0)
    body = lines[1:close]
    if not close or not any(_KEY.match(line) for line in body):
        return NONE
    values = _parse(body)
    return FrontMatter({}, 0, True) if values is None else FrontMatter(values, close + 1, False)


class _Entry:
    """One key's value while its lines are read: items of a list, each of one or more lines, or lines of a text."""

    def __init__(self, given: str) -> None:
        self.scalar = bool(_BLOCK_SCALAR.match(given))
        value = "" if self.scalar else _value(given)
        self.bad = value is None
        self.is_list = isinstance(value, tuple)
        self.items: list[list[str]] = [[v] for v in value] if isinstance(value, tuple) else [[value]] if value else []

    def go_on(self, text: str) -> None:
        """Take an indented line: of a block scalar, a list, or a nested map."""
        if not self.scalar and (text == "-" or text.startswith("- ")):
            item = _value(text[1:].strip())
            self.bad = self.bad or item is None or (bool(self.items) and not self.is_list)
            self.is_list = True
            self.items.append([item if isinstance(item, str) else ", ".join(item or ())])
        elif self.items:
            self.items[-1].append(text)
        else:
            self.items.append([text])

    @property
    def value(self) -> str | tuple[str, ...]:
        whole = ["\n".join(lines) for lines in self.items]
        return tuple(whole) if self.is_list else "\n".join(whole)


def _parse(body: list[str]) -> Values | None:
    entries: dict[str, _Entry] = {}
    entry: _Entry | None = None
    for line in body:
        if not line.strip() or (line.lstrip().startswith("#") and not (entry and entry.scalar)):
            continue
        if line[0] in " \t" or (entry and not entry.scalar and re.match(r"-(\s|$)", line)):
            if entry is None:
                return None
            entry.go_on(line.strip())
        else:
            match = _KEY.match(line)
            if not match:
                return None
            entry = entries[match["key"].strip()] = _Entry((match["value"] or "").strip())
        if entry.bad:
            return None
    return {key: entry.value for key, entry in entries.items()}


def _value(given: str) -> str | tuple[str, ...] | None:
    if given[:1] in ("'", '"'):
        return _unquote(given)
    if given.startswith("["):
        if not given.endswith("]"):
            return None
        items = [_unquote(item.strip()) for item in _split_list(given[1:-1])]
        return None if None in items else tuple(item for item in items if item)
    if given.startswith("{") and not given.endswith("}"):
        return None
    return re.split(r"\s#", given, maxsplit=1)[0].rstrip()


def _split_list(inner: str) -> list[str]:
    """Split at commas outside quotes."""
    items, start, quote = [], 0, ""
    for at, char in enumerate(inner):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"" and not inner[start:at].strip():
            quote = char
        elif char == ",":
            items.append(inner[start:at])
            start = at + 1
    return [*items, inner[start:]]


def _unquote(given: str) -> str | None:
    """A scalar without its quotes; None where a quote is not closed."""
    quote = given[:1]
    if quote not in ("'", '"'):
        return given
    close = given.find(quote, 1)
    while close > 0 and given[close - 1] == "\\" and quote == '"':
        close = given.find(quote, close + 1)
    if close < 0 or (given[close + 1 :].strip() and not given[close + 1 :].lstrip().startswith("#")):
        return None
    return given[1:close]
