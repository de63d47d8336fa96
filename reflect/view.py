"""How opinions and facts stand right now, worked out without writing anything."""

from __future__ import annotations

import os
from datetime import datetime
from typing import Any, NamedTuple

from ..bank.errors import MemoryFault
from ..bank.files import FileMissing, read_text
from ..bank.freshness import open_fresh
from ..bank.sync import Progress
from ..bank.workspace import Workspace
from ..parsers.relations import parse_target
from .job import Run, opened
from .statements import Statement, load_ids
from .units import standings_of
from .verdicts.records import Scorer


class View(NamedTuple):
    """``opinions``: as units keep them, with ``owner``. ``facts``: every world fact with its ``state`` (active,
    superseded, retracted, repeated), ``valid_from``, ``valid_to``, ``by`` and ``reason``."""

    workspace: Workspace
    opinions: list[dict[str, Any]]
    facts: list[dict[str, Any]]

    def page(self, path: str) -> str:
        """A page's text, "" where there is none."""
        try:
            return read_text(os.path.join(self.workspace.root, path)).text
        except FileMissing:
            return ""


def look(workspace: Workspace, *, now: datetime, scorer: Scorer | None, progress: Progress | None = None) -> View:
    """All opinions with their evidence and all world facts with their validity, as the logs say now.

    What the last reflect worked out is used where nothing changed since; nothing is written.
    """
    open_fresh(workspace, progress=progress).connection.close()
    with opened(workspace, scorer, on_disk=False) as (connection, state):
        run = Run(workspace, connection, state, now.date(), scorer)
        run.work()
        opinions = [{**one, "owner": slug} for slug, unit in run.units.items() for one in unit["opinions"]]
        keys = [row[0] for row in connection.execute("SELECT DISTINCT key FROM passages WHERE kind = 'world'")]
        statements = run.hand.applied(load_ids(connection, run.means, keys), run.hand.own)
        standings = standings_of(state, statements)
        facts = [_fact(one, standings[one.id]._asdict()) for one in statements if one.id in standings]
    return View(workspace, opinions, facts)


def _fact(one: Statement, standing: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": one.id,
        "kind": one.kind,
        "text": one.text,
        "names": list(one.names),
        "leads": list(one.leads),
        "places": [place.citation for place in one.places],
        **standing,
        "valid_from": standing["valid_from"].isoformat() if standing["valid_from"] else None,
        "valid_to": standing["valid_to"].isoformat() if standing["valid_to"] else None,
    }


def find(view: View, written: str) -> dict[str, Any]:
    """The opinion (by any of its wordings) or the fact that an id or the start of one names, or that a citation cites.

    Raises ``MemoryFault`` for none or several.
    """
    target = parse_target(written)
    if target and target.path:
        cited = f"{target.path}#L{target.line}"
        stated = [o for o in view.opinions if any(cited == place for _, place in o["members"])]
        there = stated or [fact for fact in view.facts if cited in fact["places"]]
        if there:
            return there[0]
    start = written.removeprefix("^").casefold()
    own = [o for o in view.opinions if any(key.startswith(start) for key in [o["id"], *(m[0] for m in o["members"])])]
    found = own or [fact for fact in view.facts if fact["id"].startswith(start)]
    if len(found) != 1 or len(start) < 3:
        several = ", ".join(f"^{one['id']}" for one in found[:5])
        message = f"several have this id ({several})" if len(found) > 1 else "no opinion or world fact has this id"
        raise MemoryFault(message, written, "see `openclaw memory opinions`, or recall's --json, for ids")
    return found[0]
