"""The index of transcripts made to say what they say, by reading only what was added.

A transcript that grows is read on from the beginning of its last segment. Segments end after a fixed number of bytes,
at a line, so that an index that grew is the same as one that was built at once. The work is committed in batches: what
is done is found at once, and is kept when the rest is interrupted.
"""

import hashlib
import time
from collections.abc import Callable
from datetime import date, tzinfo
from typing import NamedTuple

from ...parsers.transcripts import State, parse_transcript
from .. import static_space
from ..driver import Connection, DatabaseError
from ..errors import Busy, MemoryFault
from ..graph import refresh as refresh_graph
from ..index import fault_of_database, is_damage, transaction
from ..schema import mark_filled
from ..store import delete_file, write_file
from ..terms import remember_all_terms, remember_terms
from .changes import Changes, Thresholds, compare, grows
from .index import (
    Known,
    TranscriptIndex,
    known_transcripts,
    opened_to_write,
    remove,
    segment_path,
)
from .lock import is_wanted, transcripts_lock
from .passages import passages_of
from .reading import read_lines
from .segments import segments
from .sources import Source, find_sources, generated_sessions

#: Bytes of transcripts in one commit, about.
BATCH = 4 * 1024 * 1024
_MANY_FILES = 50
#: Everything that differs is read.
AT_ONCE = Thresholds(0, 0)

Progress = Callable[[int, int], None]


class Report(NamedTuple):
    """What a sync did: paths that were ``read`` (again or on) and ``removed``; ``renamed``: old and new path;
    ``skipped``: path and why it could not be read; ``unread``: what could not be looked at."""

    read: list[str]
    removed: list[str]
    renamed: list[tuple[str, str]]
    skipped: list[tuple[str, str]]
    unread: tuple[str, ...]


def sync_transcripts(
    index: TranscriptIndex,
    thresholds: Thresholds = AT_ONCE,
    *,
    timeout: float = 60.0,
    zone: tzinfo | None = None,
    progress: Progress | None = None,
    gives_way: bool = False,
) -> Report:
    """Index what differs, by default all of it. ``timeout``: seconds to wait for another process that does (``Busy``
    after that). ``zone``: whose days are meant. ``progress`` is called with (transcripts done, to read). ``gives_way``:
    whether to stop (``Busy``) when another process waits to write."""
    with transcripts_lock(index, timeout):
        for last in (False, True):
            try:
                connection = opened_to_write(index)
                try:
                    return _Run(index, connection, zone, progress, gives_way).run(thresholds)
                finally:
                    connection.close()
            except (DatabaseError, ValueError) as error:
                if isinstance(error, DatabaseError) and not is_damage(error):
                    raise fault_of_database(error, index) from None
                if last:
                    raise MemoryFault(f"cannot index transcripts: {error}", index.index_path) from None
                remove(index)
    raise AssertionError("unreachable")


