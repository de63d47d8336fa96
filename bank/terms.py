"""What the full-text index holds for a passage: its text in a form that words can be found in, and its context.

Scripts without spaces (Chinese, Japanese, Thai, …) are indexed character by character, so that any part of a run can be
found as a phrase of one-character words; Hangul too, whose particles hang on to the words. Everything else is left to
FTS5's own tokenizer.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import Any, NamedTuple

from ..parsers.scripts import spaced
from .schema import TOKENIZER

#: How many passages before and after one lend it their words.
CONTEXT = 2
_MONTHS = "January February March April May June July August September October November December".split()
_WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
#: bm25 weights of the columns: text, context, names, dates.
COLUMN_WEIGHTS = (1.0, 0.3, 0.3, 0.5)


class PassageRow(NamedTuple):
    """The stored columns that a passage's terms are made of."""

    id: int
    text: str
    details: str
    heading: str
    entities: str
    day: int | None
    spans: str


def date_words(day: int | None, spans: Sequence[Sequence[int]]) -> str:
    """The words that a question may use for a passage's day and for the days that it speaks of."""
    words = []
    if day is not None:
        own = date.fromordinal(day)
        words += [
            own.isoformat(),
            str(own.year),
            _MONTHS[own.month - 1],
            str(own.day),
            _WEEKDAYS[own.weekday()],
        ]
    for first, last in spans:
        start = date.fromordinal(first)
        words += [str(start.year), _MONTHS[start.month - 1]]
        if first == last:
            words += [str(start.day), start.isoformat()]
    return " ".join(words)


def passage_terms(rows: Sequence[PassageRow]) -> Iterator[tuple[int, str, str, str, str]]:
    """(id, text, context, names, dates) for all passages of one file, in order.

    A pure function of the stored rows: what was put into the index can be taken out of it again.
    """
    texts = [spaced(f"{row.text}\n{row.details}" if row.details else row.text) for row in rows]
    for number, row in enumerate(rows):
        near = range(max(0, number - CONTEXT), min(len(rows), number + CONTEXT + 1))
        context = [texts[n] for n in near if n != number and rows[n].heading == row.heading]
        names = spaced(" ".join(json.loads(row.entities)))
        dates = date_words(row.day, json.loads(row.spans))
        yield row.id, texts[number], "\n".join([spaced(row.heading), *context]), names, dates


#: Terms shorter than this have no relatives.
SHORTEST_TERM = 4
_REMEMBER = (
    "INSERT OR IGNORE INTO known_terms SELECT term, replace(term, 'ı', 'i') FROM {} WHERE length(term) >= "
    f"{SHORTEST_TERM}"
)


def remember_all_terms(connection: Any) -> None:
    """Put every term of the vocabulary among the known ones."""
    connection.execute(_REMEMBER.format("vocabulary"))


def remember_terms(connection: Any, files: Iterable[int]) -> None:
    """Put the terms of some files' passages among the known ones, without looking through the vocabulary."""
    connection.execute(f"CREATE VIRTUAL TABLE temp.fresh USING fts5(terms, tokenize='{TOKENIZER}')")
    connection.execute("CREATE VIRTUAL TABLE temp.fresh_vocabulary USING fts5vocab('temp', 'fresh', 'row')")
    for file in files:
        rows = passage_terms(stored_rows(connection, file))
        connection.executemany("INSERT INTO temp.fresh VALUES (?)", [("\n".join(row[1:]),) for row in rows])
    connection.execute(_REMEMBER.format("temp.fresh_vocabulary"))
    connection.execute("DROP TABLE temp.fresh_vocabulary")
    connection.execute("DROP TABLE temp.fresh")


def stored_rows(connection: Any, file: int) -> list[PassageRow]:
    """What the terms of a file's passages are made of, in order."""
    rows = connection.execute(
        "SELECT id, text, details, heading, entities, day, spans FROM passages WHERE file = ? ORDER BY position",
        (file,),
    )
    return [PassageRow(*row) for row in rows]


#: The columns of the full-text tables, in order.
_COLUMNS = {"passage_terms": "text, context, names, dates", "chunk_terms": "text, heading"}


def delete_terms(connection: Any, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
    """Take rows (id, columns…) out of a contentless full-text table."""
    columns = _COLUMNS[table]
    marks = ", ".join("?" * (columns.count(",") + 2))
    connection.executemany(f"INSERT INTO {table} ({table}, rowid, {columns}) VALUES ('delete', {marks})", rows)


def insert_terms(connection: Any, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
    """Put rows (id, columns…) into a contentless full-text table."""
    columns = _COLUMNS[table]
    marks = ", ".join("?" * (columns.count(",") + 2))
    connection.executemany(f"INSERT INTO {table} (rowid, {columns}) VALUES ({marks})", rows)
