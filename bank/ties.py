"""Which entities are named together, by which passages, and what that is worth.

Newman's weighting (2001) of people who write papers together: a passage that names n entities is worth one tie to each
of them, shared among the n - 1 others, so that a list of many says less of any two than a sentence about just them.
Time plays no part. Worths are whole numbers of 1/55440, which is exact for up to twelve entities: sums are then the
same in whatever order they were made.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import combinations, groupby
from operator import itemgetter
from typing import NamedTuple

from .driver import Connection
from .entities import resolve

#: What a fact about two entities is worth; a note is worth half of it. A multiple of 2 · lcm(1 … 11).
FACT = 55440
NOTE = FACT // 2
#: A passage that names more entities than this ties none of them: it is a list.
MOST_NAMED = 12

#: Two slugs, the smaller first.
Pair = tuple[str, str]


class Place(NamedTuple):
    """One place where something is said: the passage's key and id, whether it is a note, and the entities that it names
    (2 to 12 slugs, sorted)."""

    key: str
    is_note: bool
    passage: int
    entities: tuple[str, ...]

    @property
    def worth(self) -> int:
        """What each pair of its entities gets."""
        return (NOTE if self.is_note else FACT) // (len(self.entities) - 1)


class Evidence(NamedTuple):
    """What joins two entities: how many facts and notes (repeats count once), and the passage that says most of just
    these two."""

    facts: int
    notes: int
    passage: int


def meanings(connection: Connection) -> dict[str, str | None]:
    """The folded names that mean another entity than the one of that name (None: no single one)."""
    aliases = connection.execute("SELECT DISTINCT slug FROM names WHERE page <> '' AND slug <> page").fetchall()
    means = resolve(connection, [row[0] for row in aliases])
    return {slug: meant for slug, meant in sorted(means.items()) if meant != slug}


def places(connection: Connection, means: dict[str, str | None]) -> Iterator[Place]:
    """All places that tie entities, ordered by key."""
    return _read(connection, means, "SELECT passage FROM mentions GROUP BY passage HAVING count(*) > 1", ())


def places_among(connection: Connection, means: dict[str, str | None], entities: Iterable[str]) -> Iterator[Place]:
    """The places that name at least two of some entities (as many as an SQL statement takes), ordered by key."""
    names = [name for names in names_of(means, entities).values() for name in names]
    among = f"SELECT passage FROM mentions WHERE slug IN ({_marks(names)}) GROUP BY passage HAVING count(*) > 1"
    return _read(connection, means, among, names)


def tie(connection: Connection, means: dict[str, str | None], pair: Pair) -> int:
    """The worth of one pair, as ``ties`` gives it."""
    own = names_of(means, pair)
    if not own[pair[0]] or not own[pair[1]]:
        return 0
    rarer, other = sorted(own.values(), key=lambda names: _uses(connection, names))
    both = (
        "SELECT DISTINCT x.passage FROM mentions x CROSS JOIN mentions y ON y.passage = x.passage"
        f" WHERE x.slug IN ({_marks(rarer)}) AND y.slug IN ({_marks(other)})"
    )
    return ties(_read(connection, means, both, [*rarer, *other])).get(pair, 0)


def ties(said: Iterable[Place]) -> dict[Pair, int]:
    """The worth of each pair that some place names: for each key what its best place is worth."""
    found: dict[Pair, int] = {}
    for _, same in groupby(said, key=itemgetter(0)):
        for pair, worth in _best(same).items():
            found[pair] = found.get(pair, 0) + worth
    return found


def _best(same: Iterable[Place]) -> dict[Pair, int]:
    best: dict[Pair, int] = {}
    for place in same:
        worth = place.worth
        for pair in combinations(place.entities, 2):
            if worth > best.get(pair, 0):
                best[pair] = worth
    return best


def evidence(connection: Connection, said: Iterable[Place], wanted: Container[Pair]) -> dict[Pair, Evidence]:
    """What joins each wanted pair. The passage is the worthiest, of equal ones the newest, then the first by place."""
    counts: dict[Pair, list[int]] = {}
    found: dict[Pair, list[Place]] = {}
    for _, same in groupby(said, key=itemgetter(0)):
        counted: set[Pair] = set()
        for place in same:
            for pair in combinations(place.entities, 2):
                if pair not in wanted:
                    continue
                if pair not in counted:
                    counted.add(pair)
                    counts.setdefault(pair, [0, 0])[place.is_note] += 1
                best = found.setdefault(pair, [place])
                if place.worth > best[0].worth:
                    best[:] = [place]
                elif place.worth == best[0].worth and place is not best[0]:
                    best.append(place)
    order = _order(connection, {place.passage for best in found.values() for place in best})
    newest = {pair: min((place.passage for place in best), key=order.__getitem__) for pair, best in found.items()}
    return {pair: Evidence(facts, notes, newest[pair]) for pair, (facts, notes) in counts.items()}


def _order(connection: Connection, passages: Iterable[int]) -> dict[int, tuple[int, str, int, int]]:
    wanted = sorted(passages)
    found: dict[int, tuple[int, str, int, int]] = {}
    for start in range(0, len(wanted), 500):
        part = wanted[start : start + 500]
        rows = connection.execute(
            "SELECT p.id, -coalesce(p.day, p.last, 0), f.path, p.line, p.position FROM passages p"
            f" JOIN files f ON f.id = p.file WHERE p.id IN ({_marks(part)})",
            part,
        )
        found.update((row[0], row[1:]) for row in rows)
    return found


def names_of(means: dict[str, str | None], entities: Iterable[str]) -> dict[str, list[str]]:
    """Each entity's folded names that mention it; none for a name that means another entity."""
    found = {slug: [] if slug in means else [slug] for slug in entities}
    for name, meant in means.items():
        if meant is not None and found.get(meant):
            found[meant].append(name)
    return found


def _read(
    connection: Connection, means: dict[str, str | None], passages: str, values: Sequence[str]
) -> Iterator[Place]:
    rows = connection.execute(
        "SELECT p.key, p.kind = 'note', p.id, m.slug FROM mentions m JOIN passages p ON p.id = m.passage"
        f" WHERE m.passage IN ({passages}) ORDER BY p.key, p.id",
        values,
    )
    for (key, is_note, passage), mentions in groupby(rows, key=itemgetter(0, 1, 2)):
        entities = {means.get(row[3], row[3]) for row in mentions}
        named = sorted(slug for slug in entities if slug is not None)
        if 2 <= len(named) <= MOST_NAMED:
            yield Place(key, bool(is_note), passage, tuple(named))


def _uses(connection: Connection, names: Sequence[str]) -> int:
    row = connection.execute(f"SELECT count(*) FROM mentions WHERE slug IN ({_marks(names)})", names).fetchone()
    return int(row[0])


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
