"""The derived index can be thrown away: damaged, foreign or gone, it is built again, and reading changes nothing."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from openclaw_memory.bank import index as index_module
from openclaw_memory.bank import schema
from openclaw_memory.bank.driver import Connection, DatabaseError, connect
from openclaw_memory.bank.errors import MemoryFault
from openclaw_memory.bank.freshness import ask_fresh, open_fresh
from openclaw_memory.bank.index import PAGE_SIZE, SET_ASIDE, IndexUnusable, open_to_read, remove
from openclaw_memory.bank.sync import pending_changes, sync
from openclaw_memory.bank.workspace import Workspace
from openclaw_memory.recall.engine import rank, recall
from openclaw_memory.recall.filters import Filters
from openclaw_memory.recall.search import memory_search

NOW = datetime(2025, 12, 6, 9, tzinfo=UTC)
DEMO = Path(__file__).parents[2] / "workspace_template" / "demo"
QUESTIONS = ("what does Peter prefer?", "what happened last week", "heating", "releases on Tuesday")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path / "workspace"
    shutil.copytree(DEMO, root)
    workspace = Workspace.open(str(root))
    sync(workspace)
    return workspace


def everything(workspace: Workspace, connection: Connection) -> list[Any]:
    """What all tables say to all questions: reads every page that questions read."""
    found: list[Any] = []
    for question in QUESTIONS:
        ranked, best, *_ = rank(workspace, connection, question, now=NOW, filters=Filters())
        found.append((best, [(one.passage[1:20], one.score) for one in ranked]))
    for table in ("passages", "mentions", "spans", "names", "chunks"):
        columns = "text" if table in ("passages", "chunks") else "*"
        found.append(len(connection.execute(f"SELECT {columns} FROM {table}").fetchall()))
    return found


def answers(workspace: Workspace, **options: Any) -> tuple[list[Any], list[str]]:
    """What recall and search find, and their warnings."""
    bundles = [recall(workspace, question, now=NOW, **options) for question in QUESTIONS]
    bundles += [memory_search(workspace, question, now=NOW, **options) for question in QUESTIONS]
    return [one["results"] for one in bundles], [one["warning"] for one in bundles if one.get("warning")]


def spoil(workspace: Workspace, start: int, data: bytes) -> None:
    with open(workspace.index_path, "r+b") as file:
        file.seek(start)
        file.write(data)


def execute(workspace: Workspace, *statements: str) -> None:
    connection = connect(workspace.index_path)
    try:
        for statement in statements:
            connection.execute(statement)
    finally:
        connection.close()


def replace(workspace: Workspace, data: bytes) -> None:
    Path(workspace.index_path).write_bytes(data)


def half_created(workspace: Workspace) -> None:
    replace(workspace, b"")
    execute(workspace, "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)")


def truncated(workspace: Workspace) -> None:
    os.truncate(workspace.index_path, 1000)


UNUSABLE: dict[str, Callable[[Workspace], object]] = {
    "random bytes over the header": lambda w: spoil(w, 0, random.Random(1).randbytes(100)),
    "a truncated file": truncated,
    "a garbage file": lambda w: replace(w, random.Random(2).randbytes(20_000)),
    "a text file": lambda w: replace(w, b"# not an index\n" * 500),
    "an empty file": lambda w: replace(w, b""),
    "an older fingerprint": lambda w: execute(w, "UPDATE meta SET value = '0 m000 unicode-1.0 big'"),
    "no fingerprint": lambda w: execute(w, "DELETE FROM meta"),
    "no tables but one": half_created,
    "no table of files": lambda w: execute(w, "PRAGMA foreign_keys=OFF", "DROP TABLE files"),
    "a lost page of files": lambda w: spoil(w, page_of(w, "files") * PAGE_SIZE, b"\xa5" * PAGE_SIZE),
}


def page_of(workspace: Workspace, table: str) -> int:
    """The 0-based number of a table's first page."""
    connection = connect(workspace.index_path)
    try:
        query = "SELECT rootpage - 1 FROM sqlite_schema WHERE name = ?"
        return int(connection.execute(query, (table,)).fetchone()[0])
    finally:
        connection.close()


