"""How sure an opinion is by now: a prior, and independent witnesses for and against it.

The rule is pure. Confidence is computed from the evidence each time, never incremented, so that taking a line away
undoes exactly what it did. In form it is the mean of a Beta distribution whose prior counts as ``PRIOR_STRENGTH``
observations (Jøsang, *Subjective Logic*, 2016, section 3.3): ``c = (k·c0 + S) / (k + S + C)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from typing import NamedTuple

SUPPORTS, CONTRADICTS = "supports", "contradicts"
WEAK, NORMAL, STRONG = "weak", "normal", "strong"

#: k: how many ordinary observations the stated confidence is worth.
PRIOR_STRENGTH = 6.0
#: c0 of an opinion that was stated without a number, and the bounds of any c0.
PRIOR, LEAST, MOST = 0.60, 0.05, 0.95
WEIGHTS = {WEAK: 0.5, NORMAL: 1.0, STRONG: 1.0}
#: What a verdict counts that was inferred, and what the further items of one witness add at most.
INFERRED, FURTHER = 0.5, 0.5
#: A witness never weighs more than an ordinary observation, except a corroborated strong contradiction.
FULL, CORROBORATED = 1.0, 2.0
#: Contested: this much evidence at least, and this share of it on the smaller side.
CONTESTED_LEAST, CONTESTED_SHARE = 2.0, 0.3


class Item(NamedTuple):
    """One piece of evidence. ``id``: of the fact. ``citation``: where it stands. ``path``, ``day``: its document.
    ``relation``: supports or contradicts. ``strength``: weak, normal or strong. ``inferred``: by a classifier or a
    model, not said outright. ``quote``: its words. ``reason``: why it counts."""

    id: str
    citation: str
    path: str
    day: date | None
    relation: str
    strength: str
    inferred: bool
    quote: str
    reason: str

    @property
    def weight(self) -> float:
        return WEIGHTS[self.strength] * (INFERRED if self.inferred else 1.0)

    @property
    def is_strong(self) -> bool:
        return self.strength == STRONG and not self.inferred


class Witness(NamedTuple):
    """All that one document of one day says on one side. ``items``: heaviest first. ``weight``: what they count
    together."""

    path: str
    day: date | None
    relation: str
    items: tuple[Item, ...]
    weight: float


class Belief(NamedTuple):
    """What follows from a prior and its witnesses. ``prior``: c0, clamped. ``confidence``: strictly between 0 and 1.
    ``support``, ``contradiction``: the sums S and C. ``copied``: what was taken off the witnesses' weights, since one
    fact stands in several documents of one day. ``witnesses``: by day and path."""

    prior: float
    confidence: float
    support: float
    contradiction: float
    contested: bool
    copied: float
    witnesses: tuple[Witness, ...]

    def side(self, relation: str) -> tuple[Witness, ...]:
        """The witnesses on one side."""
        return tuple(witness for witness in self.witnesses if witness.relation == relation)


def believe(stated: float | None, items: Iterable[Item]) -> Belief:
    """The confidence that a stated one (0..1, None: no number) and evidence come to, in whatever order it is given.

    What several documents of one day copy from each other counts once. One witness moves the result by 1/(k+1) at most,
    unless a strong contradiction is corroborated by a second, independent one: then each strong one weighs twice.
    """
    prior = min(MOST, max(LEAST, PRIOR if stated is None else stated))
    told = sorted(set(items), key=_order)
    support, for_it, copied_for = _side(told, SUPPORTS)
    contradiction, against, copied_against = _side(told, CONTRADICTS)
    total = support + contradiction
    return Belief(
        prior,
        (PRIOR_STRENGTH * prior + support) / (PRIOR_STRENGTH + total),
        support,
        contradiction,
        total >= CONTESTED_LEAST and min(support, contradiction) >= CONTESTED_SHARE * total,
        copied_for + copied_against,
        tuple(sorted([*for_it, *against], key=lambda w: (_ordinal(w.day), w.path, w.relation))),
    )


def _side(told: Sequence[Item], relation: str) -> tuple[float, list[Witness], float]:
    """The sum of one side, its witnesses, and what copies are taken off their weights."""
    facts: dict[tuple[str, date | None], Item] = {}
    documents: dict[tuple[str, date | None], list[Item]] = {}
    for item in told:
        if item.relation == relation:
            best = facts.setdefault((item.id, item.day), item)
            if item.weight > best.weight or item.is_strong:
                facts[item.id, item.day] = item
            documents.setdefault((item.path, item.day), []).append(item)
    twice = (
        relation == CONTRADICTS
        and min(len(facts), len(documents)) > 1
        and any(item.is_strong for item in facts.values())
    )
    witnesses = [_witness(path, day, relation, items, twice) for (path, day), items in documents.items()]
    weighed = sum(witness.weight for witness in witnesses)
    # Each copy stands in its own document; but together facts never count more than each of them once.
    once = sum(item.weight * (CORROBORATED if twice and item.is_strong else 1.0) for item in facts.values())
    return min(weighed, once), witnesses, max(0.0, weighed - once)


def _witness(path: str, day: date | None, relation: str, items: Sequence[Item], twice: bool) -> Witness:
    heaviest = sorted(items, key=lambda item: (-item.weight, _order(item)))
    # A fact that one document tells twice is one item of it.
    own = list({item.id: item for item in reversed(heaviest)}.values())[::-1]
    weight = min(FULL, own[0].weight + min(FURTHER, sum(item.weight for item in own[1:])))
    if twice and any(item.is_strong for item in own):
        weight *= CORROBORATED
    return Witness(path, day, relation, tuple(own), weight)


def _order(item: Item) -> tuple[object, ...]:
    return _ordinal(item.day), item.path, item.citation, *item[4:], item.id


def _ordinal(day: date | None) -> int:
    return day.toordinal() if day else 0


def course(stated: float | None, items: Iterable[Item], since: date | None) -> list[tuple[date | None, float]]:
    """How the confidence moved: (day, confidence) after the prior (day ``since``) and after each day with evidence."""
    told = sorted(items, key=_order)
    steps: list[tuple[date | None, float]] = [(since, believe(stated, ()).confidence)]
    for day in sorted({item.day for item in told}, key=_ordinal):
        upto = [item for item in told if _ordinal(item.day) <= _ordinal(day)]
        steps.append((day, believe(stated, upto).confidence))
    return steps
