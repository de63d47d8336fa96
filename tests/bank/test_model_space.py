"""Vectors by a configured provider: asked for once each, whatever breaks, and never in anyone's way.

The provider is a real server on this machine; where processes matter, they are real ones.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from openclaw_memory.bank import spaces
from openclaw_memory.bank.driver import connect, load_vectors
from openclaw_memory.bank.embedding_lock import is_running
from openclaw_memory.bank.embeddings import cache as cache_module
from openclaw_memory.bank.embeddings import pause as pause_module
from openclaw_memory.bank.embeddings import transport
from openclaw_memory.bank.embeddings.cache import digest
from openclaw_memory.bank.embeddings.models import Models
from openclaw_memory.bank.embeddings.protocol import EmbeddingFault
from openclaw_memory.bank.embeddings.settings import EmbeddingSettings
from openclaw_memory.bank.embeddings.transport import Patience
from openclaw_memory.bank.errors import Busy
from openclaw_memory.bank.files import writer_lock
from openclaw_memory.bank.index import remove
from openclaw_memory.bank.model_space import PROBE, FillReport, fill_chosen, in_time
from openclaw_memory.bank.sync import sync
from openclaw_memory.bank.vectors import quantised
from openclaw_memory.bank.vectors import width as width_of
from openclaw_memory.bank.workspace import Workspace
from openclaw_memory.recall.engine import recall

from .conftest import asking, search_settings, wait_for
from .embeddings.conftest import SECRET, Provider, Reply, vector

NOW = datetime(2026, 1, 12, 9, tzinfo=UTC)
QUICK = Patience(connect=1.0, read=0.5, retries=1, backoff=0.01, longest=0.5, total=1.0)


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test starts what it does not mean to start, and none waits as long as a person would."""
    monkeypatch.setenv("OPENCLAW_MEMORY_BACKGROUND", "0")
    monkeypatch.setattr(transport, "FOR_QUERY", QUICK)
    monkeypatch.setattr(transport, "FOR_DOCUMENTS", QUICK)


class Forever(list[Any]):
    """A plan that never ends: the same for each request."""

    def __bool__(self) -> bool:
        return True

    def pop(self, _: Any = 0) -> Any:
        return self[0]


def same(answer: Any) -> Any:
    return answer


def changed(change: Callable[[list[float]], list[float]]) -> Callable[[Any], Any]:
    """What another model would answer."""

    def step(answer: Any) -> Any:
        for row in answer["data"]:
            row["embedding"] = change(row["embedding"])
        return answer

    return step


def lines(count: int, start: int = 0) -> list[str]:
    return [f"Line {number} of the log, about subject {number % 7}." for number in range(start, start + count)]


def write(root: Path, name: str, texts: Sequence[str]) -> None:
    path = root / "memory" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"- {text}\n" for text in texts), encoding="utf-8")


def run(workspace: Workspace) -> FillReport:
    """What ``index`` does."""
    sync(workspace)
    report = fill_chosen(workspace)
    assert report is not None
    return report


def seen(server: Provider) -> list[str]:
    """The texts that the server was asked for since the last look, without the probe."""
    texts = [text for request in server.embeddings() for text in request.body["input"] if text != PROBE]
    server.requests.clear()
    return texts


def vectors(workspace: Workspace) -> dict[str, bytes]:
    with closing(connect(workspace.index_path)) as connection:
        rows = connection.execute(
            "SELECT p.text, v.vector FROM passages p LEFT JOIN model_vectors v ON v.passage = p.id"
        ).fetchall()
    return dict(rows)


def count(workspace: Workspace) -> int:
    """How many passages have a vector, asked while others write."""
    if not os.path.exists(workspace.index_path):
        return 0
    with closing(connect(workspace.index_path)) as connection:
        try:
            return spaces.count(connection, spaces.MODEL)
        except Exception:
            return 0


def whole(text: str) -> bytes:
    found = quantised(vector(text))
    assert found
    return found


def ask(workspace: Workspace, text: str = "Line 3 of the log") -> dict[str, Any]:
    return recall(workspace, text, now=NOW)


