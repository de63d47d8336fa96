"""How a fact becomes a line of a page: its own words, trimmed, with its days and its citation; nothing is re-told."""

from __future__ import annotations

import hashlib
import re
from datetime import date

from ..parsers.records import Interval
from .statements import Place, Statement

_STOPS = ".!?…。！？"
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
#: How long a fact's words may be on a page, in characters; the citation leads to the rest.
LONGEST = 280
#: First words that tell of an act or a turn, besides those that end in -ed.
PAST = frozenset(
    "was were had did got went came left met sat ran fell kept told said took gave made bought sold paid sent lost won"
    " saw heard found felt thought brought caught chose drew drove ate flew forgot froze grew held hid hit hurt knew"
    " lent lay rode rang rose shook shot showed sang slept spoke spent stood stole swam taught threw woke wore wrote"
    " built began broke cut put set let read quit became".split()
)
#: Of those the ones whose outcome lasts.
LASTING = frozenset(
    "moved joined became switched renamed promoted adopted inherited retired graduated quit married engaged migrated"
    " replaced relocated hired appointed".split()
)
_FIRST_WORD = re.compile(r"[\W_]*([^\W\d_]+)")
_NOUN_PHRASE = re.compile(
    r"(?:(?:is|are)\s+(?:an?|the|my|our|[\w-]+['’]s)\s|(?:my|our|the|an?)\s+[a-z]|[\w-]+['’]s\s+[a-z]"
    r"|[^\W\d_][\w-]*(?:\s+[\w-]+){0,2}(?:,|\s+(?:in|at|of|for|from|who|that|on|und|bei|aus)\s))",
    re.IGNORECASE,
)


def key_of(*parts: str) -> str:
    """The 8 hex digits by which a line of a page is known."""
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:8]


def trimmed(text: str) -> str:
    """One line of a fact's words, cut at a word where they are too long, with a final stop."""
    line = " ".join(text.split())
    if len(line) > LONGEST:
        line = line[: LONGEST - 2].rsplit(" ", 1)[0].rstrip(",;:") + " …"
    # A comment mark would end the block that the line stands in.
    line = line.replace("<!--", "<! --").replace("-->", "-- >")
    return line if line.endswith(tuple(_STOPS)) or not line else f"{line}."


def cited(place: Place, *more: str) -> str:
    """``(memory/2025-12-02.md#L10, …)``."""
    return f"({', '.join([*filter(None, more[:-1]), place.citation, *filter(None, more[-1:])])})"


def days(when: Interval | None, day: date | None) -> str:
    """``2025-11-29/2025-11-30``, ``2025-12-02``, or "" for what has no day."""
    if when is None:
        return day.isoformat() if day else ""
    if when.first == when.last:
        return when.first.isoformat()
    if when.precision == "month":
        return f"{when.first:%Y-%m}"
    if when.precision == "year":
        return f"{when.first:%Y}"
    return f"{when.first.isoformat()}/{when.last.isoformat()}"


def told_days(one: Statement) -> str:
    """The days that a fact's own words leave open ("last weekend"), "" where they name them or there are none."""
    if one.occurred is None or _YEAR.search(one.text):
        return ""
    told = days(one.occurred, None)
    return "" if one.day and told == one.day.isoformat() else told


def first_word(text: str) -> str:
    found = _FIRST_WORD.match(text)
    return found[1].casefold() if found else ""


def tells_an_event(one: Statement) -> bool:
    """Whether a world fact tells what happened once, rather than how things are."""
    word = first_word(one.text)
    if word in LASTING:
        return False
    if word in PAST or (word.endswith("ed") and len(word) > 4):
        return True
    return one.occurred is not None and one.occurred.precision in ("day", "range") and not _holds_on(one.text)


def _holds_on(text: str) -> bool:
    return bool(re.search(r"\b(?:since|until|till|from|seit|bis|ab|desde|hasta)\b", text, re.IGNORECASE))


def says_what_it_is(one: Statement) -> bool:
    """Whether a fact is a noun phrase: "Midwife in Gothenburg, Mara's sister." """
    word = first_word(one.text)
    if word in PAST or word in LASTING or word.endswith(("ed", "ing")) or one.occurred is not None:
        return False
    # "Lives in", "Works at": a verb, unless it stands behind an article or a possessive.
    verb = word.endswith("s") and word not in ("is", "this") and not word.endswith(("ss", "us", "’s"))
    return bool(_NOUN_PHRASE.match(one.text)) and (not verb or "'s " in one.text[:20] or "’s " in one.text[:20])
