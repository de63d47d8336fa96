"""``memory_search``: chunks of the memory files for a question, as OpenClaw's tool of that name gives them.

A chunk is as good as the best passage in it, ranked as recall ranks; text that is no passage (headings, pages that
reflect maintains) is found by the chunk's own words. The snippet stands around the line that answers.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, NamedTuple

from ..bank import spaces
from ..bank.driver import Connection
from ..bank.errors import MemoryFault
from ..bank.freshness import ask_fresh
from ..bank.sync import Progress
from ..bank.workspace import Workspace
from ..parsers.scripts import has_unspaced
from . import candidates as channels
from .bundle import Ranked, citation, strictly_falling
from .engine import rank
from .expression import expression
from .filters import Filters
from .meaning import Understood
from .snippet import make_snippet

DEFAULT_RESULTS = 6
#: What a chunk without a passage that was found can reach at most.
CHUNK_ALONE = 0.5
CORPORA = ("memory", "sessions", "all")
_MARKER = re.compile(r"<!--\s*(?P<name>trigger|importance|project)\s*:\s*(?P<value>[^<>]{1,300}?)\s*-->")


class _Hit(NamedTuple):
    """A chunk, its score in 0..1, the bm25 share of it, the lines that answer, and the cosine of what they say."""

    path: str
    line: int
    end_line: int
    text: str
    score: float
    lexical: float
    answer: tuple[int, int]
    cosine: float | None = None


def memory_search(
    workspace: Workspace,
    query: str,
    *,
    now: datetime,
    max_results: int = DEFAULT_RESULTS,
    min_score: float = 0.0,
    corpus: str = "memory",
    citations: bool = True,
    no_sync: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Search the memory files: ``{results, provider, mode, citations, stale?, warning?}`` (``docs/json.md``).

    ``now``: when it is asked. ``max_results`` ≥ 1. Results below ``min_score`` (0..1) are left out. ``corpus``:
    memory, sessions or all; transcripts are not indexed, so ``sessions`` finds nothing and says so. A workspace that
    cannot be searched gives ``{results: [], disabled: true, unavailable: true, error, warning, action}`` and never
    raises.
    """
    answer: dict[str, Any] = {
        "results": [],
        "provider": "none",
        "mode": "keyword",
        "citations": "on" if citations else "off",
    }
    if corpus == "sessions":
        return answer | {"warning": "session transcripts are not indexed"}
    try:
        (hits, patterns, understood), fresh = ask_fresh(
            workspace,
            lambda connection: _hits(workspace, connection, query, now, max(1, max_results), min_score),
            no_sync=no_sync,
            progress=progress,
        )
    except MemoryFault as fault:
        return {
            "results": [],
            "disabled": True,
            "unavailable": True,
            "error": str(fault),
            "warning": "memory search is unavailable",
            "action": fault.remedy or "run `openclaw memory doctor`",
        }
    for hit, score in zip(hits, strictly_falling([hit.score for hit in hits]), strict=True):
        answer["results"].append(_entry(hit, score, patterns, citations))
    answer |= {"provider": understood.provider, "mode": "hybrid" if understood.meaning else "keyword"}
    if understood.model:
        answer["model"] = understood.model
    if understood.fallback:
        answer["fallback"] = {"from": understood.fallback, "reason": understood.reason}
    if fresh.stale:
        answer["stale"] = True
    notes = [*fresh.notes, *([understood.warning] if understood.warning else [])]
    if notes:
        answer["warning"] = "; ".join(notes)
    return answer | {"debug": {"providerReason": understood.reason}}


def _entry(hit: _Hit, score: float, patterns: list[re.Pattern[str]], citations: bool) -> dict[str, Any]:
    snippet = make_snippet(hit.text, hit.line, hit.answer, patterns)
    cited = citation(hit.path, snippet.line, snippet.end_line)
    entry: dict[str, Any] = {
        "path": hit.path,
        "startLine": snippet.line,
        "endLine": snippet.end_line,
        "score": score,
        **({} if hit.cosine is None else {"vectorScore": round(max(0.0, hit.cosine), 6)}),
        "textScore": round(hit.lexical, 6),
        "snippet": snippet.text,
        "source": "memory",
        "corpus": "memory",
    }
    if citations:
        entry["citation"] = cited
        entry["snippet"] += f"\n\nSource: {cited}"
    return entry | _markers(hit, snippet.line, snippet.end_line)


