"""A pair of statements as numbers: what they share, how near they come, which sign each has, and what stands guard.

The same numbers are made when the model is trained and when it judges. English is what the cues are written for; in
other languages the shared words, the vectors, the numbers and the negators still tell something.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy

from ...bank.static_space import static_embedder
from .records import Claim
from .signs import bear_opened, is_negator, liking, number
from .wordforms import content_words, folded, language, opened, silent_words, stem

#: Patterns over a casefolded statement with its contractions opened, each one feature (1 where it is found).
_CUES = {
    "no_longer": r"\bno longer\b|\bnot? .{0,40}\bany ?more\b|\bnicht mehr\b|\bya no\b|\bartık\b|不再",
    "stopped": r"\b(?:stopp?(?:ed|s)?|quit|gave up|given up|dropped|ditched|cancell?ed|sold|got rid|threw"
    r"|swapped|replaced"
    r"|switched|moved (?:off|away)|abandoned|retired|left|ended|unsubscribed|uninstalled|removed|returned|refused"
    r"|declined|turned down|walked out|skipped|avoided|avoids|complained|regrets?)\b",
    "now": r"\bnow(?:adays)?\b|\bthese days\b|\bsince then\b|\bfrom now on\b|\blately\b|\bfinally\b",
    "again": r"\bagain\b|\bstill\b|\bas (?:always|usual|ever)\b|\bonce more\b|\banother\b|\bevery\b"
    r"|\balways\b|\bdaily\b",
    "never": r"\bnever\b|\bnot once\b|\bzero\b|\brefuses?\b",
    "hedge": r"\bmaybe\b|\bperhaps\b|\bmight\b|\bseems?\b|\bprobably\b|\bsometimes\b|\bkind of\b|\bsort of\b|\ba bit\b"
    r"|\bapparently\b|\bsounded\b|\bnot sure\b|\boccasionally\b|\bpossibly\b",
    "question": r"[?？؟]",
    "reported": r"\b(?:says?|said|thinks?|thought|told|claims?|claimed|according to|reckons?|argues?|believes?|finds?"
    r"|insists?|admitted|mentioned|asked)\b",
    "past": r"\bused to\b|\bback (?:in|then|when)\b|\bas a (?:kid|child|boy|girl|student|teenager)\b|\byears? ago\b"
    r"|\bonce\b|\bformerly\b|\bin (?:19|20)\d\d\b|\bpreviously\b|\bearlier\b|\bearly on\b|\bat first\b"
    r"|\bin those days\b"
    r"|\bbefore (?:the|he|she|they|it)\b|\bat the time\b|\bthe old\b|\bfrüher\b|\bantes\b|\beskiden\b|以前|曾经",
    "hypothetical": r"\bif\b|\bwould\b|\bcould\b|\bwish(?:es)?\b|\bin case\b|\bshould\b|\bplans? to\b"
    r"|\bhopes?\b|\bunless\b",
    "additive": r"\balso\b|\btoo\b|\bas well\b|\bboth\b|\bbesides\b|\bin addition\b|\balongside\b|\bfurther\b",
    "except": r"\bexcept\b|\bonly\b|\bapart from\b|\bbut\b|\bthough\b|\balthough\b|\bunless\b|\bhowever\b"
    r"|\bjust this once\b",
    "instead": r"\binstead\b|\brather than\b|\bover\b|\bin favou?r of\b",
    "other": r"^(?:his|her|their|its)\b|\b(?:brother|sister|wife|husband|partner|colleague|neighbou?r"
    r"|friend|boss|mother"
    r"|father|cousin|daughter|son|flatmate|roommate|team|manager|uncle|aunt|kids?|parents)\b",
    "possessive": r"^[\w-]+['’]s\b",
    "quote": r"[\"“”„«»]|\bquote\b",
    "emphatic": r"\babsolutely\b|\bcompletely\b|\bno way\b|\bby far\b|\beverything\b|\bevery single\b"
    r"|\bnothing but\b|!",
    "happy": r"\bhappy|happily|glad|delighted|thrilled|cheer|smil|enjoy|love|thank|prais|recommend|favou?rite|best\b",
    "unhappy": r"\bannoy|angry|furious|hate|complain|grumbl|groan|moan|curs|sigh|fed up|tired of|sick of|worst|terrible"
    r"|awful|useless|broke|broken|fail|crash|outage|slow|late|bug|wrong|problem|trouble|pain|waste|horrible|bad\b",
    "bought": r"\bbought|ordered|booked|paid|renewed|subscrib|signed up|upgrad|asked for|requested|chose|picked|took\b",
}
_PATTERNS = [(name, re.compile(pattern)) for name, pattern in _CUES.items()]
_GOOD = "good great excellent love happy reliable works enjoys likes fast clean helpful safe calm fine".split()
_BAD = (
    "bad terrible awful hate angry unreliable fails dislikes avoids slow dirty useless dangerous noisy broken".split()
)
_LANGUAGES = ("en", "de", "es", "tr", "ar", "zh")


class _Side:
    """One statement taken apart, once."""

    def __init__(self, text: str, own: frozenset[str]) -> None:
        self.text = text
        self.language = language(text)
        plain = opened(text).casefold()
        self.plain = bear_opened(plain) if self.language == "en" else plain
        self.words = [word for word in folded(text) if word not in own]
        silent = silent_words(self.language)
        self.content = [word for word in self.words if word not in silent] or self.words
        self.stems = content_words(text) - own
        self.cues = [1.0 if pattern.search(self.plain) else 0.0 for _, pattern in _PATTERNS]
        self.negators = [at for at, word in enumerate(self.words) if is_negator(word, self.language)]
        signs = [liking(word, self.language) for word in self.words]
        self.liking = next((sign for sign in signs if sign), 0)
        self.numbers = {value for word in self.words if (value := number(word, self.language))}
        self.capitals = {
            word for word in re.findall(r"(?<!^)(?<![.!?] )\b[A-Z][\w-]+", text) if word.casefold() not in own
        }
        self.vectors = _vectors(self.content)
        self.feeling = _feeling(self.vectors)
        total = self.vectors.sum(axis=0)
        length = float(numpy.linalg.norm(total))
        self.direction = total / length if length else total


@lru_cache(maxsize=4096)
def _side(text: str, own: frozenset[str]) -> _Side:
    return _Side(text, own)


@lru_cache(maxsize=20_000)
def _word_vector(word: str) -> numpy.ndarray:
    embedder = static_embedder()
    row = numpy.array(embedder.direction(word) if embedder else [0.0] * 256, dtype="f8")
    length = float(numpy.linalg.norm(row))
    scaled: numpy.ndarray = row / length if length else row
    return scaled


def _vectors(content: Sequence[str]) -> numpy.ndarray:
    return numpy.array([_word_vector(word) for word in content]) if content else numpy.zeros((1, 256))


@lru_cache(maxsize=1)
def _axis() -> numpy.ndarray:
    axis = _vectors(_GOOD).mean(axis=0) - _vectors(_BAD).mean(axis=0)
    length = float(numpy.linalg.norm(axis)) or 1.0
    scaled: numpy.ndarray = axis / length
    return scaled


def _feeling(vectors: numpy.ndarray) -> tuple[float, float, float]:
    values = vectors @ _axis()
    return float(values.mean()), float(values.max()), float(values.min())


def own_words(*claims: Claim) -> frozenset[str]:
    """The folded words of the entities' names, which say nothing of what is said of them."""
    return frozenset(word for claim in claims for name in claim.entities for word in folded(name))


