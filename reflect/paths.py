"""Which entities have a page, which get one, and under which file name."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator, Mapping

from ..bank.driver import Connection
from ..bank.entities import entity
from .changes import NAMELESS
from .page_files import collisions, entity_file_name

FOLDER = "bank/entities"
#: Fewer facts about an entity than this make no page, unless somebody made one: a name in passing is none.
LEAST_FACTS = 2


class PagePaths:
    """The paths of entities' pages, looked up as they are asked for.

    ``collisions``: (path, message) for entities that get no page, since another one has a file of that name where the
    disk ignores case.
    """

    def __init__(
        self, connection: Connection, means: Mapping[str, str | None], told: Mapping[str, str] | None = None
    ) -> None:
        """``told``: names (by slug) that the narrative makes worth a page."""
        self.told = told or {}
        self.connection, self.means = connection, means
        rows = connection.execute(
            "SELECT n.page, f.path FROM names n JOIN files f ON f.id = n.file WHERE n.source = 'page'"
            " ORDER BY f.path DESC"
        ).fetchall()
        self.there: dict[str, str] = dict(rows)
        self.pages = sorted({path for _, path in rows})
        self.taken = {_folded(path): slug for slug, path in self.there.items()}
        self.names: dict[str, list[str]] = {}
        for name, meant in means.items():
            if meant:
                self.names.setdefault(meant, []).append(name)
        self.found: dict[str, str] = {}
        self.collisions: list[tuple[str, str]] = []

    def __call__(self, slug: str) -> str:
        """The path of an entity's page, "" for one that has none and gets none."""
        if slug not in self.found:
            own = slug != NAMELESS and self.means.get(slug, slug) == slug
            self.found[slug] = self._path(slug) if own else ""
        return self.found[slug]

    def name(self, slug: str) -> str:
        """An entity's name, as its page, the facts or the narrative write it."""
        name = entity(self.connection, slug).name
        return self.told.get(slug, name) if name == slug else name

    def is_new(self, slug: str) -> bool:
        """Whether an entity gets a page that is not there yet."""
        return bool(self(slug)) and slug not in self.there

    def same_names(self) -> Iterator[tuple[str, str]]:
        """(path, message) for pages whose files would be one where case or Unicode forms do not count."""
        paths = {os.path.basename(path): path for path in self.pages}
        for group in collisions(paths):
            yield (
                paths[group[0]],
                f"one page to some disks and readers: {', '.join(group)}; keep one, or rename the other",
            )

    def _path(self, slug: str) -> str:
        if slug in self.there:
            return self.there[slug]
        names = [slug, *self.names.get(slug, ())]
        marks = ", ".join("?" * len(names))
        facts = self.connection.execute(
            "SELECT count(DISTINCT p.key) FROM mentions m JOIN passages p ON p.id = m.passage"
            f" WHERE m.slug IN ({marks}) AND p.kind <> 'note'",
            names,
        ).fetchone()[0]
        if facts < LEAST_FACTS and slug not in self.told:
            return ""
        name = self.name(slug)
        path = f"{FOLDER}/{entity_file_name(name)}"
        other = self.taken.get(_folded(path))
        if other is not None and other != slug:
            self.collisions.append((path, f"@{name} gets no page: the file would be the one of @{other}"))
            return ""
        self.taken[_folded(path)] = slug
        return path


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", os.path.basename(path)).casefold()
