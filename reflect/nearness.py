"""Which statements of a pool may bear on one: they share a word that says something, or lie near in meaning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from ..bank.static_space import static_embedder
from .statements import Statement
from .verdicts.sameness import content_words

#: Judged in any case: words shared by this much of all words, or vectors as near as this.
WORDS_NEAR, MEANING_NEAR = 0.30, 0.55
#: Judged when they are among the nearest: at least one word shared, or vectors as near as this.
MEANING_ALIKE = 0.35
NEAREST = 10


class Pool:
    """Statements that are compared with each other, and with those that come later."""

    def __init__(self, statements: Sequence[Statement]) -> None:
        self.statements = list(statements)
        self.words = [content_words(one.text) for one in self.statements]
        self.number = {one.id: number for number, one in enumerate(self.statements)}
        embedder = static_embedder()
        texts = [one.text for one in self.statements]
        rows = numpy.array(embedder.embed_documents(texts) if embedder and texts else [[0.0]] * len(texts), dtype="f4")
        lengths = numpy.linalg.norm(rows, axis=1, keepdims=True) if len(rows) else rows
        self.vectors = numpy.divide(rows, lengths, out=numpy.zeros_like(rows), where=lengths > 0)

    def near(self, one: Statement, among: Sequence[int]) -> list[int]:
        """Those of ``among`` (places in ``statements``) that may bear on a statement of the pool, in their order."""
        own = self.number[one.id]
        words = self.words[own]
        cosines = self.vectors[list(among)] @ self.vectors[own] if among else numpy.zeros(0)
        sure: set[int] = set()
        maybe: list[tuple[float, int]] = []
        for other, cosine in zip(among, numpy.round(cosines, 4).tolist(), strict=True):
            shared = len(words & self.words[other])
            overlap = shared / len(words | self.words[other]) if shared else 0.0
            if overlap >= WORDS_NEAR or cosine >= MEANING_NEAR:
                sure.add(other)
            elif shared or cosine >= MEANING_ALIKE:
                maybe.append((-(cosine + overlap), other))
        room = max(0, NEAREST - len(sure))
        return sorted(sure | {other for _, other in sorted(maybe)[:room]})
