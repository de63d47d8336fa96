"""What several test modules of this room need: a folder in which permissions hold, also where root runs the tests, and
a provider of embeddings on this machine."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from openclaw_memory.bank.embeddings.models import Models
from openclaw_memory.bank.embeddings.settings import BatchSettings, EmbeddingSettings, RemoteSettings
from openclaw_memory.bank.workspace import Workspace
from openclaw_memory.recall.engine import recall

from .embeddings.conftest import SECRET, Provider, served

NOBODY = 65534


@contextlib.contextmanager
def as_somebody() -> Iterator[None]:
    """Without root's right to read and write everything, where the tests have it."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@functools.cache
def _import_everything() -> None:
    """Somebody may not be able to read the modules that the first sync and the first question import."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "MEMORY.md").write_text("- W @Peter: Lives in Lisbon.", encoding="utf-8")
        recall(Workspace.open(folder), "Peter in Lisbon", now=datetime(2026, 1, 12, tzinfo=UTC))


@pytest.fixture
def somebody() -> Callable[[], AbstractContextManager[None]]:
    return as_somebody


@pytest.fixture
def lent(tmp_path: Path) -> Iterator[Path]:
    """An empty folder that ``somebody`` owns and can reach."""
    if os.name == "nt":
        pytest.skip("modes are another thing there")
    if os.geteuid() != 0:
        yield tmp_path
        return
    _import_everything()
    folder = Path(tempfile.mkdtemp())
    os.chown(folder, NOBODY, NOBODY)
    try:
        with as_somebody():
            reached = os.access(folder, os.W_OK, effective_ids=True)
        if not reached:
            pytest.skip("the folder for temporary files is root's alone")
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    """A server of vectors, reached without a proxy."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    yield from served()


def asking(root: Path, server: Provider, model: str = "m", **more: Any) -> Workspace:
    """A workspace as its configuration would have it; each call is a process of its own as far as models go."""
    remote = RemoteSettings(f"{server.url}/v1", SECRET, batch=BatchSettings(enabled=False))
    found = EmbeddingSettings(provider="openai-compatible", model=model, remote=remote)._replace(**more)
    return Workspace(str(root), models=Models(found))


def search_settings(server: Provider, batch: dict[str, Any] | None = None) -> dict[str, Any]:
    """The same as a configuration file says it."""
    remote = {"baseUrl": f"{server.url}/v1", "apiKey": SECRET, "batch": batch or {"enabled": False}}
    return {"memory": {"search": {"provider": "openai-compatible", "model": "m", "remote": remote}}}


def wait_for(condition: Callable[[], object], seconds: float = 30.0) -> None:
    """Wait until something is so; fails where it does not come."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not come"
        time.sleep(0.02)
