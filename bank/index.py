"""The derived index on disk: opened, found wanting and set aside, or created.

``.memory/`` can be deleted at any time. An index that is damaged, or that other code made, is renamed to
``index.sqlite.set-aside`` (one is kept, for whoever wants to look) and built again from the Markdown.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from .driver import Connection, DatabaseError, OperationalError, connect, connect_to_read
from .errors import Busy, MemoryFault, fault_of
from .schema import create, fingerprint
from .workspace import Workspace

SET_ASIDE = "index.sqlite.set-aside"


class IndexUnusable(Exception):
    """The index cannot be used as it is; ``str()`` says why in a few words."""


def open_to_read(workspace: Workspace) -> Connection | None:
    """A read-only connection, or None where there is no index yet. Raises ``IndexUnusable``."""
    if not os.path.isfile(workspace.index_path):
        return None
    connection = connect_to_read(workspace.index_path)
    try:
        _check(connection)
    except IndexUnusable:
        connection.close()
        raise
    return connection


def open_to_write(workspace: Workspace) -> tuple[Connection, str]:
    """A connection to a usable index, made if need be, and one line when an old one was set aside ("" otherwise).

    The caller holds the writer lock. Raises ``MemoryFault`` where the index's folder cannot be written.
    """
    note = ""
    try:
        os.makedirs(workspace.index_dir, exist_ok=True)
        if os.path.exists(workspace.index_path):
            try:
                return _opened(workspace), ""
            except IndexUnusable as problem:
                set_aside(workspace)
                note = f"the index {problem}; it was set aside as .memory/{SET_ASIDE} and built again"
        return _created(workspace), note
    except OSError as error:
        raise fault_of(error, "cannot write the index", workspace.index_dir) from None


def set_aside(workspace: Workspace) -> None:
    """Move the index out of the way, with what SQLite keeps beside it."""
    os.replace(workspace.index_path, os.path.join(workspace.index_dir, SET_ASIDE))
    for tail in ("-wal", "-shm", "-journal"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(workspace.index_path + tail)


def remove(workspace: Workspace) -> list[str]:
    """Delete the index and what was set aside; returns the names that were there. The lock files stay."""
    names = [SET_ASIDE, *(f"index.sqlite{tail}" for tail in ("", "-wal", "-shm", "-journal"))]
    removed = []
    for name in names:
        try:
            os.unlink(os.path.join(workspace.index_dir, name))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise fault_of(error, "cannot delete", f".memory/{name}") from None
        removed.append(f".memory/{name}")
    return removed


def _opened(workspace: Workspace) -> Connection:
    connection = connect(workspace.index_path)
    try:
        _check(connection)
        connection.execute("PRAGMA synchronous=NORMAL")
    except IndexUnusable:
        connection.close()
        raise
    return connection


def _created(workspace: Workspace) -> Connection:
    connection = connect(workspace.index_path)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        with transaction(connection):
            create(connection)
    except DatabaseError as error:
        connection.close()
        raise MemoryFault(f"cannot create the index: {error}", workspace.index_path) from None
    return connection


def _check(connection: Connection) -> None:
    try:
        row = connection.execute("SELECT value FROM meta WHERE key = 'fingerprint'").fetchone()
    except OperationalError as error:
        if "locked" in str(error) or "busy" in str(error):
            raise Busy("the index is locked by another process", remedy="try again") from None
        raise IndexUnusable(f"was incomplete ({error})") from None
    except DatabaseError as error:
        raise IndexUnusable(f"was damaged ({error})") from None
    if row is None or row[0] != fingerprint():
        raise IndexUnusable("was made by another version")


@contextlib.contextmanager
def transaction(connection: Connection) -> Iterator[Connection]:
    """One write transaction: all of it or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
