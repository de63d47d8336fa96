"""Transcripts to answer from, and how far behind them the index is. A question never waits for much to be indexed.

What is quickly read is indexed while the question waits; anything more is left to a process of its own, and the answer
says so.
"""

import contextlib
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from ..driver import Connection, DatabaseError
from ..errors import MemoryFault
from ..index import IndexUnusable, fault_of_database, is_damage
from .changes import Thresholds, compare
from .index import TranscriptIndex, known_transcripts, opened_to_read, remove
from .lock import transcripts_lock
from .sources import find_sources

#: So many bytes of transcripts at most are indexed while a question waits: some tens of milliseconds.
WHILE_ASKED = 48 * 1024

Answer = TypeVar("Answer")


class Fresh(NamedTuple):
    """``stale``: whether something said is not in the index yet. ``partial``: whether transcripts that are due are
    still being indexed. ``notes``: lines for the reader."""

    stale: bool
    partial: bool
    notes: tuple[str, ...]


def ask_transcripts(
    index: TranscriptIndex,
    ask: Callable[[Connection], Answer],
    *,
    thresholds: Thresholds = Thresholds(),  # noqa: B008
    no_sync: bool = False,
) -> tuple[Answer | None, Fresh]:
    """What ``ask`` reads from the index of transcripts (None where there is none yet), and how fresh that was.

    Never raises for what is wrong with transcripts or their index: that is told in ``notes``.
    """
    for last in (False, True):
        try:
            connection, fresh = _opened(index, thresholds, no_sync)
            if connection is None:
                return None, fresh
            try:
                return ask(connection), fresh
            finally:
                connection.close()
        except MemoryFault as fault:
            told = str(fault)
            break
        except (DatabaseError, ValueError, OverflowError) as error:
            # What stands in the index does not read as what was put there.
            if isinstance(error, DatabaseError) and not is_damage(error):
                told = str(fault_of_database(error, index))
                break
            told = f"the index is damaged ({error})"
            if not last:
                _discard(index)
    return None, Fresh(True, True, (f"session transcripts are not searched: {told}",))


def _discard(index: TranscriptIndex) -> None:
    """Delete a damaged index, unless somebody is writing it; it is built again like one that never was."""
    with contextlib.suppress(MemoryFault), transcripts_lock(index, 0.0, "deleting a damaged index"):
        remove(index)


def _opened(index: TranscriptIndex, thresholds: Thresholds, no_sync: bool) -> tuple[Connection | None, Fresh]:
    connection = _connection(index)
    try:
        return _looked_at(index, connection, thresholds, no_sync)
    except BaseException:
        if connection:
            connection.close()
        raise


def _looked_at(
    index: TranscriptIndex, connection: Connection | None, thresholds: Thresholds, no_sync: bool
) -> tuple[Connection | None, Fresh]:
    found = find_sources(index.state, index.agent)
    known = known_transcripts(connection) if connection else {}
    notes = [f"{line}; what was indexed of it is kept" for line in found.unread]
    notes += [f"{one.path}: not read ({one.problem})" for one in known.values() if one.problem]
    changes = compare(found, known, thresholds)
    if not changes.due or no_sync:
        partial = changes.due or (connection is None and bool(found.sources))
        return connection, Fresh(bool(changes.due or changes.waiting), partial, tuple(notes))
    if changes.cost <= WHILE_ASKED:
        from .sync import sync_transcripts

        if connection:
            connection.close()
        try:
            sync_transcripts(index, thresholds, timeout=0.0)
            return _connection(index), Fresh(bool(changes.waiting), False, tuple(notes))
        except MemoryFault as fault:
            # Another process is at it, or nothing can be written: what is there answers.
            notes.append(f"transcripts could not be indexed now ({fault.what})")
            return _connection(index), Fresh(True, True, tuple(notes))
    return connection, _left_to_the_background(index, tuple(notes))


def _connection(index: TranscriptIndex) -> Connection | None:
    try:
        return opened_to_read(index)
    except IndexUnusable:
        return None


def _left_to_the_background(index: TranscriptIndex, notes: tuple[str, ...]) -> Fresh:
    from .background import start_indexing

    started = start_indexing(index)
    told = "session transcripts are being indexed; this answer may miss some"
    if not started:
        told = "session transcripts are not all indexed; run `openclaw memory index`"
    return Fresh(True, True, (*notes, told))
