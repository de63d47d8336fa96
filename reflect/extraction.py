"""Facts that nobody typed: sentences of a log's narrative that tell something lasting of somebody it knows.

Precision goes before recall: what is a question, a wish, a plan, an order, a supposition, somebody's words or talk of
the moment is left out. A sentence is taken as it was written; nothing is re-told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from ..parsers.names import mentions
from ..parsers.records import Fact, Interval, Note
from ..parsers.retain import fact_id
from ..parsers.secrets import looks_secret
from ..parsers.times import find_times, occurred
from . import sentence_signs as signs
from .language import Language, PhraseMatcher
from .narrative import Named, Names, Sentence, prose_lines, sentences
from .narrative_reader import LEAST_SCORE, Antecedent, Reader
from .narrative_repeats import Repeats

__all__ = ["LEAST_SCORE", "Candidate", "candidate_line", "extract"]

#: Nobody has said an opinion that was found so firmly as one that was typed.
MOST_CONFIDENCE = 0.55


class Candidate(NamedTuple):
    """A sentence worth retaining. ``kind``: world, experience or opinion. ``entities``: as the workspace writes them,
    the leading one first. ``text``: as written, on the lines ``line`` to ``end_line`` of ``path``. ``score``: 0..1.
    ``reason``: what spoke for it, for a person. ``id``: of the fact that it would be."""

    kind: str
    entities: tuple[str, ...]
    text: str
    path: str
    line: int
    end_line: int
    day: date | None
    score: float
    reason: str
    id: str

    @property
    def occurred(self) -> Interval | None:
        """When it happened, by the time expressions of its own sentence; None where it names no day."""
        return occurred(find_times(self.text, self.day))

    @property
    def confidence(self) -> float | None:
        """Of an opinion, at most 0.55; of anything else none."""
        return min(MOST_CONFIDENCE, self.score) if self.kind == "opinion" else None


def extract(
    notes: Sequence[Note],
    names: Mapping[str, str],
    language: Language | None = None,
    lines: Sequence[str] | None = None,
    stated: Iterable[Fact] = (),
) -> list[Candidate]:
    """The sentences of one file's notes that are worth retaining, in the order of the file.

    ``names``: each way to write a known entity, casefolded, and the entity's name. ``language``: for names that nobody
    knows yet, and subjects. ``lines``: of the file, 1-based from its first; with them each candidate cites the very
    lines of its sentence, and quotes, tables and code are known for what they are. ``stated``: the facts that the log
    states; what says one of them again is left out, and so is the shorter of two sentences that say one thing.
    """
    known = Names(names)
    matcher = language.matcher(names) if language and names else None
    prose = prose_lines(lines) if lines is not None else None
    found: dict[str, Candidate] = {}
    for note in notes:
        if not _is_prose(note, prose, lines):
            continue
        subject: Antecedent | None = None
        for sentence in sentences(note, lines):
            reader = Reader(sentence, _named(sentence, known, matcher), subject, language)
            worth = reader.worth()
            if worth:
                place = (note.path, sentence.line, sentence.end_line, note.day)
                key = fact_id(worth.kind, worth.entities, sentence.text)
                one = Candidate(worth.kind, worth.entities, sentence.text, *place, worth.score, worth.reason, key)
                found.setdefault(key, one)
            subject = reader.only_subject
    return sorted(_news(found.values(), stated), key=lambda one: (one.path, one.line, one.end_line))


def candidate_line(one: Candidate) -> str:
    """``Mara lives in Flensburg. (memory/2025-11-22.md#L10)``: a candidate on a page, with where it stands."""
    return f"{one.text} ({one.path}#L{one.line})"


def _news(found: Iterable[Candidate], stated: Iterable[Fact]) -> list[Candidate]:
    """The candidates that say neither a stated fact nor another candidate again. Of equal ones the first stays."""
    said = Repeats()
    for fact in stated:
        said.add(fact.entities, fact.text)
    told = list(found)
    longest_first = sorted(range(len(told)), key=lambda at: (-len(told[at].text), at))
    return [told[at] for at in sorted(at for at in longest_first if said.add(told[at].entities, told[at].text))]


def _is_prose(note: Note, prose: frozenset[int] | None, lines: Sequence[str] | None) -> bool:
    """Whether a note is narrative: no quote, table, code or generated text, no secret, no list of what is to do."""
    if note.origin != "stated" or looks_secret(note.text) or signs.ORDER_SECTION.search(note.heading):
        return False
    if note.text.startswith((">", "|", "```", "~~~")) or signs.OPEN_BOX.match(note.text):
        return False
    if prose is None or lines is None:
        return True
    return all(n in prose for n in range(note.line, note.end_line + 1) if n <= len(lines) and lines[n - 1].strip())


def _named(sentence: Sentence, known: Names, matcher: PhraseMatcher | None) -> list[Named]:
    """The names in a sentence: known ones, else those that it marks with @, which nobody has to know."""
    text = sentence.text
    is_german = signs.is_german(text.casefold().split())
    named = known.find(text, matcher.find(text) if matcher else (), is_german)
    marked = ((text.find(f"@{name}"), name) for name in mentions(text))
    return named or [Named(at, at + 1 + len(name), name) for at, name in marked if at >= 0]
