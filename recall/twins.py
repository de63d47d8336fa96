"""What is said twice speaks for itself twice: a log often tells a thing as narrative and once more as a Retain fact.

The question's words may stand in the one, what it means in the other. So a fact and a note of the same file that are
near in meaning lend each other a part of their score; which of the two is shown is decided later.
"""

from collections.abc import Mapping, Sequence

from ..bank.vectors import Query
from .bundle import Ranked, ordered, with_signal

#: How near two passages must be for the one to say anything about the other (cosine by the built-in model).
NEAR = 0.4
_COMPARED = 120


def of_twins(candidates: Sequence[Ranked]) -> list[int]:
    """The passages whose vectors ``lend`` looks at."""
    return [one.passage.id for one in candidates[:_COMPARED]]


def lend(candidates: Sequence[Ranked], vectors: Mapping[int, bytes]) -> list[Ranked]:
    """The candidates, which are ordered, with the signal ``twin``: how near its nearest twin is, times that one's share
    of the best score. Ordered again."""
    head = candidates[:_COMPARED]
    best = head[0].score if head else 0.0
    if best <= 0:
        return list(candidates)
    by_file: dict[int, list[Ranked]] = {}
    for candidate in head:
        if candidate.passage.id in vectors:
            by_file.setdefault(candidate.passage.file, []).append(candidate)
    lent: dict[int, float] = {}
    for group in by_file.values():
        notes = [one for one in group if one.passage.kind == "note"]
        facts = [one for one in group if one.passage.kind != "note"]
        for note in notes if facts else ():
            query = Query(vectors[note.passage.id])
            for fact in facts:
                near = (query.cosine(vectors[fact.passage.id]) - NEAR) / (1 - NEAR)
                if near > 0:
                    for one, other in ((note, fact), (fact, note)):
                        worth = near * max(0.0, other.score) / best
                        lent[one.passage.id] = max(worth, lent.get(one.passage.id, 0.0))
    return ordered(
        [*(with_signal(one, "twin", lent.get(one.passage.id, 0.0)) for one in head), *candidates[_COMPARED:]]
    )
