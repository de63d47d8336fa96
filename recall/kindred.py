"""Kindred words: for each word of the question the nearest in meaning that a passage has.

A vector of a whole passage blurs what a single word of it says; a question in other words often differs from its answer
by one or two of them (late interaction, after Khattab & Zaharia 2020, arXiv 2004.12832, with the built-in model's word
vectors). Words are compared by the signs of their vectors first, and the nearest few exactly.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from operator import mul

from ..bank.embeddings.static import StaticEmbedder
from ..bank.embeddings.wordpiece import words
from .candidates import Passage

#: Of all words in the candidates so many are compared exactly with a word of the question; all others are no kin.
NEAREST = 32


def kindred(
    embedder: StaticEmbedder, question: str, dropped: Iterable[str], passages: Sequence[Passage]
) -> Mapping[int, float]:
    """For each passage how much of the question it says in words of its own, 0 to 1: the cosine of the nearest word for
    each word of the question, those weighing more whose vectors are longer. ``dropped``: words that say nothing."""
    asked = _vectors(embedder, set(words(question)).difference(dropped))
    said = {passage.id: _spoken(passage.text, passage.details) for passage in passages}
    signs: dict[str, int] = {}
    for spoken in said.values():
        for word in spoken:
            if word not in signs:
                signs[word] = embedder.signs(word)
    known = [(word, bits) for word, bits in signs.items() if bits]
    total = sum(length for _, _, length, _ in asked)
    if not total or not known:
        return {}
    found = dict.fromkeys(said, 0.0)
    for word, vector, length, bits in asked:
        # A word that is put together of pieces is compared with itself alone.
        near = sorted(known, key=lambda one: ((one[1] ^ bits).bit_count(), one[0]))[:NEAREST] if bits else []
        cosines = {near_word: _cosine(vector, length, embedder.direction(near_word)) for near_word, _ in near}
        cosines[word] = 1.0
        kin = cosines.keys()
        for passage, spoken in said.items():
            best = max((cosines[one] for one in spoken & kin), default=0.0)
            if best > 0:
                found[passage] += best * length / total
    return found


@lru_cache(maxsize=4096)
def _spoken(text: str, details: str) -> frozenset[str]:
    return frozenset(words(f"{text} {details}" if details else text))


def _vectors(embedder: StaticEmbedder, asked: Iterable[str]) -> list[tuple[str, Sequence[float], float, int]]:
    """(word, vector, its length, its signs) of those words that the model knows, in their order."""
    found = []
    for word in sorted(asked):
        vector = embedder.embed_query(word)
        length = math.sqrt(sum(map(mul, vector, vector)))
        if length and any(map(str.isalnum, word)):
            found.append((word, vector, length, embedder.signs(word)))
    return found


def _cosine(vector: Sequence[float], length: float, other: Sequence[float]) -> float:
    other_length = math.sqrt(sum(map(mul, other, other)))
    return sum(map(mul, vector, other)) / (length * other_length) if other_length else 0.0
