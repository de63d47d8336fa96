"""The examples of ``docs/python.md``, run as they stand."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest

from openclaw_memory import Memory

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = "\n".join(re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text("utf-8"), re.DOTALL))


def test_the_examples_run(workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(workspace.parent)
    exec(compile(EXAMPLES, "docs/python.md", "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Prefers releases on Tuesday mornings, never on a Friday. memory/2025-11-07.md#L32 0.7"
    assert "memory/2025-12-06.md#L5" in lines
    assert any(line.startswith("reflect: wrote ") for line in lines)
    assert lines[-1].startswith("a fact needs its type")
    assert "Peter lives in Porto." in (workspace / "memory.md").read_text("utf-8")


def test_threads_get_the_answers_of_one(workspace: Path) -> None:
    questions = ["What does Mara prefer?", "cargo bike", "ZX-4417", "who lives in Flensburg?"]
    with Memory(str(workspace)) as memory:
        expected = {question: memory.recall(question)["results"] for question in questions}
        wrong: list[str] = []

        def ask(question: str) -> None:
            for _ in range(5):
                if memory.recall(question)["results"] != expected[question]:
                    wrong.append(question)

        threads = [threading.Thread(target=ask, args=(question,)) for question in questions * 3]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []


def test_a_closed_memory_still_answers(workspace: Path) -> None:
    memory = Memory(str(workspace))
    for _ in range(3):
        before = memory.recall("cargo bike")["results"]
    memory.close()
    assert memory.recall("cargo bike")["results"] == before
    memory.close()
