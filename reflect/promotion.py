"""Promotion: facts that last and are asked for, reviewed, and put into the core memory with a mark that says so.

What is proposed, and in which order, is ``core_proposals``'s; what may be written is ``core_memory``'s. The mark is
OpenClaw's (``<!-- openclaw-memory-promotion:KEY -->``), with the fact's id as its key and on the line itself, which
OpenClaw therefore leaves alone when it makes room. Its own marks count too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import NamedTuple

from ..bank.errors import UsageFault
from ..bank.files import FileMissing, read_text
from ..bank.freshness import open_fresh
from ..bank.sync import Progress
from ..bank.workspace import Workspace
from ..parsers.relations import parse_target
from .asking import closed_facts, confidences, core_facts, read_answers
from .core_memory import append_to_core
from .core_proposals import CoreFact, propose, score
from .core_rules import CoreRefused
from .job import Run, opened
from .suggestion_lines import Proposal, proposal_key
from .verdicts.records import Scorer

_MARK = re.compile(r"<!--\s*openclaw-memory-promotion:([^\n]*?)\s*-->", re.IGNORECASE)
#: OpenClaw's own keys name the lines that were promoted: ``memory:memory/2025-12-01.md:3:5``.
_PLACE = re.compile(r"(?:[a-z]+:)?(?P<path>.+?\.md):(?P<first>\d+):(?P<last>\d+)(?::.*)?")


class Candidate(NamedTuple):
    """A fact that could be promoted. ``score``: 0..1. ``promoted``: it stands in the core already, with its mark."""

    proposal: Proposal
    fact: CoreFact
    score: float
    promoted: bool = False

    @property
    def line(self) -> str:
        """What would be written."""
        one = self.proposal
        return f"- {one.text} ({one.citation}) {mark_of(one.fact_id)}"


class Review(NamedTuple):
    """``candidates``: best first. ``today``: the day from which on what is past counts as past."""

    candidates: tuple[Candidate, ...]
    today: date


class Outcome(NamedTuple):
    """``added``: with their citations in the core; "" for one that stood there already. ``refused``: with why."""

    added: tuple[tuple[Candidate, str], ...]
    refused: tuple[tuple[Candidate, CoreRefused], ...]


def mark_of(key: str) -> str:
    return f"<!-- openclaw-memory-promotion:{key} -->"


def promoted_keys(core: str) -> frozenset[str]:
    """The keys of all marks in a text, OpenClaw's and ours."""
    return frozenset(key for key in _MARK.findall(core) if key)


def review(
    workspace: Workspace,
    *,
    now: datetime,
    scorer: Scorer | None,
    least_score: float = 0.0,
    least_recalls: int = 0,
    include_promoted: bool = False,
    progress: Progress | None = None,
) -> Review:
    """What could be promoted, by the logs as they are now; writes nothing.

    Left out is what the core says or has a mark of, and what a person has refused on the page of suggestions.
    ``least_recalls``: days. ``include_promoted``: list what has a mark too. Raises ``MemoryFault`` as recall does.
    """
    open_fresh(workspace, progress=progress).connection.close()
    with opened(workspace, scorer, on_disk=False) as (connection, state):
        run = Run(workspace, connection, state, now.date(), scorer)
        run.work()
        means, units = run.means, run.units
        facts = {
            one.id: one
            for one in core_facts(workspace, connection, means, closed_facts(units), confidences(units))
            if one.recalls >= least_recalls
        }
        today = run.changes.latest or now.date()
    core = _core_text(workspace)
    keys = promoted_keys(core)
    done = [one for one in facts.values() if is_promoted(one, keys)]
    refused = read_answers(workspace).said.core_refused
    left = [one for one in facts.values() if one not in done and proposal_key(one.id) not in refused]
    found = [Candidate(one, facts[one.fact_id], score(facts[one.fact_id])) for one in _all(left, core, today)]
    if include_promoted:
        found += [
            Candidate(Proposal(one.id, one.text, one.citation, "promoted", proposal_key(one.id)), one, score(one), True)
            for one in done
        ]
    found = [one for one in found if one.score >= least_score]
    return Review(tuple(sorted(found, key=lambda one: -one.score)), today)


def is_promoted(fact: CoreFact, keys: Iterable[str]) -> bool:
    """Whether a mark names a fact, by its id or by the lines that it stands on."""
    path, _, lines = fact.citation.partition("#L")
    number = int(re.match(r"\d+", lines)[0]) if lines else 0  # type: ignore[index]
    for key in keys:
        if key == fact.id:
            return True
        place = _PLACE.fullmatch(key)
        if place and place["path"] == path and int(place["first"]) <= number <= int(place["last"]):
            return True
    return False


def selected(candidates: Sequence[Candidate], wanted: Sequence[str], limit: int | None) -> list[Candidate]:
    """The best ``limit`` candidates, or those that are ``wanted`` by id, the start of one, or citation.

    Raises ``UsageFault`` for one that is no candidate, or several.
    """
    chosen: list[Candidate] = []
    for word in wanted:
        start = word.strip().removeprefix("^").casefold()
        target = parse_target(word.strip())
        cited = f"{target.path}#L{target.line}" if target and target.path else ""
        found = [
            one
            for one in candidates
            if (cited and one.proposal.citation == cited)
            or (len(start) >= 3 and one.proposal.fact_id.startswith(start))
        ]
        if len(found) != 1:
            what = "several candidates have this id" if found else "no candidate has this id"
            raise UsageFault(what, word, "see `openclaw memory promote` for ids")
        chosen += [one for one in found if one not in chosen]
    return (chosen or list(candidates))[:limit]


def promote(workspace: Workspace, candidates: Sequence[Candidate], *, section: str = "") -> Outcome:
    """Put candidates into the core memory, one by one, each with its mark; what the core's rules refuse is told.

    ``section``: its heading ("" for ``Learned``). Raises ``Busy``, ``PathNotAllowed`` and ``MemoryFault`` where the
    core cannot be written at all.
    """
    added: list[tuple[Candidate, str]] = []
    refused: list[tuple[Candidate, CoreRefused]] = []
    for one in candidates:
        if one.promoted:
            continue
        try:
            added.append((one, append_to_core(workspace, one.line, section).citation))
        except CoreRefused as refusal:
            refused.append((one, refusal))
    return Outcome(tuple(added), tuple(refused))


def _all(facts: Sequence[CoreFact], core: str, today: date) -> list[Proposal]:
    return propose(facts, core, today, most=len(facts))


def _core_text(workspace: Workspace) -> str:
    texts = []
    for path in workspace.core_paths():
        try:
            texts.append(read_text(path).text)
        except FileMissing:
            continue
    return "\n".join(texts)
