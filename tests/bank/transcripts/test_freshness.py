"""A question does not wait for much to be indexed, and is told what it may miss."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from openclaw_memory.bank.background import BACKGROUND
from openclaw_memory.bank.driver import Connection
from openclaw_memory.bank.errors import Busy
from openclaw_memory.bank.files import writer_lock
from openclaw_memory.bank.transcripts import background
from openclaw_memory.bank.transcripts.changes import Thresholds
from openclaw_memory.bank.transcripts.freshness import WHILE_ASKED, Fresh, ask_transcripts
from openclaw_memory.bank.transcripts.index import TranscriptIndex
from openclaw_memory.bank.transcripts.lock import is_running
from openclaw_memory.bank.transcripts.sync import sync_transcripts

from .conftest import State, event, jsonl, said


def count(connection: Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM passages").fetchone()[0])


def ask(index: TranscriptIndex, **more: object) -> tuple[int | None, Fresh]:
    return ask_transcripts(index, count, **more)  # type: ignore[arg-type]


@pytest.fixture
def index(state: State) -> TranscriptIndex:
    return TranscriptIndex(state.path, "main")


@pytest.fixture
def no_background(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BACKGROUND, "0")


def wait_until_idle(index: TranscriptIndex) -> None:
    process = background._started[index.index_path]
    assert process.wait(60) == 0


def test_no_transcripts(index: TranscriptIndex) -> None:
    assert ask(index) == (None, Fresh(False, False, ()))
    assert not Path(index.root).exists()


def test_what_is_small_is_done_at_once(state: State, index: TranscriptIndex) -> None:
    state.write("a.jsonl", said("The gannet is at berth 14."))
    assert ask(index) == (1, Fresh(False, False, ()))
    state.write("b.jsonl", said("The heron is at berth 15."))
    assert ask(index) == (2, Fresh(False, False, ()))
    state.append("b.jsonl", said("The harbour opens at nine."))
    # Not enough has come: what there is answers, and it is told.
    assert ask(index) == (2, Fresh(True, False, ()))
    assert ask(index, thresholds=Thresholds(0, 0)) == (3, Fresh(False, False, ()))


def test_what_is_large_is_left_to_a_process(state: State, index: TranscriptIndex) -> None:
    texts = [f"message number {n} about the gannet" for n in range(2000)]
    state.write("a.jsonl", said(*texts))
    assert (state.sessions() / "a.jsonl").stat().st_size > WHILE_ASKED
    start = time.perf_counter()
    found, fresh = ask(index)
    assert time.perf_counter() - start < 2
    assert found is None
    assert (fresh.stale, fresh.partial) == (True, True)
    assert fresh.notes == ("session transcripts are being indexed; this answer may miss some",)
    wait_until_idle(index)
    assert ask(index) == (2000, Fresh(False, False, ()))
    # What there is answers while more is being indexed.
    state.write("b.jsonl", said(*texts))
    found, fresh = ask(index)
    assert found is not None
    assert found >= 2000
    assert fresh.partial
    wait_until_idle(index)
    assert ask(index) == (4000, Fresh(False, False, ()))


def test_the_process_takes_everything(state: State, index: TranscriptIndex) -> None:
    state.write("a.jsonl", said("first"))
    sync_transcripts(index)
    state.append("a.jsonl", said("second"))
    told = subprocess.run(
        [sys.executable, "-m", "openclaw_memory.bank.transcripts.background", state.path, "main"], check=False
    )
    assert told.returncode == 0
    assert ask(index) == (2, Fresh(False, False, ()))


@pytest.mark.usefixtures("no_background")
def test_without_a_process_it_is_said_what_to_do(state: State, index: TranscriptIndex) -> None:
    state.write("a.jsonl", said(*(f"message number {n} about the gannet" for n in range(2000))))
    found, fresh = ask(index)
    assert found is None
    assert "run `openclaw memory index`" in fresh.notes[0]
    assert fresh.partial


def test_no_sync(state: State, index: TranscriptIndex) -> None:
    state.write("a.jsonl", said("The gannet is at berth 14."))
    assert ask(index, no_sync=True) == (None, Fresh(True, True, ()))
    assert not Path(index.root).exists()
    sync_transcripts(index)
    assert ask(index, no_sync=True) == (1, Fresh(False, False, ()))
    state.write("b.jsonl", said("more"))
    assert ask(index, no_sync=True) == (1, Fresh(True, True, ()))


def test_another_process_is_at_it(state: State, index: TranscriptIndex) -> None:
    state.write("a.jsonl", said("The gannet is at berth 14."))
    sync_transcripts(index)
    state.write("b.jsonl", said("more"))
    with writer_lock(index.lock_path, 0.0, "indexing transcripts"):
        start = time.perf_counter()
        found, fresh = ask(index)
        assert time.perf_counter() - start < 2
        assert found == 1
        assert (fresh.stale, fresh.partial) == (True, True)
        assert "busy" in fresh.notes[0]
        assert is_running(index)
    assert not is_running(index)


def test_the_process_makes_way(state: State, index: TranscriptIndex) -> None:
    """For a command that somebody waits for; what it has done is kept."""
    noise = jsonl([event("toolResult", "x" * 1_000_000)]) * 4
    for batch in range(12):
        texts = (f"message number {n} of {batch} about the gannet, the heron and berth {n}" for n in range(300))
        state.append("a.jsonl", said(*texts) + noise)
    assert background.start_indexing(index)
    process = background._started[index.index_path]
    until = time.monotonic() + 60
    while not is_running(index):
        assert time.monotonic() < until
        time.sleep(0.01)
    sync_transcripts(index)
    assert process.wait(60) == Busy.exit_code
    assert ask(index) == (3600, Fresh(False, False, ()))


def test_what_cannot_be_read_is_told(state: State, index: TranscriptIndex) -> None:
    state.write("a.jsonl", said("The gannet is at berth 14."))
    state.write("b.jsonl.zst", said("x")).write_bytes(b"broken")
    sync_transcripts(index)
    found, fresh = ask(index)
    assert found == 1
    assert not fresh.stale
    assert "sessions/b.jsonl.zst: not read" in fresh.notes[0]


def test_a_place_that_cannot_be_written(state: State, index: TranscriptIndex) -> None:
    state.write("a.jsonl", said("The gannet is at berth 14."))
    Path(index.root).write_text("a file in the way")
    found, fresh = ask(index)
    assert found is None
    assert fresh.partial
    assert "could not be indexed" in fresh.notes[0]


def test_an_index_that_is_damaged(state: State, index: TranscriptIndex) -> None:
    state.write("a.jsonl", said("The gannet is at berth 14."))
    sync_transcripts(index)
    Path(index.index_path).write_bytes(b"no database at all" * 1000)
    assert ask(index) == (1, Fresh(False, False, ()))


def test_damage_that_is_met_while_it_is_read(state: State, index: TranscriptIndex) -> None:
    state.write("a.jsonl", said(*(f"message number {n} about the gannet" for n in range(300))))
    sync_transcripts(index)
    data = bytearray(Path(index.index_path).read_bytes())
    middle = len(data) // 4
    data[middle:] = bytes(len(data) - middle)
    Path(index.index_path).write_bytes(data)

    def read_all(connection: Connection) -> int:
        connection.execute("SELECT text FROM passages").fetchall()
        connection.execute("SELECT count(*) FROM passage_terms WHERE passage_terms MATCH 'gannet'").fetchall()
        return 1

    # It is built again, here or by a process of its own, and never answers what it does not hold.
    found, fresh = ask_transcripts(index, read_all)
    assert found == 1 or fresh.partial
    if background._started.get(index.index_path):
        wait_until_idle(index)
    assert ask(index) == (300, Fresh(False, False, ()))


def test_a_first_look_writes_nothing(state: State, index: TranscriptIndex) -> None:
    """Finding out that nothing is due touches no file."""
    state.write("a.jsonl", said("The gannet is at berth 14."))
    ask(index)
    before = {one: one.stat().st_mtime_ns for one in state.root.rglob("*") if one.is_file()}
    ask(index)
    assert {one: one.stat().st_mtime_ns for one in state.root.rglob("*") if one.is_file()} == before
