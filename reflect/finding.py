"""What the narrative of logs without typed facts tells of entities: found once, kept by what it was made of."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from importlib.util import find_spec
from typing import Any

from ..bank.driver import Connection
from ..bank.entities import ambiguous_names
from ..bank.files import decode, read_below
from ..bank.workspace import Workspace
from ..parsers.lines import split_lines
from ..parsers.names import fold
from ..parsers.parse import parse_file
from .changes import digest
from .entity_page import Found
from .extraction import Candidate, extract
from .language import MODELS, Language
from .state import State

#: A name that no page and no fact knows gets a page when so many sentences of so many days tell of it.
LEAST_FOUND, LEAST_DAYS = 3, 2
_WORD = re.compile(r"\w+")
_LONGEST_NAME = 4


def known_names(connection: Connection) -> dict[str, str]:
    """Each way to write an entity's name, casefolded, and its name; names that several pages claim are none."""
    claimed = {name.casefold() for name, _ in ambiguous_names(connection)}
    pages = dict(connection.execute("SELECT page, min(name) FROM names WHERE source = 'page' GROUP BY page").fetchall())
    # A name that a page claims means the page's entity, also where facts mention it.
    rows = connection.execute("SELECT name, max(page) FROM names GROUP BY name ORDER BY name").fetchall()
    return {name.casefold(): pages.get(page, name) for name, page in rows if name.casefold() not in claimed}


def find(
    workspace: Workspace,
    connection: Connection,
    state: State,
    load: Callable[[], Language | None],
    progress: Callable[[int], None],
) -> dict[str, list[Candidate]]:
    """The candidates of every log that has no typed fact, by path. ``load`` gives the language when one is needed."""
    names = known_names(connection)
    reader = next((name for name in MODELS if find_spec(name)), "")
    mark_of_names = digest(sorted(names.items()), reader)
    same_names = state.meta("names") == mark_of_names
    state.set_meta("names", mark_of_names)
    stored = state.found()
    logs = connection.execute(
        "SELECT path, hash FROM files f WHERE role = 'log' AND NOT EXISTS"
        " (SELECT 1 FROM passages p WHERE p.file = f.id AND p.kind <> 'note') ORDER BY path"
    ).fetchall()
    found: dict[str, list[Candidate]] = {}
    language: Language | None = None
    is_loaded = False
    for path, hashed in logs:
        mark, rows = stored.pop(path, ("", []))
        if not (same_names and mark.startswith(hashed)):
            text = _text(workspace, path)
            wanted = f"{hashed} {digest(sorted(_there(text, names).items()), reader)}"
            if mark != wanted:
                if not is_loaded:
                    language, is_loaded = load(), True
                rows = [_row(one) for one in _extracted(text, path, names, language)]
                state.set_found(path, wanted, rows)
            progress(1)
        found[path] = [_candidate(row) for row in rows]
    for path in stored:
        state.drop_found(path)
    return found


def _text(workspace: Workspace, path: str) -> str:
    try:
        return decode(read_below(workspace.root, path))
    except OSError:
        return ""


def _extracted(text: str, path: str, names: Mapping[str, str], language: Language | None) -> list[Candidate]:
    parsed = parse_file(text, path)
    return extract(parsed.notes, names, language, split_lines(text))


def _there(text: str, names: Mapping[str, str]) -> dict[str, str]:
    """Those of the names that may occur in a text: what is extracted depends on no others."""
    folded = text.casefold()
    words = _WORD.findall(folded)
    runs = {
        " ".join(words[at : at + size]) for size in range(1, _LONGEST_NAME + 1) for at in range(len(words) - size + 1)
    }
    spoken = {name: meant for name, meant in names.items() if " ".join(_WORD.findall(name)) in runs}
    # Names in scripts without spaces stand inside of longer runs.
    return spoken | {name: meant for name, meant in names.items() if not name.isascii() and name in folded}


def _row(one: Candidate) -> dict[str, Any]:
    return {**one._asdict(), "day": one.day.isoformat() if one.day else None, "entities": list(one.entities)}


def _candidate(row: Mapping[str, Any]) -> Candidate:
    day = date.fromisoformat(row["day"]) if row["day"] else None
    return Candidate(**{**row, "day": day, "entities": tuple(row["entities"])})


def by_entity(found: Iterable[Candidate], means: Mapping[str, str | None]) -> dict[str, list[Found]]:
    """Candidates by the slug of the entity that leads them, newest first."""
    told: dict[str, dict[str, Found]] = {}
    for one in found:
        for name in one.entities[:1]:
            slug = means.get(fold(name), fold(name))
            if slug:
                told.setdefault(slug, {}).setdefault(
                    one.id, Found(one.id, one.text, one.day, f"{one.path}#L{one.line}")
                )
    return {
        slug: sorted(own.values(), key=lambda f: (-(f.day.toordinal() if f.day else 0), f.citation))
        for slug, own in told.items()
    }


def well_found(found: Iterable[Candidate]) -> dict[str, str]:
    """Names (by slug) that the narrative alone makes worth a page."""
    names: dict[str, str] = {}
    told: dict[str, set[tuple[str, date]]] = {}
    for one in found:
        if one.entities and one.day:
            slug = fold(one.entities[0])
            names.setdefault(slug, one.entities[0])
            told.setdefault(slug, set()).add((one.id, one.day))
    return {
        slug: names[slug]
        for slug, own in told.items()
        if len({key for key, _ in own}) >= LEAST_FOUND and len({day for _, day in own}) >= LEAST_DAYS
    }
