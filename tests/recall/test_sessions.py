"""``memory_search`` over transcripts: opt-in, an agent's own, behind the notes, and never a secret."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from openclaw_memory.bank.config import Configuration
from openclaw_memory.bank.embeddings.models import Models
from openclaw_memory.bank.embeddings.settings import EmbeddingSettings
from openclaw_memory.bank.search_settings import SearchSettings, SyncSettings
from openclaw_memory.bank.workspace import Workspace
from openclaw_memory.recall.get import memory_get
from openclaw_memory.recall.sessions import says_the_same, told_words

from ..bank.transcripts.conftest import State, event, jsonl, said

NOTES = {
    "MEMORY.md": "# Memory\n\n## Harbour office\n- Opens at nine.\n",
    "memory/2025-12-01.md": "# Monday\n\nThe berth of the gannet is number 14.\n\n- Bread\n- Milk\n",
    "memory/2025-12-02.md": "# Tuesday\n\nThe harbour was closed.\n",
}
ON = SearchSettings(sources=("memory", "sessions"), session_memory=True)
Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> State:
    root = tmp_path / "openclaw"
    root.mkdir()
    monkeypatch.setenv("OPENCLAW_STATE_DIR", str(root))
    return State(root)


@pytest.fixture
def workspace(make: Callable[..., Workspace], state: State) -> Workspace:
    made = make(NOTES)
    made.settings = ON
    return made


def sources(answer: dict[str, Any]) -> list[str]:
    return [result["source"] for result in answer["results"]]


def test_a_message_is_found_with_what_answers_it(workspace: Workspace, state: State, find: Ask) -> None:
    state.write("a.jsonl", b"broken\n" + said("Who painted the heron?", "Ada did, in spring.", "Thank you."))
    answer = find(workspace, "who painted the heron")
    first = answer["results"][0]
    assert first == {
        "path": "sessions/a.jsonl",
        "startLine": 2,
        "endLine": 3,
        "score": first["score"],
        "vectorScore": first["vectorScore"],
        "textScore": first["textScore"],
        "snippet": "User: Who painted the heron?\nAssistant: Ada did, in spring.\n\nSource: sessions/a.jsonl#L2-L3",
        "source": "sessions",
        "corpus": "sessions",
        "citation": "sessions/a.jsonl#L2-L3",
    }
    assert 0 < first["score"] <= 1
    assert [key for key in ("stale", "partial", "warning") if key in answer] == []
    answer = find(workspace, "in spring Ada did", corpus="sessions", citations=False)
    assert answer["results"][0]["snippet"].startswith("User: Who painted")
    assert "citation" not in answer["results"][0]
    assert (answer["provider"], answer["mode"]) == ("static", "hybrid")


def test_corpora(workspace: Workspace, state: State, find: Ask) -> None:
    state.write("a.jsonl", said("The berth of the heron is number 15."))
    assert set(sources(find(workspace, "berth"))) == {"memory", "sessions"}
    assert set(sources(find(workspace, "berth", corpus="all"))) == {"memory", "sessions"}
    assert set(sources(find(workspace, "berth", corpus="memory"))) == {"memory"}
    assert set(sources(find(workspace, "berth", corpus="sessions"))) == {"sessions"}
    workspace.settings = ON._replace(sources=("sessions",))
    assert set(sources(find(workspace, "berth"))) == {"sessions"}


@pytest.mark.parametrize(
    "settings",
    [
        SearchSettings(),
        SearchSettings(sources=("memory", "sessions")),
        SearchSettings(session_memory=True),
    ],
)
def test_off_unless_both_are_set(
    make: Callable[..., Workspace], state: State, find: Ask, settings: SearchSettings
) -> None:
    """Nothing is read, searched or written."""
    state.write("a.jsonl", said("The berth of the heron is number 15."))
    made = make(NOTES)
    made.settings = settings
    for corpus in ("", "memory", "all"):
        assert set(sources(find(made, "berth", corpus=corpus))) == {"memory"}
    for corpus in ("sessions", "all"):
        assert "session transcripts are not indexed" in find(made, "berth", corpus=corpus)["warning"]
    assert "warning" not in find(made, "berth")
    assert [one.name for one in (state.root / "agents" / "main").iterdir()] == ["sessions"]


ERAS = {
    "older": {
        "agents": {
            "defaults": {"memorySearch": {"experimental": {"sessionMemory": True}, "sources": ["memory", "sessions"]}}
        }
    },
    "today": {"memory": {"search": {"rememberAcrossConversations": True, "sources": ["memory", "sessions"]}}},
}


@pytest.mark.parametrize("era", ERAS)
def test_both_eras_switch_it_on(state: State, tmp_path: Path, find: Ask, era: str) -> None:
    state.write("a.jsonl", said("The berth of the heron is number 15."))
    folder = tmp_path / "notes"
    folder.mkdir()
    made = Workspace.configured(str(folder), Configuration("openclaw.json", ERAS[era]), "main")
    assert sources(find(made, "berth of the heron")) == ["sessions"]


def test_agents_do_not_see_each_other(state: State, tmp_path: Path, find: Ask) -> None:
    """Even in one workspace."""
    folder = tmp_path / "shared"
    folder.mkdir()
    state.write("a.jsonl", said("The berth of the gannet is number 14."), agent="main")
    state.write("a.jsonl", said("The berth of the heron is number 15."), agent="other")
    found = {}
    for agent in ("main", "other"):
        made = Workspace(str(folder), models=Models(EmbeddingSettings(), agent), settings=ON)
        found[agent] = [result["snippet"] for result in find(made, "berth", citations=False)["results"]]
    assert found == {
        "main": ["User: The berth of the gannet is number 14."],
        "other": ["User: The berth of the heron is number 15."],
    }
    made = Workspace(str(folder), models=Models(EmbeddingSettings(), "../main"), settings=ON)
    answer = find(made, "berth")
    assert answer["results"] == []
    assert "no name of an agent" in answer["warning"]


def test_no_secret_in_an_answer(workspace: Workspace, state: State, find: Ask) -> None:
    state.write("a.jsonl", said("My password is hunter2zz for the harbour office.", "Noted, token=abcdef123456."))
    state.insert("s", [event("user", "The harbour wifi, password: qwerty99")])
    for query in ("password harbour", "hunter2zz", "abcdef123456", "qwerty99", "harbour wifi"):
        for corpus in ("all", "sessions"):
            told = json.dumps(find(workspace, query, corpus=corpus))
            assert not any(secret in told for secret in ("hunter2zz", "abcdef123456", "qwerty99"))
    assert "[redacted]" in json.dumps(find(workspace, "password harbour"))


def test_injected_memory_is_not_found_again(workspace: Workspace, state: State, find: Ask) -> None:
    own = "<!-- openclaw-memory:context 2026-01-12 -->\n- The xylophone is new.\n<!-- /openclaw-memory:context -->"
    heartbeat = [event("user", "[OpenClaw heartbeat poll]"), event("assistant", "The xylophone is well.")]
    state.write("a.jsonl", jsonl([event("user", f"{own}\n\nGood morning"), event("assistant", "Morning."), *heartbeat]))
    assert "xylophone" not in json.dumps(find(workspace, "xylophone", corpus="sessions")["results"])


def many(workspace: Workspace, count: int) -> None:
    for number in range(count):
        text = f"# Day\n\nBerth {number} in the harbour was let to captain {number}.\n"
        Path(workspace.root, "memory", f"2025-11-{number + 1:02}.md").write_text(text, encoding="utf-8")


def chatter(state: State, count: int) -> None:
    state.write(
        "c.jsonl", said(*(f"Tell me about berth {n} in the harbour, harbour berth, number {n}" for n in range(count)))
    )


@pytest.mark.parametrize(("most", "messages"), [(1, 0), (2, 0), (3, 1), (6, 2), (9, 3), (12, 4)])
def test_chatter_never_crowds_out_notes(
    workspace: Workspace, state: State, find: Ask, most: int, messages: int
) -> None:
    """A third of the places at most, where notes fill the others."""
    many(workspace, 20)
    chatter(state, 40)
    found = sources(find(workspace, "harbour berth", max_results=most))
    assert len(found) == most
    assert found.count("sessions") <= messages
    assert found.count("sessions") == messages or most < 3


def test_places_that_notes_leave_free_are_filled(workspace: Workspace, state: State, find: Ask) -> None:
    chatter(state, 40)
    notes = sources(find(workspace, "captain berth", max_results=12, corpus="memory"))
    found = sources(find(workspace, "captain berth", max_results=12))
    assert 0 < len(notes) < 8
    assert found.count("memory") == len(notes)
    assert found.count("sessions") == 12 - len(notes)


def test_order_and_fewer_results(workspace: Workspace, state: State, find: Ask) -> None:
    chatter(state, 10)
    found = find(workspace, "berth of the gannet", max_results=9)["results"]
    scores = [result["score"] for result in found]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == len(scores)
    assert found[0]["path"] == "memory/2025-12-01.md"
    limit = scores[3]
    assert all(r["score"] >= limit for r in find(workspace, "berth of the gannet", min_score=limit)["results"])


def test_what_a_note_says_is_not_said_again(workspace: Workspace, state: State, find: Ask) -> None:
    state.write(
        "a.jsonl",
        said("Please note: the berth of the gannet is number 14.", "Noted: the berth of the gannet is number 14."),
    )
    assert set(sources(find(workspace, "berth of the gannet"))) == {"memory"}
    state.write("b.jsonl", said("The berth of the gannet is too narrow for a second fender on the port side."))
    assert "sessions" in sources(find(workspace, "berth of the gannet"))


def test_the_same() -> None:
    def same(message: str, note: str) -> bool:
        return says_the_same(told_words(message, "en"), told_words(note, "en"))

    note = "The berth of the gannet is number 14."
    assert same("the berth of the gannet is number 14", note)
    assert same("Remember: number 14 is the gannet's berth", note)
    assert not same("The berth of the gannet is number 15.", note)
    assert not same("yes", note)
    assert not same(
        f"{note} And the heron, which came in on Sunday from Lisbon, lies at berth 15 behind the crane.", note
    )
    assert same("港の船は十四番の桟橋にある", "港の船は十四番の桟橋にある。")


def test_thresholds_are_as_configured(workspace: Workspace, state: State, find: Ask) -> None:
    state.write("a.jsonl", said("The berth of the heron is number 15."))
    find(workspace, "heron")
    state.append("a.jsonl", said("The cormorant lies outside."))
    answer = find(workspace, "cormorant")
    assert answer["stale"]
    assert "sessions/a.jsonl" not in [result["path"] for result in answer["results"][:1]]
    workspace.settings = ON._replace(sync=SyncSettings(delta_messages=1))
    answer = find(workspace, "cormorant")
    assert "stale" not in answer
    assert "cormorant" in answer["results"][0]["snippet"]


def test_a_deleted_transcript_is_not_found(workspace: Workspace, state: State, find: Ask) -> None:
    place = state.write("a.jsonl", said("The berth of the heron is number 15."))
    assert "sessions" in sources(find(workspace, "heron"))
    place.unlink()
    assert "sessions" not in sources(find(workspace, "heron"))


def test_a_long_message_shows_what_answers(workspace: Workspace, state: State, find: Ask) -> None:
    filler = "We talked about the weather and about the price of rope for quite a while. " * 30
    state.write("a.jsonl", said("What did you hear?", f"{filler}The cormorant lies at buoy seven. {filler}"))
    first = find(workspace, "where does the cormorant lie", corpus="sessions", citations=False)["results"][0]
    assert "cormorant lies at buoy seven" in first["snippet"]
    assert len(first["snippet"]) <= 700


def test_memory_get_gives_no_transcript(workspace: Workspace, state: State) -> None:
    state.write("a.jsonl", said("The berth of the heron is number 15."))
    told = memory_get(workspace, "sessions/a.jsonl")
    assert told["status"] == "error"
    assert told["code"] == "MEMORY_PATH_NOT_ALLOWED"


def test_words_alone(workspace: Workspace, state: State, find: Ask) -> None:
    workspace.models = Models(EmbeddingSettings(enabled=False))
    state.write("a.jsonl", said("The berth of the heron is number 15."))
    answer = find(workspace, "heron")
    assert sources(answer)[0] == "sessions"
    assert answer["mode"] == "keyword"


def test_on_the_command_line(state: State, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "MEMORY.md").write_text("# Memory\n- The harbour opens at nine.\n")
    config = tmp_path / "openclaw.json"
    config.write_text(json.dumps(ERAS["today"]))
    state.write("a.jsonl", said("The berth of the heron is number 15. password: hunter2zz"))

    def run(*arguments: str) -> str:
        command = [sys.executable, "-m", "openclaw_memory", *arguments, "--workspace", str(folder)]
        environ = {**os.environ, "OPENCLAW_CONFIG_PATH": str(config)}
        done = subprocess.run(command, capture_output=True, text=True, env=environ, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    told = json.loads(run("index", "--json"))
    assert told["sessions"] == {"read": ["sessions/a.jsonl"], "removed": [], "skipped": [], "unread": []}
    found = json.loads(run("search", "heron berth", "--json"))
    assert found["results"][0]["citation"] == "sessions/a.jsonl#L1"
    assert "sessions" not in {
        one["source"] for one in json.loads(run("search", "heron", "--corpus", "memory", "--json"))["results"]
    }
    assert json.loads(run("index", "--force", "--json"))["sessions"]["read"] == ["sessions/a.jsonl"]
    removed = json.loads(run("reset", "--yes", "--json"))["removed"]
    assert any(Path(path).name == "transcripts.sqlite" and Path(path).is_absolute() for path in removed)
    assert not list((state.root / "agents" / "main").glob("openclaw-memory/*.sqlite*"))
