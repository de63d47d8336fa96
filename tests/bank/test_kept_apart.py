"""What agents and groups must not see stays unseen, however the configuration names places."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from openclaw_memory.bank.config import Configuration, find_workspace
from openclaw_memory.bank.driver import Connection
from openclaw_memory.bank.errors import MemoryFault
from openclaw_memory.bank.freshness import ask_fresh
from openclaw_memory.bank.search_settings import ExtraPath, read_search
from openclaw_memory.bank.sync import sync
from openclaw_memory.bank.workspace import Workspace
from openclaw_memory.recall.context import build_context

NOW = datetime(2025, 12, 6, 12, 0).astimezone()


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def texts(connection: Connection) -> list[str]:
    return [row[0] for row in connection.execute("SELECT text FROM passages ORDER BY text")]


@pytest.mark.parametrize("place", ["{root}/index.sqlite", "{root}/notes/.memory/mine.sqlite"])
def test_agents_with_one_store_path_do_not_see_what_the_other_indexed(tmp_path: Path, place: str) -> None:
    """Neither with another extra path nor with another workspace, and not even by an index that is not synced."""
    for owner in ("ada", "ben"):
        write(tmp_path / owner / "own.md", f"- only {owner} knows\n")
    write(tmp_path / "notes/memory/2025-12-01.md", "- both know\n")
    write(tmp_path / "other/memory/2025-12-01.md", "- elsewhere\n")
    values: dict[str, Any] = {
        "agents": {
            "entries": {
                owner: {"memory": {"search": {"extraPaths": [str(tmp_path / owner)]}}} for owner in ("ada", "ben")
            }
        },
        "memory": {"search": {"store": {"path": place.format(root=tmp_path)}}},
    }

    def seen(agent: str, notes: str = "notes") -> list[str]:
        workspace = Workspace.configured(str(tmp_path / notes), Configuration("c", values), agent)
        found, fresh = ask_fresh(workspace, texts, no_sync=True)
        assert workspace.index_path == str(Path(place.format(root=tmp_path)))
        assert all("{agentId}" in note for note in fresh.notes)
        return found

    for _ in range(2):
        assert seen("ada") == ["both know", "only ada knows"]
        assert seen("ben") == ["both know", "only ben knows"]
        assert seen("main", "other") == ["elsewhere"]


@pytest.mark.parametrize("agent", ["../../elsewhere", "a/b", "..", ".hidden", "a\\b", "a\nb", "x" * 200, ""])
def test_the_name_of_an_agent_leads_nowhere(tmp_path: Path, agent: str) -> None:
    values = {"memory": {"search": {"store": {"path": str(tmp_path / "stores" / "{agentId}" / "index.sqlite")}}}}
    settings, warnings = read_search(Configuration("c", values), agent, {})
    assert settings.store_path == ""
    assert "store.path" in warnings[0]
    assert "\n" not in warnings[0]
    for plain in ("Ada", "ünï", "a.b-c_d"):
        settings, warnings = read_search(Configuration("c", values), plain, {})
        assert settings.store_path == str(tmp_path / "stores" / plain / "index.sqlite")
        assert not warnings


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_a_group_never_sees_the_core_by_an_extra_path(tmp_path: Path) -> None:
    """The core is known by its name; an extra path that held the workspace, or spelt it otherwise, gave it another."""
    root = tmp_path / "home" / "notes"
    write(root / "MEMORY.md", "# Memory\n\n- The zebra code is 4411.\n")
    write(root / "memory/2025-12-01.md", "- A quiet day.\n")
    write(root / "plans.md", "- A zebra is on the plan.\n")
    (tmp_path / "link").symlink_to(tmp_path / "home")
    os.link(root / "MEMORY.md", write(tmp_path / "linked/a.md", "").parent / "core.md")
    for extra in (".", "..", "MEMORY.md", tmp_path / "home", tmp_path / "link/notes", tmp_path / "linked"):
        workspace = Workspace.open(str(root), [str(extra)])
        sync(workspace)
        group = build_context(workspace, now=NOW, session="group", question="What is the zebra code?")
        assert "4411" not in group["text"], extra
        private = build_context(workspace, now=NOW, question="What is the zebra code?")
        assert private["text"].count("4411") == 1
        if str(extra) in (".", "..", str(tmp_path / "home")):
            assert "on the plan" in group["text"]


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_an_extra_path_that_is_not_read_is_told(tmp_path: Path) -> None:
    write(tmp_path / "real/a.md", "- words\n")
    write(tmp_path / "real/a.txt", "words\n")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "notes").mkdir()
    extra = [ExtraPath(str(tmp_path / name)) for name in ("link", "real/a.txt", "real/a.md", "real")]
    workspace = Workspace.open(str(tmp_path / "notes"), extra)
    told = [line.split(str(tmp_path))[1] for line in workspace.warnings]
    assert told == ["/link is a symbolic link and not read; name its target", "/real/a.txt is no .md file and not read"]


@pytest.mark.parametrize("text", ["a\0b", "\ud800"])
@pytest.mark.parametrize("key", ["store.path", "extraPaths", "local.modelPath", "qmd"])
def test_what_no_path_can_hold_is_told_by_its_key(text: str, key: str) -> None:
    from openclaw_memory.bank.embeddings.settings import read_settings
    from openclaw_memory.recall.qmd.settings import read_qmd

    section, _, name = key.partition(".")
    value: Any = {name: text} if name else [text]
    memory = {"qmd": {"command": text}} if key == "qmd" else {"search": {section: value}}
    configuration = Configuration("openclaw.json", {"memory": memory})

    def read_all() -> None:
        for read in (read_search, read_settings, read_qmd):
            read(configuration, "main", {})

    with pytest.raises(MemoryFault, match=r"memory\.\S+: holds a character that no path can hold \(openclaw\.json\)"):
        read_all()


@pytest.mark.parametrize("asked", ["Ada", "ada", "ADA"])
def test_an_agent_has_one_name_in_whatever_case_it_is_asked_for(tmp_path: Path, asked: str) -> None:
    configuration = Configuration("c", {"agents": {"entries": {"Ada": {"workspace": str(tmp_path)}, "main": {}}}})
    assert find_workspace(None, asked, {"HOME": str(tmp_path)}, configuration).agent == "Ada"
