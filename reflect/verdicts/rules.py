"""Verdicts by rules alone: restatements, their direct negation, and guards against what only looks like evidence.

What a rule cannot see it leaves neutral: closed lists of signs did not carry over to sentences that their author had
not read, guards did (``docs/beliefs-quality.md``).
"""

from __future__ import annotations

import re

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
    Claim,
    Stance,
    Succession,
)
from .sameness import same_opinion
from .signs import bear_opened, is_negator
from .wordforms import content_words, folded, language, opened, silent_words, stem

#: So many of an opinion's words a fact has to share to be near verbatim, and so few it may add.
_SHARED, _ADDED = 1.0, 3
_AGAIN = frozenset("again still even always really definitely said says repeated once more yet clearly".split())
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
            relation, strong = verbatim
            told = "the same words" if relation == SUPPORTS else "the same words, negated"
            return Stance(relation, STRONG if strong else NORMAL, True, told, 0.95)
        return Stance(NEUTRAL, None, False, guard or "no rule applies", 0.6)

    def succession(self, old: Claim, new: Claim) -> Succession:
        if says_the_same(old, new):
            return Succession(DUPLICATE, True, "the same words", 0.95)
        past = _GUARDS[2][1].search(new.text)
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


def near_verbatim(opinion: Claim, fact: Claim) -> tuple[str, bool] | None:
    """Whether a fact restates an opinion, or negates it outright, in nearly its own words: (relation, strongly)."""
    own = own_words(opinion, fact)
    a, b = _words(opinion.text, own), _words(fact.text, own)
    spoken = language(opinion.text)
    if len(a[0]) < 1 or not _holds(a[0], b[0]):
        return None
    added = [word for word in b[1] if stem(word, spoken) not in a[0] and word not in _AGAIN]
    if len(added) > _ADDED:
        return None
    if same_opinion(opinion, fact) and not added:
        return SUPPORTS, False
    if a[2] == b[2]:
        return (SUPPORTS, False) if len(added) <= 1 else None
    return CONTRADICTS, bool(_CHANGE.search(fact.text))


def _holds(few: frozenset[str], many: frozenset[str]) -> bool:
    return len(few & many) >= _SHARED * len(few)


def _words(text: str, own: frozenset[str]) -> tuple[frozenset[str], list[str], int]:
    """The stems that say something, the words behind them in order, and whether it is negated (0 or 1)."""
    spoken = language(text)
    plain = bear_opened(opened(text)) if spoken == "en" else text
    found = [word for word in folded(plain) if word not in own]
    turns = sum(is_negator(word, spoken) for word in found)
    said = [word for word in found if word not in silent_words(spoken) and not is_negator(word, spoken)]
    said = [word for word in said if word not in ("longer", "any", "anymore", "mehr")]
    return frozenset(stem(word, spoken) for word in said), said, turns % 2


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
    return bool(a) and a == b and _words(old.text, own)[2] == _words(new.text, own)[2]
