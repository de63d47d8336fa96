"""What a run asks, and what people have answered: the page of suggestions, seen from the job."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import date
from typing import Any, NamedTuple

from ..bank.driver import Connection
from ..bank.files import FileMissing, FileText, read_text
from ..bank.recalls import read_recalls
from ..bank.workspace import Workspace
from ..parsers.secrets import looks_secret
from .core_proposals import LEAST_DAYS, LEAST_RECALLS, CoreFact, propose
from .links import Link
from .opinions import quote
from .statements import load_ids
from .suggestion_lines import Confirmation, Proposal, confirmation_key
from .suggestions import PAGE, Suggestions, read_suggestions
from .validity import ACTIVE, REPEATED, Standing

#: What is asked first.
_ORDER = ("contradicts", "replaces", "supports")


#: What was worked out for each entity, by slug.
Units = Mapping[str, Mapping[str, Any]]


class Answers(NamedTuple):
    """``page``: the file as read, None where there is none. ``said``: what is on it. ``links``: what was confirmed."""

    page: FileText | None
    said: Suggestions
    links: list[Link]


def read_answers(workspace: Workspace) -> Answers:
    """What people have ticked, struck out and deleted."""
    try:
        page = read_text(os.path.join(workspace.root, PAGE))
    except FileMissing:
        return Answers(None, Suggestions(), [])
    said = read_suggestions(page.data.decode("utf-8", "surrogateescape"))
    links = [Link(one.target_id, one.relation, one.subject_id, False, True, PAGE, 1, None) for one in said.confirmed]
    return Answers(page, said, links)


def questions(units: Units) -> list[Confirmation]:
    """What could be confirmed: contradictions first, then what may have been replaced; the newest first."""
    found: dict[str, Confirmation] = {}
    for unit in units.values():
        for opinion in unit["opinions"]:
            for fact, relation, citation, text in opinion["doubtful"]:
                _add(found, opinion["id"], relation, citation, fact, text)
        for old, new, citation, text in unit["pairs"]:
            _add(found, old, "replaces", citation, new, text)
    by_place = sorted(found.values(), key=lambda one: (one.citation, one.key), reverse=True)
    return sorted(by_place, key=lambda one: _ORDER.index(one.relation))


def _add(found: dict[str, Confirmation], subject: str, relation: str, citation: str, fact: str, text: str) -> None:
    key = confirmation_key(subject, relation, fact)
    found.setdefault(key, Confirmation(subject, relation, citation, fact, quote(text), key))


def proposals(
    workspace: Workspace,
    connection: Connection,
    means: dict[str, str | None],
    standings: Mapping[str, Standing],
    confidences: Mapping[str, float],
    core: str,
    latest: date,
) -> list[Proposal]:
    """What could go into the core memory, whose text ``core`` is. ``latest``: the newest day of a log, from which on
    what is past counts as past. The rest: see ``core_facts``."""
    return propose(core_facts(workspace, connection, means, standings, confidences), core, latest)


def core_facts(
    workspace: Workspace,
    connection: Connection,
    means: dict[str, str | None],
    standings: Mapping[str, Standing],
    confidences: Mapping[str, float],
) -> list[CoreFact]:
    """What there is behind each fact that was said or recalled often enough. ``standings``: of the facts that are not
    active. ``confidences``: of opinions by now."""
    recalls = read_recalls(workspace)
    rows = connection.execute(
        "SELECT key FROM passages WHERE kind IN ('world', 'experience', 'opinion') AND origin = 'stated'"
        " AND day IS NOT NULL GROUP BY key HAVING count(DISTINCT day) >= ?",
        (LEAST_DAYS,),
    )
    keys = {row[0] for row in rows} | {key for key, count in recalls.items() if count >= LEAST_RECALLS}
    facts = []
    for one in load_ids(connection, means, keys):
        if one.kind == "observation" or looks_secret(f"{one.text} {one.details}"):
            continue
        standing = standings.get(one.id)
        days = tuple(sorted({place.day for place in one.places if place.day}))
        facts.append(
            CoreFact(
                one.id,
                one.kind,
                one.text,
                one.names,
                one.first.citation,
                days,
                len({place.path for place in one.places if place.day}),
                recalls[one.id],
                standing is not None and standing.state not in (ACTIVE, REPEATED),
                confidences.get(one.id),
            )
        )
    return facts


def confidences(units: Units) -> dict[str, float]:
    """Every wording of every opinion, and how sure it is by now."""
    return {
        key: float(opinion["confidence"])
        for unit in units.values()
        for opinion in unit["opinions"]
        for key in [opinion["id"], *(member[0] for member in opinion["members"])]
    }


def closed_facts(units: Units) -> dict[str, Standing]:
    """The world facts that hold no more."""
    return {row[0]: Standing(row[3], None, None, row[4], "") for unit in units.values() for row in unit["closed"]}
