"""Whether two opinions of one entity are one opinion in other words: cheap, symmetric, and no when unsure.

Both sides are taken apart into the side they take (liking, negation), the numbers, what bounds them (days, places,
"only") and the words of the topic. One opinion needs the same side, numbers and bounds, and nearly the same topic.
Words of similar vectors are no help here: Monday is as near to Tuesday as film to movie.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import NamedTuple

from ...parsers.scripts import runs
from ...recall.stopwords import cut_unspaced
from .records import Claim
from .signs import (
    bear_opened,
    bounds,
    chinese_sign,
    is_negator,
    liking,
    number,
    without_chinese_sign,
)
from .wordforms import content_words, folded, language, opened, silent_words, stem

__all__ = ["content_words", "same_opinion"]

#: Words of the topic of which one statement may have one more than the other.
_LONG = 5
#: Verbs and fillers that a topic can do without, English stems.
_WEAK = frozenset(
    map(
        stem,
        "have take get go make come be do keep give receive use travel sit see seem become stay tend try need please"
        " person people time whenever".split(),
    )
)
#: What stands behind these is what is not chosen.
_AGAINST = re.compile(r"\b(?:over|instead of|rather than|more than|and not|not)\b|\bto(?! (?:be|have|get|do)\b)")
_ASKS = re.compile("[?？؟吗嗎]")
_WHOSE = re.compile(
    r"\s*(?:(?!(?:it|he|she|that|there|here|what|who|let)['’])[^\W_][\w-]*['’]s?\s|(?:his|her|their|its|my|our)\s)",
    re.IGNORECASE,
)
_SYNONYMS = """
concise short brief terse succinct|reply answer response|quick fast speedy|documentation docs doc|email mail e-mail
phone telephone|film movie|big large|child kid|holiday vacation|begin start|doctor physician|bike bicycle|photo picture
photograph|car automobile|colleague coworker|shop store|sofa couch|autumn fall|chat message|meeting meet|evening night
|lorry truck|flat apartment|silent quiet|calm quiet|cosy cozy|colour color|grey gray|programme program|quickly fast
|dislike hate|beverage drink|talk conversation|job work|picky fussy|reliable dependable|huge enormous|tidy neat
"""


class _Parts(NamedTuple):
    """What ``same_opinion`` compares. ``sides``: 1, -1 or 0 (takes none); ``against``: what is not chosen.
    ``asks``: whether it is a question. ``inside``: whether the entity is named after other words: "likes her", not
    "she likes". ``whose``: whether it begins with what is somebody's: "her brother likes". ``first``: of the topic, in
    English often who it is about."""

    language: str
    side: int
    negated: bool
    numbers: tuple[str, ...]
    bounds: frozenset[str]
    topic: frozenset[str]
    against: frozenset[str] | None
    names: tuple[str, ...]
    asks: bool
    inside: bool
    whose: bool
    first: str


def same_opinion(a: Claim, b: Claim) -> bool:
    """Whether two statements about the same entity hold one opinion, in whatever words."""
    if a.entities and b.entities and not _names(a) & _names(b):
        return False
    if a.text == b.text:
        return True
    names, spoken = tuple(sorted(_names(a) | _names(b))), language(f"{a.text}\n{b.text}")
    first, second = (_parts(one.text, names, spoken) for one in (a, b))
    return _same(first, second)


def _same(a: _Parts, b: _Parts) -> bool:
    if (a.negated, a.numbers, a.bounds) != (b.negated, b.numbers, b.bounds):
        return False
    if a.asks or b.asks or a.inside != b.inside or a.whose != b.whose:
        return False
    if a.against is not None and b.against is not None and a.against != b.against:
        return False
    # "Ada trusts Ben" and "Ben trusts Ada" have the same words.
    if a.names != b.names and set(a.names) == set(b.names):
        return False
    shared, either = len(a.topic & b.topic), len(a.topic | b.topic)
    if a.side != b.side:
        return 0 in (a.side, b.side) and -1 not in (a.side, b.side) and shared == either >= 2
    if not shared:
        return False
    if shared == either:
        return True
    return (
        a.language == "en"
        and either >= _LONG
        and shared == either - 1
        # A word more at the front is mostly another subject.
        and not {a.first, b.first} & (a.topic ^ b.topic)
    )


def _names(claim: Claim) -> frozenset[str]:
    return frozenset(" ".join(folded(name)) for name in claim.entities)


@lru_cache(maxsize=20_000)
def _parts(text: str, names: tuple[str, ...], spoken: str) -> _Parts:
    plain = bear_opened(opened(text)).casefold() if spoken == "en" else text
    side = 0
    if spoken == "zh":
        side, plain = chinese_sign(plain), without_chinese_sign(plain)
        plain = " ".join(" ".join(cut_unspaced(run)) if unspaced else run for run, unspaced in runs(plain))
    chosen, against = plain, None
    for cut in _AGAINST.finditer(plain) if spoken == "en" else ():
        before = [word for word in folded(plain[: cut.start()]) if not is_negator(word, spoken)]
        said = [word for word in before if not liking(word, spoken) and not _drops(word, spoken)]
        if said and any(liking(word, spoken) > 0 for word in before):
            chosen, against = plain[: cut.start()], plain[cut.end() :]
            break
    own = {part for name in names for part in name.split()}
    found = [word for word in folded(chosen) if word not in own]
    turns = 0
    numbers: list[str] = []
    limits: set[str] = set()
    topic: dict[str, None] = {}
    for word in found:
        if is_negator(word, spoken):
            turns += 1
            continue
        if value := number(word, spoken):
            numbers.append(value)
        elif bounds(word, spoken):
            limits.add(_root(word, spoken))
        elif taste := liking(word, spoken):
            side = side or taste
        elif not _drops(word, spoken):
            topic[_root(word, spoken)] = None
    kept = [root for root in topic if root not in _WEAK] or list(topic)
    # "Does not like" is dislike; where no side is taken, a negation stays one.
    turned = turns % 2 == 1
    return _Parts(
        spoken,
        -side if turned else side,
        turned and not side,
        tuple(sorted(numbers)),
        frozenset(limits),
        frozenset(kept),
        None
        if against is None
        else frozenset(_root(word, spoken) for word in folded(against) if not _drops(word, spoken)),
        tuple(word for word in _capitalised(text) if word not in own),
        bool(_ASKS.search(text)),
        any(word in own for word in folded(text)[len(own) :]),
        bool(_WHOSE.match(text)),
        kept[0] if kept else "",
    )


def _drops(word: str, spoken: str) -> bool:
    return word in silent_words(spoken)


def _root(word: str, spoken: str) -> str:
    root = stem(word, spoken)
    return _synonyms().get(root, root)


@cache
def _synonyms() -> dict[str, str]:
    groups = [[stem(word) for word in group.split()] for group in _SYNONYMS.replace("\n", "|").split("|")]
    return {word: group[0] for group in reversed(groups) for word in group}


def _capitalised(text: str) -> tuple[str, ...]:
    """Folded words inside a sentence that begin with a capital, in order."""
    return tuple(part for word in text.split()[1:] if word[:1].isupper() for part in folded(word)[:1])
