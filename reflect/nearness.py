"""Which statements may bear on each other: they share words that say something, or lie near in meaning.

The test looks at two statements alone, never at what else there is, so that a new statement changes nothing between the
others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy

from ..bank.static_space import static_embedder
from .statements import Statement
from .verdicts.sameness import content_words


class Bounds(NamedTuple):
    """From where on two statements are judged: ``words``: shared ones as a share of all of both (Jaccard);
    ``meaning``: the cosine of their vectors."""

    words: float
    meaning: float


#: Of the training rows that are no stance at all 0.7, of the others 0.3 come in; of unrelated pairs one in a hundred.
FOR_STANCE = Bounds(0.10, 0.30)
#: Of the training rows that supersede or repeat eight in ten come in; of unrelated pairs six in a thousand.
FOR_SUCCESSION = Bounds(0.15, 0.35)
_DIGITS = 6


class Pool:
    """Statements that are compared with each other."""

    def __init__(self, statements: Sequence[Statement]) -> None:
        self.statements = list(statements)
        self.words = [content_words(one.text) for one in self.statements]
        self.holders: dict[str, list[int]] = {}
        for number, words in enumerate(self.words):
            for word in words:
                self.holders.setdefault(word, []).append(number)
        rows = numpy.array(_embedded([one.text for one in self.statements]), dtype="f8")
        lengths = numpy.linalg.norm(rows, axis=1, keepdims=True) if len(rows) else rows
        self.vectors = numpy.divide(rows, lengths, out=numpy.zeros_like(rows), where=lengths > 0)

    def near(self, numbers: Iterable[int], bounds: Bounds) -> Iterable[tuple[int, int]]:
        """Pairs (of places in ``statements``) of one of ``numbers`` with any other that may bear on it."""
        for number in numbers:
            for other in self._near(self.vectors[number], self.words[number], bounds):
                if other != number:
                    yield number, other

    def near_text(self, text: str, bounds: Bounds) -> list[int]:
        """The places in ``statements`` of those that may bear on a text."""
        row = numpy.array(_embedded([text])[0], dtype="f8")
        length = numpy.linalg.norm(row)
        return self._near(row / length if length > 0 else row, content_words(text), bounds)

    def _near(self, vector: numpy.ndarray, words: frozenset[str], bounds: Bounds) -> list[int]:
        cosines = numpy.round(self.vectors @ vector, _DIGITS)
        found = set(numpy.nonzero(cosines >= bounds.meaning)[0].tolist())
        shared: dict[int, int] = {}
        for word in words:
            for other in self.holders.get(word, ()):
                shared[other] = shared.get(other, 0) + 1
        for other, count in shared.items():
            if count >= bounds.words * (len(words) + len(self.words[other]) - count):
                found.add(other)
        return sorted(found)


def _embedded(texts: Sequence[str]) -> Sequence[Sequence[float]]:
    embedder = static_embedder()
    return embedder.embed_documents(texts) if embedder and texts else [[0.0]] * len(texts)