@pytest.mark.parametrize("how", UNUSABLE)
def test_an_unusable_index_is_set_aside_once_and_built_again_with_one_note(workspace: Workspace, how: str) -> None:
    before, warnings = answers(workspace)
    assert warnings == []
    UNUSABLE[how](workspace)
    spoiled = Path(workspace.index_path).read_bytes()
    after, warnings = answers(workspace)
    assert after == before
    assert len(warnings) == 1
    assert "set aside" in warnings[0]
    assert "\n" not in warnings[0]
    assert "; the index" not in warnings[0]
    assert Path(workspace.index_path + SET_ASIDE).read_bytes() == spoiled
    assert answers(workspace) == (before, [])


@pytest.mark.parametrize("how", UNUSABLE)
def test_a_sync_says_in_its_report_that_it_set_the_index_aside(workspace: Workspace, how: str) -> None:
    before = answers(workspace)
    UNUSABLE[how](workspace)
    report = sync(workspace)
    assert "set aside" in report.note
    assert len(report.added) == report.files
    assert sync(workspace).note == ""
    assert answers(workspace) == before


def test_without_sync_an_unusable_index_is_built_again_too(workspace: Workspace) -> None:
    before, _ = answers(workspace)
    replace(workspace, b"garbage" * 1000)
    after, warnings = answers(workspace, no_sync=True)
    assert (after, len(warnings)) == (before, 1)


