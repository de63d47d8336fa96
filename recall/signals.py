"""What speaks for a candidate, as numbers from 0 to 1, and their weighted sum.

The weights are the recipe of ``docs/recall-quality.md``, measured on long conversations and checked on notes. Scores
are min-max normalised over the candidates of one question.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from ..parsers.names import fold
from ..parsers.records import Interval
from .candidates import Chunk, Passage

#: What each signal says, and its weight.
WEIGHTS: Mapping[str, float] = {
    # bm25 of the passage with its context
    "lexical": 1.0,
    # bm25 of the chunk around it
    "section": 0.6,
    # how near it comes in meaning
    "meaning": 0.77,
    # the same, the more the best passage by words lacks of what the question's words could bring
    "unsaid": 0.7,
    # for each word of the question, how near the nearest of its own words comes
    "kindred": 0.45,
    # the same, the more of the question's words no passage has
    "reworded": 0.45,
    # how near its neighbours in the section come
    "beside": 0.1,
    # what the same thing, said as a note or as a fact of the same file, has of all signals
    "twin": 0.3,
    # it mentions what the question names
    "entity": 0.5,
    # what the question names leads it (first entity, first word, its page)
    "lead": 0.42,
    # it mentions what is often named together with that
    "nearby": 0.1,
    # its day, or a day it speaks of, is near what the question says
    "time": 1.0,
    # it says when, and that is asked
    "when": 0.42,
    # it holds an identifier of the question, letter for letter
    "exact": 2.0,
    # it held in the days of which is asked how things stood
    "held": 0.6,
    # something else has taken its place
    "superseded": -0.12,
    # it is an opinion, and one is asked for
    "opinion": 0.25,
    # it is itself a question
    "question": -0.16,
    # a fact rather than a note, where nothing else tells them apart
    "typed": 0.03,
    # newer than other candidates, where nothing else tells them apart
    "recent": 0.03,
    # the same, when the question asks for what is so now
    "now": 1.2,
}
#: A signal weaker than this is none.
FAINT = 1e-4
#: The cosine from which on a passage can hardly come nearer in meaning.
SURE = 0.5
#: An entity counts half when the question names several.
SHARED_ENTITY = 0.5
#: A day this far from the asked interval counts nothing.
FADE_DAYS = 14
WEAK_TIME = 0.4


class Named(NamedTuple):
    """An entity that a question names: its folded names, the expression that finds them in a text, and whether so many
    passages mention it that this says little of any one."""

    slugs: frozenset[str]
    pattern: re.Pattern[str]
    is_common: bool = False


def normalised(scores: Mapping[int, float], ids: Iterable[int], from_zero: bool = False) -> dict[int, float]:
    """Min-max over the given ids; an id without a score counts as the lowest. ``from_zero``: shares of the largest."""
    wanted = list(ids)
    known = [scores[i] for i in wanted if i in scores]
    if not known:
        return dict.fromkeys(wanted, 0.0)
    low, high = min(known), max(known)
    if from_zero or len(known) < len(wanted):
        low = min(low, 0.0)
    if high <= low:
        return {i: 1.0 if i in scores else 0.0 for i in wanted}
    return {i: (scores.get(i, low) - low) / (high - low) for i in wanted}


def meaning_scores(cosines: Mapping[int, float], ids: Iterable[int]) -> dict[int, float]:
    """Cosines from the lowest (0, if none is below that) to the highest (``SURE``, if none is above that) as 0 to 1; an
    id without one counts as the lowest."""
    low = min(0.0, min(cosines.values(), default=0.0))
    high = max(SURE, max(cosines.values(), default=0.0))
    return {i: (cosines.get(i, low) - low) / (high - low) for i in ids}


def section_scores(passages: Sequence[Passage], chunks: Iterable[Chunk]) -> dict[int, float]:
    """For each passage the best score of a chunk that it stands in (0 for none)."""
    by_file: dict[int, list[Chunk]] = {}
    for chunk in chunks:
        by_file.setdefault(chunk.file, []).append(chunk)
    found = {}
    for passage in passages:
        around = [c.score for c in by_file.get(passage.file, ()) if c.line <= passage.line <= c.end_line]
        found[passage.id] = max(around, default=0.0)
    return found


def entity_signals(passage: Passage, named: Sequence[Named]) -> tuple[float, float]:
    """(entity, lead): 1 when a passage mentions or names what the question names, and when that leads it; half of it
    when the question names several."""
    if not named:
        return 0.0, 0.0
    slugs = _slugs(passage.entities)
    text = f"{passage.text}\n{passage.details}"
    own = fold(passage.path.rsplit("/", 1)[-1].removesuffix(".md")) if "/entities/" in passage.path else ""
    worth = 1.0 if len(named) == 1 else SHARED_ENTITY
    mentioned = leads = False
    for one in named:
        first = bool(slugs and slugs[0] in one.slugs) or own in one.slugs or bool(one.pattern.match(text))
        leads = leads or first
        if not one.is_common:
            mentioned = mentioned or first or not one.slugs.isdisjoint(slugs) or bool(one.pattern.search(text))
    return worth * mentioned, worth * leads


def nearby_signal(passage: Passage, near: Mapping[str, float]) -> float:
    """The largest weight of an entity that the passage mentions, among those ``near`` (by folded name) what the
    question names."""
    if not near:
        return 0.0
    return max((near.get(slug, 0.0) for slug in _slugs(passage.entities)), default=0.0)


@lru_cache(maxsize=4096)
def _slugs(entities: str) -> tuple[str, ...]:
    """The folded names in a JSON list of them."""
    return tuple(fold(name) for name in json.loads(entities))


def time_signal(passage: Passage, asked: Sequence[Interval]) -> float:
    """1 when the passage's day, or a day it speaks of, lies in what the question says; fading over 14 days beside
    it."""
    if not asked:
        return 0.0
    spans = json.loads(passage.spans)
    if passage.day is not None:
        spans.append([passage.day, passage.day])
    best = 0.0
    for interval in asked:
        low, high = interval.first.toordinal(), interval.last.toordinal()
        for first, last in spans:
            gap = max(0, low - last, first - high)
            best = max(best, 1 - gap / FADE_DAYS)
    return best


def when_signal(passage: Passage) -> float:
    """How well a passage can say when: 1 with days, 0.4 with a clock time or a duration."""
    return (0.0, WEAK_TIME, 1.0)[passage.timely]


def recent_signals(passages: Sequence[Passage]) -> dict[int, float]:
    """For each passage where its day stands among the days of all candidates: 1 the newest, 0 the oldest or undated."""
    days = sorted({passage.day for passage in passages if passage.day is not None})
    place = {day: number / max(1, len(days) - 1) for number, day in enumerate(days)}
    return {passage.id: place[passage.day] if passage.day is not None else 0.0 for passage in passages}


def exact_signal(passage: Passage, identifiers: Sequence[re.Pattern[str]]) -> float:
    """The share of the question's identifiers that the passage holds letter for letter."""
    if not identifiers:
        return 0.0
    text = f"{passage.text}\n{passage.details}"
    return sum(1 for pattern in identifiers if pattern.search(text)) / len(identifiers)


def identifier_pattern(identifier: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W_]){re.escape(identifier)}(?![^\W_])", re.IGNORECASE)


def total(signals: Mapping[str, float]) -> float:
    """The weighted sum."""
    return sum(WEIGHTS[name] * value for name, value in signals.items())


def best_total(names: Iterable[str]) -> float:
    """The largest sum that the signals in play can reach: what a score of 1 means."""
    played = set(names)
    return sum(weight for name, weight in WEIGHTS.items() if weight > 0 and name in played)
