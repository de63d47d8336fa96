"""One parsed file's rows: written, taken out, moved. The only module that writes to the index's tables."""

import json
import os
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from ..parsers.days import PAGE
from ..parsers.names import fold
from ..parsers.records import Fact, Interval, Note, ParsedFile, TimeExpression
from ..parsers.scripts import spaced
from . import spaces
from .driver import Connection
from .scan import Seen
from .terms import PassageRow, delete_terms, insert_terms, passage_terms, stored_rows

_LONGEST_SPANS = 8


class FileRow(NamedTuple):
    """A file as the index knows it."""

    id: int
    path: str
    hash: str


#: What ``stat`` saw (``Seen``), and read_ns: the clock when the file was read.
Stamp = tuple[int, int, int, int, int]


def stored_stamps(connection: Connection) -> dict[str, Stamp]:
    """How each indexed file looked when it was last read, by path."""
    rows = connection.execute("SELECT path, size, mtime_ns, ctime_ns, inode, read_ns FROM files")
    return {row[0]: row[1:] for row in rows}


def stored_file(connection: Connection, path: str) -> FileRow | None:
    """An indexed file, or None."""
    row = connection.execute("SELECT id, path, hash FROM files WHERE path = ?", (path,)).fetchone()
    return FileRow(*row) if row else None


def write_file(
    connection: Connection,
    parsed: ParsedFile,
    seen: Seen,
    read_ns: int,
    digest: str,
    file_id: int | None = None,
) -> int:
    """Write all rows of a file and return its id; ``file_id`` puts them in place of that file's."""
    row = (parsed.path, parsed.role, _ordinal(parsed.day), parsed.title, *seen, read_ns, digest)
    if file_id is None:
        file_id = connection.execute(
            "INSERT INTO files (path, role, day, title, size, mtime_ns, ctime_ns, inode, read_ns, hash)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            row,
        ).lastrowid
    else:
        _clear(connection, file_id)
        connection.execute(
            "UPDATE files SET path = ?, role = ?, day = ?, title = ?, size = ?, mtime_ns = ?, ctime_ns = ?, inode = ?,"
            " read_ns = ?, hash = ? WHERE id = ?",
            (*row, file_id),
        )
    assert file_id is not None
    own = entity_of_page(parsed)
    _write_passages(connection, file_id, parsed, own)
    _write_names(connection, file_id, parsed, own)
    _write_judgements(connection, file_id, parsed)
    chunks = []
    for chunk in parsed.chunks:
        key = connection.execute(
            "INSERT INTO chunks (file, line, end_line, heading, text) VALUES (?, ?, ?, ?, ?)",
            (file_id, chunk.line, chunk.end_line, chunk.heading, chunk.text),
        ).lastrowid
        chunks.append((key, spaced(chunk.text), spaced(chunk.heading)))
    insert_terms(connection, "chunk_terms", chunks)
    return file_id


def touch_file(connection: Connection, file_id: int, seen: Seen, read_ns: int) -> None:
    """Remember how a file looks that was read again and holds the same bytes."""
    connection.execute(
        "UPDATE files SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ?, read_ns = ? WHERE id = ?",
        (*seen, read_ns, file_id),
    )


def move_file(connection: Connection, file_id: int, path: str, seen: Seen, read_ns: int) -> None:
    """A renamed file whose role and day are the same keeps every row."""
    connection.execute("UPDATE files SET path = ? WHERE id = ?", (path, file_id))
    touch_file(connection, file_id, seen, read_ns)


def delete_file(connection: Connection, file_id: int) -> None:
    """Take a file and all its rows out."""
    _clear(connection, file_id)
    connection.execute("DELETE FROM files WHERE id = ?", (file_id,))


def entity_of_page(parsed: ParsedFile) -> str:
    """The entity that a page below ``bank/entities/`` is about (its file's name), or ""."""
    if parsed.role != PAGE or "/entities/" not in parsed.path:
        return ""
    return os.path.basename(parsed.path).removesuffix(".md")


def _clear(connection: Connection, file_id: int) -> None:
    rows = stored_rows(connection, file_id)
    delete_terms(connection, "passage_terms", passage_terms(rows))
    chunks = connection.execute("SELECT id, text, heading FROM chunks WHERE file = ?", (file_id,)).fetchall()
    delete_terms(connection, "chunk_terms", [(key, spaced(text), spaced(heading)) for key, text, heading in chunks])
    ids = [(row.id,) for row in rows]
    for space in (spaces.STATIC, spaces.MODEL):
        spaces.delete(connection, space, [row.id for row in rows])
    connection.executemany("DELETE FROM spans WHERE passage = ?", ids)
    connection.executemany("DELETE FROM mentions WHERE passage = ?", ids)
    connection.executemany("DELETE FROM relations WHERE passage = ?", ids)
    for table in ("passages", "names", "chunks", "judgements"):
        connection.execute(f"DELETE FROM {table} WHERE file = ?", (file_id,))


