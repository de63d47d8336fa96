"""One entity worked through: its opinions and facts judged, and what its pages say of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import partial
from typing import Any, NamedTuple

from ..bank.driver import Connection
from ..parsers.secrets import looks_secret
from .beliefs import Item
from .blocks import Line
from .changes import NAMELESS
from .entity_page import RELATED, EntityView, Found, entity_lines
from .hand_edits import HandEdits
from .opinions import Judge, Opinion, hold, merge
from .opinions_page import OPINIONS, ledger_lines
from .paths import PagePaths
from .state import State
from .statements import Statement, load, load_nameless
from .topic_pages import experience_lines, world_lines
from .validity import Standing, closings, settle

#: So many entities are worked on at a time, which bounds what is held in memory.
_AT_ONCE = 64


class Bench(NamedTuple):
    """What entities are worked through with. ``means``: names that mean another entity. ``judge``; ``hand``: what
    people wrote into blocks; ``found``: sentences of the narrative, by slug; ``paths``: of entities' pages, made
    or to be made; ``latest``: the newest day of a log."""

    connection: Connection
    state: State
    means: dict[str, str | None]
    judge: Judge
    hand: HandEdits
    found: Mapping[str, Sequence[Found]]
    paths: PagePaths
    latest: date | None


def statements_of(bench: Bench, slugs: Iterable[str]) -> list[Statement]:
    """The facts that mention any of some entities, with what people wrote into blocks; nothing that looks like a
    key."""
    wanted = sorted(slugs)
    told = load(bench.connection, bench.means, [slug for slug in wanted if slug != NAMELESS])
    if NAMELESS in wanted:
        told += load_nameless(bench.connection, bench.means)
    told = bench.hand.applied(told, wanted)
    return [one for one in told if not looks_secret(f"{one.text} {one.details}")]


def about(statements: Sequence[Statement], slug: str) -> list[Statement]:
    """Those that are about one entity (or, for "", about none), not those that mention it in passing."""
    return [one for one in statements if (slug in one.leads if slug else not one.leads)]


def close_facts(bench: Bench, slugs: Iterable[str], progress: Callable[[int], None]) -> tuple[set[str], dict[str, Any]]:
    """Judge the world facts of entities among themselves. The entities whose pages that may change: theirs, and those
    of other entities that a fact is about which was closed or opened; and by slug the pairs to ask about."""
    touched: set[str] = set()
    doubtful: dict[str, Any] = {}
    for group in _groups(slugs):
        statements = statements_of(bench, group)
        leads = {one.id: one.leads for one in statements}
        for slug in group:
            own = about(statements, slug)
            world = [one for one in own if one.kind == "world"]
            judging = bench.judge.judging
            # Facts about nobody have nothing in common that one could take the other's place in.
            pairs = judging.successions(slug, world) if judging and slug else []
            told = closings(own, _sources(bench, own), pairs, bench.judge.links, bench.judge.refused)
            changed = bench.state.set_closings(slug, {fact: [list(s) for s in rows] for fact, rows in _json(told.told)})
            touched.add(slug)
            touched.update(lead for fact in changed for lead in leads.get(fact, ()))
            doubtful[slug] = [[old.id, new.id, new.first.citation, new.text] for old, new in told.doubtful]
            progress(1)
    return touched, doubtful


def _sources(bench: Bench, own: Sequence[Statement]) -> dict[str, Statement]:
    """Whatever says outright what it does to one of some facts, by id."""
    wanted = {link.source for one in own for link in bench.judge.links.get(one.id, ())}
    return {one.id: one for one in bench.hand.applied(_by_ids(bench, wanted), ())} if wanted else {}


def _json(told: Mapping[str, list[Standing]]) -> Iterator[tuple[str, list[list[Any]]]]:
    for fact, standings in told.items():
        yield (
            fact,
            [[s.state, _iso(s.valid_from), _iso(s.valid_to), s.by, s.reason] for s in standings],
        )


def _iso(day: date | None) -> str | None:
    return day.isoformat() if day else None


def standings_of(state: State, statements: Sequence[Statement]) -> dict[str, Standing]:
    """How the world facts among some statements stand, by all that closes them for any entity."""
    world = [one for one in statements if one.kind == "world"]
    told = state.closings(one.id for one in world)
    return {
        one.id: settle(
            one,
            [
                Standing(
                    s[0],
                    date.fromisoformat(s[1]) if s[1] else None,
                    date.fromisoformat(s[2]) if s[2] else None,
                    s[3],
                    s[4],
                )
                for s in told.get(one.id, ())
            ],
        )
        for one in world
    }


def write_units(
    bench: Bench, slugs: Iterable[str], doubtful: Mapping[str, Any], progress: Callable[[int], None]
) -> dict[str, tuple[dict[str, Any] | None, dict[str, Any] | None]]:
    """Work out the lines of entities; for each the unit before and after."""
    changed = {}
    for group in _groups(slugs):
        statements = statements_of(bench, group)
        co_leads = {lead for one in statements if one.kind == "opinion" for lead in one.leads if lead not in group}
        wider = statements_of(bench, {*group, *co_leads}) if co_leads else statements
        by_lead = _ByLead(wider)
        if bench.judge.judging:
            bench.judge.judging.forget_facts()
        for slug in group:
            before = bench.state.unit(slug)
            after = _unit(bench, slug, by_lead, doubtful.get(slug))
            if after is not None and slug not in doubtful and before:
                after["pairs"] = before["pairs"]
            if before != after:
                bench.state.set_unit(slug, after)
            changed[slug] = (before, after)
            progress(1)
    return changed


def _unit(bench: Bench, slug: str, by_lead: _ByLead, pairs: Any) -> dict[str, Any] | None:
    own = by_lead.get(slug, ())
    if not own and not bench.paths(slug):
        return None
    opinions = _opinions(bench, slug, by_lead)
    standings = standings_of(bench.state, own)
    page = bench.paths(slug)
    name = bench.paths.name(slug) if slug else ""
    unit: dict[str, Any] = {
        "name": name,
        "page": page,
        "lines": [],
        "world": [],
        "experience": [],
        "ledger": [],
        "moved": [],
        "opinions": [],
        "pairs": pairs or [],
        "closed": [
            [
                one.id,
                one.text,
                one.first.citation,
                standings[one.id].state,
                standings[one.id].by,
                _iso(standings[one.id].valid_to),
            ]
            for one in own
            if one.kind == "world" and standings[one.id].valid_to
        ],
    }
    held_here = [one for one in opinions if one.owner == slug]
    told = [one for one in held_here if one.has_moved or not one.is_stated_on(OPINIONS)]
    unit["ledger"] = [_row(line) for line in ledger_lines(told)]
    unit["moved"] = [_row(line) for line in ledger_lines([one for one in told if one.has_moved])]
    unit["opinions"] = [_opinion(one) for one in held_here]
    if page:
        related = [(named, bench.paths(near)) for near, named in _related(bench, slug)]
        view = EntityView(
            slug, name, page, own, opinions, standings, _linked(page, related), bench.found.get(slug, ()), bench.latest
        )
        unit["lines"] = [_row(line) for line in entity_lines(view)]
        return unit
    world = [one for one in own if one.kind == "world" and not _on_page(one, "world")]
    unit["world"] = [_row(line) for line in world_lines(name or "General", world, standings)]
    unit["experience"] = [
        [one.happened.isoformat(), one.first.path, one.first.line, _row(line)]
        for one in own
        if one.kind == "experience" and one.happened and not _on_page(one, "experience")
        for line in experience_lines([one])[1:]
    ]
    return unit


def _on_page(one: Statement, name: str) -> bool:
    return any(place.path.endswith(f"bank/{name}.md") for place in one.places)


def _opinions(bench: Bench, slug: str, by_lead: _ByLead) -> list[Opinion]:
    """The opinions that are about an entity, whoever is named first in them."""
    owners = {one.leads[0] if one.leads else NAMELESS for one in by_lead.get(slug, ()) if one.kind == "opinion"}
    opinions = []
    for owner in sorted(owners):
        stated = [one for one in by_lead[owner] if one.kind == "opinion" and one.leads[:1] in ((owner,), ())]
        for group in merge(stated, bench.judge.same):
            if not slug or any(slug in one.leads for one in group):
                facts = partial(_evidence, by_lead, tuple(sorted({lead for one in group for lead in one.leads})))
                opinions.append(hold(group, _sources(bench, group), facts, bench.judge))
    return opinions


class _ByLead(dict[str, list[Statement]]):
    """Statements by the entities that they are about ("" for none), in their order; see ``_evidence``."""

    def __init__(self, statements: Sequence[Statement]) -> None:
        super().__init__()
        self.evidence: tuple[tuple[str, ...], dict[str, Statement]] = ((), {})
        for one in statements:
            for slug in one.leads or (NAMELESS,):
                self.setdefault(slug, []).append(one)


def _evidence(by_lead: _ByLead, leads: tuple[str, ...]) -> dict[str, Statement]:
    """The dated facts about some entities that may bear on opinions about them, by id."""
    if not by_lead.evidence[1] or by_lead.evidence[0] != leads:
        found = {one.id: one for lead in leads for one in by_lead.get(lead, ())}
        dated = {key: one for key, one in found.items() if one.kind != "observation" and one.day}
        by_lead.evidence = (leads, dated)
    return by_lead.evidence[1]


def _by_ids(bench: Bench, ids: Iterable[str]) -> list[Statement]:
    from .statements import load_ids

    return load_ids(bench.connection, bench.means, ids)


def _related(bench: Bench, slug: str) -> list[tuple[str, str]]:
    """The entities that facts name beside one, the nearest first: (slug, name)."""
    rows = bench.connection.execute(
        "SELECT other FROM edges WHERE slug = ? ORDER BY weight DESC, other LIMIT ?", (slug, RELATED)
    ).fetchall()
    return [(row[0], bench.paths.name(row[0])) for row in rows]


def _linked(page: str, related: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Names with links as they are written on a page: relative to its folder, with what Markdown needs escaped."""
    import posixpath
    from urllib.parse import quote

    folder = posixpath.dirname(page)
    return [
        (name.replace("[", "(").replace("]", ")"), quote(posixpath.relpath(path, folder), safe="/") if path else "")
        for name, path in related
    ]


