"""Chunks that answer a question: each as good as the best passage in it, ranked as recall ranks.

Text that is no passage (headings, pages that reflect maintains) is found by the chunk's own words.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import NamedTuple

from ..bank import spaces
from ..bank.driver import Connection
from ..bank.workspace import Workspace
from ..parsers.scripts import has_unspaced
from . import candidates as channels
from .candidates import Passage
from .engine import rank
from .expression import expression
from .filters import Filters
from .meaning import Understood

#: What a chunk without a passage that was found can reach at most.
CHUNK_ALONE = 0.5


class Hit(NamedTuple):
    """A chunk, its score in 0..1, the bm25 share of it, the lines that answer, and the cosine of what they say."""

    path: str
    line: int
    end_line: int
    text: str
    score: float
    lexical: float
    answer: tuple[int, int]
    cosine: float | None = None


class Hits(NamedTuple):
    """``hits``: best first. ``patterns`` find the question's words in a text. ``understood``: how it was compared."""

    hits: list[Hit]
    patterns: list[re.Pattern[str]]
    understood: Understood


def chunk_hits(
    workspace: Workspace, connection: Connection, query: str, now: datetime, most: int, min_score: float
) -> Hits:
    """The best chunks for a question, at most ``most``, none below ``min_score``."""
    ranked, best, understood, _, question, wanted, _ = rank(workspace, connection, query, now=now, filters=Filters())
    if wanted.terms != question.terms:
        # A heading may hold the name alone that was no search word.
        wanted = expression(connection, question)
    match = wanted.exact or wanted.alike
    patterns = [word_pattern(term.text) for term in question.terms]
    hybrid = workspace.settings.hybrid
    if hybrid.chosen:
        from .weighted import weighted_hits

        merged = weighted_hits(connection, match, understood.meaning, hybrid, most, patterns)
        return Hits(_kept(merged, most, min_score), patterns, understood)
    found: dict[int, Hit] = {}
    looked_at = [one.passage.id for one in ranked[: 4 * most]]
    meaning = understood.meaning
    cosines = spaces.cosines(connection, meaning.space, meaning.query, looked_at) if meaning else {}
    for one in ranked:
        score = min(1.0, max(0.0, one.score / best)) if best > 0 else 0.0
        shown = around(connection, one.passage, patterns)
        if shown:
            key, hit = shown
            lexical = one.signals.get("lexical", 0.0)
            found.setdefault(key, hit._replace(score=score, lexical=lexical, cosine=cosines.get(one.passage.id)))
        if len(found) >= 4 * most:
            break
    for key, hit in _alone(connection, match, patterns, found):
        found.setdefault(key, hit)
    # Equal scores stay in the order of their rank, so that fewer results are the first of more.
    return Hits(_kept(sorted(found.values(), key=lambda h: -h.score), most, min_score), patterns, understood)


def _kept(hits: list[Hit], most: int, min_score: float) -> list[Hit]:
    kept: list[Hit] = []
    for hit in hits:
        if hit.score >= min_score and not any(_shows(other, hit) for other in kept):
            kept.append(hit)
    return kept[:most]


def around(connection: Connection, passage: Passage, patterns: list[re.Pattern[str]]) -> tuple[int, Hit] | None:
    """The chunk (its id, and a hit without a score) that shows a passage best: most of the question's words in its
    lines, its own text, well in the middle.

    A long passage may lie across several chunks, and a long line be cut into several that have the same line.
    """
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
    answer = (max(line, passage.line), min(end_line, passage.end_line))
    return key, Hit(passage.path, line, end_line, text, 0.0, 0.0, answer)


def _alone(
    connection: Connection, match: str, patterns: list[re.Pattern[str]], found: dict[int, Hit]
) -> list[tuple[int, Hit]]:
    """Chunks that hold the question's words though no passage in them was found."""
    if not match:
        return []
    chunks = channels.by_chunks(connection, match)
    top = chunks[0].score if chunks else 0.0
    alone = []
    for chunk in chunks:
        if chunk.id not in found:
            share = chunk.score / top if top > 0 else 0.0
            at = best_line(chunk.text, chunk.line, patterns)
            score = CHUNK_ALONE * share
            alone.append((chunk.id, Hit(chunk.path, chunk.line, chunk.end_line, chunk.text, score, share, (at, at))))
    return alone


def best_line(text: str, first: int, patterns: list[re.Pattern[str]]) -> int:
    """The number of the line that holds most words of the question, where the text begins in line ``first``."""
    lines = text.split("\n")
    return first + max(range(len(lines)), key=lambda n: sum(1 for p in patterns if p.search(lines[n])))


def _shows(one: Hit, other: Hit) -> bool:
    """Whether two hits would show the same lines (chunks overlap)."""
    return one.path == other.path and one.answer[0] <= other.answer[1] and other.answer[0] <= one.answer[1]


def word_pattern(word: str) -> re.Pattern[str]:
    """Finds a word of the question by its stem, near enough to place a snippet."""
    if has_unspaced(word):
        return re.compile(re.escape(word))
    stem = word if len(word) < 5 else word[: max(4, len(word) - 2)]
    return re.compile(rf"(?<!\w){re.escape(stem)}", re.IGNORECASE)
