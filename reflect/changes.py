"""Whose pages the changes since the last run may touch, so that a quiet night works on nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from ..bank.driver import Connection
from .links import Link
from .state import State

#: The slug of what names no entity.
NAMELESS = ""


class Changes(NamedTuple):
    """``slugs``: entities to work on again ("" for facts of none). ``files``: path to (hash, slugs) of the files that
    were added or changed; ``gone``: paths of those that are not there any more. ``latest``: the newest day of a log."""

    slugs: set[str]
    files: dict[str, tuple[str, set[str]]]
    gone: list[str]
    latest: date | None


def changes_since(
    connection: Connection, state: State, means: Mapping[str, str | None], links: Sequence[Link], decided: str
) -> Changes:
    """What changed since the last run. ``decided``: a digest of what people decided on the suggestions page."""
    stored = state.files()
    present = dict(connection.execute("SELECT path, hash FROM files").fetchall())
    touched = sorted(path for path, digest in present.items() if stored.get(path, ("", []))[0] != digest)
    gone = sorted(stored.keys() - present.keys())
    files = {path: (present[path], _slugs_of(connection, path, means)) for path in touched}
    slugs = {slug for _, own in files.values() for slug in own}
    for path in [*touched, *gone]:
        slugs.update(stored.get(path, ("", []))[1])
    slugs |= _renamed(state, means)
    slugs |= _owners(connection, means, _changed_links(state, links))
    latest = _latest(connection)
    slugs |= _aged(connection, state, means, latest)
    if state.meta("decided") != decided:
        slugs |= state.slugs()
    return Changes(slugs, files, gone, latest)


def remember(
    state: State, changes: Changes, means: Mapping[str, str | None], links: Sequence[Link], decided: str
) -> None:
    """Note what this run has worked on."""
    state.set_files(changes.files, changes.gone)
    state.set_meta("means", json.dumps(means, sort_keys=True, ensure_ascii=False))
    state.set_meta("links", json.dumps(sorted(_told(links))))
    state.set_meta("decided", decided)
    state.set_meta("latest", changes.latest.isoformat() if changes.latest else "")


def meant(means: Mapping[str, str | None], slugs: Iterable[str]) -> set[str]:
    """The entities that folded names mean."""
    return {found for slug in slugs if (found := means.get(slug, slug))}


def _slugs_of(connection: Connection, path: str, means: Mapping[str, str | None]) -> set[str]:
    rows = connection.execute(
        "SELECT DISTINCT m.slug FROM files f JOIN passages p ON p.file = f.id JOIN mentions m ON m.passage = p.id"
        " WHERE f.path = ? UNION SELECT n.page FROM files f JOIN names n ON n.file = f.id"
        " WHERE f.path = ? AND n.page <> ''",
        (path, path),
    )
    slugs = meant(means, (row[0] for row in rows))
    nameless = connection.execute(
        "SELECT 1 FROM files f JOIN passages p ON p.file = f.id WHERE f.path = ? AND p.kind <> 'note'"
        " AND NOT EXISTS (SELECT 1 FROM mentions m WHERE m.passage = p.id) LIMIT 1",
        (path,),
    ).fetchone()
    return slugs | {NAMELESS} if nameless else slugs


def _renamed(state: State, means: Mapping[str, str | None]) -> set[str]:
    """The entities on both sides of a name that means another one now."""
    old: dict[str, str | None] = json.loads(state.meta("means") or "{}")
    changed = {slug for slug in old.keys() | means.keys() if old.get(slug, slug) != means.get(slug, slug)}
    return changed | {s for slug in changed for s in (old.get(slug), means.get(slug)) if s}


def _told(links: Iterable[Link]) -> set[tuple[str, ...]]:
    return {
        (one.source, one.kind, one.target, str(int(one.strong)), str(int(one.confirmed)), str(one.day)) for one in links
    }


def _changed_links(state: State, links: Sequence[Link]) -> set[str]:
    """The facts that a link has begun or ceased to point at."""
    old = {tuple(one) for one in json.loads(state.meta("links") or "[]")}
    return {one[2] for one in old ^ _told(links)}


def _owners(connection: Connection, means: Mapping[str, str | None], keys: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for key in sorted(keys):
        rows = connection.execute(
            "SELECT DISTINCT m.slug FROM passages p JOIN mentions m ON m.passage = p.id WHERE p.key = ?", (key,)
        ).fetchall()
        found |= meant(means, (row[0] for row in rows)) or {NAMELESS}
    return found


def _latest(connection: Connection) -> date | None:
    row = connection.execute("SELECT max(day) FROM files WHERE role = 'log'").fetchone()
    return date.fromordinal(row[0]) if row[0] else None


def _aged(connection: Connection, state: State, means: Mapping[str, str | None], latest: date | None) -> set[str]:
    """The entities of facts that lie in the past since the newest day moved on, or whose month is over."""
    known = state.meta("latest")
    before = date.fromisoformat(known) if known else None
    if before == latest:
        return set()
    if before is None or latest is None:
        return state.slugs()
    low, high = sorted((before, latest))
    rows = connection.execute(
        "SELECT DISTINCT m.slug FROM passages p JOIN mentions m ON m.passage = p.id"
        " WHERE p.kind = 'world' AND p.last >= ? AND p.last < ?",
        (low.toordinal(), high.toordinal()),
    ).fetchall()
    slugs = {row[0] for row in rows}
    if (low.year, low.month) != (high.year, high.month):
        rows = connection.execute(
            "SELECT DISTINCT m.slug FROM passages p JOIN mentions m ON m.passage = p.id"
            " WHERE coalesce(p.first, p.day) >= ? OR p.day >= ?",
            (low.replace(day=1).toordinal(), low.replace(day=1).toordinal()),
        ).fetchall()
        slugs |= {row[0] for row in rows}
    return meant(means, slugs)


def digest(*parts: object) -> str:
    """A short mark of what something was made of."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:16]
