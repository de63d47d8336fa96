"""The plug-in's modules in a plain Node, with real ``openclaw-memory`` processes behind them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from openclaw_memory.bank.sync import sync
from openclaw_memory.bank.template import copy_template
from openclaw_memory.bank.workspace import Workspace

HERE = Path(__file__).parent
PLUGIN = HERE.parent.parent / "integrations" / "openclaw"
OLDEST_NODE = 20
Script = Callable[..., Any]


@pytest.fixture(scope="session")
def node() -> str:
    """Node, of a release that the plug-in runs on."""
    found = shutil.which("node")
    if not found:
        pytest.skip("no node on PATH")
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
    if int(version.lstrip("v").split(".")[0]) < OLDEST_NODE:
        pytest.skip(f"node {version.strip()} is older than {OLDEST_NODE}")
    return found


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Nothing of the machine's OpenClaw, and ``openclaw-memory`` of these sources."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OPENCLAW")}
    home = tmp_path / "home"
    home.mkdir()
    return kept | {
        "HOME": str(home),
        "USERPROFILE": str(home),
        "OPENCLAW_MEMORY_COMMAND": json.dumps([sys.executable, "-m", "openclaw_memory"]),
    }


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo workspace with its index."""
    folder = tmp_path_factory.mktemp("demo") / "workspace"
    copy_template(str(folder), demo=True)
    sync(Workspace(str(folder)))
    return folder


@pytest.fixture
def workspace(tmp_path: Path, demo: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(demo, tmp_path / "workspace"))


@pytest.fixture
def script(node: str, environment: dict[str, str], tmp_path: Path, workspace: Path) -> Script:
    """``script("…")`` runs JavaScript with the plug-in's modules at hand (``host.mjs``); what it gives to ``tell``."""

    def run(code: str, *, timeout: float = 60, ends: int = 0, **variables: str) -> Any:
        (tmp_path / "script.mjs").write_text(
            f"""
            import * as host from {json.dumps((HERE / "host.mjs").as_uri())};
            const {{ api, tell, plugin, pid, waitFor, fault }} = host;
            const load = (name) => import({json.dumps(PLUGIN.as_uri())} + "/" + name);
            const workspace = {json.dumps(str(workspace))};
            {code}
            """,
            "utf-8",
        )
        done = subprocess.run(
            [node, str(tmp_path / "script.mjs")],
            capture_output=True,
            encoding="utf-8",
            env=environment | variables,
            cwd=tmp_path,
            timeout=timeout,
            check=False,
        )
        assert done.returncode == ends, done.stderr
        return json.loads(done.stdout)

    return run
