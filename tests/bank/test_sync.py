"""Sync: only what changed is read, only what is proven gone is deleted, nobody waits and nothing is torn."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from openclaw_memory.bank import index as index_module
from openclaw_memory.bank import scan as scan_module
from openclaw_memory.bank import sync as sync_module
from openclaw_memory.bank.driver import connect
from openclaw_memory.bank.errors import Busy, MemoryFault
from openclaw_memory.bank.freshness import open_fresh
from openclaw_memory.bank.index import open_to_read
from openclaw_memory.bank.scan import scan
from openclaw_memory.bank.sync import pending_changes, sync
from openclaw_memory.bank.workspace import Workspace
from openclaw_memory.parsers import parse

Somebody = Callable[[], AbstractContextManager[None]]
links = pytest.mark.skipif(os.name == "nt", reason="symbolic links need a privilege there")
LOG = "# Log\n\n## Retain\n\n- W @Peter: Lives in Lisbon, number {n}.\n"
OLD = 1_700_000_000
START = (
    "import os, sys; from openclaw_memory.bank.sync import *; from openclaw_memory.bank.workspace import Workspace\n"
)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace.open(str(tmp_path))


def write(workspace: Workspace, path: str, text: str, at: int | None = OLD) -> Path:
    """A file, by default of long ago, so that no later change can look like it."""
    place = Path(workspace.root, path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8", newline="")
    if at is not None:
        os.utime(place, (at, at))
    return place


def fill(workspace: Workspace, count: int, text: str = LOG, at: int | None = OLD) -> None:
    for n in range(count):
        write(workspace, f"memory/{2000 + n // 28}-01-{n % 28 + 1:02}.md", text.format(n=n), at)


def rows(workspace: Workspace, query: str = "SELECT path FROM files ORDER BY path") -> list[Any]:
    connection = open_to_read(workspace)
    assert connection is not None
    try:
        found = connection.execute(query).fetchall()
        return [row[0] if len(row) == 1 else row for row in found]
    finally:
        connection.close()


def check_integrity(workspace: Workspace) -> None:
    connection = connect(workspace.index_path)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        for table in ("passage_terms", "chunk_terms"):
            connection.execute(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")
    finally:
        connection.close()


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Which files were read and parsed."""
    done: dict[str, list[str]] = {"read": [], "parsed": []}
    real_read, real_parse = sync_module._read, parse.parse_file

    def read(workspace: Workspace, path: str) -> bytes:
        done["read"].append(path)
        return real_read(workspace, path)

    def parse_file(text: str, path: str) -> Any:
        done["parsed"].append(path)
        return real_parse(text, path)

    monkeypatch.setattr(sync_module, "_read", read)
    monkeypatch.setattr(parse, "parse_file", parse_file)
    return done


