"""The Python door gives what the command line gives, and raises where that ends with a fault."""

from __future__ import annotations

import json
from datetime import date, datetime
from pathlib import Path

import pytest
from openclaw_memory.bank.errors import MemoryFault, UsageFault

from openclaw_memory import Memory

NOW = "2025-12-06T12:00:00+00:00"
MOMENT = datetime.fromisoformat(NOW)


def test_same_answers_as_the_command_line(run, demo: Path) -> None:
    memory = Memory(str(demo))
    named = ("--workspace", str(demo), "--now", NOW, "--json")
    asked = ("what does Mara prefer?", "--since", "2025-11-01", "-k", "3", "--kind", "opinion", "--explain")
    recalled = memory.recall(asked[0], k=3, since="2025-11-01", kind="opinion", explain=True, now=MOMENT)
    assert json.loads(run("recall", *asked, *named).text) == recalled
    found = memory.search("ZX-4417", max_results=2, now=MOMENT)
    assert json.loads(run("search", "ZX-4417", "--max-results", "2", *named).text) == found
    read = memory.get("memory/2025-11-07.md", 3, 2)
    assert json.loads(run("get", "memory/2025-11-07.md#L3-L4", *named).text) == read


@pytest.mark.parametrize("question", ["\0", "gannet\0port", "\0" * 1000, "\ud800", "", '"' * 3, "x\ny"])
def test_any_string_is_a_question(demo: Path, question: str) -> None:
    memory = Memory(str(demo))
    assert memory.recall(question, now=MOMENT)["query"] == question
    assert "unavailable" not in memory.search(question, now=MOMENT)
    assert memory.get(question)["status"] == "error"


def test_writing_and_reading_back(workspace: Path) -> None:
    memory = Memory(str(workspace))
    (written,) = memory.retain(["- W @Peter: Has a dog."], day=date(2025, 12, 6))["retained"]
    assert written["source"] == "memory/2025-12-06.md#L5"
    assert memory.sync().added == [
        "MEMORY.md",
        "bank/entities/Peter.md",
        "memory/2025-12-01.md",
        "memory/2025-12-06.md",
    ]
    assert memory.recall("who has a dog?", now=MOMENT)["results"][0]["source"] == "memory/2025-12-06.md#L5"


def test_faults_are_raised(tmp_path: Path, demo: Path) -> None:
    with pytest.raises(MemoryFault):
        Memory(str(tmp_path / "missing"))
    memory = Memory(str(demo))
    for filters in ({"since": "soon"}, {"kind": "x"}, {"min_confidence": 2}):
        with pytest.raises(UsageFault):
            memory.recall("x", **filters)
