"""What reflect works on: typed facts as the index holds them, one record for each thing said, with all its places."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import NamedTuple

from ..bank.driver import Connection
from ..parsers.days import PAGE
from ..parsers.names import fold
from ..parsers.records import Interval, Relation

#: What stands below an opinion that a tool keeps books on.
_LEDGER_DETAIL = re.compile(r"^(?:last[ _-]?updated|supports|contradicts)\s*:", re.IGNORECASE | re.MULTILINE)
#: How many values one SQL statement takes.
_BATCH = 500


class Place(NamedTuple):
    """One place where a thing is said. ``line``, ``end_line``: 1-based. ``day``: of its log, or of the dated heading
    above it. ``role``: log, page or core. ``confidence``: as stated there. ``is_ledger``: it is what another tool has
    worked out, with its evidence below it, not what somebody states. ``relations``: what it says of others there."""

    path: str
    line: int
    end_line: int
    day: date | None
    role: str
    confidence: float | None
    is_ledger: bool = False
    relations: tuple[Relation, ...] = ()

    @property
    def citation(self) -> str:
        return f"{self.path}#L{self.line}"

    @property
    def order(self) -> tuple[int, str, int]:
        """By day (undated first), then by place."""
        return (self.day.toordinal() if self.day else 0, self.path, self.line)


class Statement(NamedTuple):
    """One thing said. ``kind``: world, experience, opinion or observation. ``leads``: the slugs of the entities it is
    about, as the workspace resolves names, in the order of the bullet; ``slugs``: with those mentioned in passing.
    ``names``: as written, leading ones first. ``places``: by day and place, never empty."""

    id: str
    kind: str
    text: str
    details: str
    names: tuple[str, ...]
    leads: tuple[str, ...]
    slugs: tuple[str, ...]
    occurred: Interval | None
    places: tuple[Place, ...]

    @property
    def first(self) -> Place:
        """Where it was said first: dated places before undated ones."""
        return next((place for place in self.places if place.day), self.places[0])

    @property
    def last(self) -> Place:
        return self.places[-1]

    @property
    def day(self) -> date | None:
        """The day on which it was said first."""
        return self.first.day

    @property
    def happened(self) -> date | None:
        """When what it tells began: the day that it names, else the day of its log."""
        if self.occurred and (self.day is None or self.occurred.first <= self.day):
            return self.occurred.first
        return self.day

    @property
    def order(self) -> tuple[int, str, int]:
        return self.first.order


def load(connection: Connection, means: dict[str, str | None], slugs: Iterable[str]) -> list[Statement]:
    """The facts that mention any of these entities, ordered by their first place.

    ``means``: the folded names that mean another entity than the one of that name (``bank.ties.meanings``).
    """
    wanted = sorted(set(slugs))
    names = {slug for slug, meant in means.items() if meant in wanted} | {s for s in wanted if means.get(s, s) == s}
    ids: set[int] = set()
    for part in _batches(sorted(names)):
        marks = ", ".join("?" * len(part))
        ids.update(r[0] for r in connection.execute(f"SELECT passage FROM mentions WHERE slug IN ({marks})", part))
    return _statements(connection, means, _keys(connection, sorted(ids)))


def load_nameless(connection: Connection, means: dict[str, str | None]) -> list[Statement]:
    """The facts that mention no entity, ordered by their first place."""
    rows = connection.execute(
        "SELECT DISTINCT key FROM passages p WHERE kind <> 'note' AND origin = 'stated'"
        " AND NOT EXISTS (SELECT 1 FROM mentions m WHERE m.passage = p.id)"
    )
    return _statements(connection, means, sorted(row[0] for row in rows))


def load_ids(connection: Connection, means: dict[str, str | None], ids: Iterable[str]) -> list[Statement]:
    """The facts of these ids that are there, ordered by their first place."""
    return _statements(connection, means, sorted(set(ids)))


def _keys(connection: Connection, ids: Sequence[int]) -> list[str]:
    keys: set[str] = set()
    for part in _batches(ids):
        marks = ", ".join("?" * len(part))
        rows = connection.execute(
            f"SELECT key FROM passages WHERE id IN ({marks}) AND kind <> 'note' AND origin = 'stated'", part
        )
        keys.update(row[0] for row in rows)
    return sorted(keys)


def _statements(connection: Connection, means: dict[str, str | None], keys: Sequence[str]) -> list[Statement]:
    said: dict[str, list[Place]] = {}
    first: dict[str, tuple[tuple[int, int, str, int], tuple[object, ...]]] = {}
    for part in _batches(keys):
        marks = ", ".join("?" * len(part))
        linked: dict[int, list[Relation]] = {}
        for passage, kind, target, strong in connection.execute(
            "SELECT r.passage, r.kind, r.target, r.strong FROM relations r JOIN passages p ON p.id = r.passage"
            f" WHERE p.key IN ({marks}) ORDER BY r.rowid",
            part,
        ):
            linked.setdefault(passage, []).append(Relation(kind, target, bool(strong)))
        rows = connection.execute(
            "SELECT p.id, p.key, f.path, f.role, p.line, p.end_line, p.day, p.confidence, p.kind, p.text, p.details,"
            " p.entities, p.first, p.last, p.precision FROM passages p JOIN files f ON f.id = p.file"
            f" WHERE p.key IN ({marks})",
            part,
        )
        for row in rows:
            day = date.fromordinal(row[6]) if row[6] else None
            ledger = row[3] == PAGE and bool(_LEDGER_DETAIL.search(row[10]))
            place = Place(row[2], row[4], row[5], day, row[3], row[7], ledger, tuple(linked.get(row[0], ())))
            said.setdefault(row[1], []).append(place)
            order = (0 if day else 1, *place.order)
            if row[1] not in first or order < first[row[1]][0]:
                first[row[1]] = (order, row[8:])
    found = [_statement(key, places, first[key][1], means) for key, places in said.items()]
    return sorted(found, key=lambda one: (*one.order, one.id))


def _statement(key: str, places: list[Place], told: tuple[object, ...], means: dict[str, str | None]) -> Statement:
    kind, text, details, entities, first, last, precision = told
    names: list[str] = json.loads(str(entities))
    # A name in the text (behind an @ as well) is a mention in passing: it is not whom the fact is about.
    passing = {name for name in names if f"@{name}" in str(text) or f'@"{name}"' in str(text)}
    own = [os.path.basename(p.path).removesuffix(".md") for p in places if p.role == PAGE and "/entities/" in p.path]
    leads = _meant([*(name for name in names if name not in passing), *own], means)
    slugs = _meant([*names, *own], means)
    when = None
    if isinstance(first, int) and isinstance(last, int):
        when = Interval(date.fromordinal(first), date.fromordinal(last), str(precision))
    ordered = tuple(sorted(places, key=lambda place: place.order))
    return Statement(key, str(kind), str(text), str(details), tuple(names), leads or slugs, slugs, when, ordered)


def _meant(names: Iterable[str], means: dict[str, str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(slug for name in names if (slug := means.get(fold(name), fold(name)))))


def _batches(values: Sequence[object]) -> Iterator[Sequence[object]]:
    return (values[start : start + _BATCH] for start in range(0, len(values), _BATCH))