@contextmanager
def child(code: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A process that runs ``code``, has printed a line, and ends when its input does."""
    process = subprocess.Popen(
        [sys.executable, "-c", START + code, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    try:
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.communicate(timeout=30)


# Stat, then hash, then parse


def test_a_sync_without_changes_reads_nothing(workspace: Workspace, work: dict[str, list[str]]) -> None:
    fill(workspace, 5)
    assert len(sync(workspace).added) == 5
    assert len(work["read"]) == len(work["parsed"]) == 5
    report = sync(workspace)
    assert report == ([], [], [], [], [], (), 5, "")
    assert len(work["read"]) == 5


def test_a_touched_file_is_read_once_but_not_parsed(workspace: Workspace, work: dict[str, list[str]]) -> None:
    fill(workspace, 3)
    sync(workspace)
    work["read"].clear()
    work["parsed"].clear()
    os.utime(Path(workspace.root, "memory/2000-01-02.md"), (OLD + 9, OLD + 9))
    report = sync(workspace)
    assert not report.changed
    assert work == {"read": ["memory/2000-01-02.md"], "parsed": []}
    sync(workspace)
    assert len(work["read"]) == 1


def test_only_the_changed_file_is_parsed(workspace: Workspace, work: dict[str, list[str]]) -> None:
    fill(workspace, 3)
    sync(workspace)
    work["parsed"].clear()
    write(workspace, "memory/2000-01-02.md", "- something else", OLD + 1)
    assert sync(workspace).changed == ["memory/2000-01-02.md"]
    assert work["parsed"] == ["memory/2000-01-02.md"]


def test_force_reads_and_parses_everything(workspace: Workspace, work: dict[str, list[str]]) -> None:
    fill(workspace, 3)
    sync(workspace)
    before = rows(workspace, "SELECT position, text FROM passages ORDER BY text")
    work["parsed"].clear()
    report = sync(workspace, force=True)
    assert len(report.changed) == len(work["parsed"]) == 3
    assert rows(workspace, "SELECT position, text FROM passages ORDER BY text") == before


@pytest.mark.parametrize("seconds", [False, True], ids=["fine clock", "whole seconds"])
def test_a_second_write_with_the_same_stamp_is_noticed(workspace: Workspace, seconds: bool) -> None:
    place = write(workspace, "memory/a.md", "- first", None)
    if seconds:
        os.utime(place, (int(time.time()), int(time.time())))
    stamp = place.stat()
    sync(workspace)
    place.write_text("- other", encoding="utf-8")
    os.utime(place, ns=(stamp.st_mtime_ns, stamp.st_mtime_ns))
    assert (place.stat().st_size, place.stat().st_mtime_ns) == (stamp.st_size, stamp.st_mtime_ns)
    assert sync(workspace).changed == ["memory/a.md"]
    assert rows(workspace, "SELECT text FROM passages") == ["other"]


def test_a_file_from_the_future_is_compared_by_its_bytes(workspace: Workspace) -> None:
    later = int(time.time()) + 10_000
    write(workspace, "memory/a.md", "- first", later)
    sync(workspace)
    assert not sync(workspace).changed
    write(workspace, "memory/a.md", "- other", later)
    assert sync(workspace).changed == ["memory/a.md"]


def test_a_file_that_was_put_in_place_of_another_is_read(workspace: Workspace) -> None:
    write(workspace, "memory/a.md", "- first")
    sync(workspace)
    other = write(workspace, "other", "- other")
    os.replace(other, Path(workspace.root, "memory/a.md"))
    os.utime(Path(workspace.root, "memory/a.md"), (OLD, OLD))
    assert sync(workspace).changed == ["memory/a.md"]


# Renames


def test_a_renamed_file_keeps_its_rows(workspace: Workspace, work: dict[str, list[str]]) -> None:
    write(workspace, "memory/plans.md", LOG)
    sync(workspace)
    before = rows(workspace, "SELECT id, file, text FROM passages ORDER BY id")
    work["parsed"].clear()
    Path(workspace.root, "memory/sub").mkdir()
    Path(workspace.root, "memory/plans.md").rename(Path(workspace.root, "memory/sub/aims.md"))
    report = sync(workspace)
    assert report.renamed == [("memory/plans.md", "memory/sub/aims.md")]
    assert not report.added
    assert not report.removed
    assert not work["parsed"]
    assert rows(workspace) == ["memory/sub/aims.md"]
    assert rows(workspace, "SELECT id, file, text FROM passages ORDER BY id") == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("memory/2026-01-05.md", "memory/2026-01-06.md"),
        ("memory/2026-01-05.md", "memory/plans.md"),
        ("memory/plans.md", "bank/world.md"),
        ("bank/entities/Peter.md", "bank/entities/Ana.md"),
        ("bank/world.md", "bank/reading.md"),
    ],
)
def test_a_new_name_that_means_something_else_is_parsed_again(workspace: Workspace, old: str, new: str) -> None:
    write(workspace, old, LOG)
    sync(workspace)
    Path(workspace.root, new).parent.mkdir(parents=True, exist_ok=True)
    Path(workspace.root, old).rename(Path(workspace.root, new))
    report = sync(workspace)
    assert report.renamed == [(old, new)]
    found = (
        rows(workspace, "SELECT role, day FROM files"),
        rows(workspace, "SELECT slug, source, page FROM names ORDER BY 1"),
    )
    sync(workspace, force=True)
    again = (
        rows(workspace, "SELECT role, day FROM files"),
        rows(workspace, "SELECT slug, source, page FROM names ORDER BY 1"),
    )
    assert found == again
    check_integrity(workspace)


def test_a_copy_is_no_rename(workspace: Workspace) -> None:
    write(workspace, "memory/a.md", LOG)
    sync(workspace)
    write(workspace, "memory/b.md", LOG)
    report = sync(workspace)
    assert (report.added, report.renamed) == (["memory/b.md"], [])


def test_two_files_that_swap_their_names_are_both_read(workspace: Workspace) -> None:
    one, other = write(workspace, "memory/a.md", "- one"), write(workspace, "memory/b.md", "- two")
    sync(workspace)
    aside = one.with_name("aside")
    one.rename(aside)
    other.rename(one)
    aside.rename(other)
    assert sync(workspace).changed == ["memory/a.md", "memory/b.md"]
    query = "SELECT f.path, p.text FROM passages p JOIN files f ON f.id = p.file ORDER BY 1"
    assert rows(workspace, query) == [("memory/a.md", "two"), ("memory/b.md", "one")]


# Deletion means proof


def test_a_deleted_file_and_a_deleted_folder_are_taken_out(workspace: Workspace) -> None:
    for path in ("memory/a.md", "memory/b.md", "memory/sub/c.md", "bank/world.md"):
        write(workspace, path, f"- {path}")
    sync(workspace)
    Path(workspace.root, "memory/a.md").unlink()
    Path(workspace.root, "memory/sub/c.md").unlink()
    Path(workspace.root, "memory/sub").rmdir()
    assert sync(workspace).removed == ["memory/a.md", "memory/sub/c.md"]
    assert rows(workspace) == ["bank/world.md", "memory/b.md"]
    check_integrity(workspace)


@pytest.mark.parametrize("closed", ["memory/sub", "memory", "memory/sub/a.md"])
def test_what_cannot_be_read_keeps_its_rows_and_is_reported(lent: Path, somebody: Somebody, closed: str) -> None:
    workspace = Workspace.open(str(lent))
    write(workspace, "memory/sub/a.md", LOG)
    write(workspace, "bank/world.md", LOG)
    with somebody():
        sync(workspace)
    write(workspace, "memory/sub/a.md", "- other", OLD + 1)
    Path(workspace.root, "bank/world.md").unlink()
    place = Path(workspace.root, closed)
    mode = place.stat().st_mode
    place.chmod(0)
    try:
        with somebody():
            report = sync(workspace)
            fresh = open_fresh(workspace)
            fresh.connection.close()
    finally:
        place.chmod(mode)
    told = [path for path, _ in report.skipped] if closed.endswith(".md") else list(report.unread)
    assert told == [closed]
    assert report.is_partial
    assert report.removed == ["bank/world.md"]
    assert rows(workspace, "SELECT p.text FROM passages p") == ["Lives in Lisbon, number {n}."]
    with somebody():
        assert sync(workspace).changed == ["memory/sub/a.md"]


def test_what_cannot_be_read_is_told_to_who_asks(lent: Path, somebody: Somebody) -> None:
    workspace = Workspace.open(str(lent))
    place = write(workspace, "memory/a.md", LOG)
    write(workspace, "memory/b.md", LOG)
    place.chmod(0)
    try:
        with somebody():
            fresh = open_fresh(workspace)
            fresh.connection.close()
    finally:
        place.chmod(0o644)
    assert len(fresh.notes) == 1
    assert fresh.notes[0].startswith("memory/a.md: not read (Permission denied)")


def test_a_missing_memory_folder_is_no_fault(tmp_path: Path) -> None:
    assert sync(Workspace.open(str(tmp_path))) == ([], [], [], [], [], (), 0, "")


def test_a_missing_extra_folder_proves_nothing(tmp_path: Path) -> None:
    """A disk that is not mounted is told, and what was indexed of it stays."""
    notes = tmp_path / "mounted" / "notes.md"
    notes.parent.mkdir()
    notes.write_text("- The anchor weighs 12 kg.\n", "utf-8")
    root = tmp_path / "workspace"
    root.mkdir()
    workspace = Workspace.open(str(root), [str(notes.parent)])
    assert len(sync(workspace).added) == 1
    notes.parent.rename(tmp_path / "elsewhere")
    report = sync(workspace)
    assert (report.removed, len(report.unread)) == ([], 1)
    fresh = open_fresh(workspace)
    assert (fresh.stale, len(fresh.notes)) == (False, 1)
    fresh.connection.close()


@links
def test_a_memory_folder_that_is_a_link_is_told(tmp_path: Path) -> None:
    """What it leads to could be recalled, but never opened: the path guard refuses links."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "2026-01-05.md").write_text("- The anchor weighs 12 kg.\n", "utf-8")
    root = tmp_path / "workspace"
    root.mkdir()
    (root / "memory").symlink_to(tmp_path / "elsewhere")
    report = sync(Workspace.open(str(root)))
    assert (report.added, report.unread) == ([], ("memory",))


# What belongs to the index


@links
def test_symbolic_links_are_not_read(workspace: Workspace) -> None:
    write(workspace, "memory/a.md", LOG)
    write(workspace, "outside/b.md", "- secret")
    Path(workspace.root, "memory/link.md").symlink_to(Path(workspace.root, "outside/b.md"))
    Path(workspace.root, "memory/folder").symlink_to(Path(workspace.root, "outside"))
    Path(workspace.root, "memory/loop").symlink_to(Path(workspace.root, "memory"))
    Path(workspace.root, "memory/broken.md").symlink_to(Path(workspace.root, "none.md"))
    Path(workspace.root, "MEMORY.md").symlink_to(Path(workspace.root, "outside/b.md"))
    report = sync(workspace)
    assert report.added == ["memory/a.md"]
    assert not report.is_partial


def test_dot_folders_dot_files_templates_and_other_files_are_not_read(workspace: Workspace) -> None:
    kept = ["USER.md", "bank/deep/er/page.md", "bank/templates/x.md", "memory/a.md"]
    for path in (
        *kept,
        "memory/.dreams/a.md",
        "memory/.a.md",
        "memory/sub/.git/a.md",
        "memory/templates/day.md",
        "memory/INDEX.md",
        "bank/index.md",
        "bank/entities/TEMPLATE.md",
        "memory/a.txt",
        "memory/a.md.bak",
        "README.md",
        "docs/a.md",
        "AGENTS.md",
    ):
        write(workspace, path, f"- {path}")
    Path(workspace.root, "memory/folder.md").mkdir()
    assert sync(workspace).added == kept


def test_both_core_files_are_read(workspace: Workspace) -> None:
    write(workspace, "MEMORY.md", "- upper")
    place = write(workspace, "memory.md", "- lower")
    if place.samefile(Path(workspace.root, "MEMORY.md")):
        pytest.skip("this disk ignores case")
    assert sync(workspace).added == ["MEMORY.md", "memory.md"]
    assert rows(workspace, "SELECT text FROM passages ORDER BY 1") == ["lower", "upper"]


def test_one_core_file_under_two_names_is_read_once(workspace: Workspace) -> None:
    upper = write(workspace, "MEMORY.md", "- W @a: upper")
    if not Path(workspace.root, "memory.md").exists():
        os.link(upper, Path(workspace.root, "memory.md"))
    assert sync(workspace).added == ["MEMORY.md"]


def test_who_has_other_extra_paths_has_another_index(tmp_path: Path) -> None:
    root, outer = tmp_path / "root", tmp_path / "outer"
    root.mkdir()
    workspace = Workspace.open(str(root), ["docs", "README.md", str(outer)])
    for path in ("memory/a.md", "docs/b.md", "docs/.git/c.md", "README.md", "other.md"):
        write(workspace, path, f"- words of {path}")
    outer.mkdir()
    (outer / "d.md").write_text("- words", encoding="utf-8")
    outside = (outer / "d.md").as_posix()
    assert sync(workspace).added == sorted(["README.md", "docs/b.md", "memory/a.md", outside])
    other = Workspace.open(str(root))
    assert sync(other).added == ["memory/a.md"]
    assert other.index_path != workspace.index_path
    assert not sync(workspace).added


def test_the_workspace_itself_can_be_an_extra_path(tmp_path: Path) -> None:
    workspace = Workspace.open(str(tmp_path), ["."])
    for path in ("README.md", "memory/a.md", "docs/b.md", "docs/.git/c.md", "memory/templates/d.md"):
        write(workspace, path, f"- words of {path}")
    assert sync(workspace).added == ["README.md", "docs/b.md", "memory/a.md"]
    assert not sync(workspace).added


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
@pytest.mark.parametrize("name", [b"memory/\xff.md", b"memory/\xff/a.md"])
def test_a_name_that_is_not_utf_8_is_reported_and_stops_nothing(workspace: Workspace, name: bytes) -> None:
    write(workspace, "memory/b.md", LOG)
    place = os.path.join(os.fsencode(workspace.root), name)
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with open(place, "w") as file:
        file.write("- odd")
    report = sync(workspace)
    assert report.added == ["memory/b.md"]
    assert report.unread == (name.decode("ascii", "replace").replace("\ufffd", "?"),)


def test_an_inode_beyond_sqlites_integers_fits() -> None:
    status = os.stat_result((0o100644, 2**64 - 5, 1, 1, 0, 0, 10, 0, 0, 0), {"st_mtime_ns": 0, "st_ctime_ns": 0})
    assert 0 <= scan_module._seen(status)[-1] < 2**63


@pytest.mark.skipif(os.name == "nt", reason="st_ctime is another thing there")
def test_an_edit_that_keeps_size_and_time_is_seen(workspace: Workspace) -> None:
    """What ``rsync --inplace --times`` and ``touch --reference`` leave behind."""
    path = write(workspace, "memory/a.md", "- W: old\n")
    sync(workspace)
    time.sleep(0.1)
    sync(workspace)
    status = os.stat(path)
    with open(path, "r+b") as file:
        file.write(b"- W: new\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert sync(workspace).changed == ["memory/a.md"]


def test_a_first_index_that_is_being_made_is_none_yet(workspace: Workspace) -> None:
    """Questions asked meanwhile used to be answered from the empty tables, with nothing."""
    write(workspace, "memory/a.md", "- The anchor weighs 12 kg.\n")
    os.makedirs(workspace.index_dir, exist_ok=True)
    connection = index_module.open_to_write(workspace)[0]
    connection.close()
    assert open_to_read(workspace) is None
    fresh = open_fresh(workspace)
    assert fresh.connection.execute("SELECT count(*) FROM passages").fetchone() == (1,)
    fresh.connection.close()


def test_a_scan_names_what_it_cannot_prove(workspace: Workspace) -> None:
    write(workspace, "memory/a.md", LOG)
    found = scan(workspace)._replace(unread=("memory/sub", "bank/world.md"))
    for path, proven in (
        ("memory/a.md", False),
        ("memory/gone.md", True),
        ("memory/sub/b.md", False),
        ("memory/sub", False),
        ("memory/subway.md", True),
        ("bank/world.md", False),
        ("bank/opinions.md", True),
    ):
        assert found.proves_absent(path) == proven, path
    assert not found._replace(unread=("",)).proves_absent("memory/gone.md")


# What happens meanwhile


def test_a_file_that_vanishes_between_scan_and_read(workspace: Workspace) -> None:
    fill(workspace, 3)
    last = Path(workspace.root, "memory/2000-01-03.md")
    sync(workspace, progress=lambda done, total: last.unlink(missing_ok=True))
    assert rows(workspace) == ["memory/2000-01-01.md", "memory/2000-01-02.md"]
    write(workspace, "memory/2000-01-03.md", "- back")
    sync(workspace)
    write(workspace, "memory/2000-01-01.md", "- new", OLD + 5)
    write(workspace, "memory/2000-01-03.md", "- new", OLD + 5)
    sync(workspace, progress=lambda done, total: last.unlink(missing_ok=True))
    assert len(rows(workspace)) == 3
    assert sync(workspace).removed == ["memory/2000-01-03.md"]


def test_a_file_that_changes_between_scan_and_read_is_seen_again(workspace: Workspace) -> None:
    fill(workspace, 2)

    def change(done: int, total: int) -> None:
        write(workspace, "memory/2000-01-02.md", f"- {done}", OLD + 1 + done)

    write(workspace, "memory/2000-01-01.md", "- else", OLD + 1)
    write(workspace, "memory/2000-01-02.md", "- else", OLD + 1)
    sync(workspace, progress=change)
    sync(workspace)
    assert rows(workspace, "SELECT text FROM passages WHERE file = 2") == ["2"]


def test_progress_is_monotone_and_ends_at_the_total(workspace: Workspace) -> None:
    fill(workspace, 7)
    calls: list[tuple[int, int]] = []
    sync(workspace, progress=lambda done, total: calls.append((done, total)))
    assert calls == [(n, 7) for n in range(8)]
    calls.clear()
    sync(workspace, progress=lambda done, total: calls.append((done, total)))
    assert calls == []


def test_others_see_the_old_state_until_the_sync_is_done(workspace: Workspace) -> None:
    fill(workspace, 20)
    sync(workspace)
    fill(workspace, 120, LOG + "- B: more\n", OLD + 1)
    query = "SELECT (SELECT count(*) FROM files), (SELECT count(*) FROM passages)"
    counts: set[tuple[int, int]] = set()
    over = threading.Event()

    def watch() -> None:
        while not over.is_set():
            counts.add(rows(workspace, query)[0])

    thread = threading.Thread(target=watch)
    thread.start()
    inside: set[tuple[int, int]] = set()
    sync(workspace, progress=lambda done, total: inside.add(rows(workspace, query)[0]))
    over.set()
    thread.join(30)
    assert inside == {(20, 20)}
    assert counts <= {(20, 20), (120, 240)}
    assert rows(workspace, query) == [(120, 240)]


def test_a_sync_that_fails_changes_nothing(workspace: Workspace) -> None:
    fill(workspace, 10)
    sync(workspace)
    before = rows(workspace, "SELECT id, text FROM passages ORDER BY id")
    fill(workspace, 20, "- else {n}", OLD + 1)

    def stop(done: int, total: int) -> None:
        if done == 15:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sync(workspace, progress=stop)
    assert rows(workspace, "SELECT id, text FROM passages ORDER BY id") == before
    report = sync(workspace, timeout=0)
    assert (len(report.added), len(report.changed)) == (10, 10)


def test_an_open_reader_neither_blocks_a_writer_nor_sees_its_work(workspace: Workspace) -> None:
    fill(workspace, 3)
    reader = open_fresh(workspace).connection
    try:
        assert reader.execute("SELECT count(*) FROM passages").fetchone() == (3,)
        fill(workspace, 9, "- else {n}", OLD + 1)
        start = time.monotonic()
        assert len(sync(workspace, timeout=0).added) == 6
        assert time.monotonic() - start < 2
        assert reader.execute("SELECT count(*) FROM passages").fetchone() == (3,)
        assert reader.execute("SELECT min(text) FROM passages").fetchone()[0].startswith("Lives")
    finally:
        reader.close()
    assert rows(workspace, "SELECT count(*) FROM passages") == [9]


HOLD = (
    "from openclaw_memory.bank.files import writer_lock\n"
    "with writer_lock(Workspace.open(sys.argv[1]).lock_path, 5, 'indexing'):\n"
    "    print('ready', flush=True); sys.stdin.read()"
)


def test_a_reader_answers_at_once_while_another_process_writes(workspace: Workspace) -> None:
    fill(workspace, 3)
    sync(workspace)
    write(workspace, "memory/new.md", "- new")
    with child(HOLD, workspace.root) as process:
        start = time.monotonic()
        fresh = open_fresh(workspace)
        assert time.monotonic() - start < 1
        assert fresh.stale
        assert len(fresh.notes) == 1
        assert fresh.connection.execute("SELECT count(*) FROM files").fetchone() == (3,)
        fresh.connection.close()
        with pytest.raises(Busy, match=f"process {process.pid} is indexing") as caught:
            sync(workspace, timeout=0.2)
        assert caught.value.exit_code == 75
    fresh = open_fresh(workspace)
    assert not fresh.stale
    assert fresh.connection.execute("SELECT count(*) FROM files").fetchone() == (4,)
    fresh.connection.close()


def test_without_changes_a_writer_elsewhere_makes_nothing_stale(workspace: Workspace) -> None:
    fill(workspace, 3)
    sync(workspace)
    with child(HOLD, workspace.root):
        fresh = open_fresh(workspace)
        assert (fresh.stale, fresh.notes) == (False, [])
        fresh.connection.close()


def test_without_sync_a_reader_says_that_it_is_behind(workspace: Workspace) -> None:
    fill(workspace, 3)
    sync(workspace)
    for stale in (False, True):
        fresh = open_fresh(workspace, no_sync=True)
        assert fresh.stale == stale
        assert fresh.connection.execute("SELECT count(*) FROM files").fetchone() == (3,)
        assert bool(pending_changes(workspace, fresh.connection)) == stale
        fresh.connection.close()
        write(workspace, "memory/new.md", "- new")


def test_a_program_that_locks_the_database_is_waited_for_and_costs_no_index(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(workspace, 3)
    sync(workspace)
    write(workspace, "memory/new.md", "- new")
    monkeypatch.setattr("openclaw_memory.bank.driver.BUSY_MS", 100)
    other = connect(workspace.index_path)
    try:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Busy, match="locked by another process"):
            sync(workspace)
        fresh = open_fresh(workspace)
        assert fresh.stale
        fresh.connection.close()
    finally:
        other.close()
    assert sync(workspace).added == ["memory/new.md"]
    assert not Path(workspace.index_path + index_module.SET_ASIDE).exists()


def test_a_full_disk_is_one_line_and_costs_no_index(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(workspace, 3)
    sync(workspace)
    fill(workspace, 60, "- else {n} " * 200, OLD + 1)
    real = index_module.connect

    def small(path: str) -> Any:
        connection = real(path)
        connection.execute("PRAGMA max_page_count = 60")
        return connection

    monkeypatch.setattr(index_module, "connect", small)
    with pytest.raises(MemoryFault, match="the disk is full") as caught:
        sync(workspace)
    assert "\n" not in str(caught.value)
    monkeypatch.undo()
    assert rows(workspace, "SELECT count(*) FROM files") == [3]
    assert not Path(workspace.index_path + index_module.SET_ASIDE).exists()
    assert len(sync(workspace).added) == 57


def test_many_processes_at_once_neither_lose_nor_corrupt(workspace: Workspace) -> None:
    """Each writes its own files and syncs after every one, from no index on, while others ask."""
    code = (
        "import sqlite3; from datetime import datetime, timezone; from openclaw_memory.recall.engine import recall\n"
        "workspace, name = Workspace.open(sys.argv[1]), sys.argv[2]\n"
        "print('ready', flush=True); sys.stdin.read(1)\n"
        "for n in range(8):\n"
        "    if name != 'reader':\n"
        "        os.makedirs(workspace.root + '/memory', exist_ok=True)\n"
        "        path = f'{workspace.root}/memory/{name}-{n}.md'\n"
        "        open(path, 'w').write(f'- W @{name}: Number {n} of the gannet.')\n"
        "        sync(workspace, timeout=60)\n"
        "    answer = recall(workspace, 'gannet', now=datetime(2026, 1, 12, tzinfo=timezone.utc))\n"
        "    if name != 'reader' and not answer['stale']:\n"
        "        assert any(r['source'].startswith(f'memory/{name}-') for r in answer['results']), answer\n"
        "    assert 'aside' not in (answer['warning'] or ''), answer\n"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", START + code, workspace.root, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("one", "two", "reader")
    ]
    for process in processes:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin
        process.stdin.write("x")
        process.stdin.flush()
    for process in processes:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
    assert rows(workspace, "SELECT count(*) FROM files") == [16]
    assert not sync(workspace).changed
    check_integrity(workspace)
    assert not Path(workspace.index_path + index_module.SET_ASIDE).exists()
