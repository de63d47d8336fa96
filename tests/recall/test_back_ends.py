"""memory_search and memory_get with QMD as the back end: it answers, or the built-in index does and says so."""

from __future__ import annotations

import json
import stat
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from openclaw_memory.bank.config import Configuration
from openclaw_memory.bank.workspace import Workspace
from openclaw_memory.recall.get import memory_get
from openclaw_memory.recall.search import chat_type_of, memory_search

NOW = datetime(2025, 12, 6, 12, tzinfo=UTC)


@pytest.fixture
def at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("OPENCLAW_STATE_DIR", str(tmp_path / "state"))
    root = tmp_path / "notes"
    (root / "memory").mkdir(parents=True)
    (root / "memory" / "2025-12-01.md").write_text("- The heron nests by the lock.\n", encoding="utf-8")
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "guide.md").write_text("# Guide\n\nFeed the heron.\n", encoding="utf-8")

    def open_with(**qmd: Any) -> Workspace:
        values = {"memory": {"backend": "qmd", "qmd": {"paths": [{"name": "docs", "path": str(docs)}], **qmd}}}
        return Workspace.configured(str(root), Configuration(str(tmp_path / "openclaw.json"), values), "main")

    return open_with


def search(workspace: Workspace, **options: Any) -> dict[str, Any]:
    return memory_search(workspace, "heron", now=NOW, **options)


@pytest.mark.parametrize("fault", ["missing", "fails", "no json"])
def test_the_built_in_index_answers_where_qmd_does_not(at: Any, tmp_path: Path, fault: str) -> None:
    program = tmp_path / "stand-in"
    if fault != "missing":
        ending = "sys.exit(3)" if fault == "fails" else "print('{{{')"
        program.write_text(f"#!{sys.executable}\nimport sys\n{ending}\n", encoding="utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    answer = search(at(command=str(program), update={"waitForBootSync": True}))
    assert [found["path"] for found in answer["results"]] == ["memory/2025-12-01.md"]
    assert answer["warning"].startswith("QMD does not answer: ")
    assert answer["warning"].endswith("; the built-in index answers")
    assert "backend" not in answer


def test_a_setting_of_a_wrong_type_is_told_and_the_built_in_index_answers(at: Any) -> None:
    answer = search(at(limits={"timeoutMs": "soon"}))
    assert answer["results"]
    assert "memory.qmd.limits.timeoutMs" in answer["warning"]


def test_files_of_collections_can_be_read(at: Any) -> None:
    workspace = at()
    answer = memory_get(workspace, "qmd/docs/guide.md", 3, 1)
    assert (answer["status"], answer["text"], answer["path"]) == ("ok", "Feed the heron.", "qmd/docs/guide.md")
    for path in ("qmd/docs/../notes/memory/2025-12-01.md", "qmd/other/guide.md", "qmd/docs/guide.txt"):
        assert memory_get(workspace, path)["status"] == "error"
    assert memory_get(workspace, "qmd/docs/none.md")["status"] == "not_found"
    group = memory_get(workspace, "qmd/docs/guide.md", session_key="agent:main:discord:channel:42")
    assert group["code"] == "MEMORY_PATH_NOT_ALLOWED"
    plain = Workspace.open(workspace.root)
    assert memory_get(plain, "qmd/docs/guide.md")["code"] == "MEMORY_PATH_NOT_ALLOWED"


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        (None, "direct"),
        ("agent:main:main", "direct"),
        ("agent:main:telegram:group:-100", "group"),
        ("agent:main:discord:channel:42", "channel"),
    ],
)
def test_citations_by_the_chat_that_asks(at: Any, key: str | None, kind: str) -> None:
    assert chat_type_of(key) == kind
    workspace = Workspace.open(at().root)
    answer = search(workspace, session_key=key)
    assert answer["citations"] == ("on" if kind == "direct" else "off")
    assert ("citation" in answer["results"][0]) == (kind == "direct")
    assert json.dumps(answer).count("Source:") == (kind == "direct")
