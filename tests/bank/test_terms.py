"""The full-text index's terms: made of stored rows alone, so that what was put in can be taken out again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openclaw_memory.bank import schema
from openclaw_memory.bank.driver import Connection, connect
from openclaw_memory.bank.index import transaction
from openclaw_memory.bank.store import delete_file, write_file
from openclaw_memory.bank.terms import (
    CONTEXT,
    PassageRow,
    date_words,
    delete_terms,
    insert_terms,
    passage_terms,
)
from openclaw_memory.parsers.parse import parse_file
from openclaw_memory.parsers.scripts import spaced

DAY = date(2026, 1, 5)

texts = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=30),
    st.sampled_from(
        ("喜欢喝绿茶", "สวัสดีครับ", "naïve Cafés", "running runs", 'a "quoted" AND b*', "ZX-4417", "a\0b", "")
    ),
)
days = st.none() | st.dates(date(1900, 1, 1), date(2100, 1, 1)).map(date.toordinal)
spans = st.lists(st.tuples(st.integers(600_000, 760_000), st.integers(0, 400)), max_size=3).map(
    lambda pairs: json.dumps([[first, first + length] for first, length in pairs])
)
entities = st.lists(texts, max_size=3).map(lambda names: json.dumps(names, ensure_ascii=False))
headings = st.sampled_from(("", "Log", "Retain", "散歩"))
rows = st.lists(st.tuples(texts, texts, headings, entities, days, spans), max_size=6).map(
    lambda many: [PassageRow(number, *one) for number, one in enumerate(many, 1)]
)


@pytest.fixture
def index() -> Iterator[Connection]:
    connection = connect(":memory:")
    with transaction(connection):
        schema.create(connection)
    yield connection
    connection.close()


def dump(connection: Connection, table: str) -> dict[str, Any]:
    """The whole full-text table: every word with its place, each row's sizes, and the totals that bm25 divides by."""
    connection.execute(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")
    connection.execute(
        f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.{table}_seen USING fts5vocab('main', '{table}', 'instance')"
    )
    totals = connection.execute(f"SELECT hex(block) FROM {table}_data WHERE id = 1").fetchone()[0]
    return {
        "words": sorted(connection.execute(f"SELECT * FROM temp.{table}_seen")),
        "sizes": sorted(connection.execute(f"SELECT id, hex(sz) FROM {table}_docsize")),
        "totals": totals if totals.strip("0") else "",
    }


@given(rows)
def test_terms_are_a_pure_function_of_the_rows(given_rows: list[PassageRow]) -> None:
    once = list(passage_terms(given_rows))
    assert list(passage_terms([PassageRow(*row) for row in given_rows])) == once
    assert [row[0] for row in once] == [row.id for row in given_rows]


@given(rows, st.integers(1, 1000))
def test_terms_do_not_depend_on_row_numbers(given_rows: list[PassageRow], by: int) -> None:
    moved = [row._replace(id=row.id + by) for row in given_rows]
    assert [row[1:] for row in passage_terms(moved)] == [row[1:] for row in passage_terms(given_rows)]


@given(st.lists(st.sampled_from(("A", "B")), min_size=1, max_size=9))
def test_context_is_the_near_passages_under_the_same_heading(under: list[str]) -> None:
    given_rows = [PassageRow(n, f"text{n}", "", heading, "[]", None, "[]") for n, heading in enumerate(under)]
    for number, (_, text, context, _, _) in enumerate(passage_terms(given_rows)):
        near = [n for n, heading in enumerate(under) if heading == under[number] and 0 < abs(n - number) <= CONTEXT]
        assert text == f"text{number}"
        assert context.split("\n") == [under[number], *(f"text{n}" for n in near)]


def test_the_words_of_a_day() -> None:
    assert date_words(None, []) == ""
    assert date_words(DAY.toordinal(), []) == "2026-01-05 2026 January 5 Monday"
    span = [DAY.toordinal(), DAY.toordinal()]
    assert date_words(None, [span]) == "2026 January 5 2026-01-05"
    assert date_words(None, [[span[0], span[0] + 3]]) == "2026 January"


@settings(deadline=None, max_examples=60)
@given(rows, rows)
def test_deleting_what_was_inserted_leaves_the_table_as_it_was(kept: list[PassageRow], gone: list[PassageRow]) -> None:
    connection = connect(":memory:")
    try:
        with transaction(connection):
            schema.create(connection)
        gone = [row._replace(id=row.id + 100) for row in gone]
        insert_terms(connection, "passage_terms", passage_terms(kept))
        insert_terms(connection, "chunk_terms", [(row.id, row.text, row.heading) for row in kept])
        before = dump(connection, "passage_terms"), dump(connection, "chunk_terms")
        with transaction(connection):
            insert_terms(connection, "passage_terms", passage_terms(gone))
            insert_terms(connection, "chunk_terms", [(row.id, row.text, row.heading) for row in gone])
        with transaction(connection):
            delete_terms(connection, "passage_terms", passage_terms(gone))
            delete_terms(connection, "chunk_terms", [(row.id, row.text, row.heading) for row in gone])
        assert (dump(connection, "passage_terms"), dump(connection, "chunk_terms")) == before
        delete_terms(connection, "passage_terms", passage_terms(kept))
        assert dump(connection, "passage_terms") == {"words": [], "sizes": [], "totals": ""}
    finally:
        connection.close()


@settings(deadline=None, max_examples=60)
@given(st.lists(texts, max_size=8), st.lists(texts, max_size=8))
def test_a_file_that_is_written_over_and_deleted_leaves_no_trace(first: list[str], second: list[str]) -> None:
    connection = connect(":memory:")
    try:
        with transaction(connection):
            schema.create(connection)
        path = "memory/2026-01-05.md"
        parsed = [
            parse_file("# T\n\n## Retain\n" + "\n".join(f"- W @Ana: {x}" for x in lines), path)
            for lines in (first, second)
        ]
        other = parse_file("- W @Peter: Lives in Lisbon since 2019.", "memory/2026-01-06.md")
        write_file(connection, other, (1, 1, 1, 1), 1, "")
        before = dump(connection, "passage_terms"), dump(connection, "chunk_terms")
        number = write_file(connection, parsed[0], (1, 1, 1, 1), 1, "")
        write_file(connection, parsed[1], (1, 1, 1, 1), 1, "", number)
        delete_file(connection, number)
        assert (dump(connection, "passage_terms"), dump(connection, "chunk_terms")) == before
        for table in ("passages", "mentions", "names", "spans", "chunks", "files"):
            alone = {"files": 1, "passages": 1, "mentions": 1, "names": 1, "chunks": 1, "spans": 1}[table]
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == alone
    finally:
        connection.close()


@given(texts)
def test_spacing_keeps_every_character(text: str) -> None:
    assert "".join(spaced(text).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("她喜欢喝绿茶", ['"绿 茶"', '"喝"', '"喜 欢 喝 绿 茶"']),
        ("東京に住んでいる", ['"東 京"', '"に"']),
        ("서울에서 만났다", ['"서 울"', '"만"']),
        ("Running in the Cafés", ["run", "cafe", "running"]),
    ],
)
def test_any_part_of_an_unspaced_run_is_found(index: Connection, text: str, found: list[str]) -> None:
    insert_terms(index, "passage_terms", passage_terms([PassageRow(7, text, "", "", "[]", None, "[]")]))
    for match in found:
        assert index.execute("SELECT rowid FROM passage_terms WHERE passage_terms MATCH ?", (match,)).fetchall() == [
            (7,)
        ]
