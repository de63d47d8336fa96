"""The survey of an existing workspace: it sees what the index reads, tells why not the rest, and writes nothing."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_memory.bank.freshness import open_fresh
from openclaw_memory.bank.passed_over import passed_over
from openclaw_memory.bank.survey import Survey, survey
from openclaw_memory.bank.sync import sync
from openclaw_memory.bank.workspace import Workspace
from openclaw_memory.parsers.lines import read_lines
from openclaw_memory.parsers.marks import find_marks

SAMPLES = Path(__file__).parent.parent / "cases" / "workspaces"
NAMES = sorted(path.name for path in SAMPLES.iterdir())


@pytest.fixture(params=NAMES)
def sample(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of a sample workspace, with what git cannot hold."""
    return copied(request.param, tmp_path)


def copied(name: str, folder: Path) -> Path:
    root = folder / name
    shutil.copytree(SAMPLES / name, root)
    if name == "messy":
        (root / "memory" / "large.md").write_text(f"# Large\n\n<!--\n{'word ' * 200_001}\n-->\n", encoding="utf-8")
        (root / "memory" / "utf16.md").write_bytes("# Wide\n".encode("utf-16"))
        (root / "memory" / "empty.md").touch()
        (root / "memory" / "keys.md").write_text(f"- the token ghp_{'a1B2' * 10}\n", encoding="utf-8")
        (root / "elsewhere.md").write_text("# Elsewhere\n", encoding="utf-8")
        if os.name != "nt":
            os.symlink(root / "elsewhere.md", root / "memory" / "link.md")
            os.symlink(root / "notes", root / "memory" / "linked")
            os.symlink(root / "elsewhere.md", root / "link.md")
            (root / "memory" / "bell\x07.md").write_text("# Bell\n", encoding="utf-8")
    return root


def state(root: Path) -> dict[str, tuple[int, int, bytes]]:
    """mtime, mode and bytes of everything below a folder."""
    found = {}
    for path in sorted(root.rglob("*")):
        status = path.lstat()
        found[str(path)] = (status.st_mtime_ns, status.st_mode, path.read_bytes() if path.is_file() else b"")
    return found


def test_nothing_is_written(sample: Path) -> None:
    before = state(sample)
    bank = Workspace.open(str(sample))
    seen = survey(bank)
    passed_over(bank, seen.scan)
    assert state(sample) == before
    assert not (sample / ".memory").exists()


def test_what_is_seen_is_what_is_indexed(sample: Path) -> None:
    bank = Workspace.open(str(sample))
    seen = survey(bank)
    report = sync(bank)
    fresh = open_fresh(bank, no_sync=True)
    try:
        indexed = {row[0]: row[1] for row in fresh.connection.execute("SELECT path, day FROM files")}
        kinds = Counter(
            {row[0]: row[1] for row in fresh.connection.execute("SELECT kind, count(*) FROM passages GROUP BY 1")}
        )
        slugs = {row[0] for row in fresh.connection.execute("SELECT DISTINCT slug FROM mentions")}
    finally:
        fresh.connection.close()
    assert {one.path: one.day.toordinal() if one.day else None for one in seen.files} == indexed
    assert sorted(report.added) == [one.path for one in seen.files]
    facts = sum((one.facts for one in seen.files), Counter())
    assert Counter({kind: count for kind, count in kinds.items() if kind != "note"}) == facts
    assert kinds["note"] == sum(one.notes for one in seen.files)
    assert set().union(*(one.entities for one in seen.files)) == slugs
    ignored = {one.path for one in passed_over(bank, seen.scan)}
    assert not ignored & indexed.keys()


def roles(seen: Survey) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in seen.files:
        found.setdefault(one.role, []).append(one.path)
    return found


def test_files_by_what_they_are(tmp_path: Path) -> None:
    assert roles(survey(Workspace.open(str(copied("2025", tmp_path))))) == {
        "core": ["MEMORY.md"],
        "user": ["USER.md"],
        "log": ["memory/2025-11-02.md", "memory/2025/10/28.md"],
        "slugged-log": ["memory/2025-11-03-1612.md", "memory/2025-11-03-standup.md"],
        "undated": ["memory/suppliers.md"],
    }
    assert roles(survey(Workspace.open(str(copied("2026", tmp_path))))) == {
        "core": ["MEMORY.md"],
        "log": ["memory/2026-04-09.md", "memory/2026-04-10.md"],
        "dream-report": ["memory/dreaming/light/2026-04-10.md"],
        "page": ["bank/opinions.md"],
        "entity-page": ["bank/entities/Priya.md"],
    }


