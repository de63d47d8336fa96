"""memory_get for what QMD found outside of the workspace."""

from __future__ import annotations

import os
from typing import Any

import pytest
from openclaw_memory.recall.qmd.reading import qmd_get

from .conftest import Bench, StandIn


@pytest.fixture
def notes(bench: Bench) -> Bench:
    folder = bench.folder / "notes"
    bench.write({"a.md": "one\ntwo\nthree\n", "sub/b c.md": "deep\n", "x.txt": "text\n", ".git/c.md": "x\n"}, folder)
    bench.write({"secret.md": "secret\n"}, bench.folder)
    os.symlink(bench.folder / "secret.md", folder / "link.md")
    os.symlink(bench.folder, folder / "up")
    bench.configure(
        paths=[{"path": "../notes", "name": "docs"}, {"path": "../notes", "name": "texts", "pattern": "*.txt"}]
    )
    return bench


def get(bench: Bench, path: str, *args: Any, **options: Any) -> dict[str, Any]:
    return qmd_get(bench.workspace, bench.settings, path, *args, agent="main", environ=bench.environ, **options)


def test_lines_of_a_file(notes: Bench, stand_in: StandIn) -> None:
    assert get(notes, "qmd/docs/a.md") == {
        "status": "ok",
        "text": "one\ntwo\nthree",
        "path": "qmd/docs/a.md",
        "from": 1,
        "lines": 3,
    }
    assert get(notes, "qmd/docs/a.md", 2, 1)["text"].startswith("two\n\n[More content available. Use from=3")
    assert get(notes, "qmd/docs/sub/b c.md")["text"] == "deep"
    assert get(notes, "qmd/texts/x.txt")["text"] == "text"
    assert get(notes, "qmd/memory-dir/2025-12-01.md")["lines"] == 3
    assert stand_in.calls == []


def test_what_is_not_there(notes: Bench) -> None:
    assert get(notes, "qmd/docs/nothing.md") == {"status": "not_found", "text": "", "path": "qmd/docs/nothing.md"}


@pytest.mark.parametrize(
    "path",
    [
        "qmd/docs/../secret.md",
        "qmd/docs/link.md",
        "qmd/docs/up/secret.md",
        "qmd/docs/.git/c.md",
        "qmd/docs/x.txt",
        "qmd/texts/a.md",
        "qmd/docs",
        "qmd/docs/",
        "qmd/docs/sub/",
        "qmd/other/a.md",
        "qmd/",
        "qmd/docs//etc/passwd",
        "qmd/docs/C:/x.md",
        "qmd/docs/a\0.md",
        "qmd/docs/con.md",
        "qmd/docs/" + "x" * 300 + ".md",
        "memory/2025-12-01.md",
    ],
)
def test_what_may_not_be_read(notes: Bench, path: str) -> None:
    answer = get(notes, path)
    assert answer["status"] == "error"
    assert answer["code"] == "MEMORY_PATH_NOT_ALLOWED"
    assert answer["text"] == ""
    assert "\n" not in answer["error"]


def test_lines_count_from_one(notes: Bench) -> None:
    for options in ((0, 1), (1, 0)):
        assert get(notes, "qmd/docs/a.md", *options)["code"] == "MEMORY_READ_FAILED"
    assert get(notes, "qmd/docs/a.md", 9)["lines"] == 0


def test_a_chat_that_may_not_search_may_not_read(notes: Bench) -> None:
    answer = get(notes, "qmd/docs/a.md", session_key="agent:main:discord:channel:42")
    assert answer["code"] == "MEMORY_PATH_NOT_ALLOWED"
    assert "chatType=channel" in answer["error"]
    assert get(notes, "qmd/docs/a.md", session_key="agent:main:main")["status"] == "ok"
