"""A provider that failed is left alone for a while: how long, whose pause it is, and what a broken file means."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from openclaw_memory.bank.embeddings.pause import FILE, LONG_PAUSE, PAUSE, forget, pause, paused
from openclaw_memory.bank.embeddings.protocol import EmbeddingFault


def fault(lasting: bool = False) -> EmbeddingFault:
    return EmbeddingFault("openai: no connection", "embedding", "try again", kind="network", lasting=lasting)


@pytest.mark.parametrize(("lasting", "seconds"), [(False, PAUSE), (True, LONG_PAUSE)])
def test_it_ends_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lasting: bool, seconds: int) -> None:
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now)
    pause(str(tmp_path), "m", fault(lasting))
    assert paused(str(tmp_path), "m") == str(fault())
    now += seconds - 1
    assert paused(str(tmp_path), "m")
    now += 2
    assert paused(str(tmp_path), "m") == ""


def test_a_clock_that_was_set_back_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pause(str(tmp_path), "m", fault())
    now = time.time() - 100_000
    monkeypatch.setattr(time, "time", lambda: now)
    assert paused(str(tmp_path), "m") == ""


def test_it_is_of_one_model_and_is_forgotten(tmp_path: Path) -> None:
    assert paused(str(tmp_path), "m") == ""
    pause(str(tmp_path), "m", fault())
    assert paused(str(tmp_path), "another") == ""
    forget(str(tmp_path))
    assert paused(str(tmp_path), "m") == ""
    forget(str(tmp_path))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff\xfe", b"[]", b"null", b'"m"', b'{"fingerprint": "m"}', b"[" * 100_000,
     b'{"fingerprint": "m", "until": "soon", "fault": "x"}', b'{"fingerprint": "m", "until": NaN, "fault": "x"}',
     b'{"fingerprint": "m", "until": 1e300, "fault": "x"}', b'{"fingerprint": "m", "until": null, "fault": "x"}'],
)  # fmt: skip
def test_a_broken_file_is_no_pause(tmp_path: Path, content: bytes) -> None:
    """One that is nested too deeply ended every question."""
    (tmp_path / FILE).write_bytes(content)
    assert paused(str(tmp_path), "m") == ""
    pause(str(tmp_path), "m", fault())
    assert paused(str(tmp_path), "m")


def test_it_holds_the_fault_and_nothing_else(tmp_path: Path) -> None:
    pause(str(tmp_path), "m", fault())
    told = json.loads((tmp_path / FILE).read_text(encoding="utf-8"))
    assert set(told) == {"fingerprint", "until", "fault"}
    assert os.listdir(tmp_path) == [FILE]


def test_what_cannot_be_written_is_no_pause_and_leaves_nothing(tmp_path: Path) -> None:
    pause(str(tmp_path / "nowhere"), "m", fault())
    assert paused(str(tmp_path / "nowhere"), "m") == ""
    (tmp_path / FILE).mkdir()
    pause(str(tmp_path), "m", fault())
    assert paused(str(tmp_path), "m") == ""
    forget(str(tmp_path))
    assert os.listdir(tmp_path) == [FILE]
