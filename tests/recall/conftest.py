"""Workspaces to ask, and the moment at which they are asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from openclaw_memory.bank.sync import sync
from openclaw_memory.bank.template import copy_template
from openclaw_memory.bank.workspace import Workspace
from openclaw_memory.recall.engine import recall
from openclaw_memory.recall.filters import make_filters
from openclaw_memory.recall.search import memory_search

NOW = datetime(2025, 12, 6, 12, tzinfo=UTC)
Make = Callable[[Mapping[str, str]], Workspace]


def write(root: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """``make({"memory/2025-12-01.md": "- text\\n"})`` is a workspace with these files."""

    def workspace(files: Mapping[str, str]) -> Workspace:
        write(tmp_path, files)
        return Workspace.open(str(tmp_path))

    return workspace


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """The demo workspace, indexed; for reading only."""
    folder = str(tmp_path_factory.mktemp("demo"))
    copy_template(folder, True)
    workspace = Workspace.open(folder)
    sync(workspace)
    return workspace


@pytest.fixture(scope="session")
def ask() -> Callable[..., dict[str, Any]]:
    """``ask(workspace, "…", k=5, since="30d")``: recall with the command line's filters."""

    def answer(workspace: Workspace, query: str, *, now: datetime = NOW, **options: Any) -> dict[str, Any]:
        own = {name: options.pop(name) for name in ("k", "budget", "explain", "no_sync") if name in options}
        return recall(workspace, query, now=now, filters=make_filters(now, **options), **own)

    return answer


@pytest.fixture(scope="session")
def find() -> Callable[..., dict[str, Any]]:
    """``find(workspace, "…", max_results=3)``: memory_search."""

    def answer(workspace: Workspace, query: str, *, now: datetime = NOW, **options: Any) -> dict[str, Any]:
        return memory_search(workspace, query, now=now, **options)

    return answer
