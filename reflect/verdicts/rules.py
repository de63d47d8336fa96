"""Verdicts by rules alone: restatements, their direct negation, and guards against what only looks like evidence.

What a rule cannot see it leaves neutral: closed lists of signs did not carry over to sentences that their author had
not read, guards did (``docs/beliefs-quality.md``).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .features import own_words
from .records import (
    COEXISTS,
    CONTRADICTS,
    DUPLICATE,
    NEUTRAL,
    NORMAL,
    OLDER_LATE,
    STRONG,
    SUPERSEDES,
    SUPPORTS,
    WEAK,
    Claim,
    Stance,
    Succession,
)
from .signs import bear_opened, is_negator
from .wordforms import content_words, folded, language, opened, silent_words, stem

#: A fact that has all of an opinion's words may have so many more words and be near verbatim.
_ADDED = 4
#: A negator touches what follows within so many words.
_REACH = 4
_AGAIN = frozenset("again still even always really definitely said says repeated once more yet clearly".split())
_HEDGE = re.compile(r"\b(?:perhaps|maybe|might|seems?|probably|sometimes|not sure|a bit|vielleicht)\b", re.IGNORECASE)
_CHANGE = re.compile(r"\bno longer\b|\bany ?more\b|\bnicht mehr\b|\bya no\b|\bartık\b|不再", re.IGNORECASE)
_GUARDS = (
    ("a question", re.compile(r"[?？؟]")),
    ("a condition", re.compile(r"\bif\b|\bunless\b|\bwould\b|\bwenn\b|\bfalls\b", re.IGNORECASE)),
    (
        "an earlier state",
        re.compile(r"\bused to\b|\bback (?:in|then|when)\b|\bas a (?:kid|child|student)\b", re.IGNORECASE),
    ),
    (
        "somebody else's",
        re.compile(
            r"^(?:his|her|their|the) (?:\w+ )?(?:brother|sister|wife|husband|partner|colleague|neighbou?r|friend|boss"
            r"|mother|father|cousin|daughter|son|flatmate|roommate|team|manager)\b",
            re.IGNORECASE,
        ),
    ),
)
#: Slots that hold one value at a time, by how a statement about them begins.
_SLOTS = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        (
            "another residence",
            r"^(?:(?:now |currently )?lives?\b|(?:has )?moved (?:\w+ )?(?:to|from)\b|resides\b|wohnt\b|vive\b)",
        ),
        (
            "another employer",
            r"^(?:(?:now |currently )?works? (?:at|for)\b|joined\b|arbeitet (?:bei|für)\b|trabaja en\b)",
        ),
    )
)


class RulesScorer:
    """The rules, as a scorer."""

    name = "rules"
    fingerprint = "rules-1"

    def stance(self, opinion: Claim, fact: Claim) -> Stance:
        guard = guarded(fact.text, own_words(opinion, fact))
        verbatim = near_verbatim(opinion, fact)
        if verbatim and guard is None:
            relation, strength = verbatim
            told = "the same words" if relation == SUPPORTS else "the same words, negated"
            return Stance(relation, strength, True, told, 0.95)
        return Stance(NEUTRAL, None, False, guard or "no rule applies", 0.6)

    def succession(self, old: Claim, new: Claim) -> Succession:
        if says_the_same(old, new):
            return Succession(DUPLICATE, True, "the same words", 0.95)
        if _GUARDS[0][1].search(new.text):
            return Succession(COEXISTS, False, "a question", 0.8)
        past = _GUARDS[2][1].search(new.text)
        slot = next((name for name, pattern in _SLOTS if pattern.search(old.text) and pattern.search(new.text)), "")
        if _only_numbers_differ(old, new):
            slot = "the same with another number"
        if slot and (past or (old.day and new.day and new.day < old.day)):
            return Succession(OLDER_LATE, False, f"{slot}, told of an earlier day", 0.85)
        if slot:
            return Succession(SUPERSEDES, False, slot, 0.85)
        return Succession(COEXISTS, False, "no rule applies", 0.6)


#: Somebody who says or thinks something: nobody else's opinion is evidence for this one's.
_SPEAKER = re.compile(
    r"^(?P<who>[A-Z][\w-]+) (?:told|said|says|thinks?|thought|finds?|found|believes?|claims?|wants?|likes?|prefers?"
    r"|hates?)\b"
)


def guarded(text: str, own: frozenset[str] = frozenset()) -> str | None:
    """What keeps a statement from being evidence by its own words; None for nothing. ``own``: the folded words of the
    entities' names."""
    speaker = _SPEAKER.match(text)
    if speaker and own and not own & set(folded(speaker["who"])):
        return f"somebody else's: “{speaker[0]}”"
    plain = opened(text)
    for name, pattern in _GUARDS:
        found = pattern.search(plain)
        if found:
            return f"{name}: “{found[0]}”"
    return None


