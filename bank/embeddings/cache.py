"""Vectors that a provider has given before, by (fingerprint, hash of the text): what is said again costs nothing again.

The file stands beside the index, not in it, so that edits, renames and a rebuilt index ask only for new text. It holds
at most so many vectors; those that were not needed for longest go first. A file that cannot be read is begun anew.
"""

import hashlib
import os
from collections.abc import Iterable, Mapping

from ..driver import Connection, DatabaseError, connect

FILE = "embeddings.sqlite"
_PART = 500


class VectorCache:
    """The cache of one model, open. ``most``: how many vectors of all models the file keeps; 0 keeps none.

    A cache that cannot be opened or written remembers nothing, and that is all: no call raises.
    """

    def __init__(self, folder: str, fingerprint: str, most: int) -> None:
        self._path, self._most = os.path.join(folder, FILE), most
        self._connection: Connection | None = None
        self._model = self._turn = 0
        if most > 0:
            self._open(fingerprint)

    def get(self, texts: Iterable[str]) -> dict[str, bytes]:
        """The vectors (quantised) of those texts that are known."""
        by_digest = {digest(text): text for text in texts}
        found: dict[str, bytes] = {}
        wanted = list(by_digest)
        try:
            for start in range(0, len(wanted) if self._connection else 0, _PART):
                part = wanted[start : start + _PART]
                assert self._connection
                marks = ", ".join("?" * len(part))
                rows = self._connection.execute(
                    f"SELECT digest, vector FROM vectors WHERE model = ? AND digest IN ({marks})", (self._model, *part)
                ).fetchall()
                found.update((by_digest[key], vector) for key, vector in rows if _is_vector(vector))
                self._connection.execute(
                    f"UPDATE vectors SET turn = ? WHERE model = ? AND digest IN ({marks}) AND turn <> ?",
                    (self._turn, self._model, *part, self._turn),
                )
        except DatabaseError as error:
            self._give_up(error)
        return found

    def put(self, vectors: Mapping[str, bytes]) -> None:
        """Remember the vectors of some texts."""
        if not self._connection:
            return
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)",
                [(self._model, digest(text), vector, self._turn) for text, vector in vectors.items()],
            )
            self._connection.execute("COMMIT")
        except DatabaseError as error:
            self._give_up(error)

    def forget(self) -> None:
        """Forget all vectors of this model: it turned out to be another one."""
        if self._connection:
            try:
                self._connection.execute("DELETE FROM vectors WHERE model = ?", (self._model,))
            except DatabaseError as error:
                self._give_up(error)

    def close(self) -> None:
        """Keep what was needed last, up to the limit, and close the file."""
        if not self._connection:
            return
        try:
            if self._connection.execute("SELECT count(*) FROM vectors").fetchone()[0] > self._most:
                self._connection.execute(
                    "DELETE FROM vectors WHERE (model, digest) IN (SELECT model, digest FROM vectors"
                    " ORDER BY turn DESC, model DESC, digest LIMIT -1 OFFSET ?)",
                    (self._most,),
                )
        except DatabaseError as error:
            self._give_up(error)
        self._give_up()

    def _open(self, fingerprint: str) -> None:
        for _ in (1, 2):
            try:
                self._connection = _connected(self._path)
                self._connection.execute("INSERT OR IGNORE INTO models (fingerprint) VALUES (?)", (fingerprint,))
                self._model, self._turn = self._connection.execute(
                    "SELECT id, 1 + coalesce((SELECT max(turn) FROM vectors), 0) FROM models WHERE fingerprint = ?",
                    (fingerprint,),
                ).fetchone()
                return
            except DatabaseError as error:
                self._give_up(error)
                if not _is_damage(error):
                    return

    def _give_up(self, error: DatabaseError | None = None) -> None:
        """Remember nothing from now on; a damaged file is taken away, so that the next run begins anew."""
        if self._connection:
            self._connection.close()
        self._connection = None
        if error and _is_damage(error):
            remove(os.path.dirname(self._path))


def _is_damage(error: DatabaseError) -> bool:
    """Whether an error speaks against the file: it is no database, is damaged, or has other tables."""
    return any(said in str(error) for said in ("not a database", "malformed", "no such ", "has no column", " values"))


def _is_vector(vector: object) -> bool:
    return isinstance(vector, bytes) and any(vector)


def digest(text: str) -> bytes:
    """What a text is known by: the first 16 bytes of its SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]


def remove(folder: str) -> bool:
    """Delete the cache; whether there was one."""
    there = False
    for tail in ("", "-wal", "-shm"):
        try:
            os.unlink(os.path.join(folder, FILE + tail))
            there = True
        except OSError:
            continue
    return there


def _connected(path: str) -> Connection:
    connection = connect(path)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("CREATE TABLE IF NOT EXISTS models (id INTEGER PRIMARY KEY, fingerprint TEXT UNIQUE)")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS vectors (model INTEGER NOT NULL, digest BLOB NOT NULL, vector BLOB NOT NULL,"
            " turn INTEGER NOT NULL, PRIMARY KEY (model, digest)) WITHOUT ROWID"
        )
        # Small beside the vectors: the last turn and the number of rows are read off it at each opening.
        connection.execute("CREATE INDEX IF NOT EXISTS vectors_turn ON vectors(turn)")
    except BaseException:
        connection.close()
        raise
    return connection
