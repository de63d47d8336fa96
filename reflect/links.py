"""What facts say of each other outright, as links between ids: written in the logs, or confirmed by a person."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import NamedTuple

from ..bank.driver import Connection
from ..bank.targets import find_targets
from ..parsers.relations import parse_target

SUPPORTS, CONTRADICTS, REPLACES, RETRACTS, RESTATES = "supports", "contradicts", "replaces", "retracts", "restates"


class Link(NamedTuple):
    """``source``, ``target``: ids. ``kind``: supports, contradicts, replaces, retracts or restates. ``strong``: said to
    be so. ``confirmed``: by a ticked box, not in the fact itself. ``path``, ``line``, ``day``: where it is said."""

    source: str
    kind: str
    target: str
    strong: bool
    confirmed: bool
    path: str
    line: int
    day: date | None


class Dangling(NamedTuple):
    """A link that points at nothing, or at several things."""

    path: str
    line: int
    message: str


def read_links(connection: Connection) -> tuple[list[Link], list[Dangling]]:
    """All links that facts in the index carry, by place, and those that lead nowhere."""
    links: list[Link] = []
    dangling: list[Dangling] = []
    rows = connection.execute(
        "SELECT p.key, r.kind, r.target, r.strong, f.path, p.line, p.day FROM relations r JOIN passages p"
        " ON p.id = r.passage JOIN files f ON f.id = p.file ORDER BY f.path, p.line, r.kind, r.target"
    ).fetchall()
    for source, kind, written, strong, path, line, day in rows:
        target = parse_target(written)
        found = find_targets(connection, target) if target else []
        found = [key for key in found if key != source or kind == RESTATES]
        if len(found) == 1:
            when = date.fromordinal(day) if day else None
            links.append(Link(source, kind, found[0], bool(strong), False, path, line, when))
        elif kind != RESTATES:
            # An anchor on a line of a page outlives what it was written for; the line then stands for itself.
            what = f"{len(found)} facts" if found else "no fact"
            dangling.append(Dangling(path, line, f"({kind} {written}) points at {what}; name one by its id"))
    return links, dangling


def by_target(links: Iterable[Link]) -> dict[str, list[Link]]:
    """The links by the id that they point at, each list in the order given."""
    found: dict[str, list[Link]] = {}
    for link in links:
        found.setdefault(link.target, []).append(link)
    return found
