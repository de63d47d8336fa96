"""Which entries of the memory are due: those whose ``trigger`` marks name today, or what a question is about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import NamedTuple

from ..bank.driver import Connection
from ..bank.entities import named_in, resolve
from ..bank.errors import MemoryFault
from ..bank.files import read_text
from ..bank.workspace import Workspace
from ..parsers.days import CORE, LOG, PAGE, PLAIN, log_day
from ..parsers.lines import read_lines
from ..parsers.names import fold
from ..parsers.parse import parse_file
from ..parsers.records import Fact, Note
from ..parsers.scripts import characters
from ..parsers.secrets import looks_secret
from .question import read_question
from .triggers import IMPORTANCE, Due, due, read_marks

#: So many entries, the best, that a question triggers; OpenClaw's number.
MOST_ASKED = 3


class DueEntry(NamedTuple):
    """``text``: what the entry says, on one line, with whom it is about. ``key``: the fact's or note's id."""

    path: str
    line: int
    end_line: int
    text: str
    key: str
    importance: int
    due: Due


def due_entries(
    workspace: Workspace,
    connection: Connection,
    *,
    today: date,
    question: str = "",
    private: bool = True,
    projects: Sequence[str] = (),
) -> list[DueEntry]:
    """What is due, best first: entries of a day before those of the question, the important ones first.

    ``private``: whether the core memory is looked at. ``projects``: keys of those that are worked on; entries of
    others are left out. A file that cannot be read is passed over.
    """
    roles = (LOG, PAGE, PLAIN, CORE) if private else (LOG, PAGE, PLAIN)
    rows = connection.execute(
        "SELECT f.path, c.text FROM chunks c JOIN files f ON f.id = c.file"
        f" WHERE f.role IN ({', '.join('?' * len(roles))}) AND c.text LIKE '%<!--%trigger%:%-->%' ORDER BY f.path",
        roles,
    ).fetchall()
    names = _namer(connection, question, today)
    # Most marks are for another day: a file is read only for one that may be due.
    paths = {path: None for path, text in rows if _may_be_due(text, log_day(path)[0], today, question, names)}
    found: list[DueEntry] = []
    for path in paths:
        try:
            text = read_text(workspace.resolve(path)).text
        except MemoryFault:
            continue
        found += _in_file(text, path, today, question, projects, names)
    found.sort(key=_order)
    asked = [one for one in found if one.due.day is None][:MOST_ASKED]
    return [*(one for one in found if one.due.day is not None), *asked]


def _may_be_due(text: str, written: date | None, today: date, question: str, names: Callable[[str], bool]) -> bool:
    lines = (line for line in text.split("\n") if "<!--" in line)
    return any(due(read_marks(line), today, question, written, names) for line in lines)


def _order(one: DueEntry) -> tuple[bool, int, int, str, int]:
    day = one.due.day
    return day is None, -one.importance, -(day.toordinal() if day else 0), one.path, one.line


def _in_file(
    text: str, path: str, today: date, question: str, projects: Sequence[str], names: Callable[[str], bool]
) -> list[DueEntry]:
    parsed = parse_file(text, path)
    lines = read_lines(text)
    passages: list[Fact | Note] = sorted([*parsed.facts, *parsed.notes], key=lambda one: (one.line, -one.end_line))
    marked: dict[int, list[str]] = {}
    for number, line in enumerate(lines.raw, 1):
        if "<!--" in line and not lines.managed[number - 1] and not lines.fenced[number - 1]:
            at = _entry(passages, lines.plain, lines.raw, number)
            if at is not None:
                marked.setdefault(at, []).append(line)
    found = []
    for at, written in marked.items():
        one, marks = passages[at], read_marks("\n".join(written))
        why = due(marks, today, question, parsed.day, names)
        others = set(marks.projects) - set(projects)
        if why is not None and not others and not marks.superseded:
            said = _said(one)
            if not looks_secret(said):
                importance = marks.importance or IMPORTANCE
                found.append(DueEntry(path, one.line, one.end_line, said, one.id, importance, why))
    return found


def _entry(passages: Sequence[Fact | Note], plain: Sequence[str], raw: Sequence[str], number: int) -> int | None:
    """The entry that a mark on a line belongs to: the innermost around it; for a line of marks alone the one right
    above it, else the one right below."""
    around = [at for at, one in enumerate(passages) if one.line <= number <= one.end_line]
    if around or plain[number - 1].strip():
        return around[-1] if around else None
    for step, ends in ((-1, "end_line"), (1, "line")):
        at = number + step
        while 0 < at <= len(raw) and raw[at - 1].strip() and not plain[at - 1].strip():
            at += step
        beside = [number for number, one in enumerate(passages) if getattr(one, ends) == at]
        if beside:
            return beside[-1]
    return None


def _said(one: Fact | Note) -> str:
    details = one.details if isinstance(one, Fact) else ()
    text = " ".join(" ".join([one.text, *details]).split())
    missing = [name for name in one.entities if name.casefold() not in text.casefold()]
    return f"{', '.join(missing)}: {text}" if missing else text


def _namer(connection: Connection, question: str, today: date) -> Callable[[str], bool]:
    """Whether the question names the entity that a phrase names, by any of its names."""
    if not question:
        return lambda phrase: False
    words = read_question(question, today).words
    asked = {slug for slug, _ in named_in(connection, words)}
    for word in words:
        split = characters(word)
        asked |= {slug for slug, _ in named_in(connection, split, 8)} if split else set()

    def names(phrase: str) -> bool:
        slug = fold(phrase.strip().lstrip("@").strip('"“”[]'))
        return bool(slug) and resolve(connection, [slug]).get(slug) in asked

    return names if asked else lambda phrase: False
