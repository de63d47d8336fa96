"""What was found in the narrative of a past day, written as bullets into a Retain section of its log."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from ..bank.errors import UsageFault
from ..bank.files import FileMissing, decode, read_text
from ..bank.journal import retain
from ..bank.workspace import Workspace
from ..parsers.lines import split_lines
from ..parsers.names import fold
from ..parsers.parse import parse_file
from ..parsers.retain import render_fact
from ..parsers.secrets import looks_secret
from .extraction import Candidate

COMMENT = "<!-- openclaw-memory: extracted from the narrative above; edit or delete freely -->"
#: So many bullets a Retain section has at the least and at the most, and so sure each of them is.
FEWEST, MOST, LEAST_SCORE = 2, 5, 0.6


def write_retain(
    workspace: Workspace,
    day: date,
    candidates: Sequence[Candidate],
    *,
    today: date,
    limit: int = MOST,
    timeout: float = 10.0,
) -> list[str]:
    """Append the best candidates of a past day's log to it, under a Retain heading; the bullets' citations, in order.

    Each bullet ends with where its sentence stands. Nothing is written (and nothing returned) where there is no log,
    where it has a Retain section, or where fewer than 2 candidates are sure enough and still stand on their lines.
    No other byte changes. ``limit``: 2 to 5 bullets; ``timeout``: seconds.

    Raises ``UsageFault`` for a day that is not over and for another limit, and what ``journal.retain`` raises.
    """
    if day >= today:
        raise UsageFault("a log is completed only when its day is over", day.isoformat(), "name an earlier day")
    if not FEWEST <= limit <= MOST:
        raise UsageFault(f"a Retain section gets {FEWEST} to {MOST} bullets", str(limit), "give a number between")
    path = workspace.log_path(day)
    name = workspace.relative(path)
    try:
        text = decode(read_text(workspace.resolve(name)).data)
    except FileMissing:
        return []
    lines = split_lines(text)
    bullets: dict[str, tuple[Candidate, str]] = {}
    for one in candidates:
        if one.path == name and one.score >= LEAST_SCORE and _stands(one, lines):
            bullet = bullet_of(one)
            if _reads_back(bullet, one) and not looks_secret(bullet):
                bullets.setdefault(one.id, (one, bullet))
    best = sorted(bullets.values(), key=lambda row: (-row[0].score, row[0].line, row[0].id))[:limit]
    if len(best) < FEWEST:
        return []
    best.sort(key=lambda row: (row[0].line, row[0].end_line, row[0].id))
    return retain(workspace, [bullet for _, bullet in best], day, timeout=timeout, section_comment=COMMENT)


def bullet_of(one: Candidate) -> str:
    """``- W @Mara: Mara lives in Flensburg. (see memory/2025-11-22.md#L10)``; opinions with their confidence."""
    return f"{render_fact(one.kind, one.entities, one.confidence, one.text)} (see {one.path}#L{one.line})"


def _stands(one: Candidate, lines: Sequence[str]) -> bool:
    """Whether a log still says a candidate's sentence on the lines that it cites."""
    cited = "".join("".join(lines[one.line - 1 : one.end_line]).split())
    return 1 <= one.line <= one.end_line <= len(lines) and "".join(one.text.split()) in cited


def _reads_back(bullet: str, one: Candidate) -> bool:
    """Whether a bullet is read as one fact of its kind, entities and words."""
    parsed = parse_file(f"## Retain\n\n{bullet}", one.path)
    if "<!--" in bullet or len(parsed.facts) != 1:
        return False
    fact = parsed.facts[0]
    same = [fold(name) for name in fact.entities] == [fold(name) for name in one.entities]
    return same and fact.kind == one.kind and fact.text.startswith(one.text) and not fact.relations
