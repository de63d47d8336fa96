"""A question does not wait for a long indexing: it is answered from what is there, says so, and a process reads on."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from openclaw_memory.bank import background
from openclaw_memory.bank.freshness import LONG, ask_fresh
from openclaw_memory.bank.search_settings import SearchSettings, SyncSettings
from openclaw_memory.bank.workspace import Workspace
from openclaw_memory.recall.context import build_context
from openclaw_memory.recall.engine import recall
from openclaw_memory.recall.search import memory_search

LINE = "- The kingfisher of day {} sat on post number {}.\n"


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in list(os.environ):
        if name.startswith("OPENCLAW_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setattr(background, "_started", {})
    yield
    for process in background._started.values():
        process.kill()
        process.wait()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    (folder / "memory").mkdir(parents=True)
    (folder / "memory" / "2025-01-01.md").write_text("- The heron.\n", encoding="utf-8")
    return folder


def ask(workspace: Workspace) -> tuple[int, bool, list[str]]:
    count, fresh = ask_fresh(workspace, lambda c: c.execute("SELECT count(*) FROM files").fetchone()[0])
    return count, fresh.stale, fresh.notes


def add_long(root: Path) -> int:
    """Files of more than a question waits for; how many."""
    files = 0
    size = 0
    while size <= LONG:
        files += 1
        text = "".join(LINE.format(files, number) for number in range(400))
        (root / "memory" / f"note-{files}.md").write_text(text, encoding="utf-8")
        size += len(text)
    return files


def test_a_long_indexing_is_left_to_another_process(root: Path) -> None:
    workspace = Workspace.open(str(root))
    assert ask(workspace) == (1, False, [])
    files = add_long(root)
    began = time.monotonic()
    count, stale, (told,) = ask(workspace)
    waited = time.monotonic() - began
    assert (count, stale) == (1, True)
    assert told.startswith(f"{files} files changed")
    (process,) = background._started.values()
    began = time.monotonic()
    assert process.wait(120) == 0
    assert waited < time.monotonic() - began + 1
    assert ask(workspace) == (files + 1, False, [])


def test_a_little_is_read_at_once(root: Path) -> None:
    workspace = Workspace.open(str(root))
    ask(workspace)
    (root / "memory" / "2025-01-02.md").write_text("- The egret.\n", encoding="utf-8")
    assert ask(workspace) == (2, False, [])
    assert not background._started


def test_the_first_index_is_always_waited_for(root: Path) -> None:
    files = add_long(root)
    assert ask(Workspace.open(str(root))) == (files + 1, False, [])
    assert not background._started


@pytest.mark.parametrize("why", ["switched off", "paths of this process alone"])
def test_where_no_other_process_can_the_question_waits(root: Path, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if why == "switched off":
        monkeypatch.setenv(background.BACKGROUND, "0")
    workspace = Workspace.open(str(root), [] if why == "switched off" else ["docs"])
    ask(workspace)
    files = add_long(root)
    count, stale, _ = ask(workspace)
    assert (count, stale) == (files + 1, False)


@pytest.mark.parametrize("what", ["search", "recall", "context"])
def test_what_is_not_to_sync_says_that_it_is_behind(root: Path, what: str) -> None:
    settings = SyncSettings(on_search=what == "context", on_session_start=what != "context")
    workspace = Workspace.open(str(root), settings=SearchSettings(sync=settings))
    now = datetime(2025, 1, 2, 12, tzinfo=UTC)

    def stale(asked: str) -> bool:
        if asked == "context":
            return bool(build_context(workspace, session="main", now=now)["stale"])
        answer = (memory_search if asked == "search" else recall)(workspace, "egret", now=now)
        return bool(answer.get("stale"))

    assert not stale(what)
    (root / "memory" / "2025-01-02.md").write_text("- The egret.\n", encoding="utf-8")
    assert stale(what)
    assert not stale("recall" if what == "context" else "context")
    assert not stale(what)
