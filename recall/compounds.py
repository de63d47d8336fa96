"""Words that the index does not hold: their relatives among those that it does.

A fallback for compounds (``Ablesung`` for *Heizungsablesung*), endings that the stemmer does not know, accents that
an old spelling lacks, and slips of the pen: the vocabulary is compared by trigrams, and only for a word that no
passage has.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from ..bank.driver import Connection

_MOST = 6
_SHORTEST = 4
_ALIKE = 0.5


def plain(word: str) -> str:
    """A word as the index holds it, but for its stem: case-folded, without accents."""
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c)).replace("ı", "i")


def relatives(connection: Connection, words: Iterable[str]) -> dict[str, list[str]]:
    """For each word, up to six indexed terms that are like it: that hold it, that it holds, or that share half of its
    trigrams, most alike first. Words under four letters have none. One pass over the vocabulary for all."""
    wanted = {word: plain(word) for word in words}
    wanted = {word: form for word, form in wanted.items() if len(form) >= _SHORTEST}
    if not wanted:
        return {}
    own = {word: trigrams(form) for word, form in wanted.items()}
    found: dict[str, list[tuple[float, str]]] = {word: [] for word in wanted}
    for (term,) in connection.execute("SELECT term FROM vocabulary WHERE length(term) >= ?", (_SHORTEST,)):
        for word, form in wanted.items():
            likeness = _likeness(form, own[word], term.replace("ı", "i"))
            if likeness:
                found[word].append((-likeness, term))
    return {word: [term for _, term in sorted(terms)[:_MOST]] for word, terms in found.items() if terms}


def _likeness(wanted: str, own: frozenset[str], term: str) -> float:
    shorter, longer = sorted((wanted, term), key=len)
    if shorter in longer:
        return 1 + len(shorter) / len(longer) if len(shorter) >= max(_SHORTEST, len(longer) // 4) else 0.0
    if len(longer) > 2 * len(shorter):
        return 0.0
    theirs = trigrams(term)
    share = 2 * len(own & theirs) / (len(own) + len(theirs))
    return share if share >= _ALIKE else 0.0


def trigrams(word: str) -> frozenset[str]:
    """The trigrams of a word with its ends marked."""
    marked = f"  {word} "
    return frozenset(marked[n : n + 3] for n in range(len(marked) - 2))
