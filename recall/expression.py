"""What the index is asked for a question's words: the words themselves, their irregular forms, and words that are like
those which no passage has."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..bank.driver import Connection
from .compounds import relatives
from .inflections import other_forms
from .question import Question, Term, quoted

#: Passages are counted up to this number.
_COMMON = 5000


class Expression(NamedTuple):
    """What FTS5 is asked for ``terms``. ``exact``: any of them. ``alike``: relatives of words that no passage has.
    Either is "" where there is nothing to look for. ``possible``: about the bm25 of a passage of average length that
    has all terms once, those that no passage has (``missing``) being the rarest; 0 where that cannot be said."""

    exact: str
    alike: str
    possible: float
    missing: tuple[str, ...]
    terms: tuple[Term, ...]


def expression(
    connection: Connection,
    question: Question,
    terms: Sequence[Term] | None = None,
    means: Callable[[str], bool] | None = None,
) -> Expression:
    """The FTS5 expressions for a question's terms, or for some of them.

    ``means``: where meanings are compared, whether an English word has one: two that do are no relatives because they
    are spelt alike.
    """
    terms = question.terms if terms is None else terms
    phrases: list[str] = []
    missing: list[str] = []
    total = connection.execute("SELECT count(*) FROM passages").fetchone()[0]
    possible = 0.0
    for term in terms:
        forms = other_forms(term.text) if term.kind == "word" and question.language == "en" else []
        own = [term.phrase, *map(quoted, forms)]
        phrases += own
        count = _count(connection, " OR ".join(own))
        possible += max(math.log((total - count + 0.5) / (count + 0.5)), 0.0)
        if not count:
            missing.append(term.text)
    inflected = question.language != "en"
    words = [t.text for t in terms if t.kind == "word" and (inflected or not t.text.isascii() or t.text in missing)]
    likened = relatives(connection, words)
    if means and not inflected:
        likened = {word: [t for t in found if not (means(word) and means(t))] for word, found in likened.items()}
    alike = [quoted(term) for found in likened.values() for term in found]
    if inflected:
        # Endings and compounds are what such a language is made of: there a relative is as good as the word.
        phrases, alike, possible = [*phrases, *alike], [], 0.0
    return Expression(
        " OR ".join(dict.fromkeys(phrases)), " OR ".join(dict.fromkeys(alike)), possible, tuple(missing), tuple(terms)
    )


def _count(connection: Connection, match: str) -> int:
    """How many passages match, counted no further than what is common anyway."""
    sql = "SELECT count(*) FROM (SELECT 1 FROM passage_terms WHERE passage_terms MATCH ? LIMIT ?)"
    return int(connection.execute(sql, (match, _COMMON)).fetchone()[0])