def environment(root: Path, server: Provider, batch: dict[str, Any] | None = None, **more: str) -> dict[str, str]:
    """What a process of ours needs to use the server."""
    path = root / "openclaw.json"
    path.write_text(json.dumps(search_settings(server, batch)), encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OPENCLAW_")}
    return kept | {"OPENCLAW_CONFIG_PATH": str(path), "OPENCLAW_MEMORY_BACKGROUND": "0", **more}


def command(root: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "openclaw_memory", *words, "--workspace", str(root)]


def told(root: Path, variables: dict[str, str], *words: str, code: int = 0) -> Any:
    done = subprocess.run(command(root, *words, "--json"), env=variables, capture_output=True, timeout=60, check=False)
    assert done.returncode == code, done.stderr.decode()
    return json.loads(done.stdout or "null")


@contextmanager
def started(root: Path, variables: dict[str, str], *words: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        command(root, *words), env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


# Each text once


def test_every_passage_gets_its_vector_and_the_next_run_asks_nothing(tmp_path: Path, provider: Provider) -> None:
    write(tmp_path, "a.md", lines(40))
    workspace = asking(tmp_path, provider)
    report = run(workspace)
    assert report == FillReport(40, 0, 0, [])
    assert vectors(workspace) == {text: whole(text) for text in lines(40)}
    assert seen(provider) == lines(40)
    assert run(asking(tmp_path, provider)) == FillReport(0, 0, 0, [])
    assert not provider.requests
    answer = ask(asking(tmp_path, provider))
    assert (answer["provider"], answer["model"], answer["warning"]) == ("openai-compatible", "m", None)


def test_the_same_text_in_many_places_is_asked_for_once(tmp_path: Path, provider: Provider) -> None:
    for name in "abc":
        write(tmp_path, f"{name}.md", ["Tea is ready.", *lines(5)])
    workspace = asking(tmp_path, provider)
    report = run(workspace)
    assert (report.embedded, report.pending, count(workspace)) == (6, 0, 18)
    assert sorted(seen(provider)) == sorted(["Tea is ready.", *lines(5)])


def test_edits_renames_and_a_rebuild_ask_only_for_new_text(tmp_path: Path, provider: Provider) -> None:
    write(tmp_path, "a.md", lines(30))
    write(tmp_path, "b.md", lines(10, 100))
    run(asking(tmp_path, provider))
    seen(provider)
    write(tmp_path, "a.md", ["A new line.", *lines(30)[::-1]])
    run(asking(tmp_path, provider))
    assert seen(provider) == ["A new line."]
    os.replace(tmp_path / "memory" / "b.md", tmp_path / "memory" / "2026-01-05.md")
    write(tmp_path, "c.md", lines(10, 100))
    (tmp_path / "memory" / "a.md").unlink()
    run(asking(tmp_path, provider))
    write(tmp_path, "a.md", lines(31))
    run(asking(tmp_path, provider))
    assert seen(provider) == lines(1, 30)
    workspace = asking(tmp_path, provider)
    before = vectors(workspace)
    remove(workspace)
    report = run(workspace)
    assert not provider.requests
    assert (report.embedded, report.pending) == (0, 0)
    assert vectors(workspace) == before


def test_a_rebuilt_index_gives_the_same_answers_and_asks_nobody(tmp_path: Path, provider: Provider) -> None:
    """Delete ``.memory/index.sqlite``, keep the cache: no text is sent again, and only questions are."""
    write(tmp_path, "a.md", lines(40))
    write(tmp_path, "b.md", lines(30, 20))
    run(asking(tmp_path, provider))
    write(tmp_path, "a.md", lines(30, 5))
    run(asking(tmp_path, provider))
    questions = ["Line 3 of the log", "subject 5", "tea"]
    grown = [ask(asking(tmp_path, provider), text) for text in questions]
    assert {answer["provider"] for answer in grown} == {"openai-compatible"}
    seen(provider)
    remove(asking(tmp_path, provider))
    run(asking(tmp_path, provider))
    assert not provider.requests
    assert [ask(asking(tmp_path, provider), text) for text in questions] == grown
    assert seen(provider) == questions


def test_a_rebuild_by_a_question_alone(tmp_path: Path, provider: Provider) -> None:
    write(tmp_path, "a.md", lines(20))
    run(asking(tmp_path, provider))
    first = ask(asking(tmp_path, provider))
    seen(provider)
    remove(asking(tmp_path, provider))
    assert ask(asking(tmp_path, provider)) == first
    assert seen(provider) == ["Line 3 of the log"]


def test_a_passage_whose_number_another_has_got_meanwhile(tmp_path: Path, provider: Provider) -> None:
    """Numbers are used again. The vector goes to what says the same now, in the shard of what it is now."""
    write(tmp_path, "a.md", ["Tea is ready.", "Coffee is ready."])
    workspace = asking(tmp_path, provider)
    sync(workspace)

    def meanwhile(answer: Any) -> Any:
        (tmp_path / "memory" / "a.md").unlink()
        sync(Workspace(str(tmp_path)))
        (tmp_path / "memory" / "2026-01-05.md").write_text(
            "## Retain\n\n- W @Peter: Tea is ready.\n- W @Ana: Tea is ready.\n", encoding="utf-8"
        )
        sync(Workspace(str(tmp_path)))
        return answer

    provider.plan = [same, meanwhile]
    report = fill_chosen(workspace)
    assert report
    run(asking(tmp_path, provider))
    with closing(connect(workspace.index_path)) as connection:
        rows = connection.execute(
            "SELECT p.key, v.shard, v.vector, p.text FROM passages p JOIN model_vectors v ON v.passage = p.id"
        ).fetchall()
    assert len(rows) == 2
    for key, shard, found, text in rows:
        assert shard == int(key[-2:], 16) % spaces.SHARDS
        assert found == whole(text)


# The cache


def cached(root: Path) -> int:
    with closing(connect(str(root / ".memory" / cache_module.FILE))) as connection:
        return int(connection.execute("SELECT count(*) FROM vectors").fetchone()[0])


def test_the_cache_keeps_to_its_limit(tmp_path: Path, provider: Provider) -> None:
    write(tmp_path, "a.md", lines(80))
    workspace = asking(tmp_path, provider, cache_max_entries=50)
    run(workspace)
    assert cached(tmp_path) == 50
    seen(provider)
    remove(workspace)
    run(asking(tmp_path, provider, cache_max_entries=50))
    asked = seen(provider)
    assert 30 <= len(asked) <= 31  # The probe may be one of the 50.
    assert set(asked) < set(lines(80))
    assert cached(tmp_path) == 50


def test_no_cache(tmp_path: Path, provider: Provider) -> None:
    write(tmp_path, "a.md", lines(8))
    for settings in ({"cache_enabled": False}, {"cache_max_entries": 0}):
        workspace = asking(tmp_path, provider, **settings)
        assert run(workspace).pending == 0
        assert seen(provider) == lines(8)
        assert not (tmp_path / ".memory" / cache_module.FILE).exists()
        remove(workspace)


@pytest.mark.parametrize("content", [b"garbage" * 1000, b"", None])
def test_a_damaged_cache_costs_the_texts_again_and_nothing_else(
    tmp_path: Path,
    provider: Provider,
    content: bytes | None,
) -> None:
    write(tmp_path, "a.md", lines(50))
    workspace = asking(tmp_path, provider)
    run(workspace)
    path = tmp_path / ".memory" / cache_module.FILE
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2] if content is None else content)
    remove(workspace)
    assert run(asking(tmp_path, provider)).pending == 0
    assert vectors(workspace) == {text: whole(text) for text in lines(50)}
    seen(provider)
    for _ in range(2):
        remove(workspace)
        assert run(asking(tmp_path, provider)).pending == 0
    assert set(seen(provider)) <= set(lines(50))
    remove(workspace)
    assert run(asking(tmp_path, provider)).cached == 50
    assert not provider.requests