def test_pages_below_memory_bank_hold_facts(tmp_path: Path) -> None:
    seen = {one.path: one for one in survey(Workspace.open(str(copied("messy", tmp_path)))).files}
    assert (seen["memory/bank/world.md"].role, seen["memory/bank/world.md"].facts) == ("page", {"world": 1})
    tove = seen["memory/bank/entities/Tove.md"]
    assert (tove.role, tove.facts, tove.entities) == ("entity-page", {"world": 1}, {"tove"})


def test_an_extra_path_is_read_and_not_passed_over(tmp_path: Path) -> None:
    root = copied("messy", tmp_path)
    bank = Workspace.open(str(root), ["notes/deep", "TODO.md"])
    seen = survey(bank)
    assert roles(seen)["extra"] == ["TODO.md", "notes/deep/thought.md"]
    told = {one.path: one for one in passed_over(bank, seen.scan)}
    assert "TODO.md" not in told
    assert told["notes/"].files == 1


def test_what_was_dreamt_is_no_statement(tmp_path: Path) -> None:
    """Neither in blocks of a log nor in reports of their own: it repeats what the logs say."""
    root = copied("2026", tmp_path)
    bank = Workspace.open(str(root))
    sync(bank)
    fresh = open_fresh(bank, no_sync=True)
    try:
        rows = fresh.connection.execute(
            "SELECT f.path, p.line, p.origin FROM passages p JOIN files f ON f.id = p.file WHERE p.kind = 'note'"
        ).fetchall()
    finally:
        fresh.connection.close()
    generated = {(path, line) for path, line, origin in rows if origin == "generated"}
    assert generated == {
        ("memory/2026-04-09.md", 14),
        ("memory/2026-04-09.md", 15),
        ("memory/2026-04-10.md", 11),
        ("memory/dreaming/light/2026-04-10.md", 3),
        ("memory/dreaming/light/2026-04-10.md", 4),
    }
    # A report that becomes a log is a person's from then on.
    (root / "memory" / "dreaming" / "light" / "2026-04-10.md").rename(root / "memory" / "2026-04-10-dream.md")
    sync(bank)
    fresh = open_fresh(bank, no_sync=True)
    try:
        moved = fresh.connection.execute(
            "SELECT DISTINCT p.origin FROM passages p JOIN files f ON f.id = p.file WHERE f.path LIKE '%-dream.md'"
        ).fetchall()
    finally:
        fresh.connection.close()
    assert moved == [("stated",)]


def test_marks_by_kind_and_line(tmp_path: Path) -> None:
    marks = survey(Workspace.open(str(copied("2026", tmp_path)))).marks
    assert marks == {
        "dreaming:light": [("memory/2026-04-09.md", 13)],
        "dreaming:rem": [("memory/2026-04-10.md", 9)],
        "importance": [("MEMORY.md", 4)],
        "promotion": [("MEMORY.md", 8), ("MEMORY.md", 10)],
        "trigger": [("MEMORY.md", 4)],
    }
    messy = survey(Workspace.open(str(copied("messy", tmp_path)))).marks
    assert messy == {"embed": [("MEMORY.md", 3)], "wiki-link": [("MEMORY.md", 3)]}


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("- x <!-- trigger: a --> <!-- importance: 3 -->", ["trigger", "importance"]),
        ("<!-- observed: 2026-04-01 | status: active -->", ["observed"]),
        ("<!-- project: barn | importance: 3 -->", ["project", "importance"]),
        ("<!-- openclaw-memory:entity v1 -->\n- a\n<!-- /openclaw-memory:entity lines= dropped= -->", ["own:entity"]),
        ("<!-- openclaw:dreaming:backfill-entry day=2026-04-01 -->", ["dreaming-entry"]),
        ("```\n<!-- trigger: a -->\n[[x]]\n```", []),
        ("`[[x]]` and [[y]]", ["wiki-link"]),
        ("<!-- a remark about the project -->", []),
    ],
)
def test_marks(text: str, kinds: list[str]) -> None:
    assert [mark.kind for mark in find_marks(read_lines(text))] == kinds


