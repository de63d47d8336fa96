"""What people wrote into the blocks of pages: stated facts from the day on which it was first seen."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from ..bank.driver import Connection
from ..bank.files import decode, read_below
from ..bank.workspace import Workspace
from ..parsers.blocks import fenced_lines, read_blocks
from ..parsers.lines import split_lines
from ..parsers.names import fold
from ..parsers.prefix import parse_typed
from ..parsers.records import Relation
from ..parsers.retain import fact_id
from .state import State
from .statements import Place, Statement

_OPINION = re.compile(
    r"[-*+]\s+(?P<text>\S.*?)(?:\s+c\s*=\s*(?P<c>0?\.\d{1,6}|[01](?:\.0{1,6})?)\b[^()]*)?"
    r"\s*\([^()]*\^(?P<id>o-[0-9a-f]{12})[^()]*\)\s*\.?\s*$"
)
_FACT = re.compile(
    r"[-*+]\s+(?:\d{4}-\d{2}-\d{2}(?:/\d{4}-\d{2}-\d{2})?\s+)?(?P<text>\S.*?)\s*(?:\([^()]*#L\d+[^()]*\))?\s*$"
)


#: The blocks that reflect writes facts into.
OURS = ("entity", "opinions", "world", "experience")


class HandLine(NamedTuple):
    """A line of a person's inside a block. ``path``, ``line`` (1-based), ``text``; ``name``: of the page's entity (""
    on other pages); ``day``: first seen."""

    path: str
    line: int
    text: str
    name: str
    day: date


def read_hand_lines(workspace: Workspace, connection: Connection, state: State, today: date) -> list[HandLine]:
    """What people wrote into the blocks of the pages in the index; ``today``: the day of what no run has seen yet."""
    known = state.hand()
    pages = connection.execute("SELECT path, hash FROM files WHERE role = 'page' ORDER BY path").fetchall()
    found: list[HandLine] = []
    for path, digest in pages:
        mark, rows = known.get(path, ("", []))
        if mark != digest:
            rows = [[line, text, day.isoformat() if day else None] for line, text, day in _their_lines(workspace, path)]
            state.set_hand(path, digest, rows)
        name = posixpath.basename(path).removesuffix(".md") if "/entities/" in path else ""
        for line, text, day in rows:
            found.append(HandLine(path, line, text, name, date.fromisoformat(day) if day else today))
    return found


def _their_lines(workspace: Workspace, path: str) -> Iterator[tuple[int, str, date | None]]:
    try:
        text = decode(read_below(workspace.root, path))
    except OSError:
        return
    if "openclaw-memory:" not in text:
        return
    lines = split_lines(text)
    for block in read_blocks(lines, fenced_lines(lines)):
        if block.name in OURS:
            for one in block.their_lines:
                yield one.line, lines[one.line - 1].strip(), one.day


class HandEdits:
    """All such lines of a workspace."""

    def __init__(self, lines: Iterable[HandLine], means: Mapping[str, str | None]) -> None:
        self.days: dict[tuple[str, int], date] = {}
        self.own: dict[str, list[Statement]] = {}
        for one in lines:
            self.days[one.path, one.line] = one.day
            told = read_line(one)
            if told:
                slug = means.get(told.leads[0], told.leads[0]) or told.leads[0]
                self.own.setdefault(slug, []).append(told._replace(leads=(slug,), slugs=(slug,)))

    def applied(self, statements: Sequence[Statement], slugs: Iterable[str]) -> list[Statement]:
        """Statements with the days of what people wrote into blocks, and what they wrote there of some entities."""
        if not self.days:
            return list(statements)
        dated = [self._dated(one) for one in statements]
        there = {one.id: number for number, one in enumerate(dated)}
        for slug in slugs:
            for told in self.own.get(slug, ()):
                if told.id in there:
                    known = dated[there[told.id]]
                    places = tuple(sorted({*known.places, *told.places}, key=lambda place: place.order))
                    dated[there[told.id]] = known._replace(places=places)
                else:
                    there[told.id] = len(dated)
                    dated.append(told)
        return sorted(dated, key=lambda one: (*one.order, one.id))

    def _dated(self, one: Statement) -> Statement:
        if not any((place.path, place.line) in self.days for place in one.places):
            return one
        places = (place._replace(day=self.days.get((place.path, place.line), place.day)) for place in one.places)
        return one._replace(places=tuple(sorted(places, key=lambda place: place.order)))


def read_line(one: HandLine) -> Statement | None:
    """The opinion or the fact that an untyped line on an entity's page states; None for what is none (a heading, prose,
    a typed line, which the index holds as a fact already)."""
    text = one.text.strip()
    typed = parse_typed(text[1:].strip()) if text[:1] in "-*+" else None
    if not one.name or text[:1] not in ("-", "*", "+") or (typed is not None and not typed.is_empty):
        return None
    opinion = _OPINION.match(text)
    if opinion:
        stated = float(opinion["c"]) if opinion["c"] else None
        anchor = Relation("restates", opinion["id"], False)
        return _statement("opinion", opinion["text"], one, stated, (anchor,))
    fact = _FACT.match(text)
    return _statement("world", fact["text"], one, None, ()) if fact else None


def _statement(kind: str, text: str, one: HandLine, stated: float | None, relations: tuple[Relation, ...]) -> Statement:
    place = Place(one.path, one.line, one.line, one.day, "page", stated, False, relations)
    slug = fold(one.name)
    key = fact_id(kind, [one.name], text)
    return Statement(key, kind, text, "", (one.name,), (slug,), (slug,), None, (place,))
