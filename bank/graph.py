"""The entity graph: who is named together with whom, and for each entity the ones nearest to it, kept with the index.

``edges`` holds what ``ties`` counts, ``neighbours`` what a walker meets (``pagerank``). Triggers note which passages
came and went, so that a sync works out anew only the pairs named there, and the neighbours of those entities that such
a pair can be seen from. All others say already what a graph built from nothing would say of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import combinations

from .driver import Connection
from .pagerank import walk
from .ties import Pair, meanings, places, tie, ties

#: How many neighbours of each entity are kept.
KEPT = 32
#: How many of its neighbours, the strongest, lead on; one that is linked to more than COMMON leads nowhere. Together
#: they bound what one new fact can change: the neighbours of some fifty entities, each a matter of some 600 edges.
LEADING = 24
COMMON = 24
#: From so many noted mentions on, they are not noted any more: the whole graph is counted again.
MOST_NOTED = 20_000
#: From so many pairs on, counting all of them is quicker than one by one.
_MANY_PAIRS = 400
_DIGITS = 6

#: For the migration. ``graph_changes``: mentions that came (+1) and went (-1) since the graph was brought up to date;
#: ``said``: what the passage says and where, which is what its mentions depend on. Nothing is noted while there is no
#: graph yet. ``edges`` holds each edge from both ends, in units of ``ties``.
TABLES = (
    "CREATE TABLE edges (slug TEXT NOT NULL, other TEXT NOT NULL, weight INTEGER NOT NULL, PRIMARY KEY (slug, other))"
    " WITHOUT ROWID",
    "CREATE TABLE neighbours (slug TEXT NOT NULL, other TEXT NOT NULL, weight REAL NOT NULL, PRIMARY KEY (slug, other))"
    " WITHOUT ROWID",
    "CREATE TABLE graph_changes (id INTEGER PRIMARY KEY, said TEXT NOT NULL, slug TEXT NOT NULL,"
    " change INTEGER NOT NULL)",
    *(
        f"CREATE TRIGGER mentions_{name} AFTER {event} ON mentions"
        " WHEN EXISTS (SELECT 1 FROM meta WHERE key = 'graph')"
        f" AND coalesce((SELECT max(id) FROM graph_changes), 0) < {MOST_NOTED}"
        " BEGIN INSERT INTO graph_changes (said, slug, change)"
        f" SELECT p.key || char(10) || f.path || char(10) || p.entities, {row}.slug, {change}"
        f" FROM passages p JOIN files f ON f.id = p.file WHERE p.id = {row}.passage; END"
        for name, event, row, change in (("added", "INSERT", "new", 1), ("removed", "DELETE", "old", -1))
    ),
)


def refresh(connection: Connection) -> None:
    """Bring the graph up to date with the mentions and names; the caller holds a write transaction."""
    means = meanings(connection)
    names = _digest(means)
    known = connection.execute("SELECT value FROM meta WHERE key = 'graph'").fetchone()
    noted = connection.execute("SELECT said, slug, change FROM graph_changes").fetchall()
    if known == (names,) and not noted:
        return
    pairs = _pairs(noted, means) if known == (names,) and len(noted) < MOST_NOTED else None
    if pairs is None or len(pairs) > _MANY_PAIRS:
        changed = _all_changes(connection, means)
    else:
        changed = _changes(connection, {pair: tie(connection, means, pair) for pair in sorted(pairs)})
    if changed:
        _walk_again(connection, _write_edges(connection, changed))
    connection.execute("DELETE FROM graph_changes")
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('graph', ?)", (names,))


def _digest(means: Mapping[str, str | None]) -> str:
    """What the names meant, so that it is seen when one comes to mean another entity."""
    import hashlib

    return hashlib.sha256(repr(sorted(means.items())).encode("utf-8", "surrogatepass")).hexdigest()


def _pairs(noted: Iterable[tuple[str, str, int]], means: Mapping[str, str | None]) -> set[Pair]:
    """The pairs that passages name which came or went, but not those that were only written again."""
    total: Counter[tuple[str, str]] = Counter()
    for said, slug, change in noted:
        total[said, slug] += change
    named: dict[str, set[str]] = {}
    for (said, slug), change in total.items():
        meant = means.get(slug, slug)
        if change and meant is not None:
            named.setdefault(said, set()).add(meant)
    return {pair for slugs in named.values() for pair in combinations(sorted(slugs), 2)}


def _changes(connection: Connection, weights: Mapping[Pair, int]) -> dict[Pair, int]:
    """Those weights that are not as stored."""
    changed = {}
    for pair, weight in weights.items():
        stored = connection.execute("SELECT weight FROM edges WHERE slug = ? AND other = ?", pair).fetchone()
        if weight != (stored[0] if stored else 0):
            changed[pair] = weight
    return changed


def _all_changes(connection: Connection, means: dict[str, str | None]) -> dict[Pair, int]:
    """All weights that are not as stored, by counting every passage; 0 for an edge that is none any more."""
    changed = ties(places(connection, means))
    for slug, other, weight in connection.execute("SELECT slug, other, weight FROM edges WHERE slug < other"):
        if changed.get((slug, other)) == weight:
            del changed[slug, other]
        else:
            changed.setdefault((slug, other), 0)
    return changed


def _write_edges(connection: Connection, changed: Mapping[Pair, int]) -> list[str]:
    """Store edges, and tell from which entities they are seen: the ends, and what those that lead on are linked to."""
    ends = sorted({slug for pair in changed for slug in pair})
    seen = {*ends, *_led_to(connection, ends)}
    both = [(*ends, weight) for (one, other), weight in changed.items() for ends in ((one, other), (other, one))]
    connection.executemany("DELETE FROM edges WHERE slug = ? AND other = ?", [row[:2] for row in both if not row[2]])
    connection.executemany("INSERT OR REPLACE INTO edges VALUES (?, ?, ?)", sorted(row for row in both if row[2]))
    return sorted(seen.union(_led_to(connection, ends)))


def _led_to(connection: Connection, slugs: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for slug in slugs:
        edges = _edges(connection, slug, COMMON + 1)
        if len(edges) <= COMMON:
            found.update(edges)
    return found


def _edges(connection: Connection, slug: str, most: int = -1) -> dict[str, int]:
    rows = connection.execute("SELECT other, weight FROM edges WHERE slug = ? ORDER BY other LIMIT ?", (slug, most))
    return dict(rows.fetchall())


def _walk_again(connection: Connection, slugs: Iterable[str]) -> None:
    """Work out the neighbours of some entities anew."""

    @lru_cache(4096)
    def leading(slug: str) -> dict[str, int] | None:
        edges = _edges(connection, slug, COMMON + 1)
        return edges if len(edges) <= COMMON else None

    for slug in slugs:
        connection.execute("DELETE FROM neighbours WHERE slug = ?", (slug,))
        own = _edges(connection, slug)
        strongest = sorted(own, key=lambda other: (-own[other], other))[:LEADING]
        led = {other: edges for other in strongest if (edges := leading(other)) is not None}
        rows = [(slug, other, weight) for other, weight in _nearest(walk(slug, own, led))] if own else []
        connection.executemany("INSERT INTO neighbours VALUES (?, ?, ?)", sorted(rows))


def _nearest(met: Mapping[str, float]) -> list[tuple[str, float]]:
    """The most often met, as shares of the first, to six digits; what rounds to nothing is left out."""
    best = sorted(met.items(), key=lambda row: (-row[1], row[0]))[:KEPT]
    weights = [(other, round(share / best[0][1], _DIGITS)) for other, share in best]
    return [row for row in weights if row[1] > 0]