def test_vectors_of_another_width_in_the_cache_are_not_mixed_in(tmp_path: Path, provider: Provider) -> None:
    """The index was deleted and the model replaced: old vectors came from the cache beside new ones of another width,
    in one space, and what they were compared as meant nothing."""
    write(tmp_path, "a.md", lines(20))
    workspace = asking(tmp_path, provider)
    run(workspace)
    with closing(connect(str(tmp_path / ".memory" / cache_module.FILE))) as connection:
        connection.execute("DELETE FROM vectors WHERE digest = ?", (digest(PROBE),))
    remove(workspace)
    provider.plan = Forever([changed(lambda numbers: numbers[:5])])
    write(tmp_path, "b.md", ["A new line."])
    report = run(asking(tmp_path, provider))
    assert report.pending == 0
    assert {width_of(found) for found in vectors(workspace).values()} == {5}
    assert "another model answers to that name now" in report.notes[0]


# Another model


def test_another_model_re_embeds_everything_and_questions_are_answered_meanwhile(
    tmp_path: Path,
    provider: Provider,
) -> None:
    write(tmp_path, "a.md", lines(40))
    run(asking(tmp_path, provider))
    seen(provider)
    other = asking(tmp_path, provider, "other")
    answer = ask(other)
    assert (answer["provider"], answer["fallback"]) == ("static", "openai-compatible")
    assert answer["results"]
    named = "40 passages are not embedded by openai-compatible other yet"
    assert (answer["reason"], answer["warning"].startswith(f"{named} (`openclaw memory index`")) == (named, True)
    assert not provider.requests
    assert run(other).embedded == 40
    answer = ask(other)
    assert (answer["provider"], answer["model"], answer["warning"]) == ("openai-compatible", "other", None)
    seen(provider)
    # The one before is known still.
    assert run(asking(tmp_path, provider)) == FillReport(0, 40, 0, [])
    assert not provider.requests