def _opinion(one: Opinion) -> dict[str, Any]:
    return {
        "id": one.id,
        "text": one.shown.text,
        "names": list(one.shown.names),
        "stated": one.stated,
        "stated_at": one.stated_at.citation,
        "stated_on": _iso(one.stated_at.day),
        "confidence": round(one.belief.confidence, 4),
        "contested": one.belief.contested,
        "members": [[member.id, place.citation] for member in one.members for place in member.places],
        "items": [_item(item) for item in one.items],
        "history": [_item(item) for item in one.history],
        "doubtful": [[fact.id, relation, fact.first.citation, fact.text] for fact, relation in one.doubtful],
    }


def _item(item: Item) -> list[Any]:
    return [item.id, item.citation, item.path, _iso(item.day), *item[4:]]


def items_of(rows: Iterable[Sequence[Any]]) -> list[Item]:
    """The pieces of evidence that a unit keeps."""
    return [Item(r[0], r[1], r[2], date.fromisoformat(r[3]) if r[3] else None, *r[4:]) for r in rows]


def _row(line: Line) -> list[Any]:
    return list(line)


def _groups(slugs: Iterable[str]) -> Iterator[list[str]]:
    ordered = sorted(slugs)
    return (ordered[start : start + _AT_ONCE] for start in range(0, len(ordered), _AT_ONCE))