def _write_passages(connection: Connection, file_id: int, parsed: ParsedFile, own: str) -> None:
    records: list[Fact | Note] = sorted([*parsed.facts, *parsed.notes], key=lambda r: (r.line, r.end_line))
    rows: list[PassageRow] = []
    for position, record in enumerate(records):
        values = _values(record)
        key = connection.execute(
            "INSERT INTO passages (file, position, key, kind, origin, text, details, line, end_line, day, first, last,"
            " precision, timely, spans, heading, confidence, entities, evidence)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (file_id, position, *values),
        ).lastrowid
        assert key is not None
        rows.append(PassageRow(key, values[3], values[4], values[13], values[15], values[7], values[12]))
        slugs = {fold(name) for name in (*record.entities, *([own] if own else []))} - {""}
        connection.executemany("INSERT INTO mentions VALUES (?, ?)", [(key, slug) for slug in sorted(slugs)])
        spans = json.loads(values[12])
        connection.executemany("INSERT INTO spans VALUES (?, ?, ?)", [(key, *span) for span in spans])
        if isinstance(record, Fact):
            linked = [(key, one.kind, one.target.removeprefix("^"), one.strong) for one in record.relations]
            connection.executemany("INSERT INTO relations VALUES (?, ?, ?, ?)", linked)
    insert_terms(connection, "passage_terms", passage_terms(rows))


def _values(record: Fact | Note) -> tuple[Any, ...]:
    """key, kind, origin, text, details, line, end_line, day, first, last, precision, timely, spans, heading,
    confidence, entities, evidence."""
    fact = record if isinstance(record, Fact) else None
    details = "\n".join(fact.details) if fact else ""
    spans, timely = time_spans(record.times)
    when = record.occurred
    return (
        record.id,
        fact.kind if fact else "note",
        "stated" if isinstance(record, Fact) else record.origin,
        record.text,
        details,
        record.line,
        record.end_line,
        _ordinal(record.day),
        when.first.toordinal() if when else None,
        when.last.toordinal() if when else None,
        when.precision if when else None,
        timely,
        json.dumps(spans),
        record.heading,
        fact.confidence if fact else None,
        json.dumps(record.entities, ensure_ascii=False),
        json.dumps(fact.evidence if fact else (), ensure_ascii=False),
    )


def time_spans(times: Iterable[TimeExpression]) -> tuple[list[list[int]], int]:
    """The days that a passage speaks of, and how strongly it speaks of time (0, 1, 2)."""
    spans: list[list[int]] = []
    timely = 0
    for found in times:
        days: Interval | None = found.interval
        if days is None or found.source == "clock":
            timely = max(timely, 1)
            continue
        timely = 2
        span = [days.first.toordinal(), days.last.toordinal()]
        if span not in spans and len(spans) < _LONGEST_SPANS:
            spans.append(span)
    return spans, timely


def _write_names(connection: Connection, file_id: int, parsed: ParsedFile, own: str) -> None:
    records: list[Fact | Note] = [*parsed.facts, *parsed.notes]
    uses = Counter(name for record in records for name in record.entities)
    page = fold(own)
    rows = [(name, "mention", "", count) for name, count in uses.items()]
    if page:
        rows += [
            (own, "page", page, 0),
            *((alias, "alias", page, 0) for alias in dict.fromkeys(parsed.aliases)),
        ]
    connection.executemany(
        "INSERT INTO names (slug, name, source, page, uses, file) VALUES (?, ?, ?, ?, ?, ?)",
        [(fold(name), name, source, of, count, file_id) for name, source, of, count in rows if fold(name)],
    )


def _write_judgements(connection: Connection, file_id: int, parsed: ParsedFile) -> None:
    rows = [(file_id, j.key, j.confidence, _ordinal(j.first), _ordinal(j.last), j.successor) for j in parsed.judgements]
    connection.executemany("INSERT INTO judgements VALUES (?, ?, ?, ?, ?, ?)", rows)


def _ordinal(day: Any) -> int | None:
    return None if day is None else int(day.toordinal())


def count_rows(connection: Connection, tables: Iterable[str] = ("files", "passages", "chunks")) -> dict[str, int]:
    """How many rows each table holds."""
    return {table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables}
