"""Pairs of statements put to the scorer, each once: what was judged is kept, and only new statements are looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

from .nearness import FOR_STANCE, FOR_SUCCESSION, Pool
from .state import State
from .statements import Statement
from .verdicts.records import COEXISTS, NEUTRAL, Claim, Preparing, Scorer, Stance, Succession

_STANCE, _SUCCESSION = "stance", "succession"


class Pair(NamedTuple):
    """A verdict other than that the newer fact leaves the older one as it is."""

    old: Statement
    new: Statement
    verdict: Succession


def claim(one: Statement) -> Claim:
    return Claim(one.text, one.kind, one.names, one.day)


class About:
    """The facts that may bear on opinions about some entities, looked through once for all of these."""

    def __init__(self, facts: Sequence[Statement], state: State, run: int) -> None:
        self.facts = sorted(facts, key=lambda one: one.id)
        self.marks = [_mark(one) for one in self.facts]
        self.by_mark = dict(zip(self.marks, self.facts, strict=True))
        seen = state.seen(self.marks, run)
        self.seen = [seen[mark] for mark in self.marks]
        self.latest = max(self.seen, default=0)

    @cached_property
    def pool(self) -> Pool:
        return Pool(self.facts)


class Judging:
    """A scorer with the verdicts that it gave before. ``run``: larger than that of any earlier run."""

    def __init__(self, scorer: Scorer, state: State, run: int) -> None:
        self.scorer, self.state, self.run = scorer, state, run
        self._about: tuple[tuple[str, ...], About] | None = None

    def successions(self, slug: str, facts: Sequence[Statement]) -> list[Pair]:
        """What newer facts of one entity do to older ones, by the older, then the newer."""
        facts = sorted(facts, key=lambda one: (*one.order, one.id))
        marks = [_mark(one) for one in facts]
        new = self._new(_SUCCESSION, slug, marks)
        if new:
            pool = Pool(facts)
            pairs = sorted({(min(pair), max(pair)) for pair in pool.near(new, FOR_SUCCESSION)})
            self._prepare(_SUCCESSION, [(claim(facts[old]), claim(facts[newer])) for old, newer in pairs])
            for old, newer in pairs:
                verdict = self.scorer.succession(claim(facts[old]), claim(facts[newer]))
                told = None if verdict.relation == COEXISTS else list(verdict)
                self.state.set_verdict(_SUCCESSION, marks[old], marks[newer], told)
        known = dict(zip(marks, facts, strict=True))
        told_pairs = self.state.verdicts(_SUCCESSION, marks)
        found = [Pair(known[a], known[b], Succession(*told)) for a, b, told in told_pairs if b in known]
        return sorted(found, key=lambda pair: (*pair.old.order, pair.old.id, *pair.new.order, pair.new.id))

    def stances(
        self, opinion: Statement, leads: Sequence[str], facts: Callable[[], Sequence[Statement]]
    ) -> list[tuple[str, Stance]]:
        """What the facts about some entities (``leads``) say for or against an opinion: (id of the fact, verdict).

        ``facts`` gives them; it is called once for opinions about the same entities that follow each other.
        """
        if self._about is None or self._about[0] != tuple(leads):
            self._about = (tuple(leads), About(facts(), self.state, self.run))
        about, own = self._about[1], _mark(opinion)
        left = " ".join([own, *leads])
        upto = self.state.judged(_STANCE, left)
        if about.latest > upto:
            near = about.pool.near_text(opinion.text, FOR_STANCE)
            near = [n for n in near if about.seen[n] > upto and about.facts[n].id != opinion.id]
            self._prepare(_STANCE, [(claim(opinion), claim(about.facts[number])) for number in near])
            for number in near:
                verdict = self.scorer.stance(claim(opinion), claim(about.facts[number]))
                kept = None if verdict.relation == NEUTRAL else list(verdict)
                self.state.set_verdict(_STANCE, own, about.marks[number], kept)
            self.state.set_judged(_STANCE, left, self.run)
        found = self.state.verdicts(_STANCE, [own])
        return [(about.by_mark[b].id, Stance(*row)) for _, b, row in found if b in about.by_mark]

    def _prepare(self, task: str, pairs: Sequence[tuple[Claim, Claim]]) -> None:
        """Let a scorer that waits for answers ask for several at a time."""
        if pairs and isinstance(self.scorer, Preparing):
            self.scorer.prepare(task, pairs)

    def forget_facts(self) -> None:
        """What was looked through belongs to statements that are not held any more."""
        self._about = None

    def _new(self, kind: str, left: str, marks: Sequence[str]) -> list[int]:
        """The places of the statements that have not been judged for ``left``; from now on they have."""
        seen = self.state.seen(marks, self.run)
        upto = self.state.judged(kind, left)
        new = [number for number, mark in enumerate(marks) if seen[mark] > upto]
        if new:
            self.state.set_judged(kind, left, self.run)
        return new


def _mark(one: Statement) -> str:
    """A statement as it is judged: what it says, when, and where it stands among others."""
    return f"{one.id} {one.order[0]} {one.first.path} {one.first.line}"
