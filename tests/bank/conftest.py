"""What several test modules of this room need: a folder in which permissions hold, also where root runs the tests."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from openclaw_memory.bank.workspace import Workspace
from openclaw_memory.recall.engine import recall

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
