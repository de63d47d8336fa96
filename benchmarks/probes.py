"""What is run to be timed: an installed command line, its interpreter, and short programs for child processes.

Each program prints one JSON value on stdout (seconds, or pairs of ours and the peer's); the last line of stderr is the
child's own peak memory in KiB (0 where the system does not tell). ``BARE`` is the peer of a cold recall.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

PEAK = """
import atexit, sys
def _tell():
    try:
        with open("/proc/self/status") as file:
            peak = next(line for line in file if line.startswith("VmHWM")).split()[1]
    except (OSError, StopIteration):
        try:
            import resource
        except ImportError:
            peak = 0
        else:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "darwin" else 1)
    print(f"\\npeak {peak}", file=sys.stderr)
atexit.register(_tell)
"""
IMPORTS = """
import json, os, sqlite3, sys, time
def timed(work, *arguments):
    started = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - started
"""
INDEX = """
from openclaw_memory.bank.sync import sync
from openclaw_memory.bank.workspace import Workspace
sync(Workspace.open(sys.argv[1]))
print(timed(sync, Workspace.open(sys.argv[2])))
"""
PLAIN_INDEX = """
def lines(root):
    for folder, _, names in os.walk(root):
        for name in names:
            if name.endswith(".md"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    yield from ((line,) for line in map(str.strip, file) if line)
def index(root, path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE VIRTUAL TABLE plain USING fts5(line)")
    connection.executemany("INSERT INTO plain VALUES (?)", lines(root))
    connection.commit()
    connection.close()
print(timed(index, *sys.argv[1:]))
"""
CHANGED = """
from openclaw_memory.bank.sync import sync
from openclaw_memory.bank.workspace import Workspace
workspace, runs = Workspace.open(sys.argv[1]), []
for number, path in enumerate(sys.argv[2:]):
    with open(path, "a", encoding="utf-8") as file:
        file.write(f"- W @Peter: Change {number} came after the first index.\\n")
    os.utime(path, (time.time() - 60, time.time() - 60))
    runs.append(timed(sync, workspace))
print(json.dumps(runs[1:]))
"""
FRESH = """
from openclaw_memory.bank.freshness import open_fresh
from openclaw_memory.bank.workspace import Workspace
def ours(workspace):
    fresh = open_fresh(workspace)
    assert not fresh.stale
    fresh.connection.close()
def plain(root):
    for folder, _, names in os.walk(root):
        for name in names:
            os.stat(os.path.join(folder, name))
root, workspace = sys.argv[1], Workspace.open(sys.argv[1])
print(json.dumps([(timed(ours, workspace), timed(plain, root)) for _ in range(int(sys.argv[2]) + 1)][1:]))
"""
WARM = """
from datetime import datetime
from openclaw_memory.bank.workspace import Workspace
from openclaw_memory.recall.engine import recall
workspace, now = Workspace.open(sys.argv[1]), datetime.fromisoformat(sys.argv[3]).astimezone()
connection = sqlite3.connect(sys.argv[2])
def plain(match):
    connection.execute("SELECT line FROM plain WHERE plain MATCH ? ORDER BY rank LIMIT 20", (match,)).fetchall()
questions, rounds = json.loads(sys.argv[5]), []
for _ in range(int(sys.argv[4]) + 1):
    for question, match in questions:
        rounds.append((
            timed(lambda: recall(workspace, question, now=now)),
            timed(plain, match),
            timed(lambda: recall(workspace, question + " xylographers", now=now)),
            timed(plain, match + " OR xylographers"),
        ))
print(json.dumps(rounds[len(questions):]))
"""
COMMAND = "\nfrom openclaw_memory.entry import main\nmain()"
BARE = (
    "import sqlite3, sys\n"
    "for row in sqlite3.connect(sys.argv[1]).execute("
    "'SELECT line FROM plain WHERE plain MATCH ? ORDER BY rank LIMIT 20', sys.argv[2:]): print(row[0])"
)


class Install:
    """The command line and the interpreter that are measured."""

    def __init__(self, command: Path) -> None:
        self.command = str(command)
        self.python = str(command.resolve().parent / ("python.exe" if os.name == "nt" else "python"))
        self.environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH")}
        # Whoever measures may have a key in the environment: nothing here may ask a provider.
        self.environment |= {"OPENCLAW_MEMORY_OFFLINE": "1"}

    @classmethod
    def built(cls, folder: Path) -> Install:
        """Of this checkout, from a copy of it, so that the build leaves nothing there."""
        ignored = shutil.ignore_patterns(".*", "build", "dist", "*.egg-info", "__pycache__", "node_modules")
        shutil.copytree(Path(__file__).resolve().parents[1], folder / "source", ignore=ignored)
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
        scripts = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        pip = [str(scripts / "python"), "-m", "pip", "--disable-pip-version-check", "install", "-qq"]
        subprocess.run([*pip, str(folder / "source")], check=True, stdout=sys.stderr)
        return cls(scripts / ("openclaw-memory.exe" if os.name == "nt" else "openclaw-memory"))

    def run(
        self, arguments: Sequence[str], variables: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            arguments,
            env={**self.environment, **(variables or {})},
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=tempfile.gettempdir(),
        )
        if done.returncode:
            sys.exit(f"{Path(arguments[0]).name} failed:\n{done.stderr}")
        return done

    def child(self, code: str, *arguments: str) -> tuple[str, float]:
        """What a child printed, and its peak memory in MiB."""
        done = self.run([self.python, "-c", PEAK + code, *arguments])
        return done.stdout, int(done.stderr.rsplit("peak ", 1)[1]) / 1024

    def value(self, code: str, *arguments: str) -> tuple[Any, float]:
        printed, peak = self.child(IMPORTS + code, *arguments)
        return json.loads(printed), peak
