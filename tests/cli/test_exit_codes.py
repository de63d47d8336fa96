"""The exit codes, each reached for real: 0 answered, 1 fault, 2 usage, 3 partly done, 75 busy."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

NOW = "2025-12-06T12:00:00"
HOLDER = """
import sys
from openclaw_memory.bank.files import writer_lock
with writer_lock(sys.argv[1], 5.0, "testing"):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextlib.contextmanager
def held(lock: Path, environment: dict[str, str]) -> Iterator[None]:
    """Another process holds a lock file meanwhile."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline().strip() == b"held"
        yield
    finally:
        holder.stdin.close()
        holder.wait(30)
        holder.stdout.close()


def test_answered_and_empty(run, at) -> None:
    assert run("recall", "what does Mara prefer?", *at).code == 0
    empty = run("recall", "zzzzzz", *at)
    assert (empty.code, empty.out, empty.told) == (0, b"", "nothing found\n")


def test_fault(run, tmp_path: Path) -> None:
    ran = run("recall", "x", "--workspace", "nowhere")
    assert ran.code == 1
    assert ran.told == (
        f"openclaw memory: no workspace here ({tmp_path / 'nowhere'}); create one with `openclaw memory init`, or name"
        " another with --workspace\n"
    )


def test_lint_finds_something(run, workspace: Path) -> None:
    assert run("lint", "--workspace", str(workspace)).code == 0
    (workspace / "memory" / "2025-12-02.md").write_text("## Retain\n- just a line\n", encoding="utf-8")
    ran = run("lint", "--workspace", str(workspace))
    assert ran.code == 1
    assert ran.text.startswith("memory/2025-12-02.md:2: untyped-bullet: ")


def test_usage(run) -> None:
    assert run("recall").code == 2
    assert run().code == 2
    assert run("--help").code == 0


@pytest.mark.skipif(os.name == "nt", reason="a file without read permission is made otherwise there")
def test_partly_done(run, workspace: Path) -> None:
    """A file and a folder that cannot be read are listed; the rest is done."""
    weaker: tuple[str, ...] = ()
    if os.geteuid() == 0:
        if not shutil.which("setpriv"):
            pytest.skip("root reads everything, and there is no setpriv to give that up")
        dropped = "-dac_override,-dac_read_search"
        weaker = ("setpriv", f"--bounding-set={dropped}", f"--inh-caps={dropped}")
    secret = workspace / "memory" / "2025-12-02.md"
    secret.write_text("- hidden\n", encoding="utf-8")
    folder = workspace / "memory" / "closed"
    folder.mkdir()
    secret.chmod(0)
    folder.chmod(0)
    try:
        ran = run("index", "--workspace", str(workspace), "--json", before=weaker, PATH=os.environ["PATH"])
        if ran.code == 0:
            pytest.skip("this file system has no permissions")
        assert ran.code == 3
        told = json.loads(ran.text)
        assert [entry["path"] for entry in told["skipped"]] == ["memory/2025-12-02.md"]
        assert told["unread"] == ["memory/closed"]
        assert "memory/2025-12-01.md" in told["added"]
        ran = run("index", "--workspace", str(workspace), before=weaker, PATH=os.environ["PATH"])
        assert ran.code == 3
        assert "memory/2025-12-02.md: not read" in ran.told
        assert "memory/closed: cannot be read" in ran.told
        ran = run("lint", "--workspace", str(workspace), before=weaker, PATH=os.environ["PATH"])
        assert ran.code == 3
        ran = run("recall", "Lisbon", "--workspace", str(workspace), "--json", before=weaker, PATH=os.environ["PATH"])
        assert ran.code == 0
        assert "2025-12-02.md" in json.loads(ran.text)["warning"]
    finally:
        secret.chmod(0o644)
        folder.chmod(0o755)


def test_busy(run, environment, workspace: Path) -> None:
    """Writers wait for their lock, and then say who holds it; nothing is changed."""
    log = workspace / "memory" / "2025-12-01.md"
    before = log.read_bytes()
    named = ("--workspace", str(workspace))
    assert run("index", *named).code == 0
    with (
        held(workspace / ".memory" / "journal.lock", environment),
        held(workspace / ".memory" / "writer.lock", environment),
        ThreadPoolExecutor(3) as pool,
    ):
        waiting = [
            pool.submit(run, "retain", "W @Peter: x.", "--day", "2025-12-01", *named, "--now", NOW),
            pool.submit(run, "index", *named),
            pool.submit(run, "reset", "--yes", *named),
        ]
        for ran in (one.result() for one in waiting):
            assert (ran.code, ran.out) == (75, b"")
            assert ran.told.startswith("openclaw memory: busy: process ")
            assert "is testing" in ran.told
            assert ran.told.count("\n") == 1
    assert log.read_bytes() == before
    assert (workspace / ".memory" / "index.sqlite").exists()
    assert run("retain", "W @Peter: x.", "--day", "2025-12-01", *named, "--now", NOW).code == 0


def test_readers_do_not_wait_for_a_writer(run, environment, workspace: Path) -> None:
    named = ("--workspace", str(workspace), "--now", NOW, "--json")
    assert run("index", *named[:2]).code == 0
    (workspace / "memory" / "2025-12-05.md").write_text("- Peter moved to Faro.\n", encoding="utf-8")
    with held(workspace / ".memory" / "writer.lock", environment):
        ran = run("recall", "Peter", *named)
        answer = json.loads(ran.text)
        assert (ran.code, answer["stale"]) == (0, True)
        assert answer["warning"]
        assert answer["results"]
        found = json.loads(run("search", "Peter", *named).text)
        assert (found["stale"], bool(found["results"])) == (True, True)
    answer = json.loads(run("recall", "Faro", *named).text)
    assert (answer["stale"], answer["results"][0]["source"]) == (False, "memory/2025-12-05.md#L1")
