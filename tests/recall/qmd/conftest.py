"""QMD to test with: the real one where it is installed, and a stand-in that fails as it is told."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from openclaw_memory.bank.config import Configuration
from openclaw_memory.bank.workspace import Workspace
from openclaw_memory.recall.qmd.collections import mark_of, wanted_collections
from openclaw_memory.recall.qmd.home import Home, Made, Record, Work, home_of, make_home, write_record
from openclaw_memory.recall.qmd.search import qmd_search
from openclaw_memory.recall.qmd.settings import QmdSettings, read_qmd

#: The command of a real QMD; `make test-qmd` installs one and sets this.
VARIABLE = "OPENCLAW_MEMORY_TEST_QMD"
ROOT = Path(__file__).parents[3]
FILES = {
    "MEMORY.md": "# Core\n\n- The tram to the office is line 14.\n- Mara prefers releases on Tuesdays.\n",
    "memory/2025-12-01.md": "# 1 December\n\n- Bought a cargo bike for 1200 euros.\n",
    "memory/2025-12-02.md": "# 2 December\n\n- The heating in the attic is broken.\n",
    "bank/opinions.md": "# Opinions\n\n- Tomasz likes winter swimming.\n",
}
STAND_IN = """#!{python} -SE
import json, os, subprocess, sys, time
folder = os.path.dirname(os.path.realpath(__file__))
words = sys.argv[1:]
names = ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "QMD_CONFIG_DIR", "INDEX_PATH", "PWD")
call = {{"words": words, "cwd": os.getcwd(), "env": {{n: os.environ.get(n) for n in names}}}}
with open(os.path.join(folder, "calls.jsonl"), "a") as file:
    file.write(json.dumps(call) + "\\n")
with open(os.path.join(folder, "plan.json")) as file:
    plan = json.load(file)
words = words[2:] if words[:1] == ["--index"] else words
step = plan.get(" ".join(words[:2])) or plan.get(words[0]) or {{}}
if step.get("child"):
    child = subprocess.Popen([sys.executable, "-SE", "-c", "import time; time.sleep(60)"])
    with open(os.path.join(folder, "child.pid"), "w") as file:
        file.write(str(child.pid))
sys.stdout.write(step.get("out", "") * step.get("times", 1))
sys.stdout.flush()
sys.stderr.write(step.get("err", ""))
sys.stderr.flush()
time.sleep(step.get("sleep", 0))
sys.exit(step.get("code", 0))
"""


class StandIn:
    """A program in the place of QMD. ``plan``: for a command (its first word or two) what it prints and how it ends;
    a command without a plan says nothing and succeeds."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.path = folder / "qmd"
        self.path.write_text(STAND_IN.format(python=sys.executable), encoding="utf-8")
        self.path.chmod(0o755)
        self.plan()

    def plan(self, **steps: Mapping[str, Any]) -> None:
        """``plan(search={"out": "[]"}, collection_list={"code": 1})``"""
        named = {name.replace("_", " "): step for name, step in steps.items()}
        (self.folder / "plan.json").write_text(json.dumps(named), encoding="utf-8")

    @property
    def calls(self) -> list[dict[str, Any]]:
        log = self.folder / "calls.jsonl"
        return [json.loads(line) for line in log.read_text("utf-8").splitlines()] if log.exists() else []

    def commands(self) -> list[str]:
        """The first word of each call so far; two of ``collection``."""
        return [" ".join(one["words"][: 2 if one["words"][0] == "collection" else 1]) for one in self.calls]


class Bench:
    """A workspace with an agent, ``qmd``'s settings, and the environment that all of it is found by."""

    def __init__(self, folder: Path, command: str) -> None:
        self.folder = folder
        self.root = folder / "workspace"
        self.write(FILES)
        self.environ = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(folder / "home"),
            "OPENCLAW_STATE_DIR": str(folder / "state"),
            "OPENCLAW_MEMORY_BACKGROUND": "0",
        }
        (folder / "home").mkdir()
        self.command = command
        self.memory: dict[str, Any] = {}
        self.configure()

    def write(self, files: Mapping[str, str], below: Path | None = None) -> None:
        for name, text in files.items():
            path = (below or self.root) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def configure(self, memory: Mapping[str, Any] | None = None, **qmd: Any) -> None:
        """Write a configuration with these settings of ``memory.qmd`` (and of ``memory``), and take it on."""
        self.memory = {"backend": "qmd", **(memory or {}), "qmd": {"command": self.command, **qmd}}
        place = self.folder / "state" / "openclaw.json"
        place.parent.mkdir(exist_ok=True)
        place.write_text(json.dumps({"memory": self.memory}), encoding="utf-8")
        configuration = Configuration(str(place), {"memory": self.memory})
        self.settings, self.warnings = read_qmd(configuration, "main", self.environ)
        self.workspace = Workspace.configured(str(self.root), configuration, "main")

    @property
    def home(self) -> Home:
        return home_of("main", self.environ)

    def set_up(self, **changes: Any) -> Record:
        """Write down that every collection is set up and updated just now."""
        wanted, _ = wanted_collections(self.workspace, self.settings, self.home)
        made = {name: Made(one.root, one.pattern, name) for name, one in wanted.items()}
        done = Work(time.time() + 2, time.time() + 2)
        record = Record(made, done, asked=mark_of(wanted))._replace(**changes)
        make_home(self.home)
        write_record(self.home, record)
        return record

    def search(self, query: str, **options: Any) -> dict[str, Any]:
        settings: QmdSettings = options.pop("settings", self.settings)
        return qmd_search(self.workspace, settings, query, agent="main", environ=self.environ, **options)


@pytest.fixture
def stand_in(tmp_path: Path) -> StandIn:
    if os.name == "nt":
        pytest.skip("the stand-in is a script with a first line that names its interpreter")
    return StandIn(tmp_path / "bin")


@pytest.fixture
def bench(tmp_path: Path, stand_in: StandIn) -> Bench:
    """With the stand-in."""
    return Bench(tmp_path, str(stand_in.path))


@pytest.fixture
def real(tmp_path: Path, real_command: str) -> Bench:
    """With a real QMD."""
    return Bench(tmp_path, real_command)


@pytest.fixture(scope="session")
def real_command() -> str:
    command = os.environ.get(VARIABLE, "")
    if not command:
        pytest.skip(f"no QMD: `make test-qmd` installs one and sets {VARIABLE}")
    return command


def hits(*rows: tuple[str, int, str]) -> str:
    """QMD's answer with (file, line, snippet) in this order."""
    step = 1 / (len(rows) + 1)
    return json.dumps(
        [
            {
                "docid": "#0a1b2c",
                "score": round(1 - step * (place + 1), 2),
                "file": file,
                "line": line,
                "snippet": snippet,
            }
            for place, (file, line, snippet) in enumerate(rows)
        ]
    )
