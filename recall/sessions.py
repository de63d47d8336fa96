"""``memory_search`` in what was said: messages of the agent's own transcripts, ranked as recall ranks notes.

Transcripts are the second source. What is in the notes was found worth keeping, and a transcript says the same things
again and again; so messages get a third of the places at most where notes fill the others, and one that says what a
note in the answer says is left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from ..bank import spaces
from ..bank.driver import Connection
from ..bank.errors import MemoryFault
from ..bank.transcripts.changes import Thresholds
from ..bank.transcripts.freshness import Fresh, ask_transcripts
from ..bank.transcripts.index import TranscriptIndex, cited_path, index_of
from ..bank.workspace import Workspace
from ..parsers.scripts import spaced
from .bundle import Ranked
from .chunk_hits import Hit, word_pattern
from .engine import rank
from .filters import Filters
from .meaning import NO_MEANING, Understood
from .snippet import LONGEST_SNIPPET, make_snippet
from .stopwords import stop_words

#: One place in so many may be taken by a message while notes fill the others.
SHARE = 3
#: Of the words of the shorter of two texts, so many in the other say the same.
SAME = 0.8
#: A message with so many times the words of a note says more than that.
LONGER = 2
_FEWEST_WORDS = 3
#: Less of a neighbouring message is not worth showing.
_LEAST_SHOWN = 80
_SPEAKER = {"stated": "User", "generated": "Assistant"}
_WORD = re.compile(r"\w+")


class Said(NamedTuple):
    """A message that was found: ``snippet`` shows it with those around it, lines ``line`` to ``end_line`` of the
    transcript ``path``. ``words``: those that tell it from others. The scores are as in ``Hit``."""

    path: str
    line: int
    end_line: int
    snippet: str
    words: frozenset[str]
    score: float
    lexical: float
    cosine: float | None


class SessionHits(NamedTuple):
    """``hits``: best first. ``language``: of the question. ``fresh``: how far behind the index is."""

    hits: list[Said]
    language: str
    understood: Understood
    fresh: Fresh


def session_hits(
    workspace: Workspace, query: str, *, now: datetime, most: int, min_score: float = 0.0, no_sync: bool = False
) -> SessionHits:
    """The best messages for a question in the transcripts of the workspace's agent, at most ``most``."""
    settings = workspace.settings.sync
    thresholds = Thresholds(settings.delta_bytes, settings.delta_messages)
    try:
        index = index_of(workspace)
    except MemoryFault as fault:
        return SessionHits([], "", NO_MEANING, Fresh(False, False, (str(fault),)))
    found, fresh = ask_transcripts(
        index,
        lambda connection: _found(index, connection, query, now, most, min_score),
        thresholds=thresholds,
        no_sync=no_sync,
    )
    hits, language, understood = found or ([], "", NO_MEANING)
    return SessionHits(hits, language, understood, fresh)


def _found(
    index: TranscriptIndex, connection: Connection, query: str, now: datetime, most: int, min_score: float
) -> tuple[list[Said], str, Understood]:
    ranked, best, understood, _, question, _, _ = rank(index, connection, query, now=now, filters=Filters())
    patterns = [word_pattern(term.text) for term in question.terms]
    looked_at = [one.passage.id for one in ranked[: 4 * most]]
    meaning = understood.meaning
    cosines = spaces.cosines(connection, meaning.space, meaning.query, looked_at) if meaning else {}
    hits: list[Said] = []
    for one in ranked[: 4 * most]:
        score = min(1.0, max(0.0, one.score / best)) if best > 0 else 0.0
        if score < min_score or len(hits) >= most:
            break
        path, line = cited_path(one.passage.path), one.passage.line
        if any(hit.path == path and hit.line <= line <= hit.end_line for hit in hits):
            continue
        snippet, first, last = _shown(connection, one, patterns)
        words = told_words(one.passage.text, question.language)
        lexical = one.signals.get("lexical", 0.0)
        hits.append(Said(path, first, last, snippet, words, score, lexical, cosines.get(one.passage.id)))
    return hits, question.language, understood


def _shown(connection: Connection, one: Ranked, patterns: list[re.Pattern[str]]) -> tuple[str, int, int]:
    """(a message and, as far as there is room, the ones that it answers or that answer it; first and last line)."""
    passage = one.passage
    rows = connection.execute(
        "SELECT position, line, text, origin FROM passages WHERE file = ? AND position BETWEEN ? AND ?",
        (passage.file, passage.position - 1, passage.position + 1),
    ).fetchall()
    near = {position - passage.position: (line, text, origin) for position, line, text, origin in rows}
    own = make_snippet(_line(passage.text, passage.origin), passage.line, (passage.line, passage.line), patterns).text
    shown = {0: (passage.line, own)}
    # What a person said is answered by what follows; what an assistant said answers what came before.
    for place in (1, -1) if passage.origin == "stated" else (-1, 1):
        room = LONGEST_SNIPPET - sum(len(text) + 1 for _, text in shown.values())
        if place in near and room >= _LEAST_SHOWN:
            line, text, origin = near[place]
            text = _line(text, origin)
            shown[place] = (line, text if len(text) <= room else text[: room - 2].rstrip() + " …")
    parts = [shown[place] for place in sorted(shown)]
    return "\n".join(text for _, text in parts), parts[0][0], parts[-1][0]


def _line(text: str, origin: str) -> str:
    return f"{_SPEAKER.get(origin, 'User')}: {' '.join(text.split())}"


def told_words(text: str, language: str) -> frozenset[str]:
    """The words of a text that say something, by their beginnings."""
    return frozenset(word[:6] for word in _WORD.findall(spaced(text).casefold()) if word not in stop_words(language))


def merged(notes: Sequence[Hit], said: SessionHits, most: int) -> list[Hit | Said]:
    """Notes and messages, best first, at most ``most``: messages that say something new, on a third of the places and
    on those that notes leave free."""
    told = [told_words(_answer(note), said.language) for note in notes]
    new = [hit for hit in said.hits if not any(says_the_same(hit.words, words) for words in told)]
    room = max(most // SHARE, most - len(notes))
    kept = new[:room]
    # Notes come first where scores are equal.
    return sorted([*notes[: most - len(kept)], *kept], key=lambda hit: -hit.score)


def _answer(note: Hit) -> str:
    lines = note.text.split("\n")
    return "\n".join(lines[note.answer[0] - note.line : note.answer[1] - note.line + 1])


def says_the_same(message: frozenset[str], note: frozenset[str]) -> bool:
    """Whether a message says what a note says and not much more."""
    shorter = min(len(message), len(note))
    if shorter < _FEWEST_WORDS or len(message) > LONGER * len(note):
        return False
    return len(message & note) >= SAME * shorter
