"""How things stand by now, or stood on a day: an opinion's confidence, since when and until when a fact held.

It is read from what the pages of reflect say (``judgements``), and from facts that say outright that they take the
place of another (``relations``), which counts at once.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..bank.driver import Connection
from ..parsers.records import Interval
from .bundle import Ranked, citation, ordered, with_signal
from .candidates import CHANNEL_SIZE, Passage
from .filters import Condition
from .question import Question

#: An id may be written with as few as so many of its hex digits.
_SHORTEST = len("w-") + 6
_ASKS_STATE = re.compile(
    r"\b(?:true|valid|the case|in force|held|holds?|applied|as of|stood|galt|gegolten|vigente|geçerli)\b", re.IGNORECASE
)


class Standing(NamedTuple):
    """``confidence``: of an opinion by now, None where no page says. ``valid_from``, ``valid_to``: proleptic ordinals,
    the first day on which a fact held and the one on which it held no more. ``superseded_by``: the citation of what
    took its place, "" where nothing did."""

    confidence: float | None
    valid_from: int | None
    valid_to: int | None
    superseded_by: str


def standings(connection: Connection, passages: Sequence[Passage], as_of: int | None = None) -> dict[str, Standing]:
    """How what some passages say stands, by key; nothing for what stands as it was said.

    ``as_of``: an ordinal; what came to an end after that day, or is said after it, is not known yet.
    """
    keys = sorted({passage.key for passage in passages if passage.kind in ("world", "opinion", "experience")})
    found: dict[str, Standing] = {}
    for key, confidence, first, last, successor in _judged(connection, keys):
        if as_of is not None and (last is None or last > as_of):
            continue
        known = found.get(key, Standing(None, None, None, ""))
        if confidence is not None:
            found[key] = known._replace(confidence=confidence)
        elif last is not None and (known.valid_to is None or last < known.valid_to):
            found[key] = known._replace(valid_from=first, valid_to=last, superseded_by=successor)
    for key, source, last in _replaced(connection, passages, as_of):
        known = found.get(key, Standing(None, None, None, ""))
        if known.valid_to is None or not known.superseded_by:
            found[key] = known._replace(valid_to=last, superseded_by=source)
    cited = _citations(connection, sorted({one.superseded_by for one in found.values()} - {""}))
    return {key: one._replace(superseded_by=cited.get(one.superseded_by, "")) for key, one in found.items()}


def _citations(connection: Connection, keys: Sequence[str]) -> dict[str, str]:
    """Where each of some facts was said first, dated places before others."""
    found: dict[str, str] = {}
    for start in range(0, len(keys), 500):
        part = keys[start : start + 500]
        rows = connection.execute(
            "SELECT p.key, f.path, p.line, p.end_line FROM passages p JOIN files f ON f.id = p.file"
            f" WHERE p.key IN ({', '.join('?' * len(part))}) ORDER BY p.day IS NULL, p.day, f.path, p.line",
            part,
        ).fetchall()
        for key, *place in rows:
            found.setdefault(key, citation(*place))
    return found


def _judged(
    connection: Connection, keys: Sequence[str]
) -> Iterable[tuple[str, float | None, int | None, int | None, str]]:
    for start in range(0, len(keys), 500):
        part = keys[start : start + 500]
        yield from connection.execute(
            "SELECT j.key, j.confidence, j.first, j.last, j.successor FROM judgements j JOIN files f ON f.id = j.file"
            f" WHERE j.key IN ({', '.join('?' * len(part))}) ORDER BY j.key, j.last, f.path",
            part,
        ).fetchall()


def _replaced(
    connection: Connection, passages: Sequence[Passage], as_of: int | None
) -> Iterable[tuple[str, str, int | None]]:
    """(key, id of what replaces or retracts it, the day from which that holds) for what facts say outright."""
    if connection.execute("SELECT 1 FROM relations LIMIT 1").fetchone() is None:
        return
    targets: dict[str, str] = {}
    for passage in passages:
        if passage.kind == "world":
            for size in range(_SHORTEST, len(passage.key) + 1):
                targets[passage.key[:size]] = passage.key
            for line in range(passage.line, passage.end_line + 1):
                targets[f"{passage.path}#L{line}"] = passage.key
    wanted = sorted(targets)
    for start in range(0, len(wanted), 500):
        part = wanted[start : start + 500]
        rows = connection.execute(
            "SELECT r.target, p.key, p.day FROM relations r"
            " JOIN passages p ON p.id = r.passage JOIN files f ON f.id = p.file"
            f" WHERE r.target IN ({', '.join('?' * len(part))}) AND r.kind IN ('replaces', 'retracts')"
            " ORDER BY p.day, f.path, p.line",
            part,
        ).fetchall()
        for target, source, day in rows:
            if as_of is None or day is None or day <= as_of:
                yield targets[target], source, day


def asks_state(question: Question) -> Interval | None:
    """The days of which a question asks how things stood ("what was true in November 2025?"), None for others."""
    asked = [time.interval for time in question.times if time.interval]
    return asked[0] if len(asked) == 1 and _ASKS_STATE.search(question.text) else None


def holding(connection: Connection, interval: Interval, where: Condition) -> list[int]:
    """World facts that held at some time in an interval: said by its end, not over before it began; newest first."""
    first, last = interval.first.toordinal(), interval.last.toordinal()
    also = f" AND {where.sql}" if where.sql else ""
    rows = connection.execute(
        "SELECT p.id FROM passages p JOIN files f ON f.id = p.file WHERE p.kind = 'world' AND p.day <= ?"
        " AND (p.first IS NULL OR p.first <= ?) AND NOT EXISTS"
        f" (SELECT 1 FROM judgements j WHERE j.key = p.key AND j.last <= ?){also}"
        " ORDER BY p.day DESC, f.path, p.line, p.position LIMIT ?",
        (last, last, first, *where.parameters, CHANNEL_SIZE),
    )
    return [row[0] for row in rows]


def held_signal(passage: Passage, standing: Standing | None, interval: Interval | None) -> float:
    """1 for a world fact that held in an interval, by what is known of it."""
    if interval is None or passage.kind != "world" or passage.day is None:
        return 0.0
    first, last = interval.first.toordinal(), interval.last.toordinal()
    since = passage.day if passage.first is None else min(passage.day, passage.first)
    over = standing is not None and standing.valid_to is not None and standing.valid_to <= first
    return float(since <= last and not over)


def marked(ranked: Sequence[Ranked], known: dict[str, Standing], interval: Interval | None) -> list[Ranked]:
    """Candidates with what speaks for and against them by how they stand, ordered again."""
    told = []
    for one in ranked:
        standing = known.get(one.passage.key)
        if standing and standing.valid_to is not None and interval is None:
            one = with_signal(one, "superseded", 1.0)
        told.append(with_signal(one, "held", held_signal(one.passage, standing, interval)))
    return ordered(told)
