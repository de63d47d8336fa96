"""What is judged, and what a judgement looks like: immutable records that every scorer takes and gives."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple, Protocol, runtime_checkable

SUPPORTS, CONTRADICTS, NEUTRAL = "supports", "contradicts", "neutral"
SUPERSEDES, DUPLICATE, COEXISTS, OLDER_LATE = "supersedes", "duplicate", "coexists", "older_late"
WEAK, NORMAL, STRONG = "weak", "normal", "strong"


class Claim(NamedTuple):
    """One side of a pair. ``text``: what is said, on one line. ``kind``: world, experience, opinion or observation.
    ``entities``: names as written, leading ones first. ``day``: of the log, None where undated."""

    text: str
    kind: str
    entities: tuple[str, ...]
    day: date | None


class Stance(NamedTuple):
    """What a newer fact does to an opinion.

    ``relation``: supports, contradicts or neutral. ``strength``: weak, normal or strong; None when neutral.
    ``near_verbatim``: the fact restates the opinion, or negates it outright, in nearly its own words. ``reason``: the
    test that decided and the words it decided on, for people. ``probability``: of the relation, 0..1.
    """

    relation: str
    strength: str | None
    near_verbatim: bool
    reason: str
    probability: float


class Succession(NamedTuple):
    """What a newer world fact does to an older one: supersedes, duplicate, coexists or older_late (the newer line tells
    of an earlier state). ``reason`` and ``probability`` as in ``Stance``; ``near_verbatim``: nearly the same words."""

    relation: str
    near_verbatim: bool
    reason: str
    probability: float


class Scorer(Protocol):
    """Labels pairs. ``name``: rules, learned or model. ``fingerprint``: changes when its answers may."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str: ...

    def stance(self, opinion: Claim, fact: Claim) -> Stance: ...

    def succession(self, old: Claim, new: Claim) -> Succession: ...


@runtime_checkable
class Preparing(Protocol):
    """A scorer that waits for answers, and can wait for several at once."""

    def prepare(self, task: str, pairs: Sequence[tuple[Claim, Claim]]) -> None:
        """Ask about pairs (the older first) that are judged next. ``task``: stance or succession."""
        ...
