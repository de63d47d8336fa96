"""``bank/opinions.md``, the ledger: each opinion with the number that was stated, where it is now, and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..parsers.ledger import also_stated, confidence_now
from ..parsers.retain import render_fact
from .beliefs import CONTRADICTS, SUPPORTS, Item
from .blocks import Line
from .opinions import Opinion
from .wording import key_of, trimmed

BLOCK, OPINIONS = "opinions", "bank/opinions.md"
#: With more opinions than this, those that stand as they were stated are on their entities' pages alone.
MOST = 1000


def ledger_lines(opinions: Sequence[Opinion]) -> list[Line]:
    """One opinion's lines, or several's: the statement with its confidence by now, and below it the numbers, the other
    wordings, and the evidence on each side."""
    return [line for one in opinions for line in _entry(one)]


def heading(slug: str, name: str) -> Line:
    """What stands above the opinions of one entity."""
    return Line(key_of("heading", "opinions", slug), f"## {name}", heading=True)


def _entry(one: Opinion) -> Iterable[Line]:
    key = key_of(one.id)
    number = float(f"{one.belief.confidence:.2f}")
    head = render_fact("opinion", one.shown.names, number, trimmed(one.shown.text))
    anchors = (f"^{one.id}", one.stated_at.citation)
    yield Line(key, f"{head} ^{one.id}", anchors=anchors)
    day = f" on {one.stated_at.day.isoformat()}" if one.stated_at.day else ""
    stated = f"stated {one.stated:.2f}" if one.stated is not None else "stated without a number"
    last = max((item.day for item in one.items if item.day), default=None)
    parts = [
        f"{stated}{day}, {one.stated_at.citation}",
        confidence_now(number),
        *([f"last evidence {last.isoformat()}"] if last else []),
        *(["contested"] if one.belief.contested else []),
    ]
    yield Line(key_of(one.id, "numbers"), f"  - {' · '.join(parts)}", parent=key)
    also = [
        (place.citation, member.id if member.id != one.id else "")
        for member in one.members
        for place in member.places
        if not place.is_ledger and place.citation != one.stated_at.citation
    ]
    if also:
        yield Line(key_of(one.id, "also"), f"  - {also_stated(also)}", parent=key)
    for relation in (SUPPORTS, CONTRADICTS):
        items = [item for witness in one.belief.side(relation) for item in witness.items]
        if items:
            yield Line(key_of(one.id, relation), f"  - {relation}: {_told(items)}", parent=key)
    if one.history:
        before = _told(
            sorted(one.history, key=lambda i: (i.day.toordinal() if i.day else 0, i.citation)), relation=True
        )
        yield Line(key_of(one.id, "before"), f"  - before that: {before}", parent=key)


def _told(items: Sequence[Item], relation: bool = False) -> str:
    return "; ".join(
        f"{item.citation} ^{item.id}{f' {item.relation}' if relation else ''} “{trimmed(item.quote).rstrip('.')}”"
        f" ({item.strength}, {item.reason})"
        for item in items
    )
