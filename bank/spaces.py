"""A space: the vectors of one model in the index, one for each passage, and the search for the nearest.

Two spaces have the same tables: ``static`` (the built-in model, always complete) and ``model`` (the provider that a
user has configured, filled as its answers come). The nearest are found in two passes: codes by Hamming distance, where
each of 24 shards gives its best, then the cosine of the vectors. From ``EXTENSION_FROM`` passages on the first pass is
sqlite-vec's (``vec0``); without that extension the same is computed here and gives the same. What is equally near is
told apart by where it stands in the Markdown, never by its number in the index, which grew by chance.
"""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from .driver import Connection, OperationalError
from .vectors import Query, code

STATIC, MODEL = "static", "model"
#: The key in ``meta`` of what the vectors in the model's space were made by.
FINGERPRINT = "model_fingerprint"
#: A passage's shard comes from its key, so that an index built anew has the same shards.
SHARDS = 24
#: What each shard gives to the second pass.
FROM_SHARD = 16
#: Fewer passages than this are compared here: an extension would not be faster.
EXTENSION_FROM = 2000
#: Of equally near ones in a shard so many at most go to the second pass.
FROM_TIES = 500
_CHUNK = 512
#: The most that ``vec0`` gives at once.
_MOST = 4096
#: From so many candidates more than are asked for on, the extension goes through them first, in single precision.
_SLACK = 40
_ROUNDING = 2e-3
_PART = 500
_ERROR = 1


class Row(NamedTuple):
    """A passage's vector, quantised, and the key of what it says."""

    passage: int
    key: str
    vector: bytes


def table(space: str) -> str:
    """The statement that makes a space's table."""
    return (
        f"CREATE TABLE {space}_vectors (passage INTEGER PRIMARY KEY REFERENCES passages(id), shard INTEGER NOT NULL,"
        " code BLOB NOT NULL, vector BLOB NOT NULL)"
    )


def insert(connection: Connection, space: str, rows: Sequence[Row]) -> None:
    """Put vectors in; the passages must not have any in this space yet. Inside the caller's transaction."""
    values = [(row.passage, _shard(row.key), code(row.vector), row.vector) for row in rows]
    connection.executemany(f"INSERT INTO {space}_vectors VALUES (?, ?, ?, ?)", values)
    if values and _in_step(connection, space):
        _nearest_insert(connection, space, [value[:3] for value in values])


def delete(connection: Connection, space: str, passages: Iterable[int]) -> None:
    """Take the vectors of some passages out. Inside the caller's transaction."""
    ids = [(passage,) for passage in passages]
    if ids and _in_step(connection, space):
        with _unless_it_fails(connection, space):
            connection.executemany(f"DELETE FROM {space}_nearest WHERE passage = ?", ids)
    connection.executemany(f"DELETE FROM {space}_vectors WHERE passage = ?", ids)


def clear(connection: Connection, space: str) -> None:
    """Take everything out of a space. Inside the caller's transaction."""
    connection.execute(f"DELETE FROM {space}_vectors")
    if _step(connection, space):
        _set_step(connection, space, "behind")


def count(connection: Connection, space: str) -> int:
    """How many passages have a vector."""
    return int(connection.execute(f"SELECT count(*) FROM {space}_vectors").fetchone()[0])


