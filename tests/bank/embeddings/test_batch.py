"""Batches of OpenAI and Gemini: the way there and back, what fails on it, and a run that another one takes up."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from openclaw_memory.bank.embeddings import batch as module
from openclaw_memory.bank.embeddings.protocol import EmbeddingFault
from openclaw_memory.bank.embeddings.remote import RemoteEmbedder
from openclaw_memory.bank.embeddings.settings import BatchSettings

from .conftest import SECRET, Provider, Reply, vector

Make = Callable[..., RemoteEmbedder]
BOTH = pytest.mark.parametrize("name", ["openai", "gemini"])
TEXTS = [f"note {n}, 第{n}条" for n in range(210)]
#: Names of states, OpenAI's and Gemini's.
STATE = {
    "openai": {"running": "in_progress", "failed": "failed", "expired": "expired", "cancelled": "cancelled"},
    "gemini": {
        "running": "BATCH_STATE_RUNNING",
        "failed": "BATCH_STATE_FAILED",
        "expired": "JOB_STATE_EXPIRED",
        "cancelled": "BATCH_STATE_CANCELLED",
    },
}
SUBMIT = {"openai": "/v1/batches", "gemini": ":asyncBatchEmbedContent"}
LOOK = {"openai": "/v1/batches/", "gemini": "/v1beta/batches/"}


class Filled:
    """What came back: position → vector, and the lines for a person."""

    def __init__(self, path: Path) -> None:
        self.path, self.vectors, self.notes = path, dict[int, list[float]](), list[str]()

    def take(self, embedder: RemoteEmbedder, texts: list[str], most: int | None = None) -> None:
        for position, found in embedder.backfill(texts, str(self.path), self.notes.append):
            assert position not in self.vectors
            self.vectors[position] = list(found)
            if len(self.vectors) == most:
                break
        self.check()

    def check(self) -> None:
        """No key is anywhere, and notes are lines."""
        for line in self.notes:
            assert "\n" not in line
            assert SECRET not in line
        assert not list(self.path.parent.glob("*.tmp"))
        if self.path.exists():
            kept = self.path.read_text(encoding="utf-8")
            assert SECRET not in kept
            assert "note 1" not in kept

    def waiting(self) -> dict[str, Any]:
        return dict(json.loads(self.path.read_text(encoding="utf-8"))["batches"]) if self.path.exists() else {}


@pytest.fixture
def filled(tmp_path: Path) -> Filled:
    return Filled(tmp_path / "state" / "batches.json")


def right(texts: list[str]) -> dict[int, list[float]]:
    return {position: vector(text) for position, text in enumerate(texts)}


@BOTH
def test_a_batch_there_and_back(name: str, embedder: Make, provider: Provider, filled: Filled) -> None:
    provider.states = [STATE[name]["running"]] * 2
    filled.take(embedder(name), TEXTS)
    assert filled.vectors == right(TEXTS)
    assert provider.counted(SUBMIT[name]) == 1
    assert provider.counted(LOOK[name], "GET") == 3
    assert not provider.embeddings()
    assert filled.waiting() == {}
    assert any("210 texts" in line for line in filled.notes)


def test_nothing_is_left_with_openai(embedder: Make, provider: Provider, filled: Filled) -> None:
    provider.refused = {TEXTS[5]}
    filled.take(embedder("openai"), TEXTS)
    assert filled.vectors == right(TEXTS)
    assert provider.files == {}


def test_results_of_gemini_where_its_library_looks(embedder: Make, provider: Provider, filled: Filled) -> None:
    provider.gemini_way = "library"
    filled.take(embedder("gemini"), TEXTS)
    assert filled.vectors == right(TEXTS)
    assert not provider.embeddings()


def test_results_of_gemini_that_come_a_moment_later(embedder: Make, provider: Provider, filled: Filled) -> None:
    early = {"name": "batches/b0", "done": True, "metadata": {"state": "JOB_STATE_SUCCEEDED"}}
    provider.gets = [Reply(body=json.dumps(early).encode())]
    filled.take(embedder("gemini"), TEXTS)
    assert filled.vectors == right(TEXTS)
    assert not provider.embeddings()


@BOTH
def test_the_same_text_twice_goes_once(name: str, embedder: Make, provider: Provider, filled: Filled) -> None:
    texts = [*TEXTS, TEXTS[0], "", " "]
    filled.take(embedder(name), texts)
    assert filled.vectors == right(TEXTS) | {210: vector(TEXTS[0]), 211: vector("."), 212: vector(".")}


@pytest.mark.parametrize(("count", "enabled"), [(199, True), (210, False), (0, True)])
def test_few_texts_or_no_batches_go_in_plain_requests(
    count: int, enabled: bool, embedder: Make, provider: Provider, filled: Filled
) -> None:
    filled.take(embedder("openai", batch=BatchSettings(enabled=enabled)), TEXTS[:count])
    assert filled.vectors == right(TEXTS[:count])
    assert provider.counted(SUBMIT["openai"]) == 0
    assert not filled.path.exists()


def test_a_provider_without_batches(embedder: Make, provider: Provider, filled: Filled) -> None:
    filled.take(embedder("voyage"), TEXTS)
    assert filled.vectors == right(TEXTS)
    assert len(provider.embeddings()) == 2


@BOTH
def test_several_batches_two_at_a_time(
    name: str, embedder: Make, provider: Provider, filled: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_TEXTS", 50)
    provider.states = [STATE[name]["running"]] * 4
    filled.take(embedder(name), TEXTS)
    assert filled.vectors == right(TEXTS)
    order = ["submit" if SUBMIT[name] in r.path and r.method == "POST" else "look" for r in provider.requests
             if (SUBMIT[name] in r.path and r.method == "POST") or LOOK[name] in r.path]  # fmt: skip
    assert order[:7] == ["submit", "submit", *["look"] * 4, "look"]
    assert order.count("submit") == 5


# What fails


@BOTH
@pytest.mark.parametrize("end", ["failed", "expired", "cancelled"])
def test_a_batch_that_ends_badly(name: str, end: str, embedder: Make, provider: Provider, filled: Filled) -> None:
    provider.states = [STATE[name]["running"], STATE[name][end]]
    filled.take(embedder(name), TEXTS)
    assert filled.vectors == right(TEXTS)
    assert provider.embeddings()
    assert any("failed" in line for line in filled.notes)
    assert any("plain requests" in line for line in filled.notes)
    assert filled.waiting() == {}


def test_what_an_expired_batch_brought_is_kept(embedder: Make, provider: Provider, filled: Filled) -> None:
    provider.states = ["expired"]
    filled.take(embedder("openai"), TEXTS)
    assert filled.vectors == right(TEXTS)
    assert sum(len(found.body["input"]) for found in provider.embeddings()) == 105


@BOTH
def test_texts_that_the_batch_refused(name: str, embedder: Make, provider: Provider, filled: Filled) -> None:
    provider.refused = {TEXTS[3], TEXTS[99]}
    filled.take(embedder(name), TEXTS)
    assert filled.vectors == right(TEXTS)
    (plain,) = provider.embeddings()
    assert len(plain.body.get("input") or plain.body["requests"]) == 2
    assert any("2 of 210 texts" in line for line in filled.notes)


@BOTH
def test_lines_of_results_that_are_none(name: str, embedder: Make, provider: Provider, filled: Filled) -> None:
    def spoil(lines: list[bytes]) -> list[bytes]:
        zeros = lines[2].replace(b"0.", b"NaN,0.", 1)
        return [b"", b"no json", b"[]", b'{"key": 3, "custom_id": null}', lines[1][:30], zeros, *lines[3:], lines[5]]

    provider.lines = spoil
    filled.take(embedder(name), TEXTS)
    assert filled.vectors == right(TEXTS)


@BOTH
def test_an_end_point_without_batches(name: str, embedder: Make, provider: Provider, filled: Filled) -> None:
    provider.batch_reply = Reply(404, b'{"error": {"message": "no such route"}}')
    filled.take(embedder(name), TEXTS)
    assert filled.vectors == right(TEXTS)
    assert any("no batches here" in line for line in filled.notes)


@BOTH
def test_two_failures_in_a_row_end_it(
    name: str, embedder: Make, provider: Provider, filled: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_TEXTS", 30)
    provider.states = [STATE[name]["failed"]] * 9
    filled.take(embedder(name), TEXTS)
    assert filled.vectors == right(TEXTS)
    assert provider.counted(SUBMIT[name]) == 2
    assert any("no more batches" in line for line in filled.notes)


def test_a_failure_a_success_and_a_failure_do_not(
    embedder: Make, provider: Provider, filled: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_TEXTS", 60)
    provider.states = ["failed", "completed", "failed", "completed"]
    filled.take(embedder("openai", batch=BatchSettings(enabled=True, concurrency=1, poll_seconds=0.01)), TEXTS)
    assert filled.vectors == right(TEXTS)
    assert provider.counted(SUBMIT["openai"]) == 4


@BOTH
def test_a_refused_key_is_a_fault(name: str, embedder: Make, provider: Provider, filled: Filled) -> None:
    provider.batch_reply = Reply(401, SECRET.encode())
    with pytest.raises(EmbeddingFault, match="the key was refused") as caught:
        filled.take(embedder(name), TEXTS)
    assert caught.value.kind == "auth"
    assert SECRET not in str(caught.value)
    assert not provider.embeddings()


@BOTH
def test_a_batch_that_is_not_taken(name: str, embedder: Make, provider: Provider, filled: Filled) -> None:
    provider.batch_reply = Reply(429, f'{{"error": {{"message": "too many batches for {SECRET}"}}}}'.encode())
    filled.take(embedder(name), TEXTS)
    assert filled.vectors == right(TEXTS)
    assert any("a batch failed: ordering" in line or "a batch failed: uploading" in line for line in filled.notes)


@BOTH
def test_a_look_that_fails_is_repeated(name: str, embedder: Make, provider: Provider, filled: Filled) -> None:
    provider.gets = [Reply(503)] * 6
    filled.take(embedder(name), TEXTS)
    assert filled.vectors == right(TEXTS)
    assert not provider.embeddings()


@BOTH
def test_results_that_cannot_be_fetched(name: str, embedder: Make, provider: Provider, filled: Filled) -> None:
    provider.gets = [None, *[Reply(404, b"{}")] * 2]
    filled.take(embedder(name), TEXTS)
    assert filled.vectors == right(TEXTS)
    assert provider.embeddings()
    assert any("cannot be fetched" in line for line in filled.notes)


# Another run


@BOTH
def test_another_run_takes_up_what_is_on_its_way(name: str, embedder: Make, provider: Provider, filled: Filled) -> None:
    provider.states = [STATE[name]["running"]]
    hurried = BatchSettings(enabled=True, wait=False)
    filled.take(embedder(name, batch=hurried), TEXTS)
    assert filled.vectors == {}
    assert len(filled.waiting()) == 1
    assert "210 texts wait" in filled.notes[-1]
    # Texts of another order, some gone and some new: the batch is the same.
    texts = [*TEXTS[:0:-1], "a new one"]
    filled.take(embedder(name), texts)
    assert filled.vectors == right(texts)
    assert provider.counted(SUBMIT[name]) == 1
    assert len(provider.embeddings()) == 1
    assert filled.waiting() == {}


@BOTH
def test_a_run_that_is_cut_off(name: str, embedder: Make, provider: Provider, filled: Filled) -> None:
    filled.take(embedder(name), TEXTS, most=100)
    done = dict(filled.vectors)
    left = [position for position in range(210) if position not in done]
    again = Filled(filled.path)
    again.take(embedder(name), [TEXTS[position] for position in left])
    assert done | {left[at]: found for at, found in again.vectors.items()} == right(TEXTS)
    assert provider.counted(SUBMIT[name]) == 1
    assert not provider.embeddings()


def test_the_wait_has_an_end(embedder: Make, provider: Provider, filled: Filled) -> None:
    provider.states = ["in_progress"] * 1000
    short = BatchSettings(enabled=True, poll_seconds=0.01, timeout_minutes=0.001)
    filled.take(embedder("openai", batch=short), TEXTS)
    assert filled.vectors == {}
    assert len(filled.waiting()) == 1
    provider.states.clear()
    filled.take(embedder("openai"), TEXTS)
    assert filled.vectors == right(TEXTS)
    assert provider.counted(SUBMIT["openai"]) == 1


def test_without_waiting_no_more_than_two_are_on_their_way(
    embedder: Make, provider: Provider, filled: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_TEXTS", 50)
    provider.states = ["in_progress"] * 2
    hurried = BatchSettings(enabled=True, wait=False)
    filled.take(embedder("openai", batch=hurried), TEXTS)
    assert (provider.counted(SUBMIT["openai"]), filled.vectors) == (2, {})
    assert "210 texts wait" in filled.notes[-1]
    filled.take(embedder("openai", batch=hurried), TEXTS)
    assert len(filled.vectors) >= 100
    rest = [text for position, text in enumerate(TEXTS) if position not in filled.vectors]
    again = Filled(filled.path)
    again.take(embedder("openai"), rest)
    assert again.vectors == right(rest)


def test_batches_of_another_model_are_left_alone(embedder: Make, provider: Provider, filled: Filled) -> None:
    provider.states = ["in_progress"]
    filled.take(embedder("openai", "one", batch=BatchSettings(enabled=True, wait=False)), TEXTS)
    filled.take(embedder("openai", "two"), TEXTS)
    assert len(filled.waiting()) == 1
    assert provider.counted(SUBMIT["openai"]) == 2


def test_a_batch_that_the_provider_has_forgotten(embedder: Make, provider: Provider, filled: Filled) -> None:
    provider.states = ["in_progress"]
    filled.take(embedder("openai", batch=BatchSettings(enabled=True, wait=False)), TEXTS)
    provider.batches.clear()
    filled.take(embedder("openai"), TEXTS)
    assert filled.vectors == right(TEXTS)
    assert filled.waiting() == {}


@pytest.mark.parametrize("content", ["", "{", "[]", '{"batches": 3}', '{"batches": {"b": {}}}'])
def test_a_list_that_cannot_be_read_begins_anew(
    content: str, embedder: Make, provider: Provider, filled: Filled
) -> None:
    filled.path.parent.mkdir()
    filled.path.write_text(content, encoding="utf-8")
    filled.take(embedder("openai"), TEXTS)
    assert filled.vectors == right(TEXTS)
    assert "cannot be read" in filled.notes[0]


def test_a_list_that_cannot_be_kept_is_said(embedder: Make, provider: Provider, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    filled = Filled(tmp_path / "file" / "batches.json")
    filled.take(embedder("openai"), TEXTS)
    assert filled.vectors == right(TEXTS)
    assert any("cannot be" in line for line in filled.notes)
