"""flush on the command line, as real processes, against their schema."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

ROOT = Path(__file__).parent.parent
SCHEMA = Draft202012Validator(json.loads((ROOT.parent / "docs" / "schemas" / "flush.json").read_text("utf-8")))
NOW = "2025-12-06T12:00:00"
FULL = ("--session", "main", "--tokens", "180000", "--context-window", "200000", "--now", NOW)


def check(data: bytes) -> Any:
    answer = json.loads(data.decode("utf-8"))
    assert [f"{one.json_path}: {one.message}" for one in SCHEMA.iter_errors(answer)] == []
    return answer


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """OpenClaw's folder with the example of its older documentation."""
    folder = tmp_path / "home" / ".openclaw"
    folder.mkdir(parents=True)
    shutil.copy(ROOT / "cases" / "configuration" / "memory-flush.json5", folder / "openclaw.json")
    return folder


@pytest.fixture
def flush(run, workspace: Path):
    def call(*arguments: str, stdin: bytes = b"", named: bool = True):
        where = ("--workspace", str(workspace)) if named else ()
        return run("flush", *arguments, *where, stdin=stdin)

    return call


def test_due_and_not_due(flush, home: Path, workspace: Path) -> None:
    before = {path: path.read_bytes() for path in workspace.rglob("*.md")}
    ran = flush("check", *FULL)
    assert ran.code == 0
    assert ran.text == "Write any lasting notes to memory/2025-12-06.md; reply with NO_REPLY if nothing to store.\n"
    assert ran.told == "due: 180,000 tokens are more than 176,000\n"
    quiet = flush("check", "--session", "main", "--tokens", "5", "--context-window", "200000")
    assert (quiet.code, quiet.out, quiet.told) == (0, b"", "not due: 5 tokens; due above 176,000\n")
    assert not (home / "agents").exists()
    assert {path: path.read_bytes() for path in workspace.rglob("*.md")} == before


def test_a_cycle_from_claim_to_mark(flush, home: Path) -> None:
    told = check(flush("check", *FULL, "--claim", "--json").out)
    assert (told["due"], told["claimed"], told["relativePath"]) == (True, True, "memory/2025-12-06.md")
    assert told["store"] == str(home / "agents" / "main" / "sessions" / "sessions.json")
    again = check(flush("check", *FULL, "--claim", "--json").out)
    assert (again["code"], again["flushedCompactionCount"]) == ("flushed", 0)
    marked = check(flush("mark", "--session", "main", "--compaction-count", "0", "--json").out)
    assert (marked["flushed"], marked["failures"]) == (True, 0)
    assert flush("mark", "--session", "main").text == "agent:main:main: flushed in compaction cycle 0\n"
    failed = flush("mark", "--session", "main", "--failed")
    assert failed.text == "agent:main:main: failed (1 of 3) in compaction cycle 0; it is due again\n"
    assert flush("check", *FULL).text.startswith("Write any lasting notes")


def test_nobody_says_how_full_it_is(flush, home: Path) -> None:
    told = check(flush("check", "--session", "main", "--json").out)
    assert (told["due"], told["code"], told["tokens"], told["thresholdTokens"]) == (False, "unknown-size", None, None)


def test_a_sandbox_that_may_not_write(flush) -> None:
    ran = flush("check", *FULL, "--workspace-access", "ro")
    assert (ran.code, ran.out, ran.told) == (0, b"", 'not due: the caller says workspaceAccess "ro"\n')


def test_the_agent_is_the_sessions(run, flush, home: Path, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (home / "openclaw.json").write_text(
        json.dumps({"agents": {"entries": {"work": {"workspace": str(tmp_path / "work")}}}}), encoding="utf-8"
    )
    told = check(flush("check", *FULL, "--session", "agent:work:main", "--json", named=False).out)
    assert (told["agent"], Path(told["store"]).parts[-3]) == ("work", "work")
    unknown = flush("check", *FULL, "--session", "agent:nobody:main", named=False)
    assert (unknown.code, unknown.told.count("\n")) == (2, 1)


@pytest.mark.parametrize(
    ("answer", "silent", "text"),
    [("NO_REPLY", True, ""), ("Stored. NO_REPLY", False, "Stored."), ("Stored.", False, "Stored.")],
)
def test_answers(flush, answer: str, silent: bool, text: str) -> None:
    assert check(flush("reply", answer, "--json").out) == {"silent": silent, "text": text}
    ran = flush("reply", "-", stdin=answer.encode())
    assert (ran.code, ran.text) == (0, f"{text}\n" if text else "")


def test_faults_are_one_line(flush, home: Path) -> None:
    store = home / "agents" / "main" / "sessions" / "sessions.json"
    store.parent.mkdir(parents=True)
    store.write_text("{\n  nonsense", encoding="utf-8")
    for words in (["check", *FULL], ["check", *FULL, "--claim"], ["mark", "--session", "main"]):
        ran = flush(*words)
        assert (ran.code, ran.out, ran.told.count("\n")) == (1, b"", 1)
        assert f"({store}:2)" in ran.told
    assert store.read_text("utf-8") == "{\n  nonsense"
    for words in (["check"], ["check", "--session", ""], ["check", *FULL, "--workspace-access", "rwx"], []):
        assert flush(*words).code == 2
    (home / "openclaw.json").write_text("{agents: {defaults: {compaction: {memoryFlush: {enabled: 'no'}}}}}", "utf-8")
    ran = flush("check", *FULL)
    assert (ran.code, ran.told.count("\n")) == (1, 1)
    assert "agents.defaults.compaction.memoryFlush.enabled: expected true or false" in ran.told