def pair_features(old: Claim, new: Claim) -> list[float]:
    """The numbers of a pair, always as many (``FEATURES`` names them)."""
    own = own_words(old, new)
    a, b = _side(old.text, own), _side(new.text, own)
    shared = a.stems & b.stems
    either = len(a.stems | b.stems) or 1
    grid = a.vectors @ b.vectors.T
    forward, backward = grid.max(axis=1), grid.max(axis=0)
    near = [at for at, word in enumerate(b.words) if stem(word, b.language) in a.stems]
    touched = any(abs(at - other) <= 3 for at in b.negators for other in near)
    turned_a, turned_b = len(a.negators) % 2, len(b.negators) % 2
    after = _after_instead(b.plain, a.stems, b.language)
    days = (new.day - old.day).days if new.day and old.day else 0
    return [
        len(shared) / either,
        len(shared) / (len(a.stems) or 1),
        len(shared) / (len(b.stems) or 1),
        min(len(shared), 5) / 5,
        float(a.direction @ b.direction),
        float(forward.mean()), float(forward.min()), float(forward.max()),
        float(backward.mean()), float(backward.min()), float(backward.max()),
        float(turned_a), float(turned_b), float(turned_a == turned_b), float(touched), min(len(b.negators), 3) / 3,
        float(a.liking), float(b.liking), float(a.liking * b.liking),
        float((a.liking or 1) * (1 - 2 * turned_a) * (b.liking or 1) * (1 - 2 * turned_b)),
        *a.feeling, *b.feeling, a.feeling[0] * b.feeling[0] * 10,
        float(bool(a.numbers and b.numbers)), float(bool(a.numbers & b.numbers)),
        float(bool(a.numbers and b.numbers and not a.numbers & b.numbers)),
        float(bool(b.numbers - a.numbers)),
        float(bool(a.capitals & b.capitals)), float(bool(b.capitals - a.capitals)),
        float(bool(a.capitals - b.capitals)),
        min(len(a.words), 30) / 30, min(len(b.words), 30) / 30,
        float(new.kind == "opinion"), float(new.kind == "experience"),
        float(after),
        float(_folded_equal(a, b)),
        float(days < 0), float(days == 0), min(abs(days), 720) / 720,
        *(float(a.language == name) for name in _LANGUAGES),
        *a.cues, *b.cues,
    ]  # fmt: skip