@pytest.mark.parametrize(
    "change",
    [lambda numbers: numbers[::-1], lambda numbers: [-number for number in numbers], lambda numbers: numbers * 2],
    ids=["other numbers", "other signs", "another width"],
)
@pytest.mark.parametrize("rebuilt", [False, True])
def test_another_model_behind_the_same_name(
    tmp_path: Path,
    provider: Provider,
    change: Callable[[list[float]], list[float]],
    rebuilt: bool,
) -> None:
    """It is noticed by the probe, also where the index was built anew since: the old vectors of the cache were taken
    for this model's then."""
    write(tmp_path, "a.md", lines(30))
    run(asking(tmp_path, provider))
    seen(provider)
    provider.plan = Forever([changed(change)])
    write(tmp_path, "b.md", ["A new line."])
    if rebuilt:
        remove(asking(tmp_path, provider))
    workspace = asking(tmp_path, provider)
    report = run(workspace)
    assert report.notes == ["m: another model answers to that name now; all is embedded anew"]
    assert sorted(seen(provider)) == sorted([*lines(30), "A new line."])
    assert report.pending == 0
    assert vectors(workspace) == {text: quantised(change(vector(text))) for text in [*lines(30), "A new line."]}
    remove(workspace)
    run(asking(tmp_path, provider))
    assert not provider.requests


def test_the_same_model_may_differ_in_its_last_places(tmp_path: Path, provider: Provider) -> None:
    write(tmp_path, "a.md", lines(10))
    run(asking(tmp_path, provider))
    seen(provider)
    provider.plan = Forever([changed(lambda numbers: [number * 1.0003 + 0.001 for number in numbers])])
    write(tmp_path, "b.md", ["A new line."])
    assert run(asking(tmp_path, provider)).notes == []
    assert seen(provider) == ["A new line."]


# What is no vector


def test_a_width_that_changes_within_a_run(tmp_path: Path, provider: Provider) -> None:
    write(tmp_path, "a.md", lines(20))
    run(asking(tmp_path, provider))
    seen(provider)
    write(tmp_path, "b.md", lines(3, 50))
    provider.plan = [same, *[changed(lambda numbers: numbers[:5])] * 30]
    workspace = asking(tmp_path, provider)
    report = run(workspace)
    assert report.pending == 3
    assert "where 8 were expected" in report.notes[0]
    assert {width_of(found) for found in vectors(workspace).values() if found} == {8}
    answer = ask(asking(tmp_path, provider))
    assert (answer["provider"], bool(answer["results"])) == ("static", True)
    assert "where 8 were expected" in answer["warning"]


def poisoned(bad: set[str], value: float) -> Callable[[Provider], None]:
    """The server answers some texts with a vector that is none."""
    poison = [vector(text) for text in bad]

    def change(numbers: list[float]) -> list[float]:
        return [value] * len(numbers) if numbers in poison else numbers

    def put(server: Provider) -> None:
        server.plan = Forever([changed(change)])

    return put


@pytest.mark.parametrize("value", [0.0, math.nan, math.inf])
@pytest.mark.parametrize("size", [30, 300])
def test_one_text_without_a_vector_does_not_keep_the_others_from_theirs(
    tmp_path: Path,
    provider: Provider,
    value: float,
    size: int,
) -> None:
    """Everything that came in one request with it, and after it, was asked for again in each run, and never written."""
    bad = lines(size)[7]
    write(tmp_path, "a.md", lines(size))
    poisoned({bad}, value)(provider)
    workspace = asking(tmp_path, provider)
    report = run(workspace)
    assert report.pending == 1
    assert vectors(workspace) == {text: None if text == bad else whole(text) for text in lines(size)}
    assert report.notes[-1].startswith("1 texts cannot be embedded: openai-compatible: a vector")
    assert len(provider.embeddings()) < 25
    seen(provider)
    for _ in range(2):
        answer = ask(asking(tmp_path, provider))
        assert answer["provider"] == "static"
        assert "a vector" in answer["warning"]
    assert not provider.requests
    provider.plan = []
    assert run(asking(tmp_path, provider)).pending == 0
    assert seen(provider) == [bad]
    assert ask(asking(tmp_path, provider))["warning"] is None


def test_a_server_that_answers_nothing_but_zeros_is_not_asked_for_long(tmp_path: Path, provider: Provider) -> None:
    write(tmp_path, "a.md", lines(300))
    provider.plan = [same, *[changed(lambda numbers: [0.0] * 8)] * 100]
    report = run(asking(tmp_path, provider))
    assert report.pending == 300
    assert len(provider.embeddings()) < 20
    provider.requests.clear()
    provider.plan = Forever([changed(lambda numbers: [0.0] * 8)])
    assert run(asking(tmp_path, provider)).pending == 300
    assert len(provider.embeddings()) == 1


# A provider that does not answer

