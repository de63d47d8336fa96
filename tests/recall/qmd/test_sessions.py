"""Sessions as Markdown: whose, which, and what is left out."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from openclaw_memory.bank.errors import MemoryFault
from openclaw_memory.bank.transcripts.reading import zstandard
from openclaw_memory.recall.qmd.collections import wanted_collections
from openclaw_memory.recall.qmd.reading import qmd_get
from openclaw_memory.recall.qmd.sessions import export_sessions, sessions_behind

from .conftest import Bench, StandIn, hits

KEY = "sk-proj-abcdefghijklmnopqrstuvwx1234567890"
DAY = 86_400


def said(role: str, text: Any, when: str = "2025-12-01T10:02:00Z") -> dict[str, Any]:
    return {"type": "message", "timestamp": when, "message": {"role": role, "content": text}}


TALK = [
    said("user", "Where did I leave the cargo bike?"),
    said("toolResult", "the tool's own words"),
    said("assistant", [{"type": "text", "text": "At the harbour."}, {"type": "thinking", "thinking": "hidden"}]),
    said("user", f"My key is {KEY}.", "2025-12-02T08:00:00Z"),
]


class Talks:
    """Transcripts of an agent, and their export."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        bench.configure(sessions={"enabled": True})

    @property
    def folder(self) -> Path:
        return self.bench.folder / "state" / "agents" / "main" / "qmd" / "sessions"

    def write(self, name: str, *events: Any, agent: str = "main") -> Path:
        path = self.bench.folder / "state" / "agents" / agent / "sessions" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
        return path

    def export(self, now: float | None = None) -> list[str]:
        return export_sessions(self.bench.settings, self.bench.home, time.time() if now is None else now)

    def behind(self, now: float | None = None) -> bool:
        return sessions_behind(self.bench.settings, self.bench.home, time.time() if now is None else now)

    def files(self) -> list[str]:
        return sorted(path.name for path in self.folder.glob("*.md"))


@pytest.fixture
def talks(bench: Bench) -> Talks:
    return Talks(bench)


def test_what_was_said_and_nothing_else(talks: Talks) -> None:
    talks.write("0a1b.jsonl", {"type": "session", "id": "0a1b"}, *TALK)
    assert talks.export() == []
    text = (talks.folder / "0a1b.md").read_text("utf-8")
    assert text == (
        "# Session 0a1b\n\n## 2025-12-01\n\n**User** (10:02 UTC): Where did I leave the cargo bike?\n\n"
        "**Assistant** (10:02 UTC): At the harbour.\n\n## 2025-12-02\n\n**User** (08:00 UTC): My key is [redacted].\n"
    )
    assert KEY not in text
    assert stat.S_IMODE(os.stat(talks.folder / "0a1b.md").st_mode) == 0o600
    assert stat.S_IMODE(os.stat(talks.folder).st_mode) == 0o700


def test_off_unless_configured_and_switched_off_it_takes_its_files_away(talks: Talks) -> None:
    talks.write("0a1b.jsonl", *TALK)
    talks.bench.configure()
    talks.export()
    assert not talks.folder.exists()
    talks.bench.configure(sessions={"enabled": True})
    talks.export()
    (talks.folder / "mine.md").write_text("mine\n")
    talks.bench.configure()
    assert talks.behind()
    talks.export()
    assert talks.files() == ["mine.md"]
    assert not talks.behind()


def test_only_what_changed_is_written_anew(talks: Talks) -> None:
    first, second = talks.write("one.jsonl", *TALK), talks.write("two.jsonl", TALK[0])
    talks.export()
    assert talks.files() == ["one.md", "two.md"]
    before = {name: os.stat(talks.folder / name).st_mtime_ns for name in talks.files()}
    assert not talks.behind()
    with second.open("a") as file:
        file.write(json.dumps(said("assistant", "By the lighthouse.")) + "\n")
    assert talks.behind()
    talks.export()
    assert not talks.behind()
    assert "lighthouse" in (talks.folder / "two.md").read_text()
    assert os.stat(talks.folder / "one.md").st_mtime_ns == before["one.md"]
    (talks.folder / "one.md").unlink()
    talks.export()
    assert talks.files() == ["one.md", "two.md"]
    assert first.exists()


def test_a_session_that_is_gone_is_removed_and_one_that_says_nothing_is_none(talks: Talks) -> None:
    path = talks.write("one.jsonl", *TALK)
    talks.write("two.jsonl", TALK[1])
    talks.export()
    assert talks.files() == ["one.md"]
    path.unlink()
    assert talks.behind()
    talks.export()
    assert talks.files() == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads every folder")
def test_nothing_is_removed_that_is_not_proven_gone(talks: Talks) -> None:
    path = talks.write("one.jsonl", *TALK)
    talks.export()
    path.parent.chmod(0)
    try:
        assert talks.export()
        assert talks.files() == ["one.md"]
    finally:
        path.parent.chmod(0o755)


def test_a_folder_that_is_a_link_proves_nothing(talks: Talks) -> None:
    path = talks.write("one.jsonl", *TALK)
    talks.export()
    path.parent.rename(path.parent.with_name("moved"))
    os.symlink(path.parent.with_name("moved"), path.parent)
    assert "symbolic link" in talks.export()[0]
    assert talks.files() == ["one.md"]


def test_a_machine_that_talks_to_itself_is_left_out(talks: Talks) -> None:
    talks.write("0a1b.jsonl", *TALK)
    talks.write("nightly.jsonl", *TALK)
    talks.export()
    assert talks.files() == ["0a1b.md", "nightly.md"]
    talks.write("sessions.json", {"agent:main:cron:backup:run:7": {"sessionId": "nightly"}})
    assert talks.behind()
    talks.export()
    assert talks.files() == ["0a1b.md"]
    assert not talks.behind()


