"""Sentences that say nothing that a log has not said: the same names, and no words that are new."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..parsers.names import fold
from .verdicts.sameness import content_words

#: Fewer words than these, names aside, tell nothing that could be repeated.
_FEWEST = 2
#: A word that more sentences hold finds no repeats: it says little, and time stays in proportion to the log.
_MOST_HOLDERS = 50
_NEGATED = re.compile(
    r"\b(?:no|not|never|none|nobody|nicht|nie|niemals|kein\w*|without|ohne)\b|n['’]t\b|[不没]", re.IGNORECASE
)


class _Said(NamedTuple):
    names: frozenset[str]
    words: frozenset[str]
    is_negated: bool


class Repeats:
    """What was said so far. Words count by their stems, those that only join others not at all; figures are words."""

    def __init__(self) -> None:
        self._said: list[_Said] = []
        self._holders: dict[str, list[int]] = {}

    def add(self, entities: Sequence[str], text: str) -> bool:
        """Note a sentence; whether it was news. It is none if all its words stand in one that was said before with the
        same names, or all of that one's words in it: tell the longer one first."""
        one = _said(entities, text)
        near: set[int] = set()
        for word in one.words:
            holders = self._holders.get(word, [])
            if len(holders) <= _MOST_HOLDERS:
                near.update(holders)
        if any(_is_repeat(one, self._said[place]) for place in near):
            return False
        for word in one.words:
            self._holders.setdefault(word, []).append(len(self._said))
        self._said.append(one)
        return True


def _said(entities: Sequence[str], text: str) -> _Said:
    names = frozenset(fold(name) for name in entities)
    told = frozenset(word for name in entities for word in content_words(name))
    return _Said(names, content_words(text) - told, bool(_NEGATED.search(text)))


def _is_repeat(one: _Said, other: _Said) -> bool:
    less, more = sorted((one.words, other.words), key=len)
    same_names = one.names <= other.names or other.names <= one.names
    return one.is_negated == other.is_negated and same_names and len(less) >= _FEWEST and less <= more
