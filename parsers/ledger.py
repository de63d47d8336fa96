"""The lines in which reflect's pages keep what was decided: an opinion's confidence by now, and until when a fact held.

They are written and read here, so that the index knows these decisions from the pages alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date

from .records import Judgement

_ID = r"[wbos]-[0-9a-f]{12}"
_DAY = r"\d{4}-\d{2}-\d{2}"
_ANCHORS = re.compile(rf"\^({_ID})")
_HEAD = re.compile(r"[-*+]\s.*\s\^(?P<id>o-[0-9a-f]{12})\s*$")
_NOW = re.compile(r"\s+[-*+]\s.*\bnow (?P<now>[01]\.\d{1,6})(?:\s|$)")
_ALSO = re.compile(r"\s+[-*+]\s+also stated:")
_DAYS = re.compile(rf"\((?:(?P<first>{_DAY}) to |until )(?P<last>{_DAY}), ")
_HELD = re.compile(rf".*?\^(?P<id>{_ID})(?:, (?:then|retracted by) \^(?P<successor>{_ID}))?\)\s*$")


def held(first: date | None, last: date, citation: str, own: str, successor: str, retracted: bool) -> str:
    """``(2025-11-20 to 2025-11-29, memory/2025-11-20.md#L5, ^w-1a…, then ^w-2b…)``: the end of a line that tells what
    held once. ``own`` and ``successor`` are ids; ``successor`` "" where nothing took its place."""
    since = f"{first.isoformat()} to" if first and first <= last else "until"
    after = f", {'retracted by' if retracted else 'then'} ^{successor}" if successor else ""
    return f"({since} {last.isoformat()}, {citation}, ^{own}{after})"


def confidence_now(confidence: float) -> str:
    """``now 0.83``, in an opinion's line of numbers."""
    return f"now {confidence:.2f}"


def also_stated(places: Iterable[tuple[str, str]]) -> str:
    """``also stated: memory/2026-02-06.md#L2 ^o-…``: an opinion's other places as (citation, id of another wording, or
    "")."""
    return "also stated: " + ", ".join(f"{citation} ^{own}" if own else citation for citation, own in places)


def read_judgements(lines: Sequence[str], managed: Sequence[int], own: int) -> tuple[Judgement, ...]:
    """What the lines inside our own blocks (``managed[n] == own``) say, in order; a person's line may head the numbers
    that stand below it."""
    found: list[Judgement] = []
    heads: list[str] = []
    for number, line in enumerate(lines):
        line = line.rstrip("\r\n")
        head = _HEAD.match(line)
        if head or not line[:1].isspace():
            heads = [head["id"]] if head else []
        if managed[number] != own:
            continue
        days = next(reversed(list(_DAYS.finditer(line))), None)
        past = _HELD.match(line, days.end()) if days else None
        if days and past:
            last = _day(days["last"])
            if last:
                found.append(Judgement(past["id"], None, _day(days["first"]), last, past["successor"] or ""))
        elif heads and _ALSO.match(line):
            known = next((one.confidence for one in reversed(found) if one.key == heads[0]), None)
            if known is not None:
                also = (key for key in _ANCHORS.findall(line) if key not in heads)
                found += [Judgement(key, known, None, None, "") for key in also]
        elif heads and (now := _NOW.match(line)) and float(now["now"]) <= 1:
            found.append(Judgement(heads[0], float(now["now"]), None, None, ""))
    return tuple(found)


def _day(written: str | None) -> date | None:
    try:
        return date.fromisoformat(written) if written else None
    except ValueError:
        return None
