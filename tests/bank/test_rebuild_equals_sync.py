"""Rebuild = sync: an index that grew by any sequence of edits and crashes says what one built from nothing says."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, event, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from openclaw_memory.bank import store as store_module
from openclaw_memory.bank import sync as sync_module
from openclaw_memory.bank.driver import Connection, connect
from openclaw_memory.bank.sync import SyncReport, sync
from openclaw_memory.bank.workspace import Workspace
from openclaw_memory.recall.engine import recall
from openclaw_memory.recall.search import memory_search

NOW = datetime(2026, 1, 12, 9, tzinfo=UTC)
NOBODY = 65534
QUESTIONS = (
    "lisbon gannet",
    "What does Pete like?",
    "Ana Maria",
    "what happened last week",
    "茶",
    "Ablesung",
    "where is ZX-4417",
    "",
)
PATHS = (
    "MEMORY.md",
    "memory.md",
    "USER.md",
    "memory/2026-01-05.md",
    "memory/2026-01-06.md",
    "memory/2026-01-06-call.md",
    "memory/notes.md",
    "memory/sub/2026-01-05.md",
    "memory/sub/plans.md",
    "memory/templates/day.md",
    "memory/.hidden/2026-01-05.md",
    "bank/world.md",
    "bank/opinions.md",
    "bank/reading.md",
    "bank/entities/Peter.md",
    "bank/entities/Ana-Maria.md",
    "memory/bank/entities/peter.md",
)
FOLDERS = ("memory", "memory/sub", "bank", "bank/entities")
LINES = (
    "",
    "# Log",
    "## Retain",
    "### 2026-01-06: the harbour",
    "- W @Peter: Lives in Lisbon.",
    "- W @peter: lives in lisbon",
    "- O(c=0.8) @Peter: Prefers tea, said @Ana-Maria yesterday.",
    "- B @Pete @AnaMaria: Sailed the gannet on Nov 27, 2025.",
    '- S @"Ana Maria": 喜欢喝绿茶。',
    "- W @张伟: 张伟住在里斯本",
    "  - a detail about ZX-4417",
    "  wrapped on to the next line",
    "Heizungsablesung im Keller, nächste Woche wieder.",
    "Last week we looked for ZX-4417 in Porto.",
    "- nothing typed, a plain note about tea",
    "1. numbered",
    "> a quote about lisbon",
    "```",
    "| a | b |",
    "<!-- openclaw-memory:x:start -->",
    "<!-- openclaw-memory:x:end -->",
    "naïve café 👍 e\u0301",
    "- B: On Monday at 10:30 for two hours.",
)
lines = st.one_of(st.sampled_from(LINES), st.text(max_size=20))
bodies = st.lists(lines, max_size=9).map("\n".join)
paths = st.sampled_from(PATHS)
names = st.lists(st.sampled_from(("Pete", "Ana", "A.M.", "张伟", "lisbon", "Peter")), max_size=3)


@contextlib.contextmanager
def as_somebody() -> Iterator[None]:
    """Without root's right to read everything, where the tests have it."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@functools.cache
