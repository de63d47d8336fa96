"""Words that the index does not hold: their relatives among those that it does.

A fallback for compounds (``Ablesung`` for *Heizungsablesung*), endings that the stemmer does not know, accents that
an old spelling lacks, and slips of the pen: the vocabulary is looked through by trigrams, and
only for a word that no passage has.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from ..bank.driver import Connection
from ..bank.terms import SHORTEST_TERM

_MOST = 6
_LONGEST = 60
#: The longest ending, the shortest word that counts inside a compound, the shortest in which two slips are forgiven.
_ENDING, _COMPOUND, _LONG = 3, 5, 8


def plain(word: str) -> str:
    """A word as the index holds it, but for its stem: case-folded, without accents."""
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c)).replace("ı", "i")


def relatives(connection: Connection, words: Iterable[str]) -> dict[str, list[str]]:
    """For each word, up to six indexed terms that are like it: other endings, compounds with it or parts of it,
    slips of the pen; most alike first. Words of less than four letters, or more than sixty, have none."""
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
    # What is alike shares a trigram inside the word, or its first two letters, or is a part of it.
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
    """How alike two different words are, 0 for not at all, 2 for one word under two spellings.

    An ending more or less (at most three letters), a word in a compound (at its start or end, five letters or more),
    or a slip: one letter in words of five or more, two in words of eight or more, counting a swap of neighbours as
    one.
    """
    shorter, longer = sorted((wanted, term), key=len)
    rest = len(longer) - len(shorter)
    if not rest and shorter == longer:
        return 2.0
    if longer.startswith(shorter) and rest <= _ENDING:
        return 1 + len(shorter) / len(longer)
    part = _part_of_compound(shorter, longer)
    if part:
        return 1 + part / len(longer)
    common = _common_start(wanted, term)
    if common >= _COMPOUND and max(len(wanted), len(term)) - common <= _ENDING:
        return common / len(longer)
    slips = 0 if len(shorter) < _COMPOUND else 1 if len(shorter) < _LONG else 2
    if slips and rest <= slips and _distance(shorter, longer, slips) <= slips:
        return len(own & trigrams(term)) / len(own)
    return 0.0


def _part_of_compound(shorter: str, longer: str) -> int:
    """How many letters of a word, but for its ending, stand at the start or the end of a longer one; 0 for too few."""
    for end in range(len(shorter), max(_COMPOUND, len(shorter) - _ENDING) - 1, -1):
        if longer.startswith(shorter[:end]) or longer.endswith(shorter[:end]):
            return end
    return 0


def _common_start(one: str, other: str) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _distance(one: str, other: str, most: int) -> int:
    """Optimal string alignment distance (insert, delete, replace, swap neighbours); more than ``most`` may be cut."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        older, before, row = before, row, [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if older and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]


def trigrams(word: str) -> frozenset[str]:
    """The trigrams of a word with its ends marked."""
    marked = f"  {word} "
    return frozenset(marked[n : n + 3] for n in range(len(marked) - 2))
