"""What a month brought an entity: an extract of its own cited facts. Such lines are generated, and never evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date

from .statements import Statement
from .verdicts.sameness import content_words
from .wording import trimmed

#: A month with fewer facts is told by them alone.
LEAST = 5
#: So many facts of a month are quoted.
QUOTED = 2


def month_of(day: date) -> str:
    return f"{day:%Y-%m}"


def by_month(statements: Sequence[Statement]) -> dict[str, list[Statement]]:
    """Dated facts by the month in which what they tell happened, newest month first."""
    found: dict[str, list[Statement]] = {}
    for one in statements:
        if one.happened and one.kind in ("world", "experience"):
            found.setdefault(month_of(one.happened), []).append(one)
    return {month: found[month] for month in sorted(found, reverse=True)}


def central(statements: Sequence[Statement], count: int) -> list[Statement]:
    """The facts whose words are most shared by the others (after SumBasic, Nenkova & Vanderwende 2005), in their order.

    Once a fact is taken its words count less, so that the next one tells something else.
    """
    words = {one.id: sorted(content_words(one.text)) for one in statements}
    spread = Counter(word for own in words.values() for word in own)
    weight = {word: uses / len(statements) for word, uses in spread.items()}
    taken: list[Statement] = []
    while len(taken) < count:
        left = [one for one in statements if one not in taken]
        if not left:
            break
        best = max(
            left, key=lambda one: (_mean([weight[w] for w in words[one.id]]), [-n for n in one.order[:1]], one.id)
        )
        taken.append(best)
        for word in words[best.id]:
            weight[word] **= 2
    return sorted(taken, key=lambda one: (one.happened or date.min, *one.order))


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 6) if values else 0.0


def summary(month: str, statements: Sequence[Statement]) -> str:
    """``S 2025-11: 7 facts. Fixed the crash. (memory/…#L8) Moved to Porto. (memory/…#L10)``."""
    quoted = " ".join(f"{trimmed(one.text)} ({one.first.citation})" for one in central(statements, QUOTED))
    return f"S {month}: {len(statements)} facts. {quoted}"
