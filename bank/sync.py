"""Sync: the index made to say what the Markdown says, by reading only what changed.

A file is read when ``stat`` shows another size, time or inode than when it was last read (or when it was read so soon
after it was written that a second write could look the same); it is parsed when its bytes differ. A file that vanished
while the same bytes appeared under another name was renamed and keeps its rows.
"""

import os
import time
from collections.abc import Callable
from typing import NamedTuple

from ..parsers.days import is_dream_report, log_day, role_of
from . import static_space
from .driver import Connection, DatabaseError
from .index import (
    fault_of_database,
    is_damage,
    open_to_write,
    set_aside,
    transaction,
)
from .scan import Scan, Seen, scan
from .schema import mark_filled
from .store import (
    FileRow,
    Stamp,
    delete_file,
    move_file,
    stored_file,
    stored_stamps,
    touch_file,
    write_file,
)
from .terms import remember_all_terms, remember_terms
from .workspace import Workspace

#: From so many changed files on, looking through the whole vocabulary is quicker than through each file's.
_MANY_FILES = 50

Progress = Callable[[int, int], None]


class Changes(NamedTuple):
    """What has to be looked at: ``read`` (new, or not as it was), ``absent`` (indexed, and proven gone). ``unread``:
    what could not be looked at. ``size``: bytes in ``read``."""

    read: list[str]
    absent: list[str]
    unread: tuple[str, ...]
    size: int = 0

    def __bool__(self) -> bool:
        return bool(self.read or self.absent)


class SyncReport(NamedTuple):
    """What a sync did, as lists of paths (``renamed``: old and new). ``skipped``: path and why it could not be read;
    its old rows stay. ``unread``: folders that could not be listed; nothing below them was taken out. ``note``: one
    line when an unusable index was set aside."""

    added: list[str]
    changed: list[str]
    renamed: list[tuple[str, str]]
    removed: list[str]
    skipped: list[tuple[str, str]]
    unread: tuple[str, ...]
    files: int
    note: str

    @property
    def is_partial(self) -> bool:
        return bool(self.skipped or self.unread)


def pending_changes(workspace: Workspace, connection: Connection) -> Changes:
    """What differs between the tree and the index, by ``stat`` alone (and the bytes of files written just before they
    were indexed). Never writes."""
    return _compare(workspace, scan(workspace), connection)


def sync(
    workspace: Workspace,
    *,
    timeout: float = 10.0,
    progress: Progress | None = None,
    force: bool = False,
    damage: str = "",
) -> SyncReport:
    """Bring the index up to date in one transaction, creating it if need be.

    ``timeout``: seconds to wait for another writer (``Busy`` after that). ``force`` reads and parses every file again.
    ``progress`` is called with (files done, files to read). ``damage``: what a reader found wrong with the index, which
    is then built anew.
    """
    from .files import writer_lock

    with writer_lock(workspace.lock_path, timeout, "indexing"):
        try:
            if not damage:
                try:
                    return _run(workspace, progress, force)
                except DatabaseError as error:
                    if not is_damage(error):
                        raise
                    damage = str(error)
                except ValueError as error:
                    damage = str(error)
            set_aside(workspace)
            note = f"the index was damaged ({damage}); it was set aside and built again"
            return _run(workspace, progress, force)._replace(note=note)
        except DatabaseError as error:
            raise fault_of_database(error, workspace) from None


def _run(workspace: Workspace, progress: Progress | None, force: bool) -> SyncReport:
    connection, note = open_to_write(workspace)
    try:
        return Run(workspace, connection, progress, force).run(note)
    finally:
        connection.close()


def _compare(workspace: Workspace, found: Scan, connection: Connection) -> Changes:
    stored = stored_stamps(connection)
    read = []
    for path, seen in found.files.items():
        stamp = stored.get(path)
        if stamp is None or stamp[:4] != seen or (_is_racy(stamp) and _differs(workspace, path, connection)):
            read.append(path)
    absent = [path for path in stored if path not in found.files and found.proves_absent(path)]
    return Changes(sorted(read), sorted(absent), found.unread, sum(found.files[path][0] for path in read))


