"""A resident process keeps the index in step by itself: by being told, at an interval, at its start; and QMD too."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SERVE = [sys.executable, "-m", "openclaw_memory", "serve"]


class Serving:
    def __init__(self, root: Path, home: Path, search: dict[str, Any], **memory: Any) -> None:
        self.root = root
        (home / "openclaw.json").write_text(json.dumps({"memory": {"search": search, **memory}}), encoding="utf-8")
        kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "TMPDIR") if name in os.environ}
        environ = kept | {"HOME": str(home), "OPENCLAW_STATE_DIR": str(home)}
        self.process = subprocess.Popen(
            [*SERVE, "--workspace", str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ
        )
        assert self.process.stdout
        assert json.loads(self.process.stdout.readline())["method"] == "ready"

    def indexed(self) -> set[str]:
        index = self.root / ".memory" / "index.sqlite"
        if not index.exists():
            return set()
        connection = sqlite3.connect(f"file:{index}?mode=ro", uri=True)
        try:
            return {row[0] for row in connection.execute("SELECT path FROM files")}
        except sqlite3.OperationalError:
            return set()
        finally:
            connection.close()

    def until(self, path: str, seconds: float = 30.0) -> None:
        end = time.monotonic() + seconds
        while path not in self.indexed():
            assert time.monotonic() < end, self.indexed()
            time.sleep(0.05)

    def end(self) -> int:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        code = self.process.wait(30)
        self.process.stdout.close()
        return code


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Any]:
    root, home = tmp_path / "notes", tmp_path / "home"
    (root / "memory").mkdir(parents=True)
    home.mkdir()
    (root / "memory" / "a.md").write_text("- first\n", encoding="utf-8")
    started: list[Serving] = []

    def start(search: dict[str, Any], **memory: Any) -> Serving:
        started.append(Serving(root, home, search, **memory))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.wait()


@pytest.mark.parametrize(
    "sync", [{"watchDebounceMs": 100}, {"watch": False, "interval": "300ms"}], ids=["watched", "at an interval"]
)
def test_what_changes_is_read_without_being_asked_for(serve: Any, sync: dict[str, Any]) -> None:
    one = serve({"sync": sync})
    one.until("memory/a.md")
    (one.root / "memory" / "b.md").write_text("- second\n", encoding="utf-8")
    one.until("memory/b.md")
    assert one.end() == 0


def test_its_start_is_that_of_a_session(serve: Any) -> None:
    one = serve({"sync": {"watch": False}})
    one.until("memory/a.md")
    assert one.end() == 0


def test_nothing_is_read_before_it_is_asked_for_where_that_is_configured(serve: Any) -> None:
    one = serve({"sync": {"watch": False, "onSessionStart": False}})
    time.sleep(1.0)
    assert one.indexed() == set()
    assert one.end() == 0


def test_qmd_is_updated_at_the_start(serve: Any, tmp_path: Path) -> None:
    program, calls = tmp_path / "qmd", tmp_path / "calls"
    program.write_text(
        f"#!{sys.executable} -SE\nimport sys\nopen({str(calls)!r}, 'a').write(' '.join(sys.argv[1:]) + '\\n')\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    one = serve({}, backend="qmd", qmd={"command": str(program)})
    end = time.monotonic() + 30
    while not (calls.exists() and "update" in calls.read_text("utf-8")):
        assert time.monotonic() < end
        time.sleep(0.05)
    assert one.end() == 0
