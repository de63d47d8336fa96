"""What is asked of QMD: a question in the words and the command that it takes.

QMD's ``search`` wants every word of a query in one document, so that a whole sentence finds nothing: it is asked for
the words that say something. Where no document has all of them, those with any are asked for: a query document of one
``lex:`` line for each word, which ``query`` fuses without a model.
"""

import re
from collections.abc import Sequence
from datetime import date

from ...bank.errors import one_line
from ..question import Question, read_question

#: Longer questions are cut: an argument of a command has bounds.
_LONGEST = 2000
_MOST_WORDS = 12
_REFUSED = re.compile(
    r"unknown (?:sub)?(?:command|option|argument|flag)|unrecogni[sz]ed|unsupported|unexpected argument"
    r"|invalid (?:option|command|argument|flag)|no such (?:option|command)|not a valid (?:option|command)"
    r"|found argument|flag provided but not defined",
    re.IGNORECASE,
)


def understand(query: str, today: date) -> Question:
    """The question, as the built-in search reads it."""
    return read_question(one_line(query[:_LONGEST]), today)


def words_to_find(question: Question) -> list[str]:
    """What has to be found, most telling first as it was asked; at most a dozen."""
    return [term.text for term in question.terms if term.text.strip()][:_MOST_WORDS]


def whole_query(mode: str, question: Question) -> str:
    """The query of one mode: the words for ``search``, the question as it is for those that compare meanings."""
    asked = one_line(question.text)
    if mode != "search":
        # A query document is several lines, each with its type before a colon; a question is none.
        return asked
    if '"' in asked:
        return asked
    grams = any(term.kind == "gram" for term in question.terms)
    words = words_to_find(question)
    return asked if grams or not words else " ".join(words)


def any_word_query(question: Question) -> str:
    """The query document that finds documents with any of the words; "" where that is no more than was asked."""
    words = words_to_find(question)
    return "\n".join(f"lex: {word}" for word in (one_line(word).replace('"', " ") for word in words))


def arguments(mode: str, query: str, collections: Sequence[str], most: int, *more: str) -> list[str]:
    """The command line behind the program's name."""
    chosen = [word for name in collections for word in ("-c", name)]
    return [mode, *more, "--json", "-n", str(most), *chosen, "--", query]


def is_refusal(complaint: str) -> bool:
    """Whether QMD says that it does not know the command or an option."""
    return _REFUSED.search(complaint) is not None