def _markers(hit: _Hit, first: int, last: int) -> dict[str, Any]:
    """What the markers in a snippet's lines say: ``importance``, ``triggers``, ``projectKey``."""
    shown = "\n".join(hit.text.split("\n")[first - hit.line : last - hit.line + 1])
    found: dict[str, Any] = {}
    for marker in _MARKER.finditer(shown):
        name, value = marker["name"], marker["value"]
        if name == "trigger":
            found.setdefault("triggers", []).append(value)
        elif name == "project":
            found.setdefault("projectKey", value)
        elif value.isdigit() and 1 <= int(value) <= 10:
            found["importance"] = max(int(value), found.get("importance", 0))
    return found


def _hits(
    workspace: Workspace, connection: Connection, query: str, now: datetime, most: int, min_score: float
) -> tuple[list[_Hit], list[re.Pattern[str]], Understood]:
    ranked, best, understood, _, question, wanted, _ = rank(workspace, connection, query, now=now, filters=Filters())
    if wanted.terms != question.terms:
        # A heading may hold the name alone that was no search word.
        wanted = expression(connection, question)
    match = wanted.exact or wanted.alike
    patterns = [_word_pattern(term.text) for term in question.terms]
    found: dict[int, _Hit] = {}
    looked_at = [one.passage.id for one in ranked[: 4 * most]]
    meaning = understood.meaning
    cosines = spaces.cosines(connection, meaning.space, meaning.query, looked_at) if meaning else {}
    for one in ranked:
        score = min(1.0, max(0.0, one.score / best)) if best > 0 else 0.0
        around = _around(connection, one, score, patterns)
        if around:
            key, hit = around
            found.setdefault(key, hit._replace(cosine=cosines.get(one.passage.id)))
        if len(found) >= 4 * most:
            break
    for key, hit in _alone(connection, match, patterns, found):
        found.setdefault(key, hit)
    # Equal scores stay in the order of their rank, so that fewer results are the first of more.
    hits = sorted(found.values(), key=lambda h: -h.score)
    kept: list[_Hit] = []
    for hit in hits:
        if hit.score >= min_score and not any(_shows(other, hit) for other in kept):
            kept.append(hit)
    return kept[:most], patterns, understood


def _around(
    connection: Connection, one: Ranked, score: float, patterns: list[re.Pattern[str]]
) -> tuple[int, _Hit] | None:
    """The chunk that shows a passage best: most of the question's words in its lines, its own text, well in the middle.

    A long passage may lie across several chunks, and a long line be cut into several that have the same line.
    """
    passage = one.passage
    rows = connection.execute(
        "SELECT id, line, end_line, text FROM chunks WHERE file = ? AND line <= ? AND end_line >= ? ORDER BY line, id",
        (passage.file, passage.end_line, passage.line),
    ).fetchall()
    if not rows:
        return None
    head = passage.text[:60]

    def fitness(row: tuple[int, int, int, str]) -> tuple[int, bool, int, int]:
        _, line, end_line, text = row
        shown = "\n".join(text.split("\n")[max(0, passage.line - line) : passage.end_line - line + 1])
        words = sum(1 for pattern in patterns if pattern.search(shown))
        return words, head in text, min(passage.line - line, end_line - passage.end_line), -line

    key, line, end_line, text = max(rows, key=fitness)
    lexical = one.signals.get("lexical", 0.0)
    answer = (max(line, passage.line), min(end_line, passage.end_line))
    return key, _Hit(passage.path, line, end_line, text, score, lexical, answer)


def _alone(
    connection: Connection, match: str, patterns: list[re.Pattern[str]], found: dict[int, _Hit]
) -> list[tuple[int, _Hit]]:
    """Chunks that hold the question's words though no passage in them was found."""
    if not match:
        return []
    chunks = channels.by_chunks(connection, match)
    top = chunks[0].score if chunks else 0.0
    alone = []
    for chunk in chunks:
        if chunk.id not in found:
            share = chunk.score / top if top > 0 else 0.0
            lines = chunk.text.split("\n")
            at = chunk.line + max(range(len(lines)), key=lambda n: sum(1 for p in patterns if p.search(lines[n])))
            score = CHUNK_ALONE * share
            alone.append((chunk.id, _Hit(chunk.path, chunk.line, chunk.end_line, chunk.text, score, share, (at, at))))
    return alone


def _shows(one: _Hit, other: _Hit) -> bool:
    """Whether two hits would show the same lines (chunks overlap)."""
    return one.path == other.path and one.answer[0] <= other.answer[1] and other.answer[0] <= one.answer[1]


def _word_pattern(word: str) -> re.Pattern[str]:
    """Finds a word of the question by its stem, near enough to place a snippet."""
    if has_unspaced(word):
        return re.compile(re.escape(word))
    stem = word if len(word) < 5 else word[: max(4, len(word) - 2)]
    return re.compile(rf"(?<!\w){re.escape(stem)}", re.IGNORECASE)