def _is_racy(stamp: Stamp) -> bool:
    """Whether a file was read so soon after its last write that another write could have left the same stamp.

    Coarse clocks (whole seconds) need two seconds, others a twentieth of one.
    """
    written = stamp[1]
    return stamp[4] < written + (2_000_000_000 if written % 1_000_000_000 == 0 else 50_000_000)


def _differs(workspace: Workspace, path: str, connection: Connection) -> bool:
    row = stored_file(connection, path)
    try:
        return row is None or _digest(_read(workspace, path)) != row.hash
    except OSError:
        return True


def _read(workspace: Workspace, path: str) -> bytes:
    if not os.path.isabs(path):
        from .files import read_below

        return read_below(workspace.root, path)
    with open(path, "rb") as file:
        return file.read()


def _digest(data: bytes) -> str:
    import hashlib

    return hashlib.sha256(data).hexdigest()


class Run:
    """One sync; the caller holds the writer lock, or an index that is its own."""

    def __init__(self, workspace: Workspace, connection: Connection, progress: Progress | None, force: bool) -> None:
        self.workspace, self.connection, self.progress, self.force = workspace, connection, progress, force
        self.report = SyncReport([], [], [], [], [], (), 0, "")
        self.written: list[int] = []
        #: The vectors of the files that are written anew, by the text that they were made of.
        self.known: dict[str, bytes] = {}

    def run(self, note: str) -> SyncReport:
        from .graph import refresh as refresh_graph

        found = scan(self.workspace)
        report = self.report._replace(unread=found.unread, files=len(found.files), note=note)
        with transaction(self.connection):
            changes = _compare(self.workspace, found, self.connection)
            read = sorted(found.files) if self.force else changes.read
            vanished: dict[str, list[FileRow]] = {}
            for path in reversed(changes.absent):
                gone = stored_file(self.connection, path)
                if gone:
                    vanished.setdefault(gone.hash, []).append(gone)
            for done, path in enumerate(read):
                if self.progress:
                    self.progress(done, len(read))
                self._take(path, found.files[path], stored_file(self.connection, path), vanished)
            for rows in vanished.values():
                for row in rows:
                    delete_file(self.connection, row.id)
                    report.removed.append(row.path)
            if len(self.written) > _MANY_FILES:
                remember_all_terms(self.connection)
            elif self.written:
                remember_terms(self.connection, self.written)
            static_space.fill(self.connection, self.written, self.known)
            refresh_graph(self.connection)
            if self.progress and read:
                self.progress(len(read), len(read))
            mark_filled(self.connection)
        report.removed.sort()
        return report

    def _take(self, path: str, seen: Seen, row: FileRow | None, vanished: dict[str, list[FileRow]]) -> None:
        read_ns = time.time_ns()
        try:
            data = _read(self.workspace, path)
        except FileNotFoundError:
            return
        except OSError as error:
            self.report.skipped.append((path, error.strerror or type(error).__name__))
            return
        digest = _digest(data)
        if row and row.hash == digest and not self.force:
            touch_file(self.connection, row.id, seen, read_ns)
            return
        moved = vanished.get(digest) if row is None else None
        if moved:
            old = moved.pop()
            self.report.renamed.append((old.path, path))
            if _means_the_same(old.path, path) and not self.force:
                move_file(self.connection, old.id, path, seen, read_ns)
                return
            row = old
        elif row is None:
            self.report.added.append(path)
        else:
            self.report.changed.append(path)
        from ..parsers.parse import parse_file

        parsed = parse_file(data.decode("utf-8", "replace"), path)
        if row:
            self.known |= static_space.vectors_of(self.connection, row.id)
        self.written.append(write_file(self.connection, parsed, seen, read_ns, digest, row.id if row else None))


def _means_the_same(old: str, new: str) -> bool:
    """Whether a path's own meaning (its role, its day, the entity it names, who wrote it) is the same under both
    names."""
    one, other = ((role_of(path), log_day(path), is_dream_report(path)) for path in (old, new))
    return "/entities/" not in old + new and one == other
