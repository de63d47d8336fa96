"""A recall leaves its trace below ``.memory``, and only there; one that is to change nothing leaves none."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

from openclaw_memory.bank.recalls import read_recalls
from openclaw_memory.bank.workspace import Workspace


def test_a_recall_leaves_its_trace(run, workspace: Path) -> None:
    named = ("--workspace", str(workspace), "--json")
    ran = run("recall", "Where does Peter live?", "--now", "2025-12-06T12:00:00", *named)
    ids = [result["id"] for result in json.loads(ran.text)["results"]][:5]
    assert read_recalls(Workspace(str(workspace))) == dict.fromkeys(ids, 1)
    before = (workspace / ".memory" / "recalls.jsonl").read_bytes()
    assert json.loads(before) == {"day": date(2025, 12, 6).isoformat(), "ids": ids}
    assert run("recall", "Where does Peter live?", "--no-sync", *named).code == 0
    assert run("recall", "zzzzzz", *named).code == 0
    assert run("search", "Peter", *named).code == 0
    assert (workspace / ".memory" / "recalls.jsonl").read_bytes() == before


def test_a_trace_that_cannot_be_left(run, workspace: Path) -> None:
    assert run("index", "--workspace", str(workspace)).code == 0
    (workspace / ".memory" / "recalls.jsonl").mkdir()
    ran = run("recall", "Where does Peter live?", "--workspace", str(workspace), "--json")
    assert (ran.code, ran.err) == (0, b"")
    assert json.loads(ran.text)["results"]
