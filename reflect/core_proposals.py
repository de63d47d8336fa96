"""Which facts belong into the core memory: those that last, were said more than once, and are asked for.

A pure function of what is known of the facts and of the core's text. It only proposes: nothing gets into the core
without a person's tick (``suggestions``, ``core_memory``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date
from typing import NamedTuple

from ..parsers.lines import read_lines
from ..parsers.secrets import looks_secret
from ..parsers.times import find_times
from .suggestion_lines import Proposal, proposal_key
from .verdicts.wordforms import content_words

#: What each kind counts. An opinion counts as much as it is sure; an observation is reflect's own, and is not proposed.
KIND_WEIGHTS = {"world": 1.0, "experience": 0.6}
#: An opinion that is less sure is not proposed. One without a number is taken to be this sure.
LEAST_SURE = UNSTATED = 0.6
#: On so many days at least it was said, or recalled.
LEAST_DAYS, LEAST_RECALLS = 2, 3
#: Characters of a bullet: the core is read with every prompt.
LONGEST = 280
#: How the parts add up: days on which it was said, recalls, sources; and how many of each count half.
_WEIGHTS = (0.4, 0.35, 0.25)
_HALF = (2.0, 3.0, 1.0)

_PASSING = re.compile(
    r"\b(?:currently|at the moment|for now|right now|for the time being|temporar(?:y|ily)|today|tonight|tomorrow"
    r"|yesterday|(?:this|next|last) (?:week|weekend|month|morning|afternoon|evening|night)"
    r"|derzeit|zurzeit|momentan|gerade|vorübergehend|heute|morgen|gestern|(?:diese|nächste|letzte) woche"
    r"|actualmente|por ahora|hoy|mañana|ayer|esta semana|actuellement|en ce moment|aujourd['’]hui|demain|hier"
    r"|cette semaine|attualmente|oggi|domani|ieri|atualmente|hoje|amanhã|ontem)\b"
    r"|目前|暂时|今天|明天|昨天|这周|本周|今日|明日|今週",
    re.IGNORECASE,
)
#: Beside these a day is no appointment.
_LASTING = re.compile(
    r"\b(?:since|born|birthdays?|anniversar(?:y|ies)|every|each|expires?|valid|seit|geboren|geburtstag|jeden?|gültig"
    r"|desde|nacid[oa]|nació|cumpleaños|cada|depuis|née?|anniversaire|chaque|dal|compleanno|nascid[oa])\b|生日|生于|每|从",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nicht|kein\w*|nie|niemals|nunca|jamás|ne|pas|jamais|non|mai|não)\b|n['’]t\b|[不没]",
    re.IGNORECASE,
)
_HEADING = re.compile(r" {0,3}(#{1,6})\s+(.*)$")


class CoreFact(NamedTuple):
    """What is known of one fact. ``names``: of whom it is about, as written. ``days``: on which it was said, in order.
    ``sources``: how many files of different days say it. ``recalls``: on how many days it was recalled.
    ``confidence``: an opinion's by now, 0..1, None without one."""

    id: str
    kind: str
    text: str
    names: tuple[str, ...]
    citation: str
    days: tuple[date, ...]
    sources: int
    recalls: int
    superseded: bool = False
    confidence: float | None = None


def propose(facts: Iterable[CoreFact], core: str, today: date, *, most: int = 20) -> list[Proposal]:
    """The facts to propose for the core, best first, at most ``most``. ``core``: its text by now, "" without one."""
    held = _entries(core)
    ranked = sorted((-score(one), one.citation, one.id, one) for one in facts if is_durable(one, today))
    found: list[Proposal] = []
    for _, _, _, one in ranked:
        bullet = bullet_of(one)
        words = _meaning(bullet)
        if len(found) == most:
            break
        if len(bullet) > LONGEST or any(_holds(entry, words) for entry in held):
            continue
        held.append(words)
        days = len(set(one.days))
        reason = f"said on {days} days" if days >= LEAST_DAYS else "recalled often"
        found.append(Proposal(one.id, bullet, one.citation, reason, proposal_key(one.id)))
    return found


def score(one: CoreFact) -> float:
    """0..1: how well a fact is supported and how often it was recalled. Each part saturates, as one more of many says
    little."""
    counts = (len(set(one.days)) - 1, one.recalls, one.sources - 1)
    parts = zip(_WEIGHTS, counts, _HALF, strict=True)
    total = sum(weight * count / (count + half) for weight, count, half in parts if count > 0)
    sure = UNSTATED if one.confidence is None else one.confidence
    return total * (sure if one.kind == "opinion" else KIND_WEIGHTS.get(one.kind, 0.0))


def is_durable(one: CoreFact, today: date) -> bool:
    """Whether a fact may be proposed at all: it holds, it lasts, there is enough behind it, and it is no secret."""
    if one.superseded or (one.kind != "opinion" and one.kind not in KIND_WEIGHTS):
        return False
    if one.kind == "opinion" and one.confidence is not None and one.confidence < LEAST_SURE:
        return False
    if len(set(one.days)) < LEAST_DAYS and one.recalls < LEAST_RECALLS:
        return False
    # What would be read as marks of the page or of the core is not worth the trouble.
    if not one.text.strip() or any(mark in one.text for mark in ("<!--", "-->", "~~", "\n")) or looks_secret(one.text):
        return False
    return not is_temporary(one.text, max(one.days, default=None), today)


def is_temporary(text: str, day: date | None, today: date) -> bool:
    """Whether a text tells of a passing state ("this week"), or of days that are over ("the dentist on 12 November").
    ``day``: on which it was said."""
    if _PASSING.search(text):
        return True
    if _LASTING.search(text):
        return False
    for time in find_times(text, day):
        if time.source == "relative":
            return True
        if time.interval and time.interval.precision in ("day", "range", "week") and time.interval.last < today:
            return True
    return False


def bullet_of(one: CoreFact) -> str:
    """A fact on one line that says whom it is about: ``Peter: Lives in Porto.``"""
    text = " ".join(one.text.split())
    missing = [name for name in one.names if name.casefold() not in text.casefold()]
    return f"{', '.join(missing)}: {text}" if missing else text


#: The words of an entry that say something, and whether it says no.
_Meaning = tuple[frozenset[str], bool]


def _meaning(text: str) -> _Meaning:
    return content_words(text), _NEGATION.search(text) is not None


def _holds(entry: _Meaning, words: _Meaning) -> bool:
    """Whether an entry of the core says it already: all its words, with the same sign."""
    return bool(words[0]) and words[0] <= entry[0] and words[1] == entry[1]


def _entries(core: str) -> list[_Meaning]:
    """Each line of the core with the words of the headings above it."""
    found: list[_Meaning] = []
    trail: list[tuple[int, str]] = []
    lines: Sequence[str] = read_lines(core).plain
    for line in lines:
        heading = _HEADING.match(line)
        if heading:
            trail = [one for one in trail if one[0] < len(heading[1])] + [(len(heading[1]), heading[2])]
        elif line.strip():
            words, negated = _meaning(line)
            found.append((words.union(*(content_words(title) for _, title in trail)), negated))
    return found