def _after_instead(plain: str, stems: frozenset[str], spoken: str) -> bool:
    """Whether what the older statement is about stands on the side that was not chosen."""
    found = re.search(r"\b(?:instead of|rather than|over|not)\b", plain)
    return bool(found) and any(stem(word, spoken) in stems for word in folded(plain[found.end() :])) if found else False


def _folded_equal(a: _Side, b: _Side) -> bool:
    return a.words == b.words


FEATURES: tuple[str, ...] = (
    *"jaccard of_old of_new shared cosine fwd_mean fwd_min fwd_max back_mean back_min back_max".split(),
    *"neg_old neg_new neg_same neg_near negs like_old like_new like_both sign".split(),
    *"feel_old feel_old_max feel_old_min feel_new feel_new_max feel_new_min feel_both".split(),
    *"num_both num_shared num_differ num_new cap_shared cap_new cap_old len_old len_new is_opinion is_own".split(),
    *"after_instead equal day_before day_same days".split(),
    *(f"lang_{name}" for name in _LANGUAGES),
    *(f"old_{name}" for name in _CUES),
    *(f"new_{name}" for name in _CUES),
)


#: Of a statement so many words are looked at.
LONGEST = 32


def pair_words(old: Claim, new: Claim) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]:
    """The word vectors of both sides (words x 256, of length 1), and which words are the same (1.0) by their stems."""
    own = own_words(old, new)
    a, b = _side(old.text, own), _side(new.text, own)
    left, right = a.words[:LONGEST] or [""], b.words[:LONGEST] or [""]
    roots = [stem(word, b.language) for word in right]
    same = [[float(stem(word, a.language) == root) for root in roots] for word in left]
    return _vectors(left), _vectors(right), numpy.array(same)
