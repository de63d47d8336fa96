"""The index's tables, as an append-only list of migrations, and the stamp of what filled them.

Nothing in these tables is a source of anything: every row can be made again from the Markdown. So an index that was
made by other migrations, or under another ``fingerprint``, is not converted but set aside and built anew.
"""

from __future__ import annotations

import sys
import unicodedata
from typing import TYPE_CHECKING

from . import spaces
from .driver import Connection
from .static_space import model_mark

if TYPE_CHECKING:
    from sqlite_utils import Database

#: Raise this when parsing or the index's terms change in a way that changes rows.
FORMAT = 4
TOKENIZER = "porter unicode61 remove_diacritics 2"

MIGRATIONS = ("m001_files_and_passages", "m002_full_text", "m003_vectors", "m004_graph", "m005_judgements")


def fingerprint() -> str:
    """What rows depend on besides the Markdown: this format, the migrations, the built-in model's table, Python's
    Unicode tables."""
    return f"{FORMAT} {MIGRATIONS[-1]} {model_mark()} unicode-{unicodedata.unidata_version} {sys.byteorder}"


def m001_files_and_passages(database: Database) -> None:
    for statement in (
        "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
        # size, mtime_ns, ctime_ns, inode: as stat saw it; read_ns: the clock when it was read; day: proleptic ordinal.
        "CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, role TEXT NOT NULL, day INTEGER,"
        " title TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL,"
        " inode INTEGER NOT NULL, read_ns INTEGER NOT NULL, hash TEXT NOT NULL)",
        # One row for each place where something is said; key is equal for one thing said in several places.
        # position: order in the file; day, first, last: proleptic ordinals; timely: 0 no time expression, 1 a weak one
        # (a clock time, a duration), 2 one that names days; spans: JSON [[first, last], …] of all of them.
        "CREATE TABLE passages (id INTEGER PRIMARY KEY, file INTEGER NOT NULL REFERENCES files(id),"
        " position INTEGER NOT NULL, key TEXT NOT NULL, kind TEXT NOT NULL, origin TEXT NOT NULL, text TEXT NOT NULL,"
        " details TEXT NOT NULL, line INTEGER NOT NULL, end_line INTEGER NOT NULL, day INTEGER, first INTEGER,"
        " last INTEGER, precision TEXT, timely INTEGER NOT NULL, spans TEXT NOT NULL, heading TEXT NOT NULL,"
        " confidence REAL, entities TEXT NOT NULL, evidence TEXT NOT NULL)",
        "CREATE INDEX passages_file ON passages(file, position)",
        "CREATE INDEX passages_key ON passages(key)",
        "CREATE INDEX passages_day ON passages(day)",
        "CREATE TABLE spans (passage INTEGER NOT NULL REFERENCES passages(id), first INTEGER NOT NULL,"
        " last INTEGER NOT NULL)",
        "CREATE INDEX spans_first ON spans(first, last)",
        "CREATE INDEX spans_passage ON spans(passage)",
        # Which entities a passage names; slug is the folded name.
        "CREATE TABLE mentions (passage INTEGER NOT NULL REFERENCES passages(id), slug TEXT NOT NULL)",
        "CREATE INDEX mentions_slug ON mentions(slug, passage)",
        "CREATE INDEX mentions_passage ON mentions(passage)",
        # Names as written in a file, and how often; source: mention, page (a page's own name), alias (of that page).
        "CREATE TABLE names (slug TEXT NOT NULL, name TEXT NOT NULL, source TEXT NOT NULL, page TEXT NOT NULL,"
        " uses INTEGER NOT NULL, file INTEGER NOT NULL REFERENCES files(id))",
        "CREATE INDEX names_slug ON names(slug)",
        "CREATE INDEX names_file ON names(file)",
        "CREATE INDEX names_page ON names(page) WHERE page <> ''",
        "CREATE TABLE chunks (id INTEGER PRIMARY KEY, file INTEGER NOT NULL REFERENCES files(id),"
        " line INTEGER NOT NULL, end_line INTEGER NOT NULL, heading TEXT NOT NULL, text TEXT NOT NULL)",
        "CREATE INDEX chunks_file ON chunks(file, line)",
    ):
        database.execute(statement)


def m002_full_text(database: Database) -> None:
    for statement in (
        "CREATE VIRTUAL TABLE passage_terms USING"
        f" fts5(text, context, names, dates, content='', tokenize='{TOKENIZER}')",
        f"CREATE VIRTUAL TABLE chunk_terms USING fts5(text, heading, content='', tokenize='{TOKENIZER}')",
        "CREATE VIRTUAL TABLE vocabulary USING fts5vocab('passage_terms', 'row')",
        # The terms of the vocabulary that have ever been there, which is quicker to look through than the vocabulary;
        # form: the term as words are compared.
        "CREATE TABLE known_terms (term TEXT PRIMARY KEY, form TEXT NOT NULL) WITHOUT ROWID",
    ):
        database.execute(statement)


def m003_vectors(database: Database) -> None:
    for space in (spaces.STATIC, spaces.MODEL):
        database.execute(spaces.table(space))


def m004_graph(database: Database) -> None:
    from .graph import TABLES

    for statement in TABLES:
        database.execute(statement)


def m005_judgements(database: Database) -> None:
    for statement in (
        # What a passage says of others outright; target: an id or its start, or a place ("path#L5").
        "CREATE TABLE relations (passage INTEGER NOT NULL REFERENCES passages(id), kind TEXT NOT NULL,"
        " target TEXT NOT NULL, strong INTEGER NOT NULL)",
        "CREATE INDEX relations_passage ON relations(passage)",
        "CREATE INDEX relations_target ON relations(target)",
        # What the pages of reflect say of passages, by key: an opinion's confidence by now; since when and until when a
        # fact held (proleptic ordinals), and what took its place.
        "CREATE TABLE judgements (file INTEGER NOT NULL REFERENCES files(id), key TEXT NOT NULL, confidence REAL,"
        " first INTEGER, last INTEGER, successor TEXT NOT NULL)",
        "CREATE INDEX judgements_file ON judgements(file)",
        "CREATE INDEX judgements_key ON judgements(key)",
    ):
        database.execute(statement)


def create(connection: Connection) -> None:
    """Make the tables of an empty index; the caller holds a write transaction."""
    from sqlite_utils import Database, Migrations

    migrations = Migrations("openclaw-memory")
    for migration in (m001_files_and_passages, m002_full_text, m003_vectors, m004_graph, m005_judgements):
        migrations()(migration)
    migrations.apply(Database(connection, execute_plugins=False))
    connection.execute("INSERT INTO meta VALUES ('fingerprint', ?)", [fingerprint()])


def mark_filled(connection: Connection) -> None:
    """Say that the index has been filled once: until then there is nothing in it to answer from."""
    connection.execute("INSERT OR IGNORE INTO meta VALUES ('filled', 'yes')")
