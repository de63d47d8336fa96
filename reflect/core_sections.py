"""The core memory as sections: what each is for, who may write to it, and how much room the whole has.

Settings are written where a person sees them. The budget is the front matter's ``budget: 6000``. A section's own stand
in comments right below its heading, one each or joined by ``|``, in the form of OpenClaw's other marks:

```markdown
## People
<!-- description: Who is who, one line each. -->
<!-- read_only -->
```
"""

from __future__ import annotations

import hashlib
import re
from functools import cached_property
from typing import NamedTuple

from ..bank.files import BOM, decode, newline_of
from ..parsers.document import Block, parse_document
from ..parsers.front_matter import Values
from ..parsers.lines import Lines, read_lines

#: Characters of the whole file; ``budget: 6000`` in its front matter says another number.
BUDGET = 4000
_COMMENT = re.compile(r"<!--(?P<inner>.*?)-->")
_SETTING = re.compile(r"\s*(?:^|\|)\s*(?P<name>description|read[-_ ]?only)\s*(?:[:=]\s*|(?=\||$))", re.IGNORECASE)
_YES = ("", "true", "yes", "1", "on")
_SHOWN = 80


class Section(NamedTuple):
    """``name``: its heading. ``line``: of the heading (1-based), 0 for what stands above the first one, whose name is
    "". ``body``: the first line below the heading and its settings; ``own_end``, ``end``: the last line before the next
    heading, and before the next that is no part of it; 1-based, included. ``read_only``: by itself or by one that it
    stands in."""

    name: str
    trail: str
    level: int
    line: int
    body: int
    own_end: int
    end: int
    description: str
    read_only: bool


class Entry(NamedTuple):
    """One list item, paragraph or the like. ``characters``: of its lines, line ends included. ``text``: its start."""

    line: int
    end_line: int
    characters: int
    section: str
    text: str


class Usage(NamedTuple):
    """Characters of the whole file, and how many it may have."""

    characters: int
    budget: int

    @property
    def text(self) -> str:
        """``3,412/4,000``"""
        return f"{self.characters:,}/{self.budget:,}"


class Core:
    """A core memory file. ``data``: its bytes, b"" where there is none. ``text``: its characters as they are written
    back, bytes that are no UTF-8 as lone surrogates, without a BOM."""

    def __init__(self, data: bytes, default_budget: int = BUDGET) -> None:
        self.data = data
        self.bom = data.startswith(BOM)
        self.text = data.removeprefix(BOM).decode("utf-8", "surrogateescape")
        self.newline = newline_of(data)
        shown = decode(data)
        document = parse_document(shown)
        self.blocks: tuple[Block, ...] = document.blocks
        self.lines: Lines = document.lines
        self.usage = Usage(len(shown), _budget(self.lines.front.values, default_budget))

    @property
    def hash(self) -> str:
        return hash_of(self.data)

    @cached_property
    def starts(self) -> list[int]:
        """Where in ``text`` each line starts, and where the text ends."""
        found = [0, *(at.end() for at in re.finditer("\n", self.text))]
        return found if found[-1] == len(self.text) else [*found, len(self.text)]

    def line_at(self, offset: int) -> int:
        """The line (1-based) that a character stands on."""
        return self.text.count("\n", 0, offset) + 1

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """In order; the first is what stands above all headings."""
        size = len(self.lines.raw)
        headings = [one for one in self.blocks if one.kind == "heading" and not one.managed]
        first = headings[0].line if headings else size + 1
        top = self.lines.front.end + 1
        found = [Section("", "", 0, 0, top, first - 1, first - 1, "", False)]
        above: list[Section] = []
        for number, one in enumerate(headings):
            while above and above[-1].level >= one.level:
                above.pop()
            following = (other.line for other in headings[number + 1 :] if other.level <= one.level)
            end = next(following, size + 1) - 1
            own_end = (headings[number + 1].line if number + 1 < len(headings) else size + 1) - 1
            body, settings = self._settings(one.end_line, own_end)
            section = Section(
                one.text,
                " > ".join([*(other.name for other in above), one.text]),
                one.level,
                one.line,
                body,
                own_end,
                end,
                settings.get("description", ""),
                settings.get("readonly", "no").casefold() in _YES or any(other.read_only for other in above),
            )
            found.append(section)
            above.append(section)
        return tuple(found)

    def _settings(self, heading: int, end: int) -> tuple[int, dict[str, str]]:
        """The first line below a heading (its last line is given) and its settings, and what these say."""
        found: dict[str, str] = {}
        body = heading + 1
        for number in range(heading + 1, end + 1):
            line = self.lines.raw[number - 1]
            if self.lines.plain[number - 1].strip() or self.lines.managed[number - 1]:
                break
            comments = [dict(_settings_of(comment["inner"])) for comment in _COMMENT.finditer(line)]
            if line.strip() and not any(comments):
                break
            for one in comments:
                found = one | found
            body = number + 1 if any(comments) else body
        return body, found

    def section_at(self, line: int) -> Section:
        """The innermost section that a line stands in."""
        return next((one for one in reversed(self.sections) if one.line <= line), self.sections[0])

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """Everything but headings, largest first."""
        found = []
        for block in self.blocks:
            if block.kind != "heading":
                lines = self.lines.raw[block.line - 1 : block.end_line]
                text = " ".join(" ".join(lines).split())
                shown = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
                size = sum(len(line) + 1 for line in lines)
                found.append(Entry(block.line, block.end_line, size, self.section_at(block.line).name, shown))
        return tuple(sorted(found, key=lambda one: (-one.characters, one.line)))


def hash_of(data: bytes) -> str:
    """16 hex digits of the SHA-256 of a file's bytes; of none where there is no file."""
    return hashlib.sha256(data).hexdigest()[:16]


def budget_of(text: str, default: int = BUDGET) -> int:
    """How many characters the core may have: ``budget`` of its front matter, where that is a number."""
    return _budget(read_lines(text).front.values, default)


def read_budget(given: object) -> int | None:
    """A budget as people write it (``6000``, ``6,000``, ``6 000``), None for what is no such number."""
    number = re.sub(r"(?<=\d)[_,. ](?=\d{3}\b)", "", given.strip()) if isinstance(given, str) else ""
    return int(number) if re.fullmatch(r"[1-9]\d{0,8}", number) else None


def _budget(values: Values, default: int) -> int:
    return read_budget(values.get("budget", "")) or default


def _settings_of(comment: str) -> list[tuple[str, str]]:
    """(name, value) of each setting in a comment: ``description: Who is who | read_only``."""
    marks = list(_SETTING.finditer(comment))
    if not marks or comment[: marks[0].start()].strip():
        return []
    ends = [*(mark.start() for mark in marks[1:]), len(comment)]
    named = [re.sub(r"[-_ ]", "", mark["name"].casefold()) for mark in marks]
    return [(name, comment[mark.end() : end].strip()) for name, mark, end in zip(named, marks, ends, strict=True)]
