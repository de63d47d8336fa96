"""Questions with known answers: read from a file, asked of the full engine, and what they tell of several models."""

import json
import math
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from ..bank.errors import MemoryFault, fault_of
from ..bank.workspace import Workspace
from .engine import recall

#: Results that a right line is looked for in, and the tokens that these may take: no limit in practice.
DEPTH, _BUDGET = 10, 1_000_000
#: With fewer questions a difference is hardly ever more than chance.
FEW_QUESTIONS = 20
#: Differences that chance makes this often, or more often, are none.
_CHANCE = 0.05
_CITATION = re.compile(r"(?P<path>.+\.md)#L(?P<first>\d{1,9})(?:-L?(?P<last>\d{1,9}))?")


class Cited(NamedTuple):
    """Lines of a file, from 1, both included."""

    path: str
    first: int
    last: int


class Asked(NamedTuple):
    """A question, and where its answer stands: any of these places will do."""

    question: str
    expect: tuple[Cited, ...]


class Quality(NamedTuple):
    """Shares of questions with a right line among the first 1, 5 and 10 results, and the mean of 1 / its rank."""

    hit_1: float
    hit_5: float
    hit_10: float
    mrr: float


def read_questions(path: str) -> list[Asked]:
    """The questions in a file of JSON lines, ``{"question": …, "expect": ["path#L3", …]}``; other keys are not read.

    Raises ``MemoryFault`` with ``path:line`` for the first line that is none of these.
    """
    try:
        with open(path, encoding="utf-8-sig") as file:
            lines = file.read().split("\n")
    except OSError as error:
        raise fault_of(error, "cannot read the questions", path) from None
    except UnicodeDecodeError:
        raise MemoryFault("the questions are not UTF-8", path, "save the file as UTF-8") from None
    asked = [_question(line, f"{path}:{number}") for number, line in enumerate(lines, 1) if line.strip()]
    if not asked:
        raise MemoryFault("there is no question in it", path, _REMEDY)
    return asked


_REMEDY = 'write {"question": "…", "expect": ["memory/2025-11-27.md#L12"]}, one on each line'


def _question(line: str, where: str) -> Asked:
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        raise MemoryFault("this line is not JSON", where, _REMEDY) from None
    question = told.get("question") if isinstance(told, dict) else None
    expect = told.get("expect") if isinstance(told, dict) else None
    if not isinstance(question, str) or not question.strip():
        raise MemoryFault("this line has no question", where, _REMEDY)
    if not isinstance(expect, list) or not expect:
        raise MemoryFault("this line does not say what is expected", where, _REMEDY)
    places = [_citation(one) if isinstance(one, str) else None for one in expect]
    for one, place in zip(expect, places, strict=True):
        if place is None:
            raise MemoryFault(f"{json.dumps(one, ensure_ascii=False)} is no citation", where, _REMEDY)
    return Asked(question, tuple(filter(None, places)))


def _citation(text: str) -> Cited | None:
    match = _CITATION.fullmatch(text)
    if not match:
        return None
    first = int(match["first"])
    return Cited(match["path"], first, max(first, int(match["last"] or first)))


def covers(place: Cited, other: Cited) -> bool:
    """Whether two places share a line."""
    return place.path == other.path and place.first <= other.last and other.first <= place.last


def ask(workspace: Workspace, asked: Sequence[Asked], now: datetime, provider: str) -> tuple[list[int], str]:
    """For each question the rank of the first result with a right line (0 for none among the first ten); and the
    fault of the provider, "" while it answered every question."""
    ranks: list[int] = []
    for one in asked:
        answer = recall(workspace, one.question, now=now, k=DEPTH, budget=_BUDGET, no_sync=True)
        if answer["provider"] != provider:
            return ranks, str(answer["warning"] or answer["reason"])
        ranks.append(rank_of(answer["results"], one.expect))
    return ranks, ""


def rank_of(results: Sequence[dict[str, Any]], expect: Sequence[Cited]) -> int:
    """The rank of the first result that says what is expected, in one of its places; 0 where none does."""
    for rank, result in enumerate(results, 1):
        places = filter(None, map(_citation, result["places"]))
        if any(covers(place, other) for place in places for other in expect):
            return rank
    return 0


def quality(ranks: Sequence[int]) -> Quality:
    """What the ranks of several questions come to."""

    def hit(most: int) -> float:
        return sum(1 for rank in ranks if 0 < rank <= most) / len(ranks)

    return Quality(hit(1), hit(5), hit(DEPTH), sum(1 / rank for rank in ranks if rank) / len(ranks))


def better_and_worse(ranks: Sequence[int], others: Sequence[int]) -> tuple[int, int]:
    """For how many questions the first ranks are better than the others, and for how many worse."""
    pairs = [(rank or DEPTH + 1, other or DEPTH + 1) for rank, other in zip(ranks, others, strict=True)]
    return sum(1 for one, other in pairs if one < other), sum(1 for one, other in pairs if one > other)


def is_chance(better: int, worse: int) -> bool:
    """Whether a coin would differ as much (two-sided sign test)."""
    count = better + worse
    tail = sum(math.comb(count, number) for number in range(min(better, worse) + 1))
    return 2.0 * tail / 2.0**count >= _CHANCE


def verdict(ranks: dict[str, list[int]], quickest: Sequence[str], words: Sequence[int]) -> tuple[str, str]:
    """(the best of several models, why). ``ranks``: of each model; ``quickest``: their names, the quickest first;
    ``words``: the ranks by words alone.

    The best is the one of highest mrr. Where it is ahead of quicker ones by no more than chance, the quickest of these.
    """
    total = len(words)
    top = max(quickest, key=lambda name: quality(ranks[name]).mrr)
    level = [name for name in quickest if name == top or is_chance(*better_and_worse(ranks[top], ranks[name]))]
    best, rest = level[0], [name for name in quickest if name not in level]
    first = sum(1 for rank in ranks[best] if rank == 1)
    why = f"a right line is first for {first} of {total} questions"
    if rest:
        why += f", more than chance ahead of {', '.join(rest)}"
    if len(level) > 1:
        why += f"; {', '.join(level[1:])} differ from it by no more than chance, and it is the quickest"
    ahead, behind = better_and_worse(ranks[best], words)
    if is_chance(ahead, behind):
        why += "; words alone do not differ from it by more than chance either"
    if total < FEW_QUESTIONS:
        why += f"; {total} are too few to tell small differences, {FEW_QUESTIONS} or more say more"
    return best, why
