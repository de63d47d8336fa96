"""``memory_get``: pages of 120 lines or 12,000 characters, honest about what is missing or not allowed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openclaw_memory.bank.workspace import Workspace
from openclaw_memory.recall.get import DEFAULT_LINES, MOST_CHARACTERS, memory_get

MORE = "\n\n[More content available. Use from={} to continue.]"


def numbered(count: int, width: int = 0) -> str:
    return "".join(f"line {number} {'x' * width}".rstrip() + "\n" for number in range(1, count + 1))


def test_a_short_file(make) -> None:
    workspace = make({"MEMORY.md": "# Memory\n\n- one\n"})
    assert memory_get(workspace, "MEMORY.md") == {
        "status": "ok",
        "text": "# Memory\n\n- one",
        "path": "MEMORY.md",
        "from": 1,
        "lines": 3,
    }


def test_a_page_is_120_lines(make) -> None:
    workspace = make({"memory/2025-12-01.md": numbered(121)})
    page = memory_get(workspace, "memory/2025-12-01.md")
    assert (page["lines"], page["truncated"], page["nextFrom"]) == (DEFAULT_LINES, True, 121)
    assert page["text"] == numbered(120).rstrip("\n") + MORE.format(121)
    rest = memory_get(workspace, "memory/2025-12-01.md", 121)
    assert rest == {"status": "ok", "text": "line 121", "path": "memory/2025-12-01.md", "from": 121, "lines": 1}
    exact = make({"memory/2025-12-01.md": numbered(120)})
    assert "truncated" not in memory_get(exact, "memory/2025-12-01.md")


def test_a_page_is_12000_characters(make) -> None:
    workspace = make({"memory/2025-12-01.md": numbered(100, 500)})
    page = memory_get(workspace, "memory/2025-12-01.md")
    assert page["lines"] < 30
    assert len(page["text"].removesuffix(MORE.format(page["nextFrom"]))) <= MOST_CHARACTERS
    assert page["nextFrom"] == page["lines"] + 1


def test_a_line_longer_than_a_page_is_cut(make) -> None:
    workspace = make({"memory/2025-12-01.md": "x" * 50_000 + "\nshort\n"})
    page = memory_get(workspace, "memory/2025-12-01.md")
    assert (page["lines"], page["nextFrom"]) == (1, 2)
    assert page["text"] == "x" * MOST_CHARACTERS + " […]" + MORE.format(2)
    assert memory_get(workspace, "memory/2025-12-01.md", 2)["text"] == "short"


def test_lines(make) -> None:
    workspace = make({"memory/2025-12-01.md": numbered(300)})
    page = memory_get(workspace, "memory/2025-12-01.md", 5, 2)
    assert page["text"] == "line 5\nline 6" + MORE.format(7)
    assert (page["from"], page["lines"], page["nextFrom"]) == (5, 2, 7)
    assert memory_get(workspace, "memory/2025-12-01.md", 1, 10**30)["lines"] == 300


def test_past_the_end(make) -> None:
    workspace = make({"memory/2025-12-01.md": numbered(3), "memory/2025-12-02.md": ""})
    for start in (4, 5, 10**30):
        assert memory_get(workspace, "memory/2025-12-01.md", start) == {
            "status": "ok",
            "text": "",
            "path": "memory/2025-12-01.md",
            "from": start,
            "lines": 0,
        }
    assert memory_get(workspace, "memory/2025-12-02.md")["lines"] == 0


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.text(st.characters(exclude_characters="\n\r\0", exclude_categories=["Cs"]), max_size=200)
        | st.just("y" * 7000),
        max_size=40,
    ),
    st.sampled_from(["\n", "\r\n"]),
    st.none() | st.integers(1, 9),
)
def test_next_from_reads_the_whole_file_back(tmp_path: Path, lines: list[str], newline: str, most: int | None) -> None:
    (tmp_path / "memory").mkdir(exist_ok=True)
    (tmp_path / "memory" / "2025-12-01.md").write_bytes("".join(line + newline for line in lines).encode())
    workspace = Workspace.open(str(tmp_path))
    read: list[str] = []
    start = 1
    while True:
        page = memory_get(workspace, "memory/2025-12-01.md", start, most)
        text = page["text"]
        if "nextFrom" in page:
            text = text.removesuffix(MORE.format(page["nextFrom"]))
            assert page["nextFrom"] == start + page["lines"]
        if page["lines"]:
            read += text.split("\n")
        assert len(read) == start + page["lines"] - 1
        if "nextFrom" not in page:
            break
        start = page["nextFrom"]
    expected = [line.removeprefix("\ufeff") if not number else line for number, line in enumerate(lines)]
    assert [line.rstrip("\r") for line in read] == expected


def test_missing(make) -> None:
    workspace = make({})
    for path in ("memory/2025-12-01.md", "MEMORY.md", "bank/entities/Nobody.md"):
        assert memory_get(workspace, path) == {"status": "not_found", "text": "", "path": path}


@pytest.mark.parametrize(
    "path",
    [
        "",
        " ",
        "..",
        "../x.md",
        "memory/../../x.md",
        "/etc/passwd",
        "memory/x.txt",
        "memory",
        "memory/",
        "x.md",
        ".memory/a.md",
        "memory/.hidden.md",
        "memory\\x.md",
        "C:/x.md",
        "memory/\0.md",
        "memory/\n.md",
        "m" * 5000 + ".md",
        "memory/nul.md",
        "memory/\ud800.md",
        "file:///etc/x.md",
        "AGENTS.md",
        "~/x.md",
    ],
)
def test_not_allowed(make, path: str) -> None:
    answer = memory_get(make({"AGENTS.md": "x\n", "memory/x.txt": "x\n", "x.md": "x\n"}), path)
    assert list(answer) == ["path", "text", "status", "code", "error"]
    assert (answer["path"], answer["text"], answer["status"]) == (path, "", "error")
    assert answer["code"] == "MEMORY_PATH_NOT_ALLOWED"
    assert "\n" not in answer["error"]


@pytest.mark.parametrize(("start", "count"), [(0, None), (-1, None), (1, 0), (1, -5)])
def test_bad_numbers(make, start: int, count: int | None) -> None:
    answer = memory_get(make({"MEMORY.md": "x\n"}), "MEMORY.md", start, count)
    assert (answer["status"], answer["code"]) == ("error", "MEMORY_READ_FAILED")


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need a privilege there")
def test_links_are_refused(make, tmp_path: Path) -> None:
    workspace = make({"MEMORY.md": "x\n", "secret.txt": "secret\n", "memory/real.md": "real\n"})
    (tmp_path / "memory" / "link.md").symlink_to(tmp_path / "secret.txt")
    (tmp_path / "bank").symlink_to(tmp_path / "memory")
    for path in ("memory/link.md", "bank/real.md"):
        assert memory_get(workspace, path)["code"] == "MEMORY_PATH_NOT_ALLOWED"


@pytest.mark.parametrize(
    "path", ["MEMORY.md", "USER.md", "DREAMS.md", "memory/a/b/c.md", "bank/entities/x.md", "notes/x.md"]
)
def test_what_may_be_read(make, path: str) -> None:
    workspace = Workspace.open(make({path: "text\n"}).root, ["notes"])
    assert memory_get(workspace, path)["text"] == "text"
    assert memory_get(workspace, f"{workspace.root}/{path}")["path"] == path


def test_bytes_that_are_no_text(make, tmp_path: Path) -> None:
    workspace = make({})
    (tmp_path / "MEMORY.md").write_bytes(b"\xef\xbb\xbfcaf\xe9\r\nx\x0cy\xe2\x80\xa8z\n")
    page = memory_get(workspace, "MEMORY.md")
    assert page["lines"] == 2
    assert page["text"].startswith("caf�")


@pytest.mark.parametrize(("there", "asked"), [("memory.md", "MEMORY.md"), ("MEMORY.md", "memory.md")])
def test_the_core_by_either_of_its_names(tmp_path: Path, there: str, asked: str) -> None:
    """Prompts of OpenClaw say MEMORY.md, a new workspace has memory.md."""
    (tmp_path / there).write_text("# Core\n", encoding="utf-8")
    answer = memory_get(Workspace.open(str(tmp_path)), asked)
    assert (answer["status"], answer["path"], answer["text"]) == ("ok", there, "# Core\n".strip())
