"""Transcripts in OpenClaw's own database of an agent: looked at, never touched.

Today's OpenClaw keeps a session's events as rows of ``transcript_events`` (``session_id``, ``seq``, ``event_json``, or
``event_zstd`` where it is compressed). Nothing is written to the database or left beside it: a database that nobody has
open is read as it stands; one whose writer has left without tidying up is copied with its log and read there.
"""

import contextlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from typing import NamedTuple
from urllib.request import pathname2url

from ...parsers.transcripts import LONGEST_LINE, is_generated_key
from .reading import Line, zstandard
from .sources import FOLDER, Source

#: What SQLite keeps beside a database that somebody has open.
_TAILS = ("-wal", "-shm", "-journal")
#: Seconds to wait for somebody who keeps it locked.
_PATIENCE = 0.3


class Sessions(NamedTuple):
    """``found``: those that have events. ``cold``: the paths of those whose events OpenClaw has packed away, and would
    bring back: what was indexed of them stays. ``problem``: why the database cannot be read, or ""."""

    found: list[Source]
    cold: frozenset[str] = frozenset()
    problem: str = ""


def find_sessions(database: str) -> Sessions:
    """The sessions in a database. No database: none, and no complaint."""
    if not os.path.lexists(database):
        return Sessions([])
    if os.path.islink(database):
        return Sessions([], problem="it is a symbolic link")
    try:
        with opened(database) as connection:
            if not _columns(connection, "transcript_events"):
                return Sessions([])
            keys = _session_keys(connection)
            rows = connection.execute(
                "SELECT session_id, count(*), max(seq), max(created_at) FROM transcript_events GROUP BY session_id"
            ).fetchall()
            changed = _rewritten(connection)
            cold = _cold(connection)
    except (sqlite3.Error, OSError, ValueError, OverflowError) as error:
        return Sessions([], problem=str(error))
    found = []
    for session, count, last, created in rows:
        if not isinstance(session, str) or not session.isprintable() or "/" in session or not session:
            continue
        if is_generated_key(keys.get(session, "")):
            continue
        seen = (0, int(created or 0) * 1_000_000, changed.get(session, 0), int(last or 0))
        found.append(Source(f"{FOLDER}/{session}", session, database, seen, False, False, int(count)))
    return Sessions(found, cold)


def read_events(source: Source, start: int) -> Iterator[Line]:
    """The events after the number ``start`` (0: all) as lines; ``end`` is an event's number, from 1 on."""
    try:
        with opened(source.place) as connection:
            packed = "event_zstd" in _columns(connection, "transcript_events")
            rows = connection.execute(
                f"SELECT event_json, {'event_zstd' if packed else 'NULL'} FROM transcript_events"
                " WHERE session_id = ? ORDER BY seq LIMIT -1 OFFSET ?",
                (source.session, start),
            )
            for number, (text, blob) in enumerate(rows, start + 1):
                yield Line(_event(text, blob), number, True)
    except sqlite3.Error as error:
        raise OSError(0, f"cannot be read: {error}", source.place) from None


def _event(text: object, blob: object) -> bytes:
    """An event's JSON; what cannot be unpacked is a broken line."""
    if isinstance(text, str):
        return text.encode("utf-8", "replace")
    if isinstance(text, bytes):
        return text
    if not isinstance(blob, bytes):
        return b"?"
    zstd = zstandard()
    try:
        data: bytes = zstd.ZstdDecompressor().decompress(blob, LONGEST_LINE + 1)
    except (zstd.ZstdError, EOFError, ValueError):
        return b"?"
    return data


@contextlib.contextmanager
def opened(database: str) -> Iterator[sqlite3.Connection]:
    """A connection that only reads, of one moment, and leaves nothing beside the database. Raises ``sqlite3.Error`` or
    ``OSError``."""
    with contextlib.ExitStack() as stack:
        beside = {tail: os.path.exists(database + tail) for tail in _TAILS}
        place, mode = database, "mode=ro"
        if not any(beside.values()):
            # Nobody has it open, and so it is not asked whether somebody has.
            mode = "mode=ro&immutable=1"
        elif beside["-wal"] != beside["-shm"]:
            # To read such a log SQLite would make the missing file.
            place = _copied(database, stack.enter_context(tempfile.TemporaryDirectory(prefix="openclaw-memory-")))
        uri = f"file:{pathname2url(os.path.abspath(place))}?{mode}"
        connection = stack.enter_context(contextlib.closing(sqlite3.connect(uri, uri=True, timeout=_PATIENCE)))
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        connection.execute("PRAGMA query_only=ON")
        connection.execute("BEGIN")
        yield connection
        if "immutable" in mode and any(os.path.exists(database + tail) for tail in _TAILS):
            raise OSError(0, "it was opened for writing while it was read", database)


def _copied(database: str, folder: str) -> str:
    place = os.path.join(folder, "copy.sqlite")
    shutil.copyfile(database, place)
    with contextlib.suppress(FileNotFoundError):
        shutil.copyfile(database + "-wal", place + "-wal")
    return place


def _columns(connection: sqlite3.Connection, table: str) -> set[str]:
    return {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}


def _session_keys(connection: sqlite3.Connection) -> dict[str, str]:
    if not {"session_id", "session_key"} <= _columns(connection, "session_windows"):
        return {}
    return dict(connection.execute("SELECT session_id, session_key FROM session_windows").fetchall())


def _cold(connection: sqlite3.Connection) -> frozenset[str]:
    if "session_id" not in _columns(connection, "session_transcript_cold_archives"):
        return frozenset()
    rows = connection.execute("SELECT session_id FROM session_transcript_cold_archives").fetchall()
    return frozenset(f"{FOLDER}/{session}" for (session,) in rows)


def _rewritten(connection: sqlite3.Connection) -> dict[str, int]:
    """When each session's events were last written anew, where OpenClaw tells."""
    if not {"session_id", "updated_at"} <= _columns(connection, "transcript_rewrite_watermarks"):
        return {}
    return dict(connection.execute("SELECT session_id, updated_at FROM transcript_rewrite_watermarks").fetchall())
