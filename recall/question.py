"""Reading a question, without a model: its content words, exact identifiers, the days it names, the kind it wants.

What names an entity is decided against the index (``entities``); everything here is a pure function of the text and of
the day on which it is asked.
"""

import re
import unicodedata
from datetime import date
from itertools import pairwise
from typing import NamedTuple

from ..parsers.records import TimeExpression
from ..parsers.scripts import characters, has_unspaced, runs, spaced
from ..parsers.times import find_times
from .stopwords import cut_unspaced, language_of, stop_words

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_POSSESSIVE = re.compile(r"['’](?:s|S)$|['’]$")
#: Written to be matched as they stand: ZX-4417, a828e60, E_CONN_4031, 2.8.2, v2.9, foo_bar, /etc/hosts, 8431.
_IDENTIFIER = re.compile(r"[\w][\w./:+#-]{1,80}[\w]|\d{3,}")
#: Words, and stretches of text, by which a question asks when.
_WHEN = frozenset("when wann cuándo cuando quand quando wanneer".split())
_WHEN_PHRASES = (
    *("how long", "how old", "what date", "what day", "what month", "what year", "what time", "wie lange", "ne zaman"),
    *("什么时候", "什麼時候", "几号", "哪天", "几点", "何时", "いつ", "언제"),
)
#: Words, and stretches of text, by which a question asks for an opinion.
_OPINION = frozenset(
    """
    prefer prefers preferred preference preferences think thinks opinion opinions feel feels believe believes
    favorite favourite favorites favourites like likes dislike dislikes hate hates love loves want wants view
    views mag mögen findet meint bevorzugt denkt hält prefiere piensa opina gusta préfère pense aime preferisce
    pensa prefere acha gosta tercih sever seviyor düşünüyor
    """.split()
)
_OPINION_PHRASES = ("喜欢", "喜歡", "觉得", "覺得", "认为", "認為", "看法", "偏好", "好き", "思う", "思って", "좋아")
#: Words, and stretches of text, by which a question asks for what is so by now.
_NOW = frozenset(
    """now currently current latest nowadays jetzt derzeit aktuell inzwischen ahora actualmente maintenant actuellement
    adesso agora atualmente şimdi nu""".split()
)
_NOW_PHRASES = ("现在", "現在", "目前", "如今", "最新", "今は", "지금")
_MOST_TERMS = 48


class Term(NamedTuple):
    """One thing to look for. ``phrase``: as an FTS5 string, safe whatever was asked. ``kind``: word, gram (a piece of
    an unspaced run) or identifier."""

    text: str
    phrase: str
    kind: str


class Question(NamedTuple):
    """``terms``: without repeats, in order. ``words``: every word, case kept, for naming entities. ``times``:
    expressions that name days. ``language``: a guess, ``en`` by default. ``asks_when``, ``asks_opinion``,
    ``asks_now``: what kind of answer is wanted."""

    text: str
    terms: tuple[Term, ...]
    words: tuple[str, ...]
    times: tuple[TimeExpression, ...]
    language: str
    asks_when: bool
    asks_opinion: bool
    asks_now: bool

    @property
    def identifiers(self) -> tuple[str, ...]:
        return tuple(term.text for term in self.terms if term.kind == "identifier")


def quoted(text: str) -> str:
    """An FTS5 string that matches the words of ``text`` in a row, and cannot be read as anything else."""
    return '"' + text.replace('"', '""').replace("\0", " ") + '"'


def read_question(text: str, today: date) -> Question:
    """Read a question asked on ``today``. Any string is a question."""
    text = unicodedata.normalize("NFC", text[:4000])
    words = tuple(_POSSESSIVE.sub("", word) for word in _WORD.findall(text))
    folded = frozenset(word.casefold() for word in words)
    language = language_of(folded)
    spoken = text.casefold()
    times = tuple(t for t in find_times(text, today) if t.interval is not None and t.source != "clock")
    return Question(
        text,
        tuple(_terms(text, words, times, stop_words(language))),
        words,
        times,
        language,
        not _WHEN.isdisjoint(folded) or any(phrase in spoken for phrase in _WHEN_PHRASES),
        not _OPINION.isdisjoint(folded) or any(phrase in spoken for phrase in _OPINION_PHRASES),
        not _NOW.isdisjoint(folded) or any(phrase in spoken for phrase in _NOW_PHRASES),
    )


def _terms(text: str, words: tuple[str, ...], times: tuple[TimeExpression, ...], dropped: frozenset[str]) -> list[Term]:
    terms: dict[str, Term] = {}
    for identifier in _identifiers(text, times):
        terms.setdefault(identifier, Term(identifier, quoted(identifier), "identifier"))
    # Words such as "last week" say when, not what; a date that stands on its own may stand so in the passage too.
    relative = " ".join(text[t.start : t.end] for t in times if t.source == "relative").casefold().split()
    for word in words:
        folded = word.casefold()
        if folded in relative:
            continue
        if has_unspaced(word):
            for piece in grams(word):
                terms.setdefault(piece, Term(piece, quoted(spaced(piece).strip()), "gram"))
        elif folded not in dropped and not _is_part(folded, terms):
            terms.setdefault(folded, Term(folded, quoted(folded), "word"))
    if not terms and not times:
        terms = {w.casefold(): Term(w.casefold(), quoted(w), "word") for w in words}
    return list(terms.values())[:_MOST_TERMS]


def grams(word: str) -> list[str]:
    """A run that holds an unspaced script, in the pieces to look for: pairs of characters, a lone one as it is, and
    words of other scripts between them."""
    found: list[str] = []
    for part in cut_unspaced(word):
        for run, is_unspaced in runs(part):
            pieces = characters(run)
            if not is_unspaced:
                found.append(run.casefold())
            elif len(pieces) == 1:
                found.append(pieces[0])
            else:
                found += [a + b for a, b in pairwise(pieces)]
    return found


def _identifiers(text: str, times: tuple[TimeExpression, ...]) -> list[str]:
    found = []
    for match in _IDENTIFIER.finditer(text):
        token = match[0]
        if any(t.start < match.end() and match.start() < t.end for t in times):
            continue
        digits = any(map(str.isdigit, token))
        letters = any(map(str.isalpha, token))
        joined = any(c in "_./:+#" for c in token) or ("-" in token and digits)
        if has_unspaced(token):
            continue
        if (digits and (letters or joined or len(token) >= 3)) or (joined and "_" in token) or "/" in token[:-1]:
            found.append(token)
    return found


def _is_part(word: str, terms: dict[str, Term]) -> bool:
    """Whether a word stands in an identifier already, which is looked for as a whole."""
    return any(term.kind == "identifier" and word in re.split(r"\W|_", term.text.casefold()) for term in terms.values())
