"""What differs between an agent's transcripts and their index, and what of it is to be indexed now.

A transcript that goes on is left until enough came: a conversation changes with each message, and is read itself by
whoever is in it. One that is new, closed, rewritten or gone is not left.
"""

import os
from collections.abc import Mapping
from typing import NamedTuple

from .index import Known
from .reading import opened_file
from .sources import Found, Source

#: Text is so many times as long as it is compressed, about.
_UNPACKED = 6
#: What an event of the database has, about, where that was not looked up.
_EVENT_BYTES = 1000


class Thresholds(NamedTuple):
    """How much a transcript grows before it is indexed again: ``bytes`` or ``messages`` (lines). 0: at once."""

    bytes: int = 100_000
    messages: int = 50


class Changes(NamedTuple):
    """``read``: what to read, newest first. ``absent``: indexed, and proven gone. ``waiting``: what has grown, but too
    little yet. ``cost``: about how many bytes are to be read."""

    read: tuple[Source, ...]
    absent: tuple[Known, ...]
    waiting: tuple[Source, ...]
    cost: int

    @property
    def due(self) -> bool:
        return bool(self.read or self.absent)


def compare(found: Found, known: Mapping[str, Known], thresholds: Thresholds) -> Changes:
    """What is to be done; never writes."""
    read: list[Source] = []
    waiting: list[Source] = []
    cost = 0
    for source in found.sources.values():
        before = known.get(source.path)
        if before and _is_as_it_was(source, before):
            continue
        if before and not source.closed and grows(source, before) and not _is_enough(source, before, thresholds):
            waiting.append(source)
            continue
        read.append(source)
        cost += _cost(source, before)
    gone = [one for one in known.values() if one.path not in found.sources and _is_proven(found, one)]
    # A renamed file costs nothing.
    names = {(one.size, one.mtime_ns, one.inode) for one in gone}
    cost -= sum(_cost(one, None) for one in read if (one.seen[0], one.seen[1], one.seen[3]) in names)
    read.sort(key=lambda source: (-source.seen[1], source.path))
    return Changes(tuple(read), tuple(gone), tuple(waiting), cost)


def _is_as_it_was(source: Source, before: Known) -> bool:
    if source.events is None:
        return source.seen == before.seen
    return source.events == before.end and source.seen[1:] == before.seen[1:]


def grows(source: Source, before: Known) -> bool:
    """Whether something seems to have been added to what was read, and nothing else."""
    if source.packed or before.problem:
        return False
    if source.events is not None:
        return source.events > before.end and source.seen[2] == before.ctime_ns
    return source.seen[3] == before.inode and source.seen[0] >= before.end


def _is_enough(source: Source, before: Known, thresholds: Thresholds) -> bool:
    if source.events is not None:
        came = source.events - before.end
        return came >= thresholds.messages or came * _EVENT_BYTES >= thresholds.bytes
    came = source.seen[0] - before.end
    if source.seen[0] == before.size or came >= thresholds.bytes or not thresholds.messages:
        # Touched, or written anew: the first look tells.
        return True
    return came >= thresholds.messages and _lines(source, before.end) >= thresholds.messages


def _lines(source: Source, start: int) -> int:
    """How many lines were added; fewer than ``Thresholds.bytes`` bytes are read."""
    try:
        with opened_file(source.place) as file:
            file.seek(start)
            return file.read(source.seen[0] - start).count(b"\n")
    except OSError:
        return 0


def _cost(source: Source, before: Known | None) -> int:
    start = before.tail if before and grows(source, before) else 0
    if source.events is not None:
        return (source.events - start) * _EVENT_BYTES
    return source.seen[0] * (_UNPACKED if source.packed else 1) - start


def _is_proven(found: Found, one: Known) -> bool:
    """Whether a transcript that was not found is known not to be there."""
    if ".jsonl" in os.path.basename(one.path):
        return found.folder
    return found.database and one.path not in found.cold
