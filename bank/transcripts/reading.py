"""The lines of a transcript, from any place in it on: of a file, a compressed file, or a session in the database.

Lines come in pieces of bounded size: one that is longer than a transcript's longest is cut, so that its rest is never
held in memory.
"""

import os
import stat
import sys
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

from ...parsers.transcripts import LONGEST_LINE, Transcript, parse_transcript
from .sources import Source

_BLOCK = 1 << 20


class Line(NamedTuple):
    """``data``: with its line end, cut after ``LONGEST_LINE`` + 1 bytes. ``end``: the offset of the next line, in bytes
    of the text (or the number of the event, in the database). ``whole``: whether it has its line end."""

    data: bytes
    end: int
    whole: bool


def read_transcript(source: Source) -> Transcript:
    """All of a transcript as it is now. Raises ``OSError`` where it cannot be read, also for broken compression."""
    return parse_transcript(line.data for line in read_lines(source))


def read_lines(source: Source, start: int = 0) -> Iterator[Line]:
    """The lines from the offset ``start`` on, which a line begins at. Raises ``OSError``."""
    if source.events is not None:
        from .events import read_events

        yield from read_events(source, start)
        return
    with opened_file(source.place) as file:
        if source.packed:
            yield from _unpacked(file, start)
        else:
            file.seek(start)
            yield from _lines(file, start)


def opened_file(path: str) -> IO[bytes]:
    """A regular file, not through a symbolic link that was put there meanwhile."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    file = os.fdopen(handle, "rb", buffering=_BLOCK)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        file.close()
        raise OSError(0, "not a regular file", path)
    return file


def _unpacked(file: IO[bytes], start: int) -> Iterator[Line]:
    zstd = zstandard()
    try:
        with zstd.open(file, "rb") as text:
            left = start
            while left and (skipped := text.read(min(left, _BLOCK))):
                left -= len(skipped)
            yield from _lines(text, start)
    except (zstd.ZstdError, EOFError) as error:
        raise OSError(0, f"broken compression: {error}", file.name) from None


def zstandard() -> Any:
    """The module that unpacks: Python's own from 3.14 on."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


def _lines(file: IO[bytes], at: int) -> Iterator[Line]:
    while True:
        data = file.readline(LONGEST_LINE + 1)
        if not data:
            return
        at += len(data)
        whole = data.endswith(b"\n")
        if not whole and len(data) > LONGEST_LINE:
            while rest := file.readline(_BLOCK):
                at += len(rest)
                if rest.endswith(b"\n"):
                    whole = True
                    break
        yield Line(data, at, whole)