def pending(connection: Connection, fingerprint: str) -> int:
    """How many passages have no vector in the model's space, or none by this model."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (FINGERPRINT,)).fetchone()
    total, done = connection.execute(
        "SELECT (SELECT count(*) FROM passages), (SELECT count(*) FROM model_vectors)"
    ).fetchone()
    return int(total - done if row and row[0] == fingerprint else total)


def keep_in_step(connection: Connection, space: str) -> None:
    """Bring the extension's table to what the space holds, if the extension is loaded and the space large enough.

    Inside the caller's transaction; cheap when there is nothing to do.
    """
    step = _step(connection, space)
    if step == "yes" or not loaded(connection):
        return
    count, width = connection.execute(
        f"SELECT count(*), (SELECT length(code) FROM {space}_vectors LIMIT 1) FROM {space}_vectors"
    ).fetchone()
    if count < EXTENSION_FROM and not step:
        return
    connection.execute(f"DROP TABLE IF EXISTS {space}_nearest")
    connection.execute("DELETE FROM meta WHERE key = ?", (f"{space}_nearest",))
    if not count:
        return
    _set_step(connection, space, "yes")
    with _unless_it_fails(connection, space):
        connection.execute(
            f"CREATE VIRTUAL TABLE {space}_nearest USING vec0(passage INTEGER PRIMARY KEY,"
            f" shard INTEGER PARTITION KEY, code BIT[{8 * width}], chunk_size={_CHUNK})"
        )
        rows = connection.execute(f"SELECT passage, shard, code FROM {space}_vectors ORDER BY shard, passage")
        _nearest_insert(connection, space, rows.fetchall())


def nearest(
    connection: Connection, space: str, query: Query, size: int, where: tuple[str, Sequence[object]] = ("", ())
) -> dict[int, float]:
    """The passages nearest to ``query``: id to cosine, at most ``size``, nearest first.

    ``where``: a condition on ``p`` (passages) and ``f`` (files) with its parameters, "" for all passages.
    """
    helped = loaded(connection)
    found: list[int] | None = None
    if helped and not where[0] and _in_step(connection, space):
        found = _by_extension(connection, space, query)
    if found is None:
        found = _by_scan(connection, space, query, where)
    if helped and len(found) > size + _SLACK:
        found = _reordered(connection, space, query, found, size)
    scored = query.cosines(vectors(connection, space, found), exact=True)
    best = sorted(scored, key=lambda passage: (-scored[passage], passage))
    if len(best) > size:
        # Of several equal ones at the end none is taken, unless there is nothing else.
        last = scored[best[size]]
        better = [passage for passage in best[:size] if scored[passage] > last]
        best = better or _first(connection, [passage for passage in best if scored[passage] == last], size)
    return {passage: scored[passage] for passage in best}


def cosines(connection: Connection, space: str, query: Query, passages: Sequence[int]) -> dict[int, float]:
    """The cosine of each passage that has a vector in this space, by the upper bytes."""
    return query.cosines(vectors(connection, space, passages))


def vectors(connection: Connection, space: str, passages: Sequence[int]) -> dict[int, bytes]:
    """The vectors of those passages that have one."""
    found: dict[int, bytes] = {}
    for start in range(0, len(passages), _PART):
        part = passages[start : start + _PART]
        rows = connection.execute(
            f"SELECT passage, vector FROM {space}_vectors WHERE passage IN ({', '.join('?' * len(part))})", part
        )
        found.update(rows.fetchall())
    return found


def loaded(connection: Connection) -> bool:
    """Whether sqlite-vec answers on this connection."""
    try:
        connection.execute("SELECT vec_version()")
    except OperationalError:
        return False
    return True


def _by_extension(connection: Connection, space: str, query: Query) -> list[int] | None:
    """The first pass by sqlite-vec, shard by shard: its time grows with the number of neighbours asked for at once.

    None where it cannot read its own table, such as one that another version of it has made.
    """
    found: list[int] = []
    statement = f"SELECT passage, distance FROM {space}_nearest WHERE code MATCH vec_bit(?) AND k = ? AND shard = ?"
    try:
        for shard in range(SHARDS):
            rows = connection.execute(statement, (query.code, FROM_SHARD + 1, shard)).fetchall()
            if len(rows) > FROM_SHARD and rows[0][1] == rows[-1][1]:
                rows = connection.execute(statement, (query.code, _MOST, shard)).fetchall()
                if len(rows) == _MOST and rows[0][1] == rows[-1][1]:
                    rows = _distances(connection, space, query, " WHERE v.shard = ?", (shard,)).get(shard, [])
            found += _best(connection, rows)
    except OperationalError as error:
        if not _is_the_extension(error):
            raise
        return None
    return found


def _by_scan(connection: Connection, space: str, query: Query, where: tuple[str, Sequence[object]]) -> list[int]:
    """The first pass by reading all codes that pass the filters."""
    condition, parameters = where
    joined = (
        f" JOIN passages p ON p.id = v.passage JOIN files f ON f.id = p.file WHERE {condition}" if condition else ""
    )
    shards = _distances(connection, space, query, joined, parameters)
    return [passage for shard in sorted(shards) for passage in _best(connection, shards[shard])]


def _distances(
    connection: Connection, space: str, query: Query, tail: str, parameters: Sequence[object]
) -> dict[int, list[tuple[int, int]]]:
    """shard → (passage, how many bits differ), nearest first."""
    shards: dict[int, list[tuple[int, int]]] = {}
    rows = connection.execute(f"SELECT v.passage, v.shard, v.code FROM {space}_vectors v{tail}", tuple(parameters))
    try:
        for passage, shard, bits in rows:
            shards.setdefault(shard, []).append((passage, query.distance(bits)))
    except TypeError as error:
        raise ValueError(f"a code that is no bytes ({error})") from None
    for one in shards.values():
        one.sort(key=lambda row: row[1])
    return shards


def _best(connection: Connection, rows: Sequence[tuple[int, float]]) -> list[int]:
    """Of a shard's passages, nearest first, those that the second pass looks at: the first ones, as far as they are
    nearer than what comes after them; where all of these are equally near, everything that is as near."""
    if len(rows) <= FROM_SHARD:
        return [passage for passage, _ in rows]
    after = rows[FROM_SHARD][1]
    better = [passage for passage, distance in rows[:FROM_SHARD] if distance < after]
    return better or _first(connection, [passage for passage, distance in rows if distance == after], FROM_TIES)


def _first(connection: Connection, passages: Sequence[int], size: int) -> list[int]:
    """The first of some passages by where they stand."""
    if len(passages) <= size:
        return list(passages)
    places: list[tuple[str, int, int]] = []
    for start in range(0, len(passages), _PART):
        part = passages[start : start + _PART]
        places += connection.execute(
            "SELECT f.path, p.position, p.id FROM passages p JOIN files f ON f.id = p.file"
            f" WHERE p.id IN ({', '.join('?' * len(part))})",
            part,
        )
    return [passage for _, _, passage in sorted(places)[:size]]


def _reordered(connection: Connection, space: str, query: Query, passages: Sequence[int], size: int) -> list[int]:
    """The best of many by the extension's own cosine, and all that may be as good as the last of them.

    All of them where it refuses one, which is damaged: the second pass says so.
    """
    found: list[tuple[float, int]] = []
    try:
        for start in range(0, len(passages), _PART):
            part = passages[start : start + _PART]
            upper = f"vec_int8(substr(vector, 1, {len(query.upper)}))"
            found += connection.execute(
                f"SELECT ifnull(vec_distance_cosine({upper}, vec_int8(?)), 1.0), passage"
                f" FROM {space}_vectors WHERE passage IN ({', '.join('?' * len(part))})",
                (query.upper, *part),
            )
    except OperationalError as error:
        if not _is_the_extension(error):
            raise
        return list(passages)
    found.sort()
    last = found[min(size, len(found) - 1)][0] + 2 * _ROUNDING
    return [passage for distance, passage in found if distance <= last]


def _shard(key: str) -> int:
    return int(key[-2:], 16) % SHARDS


def _nearest_insert(connection: Connection, space: str, rows: Sequence[tuple[int, int, bytes]]) -> None:
    with _unless_it_fails(connection, space):
        connection.executemany(f"INSERT INTO {space}_nearest (passage, shard, code) VALUES (?, ?, vec_bit(?))", rows)


@contextlib.contextmanager
def _unless_it_fails(connection: Connection, space: str) -> Iterator[None]:
    """For what is written to the extension's table. Without the extension, or where that refuses, the table is behind,
    and whoever has the extension makes it again."""
    try:
        yield
    except OperationalError as error:
        if not _is_the_extension(error):
            raise
        _set_step(connection, space, "behind")


def _is_the_extension(error: OperationalError) -> bool:
    """Whether it is not there or has refused, rather than SQLite (a full disk, a lock)."""
    return (getattr(error, "sqlite_errorcode", _ERROR) & 0xFF) == _ERROR


def _step(connection: Connection, space: str) -> str:
    """Whether the extension's table says what the space holds: yes, behind, or "" where there is none."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (f"{space}_nearest",)).fetchone()
    return str(row[0]) if row else ""


def _in_step(connection: Connection, space: str) -> bool:
    return _step(connection, space) == "yes"


def _set_step(connection: Connection, space: str, step: str) -> None:
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (f"{space}_nearest", step))
