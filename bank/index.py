"""The derived index on disk: opened, found wanting and set aside, or created.

``.memory/`` can be deleted at any time. An index that is damaged, or that other code made, is renamed to
``index.sqlite.set-aside`` (one is kept, for whoever wants to look) and built again from the Markdown.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from .driver import Connection, DatabaseError, OperationalError, connect, connect_to_read, load_vectors
from .errors import Busy, MemoryFault, fault_of
from .schema import create, fingerprint
from .workspace import APPLICATION_ID, Workspace

#: Bytes; the codes of vectors are read in long rows, which larger pages serve quicker.
PAGE_SIZE = 16_384
SET_ASIDE = ".set-aside"


class IndexUnusable(Exception):
    """The index cannot be used as it is; ``str()`` says why in a few words."""


def open_to_read(workspace: Workspace) -> Connection | None:
    """A read-only connection, or None where there is no index yet. Raises ``IndexUnusable``.

    Everything that is read through it is of one moment, whatever is written meanwhile.
    """
    if not os.path.isfile(workspace.index_path):
        return None
    # An index that is being made for the first time is none yet.
    try:
        connection = connect_to_read(workspace.index_path)
    except DatabaseError as error:
        raise IndexUnusable(f"cannot be opened ({error})") from None
    try:
        _load_vectors(connection, workspace)
        connection.execute("BEGIN")
        if _check(connection, workspace):
            return connection
    except BaseException:
        connection.close()
        raise
    connection.close()
    return None


def open_to_write(workspace: Workspace) -> tuple[Connection, str]:
    """A connection to a usable index, made if need be, and one line when an old one was set aside ("" otherwise).

    The caller holds the writer lock. Raises ``MemoryFault`` where the index's folder cannot be written.
    """
    note = ""
    try:
        os.makedirs(workspace.index_dir, exist_ok=True)
        os.makedirs(os.path.dirname(workspace.index_path), exist_ok=True)
        if os.path.exists(workspace.index_path):
            try:
                return _opened(workspace), ""
            except IndexUnusable as problem:
                set_aside(workspace)
                aside = workspace.relative(workspace.index_path + SET_ASIDE)
                note = f"the index {problem}; it was set aside as {aside} and built again"
        return _created(workspace), note
    except OSError as error:
        raise fault_of(error, "cannot write the index", workspace.index_dir) from None


def can_write_index(workspace: Workspace) -> bool:
    """Whether the index's folder, or the one that would hold it, can be written."""
    folder = workspace.index_dir if os.path.isdir(workspace.index_dir) else workspace.root
    return os.access(folder, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def set_aside(workspace: Workspace) -> None:
    """Move the index out of the way, with what SQLite keeps beside it. The caller holds the writer lock."""
    try:
        with contextlib.suppress(FileNotFoundError):
            os.replace(workspace.index_path, workspace.index_path + SET_ASIDE)
        for tail in ("-wal", "-shm", "-journal"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(workspace.index_path + tail)
    except OSError as error:
        raise fault_of(error, "cannot set the index aside", workspace.index_path) from None


#: SQLite's result codes that say nothing against the file: busy, locked, no permission, read-only, full, cannot open.
_BUSY, _REFUSED, _FULL = (5, 6), (3, 8, 14), 13
#: The code of faults in a statement, and how those begin that come from what the index lacks.
_STATEMENT, _LACKING = 1, ("no such ", "vtable constructor failed", "malformed database schema")


def is_damage(error: DatabaseError) -> bool:
    """Whether an error speaks against the index itself, not against what is around it (locks, permissions, space)."""
    code = _code(error)
    if code == _STATEMENT:
        return str(error).startswith(_LACKING)
    return code not in (*_BUSY, *_REFUSED, _FULL)


def fault_of_database(error: DatabaseError, workspace: Workspace) -> MemoryFault:
    """The one-line fault for an error that building the index again does not cure."""
    code, where = _code(error), workspace.index_path
    if code in _BUSY:
        return Busy("the index is locked by another process", where, "try again in a moment")
    if code in _REFUSED:
        return MemoryFault(f"cannot use the index: {error}", where, "check who owns it and its permissions")
    if code == _FULL:
        return MemoryFault("cannot write the index: the disk is full", where, "free some space and try again")
    return MemoryFault(f"cannot use the index: {error}", where, "delete it with `openclaw memory reset --yes`")


def _code(error: DatabaseError) -> int:
    return int(getattr(error, "sqlite_errorcode", None) or 0) & 0xFF


def remove(workspace: Workspace) -> list[str]:
    """Delete the indexes (of all extra paths) and what was set aside; the paths that were there. Lock files stay."""
    from glob import escape, glob

    stems = [workspace.index_path, *glob(os.path.join(escape(workspace.index_dir), "index*.sqlite"))]
    stems += [stem.removesuffix(SET_ASIDE) for stem in glob(os.path.join(escape(workspace.index_dir), f"*{SET_ASIDE}"))]
    removed = []
    for stem in sorted(set(stems)):
        for tail in (SET_ASIDE, "", "-wal", "-shm", "-journal"):
            shown = workspace.relative(stem + tail)
            try:
                os.unlink(stem + tail)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                raise fault_of(error, "cannot delete", shown) from None
            removed.append(shown)
    return removed


def _opened(workspace: Workspace) -> Connection:
    try:
        connection = connect(workspace.index_path)
    except DatabaseError as error:
        raise IndexUnusable(f"cannot be opened ({error})") from None
    try:
        _load_vectors(connection, workspace)
        _check(connection, workspace)
        connection.execute("PRAGMA synchronous=NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def _created(workspace: Workspace) -> Connection:
    connection = None
    if workspace.private:
        # What SQLite keeps beside it gets the same mode.
        os.close(os.open(workspace.index_path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    try:
        connection = connect(workspace.index_path)
        connection.execute(f"PRAGMA page_size={PAGE_SIZE}")
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        _load_vectors(connection, workspace)
        with transaction(connection):
            create(connection)
            if workspace.index_owner:
                connection.execute("INSERT INTO meta VALUES ('owner', ?)", [workspace.index_owner])
    except DatabaseError as error:
        if connection is not None:
            connection.close()
        raise fault_of_database(error, workspace) from None
    return connection


def _load_vectors(connection: Connection, workspace: Workspace) -> None:
    """Load the vector extension, where it is wanted; without it the same is computed in this process."""
    if workspace.models.settings.vector_extension:
        load_vectors(connection, workspace.models.settings.extension_path)


def _check(connection: Connection, workspace: Workspace) -> bool:
    """Whether a usable index has been filled yet; ``IndexUnusable`` for one that is not usable."""
    try:
        told = dict(connection.execute("SELECT key, value FROM meta").fetchall())
    except OperationalError as error:
        if _code(error) in _BUSY:
            raise fault_of_database(error, workspace) from None
        raise IndexUnusable(f"was incomplete ({error})") from None
    except (DatabaseError, ValueError) as error:
        raise IndexUnusable(f"was damaged ({error})") from None
    if told.get("fingerprint") != fingerprint():
        raise IndexUnusable("was made by another version")
    if told.get("owner", "") != workspace.index_owner:
        raise IndexUnusable("was of another workspace or of other extraPaths (write {agentId} into store.path)")
    return "filled" in told


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
