"""The page of an entity: what it is, how things stand, opinions, what happened lately and what held earlier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import NamedTuple

from ..parsers.ledger import held
from .blocks import Line
from .opinions import Opinion
from .statements import Statement
from .summaries import LEAST, by_month, month_of, summary
from .validity import ACTIVE, RETRACTED, SUPERSEDED, Standing
from .wording import cited, days, key_of, says_what_it_is, tells_an_event, told_days, trimmed

BLOCK = "entity"
#: So many facts that hold, and so many opinions, are on a page, the newest; recall finds the others.
NOW, OPINIONS = 40, 20
#: So much of what happened is on a page; the months below tell of the rest.
LATELY = 12
RELATED = 8
#: So many sentences that were found in the narrative.
FOUND = 6


class Found(NamedTuple):
    """A sentence of the narrative that tells something of an entity: its words, its day and where it stands."""

    id: str
    text: str
    day: date | None
    citation: str


class EntityView(NamedTuple):
    """What a page is made of. ``slug``; ``name``; ``page``: its path. ``statements``: facts about it (leading), by
    first place. ``opinions``: held by or about it. ``standings``: of its world facts. ``related``: names of entities
    with their pages ("" for none), nearest first. ``found``: sentences of the narrative. ``latest``: the workspace's
    newest day, which is what "lately" counts from."""

    slug: str
    name: str
    page: str
    statements: Sequence[Statement]
    opinions: Sequence[Opinion]
    standings: Mapping[str, Standing]
    related: Sequence[tuple[str, str]]
    found: Sequence[Found]
    latest: date | None


def entity_lines(view: EntityView) -> list[Line]:
    """The lines of an entity's block, in their fixed order: newest first, ties by citation."""
    written = [one for one in view.statements if not _stands_here(one, view)]
    world = [one for one in written if one.kind == "world" and view.standings[one.id].state == ACTIVE]
    closing = {standing.by for standing in view.standings.values() if standing.state == SUPERSEDED}
    what = next((one for one in sorted(world, key=_oldest_first) if says_what_it_is(one, view.name)), None)
    past = {one.id for one in world if tells_an_event(one) and one.id not in closing and _is_over(one, view.latest)}
    now = [one for one in world if one.id not in past and one is not what]
    happened = [one for one in written if one.kind == "experience" or one.id in past]
    lines: list[Line] = []
    if what:
        lines.append(_line(what, trimmed(what.text)))
    lines += _section("Now", [_line(one, f"- {trimmed(one.text)}") for one in sorted(now, key=_newest_first)[:NOW]])
    opinions = [one for one in view.opinions if one.has_moved or not one.is_stated_on(view.page)]
    lines += _section("Opinions", [_opinion(one) for one in sorted(opinions, key=_opinion_order)[:OPINIONS]])
    recent = sorted(happened, key=_newest_first)
    lines += _section("Lately", [_event(one) for one in recent[:LATELY]])
    lines += _section("Found in the narrative", [_found(one) for one in view.found[:FOUND]])
    closed = [one for one in view.statements if _is_closed(one, view.standings)]
    closed.sort(key=lambda one: (-_ordinal(view.standings[one.id].valid_to), *_newest_first(one)))
    lines += _section("Earlier", [_earlier(one, view.standings[one.id]) for one in closed])
    lines += _section("Months", _months(view))
    if view.related:
        names = ", ".join(f"[{name}]({page})" if page else name for name, page in view.related[:RELATED])
        lines.append(Line(key_of("related"), f"Related: {names}"))
    return lines


def _section(title: str, lines: list[Line]) -> list[Line]:
    return [Line(key_of("heading", title), f"## {title}", heading=True), *lines] if lines else []


def _line(one: Statement, text: str) -> Line:
    return Line(
        key_of(one.id), f"{text} {cited(one.first, told_days(one), '')}", anchors=(one.first.citation, f"^{one.id}")
    )


def _event(one: Statement) -> Line:
    when = days(one.occurred if one.happened != one.day else None, one.day)
    text = f"- {when} {trimmed(one.text)}" if when else f"- {trimmed(one.text)}"
    return Line(key_of(one.id), f"{text} {cited(one.first, '')}", anchors=(one.first.citation, f"^{one.id}"))


def _opinion(one: Opinion) -> Line:
    belief = one.belief
    pro, contra = len(belief.side("supports")), len(belief.side("contradicts"))
    counted = [f"{pro} support{'s' * (pro != 1)}"] * bool(pro) + [f"{contra} against"] * bool(contra)
    told = ", ".join([f"c={belief.confidence:.2f}", *counted, *(["contested"] * belief.contested)])
    text = f"- {trimmed(one.shown.text)} {told}. {cited(one.stated_at, f'^{one.id}')}"
    return Line(key_of(one.id), text, anchors=(f"^{one.id}", one.stated_at.citation))


def _found(one: Found) -> Line:
    day = f"{one.day.isoformat()} " if one.day else ""
    return Line(key_of(one.id), f"- {day}{trimmed(one.text)} ({one.citation}, extracted)", anchors=(one.citation,))


def _earlier(one: Statement, standing: Standing) -> Line:
    assert standing.valid_to is not None
    end = held(
        standing.valid_from, standing.valid_to, one.first.citation, one.id, standing.by, standing.state == RETRACTED
    )
    return Line(key_of(one.id), f"- {trimmed(one.text)} {end}", anchors=(f"^{one.id}", one.first.citation))


def _months(view: EntityView) -> list[Line]:
    """A line for each month before the newest one of the workspace in which enough happened."""
    months = by_month(view.statements)
    newest = month_of(view.latest) if view.latest else ""
    return [
        Line(key_of("month", month), f"- {summary(month, told)}")
        for month, told in months.items()
        if len(told) >= LEAST and month < newest
    ]


def _stands_here(one: Statement, view: EntityView) -> bool:
    """Whether somebody wrote the fact on this page, where it need not be told again."""
    return any(place.path == view.page for place in one.places)


def _is_closed(one: Statement, standings: Mapping[str, Standing]) -> bool:
    standing = standings.get(one.id)
    return standing is not None and standing.state in (SUPERSEDED, RETRACTED) and standing.valid_to is not None


def _is_over(one: Statement, latest: date | None) -> bool:
    return one.occurred is None or latest is None or one.occurred.last < latest


def _ordinal(day: date | None) -> int:
    return day.toordinal() if day else 0


def _newest_first(one: Statement) -> tuple[int, str, int, str]:
    return (-_ordinal(one.happened), one.first.path, one.first.line, one.id)


def _oldest_first(one: Statement) -> tuple[int, str, int, str]:
    return (_ordinal(one.day), one.first.path, one.first.line, one.id)


def _opinion_order(one: Opinion) -> tuple[int, str, int, str]:
    return (-_ordinal(one.stated_at.day), one.stated_at.path, one.stated_at.line, one.id)
