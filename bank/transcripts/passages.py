"""What was said, as the records that the index holds: a note for each message, chunks of what was said together.

A note's ``origin`` tells who speaks: ``stated`` for a person, ``generated`` for the assistant.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import date, datetime, tzinfo

from ...parsers.chunks import CHUNK_TOKENS, pieces
from ...parsers.names import mentions
from ...parsers.notes import note_id
from ...parsers.records import Chunk, Note, ParsedFile
from ...parsers.times import find_times, occurred
from ...parsers.tokens import estimate_tokens
from ...parsers.transcripts import USER, Turn

#: A longer message becomes several notes, cut between lines where that is possible.
LONGEST_NOTE_TOKENS = 200
ROLE = "session"


def passages_of(
    path: str, turns: Sequence[Turn], day: date | None, zone: tzinfo | None, known: Collection[str]
) -> ParsedFile:
    """Messages as one file of the index. ``day``: of what was said before them, for one that does not say when.
    ``zone``: whose days are meant, by default the machine's. ``known``: ids of notes that are left out."""
    notes: list[Note] = []
    said: list[tuple[str, int]] = []
    for turn in turns:
        day = _day(turn.time, zone) or day
        for text in _texts(turn.text):
            key = note_id(text)
            if key in known or not any(map(str.isalnum, text)):
                continue
            times = tuple(find_times(text, day))
            origin = "stated" if turn.role == USER else "generated"
            where = (path, turn.line, turn.line, day)
            notes.append(Note(text, tuple(mentions(text)), *where, times, occurred(times), "", origin, key))
            said.append((text, turn.line))
    first = notes[0].day if notes else day
    return ParsedFile(path, ROLE, first, "", (), {}, (), tuple(notes), tuple(_chunks(said)), ())


def _day(moment: datetime | None, zone: tzinfo | None) -> date | None:
    try:
        return moment.astimezone(zone).date() if moment else None
    except (OverflowError, ValueError, OSError):
        return None


def _texts(text: str) -> Iterator[str]:
    """A message whole, or in parts of bounded length."""
    if estimate_tokens(text) <= LONGEST_NOTE_TOKENS:
        yield text
        return
    lines = text.split("\n")
    part: list[str] = []
    cost = 0
    for piece in pieces(lines, 1, len(lines), LONGEST_NOTE_TOKENS):
        if part and cost + piece.tokens > LONGEST_NOTE_TOKENS:
            yield "\n".join(part).strip()
            part, cost = [], 0
        part.append(piece.text)
        cost += piece.tokens
    if part:
        yield "\n".join(part).strip()


def _chunks(said: Sequence[tuple[str, int]]) -> Iterator[Chunk]:
    """What was said one after the other, in windows of bounded length."""
    part: list[tuple[str, int]] = []
    cost = 0
    for text, line in said:
        tokens = estimate_tokens(text) + 1
        if part and cost + tokens > CHUNK_TOKENS:
            yield _chunk(part)
            part, cost = [], 0
        part.append((text, line))
        cost += tokens
    if part:
        yield _chunk(part)


def _chunk(part: Sequence[tuple[str, int]]) -> Chunk:
    return Chunk("\n".join(text for text, _ in part), part[0][1], part[-1][1], "")