def near_verbatim(opinion: Claim, fact: Claim) -> tuple[str, str] | None:
    """Whether a fact restates an opinion, or negates it outright, in nearly its own words: (relation, strength)."""
    if opinion.text == fact.text:
        return SUPPORTS, NORMAL
    own = own_words(opinion, fact)
    a, b = _words(opinion.text, own), _words(fact.text, own)
    spoken = language(opinion.text)
    if len(a.stems) < 1 or not a.stems <= b.stems:
        return None
    added = [word for word in b.said if stem(word, spoken) not in a.stems and word not in _AGAIN]
    if len(added) > _ADDED:
        return None
    hedged = bool(_HEDGE.search(fact.text))
    if b.negators and not any(0 < at - no <= _REACH for no in b.negators for at in b.places if b.roots[at] in a.stems):
        # A negation elsewhere in the sentence says nothing of what is shared.
        return None
    if a.turned == b.turned:
        return (SUPPORTS, WEAK if hedged else NORMAL) if len(added) <= 1 else None
    return CONTRADICTS, WEAK if hedged else STRONG if _CHANGE.search(fact.text) else NORMAL


class _Words(NamedTuple):
    """``stems`` that say something, the ``said`` words behind them in order, ``turned``: 1 where it is negated;
    ``negators`` and ``places`` (of all words) and the ``roots`` of all words."""

    stems: frozenset[str]
    said: list[str]
    turned: int
    negators: list[int]
    places: range
    roots: list[str]


def _words(text: str, own: frozenset[str]) -> _Words:
    spoken = language(text)
    plain = bear_opened(opened(text)) if spoken == "en" else text
    found = [word for word in folded(plain) if word not in own]
    negators = [at for at, word in enumerate(found) if is_negator(word, spoken)]
    said = [word for word in found if word not in silent_words(spoken) and not is_negator(word, spoken)]
    said = [word for word in said if word not in ("longer", "any", "anymore", "mehr")]
    roots = [stem(word, spoken) for word in found]
    stems = frozenset(stem(word, spoken) for word in said)
    return _Words(stems, said, len(negators) % 2, negators, range(len(found)), roots)


#: Words that tell that something changed, and nothing else.
_TURNS = frozenset(
    stem(word)
    for word in "now since moved move moves changed change upgraded upgrade updated bumped raised lowered switched"
    " current currently instead from to again new already is are was runs run go went".split()
)
#: A day, a numbered thing, or what happened once: another number is another event then, not another value.
_EVENT = re.compile(
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b|\b(?:19|20)\d\d\b|[a-z]-\d|#\d"
    r"|\b(?:build|week|issue|ticket|room|box|episode|chapter|page|item|no\.) \d"
    r"|^(?:\w+ed|went|met|got|was|were|had|did)\b",
    re.IGNORECASE,
)


def _only_numbers_differ(old: Claim, new: Claim) -> bool:
    """Whether two facts say the same of another number: a port, a version, a price."""
    if _EVENT.search(old.text) or _EVENT.search(new.text):
        return False
    own = own_words(old, new)
    (a, ours), (b, theirs) = _numbered(old.text, own), _numbered(new.text, own)
    return bool(a) and a == b and bool(ours) and bool(theirs) and not theirs <= ours


def _numbered(text: str, own: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """The stems that a text says besides its numbers and words of change, and the numbers."""
    numbers = frozenset(re.findall(r"\d+(?:[.,:]\d+)*", text))
    plain = re.sub(r"v?\d+(?:[.,:]\d+)*", " ", text)
    return content_words(plain) - own - _TURNS, numbers


def says_the_same(old: Claim, new: Claim) -> bool:
    """Whether two facts use the same words for the same thing."""
    own = own_words(old, new)
    a, b = content_words(old.text) - own, content_words(new.text) - own
    return bool(a) and a == b and _words(old.text, own).turned == _words(new.text, own).turned
