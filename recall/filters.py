"""Hard filters: what a passage must satisfy to be an answer at all, as SQL over ``passages p`` and ``files f``."""

from datetime import date, datetime, timedelta
from typing import NamedTuple

from ..bank.driver import Connection
from ..bank.entities import entity, resolve
from ..bank.errors import UsageFault
from ..parsers.names import fold
from ..parsers.records import KINDS, Interval
from ..parsers.scripts import spaced
from ..parsers.times import parse_when
from .name_pattern import name_pattern
from .question import quoted

#: How far around a day ``--around`` looks, in days; around anything longer, its own length again on both sides.
AROUND_DAYS = 7
#: What an opinion without a stated confidence counts as.
PRIOR_CONFIDENCE = 0.60


class Filters(NamedTuple):
    """``since``, ``until``: the passage's day, or when it says that it happened, lies in between (both included).
    ``as_of``: nothing from later days. ``around``: an interval; near it only. ``entity``: by or about it. ``kinds``:
    any of them. ``min_confidence``: opinions below it are left out. ``source``: the file's path starts with it."""

    since: date | None = None
    until: date | None = None
    as_of: date | None = None
    around: Interval | None = None
    entity: str = ""
    kinds: tuple[str, ...] = ()
    min_confidence: float | None = None
    source: str = ""


_KIND_LETTERS = {"w": "world", "b": "experience", "o": "opinion", "s": "observation", "n": "note", "e": "experience"}


def make_filters(
    now: datetime,
    *,
    since: str = "",
    until: str = "",
    as_of: str = "",
    around: str = "",
    entity: str = "",
    kind: str = "",
    min_confidence: float | None = None,
    source: str = "",
) -> Filters:
    """Filters from what a person writes (``30d``, ``last week``, ``2025-11-27``; kinds by name or letter, joined by
    commas). Raises ``UsageFault`` naming the option."""
    for option, text in (("--entity", entity), ("--source", source)):
        if not text.isprintable() and any("\ud800" <= char <= "\udfff" for char in text):
            raise UsageFault(f"{option}: not UTF-8", remedy="write it in UTF-8")
    given = {"since": since, "until": until, "as-of": as_of, "around": around}
    days: dict[str, Interval] = {}
    for option, value in given.items():
        if value:
            try:
                days[option] = parse_when(value, now)
            except ValueError as error:
                raise UsageFault(f"--{option} {value!r}: {error}") from None
    if min_confidence is not None and not 0 <= min_confidence <= 1:
        raise UsageFault(f"--min-confidence {min_confidence}: must be from 0 to 1")
    first = days["since"].first if "since" in days else None
    last = days["until"].last if "until" in days else None
    if first and last and first > last:
        raise UsageFault(f"--since {since} is after --until {until}", remedy="swap them")
    return Filters(
        first,
        last,
        days["as-of"].last if "as-of" in days else None,
        days.get("around"),
        entity.strip(),
        _kinds(kind),
        min_confidence,
        source.strip().removeprefix("./"),
    )


def _kinds(given: str) -> tuple[str, ...]:
    found = []
    for part in filter(None, (p.strip().casefold() for p in given.split(","))):
        kind = _KIND_LETTERS.get(part, part.removesuffix("s"))
        if kind not in KINDS:
            raise UsageFault(f"--kind {part!r}: no such kind", remedy=f"use {', '.join(KINDS)} (or W, B, O, S, N)")
        found.append(kind)
    if given and not found:
        raise UsageFault(f"--kind {given!r}: names no kind", remedy=f"use {', '.join(KINDS)}")
    return tuple(dict.fromkeys(found))


class Condition(NamedTuple):
    """An SQL condition ("" for none) with its parameters."""

    sql: str
    parameters: tuple[object, ...]


def condition(filters: Filters, connection: Connection) -> Condition:
    """The filters as one SQL condition over ``p`` (passages) and ``f`` (files)."""
    parts: list[str] = []
    values: list[object] = []
    for first, last in ((filters.since, filters.until), _around(filters.around)):
        if first is None and last is None:
            continue
        low = first.toordinal() if first else 0
        high = last.toordinal() if last else date.max.toordinal()
        parts.append("(p.day BETWEEN ? AND ? OR (p.first <= ? AND p.last >= ?))")
        values += [low, high, high, low]
    if filters.as_of:
        parts.append("(p.day IS NULL OR p.day <= ?)")
        values.append(filters.as_of.toordinal())
    if filters.kinds:
        parts.append(f"p.kind IN ({', '.join('?' * len(filters.kinds))})")
        values += filters.kinds
    if filters.min_confidence is not None:
        parts.append(
            "(CASE p.kind WHEN 'opinion' THEN"
            " coalesce((SELECT max(j.confidence) FROM judgements j WHERE j.key = p.key), p.confidence, ?)"
            " ELSE coalesce(p.confidence, 1) END >= ?)"
        )
        values += [PRIOR_CONFIDENCE, filters.min_confidence]
    if filters.source:
        parts.append("substr(f.path, 1, ?) = ?")
        values += [len(filters.source), filters.source]
    if filters.entity:
        sql, names = about(connection, filters.entity)
        parts.append(sql)
        values += names
    return Condition(" AND ".join(parts), tuple(values))


def about(connection: Connection, name: str) -> tuple[str, list[object]]:
    """The condition that a passage mentions an entity or names it in its text."""
    meant = resolve(connection, [fold(name)]).get(fold(name))
    known = entity(connection, meant) if meant else None
    slugs = known.slugs if known else (fold(name),)
    match = " OR ".join(dict.fromkeys(quoted(spaced(n)) for n in (known.names if known else (name,))))
    # FTS5 finds stems ("marking" for Mark); the names themselves have to be there.
    pattern = name_pattern(known.names if known else (name,))
    names_it = f"names_{abs(hash(slugs))}"
    connection.create_function(names_it, 2, lambda text, details: bool(pattern.search(f"{text}\n{details}")))
    sql = (
        f"(p.id IN (SELECT passage FROM mentions WHERE slug IN ({', '.join('?' * len(slugs))}))"
        " OR (p.id IN (SELECT rowid FROM passage_terms WHERE passage_terms MATCH ?)"
        f" AND {names_it}(p.text, p.details)))"
    )
    return sql, [*slugs, f"text : ({match})"]


def _around(interval: Interval | None) -> tuple[date | None, date | None]:
    if interval is None:
        return None, None
    reach = timedelta(days=max(AROUND_DAYS, (interval.last - interval.first).days))
    try:
        return interval.first - reach, interval.last + reach
    except OverflowError:
        return interval.first, interval.last
