"""Which of the lines that once were told of stand now, and where: a diff that knows lines by their hashes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence


def align(told: Sequence[str], found: Sequence[str]) -> list[int | None]:
    """For each of the hashes ``told`` the index in ``found`` at which it stands now, or None.

    Equal hashes are told apart by what stands around them, as in a patience diff: what is there once in both is matched
    first, then its neighbours, then what lies between the same two, then what has moved. n log n.
    """
    places: list[int | None] = [None] * len(told)
    taken = [False] * len(found)

    def take(one: int, at: int) -> None:
        places[one], taken[at] = at, True

    def extend(one: int, at: int, step: int) -> None:
        while 0 <= one < len(told) and 0 <= at < len(found) and told[one] == found[at]:
            if places[one] is not None or taken[at]:
                break
            take(one, at)
            one, at = one + step, at + step

    extend(0, 0, 1)
    if None not in places and all(taken):
        return places
    extend(len(told) - 1, len(found) - 1, -1)
    once = _once(told, places)
    there = _once(found, [True if one else None for one in taken])
    anchors = increasing([(one, there[text]) for text, one in once.items() if text in there])
    for one, at in anchors:
        take(one, at)
    for one, at in anchors:
        extend(one + 1, at + 1, 1)
        extend(one - 1, at - 1, -1)
    chain = increasing([(one, at) for one, at in enumerate(places) if at is not None])
    for by_gap in (True, False):
        free: dict[tuple[int, str], list[int]] = {}
        for at in range(len(found) - 1, -1, -1):
            if not taken[at]:
                free.setdefault((gap_of(chain, at, 1) if by_gap else 0, found[at]), []).append(at)
        for one, place in enumerate(places):
            spots = free.get((gap_of(chain, one, 0) if by_gap else 0, told[one])) if place is None else None
            if spots:
                take(one, spots.pop())
    return places


def _once(texts: Sequence[str], matched: Sequence[object]) -> dict[str, int]:
    """Where each text stands that is there once, of those that are not matched yet."""
    seen: dict[str, int] = {}
    for number, text in enumerate(texts):
        if matched[number] is None:
            seen[text] = -1 if text in seen else number
    return {text: number for text, number in seen.items() if number >= 0}


def increasing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest run of pairs (sorted by the first numbers) in which the second ones grow too: what kept its order."""
    ends: list[int] = []
    at: list[int] = []
    before: list[int] = []
    for number, (_, second) in enumerate(pairs):
        length = bisect_left(ends, second)
        before.append(at[length - 1] if length else -1)
        ends[length : length + 1] = [second]
        at[length : length + 1] = [number]
    chain: list[tuple[int, int]] = []
    number = at[-1] if at else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    return chain[::-1]


def gap_of(chain: Sequence[tuple[int, int]], at: int, side: int) -> int:
    """How many pairs of a growing ``chain`` lie before a position among the first (0) or the second (1) numbers."""
    return bisect_left(chain, at, key=lambda pair: pair[side])
