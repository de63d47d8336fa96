"""Words that the index does not hold: their relatives among those that it does.

A fallback for compounds (``Ablesung`` for *Heizungsablesung*), endings that the stemmer does not know, accents that
an old spelling lacks, and slips of the pen: the vocabulary is compared by trigrams, and only for a word that no
passage has.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from ..bank.driver import Connection
from ..bank.terms import SHORTEST_TERM

_MOST = 6
_LONGEST = 60
_ALIKE = 0.5


def plain(word: str) -> str:
    """A word as the index holds it, but for its stem: case-folded, without accents."""
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c)).replace("ı", "i")


def relatives(connection: Connection, words: Iterable[str]) -> dict[str, list[str]]:
    """For each word, up to six indexed terms that are like it: that hold it, that it holds, or that share half of its
    trigrams, most alike first. Words of less than four letters, or more than sixty, have none."""
    found = {}
    for word in words:
        form = plain(word)
        if SHORTEST_TERM <= len(form) <= _LONGEST:
            terms = _most_alike(connection, form)
            if terms:
                found[word] = terms
    return found


def _most_alike(connection: Connection, wanted: str) -> list[str]:
    own = trigrams(wanted)
    inner = [t for t in sorted(own) if " " not in t]
    # Whatever shares half of its trigrams shares one inside the word, or its first two letters.
    shares = " OR ".join(["instr(form, ?)"] * len(inner))
    rows = connection.execute(
        f"SELECT term, form FROM known_terms WHERE instr(?, form) OR substr(form, 1, 2) = ? OR {shares}",
        (wanted, wanted[:2], *inner),
    )
    scored = sorted((-_likeness(wanted, own, form), term) for term, form in rows)
    alike: list[str] = []
    for likeness, term in scored:
        if likeness >= 0 or len(alike) == _MOST:
            break
        # A term whose last passage is gone is still known, but answers nothing.
        if connection.execute("SELECT 1 FROM vocabulary WHERE term = ?", (term,)).fetchone():
            alike.append(term)
    return alike


def _likeness(wanted: str, own: frozenset[str], term: str) -> float:
    shorter, longer = sorted((wanted, term), key=len)
    if shorter in longer:
        return 1 + len(shorter) / len(longer) if len(shorter) >= max(SHORTEST_TERM, len(longer) // 4) else 0.0
    if len(longer) > 2 * len(shorter):
        return 0.0
    theirs = trigrams(term)
    share = 2 * len(own & theirs) / (len(own) + len(theirs))
    return share if share >= _ALIKE else 0.0


def trigrams(word: str) -> frozenset[str]:
    """The trigrams of a word with its ends marked."""
    marked = f"  {word} "
    return frozenset(marked[n : n + 3] for n in range(len(marked) - 2))