def import_everything() -> None:
    """Somebody may not be able to read the modules that the first sync and the first question import."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "MEMORY.md").write_text("- W @Peter: Lives in Lisbon.", encoding="utf-8")
        answers(Workspace.open(folder))


def lend(folder: str) -> bool:
    """Whether permissions can be tried out in ``folder``, which is given to ``as_somebody``."""
    if os.name == "nt":
        return False
    if os.geteuid() == 0:
        import_everything()
        os.chown(folder, NOBODY, NOBODY)
    with as_somebody():
        return os.access(folder, os.W_OK, effective_ids=True)


# What an index says, without its row numbers


def told(connection: Connection) -> dict[str, Any]:
    """All tables, with a row's number replaced by the place (path, position) that it stands for."""
    passages = {
        row[0]: row[1:]
        for row in connection.execute("SELECT p.id, f.path, p.position FROM passages p JOIN files f ON f.id = p.file")
    }
    chunks = {
        row[0]: row[1:]
        for row in connection.execute(
            "SELECT c.id, f.path, row_number() OVER (PARTITION BY c.file ORDER BY c.id) FROM chunks c"
            " JOIN files f ON f.id = c.file"
        )
    }
    found: dict[str, Any] = {
        "files": sorted(connection.execute("SELECT path, role, ifnull(day, 0), title, hash FROM files")),
        "passages": sorted(
            (passages[row[0]], row[1:])
            for row in connection.execute(
                "SELECT id, key, kind, origin, text, details, line, end_line, quote(day), quote(first), quote(last),"
                " quote(precision), timely, spans, heading, quote(confidence), entities, evidence FROM passages"
            )
        ),
        "chunks": sorted(
            (chunks[row[0]], row[1:])
            for row in connection.execute("SELECT id, line, end_line, heading, text FROM chunks")
        ),
        "vectors": sorted(
            (passages[row[0]], row[1:])
            for row in connection.execute("SELECT passage, shard, code, vector FROM static_vectors")
        ),
        "edges": sorted(connection.execute("SELECT * FROM edges")),
        "neighbours": sorted(connection.execute("SELECT * FROM neighbours")),
        "graph_changes": connection.execute("SELECT count(*) FROM graph_changes").fetchall(),
        "mentions": sorted((passages[row[0]], row[1]) for row in connection.execute("SELECT * FROM mentions")),
        "spans": sorted((passages[row[0]], row[1:]) for row in connection.execute("SELECT * FROM spans")),
        "names": sorted(
            connection.execute(
                "SELECT n.slug, n.name, n.source, n.page, n.uses, f.path FROM names n JOIN files f ON f.id = n.file"
            )
        ),
        "vocabulary": sorted(connection.execute("SELECT * FROM vocabulary")),
    }
    for table, places in (("passage_terms", passages), ("chunk_terms", chunks)):
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")
        connection.execute(f"CREATE VIRTUAL TABLE temp.{table}_seen USING fts5vocab('main', '{table}', 'instance')")
        seen = connection.execute(f"SELECT doc, term, col, offset FROM temp.{table}_seen")
        found[table] = sorted((places[row[0]], row[1:]) for row in seen)
        sizes = connection.execute(f"SELECT id, hex(sz) FROM {table}_docsize")
        found[f"{table} sizes"] = sorted((places[row[0]], row[1]) for row in sizes)
        # A table that was never written has no totals yet, one that was emptied has zeros.
        totals = connection.execute(f"SELECT hex(block) FROM {table}_data WHERE id = 1").fetchone()[0]
        found[f"{table} totals"] = totals if totals.strip("0") else ""
        connection.execute(f"DROP TABLE temp.{table}_seen")
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    return found


def read(workspace: Workspace) -> dict[str, Any]:
    connection = connect(workspace.index_path)
    try:
        return told(connection)
    finally:
        connection.close()


def answers(workspace: Workspace) -> list[str]:
    found: list[Any] = [recall(workspace, question, now=NOW, explain=True) for question in QUESTIONS]
    found += [memory_search(workspace, question, now=NOW) for question in QUESTIONS]
    return [json.dumps(one, sort_keys=True, ensure_ascii=False) for one in found]


def assert_equal_to_a_rebuild(workspace: Workspace) -> None:
    """Compare an index that was just synced with one that is built from the same files in another folder."""
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "copy")
        shutil.copytree(workspace.root, copy, ignore=shutil.ignore_patterns(".memory"))
        rebuilt = Workspace.open(copy)
        sync(rebuilt)
        grown, fresh = read(workspace), read(rebuilt)
        for table in fresh:
            assert grown[table] == fresh[table], table
        for question, one, other in zip(QUESTIONS * 2, answers(workspace), answers(rebuilt), strict=True):
            assert one == other, question


