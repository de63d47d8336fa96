"""A model's answers by what was asked, beside the index (``.memory/verdicts.sqlite``): a second run asks nothing.

The file also remembers that a model failed. What the other judge said in its place was kept with the results of the
job; half a day later ``rounds`` goes up, which makes them count no longer, and the model is asked what it was not.
"""

from __future__ import annotations

import json
import os
import time
from typing import Any

from ...bank.driver import Connection, DatabaseError, connect

FILE = "verdicts.sqlite"
#: Answers that are kept; the oldest go first.
MOST_KEPT = 200_000
#: Seconds after a failure before what the model did not judge is put to it again: less than from night to night.
AGAIN_AFTER = 12 * 3600
_DAMAGE = ("not a database", "malformed", "no such ", "has no column", " values")


class VerdictCache:
    """The answers kept in ``folder`` ("": none). Nothing is made before the first answer, and no folder ever.

    A file that cannot be opened or written keeps nothing, and that is all: no call raises. A damaged one is begun anew.
    """

    def __init__(self, folder: str) -> None:
        self._folder, self._path = folder, os.path.join(folder, FILE)
        self._connection: Connection | None = None
        self._broken = not folder

    def rounds(self, now: float | None = None) -> int:
        """How often the model is to be asked anew for what it did not answer; changes at most once in half a day."""
        if not os.path.isfile(self._path):
            return 0
        rows = dict(self._run("SELECT name, value FROM marks"))
        failed, rounds = rows.get("failed", 0), int(rows.get("rounds", 0))
        if failed and (time.time() if now is None else now) - failed >= AGAIN_AFTER:
            rounds += 1
            self._run("INSERT OR REPLACE INTO marks VALUES ('failed', 0), ('rounds', ?)", rounds)
        return rounds

    def failed(self, now: float | None = None) -> None:
        """Remember that the model failed (now, unless that is remembered already)."""
        moment = int(time.time() if now is None else now)
        self._run(
            "INSERT INTO marks VALUES ('failed', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
            " WHERE value = 0",
            moment,
        )

    def get(self, key: str) -> tuple[bool, Any]:
        """Whether an answer is kept, and the answer."""
        rows = self._run("SELECT answer FROM answers WHERE asked = ?", key) if os.path.isfile(self._path) else []
        try:
            return (True, json.loads(rows[0][0])) if rows else (False, None)
        except ValueError:
            return False, None

    def put(self, key: str, answer: Any) -> None:
        self._run(
            "INSERT OR REPLACE INTO answers (asked, answer) VALUES (?, ?)", key, json.dumps(answer, ensure_ascii=False)
        )

    def _run(self, statement: str, *values: Any) -> list[Any]:
        """The rows of a statement; none where the file cannot be used."""
        for _ in (1, 2):
            if self._broken or not os.path.isdir(self._folder):
                return []
            try:
                if self._connection is None:
                    self._connection = _opened(self._path)
                return self._connection.execute(statement, values).fetchall()
            except DatabaseError as error:
                if self._connection is not None:
                    self._connection.close()
                    self._connection = None
                self._broken = not (any(said in str(error) for said in _DAMAGE) and _removed(self._path))
        return []


def _opened(path: str) -> Connection:
    connection = connect(path)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS answers (id INTEGER PRIMARY KEY, asked TEXT UNIQUE, answer TEXT NOT NULL)"
        )
        connection.execute("CREATE TABLE IF NOT EXISTS marks (name TEXT PRIMARY KEY, value INTEGER NOT NULL)")
        connection.execute("DELETE FROM answers WHERE id <= (SELECT max(id) FROM answers) - ?", (MOST_KEPT,))
    except BaseException:
        connection.close()
        raise
    return connection


def _removed(path: str) -> bool:
    """Take the file away; whether that went well."""
    for tail in ("", "-wal", "-shm"):
        try:
            os.unlink(path + tail)
        except FileNotFoundError:
            continue
        except OSError:
            return False
    return True
