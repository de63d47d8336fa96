"""Which SQLite runs: pysqlite3 where it is installed (recent, loads extensions), else the standard library's."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlite3
else:
    try:
        from pysqlite3 import dbapi2 as sqlite3
    except ImportError:
        import sqlite3

Connection = sqlite3.Connection
DatabaseError = sqlite3.DatabaseError
OperationalError = sqlite3.OperationalError

#: What SQLite puts after the name of an extension that it does not find.
_ENDING = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")
#: How long a statement waits for another process's lock, in milliseconds.
BUSY_MS = 5000


def connect(path: str) -> Connection:
    """A connection in autocommit mode (transactions are opened by hand); ``:memory:`` is allowed. Threads may pass it
    on, but not use it at the same time."""
    connection = sqlite3.connect(path, isolation_level=None, timeout=BUSY_MS / 1000, check_same_thread=False)
    connection.execute("PRAGMA foreign_keys=ON")
    return connection


def connect_to_read(path: str) -> Connection:
    """A connection that cannot write: a read can then never change the index by mistake."""
    connection = connect(path)
    connection.execute("PRAGMA query_only=ON")
    return connection


def load_vectors(connection: Connection, path: str = "") -> str:
    """Load sqlite-vec, from ``path`` or from its package. "" where that went well, else why it did not, in a few
    words."""
    if not hasattr(connection, "enable_load_extension"):
        return "this Python's SQLite loads no extensions"
    if not path:
        path = _packaged_extension()
        if not path:
            return "sqlite-vec is not installed"
    try:
        connection.enable_load_extension(True)
        try:
            connection.load_extension(path)
        finally:
            connection.enable_load_extension(False)
    except DatabaseError as error:
        # SQLite tries the name with an ending of its own last, and complains of that.
        if str(error).startswith(f"{path}{_ENDING}") and os.path.exists(path):
            return f"{path}: no extension of SQLite that can be loaded here"
        return str(error).replace(f"{path}{_ENDING}", path)
    return ""


def _packaged_extension() -> str:
    """Where the package sqlite-vec keeps its library, "" where it is not installed.

    The package itself is not imported: it would import numpy, which takes longer than an answer.
    """
    from importlib.machinery import PathFinder

    found = PathFinder.find_spec("sqlite_vec")
    folders = found.submodule_search_locations if found else None
    return os.path.join(next(iter(folders)), "vec0") if folders else ""


def describe() -> dict[str, Any]:
    """For ``status``: the driver's name, SQLite's version, and whether FTS5 is built in and extensions load."""
    connection = sqlite3.connect(":memory:")
    try:
        loads = hasattr(connection, "enable_load_extension")
        options = {row[0] for row in connection.execute("PRAGMA compile_options")}
        return {
            "driver": sqlite3.__name__.split(".", 1)[0],
            "sqlite": sqlite3.sqlite_version,
            "fts5": "ENABLE_FTS5" in options,
            "extensions": loads,
        }
    finally:
        connection.close()
