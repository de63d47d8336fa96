"""What a context shows already, so that nothing is said in it twice."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_WORD = re.compile(r"\w+(?:['’]\w+)*")
_CITATION = re.compile(r"(?P<path>[^\s()\[\]]+\.md)#L(?P<line>\d{1,9})(?:-L?\d{1,9})?")
_NEGATIONS = frozenset(
    "not no never none nicht kein keine keinen keiner nie niemals nunca jamás ne pas jamais non mai não".split()
)
#: An entry says a fact when it has all of its words, and not so many others that it may say something else.
_OTHERS, _OTHERS_LEAST = 1.0, 6


class Said(NamedTuple):
    """A fact or a note of a file. ``text``: with the names of those whom it is about."""

    line: int
    end_line: int
    text: str
    key: str


class _Entry(NamedTuple):
    path: str
    line: int
    end_line: int
    words: frozenset[str]


class Shown:
    """Entries that are shown, by their place, their ids and their words."""

    def __init__(self) -> None:
        self._entries: list[_Entry] = []
        self._keys: set[str] = set()
        self._cited: set[tuple[str, int]] = set()

    def add(self, path: str, line: int, end_line: int, text: str, keys: Iterable[str] = ()) -> None:
        """An entry of a file (lines 1-based, included). ``keys``: ids of the facts and notes in it. What it cites is
        shown with it."""
        self._entries.append(_Entry(path, line, end_line, _words(_CITATION.sub(" ", text))))
        self._keys.update(keys)
        self._cited.update((cited["path"], int(cited["line"])) for cited in _CITATION.finditer(text))

    def add_unit(self, path: str, line: int, end_line: int, heading: str, said: Sequence[Said]) -> None:
        """Lines of a file below a heading. What of ``said`` stands in them counts as entries."""
        for one in said:
            if line <= one.line <= end_line:
                self.add(path, one.line, one.end_line, f"{heading} {one.text}", [one.key])

    def holds(self, key: str, places: Iterable[tuple[str, int]], text: str) -> bool:
        """Whether something is shown: by its id, by one of its places (path, line), or as an entry that says it.
        ``text``: with the names of those whom it is about."""
        if key in self._keys:
            return True
        where = set(places)
        if where & self._cited or any(
            path == one.path and one.line <= line <= one.end_line for one in self._entries for path, line in where
        ):
            return True
        words = _words(text)
        return bool(words) and any(_says(one.words, words) for one in self._entries)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


def _says(entry: frozenset[str], words: frozenset[str]) -> bool:
    if not words <= entry:
        return False
    others = entry - words
    negated = any(word in _NEGATIONS or word.endswith(("n't", "n’t")) for word in others)
    return not negated and len(others) <= max(_OTHERS_LEAST, _OTHERS * len(words))