def test_a_compressed_copy_says_nothing_new(talks: Talks) -> None:
    plain = talks.write("0a1b.jsonl.reset.2025-12-01", *TALK)
    packed = plain.with_name(f"{plain.name}.zst")
    packed.write_bytes(zstandard().compress(plain.read_bytes()))
    talks.export()
    assert len(talks.files()) == 1
    plain.unlink()
    assert talks.behind()
    talks.export()
    (name,) = talks.files()
    assert "At the harbour." in (talks.folder / name).read_text("utf-8")


def test_sessions_of_the_database(talks: Talks) -> None:
    """Those that OpenClaw has packed away keep what was exported of them."""
    place = talks.bench.folder / "state" / "agents" / "main" / "agent" / "openclaw-agent.sqlite"
    place.parent.mkdir(parents=True)
    with closing(sqlite3.connect(place)) as database:
        database.execute("CREATE TABLE transcript_events (session_id, seq, event_json, created_at)")
        database.execute("CREATE TABLE session_transcript_cold_archives (session_id)")
        rows = [("0a1b", number, json.dumps(event), 1_764_583_320_000) for number, event in enumerate(TALK)]
        database.executemany("INSERT INTO transcript_events VALUES (?, ?, ?, ?)", rows)
        database.commit()
        talks.export()
        (name,) = talks.files()
        assert "At the harbour." in (talks.folder / name).read_text("utf-8")
        assert not talks.behind()
        database.execute("DELETE FROM transcript_events")
        database.execute("INSERT INTO session_transcript_cold_archives VALUES ('0a1b')")
        database.commit()
        talks.export()
        assert talks.files() == [name]
        assert not talks.behind()
        database.execute("DELETE FROM session_transcript_cold_archives")
        database.commit()
        assert talks.behind()
        talks.export()
        assert talks.files() == []


def test_silent_for_too_long(talks: Talks) -> None:
    now = time.time()
    for name, days in (("new.jsonl", 2), ("old.jsonl", 9)):
        os.utime(talks.write(name, *TALK), (now - days * DAY,) * 2)
    talks.export(now)
    assert talks.files() == ["new.md", "old.md"]
    talks.bench.configure(sessions={"enabled": True, "retentionDays": 7})
    assert talks.behind(now)
    talks.export(now)
    assert talks.files() == ["new.md"]
    assert not talks.behind(now)
    talks.export(now + 6 * DAY)
    assert talks.files() == []


def test_no_agent_has_what_another_said(talks: Talks) -> None:
    talks.write("mine.jsonl", *TALK)
    talks.write("theirs.jsonl", *TALK, agent="ops")
    for place in ("", str(talks.bench.folder / "export")):
        talks.bench.configure(sessions={"enabled": True, "exportDir": place})
        talks.export()
        wanted = wanted_collections(talks.bench.workspace, talks.bench.settings, talks.bench.home)[0]
        root = Path(wanted["sessions"].root)
        assert [path.name for path in root.rglob("*.md")] == ["mine.md"]
    assert root == talks.bench.folder / "export" / "main"


@pytest.mark.parametrize("name", ["con", "a b", "..x", "ä" * 100, "x.reset", ".y"])
def test_names_of_files_are_safe_everywhere(talks: Talks, name: str) -> None:
    talks.write(f"{name}.jsonl", *TALK)
    talks.write("x.jsonl.reset.2025-12-01T10-00-00Z", *TALK)
    talks.export()
    for file in talks.files():
        answer = qmd_get(
            talks.bench.workspace,
            talks.bench.settings,
            f"qmd/sessions/{file}",
            agent="main",
            environ=talks.bench.environ,
        )
        assert answer["status"] == "ok", answer
    assert len(talks.files()) == 2


def test_a_list_of_exports_that_was_tampered_with_removes_nothing_else(talks: Talks) -> None:
    talks.write("one.jsonl", *TALK)
    talks.export()
    talks.bench.write({"precious.md": "x\n"}, talks.folder.parent)
    entry = [[1, 2, 3, 4], "../precious.md", False]
    (talks.folder / ".exported.json").write_text(json.dumps({"sessions/gone.jsonl": entry, "sessions/x": 7}))
    talks.export()
    assert (talks.folder.parent / "precious.md").exists()
    assert talks.files() == ["one.md"]


def test_an_export_that_cannot_be_written(talks: Talks) -> None:
    talks.write("one.jsonl", *TALK)
    talks.bench.write({"qmd": "a file\n"}, talks.bench.folder / "state" / "agents" / "main")
    with pytest.raises(MemoryFault, match="cannot make the folder"):
        talks.export()


def test_they_are_found_as_sessions_and_opened(talks: Talks, stand_in: StandIn) -> None:
    talks.write("0a1b.jsonl", *TALK)
    talks.export()
    talks.bench.set_up()
    stand_in.plan(search={"out": hits(("qmd://sessions/0a1b.md", 5, ""), ("qmd://memory-dir/2025-12-01.md", 3, ""))})
    answer = talks.bench.search("cargo bike", corpus="all")
    assert [(one["path"], one["source"]) for one in answer["results"]] == [
        ("qmd/sessions/0a1b.md", "sessions"),
        ("memory/2025-12-01.md", "memory"),
    ]
    talks.bench.search("cargo bike", corpus="memory")
    talks.bench.search("cargo bike", corpus="sessions")
    chosen = [
        [w for w, before in zip(c["words"][1:], c["words"], strict=False) if before == "-c"] for c in stand_in.calls
    ]
    assert "sessions" in chosen[0]
    assert "sessions" not in chosen[1]
    assert chosen[2] == ["sessions"]
