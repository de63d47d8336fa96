"""From ranked candidates to what the reader gets: repeats folded, near-repeats behind, the token budget kept."""

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ..parsers.chunks import cut_line
from ..parsers.tokens import estimate_tokens
from . import signals
from .candidates import Passage

if TYPE_CHECKING:
    from .standing import Standing

#: What a passage loses when most of its rare words stand in a better one of the same file.
REPEAT_PENALTY = 0.3
REPEAT_SHARE = 0.5
_COMPARED = 120
_WORD = re.compile(r"\w{2,}")


class Ranked(NamedTuple):
    """A candidate with its score (comparable within one answer) and the signals behind it."""

    passage: Passage
    score: float
    signals: dict[str, float]


def with_signal(candidate: Ranked, name: str, value: float) -> Ranked:
    """A candidate that one more signal speaks for."""
    if value < signals.FAINT:
        return candidate
    score = candidate.score + signals.WEIGHTS[name] * value
    return candidate._replace(score=score, signals=candidate.signals | {name: value})


def ordered(candidates: Sequence[Ranked]) -> list[Ranked]:
    """Best first; equal scores newest first, then by place."""
    return sorted(candidates, key=lambda r: (-r.score, -(r.passage.day or 0), *r.passage.place))


def fold_repeats(candidates: Sequence[Ranked]) -> list[Ranked]:
    """One candidate for each thing said, with the score of its best place; expects them ordered.

    It is cited where it is dated, if it is dated anywhere: a log says when, a page may not.
    """
    kept: dict[str, Ranked] = {}
    for candidate in candidates:
        best = kept.setdefault(candidate.passage.key, candidate)
        if best.passage.day is None and candidate.passage.day is not None:
            kept[candidate.passage.key] = best._replace(passage=candidate.passage)
    return list(kept.values())


def push_back_repeats(candidates: Sequence[Ranked]) -> list[Ranked]:
    """Passages whose rare words mostly stand in a better passage of the same file lose ``REPEAT_PENALTY``.

    A log often says a thing twice, as narrative and as a Retain fact. Nothing is dropped: both sides of a
    contradiction stay, and what was pushed back still fills a larger budget.
    """
    head, tail = candidates[:_COMPARED], candidates[_COMPARED:]
    words = [_beginnings(candidate.passage.text) for candidate in head]
    spread = Counter(word for own in words for word in own)
    weight = {word: math.log(1 + len(head) / count) for word, count in spread.items()}
    weighed = [sum(weight[w] for w in sorted(own)) for own in words]
    better: dict[int, list[int]] = {}
    moved: list[Ranked] = []
    for number, candidate in enumerate(head):
        said = better.setdefault(candidate.passage.file, [])
        if any(_overlap(words, weighed, weight, number, other) >= REPEAT_SHARE for other in said):
            told = candidate.signals | {"repeat": 1.0}
            moved.append(candidate._replace(score=candidate.score - REPEAT_PENALTY, signals=told))
        else:
            said.append(number)
            moved.append(candidate)
    return ordered([*moved, *tail])


@lru_cache(maxsize=4096)
def _beginnings(text: str) -> frozenset[str]:
    """The first six letters of each word."""
    return frozenset(word[:6] for word in _WORD.findall(text.casefold()))


def _overlap(
    words: list[frozenset[str]], weighed: list[float], weight: dict[str, float], one: int, other: int
) -> float:
    smaller = min(weighed[one], weighed[other])
    return sum(weight[w] for w in sorted(words[one] & words[other])) / smaller if smaller else 0.0


def citation(path: str, line: int, end_line: int) -> str:
    """``path#L4`` or ``path#L4-L9``."""
    return f"{path}#L{line}" if end_line <= line else f"{path}#L{line}-L{end_line}"


def content(passage: Passage) -> str:
    """What a passage says: its text, its details as lines below it."""
    details = "".join(f"\n- {detail}" for detail in passage.details.split("\n") if detail)
    return passage.text + details


def result(
    ranked: Ranked, places: Sequence[tuple[str, int, int]], score: float, standing: "Standing | None" = None
) -> dict[str, Any]:
    """One entry of ``results``: see ``docs/json.md``. ``standing``: how what it says stands, where pages tell."""
    passage = ranked.passage
    source = citation(passage.path, passage.line, passage.end_line)
    days = None
    if passage.first is not None and passage.last is not None:
        first, last = date.fromordinal(passage.first), date.fromordinal(passage.last)
        days = {"first": first.isoformat(), "last": last.isoformat(), "precision": passage.precision}
    others = [cited for cited in (citation(*place) for place in places) if cited != source]
    return {
        "id": passage.key,
        "kind": passage.kind,
        "timestamp": _timestamp(passage, days),
        "occurred": days,
        "entities": json.loads(passage.entities),
        "content": content(passage),
        "source": source,
        "places": [source, *others],
        "origin": passage.origin,
        "confidence": _confidence(passage, standing),
        "stated_confidence": passage.confidence,
        "valid_from": _day(standing.valid_from) if standing else None,
        "valid_to": _day(standing.valid_to) if standing else None,
        "superseded_by": (standing.superseded_by or None) if standing else None,
        "score": score,
    }


def _confidence(passage: Passage, standing: "Standing | None") -> float | None:
    """By now, as far as a page says so; else as it was stated."""
    return passage.confidence if standing is None or standing.confidence is None else standing.confidence


def _day(ordinal: int | None) -> str | None:
    return None if ordinal is None else date.fromordinal(ordinal).isoformat()


def _timestamp(passage: Passage, days: dict[str, Any] | None) -> str | None:
    """The source's day; for an undated source the days that it speaks of."""
    if passage.day is not None:
        return date.fromordinal(passage.day).isoformat()
    if days is None:
        return None
    return str(days["first"]) if days["first"] == days["last"] else f"{days['first']}/{days['last']}"


def fit(candidates: Sequence[Ranked], k: int, budget: int) -> tuple[list[Ranked], int, int]:
    """The first ``k`` that fit into ``budget`` tokens, best first, smaller ones filling what larger ones leave; their
    tokens, and how many were left out. The best one is cut to the budget if it is larger."""
    taken: list[Ranked] = []
    spent = 0
    for number, candidate in enumerate(candidates):
        cost = estimate_tokens(content(candidate.passage))
        if not number and cost > budget and k > 0:
            candidate = candidate._replace(passage=_cut(candidate.passage, budget))
            cost = estimate_tokens(content(candidate.passage))
        if len(taken) < k and spent + cost <= budget:
            taken.append(candidate)
            spent += cost
    return taken, spent, len(candidates) - len(taken)


def _cut(passage: Passage, budget: int) -> Passage:
    """A passage with as much of its text as fits, and a sign that more follows."""
    text = next(cut_line(passage.text.replace("\n", " "), max(1, budget - 1)), "")
    return passage._replace(text=f"{text.rstrip()} …", details="")


def strict_scores(candidates: Sequence[Ranked], best: float) -> list[float]:
    """Scores as shares of the best possible sum, strictly falling."""
    return strictly_falling([ranked.score / best if best > 0 else 0.0 for ranked in candidates])


def strictly_falling(scores: Sequence[float]) -> list[float]:
    """Scores in 0..1, six places, each a step below the one before it at least, and the last one still above 0."""
    falling: list[float] = []
    for left, score in zip(range(len(scores), 0, -1), scores, strict=True):
        above = falling[-1] - 1e-6 if falling else 1.0
        falling.append(round(min(above, max(score, left * 1e-6)), 6))
    return falling
