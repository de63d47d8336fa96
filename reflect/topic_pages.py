"""What has no page of its own: ``bank/world.md``, facts by topic; ``bank/experience.md``, what was done, by month."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

from ..parsers.ledger import held
from ..parsers.retain import render_entity
from .blocks import Line
from .statements import Statement
from .summaries import month_of
from .validity import ACTIVE, RETRACTED, SUPERSEDED, Standing
from .wording import cited, days, key_of, told_days, trimmed

WORLD, EXPERIENCE = "world", "experience"
#: So many months with facts, and so many facts of one month, are told on the page.
MONTHS, OF_A_MONTH = 6, 40


def world_lines(topic: str, statements: Sequence[Statement], standings: Mapping[str, Standing]) -> list[Line]:
    """The world facts of one topic: those that stand, newest first, then those that stood."""
    active = [one for one in statements if standings[one.id].state == ACTIVE]
    closed = [
        one
        for one in statements
        if standings[one.id].state in (SUPERSEDED, RETRACTED) and standings[one.id].valid_to is not None
    ]
    lines = [_line(one) for one in sorted(active, key=_newest_first)]
    lines += [_earlier(one, standings[one.id]) for one in sorted(closed, key=_newest_first)]
    return [Line(key_of("heading", "world", topic), f"## {topic}", heading=True), *lines] if lines else []


def experience_lines(statements: Sequence[Statement]) -> list[Line]:
    """What was done, by month, newest first."""
    months: dict[str, list[Statement]] = {}
    for one in sorted(statements, key=_newest_first):
        if one.happened:
            months.setdefault(month_of(one.happened), []).append(one)
    lines: list[Line] = []
    for month in sorted(months, reverse=True)[:MONTHS]:
        lines.append(Line(key_of("heading", "experience", month), f"## {month}", heading=True))
        lines += [_event(one) for one in months[month][:OF_A_MONTH]]
    return lines


def _line(one: Statement) -> Line:
    text = f"- {_names(one)}{trimmed(one.text)} {cited(one.first, told_days(one), '')}"
    return Line(key_of(one.id), text, anchors=(one.first.citation, f"^{one.id}"))


def _event(one: Statement) -> Line:
    when = days(one.occurred if one.happened != one.day else None, one.day)
    text = f"- {when} {_names(one)}{trimmed(one.text)} {cited(one.first, '')}"
    return Line(key_of(one.id), text, anchors=(one.first.citation, f"^{one.id}"))


def _earlier(one: Statement, standing: Standing) -> Line:
    assert standing.valid_to is not None
    end = held(
        standing.valid_from, standing.valid_to, one.first.citation, one.id, standing.by, standing.state == RETRACTED
    )
    return Line(key_of(one.id), f"- {_names(one)}{trimmed(one.text)} {end}", anchors=(f"^{one.id}", one.first.citation))


def _names(one: Statement) -> str:
    return "".join(f"{render_entity(name)} " for name in one.names if f"@{name}" not in one.text).rstrip() + (
        ": " if one.names else ""
    )


def _newest_first(one: Statement) -> tuple[int, str, int, str]:
    when: date | None = one.happened
    return (-(when.toordinal() if when else 0), one.first.path, one.first.line, one.id)
