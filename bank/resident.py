"""A workspace that stays open: a question is answered from connections that are kept, as long as nothing changed.

Whether anything changed the kernel tells (``told_changes``), or a look at every file does. What did change is synced as
it always is (``freshness``).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TypeVar

from . import spaces
from .driver import Connection, DatabaseError
from .freshness import Fresh, ask_anew
from .index import IndexUnusable, open_to_read
from .sync import Progress, pending_changes
from .told_changes import Watch
from .vectors import use_numpy
from .workspace import Workspace

#: So many connections are kept at most; what more threads need at a time is opened for them and closed.
KEPT = 8
#: From this question on, watching the files and loading numpy pay.
REPAID = 2
#: Bytes of the index that are read by way of memory instead of being copied.
_MAPPED = 1 << 28

Answer = TypeVar("Answer")


class Resident:
    """The readers of one workspace; any number of threads may ask at a time."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._lock = threading.Lock()
        self._syncing = threading.Lock()
        self._free: list[tuple[Connection, tuple[int, int]]] = []
        self._watch: Watch | None = None
        #: The count of changes up to which the index is known to say what the files say.
        self._clean: int | None = None
        self._closed = False
        self._asked = 0

    def ask(
        self, ask: Callable[[Connection], Answer], *, no_sync: bool = False, progress: Progress | None = None
    ) -> tuple[Answer, Fresh]:
        """As ``freshness.ask_fresh``."""
        answered = self._ask_kept(ask)
        if answered is not None:
            return answered
        if no_sync:
            return ask_anew(self._workspace, ask, no_sync=True, progress=progress)
        with self._syncing:
            count = self._count()
            # Another thread may have synced while this one waited.
            answered = self._ask_kept(ask) if count is not None and count == self._clean else None
            if answered is not None:
                return answered
            answer, fresh = ask_anew(self._workspace, ask, progress=progress)
            self._clean = None if fresh.stale or fresh.notes else count
        return answer, fresh

    def refresh(self) -> None:
        """Sync now, if anything changed, so that the next question need not."""
        self.ask(lambda connection: None)

    def close(self) -> None:
        """Close what is kept. Whoever asks after that is answered all the same."""
        with self._lock:
            self._closed = True
            free, self._free = self._free, []
            watch, self._watch = self._watch, None
        for connection, _ in free:
            connection.close()
        if watch:
            watch.close()

    def _ask_kept(self, ask: Callable[[Connection], Answer]) -> tuple[Answer, Fresh] | None:
        """The answer from a kept connection; None where something may have changed, or the index is not as it should
        be."""
        self._prepare()
        count = self._count()
        held = self._take()
        if held is None:
            return None
        connection, identity = held
        try:
            if count is None or count != self._clean:
                changes = pending_changes(self._workspace, connection)
                if changes or changes.unread:
                    return None
                self._clean = count
            if self._lacks_vectors(connection):
                return None
            return ask(connection), Fresh(connection, False, [])
        except (DatabaseError, ValueError, OverflowError):
            # Asked again in the way that sets a damaged index aside.
            identity = (0, 0)
            return None
        finally:
            self._give_back(connection, identity)

    def _prepare(self) -> None:
        """Load and open what pays from the second question on."""
        with self._lock:
            self._asked += 1
            if self._asked != REPAID or self._closed:
                return
            self._watch = Watch(self._workspace)
        use_numpy()

    def _count(self) -> int | None:
        watch = self._watch
        return watch.count() if watch else None

    def _lacks_vectors(self, connection: Connection) -> bool:
        embedder = self._workspace.models.choice().embedder
        if embedder is None or embedder.provider == "static":
            return False
        return spaces.pending(connection, embedder.fingerprint) > 0

    def _take(self) -> tuple[Connection, tuple[int, int]] | None:
        """A connection that reads the index as it is from now on, and which file that is."""
        identity = _identity(self._workspace.index_path)
        while identity is not None:
            with self._lock:
                held = self._free.pop() if self._free else None
            if held is None:
                return self._opened(identity)
            if held[1] == identity:
                try:
                    held[0].execute("BEGIN")
                    return held
                except DatabaseError:
                    pass
            held[0].close()
        return None

    def _opened(self, identity: tuple[int, int]) -> tuple[Connection, tuple[int, int]] | None:
        try:
            connection = open_to_read(self._workspace)
        except IndexUnusable:
            return None
        if connection is None:
            return None
        connection.execute("COMMIT")
        connection.execute(f"PRAGMA mmap_size={_MAPPED}")
        connection.execute("BEGIN")
        return connection, identity

    def _give_back(self, connection: Connection, identity: tuple[int, int]) -> None:
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except DatabaseError:
            identity = (0, 0)
        with self._lock:
            if identity != (0, 0) and not self._closed and len(self._free) < KEPT:
                self._free.append((connection, identity))
                return
        connection.close()


def _identity(path: str) -> tuple[int, int] | None:
    """Which file an index is; as long as a connection has it open, no other can be the same."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
