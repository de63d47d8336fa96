"""Real processes: the command line as a shell runs it, in a clean environment."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from openclaw_memory.bank.template import copy_template

NOW = "2025-12-06T12:00:00"
#: What a process needs from the machine; everything else, and so every OPENCLAW_*, is left out.
KEPT = ("SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "PATHEXT", "TEMP", "TMP", "LD_LIBRARY_PATH", "VIRTUAL_ENV")


class Ran(NamedTuple):
    """How a process ended: exit code, and what it wrote."""

    code: int
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        return self.out.decode("utf-8")

    @property
    def told(self) -> str:
        return self.err.decode("utf-8", "replace")


Run = Callable[..., Ran]


def clean_environment(home: Path) -> dict[str, str]:
    home.mkdir(exist_ok=True)
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return kept | {
        "PATH": os.defpath,
        "HOME": str(home),
        "USERPROFILE": str(home),
        "TZ": "UTC",
        "LANG": "C.UTF-8",
        "COLUMNS": "100",
        "TERM": "dumb",
    }


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The variables that the processes of a test get; a test may change them."""
    return clean_environment(tmp_path / "home")


@pytest.fixture
def run(tmp_path: Path, environment: dict[str, str]) -> Run:
    """``run("recall", "…")`` runs ``python -m openclaw_memory`` to its end in the test's own folder."""

    def call(*arguments: str, stdin: bytes = b"", before: tuple[str, ...] = (), **variables: str) -> Ran:
        done = subprocess.run(
            [*before, sys.executable, "-m", "openclaw_memory", *arguments],
            input=stdin,
            capture_output=True,
            env=environment | variables,
            cwd=tmp_path,
            timeout=120,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    return call


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo workspace, indexed; for tests that only read."""
    folder = tmp_path_factory.mktemp("demo") / "workspace"
    copy_template(str(folder), True)
    subprocess.run(
        [sys.executable, "-m", "openclaw_memory", "index", "--workspace", str(folder)],
        env=clean_environment(folder.parent / "home"),
        check=True,
        capture_output=True,
    )
    return folder


@pytest.fixture
def own_demo(demo: Path, tmp_path: Path) -> Path:
    """A copy of the demo workspace that a test may change; not indexed."""
    folder = tmp_path / "workspace"
    shutil.copytree(demo, folder, ignore=shutil.ignore_patterns(".memory"))
    return folder


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A small workspace that a test may change; not indexed."""
    folder = tmp_path / "small"
    (folder / "memory").mkdir(parents=True)
    (folder / "bank" / "entities").mkdir(parents=True)
    (folder / "MEMORY.md").write_text("# Memory\n\n## Harbour\n- The boat lies at berth 14.\n", encoding="utf-8")
    (folder / "memory" / "2025-12-01.md").write_text(
        "# 2025-12-01\n\nRained all day.\n\n## Retain\n- W @Peter: Lives in Lisbon.\n- O(c=0.9) @Peter: Prefers tea.\n",
        encoding="utf-8",
    )
    (folder / "bank" / "entities" / "Peter.md").write_text("# Peter\n\n- W @Peter: Was born in Porto.\n", "utf-8")
    return folder


@pytest.fixture
def at(demo: Path) -> tuple[str, ...]:
    """The options that name the demo workspace and the time."""
    return ("--workspace", str(demo), "--now", NOW)