BROKEN: dict[str, Reply] = {
    "401": Reply(401, b'{"error": {"message": "bad key"}}'),
    "429": Reply(429, b'{"error": {"message": "slow down"}}'),
    "429 for long": Reply(429, b"{}", {"Retry-After": "3600"}),
    "500": Reply(500, b"oops"),
    "no JSON": Reply(200, b"<html>"),
    "cut": Reply(200, b'{"data": [', cut=100),
    "slow": Reply(200, b"{}", delay=3.0),
}


@pytest.mark.parametrize("name", [*BROKEN, "down"])
def test_questions_are_answered_in_time_and_do_not_ask_again(
    tmp_path: Path,
    provider: Provider,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With passages to embed first, and with the question alone to embed.

    A question gave the provider as much time for new passages as ``index`` does: five minutes and more.
    """
    write(tmp_path, "a.md", lines(20))
    run(asking(tmp_path, provider))
    healthy = provider.url
    for pending in (True, False):
        if pending:
            write(tmp_path, "b.md", ["A new line."])
        provider.plan = [] if name == "down" else Forever([BROKEN[name]])
        seen(provider)
        workspace = asking(tmp_path, provider)
        embedder: Any = workspace.models.choice().embedder
        embedder._query_patience = QUICK
        if name == "down":
            # A port that nobody listens at.
            embedder.transport.base_url = "http://127.0.0.1:9/v1"
        began = time.monotonic()
        answer = ask(workspace)
        assert time.monotonic() - began < 3
        assert answer["results"]
        assert (answer["provider"], answer["fallback"]) == ("static", "openai-compatible")
        assert "the built-in model answers" in answer["warning"]
        assert SECRET not in json.dumps(answer)
        asked = len(provider.requests)
        assert asked <= 4
        began = time.monotonic()
        again = ask(workspace)
        assert time.monotonic() - began < 1
        assert again == answer
        assert len(provider.requests) == asked
        provider.plan = []
        pause_module.forget(workspace.index_dir)
        run(asking(tmp_path, provider))
        assert ask(asking(tmp_path, provider))["provider"] == "openai-compatible"
    assert provider.url == healthy


def test_no_fallback_leaves_words(tmp_path: Path, provider: Provider) -> None:
    write(tmp_path, "a.md", lines(20))
    provider.plan = Forever([BROKEN["500"]])
    answer = ask(asking(tmp_path, provider, fallback="none"))
    assert (answer["provider"], bool(answer["results"])) == ("none", True)
    assert "keyword search answers" in answer["warning"]


def test_indexing_asks_also_while_questions_do_not(tmp_path: Path, provider: Provider) -> None:
    write(tmp_path, "a.md", lines(20))
    provider.plan = Forever([BROKEN["401"]])
    workspace = asking(tmp_path, provider)
    report = run(workspace)
    assert (report.pending, len(report.notes)) == (20, 1)
    assert ask(workspace)["warning"].startswith(report.notes[0])
    provider.plan = []
    assert run(asking(tmp_path, provider)).pending == 0
    assert ask(asking(tmp_path, provider))["warning"] is None


def test_what_the_cache_knows_does_not_end_a_pause(tmp_path: Path, provider: Provider) -> None:
    """Vectors from the cache were taken for the provider's answer, and the next question waited for it again."""
    write(tmp_path, "a.md", lines(300))
    run(asking(tmp_path, provider))
    workspace = asking(tmp_path, provider)
    remove(workspace)
    fault = EmbeddingFault("openai: no connection", kind="network")
    assert workspace.models.choice().embedder
    pause_module.pause(workspace.index_dir, workspace.models.choice().embedder.fingerprint, fault)
    assert run(workspace) == FillReport(0, 300, 0, [])
    assert ask(workspace)["warning"].startswith("openai: no connection")


def test_a_question_is_answered_where_the_lock_cannot_be_had(tmp_path: Path, provider: Provider) -> None:
    """Whatever embedding runs into, it is no reason to leave a question without an answer."""
    write(tmp_path, "a.md", lines(3))
    sync(asking(tmp_path, provider))
    (tmp_path / ".memory" / "embedding.lock").mkdir()
    answer = ask(asking(tmp_path, provider))
    assert (answer["provider"], bool(answer["results"])) == ("static", True)
    write(tmp_path, "b.md", lines(40, 50))
    assert ask(asking(tmp_path, provider))["results"]


# Several processes


def test_a_killed_run_is_gone_on_with(tmp_path: Path, provider: Provider) -> None:
    """What the first run had got is not asked for again, though its death was a hard one."""
    write(tmp_path, "a.md", lines(600))
    variables = environment(tmp_path, provider)
    workspace = asking(tmp_path, provider)
    released = threading.Event()

    def late(answer: Any) -> Any:
        released.wait(30)
        return answer

    provider.plan = [same, same, late]
    with started(tmp_path, variables, "index") as process:
        wait_for(lambda: count(workspace) == 256)
        assert process.poll() is None
        assert is_running(workspace)
        process.send_signal(signal.SIGKILL)
        process.wait()
    released.set()
    assert (tmp_path / ".memory" / "embedding.lock.holder").exists()
    assert not is_running(workspace)
    first = seen(provider)
    assert first[:256] == lines(256)
    report = told(tmp_path, variables, "index")["embeddings"]
    assert (report["embedded"], report["pending"], report["warnings"]) == (344, 0, [])
    assert seen(provider) == lines(344, 256)
    assert vectors(workspace) == {text: whole(text) for text in lines(600)}


def test_two_at_once(tmp_path: Path, provider: Provider) -> None:
    """One embeds, the other says that it is busy; a question does not wait for either."""
    write(tmp_path, "a.md", lines(60))
    variables = environment(tmp_path, provider)
    workspace = asking(tmp_path, provider)
    released = threading.Event()

    def late(answer: Any) -> Any:
        released.wait(30)
        return answer

    provider.plan = [same, late]
    with started(tmp_path, variables, "index") as process:
        wait_for(lambda: len(provider.embeddings()) == 2)
        told(tmp_path, variables, "index", code=75)
        with pytest.raises(Busy, match="embedding"):
            fill_chosen(workspace, timeout=0.0)
        began = time.monotonic()
        answer = ask(asking(tmp_path, provider))
        assert time.monotonic() - began < 2
        assert (answer["provider"], answer["stale"]) == ("static", False)
        assert "60 passages are not embedded by openai-compatible m yet" in answer["warning"]
        released.set()
        assert process.wait(30) == 0
    assert sorted(seen(provider)) == sorted(lines(60))
    assert count(workspace) == 60
    assert ask(asking(tmp_path, provider))["provider"] == "openai-compatible"


def test_others_write_while_the_provider_is_waited_for(tmp_path: Path, provider: Provider) -> None:
    """The model works outside of write transactions: facts are retained and found meanwhile, by real processes."""
    write(tmp_path, "a.md", lines(60))
    variables = environment(tmp_path, provider)
    released = threading.Event()

    def late(answer: Any) -> Any:
        released.wait(30)
        return answer

    provider.plan = [same, late]
    with started(tmp_path, variables, "index") as process:
        wait_for(lambda: len(provider.embeddings()) == 2)
        began = time.monotonic()
        told(tmp_path, variables, "retain", "W @Peter: Sailed to the lighthouse.")
        answer = told(tmp_path, variables, "recall", "Who sailed to the lighthouse?")
        assert time.monotonic() - began < 10
        assert not answer["stale"]
        assert "lighthouse" in answer["results"][0]["content"]
        # A file that changes under the run: its passages are others by the time the answer comes.
        write(tmp_path, "a.md", lines(59, 1))
        sync(Workspace(str(tmp_path)), timeout=0.0)
        released.set()
        assert process.wait(30) in (0, 3)
    run(asking(tmp_path, provider))
    found = vectors(asking(tmp_path, provider))
    assert len(found) == 60
    assert all(vector == whole(text) for text, vector in found.items() if text in lines(60))
    assert sorted(set(seen(provider)) & set(lines(60))) == sorted(lines(60))


def test_a_question_does_not_wait_for_a_writer(tmp_path: Path, provider: Provider) -> None:
    """What the provider has answered by then is in the cache, and nothing is asked twice."""
    write(tmp_path, "a.md", lines(10))
    workspace = asking(tmp_path, provider)
    sync(workspace)
    held = threading.Event()

    def busy() -> None:
        with writer_lock(workspace.lock_path, 10.0, "testing"):
            held.set()
            done.wait(20)

    done = threading.Event()
    thread = threading.Thread(target=busy)
    thread.start()
    held.wait(10)
    began = time.monotonic()
    answer = ask(asking(tmp_path, provider))
    assert time.monotonic() - began < 2
    assert (answer["provider"], bool(answer["results"])) == ("static", True)
    done.set()
    thread.join()
    assert run(asking(tmp_path, provider)).pending == 0
    assert sorted(seen(provider)) == sorted(lines(10))


def test_the_index_is_deleted_meanwhile(tmp_path: Path, provider: Provider) -> None:
    write(tmp_path, "a.md", lines(30))
    workspace = asking(tmp_path, provider)
    sync(workspace)

    def meanwhile(answer: Any) -> Any:
        remove(Workspace(str(tmp_path)))
        sync(Workspace(str(tmp_path)))
        return answer

    provider.plan = [same, meanwhile]
    fill_chosen(workspace)
    assert run(asking(tmp_path, provider)).pending == 0
    assert vectors(workspace) == {text: whole(text) for text in lines(30)}
    assert sorted(seen(provider)) == sorted(lines(30))


# Batches


def batches(provider: Provider) -> int:
    return provider.counted("/v1/batches")


def test_a_batch_that_was_on_its_way_is_taken_up_after_a_kill(tmp_path: Path, provider: Provider) -> None:
    """Also where fewer texts are left than a batch is worth: they were asked for again, one by one, and the batch's
    results were left with the provider."""
    write(tmp_path, "a.md", lines(250))
    variables = environment(tmp_path, provider, {"pollIntervalMs": 20})
    workspace = asking(tmp_path, provider)
    provider.states = ["in_progress"] * 100_000
    with started(tmp_path, variables, "index") as process:
        wait_for(lambda: provider.counted("/v1/batches/", "GET") > 3)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert seen(provider) == []
    write(tmp_path, "a.md", lines(150))
    provider.states = ["in_progress"] * 2
    report = told(tmp_path, variables, "index")["embeddings"]
    assert (report["embedded"], report["pending"]) == (150, 0)
    assert batches(provider) == 0
    assert seen(provider) == []
    assert vectors(workspace) == {text: whole(text) for text in lines(150)}


def test_what_a_batch_brought_is_written_while_another_is_waited_for(tmp_path: Path, provider: Provider) -> None:
    """Up to 255 answers waited in memory for the next ones, which may take an hour, while their batch was struck off
    the list: a kill lost them, and they were paid for twice."""
    write(tmp_path, "a.md", lines(300))
    variables = environment(tmp_path, provider, {"pollIntervalMs": 20, "concurrency": 1})
    workspace = asking(tmp_path, provider)
    provider.refused = set(lines(2))
    released = threading.Event()

    def late(answer: Any) -> Any:
        released.wait(30)
        return answer

    # The two that the batch did not bring are asked for in a plain request, which does not come back.
    provider.plan = [same, late]
    with started(tmp_path, variables, "index") as process:
        wait_for(lambda: count(workspace) == 298)
        process.send_signal(signal.SIGKILL)
        process.wait()
    released.set()
    provider.requests.clear()
    provider.refused = set()
    report = told(tmp_path, variables, "index")["embeddings"]
    assert (report["pending"], count(workspace)) == (0, 300)
    assert batches(provider) == 0
    assert len(seen(provider)) <= 2


def test_a_question_never_waits_for_a_batch(tmp_path: Path, provider: Provider) -> None:
    write(tmp_path, "a.md", lines(220))
    variables = environment(tmp_path, provider, {"pollIntervalMs": 20, "wait": False})
    provider.states = ["in_progress"] * 100_000
    told(tmp_path, variables, "index", code=3)
    seen(provider)
    write(tmp_path, "a.md", lines(5))
    began = time.monotonic()
    answer = told(tmp_path, variables, "recall", "Line 3 of the log")
    assert time.monotonic() - began < 5
    assert answer["provider"] == "openai-compatible"
    assert not [request for request in provider.requests if "batches" in request.path]


# What a backfill brings, in time


def test_in_time_holds_nothing_back() -> None:
    gate = threading.Event()

    def answers() -> Iterator[int]:
        yield from range(5)
        gate.wait(20)
        yield from range(5, 12)

    parts = in_time(answers(), 4, 0.05)
    began = time.monotonic()
    assert [next(parts), next(parts)] == [[0, 1, 2, 3], [4]]
    assert time.monotonic() - began < 5
    gate.set()
    assert [one for part in parts for one in part] == list(range(5, 12))


def test_in_time_gives_what_came_before_a_fault() -> None:
    def answers() -> Iterator[int]:
        yield from range(3)
        raise EmbeddingFault("no", kind="quota")

    found: list[int] = []
    with pytest.raises(EmbeddingFault, match="no"):
        found.extend(one for part in in_time(answers(), 100, 5.0) for one in part)
    assert found == [0, 1, 2]
    assert list(in_time(iter(()), 100, 5.0)) == []


def test_in_time_stops_with_its_reader() -> None:
    closed = threading.Event()

    def answers() -> Iterator[int]:
        try:
            yield from range(10**9)
        finally:
            closed.set()

    parts = in_time(answers(), 10, 5.0)
    assert next(parts) == list(range(10))
    parts.close()
    assert closed.wait(10)


# The rerank model


@pytest.mark.parametrize("provided", [True, False])
def test_indexing_says_why_a_rerank_model_cannot_be_had(
    tmp_path: Path,
    provider: Provider,
    monkeypatch: pytest.MonkeyPatch,
    provided: bool,
) -> None:
    """Indexing fetches it, as a question that finds none promises; where it cannot, that is a warning, once."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object() if provided and name == "llama_cpp" else None)
    write(tmp_path, "a.md", lines(3))
    for reference, said in (
        (str(tmp_path / "gone.gguf"), "the model file does not exist"),
        ("hf:somebody/a-reranker/file.gguf", "downloads are off"),
    ):
        workspace = asking(tmp_path, provider, rerank_model=reference)
        with monkeypatch.context() as patch:
            patch.setenv("OPENCLAW_MEMORY_OFFLINE", "1")
            workspace.models.choice(download=True)
            for _ in range(2):
                fill_chosen(workspace)
        (warning,) = workspace.models.warnings
        assert warning.startswith("the rerank model cannot be used: ")
        assert (said if provided else "llama-cpp-python is not installed") in warning
        assert "local.modelPath" not in warning
    assert asking(tmp_path, provider).models.fetch_reranker() == ""


def test_a_rerank_model_that_is_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    (tmp_path / "here.gguf").write_bytes(b"GGUF")
    assert Models(EmbeddingSettings(rerank_model=str(tmp_path / "here.gguf"))).fetch_reranker() == ""


def test_what_is_loaded_for_indexing_serves_questions_unless_it_is_a_provider(
    provider: Provider, tmp_path: Path
) -> None:
    remote = asking(tmp_path, provider).models
    assert remote.choice(download=True).embedder is not remote.choice().embedder
    assert remote.choice().embedder is remote.choice().embedder
    static = Models()
    assert static.choice(download=True).embedder is static.choice().embedder


# From the extension's threshold on


@pytest.mark.skipif(bool(load_vectors(connect(":memory:"))), reason="sqlite-vec does not load here")
def test_another_width_with_the_extensions_table(
    tmp_path: Path,
    provider: Provider,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(spaces, "EXTENSION_FROM", 10)
    write(tmp_path, "a.md", lines(30))
    workspace = asking(tmp_path, provider)
    run(workspace)
    for width in (8, 5, 16):
        provider.plan = Forever([changed(lambda numbers, width=width: (numbers * 2)[:width])])
        write(tmp_path, "b.md", [f"A new line of {width}."])
        run(asking(tmp_path, provider))
        with closing(connect(workspace.index_path)) as connection:
            load_vectors(connection)
            told = dict(connection.execute("SELECT key, value FROM meta").fetchall())
            assert told["model_nearest"] == "yes"
            assert connection.execute("SELECT count(*) FROM model_nearest").fetchone() == (31,)
        assert ask(asking(tmp_path, provider))["provider"] == "openai-compatible"


def test_damage_in_the_index_is_no_fault_of_the_provider(tmp_path: Path, provider: Provider) -> None:
    """The first row said how wide a question's vector has to be, and the provider was blamed and left alone."""
    write(tmp_path, "a.md", lines(5))
    workspace = asking(tmp_path, provider)
    run(workspace)
    with closing(connect(workspace.index_path)) as connection:
        connection.execute(
            "UPDATE model_vectors SET vector = substr(vector, 3)"
            " WHERE passage = (SELECT min(passage) FROM model_vectors)"
        )
    answer = ask(asking(tmp_path, provider))
    assert (answer["provider"], answer["fallback"]) == ("openai-compatible", None)
    assert "set aside" in answer["warning"]
    assert not (tmp_path / ".memory" / pause_module.FILE).exists()


def test_another_model_behind_the_questions_is_the_providers_fault(tmp_path: Path, provider: Provider) -> None:
    write(tmp_path, "a.md", lines(5))
    run(asking(tmp_path, provider))
    provider.plan = Forever([changed(lambda numbers: numbers[:5])])
    answer = ask(asking(tmp_path, provider))
    assert (answer["provider"], answer["fallback"]) == ("static", "openai-compatible")
    assert "the question's vector does not fit the passages'" in answer["warning"]


def test_a_question_without_words_of_its_own_asks_nobody(tmp_path: Path, provider: Provider) -> None:
    """It waited for a vector that was thrown away."""
    write(tmp_path, "2026-01-05.md", lines(5))
    run(asking(tmp_path, provider))
    provider.requests.clear()
    answer = ask(asking(tmp_path, provider), "What happened on 5 January 2026?")
    assert (answer["provider"], answer["warning"], len(answer["results"])) == ("none", None, 5)
    assert not provider.requests


def test_nothing_is_left_lying_about(tmp_path: Path, provider: Provider) -> None:
    write(tmp_path, "a.md", lines(5))
    run(asking(tmp_path, provider))
    names = {re.sub(r"(-wal|-shm)$", "", name) for name in os.listdir(tmp_path / ".memory")}
    assert names == {"index.sqlite", cache_module.FILE, "writer.lock", "embedding.lock"}
    shutil.rmtree(tmp_path / ".memory")
    assert is_running(asking(tmp_path, provider)) is False
    assert not (tmp_path / ".memory").exists()
