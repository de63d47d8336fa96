"""A real OpenClaw with the plug-in installed as a user would, in a home of its own, with a model server beside it.

``make test-openclaw`` brings OpenClaw and its Node and sets ``OPENCLAW`` to the folder that they are in.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from openclaw_memory.bank.template import copy_template

from .model import Model

ROOT = Path(__file__).parent.parent.parent
CORE = "# Core\n\nThe word of the day is xylophone.\n"
Run = Callable[..., "subprocess.CompletedProcess[str]"]


class Place(NamedTuple):
    """``home``: OpenClaw's. ``binaries``: of the Python environment with the wheel. ``real``: OpenClaw's command."""

    home: Path
    workspace: Path
    binaries: Path
    real: str
    environment: dict[str, str]

    @property
    def config_path(self) -> Path:
        return self.home / ".openclaw" / "openclaw.json"

    def config(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self.config_path.read_text("utf-8"))
        return told

    def configure(self, **sections: Any) -> None:
        self.config_path.write_text(json.dumps(self.config() | sections), "utf-8")


@pytest.fixture(scope="session")
def modules() -> Path:
    """The ``node_modules`` that hold OpenClaw and its Node."""
    named = os.environ.get("OPENCLAW")
    if not named:
        pytest.skip("OPENCLAW is not set: use make test-openclaw")
    return (ROOT / named / "node_modules").resolve()


@pytest.fixture(scope="session")
def binaries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python environment with the wheel of these sources; dependencies are those of the one that runs the tests."""
    folder = tmp_path_factory.mktemp("python")
    source = folder / "source"
    # From a copy, since a build leaves files behind.
    shutil.copytree(
        ROOT, source, ignore=shutil.ignore_patterns(".git", ".venv*", "build", "tests", ".memory", "*.egg-info")
    )
    venv.create(folder / "venv", with_pip=False)
    binaries = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    inside = {"base": str(folder / "venv"), "platbase": str(folder / "venv")}
    packages = Path(sysconfig.get_path("purelib", "venv", inside))
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", "utf-8")
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(folder / "venv"), "install", "--quiet", "--no-deps", str(source)],
        check=True,
    )
    return binaries


@pytest.fixture(scope="session")
def model() -> Iterator[Model]:
    with Model() as running:
        yield running


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory, modules: Path, binaries: Path, model: Model) -> Place:
    """A home with a configuration and a workspace, no plug-in yet."""
    home = tmp_path_factory.mktemp("home")
    workspace = home / "notes"
    copy_template(str(workspace), demo=True)
    (workspace / "MEMORY.md").write_text(CORE, "utf-8")
    (home / ".openclaw").mkdir()
    (home / "tmp").mkdir()
    served = {
        "baseUrl": model.url,
        "apiKey": "none",
        "api": "openai-completions",
        "models": [
            {"id": "m", "name": "m", "reasoning": False, "input": ["text"], "contextWindow": 128000, "maxTokens": 4096}
        ],
    }
    defaults = {"workspace": str(workspace), "model": {"primary": "local/m"}, "skipBootstrap": True}
    (home / ".openclaw" / "openclaw.json").write_text(
        json.dumps({"agents": {"defaults": defaults}, "models": {"providers": {"local": served}}}), "utf-8"
    )
    nodes = [str(folder / "bin") for folder in modules.glob("node-*-*")]
    system = [folder for folder in os.environ["PATH"].split(os.pathsep) if not Path(folder, "openclaw-memory").exists()]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENCLAW", "PYTHON", "VIRTUAL"))}
    environment = kept | {
        "HOME": str(home),
        "USERPROFILE": str(home),
        "TMPDIR": str(home / "tmp"),
        "NO_COLOR": "1",
        "OPENCLAW_SKIP_CHANNELS": "1",
        "OPENCLAW_DISABLE_BONJOUR": "1",
        "PATH": os.pathsep.join([*nodes, *system]),
    }
    return Place(home, workspace, binaries, str(modules / ".bin" / "openclaw"), environment)


@pytest.fixture(scope="session")
def openclaw(place: Place) -> Run:
    """``openclaw("memory", "status")``: the real one, where ``openclaw-memory`` is not on PATH."""

    def run(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [place.real, *words],
            capture_output=True,
            encoding="utf-8",
            env=place.environment | variables,
            cwd=place.home,
            stdin=subprocess.DEVNULL,
            timeout=300,
        )

    return run


@pytest.fixture(scope="session")
def installed(place: Place) -> str:
    """The README's second command in a shell whose PATH has the Python environment first, and the recommended third."""
    path = os.pathsep.join([str(place.binaries), str(Path(place.real).parent), place.environment["PATH"]])
    readme = (ROOT / "integrations" / "openclaw" / "README.md").read_text("utf-8")
    commands = [line for line in readme.splitlines() if line.startswith("openclaw plugins")][:2]
    told = ""
    for command in commands:
        done = subprocess.run(
            command,
            shell=True,
            capture_output=True,
            encoding="utf-8",
            env=place.environment | {"PATH": path},
            cwd=place.home,
            stdin=subprocess.DEVNULL,
            timeout=300,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        told += done.stdout
    return told
