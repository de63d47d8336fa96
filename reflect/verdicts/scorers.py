"""The scorers that are always there, by name."""

from __future__ import annotations

from ...bank.errors import UsageFault
from .records import Scorer

NAMES = ("rules", "learned")


def make_scorer(name: str) -> Scorer:
    """``rules`` or ``learned``; raises ``UsageFault`` for another name."""
    if name == "rules":
        from .rules import RulesScorer

        return RulesScorer()
    if name == "learned":
        from .learned import LearnedScorer

        return LearnedScorer()
    raise UsageFault(f"no such judge: {name}", remedy=f"use {', '.join(NAMES)}")
