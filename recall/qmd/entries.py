"""Hits of QMD as the results of ``memory_search``: each file once, its lines as they are on the disk now."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...bank.errors import MemoryFault
from ...bank.workspace import Workspace
from ..bundle import citation, strictly_falling
from ..snippet import Snippet, make_snippet
from .answers import QmdHit
from .collections import Collection
from .places import Place, locate, read_lines
from .settings import Limits

#: Less than this is no snippet.
_SHORTEST = 40


class Shown(NamedTuple):
    """A hit in its file. ``lines``: all of the file's; ``answer``: the number of the line that answers."""

    place: Place
    score: float
    lines: list[str]
    answer: int


def find_places(
    workspace: Workspace,
    collections: Mapping[str, Collection],
    hits: Sequence[QmdHit],
    patterns: Sequence[re.Pattern[str]],
) -> tuple[list[Shown], bool]:
    """(The hits whose files can be read, each file once, in their order; whether some file was gone). ``collections``:
    by QMD's names; hits of others are left out."""
    found: dict[str, Shown] = {}
    gone = False
    for hit in hits:
        collection = collections.get(hit.collection)
        if collection is None:
            continue
        try:
            place = locate(workspace, collection, hit.path)
            if place.real in found:
                continue
            lines = read_lines(place)
        except (FileNotFoundError, NotADirectoryError):
            gone = True
        except (MemoryFault, OSError):
            continue
        else:
            found[place.real] = Shown(place, hit.score, lines, answering_line(hit, lines, patterns))
    return list(found.values()), gone


def answering_line(hit: QmdHit, lines: Sequence[str], patterns: Sequence[re.Pattern[str]]) -> int:
    """The number (1-based) of the line that answers: QMD's, as far as the file has moved since it was indexed, unless
    another holds more of the question's words."""
    if not lines:
        return 1
    line = min(max(hit.line + _shift(hit, lines), 1), len(lines))
    words = [sum(1 for pattern in patterns if pattern.search(text)) for text in lines]
    most = max(words)
    return line if words[line - 1] == most else words.index(most) + 1


def _shift(hit: QmdHit, lines: Sequence[str]) -> int:
    """By how many lines the text that QMD shows stands further down now."""
    told = [line for line in hit.text.split("\n") if line.strip()]
    if not hit.first or not told:
        return 0
    offset = hit.text.split("\n").index(told[0])
    expected = hit.first + offset - 1
    places = [number for number, line in enumerate(lines) if line.strip() == told[0].strip()]
    return min(places, key=lambda number: abs(number - expected)) - expected if places else 0


def make_entries(
    shown: Sequence[Shown], patterns: Sequence[re.Pattern[str]], limits: Limits, cited: bool, vectors: bool
) -> list[dict[str, Any]]:
    """Result entries, best first. ``limits.snippet_characters`` bounds each snippet, ``injected_characters`` all of
    them with their citations. ``vectors``: whether QMD's score is a cosine."""
    entries: list[dict[str, Any]] = []
    left = limits.injected_characters
    for one, score in zip(shown, strictly_falling([one.score for one in shown]), strict=True):
        room = min(limits.snippet_characters, left)
        snippet = _snippet(one, patterns, room)
        cite = citation(one.place.shown, snippet.line, snippet.end_line)
        footer = f"\n\nSource: {cite}" if cited else ""
        if len(snippet.text) + len(footer) > left:
            snippet = _snippet(one, patterns, left - len(footer))
            cite = citation(one.place.shown, snippet.line, snippet.end_line)
            footer = f"\n\nSource: {cite}" if cited else ""
        if entries and left - len(footer) < min(_SHORTEST, limits.snippet_characters):
            break
        left -= len(snippet.text) + len(footer)
        entries.append(
            {
                "path": one.place.shown,
                "startLine": snippet.line,
                "endLine": snippet.end_line,
                "score": score,
                **({"vectorScore": one.score} if vectors else {}),
                "textScore": 0.0 if vectors else one.score,
                "snippet": snippet.text + footer,
                "source": one.place.collection.source,
                "corpus": one.place.collection.source,
                **({"citation": cite} if cited else {}),
            }
        )
    return entries


def _snippet(one: Shown, patterns: Sequence[re.Pattern[str]], room: int) -> Snippet:
    at = (one.answer, one.answer)
    return make_snippet("\n".join(one.lines), 1, at, list(patterns), max(room, 1))