class Edits(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp())
        self.can_lock_out = lend(str(self.root))
        self.workspace = Workspace.open(str(self.root))

    def teardown(self) -> None:
        try:
            self.sync_and_compare()
        finally:
            shutil.rmtree(self.root)

    # What the rules do

    def write(self, path: str, text: str) -> None:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode("utf-8"))

    def existing(self) -> list[str]:
        found = (place.relative_to(self.root).as_posix() for place in self.root.rglob("*.md"))
        return sorted(path for path in found if not path.startswith(".memory"))

    def has_files(self) -> bool:
        return bool(self.existing())

    def pick(self, data: st.DataObject) -> str:
        return data.draw(st.sampled_from(self.existing()))

    def text(self, path: str) -> str:
        return (self.root / path).read_bytes().decode("utf-8")

    def sync(self) -> SyncReport:
        with as_somebody():
            return sync(self.workspace)

    # The rules

    @initialize(first=bodies, second=bodies)
    def start(self, first: str, second: str) -> None:
        self.write("memory/2026-01-05.md", f"# Day\n\n## Retain\n\n{first}")
        self.write("bank/entities/Peter.md", f"# Peter\n\n{second}")

    @rule(path=paths, text=bodies, retain=st.booleans())
    def create_or_replace(self, path: str, text: str, retain: bool) -> None:
        self.write(path, f"## Retain\n{text}" if retain else text)

    @precondition(has_files)
    @rule(data=st.data(), line=lines, newline=st.sampled_from(("\n", "\r\n", "\n\n")))
    def append(self, data: st.DataObject, line: str, newline: str) -> None:
        path = self.pick(data)
        self.write(path, f"{self.text(path)}{newline}{line}")

    @precondition(has_files)
    @rule(data=st.data(), at=st.integers(0, 8), line=lines)
    def change_a_line(self, data: st.DataObject, at: int, line: str) -> None:
        path = self.pick(data)
        old = self.text(path).split("\n")
        old[at % len(old)] = line
        self.write(path, "\n".join(old))

    @precondition(has_files)
    @rule(data=st.data(), to=paths)
    def rename(self, data: st.DataObject, to: str) -> None:
        (self.root / to).parent.mkdir(parents=True, exist_ok=True)
        os.replace(self.root / self.pick(data), self.root / to)

    @precondition(has_files)
    @rule(data=st.data())
    def swap(self, data: st.DataObject) -> None:
        one, other = self.pick(data), self.pick(data)
        first, second = self.text(one), self.text(other)
        self.write(one, second)
        self.write(other, first)

    @precondition(has_files)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        (self.root / self.pick(data)).unlink()

    @rule(folder=st.sampled_from(FOLDERS))
    def delete_folder(self, folder: str) -> None:
        shutil.rmtree(self.root / folder, ignore_errors=True)

    @precondition(has_files)
    @rule(data=st.data(), seconds=st.integers(1, 2_000_000_000))
    def touch(self, data: st.DataObject, seconds: int) -> None:
        os.utime(self.root / self.pick(data), (seconds, seconds))

    @rule(page=st.sampled_from(("Peter", "Ana-Maria", "Ana")), aliases=names, text=bodies)
    def claim_names(self, page: str, aliases: list[str], text: str) -> None:
        self.write(f"bank/entities/{page}.md", f"---\naliases: [{', '.join(aliases)}]\n---\n# {page}\n\n{text}")

    @rule(after=st.integers(0, 4), within=st.booleans(), text=bodies, line=lines)
    def crash(self, after: int, within: bool, text: str, line: str) -> None:
        """A sync that dies before a file, or half-way through writing its rows, changes nothing."""
        place: tuple[Any, str] = (store_module, "insert_terms") if within else (sync_module, "write_file")
        real = getattr(*place)
        calls: list[int] = []

        def dies(*given: Any) -> Any:
            if len(calls) == after:
                raise RuntimeError("crash")
            calls.append(1)
            return real(*given)

        self.write("memory/2026-01-05.md", f"{text}\n- one more")
        self.write("memory/crash.md", line)
        before = read(self.workspace) if os.path.isfile(self.workspace.index_path) else None
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(*place, dies)
            try:
                self.sync()
            except RuntimeError:
                if before is not None:
                    event("a sync that died")
                    assert read(self.workspace) == before

    @precondition(lambda self: self.can_lock_out and self.existing())
    @rule(data=st.data(), gone=st.booleans())
    def lock_out(self, data: st.DataObject, gone: bool) -> None:
        """A file or folder that cannot be read keeps its rows; what goes on elsewhere is seen."""
        path = self.pick(data)
        self.sync()
        kept = read(self.workspace)["passages"]
        place = data.draw(st.sampled_from([path, *(f for f in FOLDERS if path.startswith(f + "/"))]))
        mode = (self.root / place).stat().st_mode
        os.utime(self.root / path)
        if gone and place != path:
            (self.root / path).unlink()
        (self.root / place).chmod(0)
        try:
            report = self.sync()
        finally:
            (self.root / place).chmod(mode)
        assert not report.removed
        assert read(self.workspace)["passages"] == kept
        is_indexed = any(path == one[0] for one in read(self.workspace)["files"])
        assert report.is_partial or not is_indexed

    @rule()
    def forget_the_index(self) -> None:
        shutil.rmtree(self.root / ".memory", ignore_errors=True)

    @rule()
    def sync_only(self) -> None:
        self.sync()

    @rule()
    def sync_and_compare(self) -> None:
        report = self.sync()
        assert not report.is_partial
        assert not report.note
        with as_somebody():
            again = sync(self.workspace)
        assert again[:6] == ([], [], [], [], [], ())
        assert_equal_to_a_rebuild(self.workspace)


