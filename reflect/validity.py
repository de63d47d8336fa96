"""World facts: since when and until when each of them held, and what took its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import NamedTuple

from .judging import Pair
from .links import REPLACES, RETRACTS, Link
from .statements import Statement
from .suggestion_lines import confirmation_key
from .verdicts.records import DUPLICATE, OLDER_LATE, SUPERSEDES
from .verdicts.records import Succession as Verdict
from .verdicts.sameness import content_words
from .wording import tells_an_event

#: A fact that is this surely replaced is closed at once; one that is less surely so is asked about.
SURE = 0.70

#: What is inferred to repeat a fact is taken off the page only where it has so many of its words (Jaccard).
ALIKE = 0.5

ACTIVE, SUPERSEDED, RETRACTED, REPEATED = "active", "superseded", "retracted", "repeated"
OUTRIGHT, CONFIRMED, AGAIN = "said outright", "confirmed", "said again later"


class Standing(NamedTuple):
    """How a world fact stands. ``state``: active, superseded, retracted, or repeated (``by`` says the same and came
    first). ``valid_from``, ``valid_to``: the first day on which it held, and the one on which it held no more: the day
    of the log that says so (None where that is not known). ``by``: the id of what closed it. ``reason``: the test that
    decided."""

    state: str
    valid_from: date | None
    valid_to: date | None
    by: str
    reason: str


class Closings(NamedTuple):
    """What closes facts: standings by the id of the fact that is closed, several where several others close it; and the
    pairs that a person should confirm: (older, newer)."""

    told: dict[str, list[Standing]]
    doubtful: tuple[tuple[Statement, Statement], ...]


def closings(
    facts: Sequence[Statement],
    sources: Mapping[str, Statement],
    pairs: Sequence[Pair],
    links: Mapping[str, Sequence[Link]],
    refused: frozenset[str],
) -> Closings:
    """How the world facts of one entity close each other.

    ``sources``: what links come from, by id. ``pairs``: inferred. ``links``: said outright, by target. ``refused``:
    keys of what a person has said no to. An older fact is closed by the first newer one that takes its place; one that
    tells of an earlier time is born closed. Whatever is not sure leaves both standing.
    """
    world = sorted((one for one in facts if one.kind == "world"), key=lambda one: (*one.order, one.id))
    told: dict[str, list[Standing]] = {}
    outright: set[tuple[str, str]] = set()
    for old in world:
        for link in links.get(old.id, ()):
            if link.kind in (REPLACES, RETRACTS):
                new = sources.get(link.source)
                if link.kind == REPLACES and new and new.last.day and old.day and new.last.day < old.day:
                    # Nothing is replaced by what was said before it: of two that replace each other the later counts.
                    continue
                state = SUPERSEDED if link.kind == REPLACES else RETRACTED
                day = link.day or (new.day if new else None)
                reason = CONFIRMED if link.confirmed else OUTRIGHT
                told.setdefault(old.id, []).append(_closed(old, state, day, link.source, reason))
                outright |= {(old.id, link.source), (link.source, old.id)}
    doubtful: list[tuple[Statement, Statement]] = []
    for old, new_fact, verdict in pairs:
        is_decided = (old.id, new_fact.id) in outright or confirmation_key(old.id, REPLACES, new_fact.id) in refused
        if not is_decided and not _apart(old, new_fact):
            _infer(old, new_fact, verdict, told, doubtful)
    _reopen(world, told)
    return Closings(told, tuple(doubtful))


def settle(one: Statement, told: Sequence[Standing]) -> Standing:
    """How a fact stands, from all that closes it."""
    return min(told, key=_rank) if told else Standing(ACTIVE, one.happened, None, "", "")


def _reopen(world: Sequence[Statement], told: dict[str, list[Standing]]) -> None:
    """What was said again after something had taken its place holds again, and closes that: somebody moved back."""
    said = {one.id: one.last.day for one in world if one.last.day}
    for key, standings in told.items():
        for standing in standings:
            if standing.state == REPEATED and key in said and standing.by in said:
                said[standing.by] = max(said[standing.by], said[key])
    closed = [(one, standing) for one in world for standing in told.get(one.id, ())]
    for one, standing in closed:
        again, replaced = said.get(one.id), said.get(standing.by)
        if standing.state == SUPERSEDED and again and replaced and one.day and one.day < replaced < again:
            told[one.id].remove(standing)
            told[one.id].append(Standing(ACTIVE, again, None, standing.by, AGAIN))
            other = next(other for other in world if other.id == standing.by)
            told.setdefault(standing.by, []).append(_closed(other, SUPERSEDED, again, one.id, AGAIN))


def _infer(
    old: Statement,
    new: Statement,
    verdict: Verdict,
    told: dict[str, list[Standing]],
    doubtful: list[tuple[Statement, Statement]],
) -> None:
    sure = verdict.near_verbatim or verdict.probability >= SURE
    if verdict.relation in (SUPERSEDES, OLDER_LATE) and (tells_an_event(old) or tells_an_event(new)):
        # What happened once stays true, and changes no state unless it says so outright.
        return
    if verdict.relation == SUPERSEDES and old.day and new.day and old.day < new.day:
        if sure:
            told.setdefault(old.id, []).append(_closed(old, SUPERSEDED, new.day, new.id, verdict.reason))
        else:
            doubtful.append((old, new))
    elif verdict.relation == OLDER_LATE and sure:
        end = old.happened if old.happened and new.happened and new.happened < old.happened else old.day
        told.setdefault(new.id, []).append(_closed(new, SUPERSEDED, end, old.id, verdict.reason))
    elif verdict.relation == DUPLICATE and (verdict.near_verbatim or (sure and _shared(old, new) >= ALIKE)):
        told.setdefault(new.id, []).append(Standing(REPEATED, new.happened, None, old.id, verdict.reason))


def _shared(old: Statement, new: Statement) -> float:
    a, b = content_words(old.text), content_words(new.text)
    return len(a & b) / (len(a | b) or 1)


def _closed(one: Statement, state: str, day: date | None, by: str, reason: str) -> Standing:
    since = one.happened
    if since and day and since > day:
        since = None
    return Standing(state, since, day, by, reason)


def _rank(standing: Standing) -> tuple[int, int, str]:
    """What is said outright first, then the earliest end; what closes nothing last."""
    if standing.state in (ACTIVE, REPEATED):
        order = 2 if standing.state == ACTIVE else 3
    else:
        order = 0 if standing.reason in (OUTRIGHT, CONFIRMED) else 1
    return order, standing.valid_to.toordinal() if standing.valid_to else date.max.toordinal(), standing.by


def _apart(old: Statement, new: Statement) -> bool:
    """Whether both name spans of time that do not touch: both stand then, each for its own time."""
    one, other = old.occurred, new.occurred
    if one is None or other is None or "range" not in (one.precision, other.precision):
        return False
    return one.last < other.first or other.last < one.first
