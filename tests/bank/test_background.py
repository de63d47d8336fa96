"""Embedding that would keep a question waiting goes on in a process of its own, which is a real one here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from openclaw_memory.bank import background, freshness, spaces
from openclaw_memory.bank.background import BACKGROUND, start_indexing
from openclaw_memory.bank.driver import connect
from openclaw_memory.bank.embedding_lock import is_running
from openclaw_memory.bank.model_space import PROBE

from .conftest import asking, search_settings, wait_for
from .embeddings.conftest import Provider

FEW = freshness.FEW


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, provider: Provider, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a process that is started finds; none is left when a test ends."""
    path = tmp_path / "openclaw.json"
    path.write_text(json.dumps(search_settings(provider)), encoding="utf-8")
    for name in list(os.environ):
        if name.startswith("OPENCLAW_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("OPENCLAW_CONFIG_PATH", str(path))
    monkeypatch.setattr(background, "_started", {})
    yield
    for process in background._started.values():
        process.kill()
        process.wait()


def root(tmp_path: Path, count: int) -> Path:
    folder = tmp_path / "workspace"
    (folder / "memory").mkdir(parents=True, exist_ok=True)
    lines = "".join(f"- Line {number} of the log.\n" for number in range(count))
    (folder / "memory" / "a.md").write_text(lines, encoding="utf-8")
    return folder


def late(seconds: float = 60.0) -> tuple[threading.Event, Callable[[Any], Any]]:
    """An answer that waits to be let go, or for somebody to go away."""
    released = threading.Event()

    def step(answer: Any) -> Any:
        released.wait(seconds)
        return answer

    return released, step


def ours(folder: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    """Another command, by a process that ends."""
    command = [sys.executable, "-m", "openclaw_memory", *words, "--json", "--workspace", str(folder)]
    return subprocess.run(command, capture_output=True, timeout=60, check=False)


def recall(folder: Path, *, cwd: Path | None = None, **variables: str) -> dict[str, Any]:
    """A real question, by a process that ends."""
    command = [sys.executable, "-m", "openclaw_memory", "recall", "Line 3", "--json", "--workspace", str(folder)]
    done = subprocess.run(command, env=os.environ | variables, capture_output=True, timeout=60, check=True, cwd=cwd)
    return dict(json.loads(done.stdout))


def asked(server: Provider) -> list[str]:
    return [text for request in server.embeddings() for text in request.body["input"] if text != PROBE]


def count(folder: Path) -> int:
    with closing(connect(str(folder / ".memory" / "index.sqlite"))) as connection:
        return spaces.count(connection, spaces.MODEL)


def test_many_passages_are_embedded_behind_a_question(tmp_path: Path, provider: Provider) -> None:
    """The process that answered has ended long before the one that embeds does."""
    folder = root(tmp_path, FEW + 20)
    released = threading.Event()

    def late(answer: Any) -> Any:
        released.wait(30)
        return answer

    provider.plan = [lambda answer: answer, late]
    answer = recall(folder)
    assert (answer["provider"], bool(answer["results"])) == ("static", True)
    assert f"{FEW + 20} passages are not embedded by openai-compatible m yet" in answer["warning"]
    wait_for(lambda: len(provider.embeddings()) == 2)
    assert is_running(asking(folder, provider))
    # Another question starts no second one, and does not wait.
    assert recall(folder)["provider"] == "static"
    released.set()
    wait_for(lambda: count(folder) == FEW + 20)
    wait_for(lambda: not is_running(asking(folder, provider)))
    assert len(asked(provider)) == FEW + 20
    answer = recall(folder)
    assert (answer["provider"], answer["warning"]) == ("openai-compatible", None)


def test_few_passages_are_embedded_while_the_question_waits(tmp_path: Path, provider: Provider) -> None:
    folder = root(tmp_path, FEW)
    answer = recall(folder)
    assert (answer["provider"], answer["warning"], count(folder)) == ("openai-compatible", None, FEW)


@pytest.mark.parametrize("value", ["0", "false", " No "])
def test_none_is_started_where_that_is_switched_off(tmp_path: Path, provider: Provider, value: str) -> None:
    folder = root(tmp_path, FEW + 1)
    answer = recall(folder, **{BACKGROUND: value})
    assert answer["provider"] == "static"
    time.sleep(1.0)
    assert not provider.requests
    assert not (folder / ".memory" / "embedding.lock").exists()


def test_what_is_started_is_remembered_until_it_ends(
    tmp_path: Path,
    provider: Provider,
) -> None:
    """Many questions in a long-lived process: one process at a time, and none is left as a zombie."""
    folder = root(tmp_path, FEW + 1)
    workspace = asking(folder, provider)
    for _ in range(5):
        assert start_indexing(workspace)
    (process,) = background._started.values()
    assert process.wait(30) == 0
    assert len(asked(provider)) == FEW + 1
    assert start_indexing(workspace)
    (other,) = background._started.values()
    assert other is not process
    assert other.wait(30) == 0


def test_a_lock_that_a_killed_process_left_is_none(tmp_path: Path, provider: Provider) -> None:
    """The note of who holds the lock stays behind after a kill. It was taken for the lock, and nothing was ever
    embedded in the background again."""
    folder = root(tmp_path, FEW + 1)
    (folder / ".memory").mkdir()
    (folder / ".memory" / "embedding.lock").write_text("")
    (folder / ".memory" / "embedding.lock.holder").write_text("process 1 is embedding")
    recall(folder)
    wait_for(lambda: count(folder) == FEW + 1)
    wait_for(lambda: not is_running(asking(folder, provider)))


def test_modules_of_the_current_folder_are_not_run(tmp_path: Path, provider: Provider) -> None:
    """``python -m`` puts the folder that one stands in before everything else."""
    folder, here = root(tmp_path, FEW + 1), tmp_path / "here"
    (here / "openclaw_memory").mkdir(parents=True)
    for name in ("json.py", "openclaw_memory/__init__.py", "openclaw_memory/__main__.py"):
        (here / name).write_text(f"open({str(tmp_path / 'was-run')!r}, 'w')\n", encoding="utf-8")
    before = os.getcwd()
    try:
        os.chdir(here)
        assert start_indexing(asking(folder, provider))
    finally:
        os.chdir(before)
    (process,) = background._started.values()
    assert process.wait(30) == 0
    assert not (tmp_path / "was-run").exists()
    assert count(folder) == FEW + 1


def test_a_process_that_cannot_be_started(
    tmp_path: Path,
    provider: Provider,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    assert not start_indexing(asking(root(tmp_path, 1), provider))


# Making way


def test_index_takes_over_from_one_in_the_background(tmp_path: Path, provider: Provider) -> None:
    """A provider that did not answer kept ``index`` busy for as long as the process behind had patience."""
    folder = root(tmp_path, FEW + 20)
    released, step = late()
    provider.plan = [lambda answer: answer, step]
    workspace = asking(folder, provider)
    assert start_indexing(workspace)
    (process,) = background._started.values()
    wait_for(lambda: len(provider.embeddings()) == 2)
    began = time.monotonic()
    done = ours(folder, "index")
    assert (done.returncode, json.loads(done.stdout)["embeddings"]["pending"]) == (0, 0), done.stderr.decode()
    assert time.monotonic() - began < 10
    assert process.wait(5) == 75
    released.set()
    assert count(folder) == FEW + 20


def test_reset_waits_for_nobody_in_the_background(tmp_path: Path, provider: Provider) -> None:
    """The index was deleted under a process that went on to write into what was deleted."""
    folder = root(tmp_path, FEW + 20)
    released, step = late()
    provider.plan = [lambda answer: answer, step]
    assert start_indexing(asking(folder, provider))
    (process,) = background._started.values()
    wait_for(lambda: len(provider.embeddings()) == 2)
    done = ours(folder, "reset", "--yes")
    assert (done.returncode, process.wait(5)) == (0, 75), done.stderr.decode()
    assert ".memory/index.sqlite" in json.loads(done.stdout)["removed"]
    released.set()
    assert not (folder / ".memory" / "index.sqlite").exists()


def test_a_command_that_embeds_is_left_alone(tmp_path: Path, provider: Provider) -> None:
    folder = root(tmp_path, FEW + 20)
    released, step = late()
    provider.plan = [lambda answer: answer, step]
    command = [sys.executable, "-m", "openclaw_memory", "index", "--workspace", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        wait_for(lambda: len(provider.embeddings()) == 2)
        for words in (["index"], ["reset", "--yes"]):
            done = ours(folder, *words)
            assert done.returncode == 75
            assert f"process {process.pid} is embedding" in done.stderr.decode()
        released.set()
        assert process.wait(30) == 0
    assert count(folder) == FEW + 20


@pytest.mark.parametrize("change", ["another model", "no JSON", "gone"])
def test_other_settings_end_it(tmp_path: Path, provider: Provider, change: str) -> None:
    folder, path = root(tmp_path, FEW + 20), tmp_path / "openclaw.json"
    released, step = late()
    provider.plan = [lambda answer: answer, step]
    assert start_indexing(asking(folder, provider))
    (process,) = background._started.values()
    wait_for(lambda: len(provider.embeddings()) == 2)
    # What has nothing to do with it changes nothing.
    settings = search_settings(provider) | {"gateway": {"port": 1}}
    path.write_text(json.dumps(settings), encoding="utf-8")
    time.sleep(0.8)
    assert process.poll() is None
    if change == "gone":
        path.unlink()
    else:
        settings["memory"]["search"]["model"] = "other"
        path.write_text("{" if change == "no JSON" else json.dumps(settings), encoding="utf-8")
    assert process.wait(5) == 75
    released.set()
