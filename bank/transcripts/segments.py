"""Parts of a transcript of about the same size, cut at lines: what is indexed, and indexed anew, as one.

They end by bytes and lines alone, so that a transcript which grew has the same ones as when it is read at once.
"""

import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...parsers.transcripts import parse_transcript
from .reading import Line, read_lines
from .sources import Source

#: Bytes of a transcript in one segment, about; so many at most are read again when it grows.
SEGMENT = 32 * 1024


class Segment(NamedTuple):
    """A part of a transcript that was read: ``lines``, from the offset ``start`` to ``end``, and their ``digest``."""

    start: int
    end: int
    lines: Sequence[Line]
    digest: str


def segments(source: Source, start: int) -> Iterator[tuple[Segment, bool]]:
    """A transcript from the line at ``start`` on, in segments; whether each is full: the last one is not."""
    lines: list[Line] = []
    size = 0
    sha = hashlib.sha256()
    first = start
    for line in read_lines(source, start):
        if not line.whole and not source.closed and not _is_an_event(line.data):
            break
        lines.append(line)
        size += len(line.data)
        sha.update(line.data)
        if size >= SEGMENT and line.whole:
            yield Segment(first, line.end, lines, sha.hexdigest()), True
            first, lines, size, sha = line.end, [], 0, hashlib.sha256()
    if lines:
        yield Segment(first, lines[-1].end, lines, sha.hexdigest()), False


def _is_an_event(data: bytes) -> bool:
    """Whether a line that has no end yet lacks nothing else."""
    return data.rstrip().endswith(b"}") and not parse_transcript([data]).skipped
