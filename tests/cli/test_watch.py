"""watch as a real process: what changes on the disk is in the index soon after, whatever way it was written."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

SCHEMA = json.loads((Path(__file__).parent.parent.parent / "docs/schemas/watch.json").read_text("utf-8"))


class Watching:
    """A watch that runs, and what it has told so far."""

    def __init__(self, root: Path, out: Path, process: subprocess.Popen[bytes]) -> None:
        self.root, self.process = root, process
        self._out = out

    def lines(self) -> list[dict[str, Any]]:
        whole, _, _ = self._out.read_text("utf-8").rpartition("\n")
        found = [json.loads(line) for line in whole.splitlines()]
        for line in found:
            jsonschema.validate(line, SCHEMA)
        return found

    def indexed(self) -> list[str]:
        index = self.root / ".memory" / "index.sqlite"
        if not index.exists():
            return []
        connection = sqlite3.connect(f"file:{index}?mode=ro", uri=True)
        try:
            return [row[0] for row in connection.execute("SELECT path FROM files ORDER BY path")]
        except sqlite3.OperationalError:
            return []
        finally:
            connection.close()

    def until(self, holds: Callable[[], bool], seconds: float = 30.0) -> None:
        end = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < end, (self.indexed(), self.lines())
            assert self.process.poll() is None
            time.sleep(0.05)


@pytest.fixture
def watching(tmp_path: Path, environment: dict[str, str]) -> Iterator[Callable[..., Watching]]:
    processes: list[subprocess.Popen[bytes]] = []

    def start(*arguments: str) -> Watching:
        root = tmp_path / "notes"
        (root / "memory").mkdir(parents=True)
        (root / "memory" / "a.md").write_text("- first\n", encoding="utf-8")
        out = tmp_path / "out"
        command = [sys.executable, "-m", "openclaw_memory", "watch", "--json", "--workspace", str(root), *arguments]
        with out.open("wb") as told, (tmp_path / "err").open("wb") as err:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=told, stderr=err, env=environment)
        processes.append(process)
        found = Watching(root, out, process)
        found.until(lambda: found.indexed() == ["memory/a.md"] and len(found.lines()) == 1)
        return found

    yield start
    for process in processes:
        process.kill()
        process.wait()


def test_whatever_way_a_file_is_written(watching: Callable[..., Watching]) -> None:
    one = watching("--debounce", "0.1")
    memory = one.root / "memory"
    (memory / "b.md").write_text("- second\n", encoding="utf-8")
    one.until(lambda: "memory/b.md" in one.indexed())
    # As editors save: another name first, then in place of the old file.
    (memory / ".b.md.swp").write_text("x", encoding="utf-8")
    (memory / "b.md.tmp1234").write_text("- second, revised\n", encoding="utf-8")
    os.replace(memory / "b.md.tmp1234", memory / "b.md")
    one.until(lambda: sum(line["changed"] for line in one.lines()) == 1)
    (memory / "b.md").rename(memory / "c.md")
    one.until(lambda: one.indexed() == ["memory/a.md", "memory/c.md"])
    # A folder that was not there, and what is in it already when it appears.
    ready = one.root / "ready" / "entities"
    ready.mkdir(parents=True)
    (ready / "Ada.md").write_text("# Ada\n", encoding="utf-8")
    (one.root / "ready").rename(one.root / "bank")
    one.until(lambda: "bank/entities/Ada.md" in one.indexed())
    (one.root / "MEMORY.md").write_text("- core\n", encoding="utf-8")
    one.until(lambda: "MEMORY.md" in one.indexed())
    (memory / "c.md").unlink()
    one.until(lambda: "memory/c.md" not in one.indexed())
    one.process.send_signal(signal.SIGTERM)
    assert one.process.wait(30) == 0
    assert sorted(path.name for path in memory.iterdir()) == [".b.md.swp", "a.md"]


def test_many_changes_are_one_sync(watching: Callable[..., Watching]) -> None:
    one = watching("--debounce", "1.5")
    before = len(one.lines())
    for number in range(20):
        (one.root / "memory" / f"n{number}.md").write_text("- words\n", encoding="utf-8")
        time.sleep(0.02)
    assert len(one.lines()) == before
    one.until(lambda: len(one.indexed()) == 21)
    assert [line["added"] for line in one.lines()[before:]] == [20]


def test_an_interval_finds_what_nobody_told(watching: Callable[..., Watching], tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text("{memory: {search: {sync: {watch: false, interval: '500ms'}}}}", encoding="utf-8")
    one = watching("--config", str(config))
    (one.root / "memory" / "b.md").write_text("- second\n", encoding="utf-8")
    one.until(lambda: "memory/b.md" in one.indexed())


def test_a_workspace_that_was_moved_is_not_made_again(watching: Callable[..., Watching], tmp_path: Path) -> None:
    """A process that outlived its workspace made its folder anew, in the way of whoever wants to put it back."""
    told = watching("--debounce", "0.05", "--interval", "0.2")
    told.root.rename(tmp_path / "away")
    end = time.monotonic() + 30
    while b"the workspace is gone" not in (tmp_path / "err").read_bytes():
        assert time.monotonic() < end
        assert told.process.poll() is None
        time.sleep(0.05)
    assert not told.root.exists()
    (tmp_path / "away").rename(told.root)
    (told.root / "memory" / "b.md").write_text("- back\n", encoding="utf-8")
    told.until(lambda: told.indexed() == ["memory/a.md", "memory/b.md"])


def test_nothing_to_do(run: Any, tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text("{memory: {search: {sync: {watch: false}}}}", encoding="utf-8")
    done = run("watch", "--workspace", str(tmp_path), "--config", str(config))
    assert done.code == 2
    assert "--interval" in done.told
    assert run("watch", "--debounce", "-1", "--workspace", str(tmp_path)).code == 2