def test_any_damaged_page_is_found_while_it_is_read_and_built_again(workspace: Workspace) -> None:
    """Every page of the index in turn: what a question meets is repaired, what none meets does no harm."""
    sound = Path(workspace.index_path).read_bytes()
    expected, _ = ask_fresh(workspace, partial(everything, workspace))
    built_again = 0
    for page in range(0, len(sound) // PAGE_SIZE, 3):
        noise = random.Random(page).randbytes(PAGE_SIZE)
        replace(workspace, sound[: page * PAGE_SIZE] + noise + sound[(page + 1) * PAGE_SIZE :])
        found, fresh = ask_fresh(workspace, partial(everything, workspace))
        assert found == expected, page
        assert len(fresh.notes) <= 1
        if fresh.notes:
            built_again += 1
            assert "set aside and built again" in fresh.notes[0] or "set aside as" in fresh.notes[0]
            found, fresh = ask_fresh(workspace, partial(everything, workspace))
            assert (found, fresh.notes) == (expected, [])
    assert built_again > len(sound) // PAGE_SIZE // 6


@pytest.mark.parametrize("size", [0.2, 0.5, 0.9])
def test_an_index_that_lost_its_end_is_built_again(workspace: Workspace, size: float) -> None:
    expected, _ = ask_fresh(workspace, partial(everything, workspace))
    whole = os.path.getsize(workspace.index_path)
    os.truncate(workspace.index_path, int(whole * size) // PAGE_SIZE * PAGE_SIZE)
    found, fresh = ask_fresh(workspace, partial(everything, workspace))
    assert (found, len(fresh.notes)) == (expected, 1)


@pytest.mark.parametrize("table", ["mentions", "chunks", "passage_terms", "vocabulary", "spans"])
def test_an_index_that_lacks_a_table_is_built_again(workspace: Workspace, table: str) -> None:
    def ask(connection: Connection) -> list[Any]:
        return [everything(workspace, connection), connection.execute("SELECT count(*) FROM vocabulary").fetchone()]

    expected, _ = ask_fresh(workspace, ask)
    execute(workspace, f"DROP TABLE {table}")
    found, fresh = ask_fresh(workspace, ask)
    assert (found, len(fresh.notes)) == (expected, 1)


def test_a_wrong_statement_costs_no_index(workspace: Workspace) -> None:
    with pytest.raises(MemoryFault, match="syntax error"):
        ask_fresh(workspace, lambda connection: connection.execute("SELEC 1"))
    assert not Path(workspace.index_path + SET_ASIDE).exists()


def test_an_index_that_cannot_be_mended_is_one_line(workspace: Workspace) -> None:
    def ask(connection: Connection) -> None:
        raise DatabaseError("no good")

    with pytest.raises(MemoryFault, match="no good") as caught:
        ask_fresh(workspace, ask)
    assert "\n" not in str(caught.value)
    assert not answers(workspace)[1]


def test_recall_survives_damage_that_only_a_question_meets(workspace: Workspace) -> None:
    before, _ = answers(workspace)
    spoil(workspace, page_of(workspace, "passages") * PAGE_SIZE, b"\xa5" * PAGE_SIZE)
    after, warnings = answers(workspace)
    assert (after, len(warnings)) == (before, 1)


DAMAGED_VECTORS = {
    "cut": "vector = substr(vector, 1, 40)",
    "cut by one byte": "vector = substr(vector, 1, length(vector) - 1)",
    "cut by whole numbers": "vector = substr(vector, 1, length(vector) - 8)",
    "too long": "vector = vector || x'0000'",
    "empty": "vector = x''",
    "a text": "vector = 'not a vector'",
    "a number": "vector = 7",
    "a code that is a text": "code = 'not a code'",
    "a code and a vector that are texts": "code = 'not a code', vector = 'not a vector'",
}


@pytest.mark.parametrize("how", DAMAGED_VECTORS)
@pytest.mark.parametrize("few", [False, True], ids=["all", "the first few"])
def test_damaged_vectors_are_built_again(workspace: Workspace, how: str, few: bool) -> None:
    """A vector that was cut short ended every question with a traceback."""
    before, _ = answers(workspace)
    execute(workspace, f"UPDATE static_vectors SET {DAMAGED_VECTORS[how]} WHERE passage < {60 if few else 1_000_000}")
    after, warnings = answers(workspace)
    assert (after, len(warnings)) == (before, 1)
    assert "set aside and built again" in warnings[0]
    assert answers(workspace) == (before, [])


@pytest.mark.parametrize("what", ["code = zeroblob(length(code))", "vector = zeroblob(length(vector))"])
def test_vectors_of_zeros_say_nothing_and_end_no_question(workspace: Workspace, what: str) -> None:
    execute(workspace, f"UPDATE static_vectors SET {what}")
    found, warnings = answers(workspace)
    assert (all(found), warnings) == (True, [])


def test_a_creation_that_is_killed_leaves_nothing_half_made(workspace: Workspace) -> None:
    before, _ = answers(workspace)
    shutil.rmtree(workspace.index_dir)
    code = (
        "import os, sys; from openclaw_memory.bank import schema; from openclaw_memory.bank.sync import sync\n"
        "from openclaw_memory.bank.workspace import Workspace\n"
        "schema.fingerprint = lambda: os._exit(9)\n"
        "sync(Workspace.open(sys.argv[1]))"
    )
    assert subprocess.run([sys.executable, "-c", code, workspace.root]).returncode == 9
    connection = connect(workspace.index_path)
    assert connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,)
    connection.close()
    after, warnings = answers(workspace)
    assert after == before
    assert len(warnings) == 1


def test_only_the_last_index_is_kept_aside(workspace: Workspace) -> None:
    for filling in (b"first" * 1000, b"second" * 1000):
        replace(workspace, filling)
        sync(workspace)
    assert Path(workspace.index_path + SET_ASIDE).read_bytes() == b"second" * 1000
    kept = [name for name in os.listdir(workspace.index_dir) if "aside" in name]
    assert kept == [f"index.sqlite{SET_ASIDE}"]


def test_removing_leaves_the_lock_and_is_no_fault_when_nothing_is_there(workspace: Workspace) -> None:
    before, _ = answers(workspace)
    assert remove(workspace) == [".memory/index.sqlite"]
    assert remove(workspace) == []
    assert os.listdir(workspace.index_dir) == ["writer.lock"]
    assert answers(workspace) == (before, [])


# Deleted or renamed while it is used


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be deleted there")
def test_the_folder_is_deleted_while_a_reader_reads(workspace: Workspace) -> None:
    before, _ = answers(workspace)
    fresh = open_fresh(workspace)
    count = fresh.connection.execute("SELECT count(*) FROM passages").fetchone()
    shutil.rmtree(workspace.index_dir)
    assert fresh.connection.execute("SELECT count(*) FROM passages").fetchone() == count
    assert answers(workspace) == (before, [])
    fresh.connection.close()
    assert answers(workspace) == (before, [])


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be deleted there")
@pytest.mark.parametrize("at", [0, 5])
def test_the_folder_is_deleted_while_a_sync_runs(workspace: Workspace, at: int) -> None:
    before, _ = answers(workspace)
    shutil.rmtree(workspace.index_dir)
    sync(workspace, progress=lambda done, total: shutil.rmtree(workspace.index_dir) if done == at else None)
    assert answers(workspace) == (before, [])


def test_an_old_log_beside_a_new_index_is_not_read(workspace: Workspace) -> None:
    """What a crash between two steps of setting aside leaves: the write-ahead log without its index."""
    before, _ = answers(workspace)
    connection = connect(workspace.index_path)
    connection.execute("DELETE FROM meta")
    log = Path(workspace.index_path + "-wal").read_bytes()
    connection.close()
    assert log
    os.unlink(workspace.index_path)
    Path(workspace.index_path + "-wal").write_bytes(log)
    assert answers(workspace)[0] == before
    connection = connect(workspace.index_path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


# Permissions

Somebody = Callable[[], AbstractContextManager[None]]


@pytest.fixture
def closed(lent: Path) -> Iterator[Workspace]:
    """A workspace whose ``.memory`` cannot be written."""
    (lent / "memory").mkdir()
    (lent / "memory" / "a.md").write_text("- W @Peter: Lives in Lisbon.", encoding="utf-8")
    (lent / ".memory").mkdir()
    (lent / ".memory").chmod(0o555)
    yield Workspace.open(str(lent))
    (lent / ".memory").chmod(0o755)


def test_a_folder_that_cannot_be_written_is_one_clear_line(closed: Workspace, somebody: Somebody) -> None:
    with pytest.raises(MemoryFault) as caught, somebody():
        sync(closed)
    told = str(caught.value)
    assert "permission denied" in told
    assert closed.index_dir in told
    assert "\n" not in told
    with somebody():
        assert recall(closed, "Lisbon", now=NOW)["results"]
    assert os.listdir(closed.index_dir) == []


def test_a_folder_that_cannot_be_made_is_one_clear_line(lent: Path, somebody: Somebody) -> None:
    lent.chmod(0o555)
    try:
        with pytest.raises(MemoryFault, match="permission denied"), somebody():
            sync(Workspace.open(str(lent)))
    finally:
        lent.chmod(0o755)


def test_an_index_that_somebody_else_owns_is_set_aside(lent: Path, somebody: Somebody) -> None:
    (lent / "MEMORY.md").write_text("- Lisbon", encoding="utf-8")
    workspace = Workspace.open(str(lent))
    with somebody():
        sync(workspace)
    os.chmod(workspace.index_path, 0)
    with somebody():
        with pytest.raises(IndexUnusable, match="cannot be opened"):
            open_to_read(workspace)
        answer = recall(workspace, "Lisbon", now=NOW)
    assert [one["content"] for one in answer["results"]] == ["Lisbon"]
    assert "set aside" in answer["warning"]


def test_an_index_that_can_only_be_read_is_one_clear_line(lent: Path, somebody: Somebody) -> None:
    (lent / "MEMORY.md").write_text("- Lisbon", encoding="utf-8")
    workspace = Workspace.open(str(lent))
    with somebody():
        sync(workspace)
        os.chmod(workspace.index_path, 0o444)
    (lent / "MEMORY.md").write_text("- Porto and more", encoding="utf-8")
    with somebody(), pytest.raises(MemoryFault, match=r"readonly.*check who owns it") as caught:
        sync(workspace)
    assert "\n" not in str(caught.value)
    assert not Path(workspace.index_path + SET_ASIDE).exists()


# Reading never writes


def seen(folder: str, inside: Callable[[str], bool]) -> dict[str, tuple[int, int, int, bytes]]:
    """Every file below ``folder``: size, mtime, inode and bytes."""
    found = {}
    for top, _, names in os.walk(folder):
        for name in names:
            place = os.path.join(top, name)
            path = os.path.relpath(place, folder)
            if inside(path):
                status = os.stat(place)
                with open(place, "rb") as file:
                    found[path] = status.st_size, status.st_mtime_ns, status.st_ino, file.read()
    return found


@pytest.mark.parametrize("changed", [False, True], ids=["up to date", "behind"])
def test_reading_without_sync_writes_nothing(workspace: Workspace, changed: bool) -> None:
    if changed:
        Path(workspace.root, "memory", "new.md").write_text("- new", encoding="utf-8")
    before = seen(workspace.root, lambda path: True)
    connection = open_to_read(workspace)
    assert connection is not None
    assert bool(pending_changes(workspace, connection)) == changed
    with pytest.raises(DatabaseError, match="readonly"):
        connection.execute("DELETE FROM passages")
    connection.close()
    answers(workspace, no_sync=True)
    assert seen(workspace.root, lambda path: True) == before


def test_reading_what_is_up_to_date_writes_nothing(workspace: Workspace) -> None:
    before = seen(workspace.root, lambda path: True)
    answers(workspace)
    assert not sync(workspace).changed
    after = seen(workspace.root, lambda path: True)
    assert {path: one[3] for path, one in after.items()} == {path: one[3] for path, one in before.items()}
    assert {path: one for path, one in after.items() if ".memory" not in path} == {
        path: one for path, one in before.items() if ".memory" not in path
    }


def test_syncing_writes_to_no_markdown(workspace: Workspace) -> None:
    before = seen(workspace.root, lambda path: ".memory" not in path)
    sync(workspace, force=True)
    shutil.rmtree(workspace.index_dir)
    answers(workspace)
    assert seen(workspace.root, lambda path: ".memory" not in path) == before


def test_an_answer_is_of_one_moment(workspace: Workspace) -> None:
    connection = open_to_read(workspace)
    assert connection is not None
    first = everything(workspace, connection)
    shutil.rmtree(os.path.join(workspace.root, "memory"))
    assert sync(workspace).removed
    assert everything(workspace, connection) == first
    connection.close()


# The schema


def test_the_fingerprint_names_what_the_rows_depend_on(monkeypatch: pytest.MonkeyPatch) -> None:
    before = schema.fingerprint()
    assert schema.MIGRATIONS[-1] in before
    assert sys.byteorder in before
    monkeypatch.setattr(schema, "FORMAT", schema.FORMAT + 1)
    assert schema.fingerprint() != before


def test_every_migration_is_listed() -> None:
    written = [name for name in vars(schema) if name.startswith("m0")]
    assert list(schema.MIGRATIONS) == sorted(written)


def test_a_transaction_is_all_or_nothing(workspace: Workspace) -> None:
    connection = connect(workspace.index_path)
    statements = ("DELETE FROM meta", "INSERT INTO nothing VALUES (1)")
    try:
        with pytest.raises(DatabaseError), index_module.transaction(connection):
            list(map(connection.execute, statements))
        before = connection.execute("SELECT count(*) FROM meta").fetchone()[0]
        assert before
        with index_module.transaction(connection):
            connection.execute("INSERT INTO meta VALUES ('a', 'b')")
        assert connection.execute("SELECT count(*) FROM meta").fetchone() == (before + 1,)
    finally:
        connection.close()


def test_questions_are_plain_json(workspace: Workspace) -> None:
    for question in QUESTIONS:
        answer = recall(workspace, question, now=NOW)
        assert json.loads(json.dumps(answer)) == answer
        assert answer["results"]


def test_a_workspace_that_cannot_be_written_is_answered_from_memory(
    lent: Path, somebody: Callable[[], AbstractContextManager[None]]
) -> None:
    with somebody():
        (lent / "MEMORY.md").write_text("- The anchor weighs 12 kg.\n", "utf-8")
        lent.chmod(0o555)
        try:
            workspace = Workspace.open(str(lent))
            answer = recall(workspace, "how heavy is the anchor?", now=NOW)
            assert [result["source"] for result in answer["results"]] == ["MEMORY.md#L1"]
            assert "built in memory" in answer["warning"]
            assert memory_search(workspace, "anchor", now=NOW)["results"]
            assert sorted(os.listdir(lent)) == ["MEMORY.md"]
        finally:
            lent.chmod(0o755)
