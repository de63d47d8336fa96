"""Where answers may stand: passages by words, by entity and by time, and chunks for the section as a whole.

Everything is ordered by what the passages say and where they stand, never by row numbers, so that an index built anew
gives the same candidates as one that grew.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..bank.driver import Connection
from ..bank.terms import COLUMN_WEIGHTS
from .filters import Condition

#: How many candidates each channel gives.
CHANNEL_SIZE = 100
#: How many chunks lend their score to the passages in them.
CHUNKS = 40
_TIES = 2000
_COLUMNS = (
    "p.id, p.key, p.kind, p.origin, p.text, p.details, f.path, p.line, p.end_line, p.day, p.first, p.last, p.precision,"
    " p.timely, p.spans, p.heading, p.confidence, p.entities, p.evidence, p.position, p.file"
)


class Passage(NamedTuple):
    """A candidate as stored; days are proleptic ordinals, ``spans``, ``entities``, ``evidence`` JSON."""

    id: int
    key: str
    kind: str
    origin: str
    text: str
    details: str
    path: str
    line: int
    end_line: int
    day: int | None
    first: int | None
    last: int | None
    precision: str | None
    timely: int
    spans: str
    heading: str
    confidence: float | None
    entities: str
    evidence: str
    position: int
    file: int

    @property
    def place(self) -> tuple[str, int, int]:
        return self.path, self.line, self.position


def by_words(connection: Connection, match: str, where: Condition, size: int = CHANNEL_SIZE) -> dict[int, float]:
    """The best passages for an FTS5 expression: id to bm25 (larger is better), context and names counted less."""
    rank = f"bm25(passage_terms, {', '.join(map(str, COLUMN_WEIGHTS))})"
    joined = (
        f" JOIN passages p ON p.id = passage_terms.rowid JOIN files f ON f.id = p.file AND {where.sql}"
        if where.sql
        else ""
    )
    query = f"SELECT passage_terms.rowid, {rank} AS s FROM passage_terms{joined} WHERE passage_terms MATCH ?"
    values = (*where.parameters, match)
    rows = connection.execute(f"{query} ORDER BY s LIMIT ?", (*values, size + 1)).fetchall()
    if len(rows) > size and rows[size][1] == rows[size - 1][1]:
        rows = _with_ties(connection, query, values, rows, size)
    return {key: -score for key, score in rows[:size]}


def _with_ties(
    connection: Connection, query: str, values: tuple[object, ...], rows: list[Any], size: int
) -> list[tuple[int, float]]:
    """Where the last places are shared, give them by place in the workspace and not by row number."""
    cut = rows[size - 1][1]
    better = [row for row in rows if row[1] < cut]
    tied = connection.execute(
        "SELECT t.rowid, t.s FROM (" + query.replace("passage_terms.rowid,", "passage_terms.rowid AS rowid,") + ") t"
        " JOIN passages o ON o.id = t.rowid JOIN files g ON g.id = o.file WHERE t.s = ?"
        " ORDER BY g.path, o.line, o.position LIMIT ?",
        (*values, cut, size),
    ).fetchall()
    return [*better, *tied][:size]


class Chunk(NamedTuple):
    """A chunk that holds words of the question; ``score``: its bm25, larger is better."""

    id: int
    file: int
    path: str
    line: int
    end_line: int
    text: str
    score: float


def by_chunks(connection: Connection, match: str) -> list[Chunk]:
    """The best chunks for an FTS5 expression, and all that are as good as the last of them."""
    scored = "SELECT rowid, bm25(chunk_terms) AS s FROM chunk_terms WHERE chunk_terms MATCH ?"
    last = connection.execute(f"{scored} ORDER BY s LIMIT 1 OFFSET ?", (match, CHUNKS - 1)).fetchone()
    rows = connection.execute(
        f"SELECT c.id, c.file, f.path, c.line, c.end_line, c.text, -t.s FROM ({scored}) t"
        " JOIN chunks c ON c.id = t.rowid JOIN files f ON f.id = c.file WHERE t.s <= ?"
        " ORDER BY t.s, f.path, c.line LIMIT ?",
        (match, last[1] if last else 0.0, _TIES),
    )
    return [Chunk(*row) for row in rows]


def by_entity(connection: Connection, about: str, names: Sequence[object], where: Condition) -> list[int]:
    """Passages by or about an entity, typed facts first, then the newest."""
    return _listed(connection, about, names, where)


def by_time(connection: Connection, first: int, last: int, where: Condition) -> list[int]:
    """Passages of the days ``first`` to ``last`` (ordinals), or that speak of them, typed facts first."""
    sql = (
        "(p.day BETWEEN ? AND ? OR p.id IN (SELECT passage FROM spans WHERE first BETWEEN ? AND ? AND last <= ?)"
        " OR (p.first <= ? AND p.last >= ?))"
    )
    return _listed(connection, sql, [first, last, first, last, last, first, last], where)


def newest(connection: Connection, where: Condition) -> list[int]:
    """The newest passages that pass the filters: what filters alone, without a word, ask for."""
    return _listed(connection, "1", [], where)


def _listed(connection: Connection, sql: str, values: Sequence[object], where: Condition) -> list[int]:
    condition = f"{sql} AND {where.sql}" if where.sql else sql
    rows = connection.execute(
        f"SELECT p.id FROM passages p JOIN files f ON f.id = p.file WHERE {condition}"
        " ORDER BY p.kind = 'note', coalesce(p.day, p.last, 0) DESC, f.path, p.line, p.position LIMIT ?",
        (*values, *where.parameters, CHANNEL_SIZE),
    )
    return [row[0] for row in rows]


def load(connection: Connection, ids: Iterable[int]) -> list[Passage]:
    """The candidates themselves, in the order of their places."""
    wanted = list(ids)
    found: list[Passage] = []
    for start in range(0, len(wanted), 500):
        part = wanted[start : start + 500]
        marks = ", ".join("?" * len(part))
        rows = connection.execute(
            f"SELECT {_COLUMNS} FROM passages p JOIN files f ON f.id = p.file WHERE p.id IN ({marks})", part
        )
        found += [Passage(*row) for row in rows]
    return sorted(found, key=lambda passage: passage.place)


def places_of(connection: Connection, keys: Iterable[str], where: Condition) -> dict[str, list[tuple[str, int, int]]]:
    """All places (path, line, end line) where each thing is said that pass the filters."""
    also = f" AND {where.sql}" if where.sql else ""
    wanted = list(keys)
    found: dict[str, list[tuple[str, int, int]]] = {}
    for start in range(0, len(wanted), 500):
        part = wanted[start : start + 500]
        rows = connection.execute(
            "SELECT p.key, f.path, p.line, p.end_line FROM passages p JOIN files f ON f.id = p.file"
            f" WHERE p.key IN ({', '.join('?' * len(part))}){also} ORDER BY f.path, p.line, p.position",
            (*part, *where.parameters),
        )
        for key, path, line, end_line in rows:
            found.setdefault(key, []).append((path, line, end_line))
    return found
