"""A part of the entity graph to be shown: its entities, its edges, and for each edge the passage that says most of it.

For people and for exports; a question reads ``neighbours``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from .driver import Connection
from .entities import all_entities, entity
from .neighbours import neighbours
from .ties import FACT, Pair, evidence, meanings, places, places_among

#: From so many entities on, evidence is looked for in all passages at once.
_MANY = 100
_DIGITS = 6


class Node(NamedTuple):
    """An entity. ``degree``: how many it is named together with. ``strength``: the sum of its edges' weights.

    Seen from an entity, else None: ``steps``: how many edges lie between; ``nearness``: as ``neighbours`` has it, None
    where it is not among the nearest.
    """

    slug: str
    name: str
    degree: int
    strength: float
    steps: int | None
    nearness: float | None


class Edge(NamedTuple):
    """Two entities, the smaller slug first. ``weight``: 1 for each fact that names just these two, less for notes and
    for what names more. ``facts``, ``notes``: how many join them, repeats counted once. Then one of these: where it
    stands, and its text."""

    one: str
    other: str
    weight: float
    facts: int
    notes: int
    path: str
    line: int
    end_line: int
    text: str


class Subgraph(NamedTuple):
    """``omitted``: how many entities a limit left out. Edges are ordered by weight, the strongest first."""

    nodes: list[Node]
    edges: list[Edge]
    omitted: int


class Extent(NamedTuple):
    """How large the whole graph is. ``components``: the sizes of its connected parts, largest first; entities without
    an edge are not counted there."""

    entities: int
    edges: int
    components: list[int]


def whole(connection: Connection, limit: int | None = None) -> Subgraph:
    """All entities, those with the strongest edges first, or so many of them."""
    means = meanings(connection)
    names = _names(connection, means)
    linked = _linked(connection, names)
    order = sorted(names, key=lambda slug: (-linked[slug][1], slug))
    shown = order[:limit]
    nodes = [Node(slug, names[slug], *_told(linked[slug]), None, None) for slug in shown]
    return Subgraph(nodes, _edges(connection, means, shown), len(order) - len(shown))


def around(connection: Connection, slug: str, depth: int, limit: int | None = None) -> Subgraph:
    """An entity and those at most ``depth`` steps from it, the nearest first, or so many of them."""
    near = dict(neighbours(connection, slug))
    steps, weights = _reached(connection, slug, depth)
    order = sorted(steps, key=lambda other: (steps[other], -near.get(other, 0.0), -weights[other], other))
    shown = order[: None if limit is None else limit + 1]
    linked = _linked(connection, shown)
    nodes = [
        Node(other, entity(connection, other).name, *_told(linked[other]), steps[other], near.get(other))
        for other in shown
    ]
    return Subgraph(nodes, _edges(connection, meanings(connection), shown), len(order) - len(shown))


def extent(connection: Connection) -> Extent:
    """How large the whole graph is."""
    import networkx

    pairs = connection.execute("SELECT slug, other FROM edges WHERE slug < other ORDER BY slug, other").fetchall()
    sizes = sorted(map(len, networkx.connected_components(networkx.Graph(pairs))), reverse=True)
    return Extent(len(_names(connection, meanings(connection))), len(pairs), sizes)


def leading_edges(part: Subgraph) -> dict[str, Edge]:
    """For each entity of what ``around`` gives the strongest edge that leads a step back."""
    steps = {node.slug: node.steps or 0 for node in part.nodes}
    found: dict[str, Edge] = {}
    for edge in part.edges:
        for here, there in ((edge.one, edge.other), (edge.other, edge.one)):
            if steps[there] < steps[here]:
                found.setdefault(here, edge)
    return found


def _names(connection: Connection, means: Mapping[str, str | None]) -> dict[str, str]:
    """Every entity's name. A name that several pages claim means none of them and is no entity."""
    return {slug: name for slug, name, _, _ in all_entities(connection) if slug not in means}


def _linked(connection: Connection, slugs: Iterable[str]) -> dict[str, tuple[int, int]]:
    """The degree and the summed weight (in units of ``ties``) of each entity."""
    wanted = list(slugs)
    if len(wanted) > _MANY:
        rows = connection.execute("SELECT slug, count(*), sum(weight) FROM edges GROUP BY slug").fetchall()
    else:
        one = "SELECT slug, count(*), sum(weight) FROM edges WHERE slug = ? GROUP BY slug"
        rows = [row for slug in wanted for row in connection.execute(one, (slug,))]
    return dict.fromkeys(wanted, (0, 0)) | {slug: (degree, weight) for slug, degree, weight in rows}


def _told(linked: tuple[int, int]) -> tuple[int, float]:
    return linked[0], _weight(linked[1])


def _weight(units: int) -> float:
    return round(units / FACT, _DIGITS)


def _reached(connection: Connection, start: str, depth: int) -> tuple[dict[str, int], dict[str, int]]:
    """For each entity at most ``depth`` steps away: how many, and the largest weight of an edge on the last step."""
    steps, weights = {start: 0}, {start: 0}
    edge = [start]
    for step in range(1, depth + 1):
        reached: dict[str, int] = {}
        for slug in edge:
            for other, weight in connection.execute("SELECT other, weight FROM edges WHERE slug = ?", (slug,)):
                if other not in steps:
                    reached[other] = max(weight, reached.get(other, 0))
        steps |= dict.fromkeys(reached, step)
        weights |= reached
        edge = sorted(reached)
        if not edge:
            break
    return steps, weights


def _edges(connection: Connection, means: dict[str, str | None], slugs: Sequence[str]) -> list[Edge]:
    """The edges between some entities."""
    shown = set(slugs)
    weights: dict[Pair, int] = {}
    for slug in slugs:
        for other, weight in connection.execute("SELECT other, weight FROM edges WHERE slug = ?", (slug,)):
            if slug < other and other in shown:
                weights[slug, other] = weight
    said = places(connection, means) if len(slugs) > _MANY else places_among(connection, means, slugs)
    joined = evidence(connection, said, weights.keys())
    found = []
    for (one, other), weight in weights.items():
        facts, notes, passage = joined[one, other]
        place = connection.execute(
            "SELECT f.path, p.line, p.end_line, p.text FROM passages p JOIN files f ON f.id = p.file WHERE p.id = ?",
            (passage,),
        ).fetchone()
        found.append(Edge(one, other, _weight(weight), facts, notes, *place))
    return sorted(found, key=lambda edge: (-edge.weight, edge.one, edge.other))