def test_what_is_not_used_as_meant(tmp_path: Path) -> None:
    found = {(one.code, one.path): one.line for one in survey(Workspace.open(str(copied("messy", tmp_path)))).issues}
    assert found == {
        ("bad-confidence", "memory/2026-01-07.md"): 6,
        ("empty-fact", "memory/2026-01-07.md"): 5,
        ("impossible-date", "memory/2026-02-30.md"): 1,
        ("large-file", "memory/large.md"): 1,
        ("not-utf-8", "memory/2026-01-08.md"): 3,
        ("open-comment", "memory/2026-01-07.md"): 8,
        ("outside-retain", "MEMORY.md"): 4,
        ("outside-retain", "memory/2026_01_05.md"): 5,
        ("secret-like", "memory/keys.md"): 1,
        ("unclosed-fence", "memory/2026_01_05.md"): 7,
        ("untyped-bullet", "memory/2026-01-07.md"): 4,
        ("utf-16", "memory/utf16.md"): 1,
    }


def test_what_is_passed_over_and_why(tmp_path: Path) -> None:
    bank = Workspace.open(str(copied("messy", tmp_path)))
    told = {(one.path, one.code, one.files) for one in passed_over(bank, survey(bank).scan)}
    links = {
        ("link.md", "symbolic-link", 1),
        ("memory/link.md", "symbolic-link", 1),
        ("memory/linked", "symbolic-link", 1),
        ("memory/bell?.md", "unprintable-name", 1),
    }
    assert told == {
        (".obsidian/", "hidden", 0),
        ("TODO.md", "outside", 1),
        ("elsewhere.md", "outside", 1),
        ("memory/.trash/", "hidden", 0),
        ("memory/TEMPLATE.md", "template", 1),
        ("memory/bark.txt", "other-format", 1),
        ("memory/plan.png", "attachment", 2),
        ("memory/templates/", "template", 0),
        ("notes/", "outside", 2),
        *(links if os.name != "nt" else ()),
    }


@pytest.mark.skipif(os.name == "nt", reason="the disk there ignores case")
def test_names_that_are_spelt_otherwise(tmp_path: Path) -> None:
    (tmp_path / "Memory").mkdir()
    (tmp_path / "Memory" / "2026-01-01.md").write_text("# x\n", encoding="utf-8")
    (tmp_path / "Memory.md").write_text("# x\n", encoding="utf-8")
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "NOTE.MD").write_text("# x\n", encoding="utf-8")
    bank = Workspace.open(str(tmp_path))
    seen = survey(bank)
    if seen.files:
        pytest.skip("the disk ignores case")
    assert {(one.path, one.code) for one in passed_over(bank, seen.scan)} == {
        ("Memory/", "other-spelling"),
        ("Memory.md", "other-spelling"),
        ("memory/NOTE.MD", "other-format"),
    }


def test_what_cannot_be_read_is_told(lent: Path, somebody) -> None:
    (lent / "memory" / "closed").mkdir(parents=True)
    (lent / "memory" / "a.md").write_text("- x\n", encoding="utf-8")
    (lent / "memory" / "a.md").chmod(0)
    (lent / "memory" / "closed").chmod(0)
    try:
        with somebody():
            bank = Workspace.open(str(lent))
            seen = survey(bank)
            told = passed_over(bank, seen.scan)
    finally:
        (lent / "memory" / "closed").chmod(0o755)
    assert seen.skipped == (("memory/a.md", "Permission denied"),)
    assert [(one.path, one.code) for one in told] == [("memory/closed", "unreadable")]


PARTS = st.sampled_from(
    "memory bank entities 2026-01-05.md note.md x.txt .hidden TEMPLATE.md templates USER.md MEMORY.md dreaming world.md"
    " a INDEX.md p.png".split()
)


@given(st.lists(st.lists(PARTS, min_size=1, max_size=4), max_size=12))
def test_every_file_is_seen_or_passed_over(tmp_path_factory: pytest.TempPathFactory, places: list[list[str]]) -> None:
    """No Markdown of any tree is left out of the report, and none is in both halves of it."""
    root = tmp_path_factory.mktemp("tree")
    for parts in places:
        path = root.joinpath(*parts)
        if any(one.is_file() for one in path.parents) or path.exists():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("- x\n", encoding="utf-8")
    bank = Workspace.open(str(root))
    seen = survey(bank)
    files = {one.path for one in seen.files}
    told = passed_over(bank, seen.scan)
    assert not files & {one.path for one in told}
    for path in root.rglob("*.md"):
        name = path.relative_to(root).as_posix()
        # What is hidden in a folder that has nothing to do with the memory is nobody's business.
        is_quiet = name.split("/")[0] not in ("memory", "bank") and any(part[0] == "." for part in name.split("/"))
        if path.is_file() and not is_quiet:
            covered = any(name == one.path or (one.path.endswith("/") and name.startswith(one.path)) for one in told)
            assert (name in files) != covered, name
