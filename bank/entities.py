"""Which entity a name means, as the whole workspace says: pages, their aliases, and mentions.

A name that is the page's own, or an alias of exactly one page, means that page's entity. One that several pages claim
is ambiguous and means none of them: a wrong merge is worse than a split.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..parsers.names import fold
from .driver import Connection
from .errors import MemoryFault


class Entity(NamedTuple):
    """``slug``: its identity. ``name``: as its page or most of its mentions write it. ``names``: all of its names as
    written. ``slugs``: those names folded, aliases included."""

    slug: str
    name: str
    names: tuple[str, ...]
    slugs: tuple[str, ...]


def resolve(connection: Connection, slugs: Iterable[str]) -> dict[str, str | None]:
    """Each folded name that the workspace knows, and the slug of the entity that it means (None: ambiguous)."""
    wanted = sorted(slug for slug in set(slugs) if _is_text(slug))
    claims: dict[str, set[str]] = {}
    for start in range(0, len(wanted), 500):
        part = wanted[start : start + 500]
        rows = connection.execute(
            f"SELECT DISTINCT slug, page, source FROM names WHERE slug IN ({_marks(part)})", part
        ).fetchall()
        for slug, page, source in rows:
            claims.setdefault(slug, set())
            if source != "mention":
                claims[slug].add(page)
    return {
        slug: slug if not pages or slug in pages else (next(iter(pages)) if len(pages) == 1 else None)
        for slug, pages in claims.items()
    }


def _is_text(name: str) -> bool:
    """Whether SQLite can be asked for a name: what has a lone surrogate (a byte that is no UTF-8) stands in no file."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def entity(connection: Connection, slug: str) -> Entity:
    """The entity of a resolved slug, with all its names."""
    rows = connection.execute(
        # Two look-ups: the index on pages is of named pages alone, and serves no OR.
        "SELECT slug, name, source, sum(uses) FROM names WHERE rowid IN (SELECT rowid FROM names WHERE slug = ?"
        " UNION SELECT rowid FROM names WHERE page = ? AND page <> '') GROUP BY slug, name, source"
        " ORDER BY source = 'page' DESC, sum(uses) DESC, name",
        (slug, slug),
    ).fetchall()
    aliases = {row[0] for row in rows if row[0] != slug}
    means = resolve(connection, aliases)
    kept = [row for row in rows if row[0] == slug or means.get(row[0]) == slug]
    for alias in sorted({row[0] for row in kept} - {slug}):
        kept += connection.execute(
            "SELECT slug, name, source, sum(uses) FROM names WHERE slug = ? AND source = 'mention' GROUP BY name"
            " ORDER BY name",
            (alias,),
        ).fetchall()
    names = tuple(dict.fromkeys(row[1] for row in kept))
    return Entity(slug, names[0] if names else slug, names, (slug, *sorted({row[0] for row in kept} - {slug})))


def find_entity(connection: Connection, name: str) -> tuple[Entity, str]:
    """The entity that a name means, and the path of its page ("" where it has none).

    Raises ``MemoryFault`` for a name that nothing mentions or that several pages claim.
    """
    means = resolve(connection, [fold(name)])
    if fold(name) not in means:
        raise MemoryFault("no such entity", name, "see `openclaw memory entities`")
    meant = means[fold(name)]
    if meant is None:
        claims = {fold(alias): pages for alias, pages in ambiguous_names(connection)}.get(fold(name), ())
        raise MemoryFault("several pages claim this name", name, f"use one of theirs: {', '.join(claims)}")
    page = connection.execute(
        "SELECT f.path FROM names n JOIN files f ON f.id = n.file"
        " WHERE n.page = ? AND n.source = 'page' ORDER BY f.path",
        (meant,),
    ).fetchone()
    return entity(connection, meant), page[0] if page else ""


def named_in(connection: Connection, words: Sequence[str], longest: int = 4) -> list[tuple[str, tuple[int, int]]]:
    """The entities that a row of words names: (slug, (first word, last word + 1)), longest names first taken.

    Case, joins and possessives do not matter; a name that means no single entity is passed over. ``words`` may be the
    characters of a run without spaces.
    """
    spans = {
        (start, end): fold(" ".join(words[start:end]))
        for start in range(len(words))
        for end in range(start + 1, min(len(words), start + longest) + 1)
    }
    means = resolve(connection, filter(None, spans.values()))
    found: list[tuple[str, tuple[int, int]]] = []
    taken: set[int] = set()
    for (start, end), slug in sorted(spans.items(), key=lambda item: (item[0][0] - item[0][1], item[0][0])):
        meant = means.get(slug)
        if meant and not taken & set(range(start, end)):
            taken |= set(range(start, end))
            found.append((meant, (start, end)))
    return sorted(found, key=lambda item: item[1])


def all_entities(connection: Connection) -> list[tuple[str, str, int, bool]]:
    """(slug, name, passages that mention it, has a page) for every entity, most mentioned first."""
    pages = {row[0] for row in connection.execute("SELECT DISTINCT page FROM names WHERE source = 'page'")}
    slugs = [row[0] for row in connection.execute("SELECT DISTINCT slug FROM names WHERE slug <> ''")]
    means = resolve(connection, slugs)
    members: dict[str, list[str]] = {}
    for slug in slugs:
        members.setdefault(means.get(slug) or slug, []).append(slug)
    found = []
    for slug, group in members.items():
        uses = connection.execute(
            f"SELECT count(DISTINCT passage) FROM mentions WHERE slug IN ({_marks(group)})", group
        ).fetchone()[0]
        found.append((slug, entity(connection, slug).name, uses, slug in pages))
    return sorted(found, key=lambda row: (-row[2], row[0]))


def ambiguous_names(connection: Connection) -> list[tuple[str, tuple[str, ...]]]:
    """Names that several pages claim: (name, the pages' slugs)."""
    rows = connection.execute(
        "SELECT slug, min(name) FROM names WHERE source <> 'mention' GROUP BY slug HAVING count(DISTINCT page) > 1"
        " ORDER BY slug"
    ).fetchall()
    found = []
    for slug, name in rows:
        pages = connection.execute(
            "SELECT DISTINCT page FROM names WHERE slug = ? AND source <> 'mention' ORDER BY page", (slug,)
        )
        claims = tuple(row[0] for row in pages)
        if slug not in claims:
            found.append((name, claims))
    return found


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
