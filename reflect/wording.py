"""How a fact becomes a line of a page: its own words, trimmed, with its days and its citation; nothing is re-told."""

from __future__ import annotations

import hashlib
import re
from datetime import date

from ..parsers.names import fold
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
#: Turns whose outcome lasts.
_LASTING = re.compile(
    r"[\W_]*(?:moved\s+(?:\w+\s+)?(?:to|from|into|in|back|out|house|home|behind|onto)\b|(?:joined|became|switched|renamed|promoted"
    r"|adopted|inherited|retired|graduated|quit|married|engaged|migrated|replaced|relocated|hired|appointed)\b)",
    re.IGNORECASE,
)
_FIRST_WORD = re.compile(r"[\W_]*([^\W\d_]+)")
_FIRST_CLAUSE = re.compile(r"[^,;:.。，；：(]*")
#: "is a …", "Hark is the surveyor …".
_IDENTITY = re.compile(r"(?P<whom>[\w.'’ -]{0,40}?)\s*\b(?:is|was)\s+(?:an?|the|my|our|[\w-]+['’]s)\s", re.IGNORECASE)
#: "my brother-in-law", "Mara's sister".
_KIN = re.compile(r"(?:my|our|[\w-]+['’]s)\s", re.IGNORECASE)
#: "Midwife in Gothenburg", "Site reliability engineer on the team".
_ROLE = re.compile(
    r"[^\W\d_][\w-]*(?:\s+[\w-]+){0,2}\s+(?:in|at|of|for|from|who|that|on|bei|aus|des|der)\s", re.IGNORECASE
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|must|can|could|will|would|shall|should|may|might|does|do|did|ist|sind|hat|wird"
    r"|live|work|study|play|like|prefer|want|need|use|go|run|take|keep|get|know|think|speak|drive|own|pay)\b"
    r"|\b(?!this\b|always\b|perhaps\b)[a-z]{3,}(?<!s)(?<!u)(?<!i)s\b|[a-z]{3}ed\b",
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
    if _LASTING.match(one.text):
        return False
    if word in PAST or (word.endswith("ed") and len(word) > 4):
        return True
    return one.occurred is not None and one.occurred.precision in ("day", "range") and not _holds_on(one.text)


def _holds_on(text: str) -> bool:
    """Whether the days in a text are those from which, or up to which, it holds."""
    return bool(
        re.search(r"\b(?:since|until|till|seit|bis|ab|desde|hasta)\b|\bfrom\b(?!.*\bto\b)", text, re.IGNORECASE)
    )


def says_what_it_is(one: Statement, name: str) -> bool:
    """Whether a fact says who or what its entity is: "Midwife in Gothenburg, Mara's sister.", "Is the surveyor who
    …"."""
    named = _IDENTITY.match(one.text)
    if named and (not named["whom"] or fold(name) in fold(named["whom"])):
        return one.occurred is None
    clause = _FIRST_CLAUSE.match(one.text)
    head = clause[0] if clause else ""
    if one.text[len(head) : len(head) + 1] in (":", "：") or (one.occurred and not _holds_on(one.text)):
        return False
    # A verb in the first clause makes it a sentence about something else; the first word may be a plural.
    rest = head.split(" ", 1)[1] if " " in head else ""
    first = first_word(head)
    is_phrase = _KIN.match(one.text) or _ROLE.match(one.text)
    return bool(is_phrase) and first not in PAST and not _VERB.search(rest) and not _VERB.fullmatch(first)