Edits.TestCase.settings = settings(
    max_examples=30,
    stateful_step_count=25,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
test_any_sequence_of_edits_gives_the_index_of_a_rebuild = Edits.TestCase


def fill(root: Path, count: int, text: str = "- W @Peter: Lives in Lisbon, number {n}.") -> None:
    (root / "memory").mkdir(exist_ok=True)
    for n in range(count):
        day = f"2025-{n // 28 + 1:02}-{n % 28 + 1:02}"
        (root / "memory" / f"{day}.md").write_text(f"# {day}\n\n## Retain\n\n{text.format(n=n)}\n", encoding="utf-8")


@pytest.mark.parametrize("at", [0, 7, 29])
def test_a_sync_that_is_killed_leaves_the_old_index(tmp_path: Path, at: int) -> None:
    fill(tmp_path, 30)
    workspace = Workspace.open(str(tmp_path))
    sync(workspace)
    before = read(workspace)
    fill(tmp_path, 40, "- W @Ana: Moved to Porto, number {n}.")
    code = (
        "import os, sys\n"
        "from openclaw_memory.bank.sync import sync\n"
        "from openclaw_memory.bank.workspace import Workspace\n"
        "sync(Workspace.open(sys.argv[1]), progress=lambda done, total: done == int(sys.argv[2]) and os._exit(9))"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path), str(at)]).returncode == 9
    assert read(workspace) == before
    report = sync(workspace)
    assert (len(report.added), len(report.changed), report.note) == (10, 30, "")
    assert_equal_to_a_rebuild(workspace)


def test_many_equal_passages_are_answered_in_the_order_of_their_places(tmp_path: Path) -> None:
    """More ties than any channel has room for, indexed from the last to the first."""
    fill(tmp_path, 150, "- W @Peter: Saw a gannet in Lisbon, ZX-4417, 绿茶.\n- note {n} on tea")
    workspace = Workspace.open(str(tmp_path))
    memory = tmp_path / "memory"
    waiting = sorted(memory.iterdir())
    aside = tmp_path / "aside"
    memory.rename(aside)
    memory.mkdir()
    while waiting:
        for place in waiting[-50:]:
            (aside / place.name).rename(place)
        del waiting[-50:]
        sync(workspace)
    assert_equal_to_a_rebuild(workspace)