class _Run:
    """One sync; the caller holds the lock."""

    def __init__(
        self,
        index: TranscriptIndex,
        connection: Connection,
        zone: tzinfo | None,
        progress: Progress | None,
        gives_way: bool,
    ) -> None:
        self.index, self.connection, self.zone, self.progress = index, connection, zone, progress
        self.gives_way = gives_way
        self.report = Report([], [], [], [], ())
        #: Segments written since the last commit, and how many bytes they were read from.
        self.written: list[int] = []
        self.vectors: dict[str, bytes] = {}
        self.bytes = 0
        self._generated: frozenset[str] | None = None

    def run(self, thresholds: Thresholds) -> Report:
        found = find_sources(self.index.state, self.index.agent)
        self.report = self.report._replace(unread=found.unread)
        changes = compare(found, known_transcripts(self.connection), thresholds)
        with _Batches(self) as batches:
            read = self._settle(changes)
            for done, source in enumerate(read):
                if self.progress:
                    self.progress(done, len(read))
                self._take(source, batches)
            if self.progress and read:
                self.progress(len(read), len(read))
            mark_filled(self.connection)
        return self.report

    def _settle(self, changes: Changes) -> list[Source]:
        """Follow renames and take out what is gone; what remains to be read: of several transcripts of one session each
        after those that it may repeat."""
        gone = {(one.size, one.mtime_ns, one.inode): one for one in changes.absent}
        read: dict[str, Source] = {}
        again: set[str] = set()
        for source in changes.read:
            old = gone.pop((source.seen[0], source.seen[1], source.seen[3]), None) if source.events is None else None
            if old and old.session == source.session and not source.packed:
                self._rename(old, source)
                self.report.renamed.append((old.path, source.path))
                if old.end == source.seen[0]:
                    continue
            read[source.path] = source
        for one in gone.values():
            self._forget(one.path)
            self.connection.execute("DELETE FROM transcripts WHERE path = ?", (one.path,))
            self.report.removed.append(one.path)
            again.add(one.session)
        found = find_sources(self.index.state, self.index.agent).sources if again else {}
        for source in found.values():
            if source.session in again and source.path not in read:
                # What was left out of it because the other one said it is to be found again.
                self._forget(source.path)
                self.connection.execute("DELETE FROM transcripts WHERE path = ?", (source.path,))
                read[source.path] = source
        order = list(read.values())
        sessions = {session: at for at, session in reversed(list(enumerate(one.session for one in order)))}
        order.sort(key=lambda one: (sessions[one.session], _rank(one)))
        return order

    def _rename(self, old: Known, source: Source) -> None:
        for number in range(old.number + 1):
            names = (segment_path(source.path, number), segment_path(old.path, number))
            self.connection.execute("UPDATE files SET path = ? WHERE path = ?", names)
        self.connection.execute(
            "UPDATE transcripts SET path = ?, size = ?, mtime_ns = ?, ctime_ns = ?, inode = ? WHERE path = ?",
            (source.path, *source.seen, old.path),
        )

    def _forget(self, path: str, number: int = 0) -> None:
        """Take a transcript's segments from ``number`` on out."""
        rows = self.connection.execute(
            "SELECT id FROM files WHERE path >= ? AND path < ?",
            (segment_path(path, number), segment_path(path, 999_999)),
        ).fetchall()
        for (key,) in rows:
            self.vectors |= static_space.vectors_of(self.connection, key)
            delete_file(self.connection, key)

    def _take(self, source: Source, batches: "_Batches") -> None:
        row = self.connection.execute("SELECT * FROM transcripts WHERE path = ?", (source.path,)).fetchone()
        before = Known(*row) if row else None
        try:
            if not (before and grows(source, before) and self._read_on(source, before, batches)):
                self._forget(source.path)
                self._read(source, Known(source.path, source.session, *_NOTHING), batches)
        except OSError as error:
            problem = error.strerror or type(error).__name__
            self.report.skipped.append((source.path, problem))
            known = before or Known(source.path, source.session, *_NOTHING)
            self._remember(known._replace(problem=problem), source)
            return
        self.report.read.append(source.path)

    def _read_on(self, source: Source, before: Known, batches: "_Batches") -> bool:
        """Read what was added; False where what had been read before is not there any more."""
        sha = hashlib.sha256()
        at = before.checked
        for line in read_lines(source, before.checked) if before.end > before.checked else ():
            # What was the last line may not have had its end yet.
            sha.update(line.data[: before.end - at] if source.events is None else line.data)
            at = min(line.end, before.end)
            if at == before.end:
                break
        if at != before.end or sha.hexdigest() != before.digest:
            return False
        self._read(source, before, batches)
        return True

    def _read(self, source: Source, known: Known, batches: "_Batches") -> None:
        """Read from the last segment on, and write the segments anew."""
        generated = bool(known.generated) or self._is_generated(source)
        state = State(known.tail_line, bool(known.tail_unasked), generated)
        day = date.fromordinal(known.tail_day) if known.tail_day else None
        number, skipped = known.number, known.tail_skipped
        others = self._said_elsewhere(source)
        now = known._replace(problem="")
        for part, full in segments(source, known.tail):
            told = parse_transcript((line.data for line in part.lines), state)
            self._forget(source.path, number)
            if told.state.generated:
                self._forget(source.path)
            elif told.turns:
                parsed = passages_of(segment_path(source.path, number), told.turns, day, self.zone, others)
                if parsed.notes:
                    key = write_file(self.connection, parsed, source.seen, time.time_ns(), part.digest)
                    self.written.append(key)
                    day = parsed.notes[-1].day
            skipped += told.skipped
            now = now._replace(
                end=part.end,
                lines=told.state.line,
                unasked=int(told.state.unasked),
                generated=int(told.state.generated),
                skipped=skipped,
                checked=part.start,
                digest=part.digest,
            )
            self.bytes += sum(len(line.data) for line in part.lines)
            if full:
                number += 1
                state = told.state
                now = now._replace(
                    number=number,
                    tail=part.end,
                    tail_line=state.line,
                    tail_unasked=int(state.unasked),
                    tail_skipped=skipped,
                    tail_day=day.toordinal() if day else None,
                )
                self._remember(now, source, complete=False)
                batches.commit_if_full()
        self._remember(now, source)

    def _is_generated(self, source: Source) -> bool:
        if self._generated is None:
            self._generated = generated_sessions(self.index.state, self.index.agent)
        return source.session in self._generated

    def _said_elsewhere(self, source: Source) -> frozenset[str]:
        """The notes of other transcripts of the same session, which are not to count twice."""
        others = self.connection.execute(
            "SELECT path FROM transcripts WHERE session = ? AND path <> ?", (source.session, source.path)
        ).fetchall()
        keys: set[str] = set()
        for (path,) in others:
            rows = self.connection.execute(
                "SELECT p.key FROM passages p JOIN files f ON f.id = p.file WHERE f.path >= ? AND f.path < ?",
                (segment_path(path, 0), segment_path(path, 999_999)),
            )
            keys.update(row[0] for row in rows)
        return frozenset(keys)

    def _remember(self, known: Known, source: Source, complete: bool = True) -> None:
        """``complete``: whether the transcript was read to its end; else it is read on next time."""
        size, mtime, ctime, inode = source.seen
        row = known._replace(size=size if complete else -1, mtime_ns=mtime, ctime_ns=ctime, inode=inode)
        marks = ", ".join("?" * len(row))
        self.connection.execute(f"INSERT OR REPLACE INTO transcripts VALUES ({marks})", row)

    def finish(self) -> None:
        """What belongs to the segments written since the last commit."""
        if len(self.written) > _MANY_FILES:
            remember_all_terms(self.connection)
        elif self.written:
            remember_terms(self.connection, self.written)
        static_space.fill(self.connection, self.written, self.vectors)
        refresh_graph(self.connection)
        self.written, self.vectors, self.bytes = [], {}, 0


class _Batches:
    """A write transaction that is ended and begun again each time enough was written."""

    def __init__(self, run: _Run) -> None:
        self.run = run
        self.open = transaction(run.connection)

    def __enter__(self) -> "_Batches":
        self.open.__enter__()
        return self

    def commit_if_full(self) -> None:
        if self.run.bytes >= BATCH:
            self.run.finish()
            mark_filled(self.run.connection)
            self.open.__exit__(None, None, None)
            self.open = transaction(self.run.connection)
            self.open.__enter__()
            if self.run.gives_way and is_wanted(self.run.index):
                raise Busy("another process wants to write the index of transcripts", self.run.index.index_path)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is None:
            self.run.finish()
        self.open.__exit__(kind, error, trace)  # type: ignore[arg-type]


#: A transcript of which nothing was read, from its size on.
_NOTHING = (-1, 0, 0, 0, 0, 0, 0, 0, 0, "", 0, 0, 0, 0, 0, None, 0, hashlib.sha256().hexdigest())


def _rank(source: Source) -> tuple[int, str]:
    """Closed files, the one that goes on, the database: each may repeat what stands in those before it."""
    return (2 if source.events is not None else int(not source.closed)), source.path
