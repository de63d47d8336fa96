"""What the last run worked out, kept in ``.memory/reflect.sqlite`` so that a quiet night costs little.

Nothing here is a source of anything: without it the next run does everything again and writes the same pages.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..bank.driver import Connection, DatabaseError, connect
from ..bank.errors import fault_of
from ..bank.workspace import Workspace
from .citations import Maps, followed

_TABLES = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    # A Markdown file as it was when its facts were worked on; slugs: JSON, the entities that it speaks of.
    "CREATE TABLE files (path TEXT PRIMARY KEY, hash TEXT NOT NULL, slugs TEXT NOT NULL)",
    # What is on the pages for one entity (slug "": facts of none): JSON.
    "CREATE TABLE units (slug TEXT PRIMARY KEY, unit TEXT NOT NULL, lines TEXT NOT NULL)",
    # How the facts of one entity close each other: fact to standings, JSON.
    "CREATE TABLE closings (slug TEXT NOT NULL, fact TEXT NOT NULL, standings TEXT NOT NULL, PRIMARY KEY (slug, fact))",
    "CREATE INDEX closings_fact ON closings(fact)",
    # In which run a statement was met first (run), and which statements have been judged for something: those met up to
    # a run. What was judged otherwise than neutral is in verdicts: JSON.
    "CREATE TABLE seen (mark TEXT PRIMARY KEY, run INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE judged (kind TEXT NOT NULL, left TEXT NOT NULL, run INTEGER NOT NULL, PRIMARY KEY (kind, left))"
    " WITHOUT ROWID",
    "CREATE TABLE verdicts (kind TEXT NOT NULL, one TEXT NOT NULL, other TEXT NOT NULL, verdict TEXT NOT NULL,"
    " PRIMARY KEY (kind, one, other)) WITHOUT ROWID",
    # What people wrote into the blocks of a page: [[line, text, day or null], …].
    "CREATE TABLE hand (path TEXT PRIMARY KEY, hash TEXT NOT NULL, lines TEXT NOT NULL)",
    # What was found in the narrative of one file: JSON.
    "CREATE TABLE found (path TEXT PRIMARY KEY, mark TEXT NOT NULL, candidates TEXT NOT NULL)",
)


_BATCH = 500


class State:
    """The kept results, open for one run; changes count once ``keep`` was called."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def meta(self, key: str) -> str:
        """A remembered value, "" for none."""
        row = self.connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else ""

    def set_meta(self, key: str, value: str) -> None:
        self.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def files(self) -> dict[str, tuple[str, list[str]]]:
        """path to (hash, slugs)."""
        rows = self.connection.execute("SELECT path, hash, slugs FROM files")
        return {path: (digest, json.loads(slugs)) for path, digest, slugs in rows}

    def set_files(self, changed: Mapping[str, tuple[str, Iterable[str]]], gone: Iterable[str]) -> None:
        self.connection.executemany(
            "INSERT OR REPLACE INTO files VALUES (?, ?, ?)",
            [(path, digest, json.dumps(sorted(slugs))) for path, (digest, slugs) in changed.items()],
        )
        for table in ("files", "found", "hand"):
            self.connection.executemany(f"DELETE FROM {table} WHERE path = ?", [(path,) for path in gone])

    def slugs(self) -> set[str]:
        """The entities that have a unit."""
        return {row[0] for row in self.connection.execute("SELECT slug FROM units")}

    def units(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """(slug, unit without the lines of its page), by slug."""
        for slug, unit in self.connection.execute("SELECT slug, unit FROM units ORDER BY slug").fetchall():
            yield slug, json.loads(unit)

    def unit(self, slug: str) -> dict[str, Any] | None:
        """One unit, whole; None where there is none."""
        row = self.connection.execute("SELECT unit, lines FROM units WHERE slug = ?", (slug,)).fetchone()
        return {**json.loads(row[0]), "lines": json.loads(row[1])} if row else None

    def set_unit(self, slug: str, unit: Mapping[str, Any] | None) -> None:
        self.connection.execute("DELETE FROM units WHERE slug = ?", (slug,))
        if unit is not None:
            rest = {name: value for name, value in unit.items() if name != "lines"}
            row = (slug, json.dumps(rest, ensure_ascii=False), json.dumps(unit["lines"], ensure_ascii=False))
            self.connection.execute("INSERT INTO units VALUES (?, ?, ?)", row)

    def follow(self, maps: Maps) -> None:
        """Let what is kept cite pages as they are now: ``maps``, see ``citations``."""
        if any(any(old != new for old, new in lines.items()) for lines in maps.values()):
            for slug, *texts in self.connection.execute("SELECT slug, unit, lines FROM units").fetchall():
                after = [followed(text, maps) for text in texts]
                if after != texts:
                    self.connection.execute("UPDATE units SET unit = ?, lines = ? WHERE slug = ?", (*after, slug))

    def closings(self, facts: Iterable[str]) -> dict[str, list[list[Any]]]:
        """fact to all standings that any of its entities gives it."""
        found: dict[str, list[list[Any]]] = {}
        for fact in facts:
            for (told,) in self.connection.execute(
                "SELECT standings FROM closings WHERE fact = ? ORDER BY slug", (fact,)
            ).fetchall():
                found.setdefault(fact, []).extend(json.loads(told))
        return found

    def set_closings(self, slug: str, told: Mapping[str, list[list[Any]]]) -> set[str]:
        """Put an entity's closings in place of its old ones; the facts for which anything changed."""
        rows = self.connection.execute("SELECT fact, standings FROM closings WHERE slug = ?", (slug,)).fetchall()
        old = dict(rows)
        new = {fact: json.dumps(standings, ensure_ascii=False) for fact, standings in told.items()}
        if old == new:
            return set()
        self.connection.execute("DELETE FROM closings WHERE slug = ?", (slug,))
        self.connection.executemany("INSERT INTO closings VALUES (?, ?, ?)", [(slug, *row) for row in new.items()])
        return {fact for fact in old.keys() | new.keys() if old.get(fact) != new.get(fact)}

    def found(self) -> dict[str, tuple[str, list[dict[str, Any]]]]:
        """path to (mark of what it was made of, candidates)."""
        rows = self.connection.execute("SELECT path, mark, candidates FROM found")
        return {path: (mark, json.loads(candidates)) for path, mark, candidates in rows}

    def set_found(self, path: str, mark: str, candidates: list[dict[str, Any]]) -> None:
        row = (path, mark, json.dumps(candidates, ensure_ascii=False))
        self.connection.execute("INSERT OR REPLACE INTO found VALUES (?, ?, ?)", row)

    def drop_found(self, path: str) -> None:
        self.connection.execute("DELETE FROM found WHERE path = ?", (path,))

    def hand(self) -> dict[str, tuple[str, list[list[Any]]]]:
        """path to (hash of the page, what people wrote into its blocks)."""
        rows = self.connection.execute("SELECT path, hash, lines FROM hand")
        return {path: (digest, json.loads(lines)) for path, digest, lines in rows}

    def set_hand(self, path: str, digest: str, lines: list[list[Any]]) -> None:
        row = (path, digest, json.dumps(lines, ensure_ascii=False))
        self.connection.execute("INSERT OR REPLACE INTO hand VALUES (?, ?, ?)", row)

    def seen(self, marks: Sequence[str], run: int) -> dict[str, int]:
        """For each statement the run in which it was met first; that is this ``run`` for new ones."""
        found: dict[str, int] = {}
        for start in range(0, len(marks), _BATCH):
            part = marks[start : start + _BATCH]
            found.update(
                self.connection.execute(
                    f"SELECT mark, run FROM seen WHERE mark IN ({', '.join('?' * len(part))})", part
                ).fetchall()
            )
        new = [(mark, run) for mark in marks if mark not in found]
        self.connection.executemany("INSERT OR IGNORE INTO seen VALUES (?, ?)", new)
        return found | dict(new)

    def judged(self, kind: str, left: str) -> int:
        row = self.connection.execute("SELECT run FROM judged WHERE kind = ? AND left = ?", (kind, left)).fetchone()
        return int(row[0]) if row else 0

    def set_judged(self, kind: str, left: str, run: int) -> None:
        self.connection.execute("INSERT OR REPLACE INTO judged VALUES (?, ?, ?)", (kind, left, run))

    def set_verdict(self, kind: str, one: str, other: str, verdict: list[Any] | None) -> None:
        """Keep a verdict; None where there is nothing to keep."""
        if verdict is None:
            self.connection.execute("DELETE FROM verdicts WHERE kind = ? AND one = ? AND other = ?", (kind, one, other))
        else:
            row = (kind, one, other, json.dumps(verdict, ensure_ascii=False))
            self.connection.execute("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?)", row)

    def verdicts(self, kind: str, marks: Sequence[str]) -> Iterator[tuple[str, str, list[Any]]]:
        """The kept verdicts whose first side is one of ``marks``: (one, other, verdict)."""
        for start in range(0, len(marks), _BATCH):
            part = marks[start : start + _BATCH]
            rows = self.connection.execute(
                "SELECT one, other, verdict FROM verdicts WHERE kind = ?"
                f" AND one IN ({', '.join('?' * len(part))}) ORDER BY one, other",
                (kind, *part),
            ).fetchall()
            for one, other, verdict in rows:
                yield one, other, json.loads(verdict)

    def clear(self) -> None:
        """Forget everything, since other code or other judges made it."""
        for table in ("meta", "files", "units", "closings", "found", "hand", "seen", "judged", "verdicts"):
            self.connection.execute(f"DELETE FROM {table}")

    def keep(self) -> None:
        self.connection.execute("COMMIT")
        self.connection.execute("BEGIN")


@contextlib.contextmanager
def open_state(workspace: Workspace, fingerprint: str, *, on_disk: bool) -> Iterator[State]:
    """The state of a workspace, empty where other code made it, where it is damaged, or when nothing may be written
    (``on_disk`` false: a copy in memory, forgotten afterwards)."""
    path = os.path.join(workspace.index_dir, "reflect.sqlite")
    try:
        if on_disk:
            os.makedirs(workspace.index_dir, exist_ok=True)
        connection = _opened(path, on_disk)
    except OSError as error:
        raise fault_of(error, "cannot write", workspace.index_dir) from None
    try:
        state = State(connection)
        if state.meta("fingerprint") != fingerprint:
            state.clear()
            state.set_meta("fingerprint", fingerprint)
        yield state
    finally:
        connection.close()


def _opened(path: str, on_disk: bool) -> Connection:
    connection = connect(path if on_disk else ":memory:")
    try:
        if not on_disk and os.path.isfile(path):
            source = connect(path)
            try:
                source.backup(connection)
            finally:
                source.close()
        connection.execute("BEGIN IMMEDIATE")
        tables = {
            row[0] for row in connection.execute("SELECT sql FROM sqlite_master WHERE type IN ('table', 'index')")
        }
        if not set(_TABLES) <= tables:
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                connection.execute(f'DROP TABLE "{name}"')
            for statement in _TABLES:
                connection.execute(statement)
        connection.execute("SELECT count(*) FROM units").fetchone()
    except DatabaseError:
        connection.close()
        if not on_disk:
            connection = connect(":memory:")
            connection.execute("BEGIN")
            for statement in _TABLES:
                connection.execute(statement)
            return connection
        for tail in ("", "-wal", "-shm", "-journal"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path + tail)
        return _opened(path, on_disk)
    return connection
