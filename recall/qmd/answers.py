"""What QMD answers, as text, taken apart into hits."""

import json
import re
from itertools import islice
from typing import Any, NamedTuple

from .process import QmdUnavailable

_HEAD = re.compile(r"@@ -(?P<line>\d+)(?:,(?P<count>\d+))? @@[^\n]*\n?")
_NOTHING = re.compile(r"\bno results found\b", re.IGNORECASE)
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_ADDRESS = "qmd://"
#: So many lines may look like the begin of the answer.
_MOST_STARTS = 200


class QmdHit(NamedTuple):
    """``collection``: as QMD calls it. ``path``: posix, below the collection's folder. ``score``: QMD's own, in 0..1.
    ``line``: the line that answers, 1-based, 0 where QMD does not say. ``first``: the line at which ``text`` begins,
    0 where it does not say; ``text``: some lines around the answer as QMD has them indexed."""

    collection: str
    path: str
    score: float
    line: int
    first: int
    text: str


def read_hits(output: str) -> list[QmdHit]:
    """The hits in QMD's output, in its order; entries that name no file are left out. Raises ``QmdUnavailable`` where
    there is no JSON list. What other programs print before the list is passed over."""
    rows = _rows(output)
    hits = []
    for row in rows:
        if isinstance(row, dict) and (hit := _hit(row)):
            hits.append(hit)
    if rows and not hits:
        raise QmdUnavailable("its answer names no files")
    return hits


def _rows(output: str) -> list[Any]:
    output = _CONTROL.sub("", output)
    starts = [match.end() for match in islice(re.finditer(r"(?:\A|[\n\r])[ \t]*(?=[\[{])", output), _MOST_STARTS)]
    decoder = json.JSONDecoder()
    for start in starts:
        try:
            value, _ = decoder.raw_decode(output, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            value = value.get("results")
        # A log line such as "[info]" is no list, and one such as "[1]" none of results.
        if isinstance(value, list) and all(isinstance(row, dict) for row in value):
            return value
    if _NOTHING.search(output[-2000:]):
        return []
    raise QmdUnavailable("its answer is no JSON" if output.strip() else "it answered nothing")


def _hit(row: dict[str, Any]) -> QmdHit | None:
    name = next((row[key] for key in ("file", "path", "filepath") if isinstance(row.get(key), str)), "")
    place = name.removeprefix(_ADDRESS).partition("?index=")[0]
    collection, _, path = place.partition("/")
    if not collection or not path:
        return None
    text = next((row[key] for key in ("snippet", "body") if isinstance(row.get(key), str)), "")
    head = _HEAD.match(text)
    first = int(head["line"][:9]) if head else 0
    return QmdHit(
        collection,
        path,
        _score(row.get("score")),
        _line(row.get("line")) or first,
        first,
        text[head.end() :] if head else text,
    )


def _score(value: Any) -> float:
    """A score in 0..1; 0 for what is no number (a NaN is none either)."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    return min(1.0, float(value)) if value > 0 else 0.0


def _line(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 31 else 0
