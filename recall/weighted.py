"""The weighted merge of OpenClaw's older documentation, for those who have configured it.

Chunks by meaning and chunks by words, ``maxResults × candidateMultiplier`` of each, are joined by chunk:
``score = vectorWeight · cosine + textWeight / (1 + rank)``, where the rank counts from 0 and what only one side has
found gets nothing from the other. Source: OpenClaw's documentation of ``memorySearch.query.hybrid``.
"""

from __future__ import annotations

import re

from ..bank import spaces
from ..bank.driver import Connection
from ..bank.search_settings import Hybrid
from . import candidates as channels
from .chunk_hits import Hit, around, best_line
from .meaning import Meaning


def weighted_hits(
    connection: Connection,
    match: str,
    meaning: Meaning | None,
    hybrid: Hybrid,
    most: int,
    patterns: list[re.Pattern[str]],
) -> list[Hit]:
    """All joined chunks, best first. Without a meaning the words alone count, whatever the weights."""
    size = most * hybrid.candidate_multiplier
    vector_weight, text_weight = (hybrid.vector_weight, hybrid.text_weight) if meaning else (0.0, 1.0)
    found: dict[int, Hit] = {}
    if meaning and vector_weight:
        nearest = spaces.nearest(connection, meaning.space, meaning.query, size)
        passages = {passage.id: passage for passage in channels.load(connection, nearest)}
        for key, cosine in nearest.items():
            shown = around(connection, passages[key], patterns)
            if shown:
                chunk, hit = shown
                found.setdefault(chunk, hit._replace(score=vector_weight * max(0.0, cosine), cosine=cosine))
    if match and text_weight:
        for rank, chunk_found in enumerate(channels.by_chunks(connection, match)[:size]):
            share = 1 / (1 + rank)
            hit = found.get(chunk_found.id) or _bare(chunk_found, patterns)
            found[chunk_found.id] = hit._replace(score=hit.score + text_weight * share, lexical=share)
    return sorted(found.values(), key=lambda hit: (-hit.score, hit.path, hit.line))


def _bare(chunk: channels.Chunk, patterns: list[re.Pattern[str]]) -> Hit:
    at = best_line(chunk.text, chunk.line, patterns)
    return Hit(chunk.path, chunk.line, chunk.end_line, chunk.text, 0.0, 0.0, (at, at))
