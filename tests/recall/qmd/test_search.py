"""Searching, with a stand-in for QMD that fails in every way."""

from __future__ import annotations

import json
import os
import time
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest
from openclaw_memory.recall.qmd.home import Work
from openclaw_memory.recall.qmd.process import QmdUnavailable
from openclaw_memory.recall.qmd.sessions import export_sessions
from openclaw_memory.recall.search import memory_search

from .conftest import Bench, StandIn, hits

BIKE = ("qmd://memory-dir/2025-12-01.md", 3, "@@ -3,1 @@ (2 before, 0 after)\n- Bought a cargo bike for 1200 euros.")
CORE = ("qmd://memory-root/MEMORY.md", 1, "@@ -1,2 @@ (0 before, 3 after)\n# Core\n")


def paths(answer: dict[str, Any]) -> list[str]:
    return [result["path"] for result in answer["results"]]


def test_results_are_those_of_memory_search(bench: Bench, stand_in: StandIn) -> None:
    bench.set_up()
    stand_in.plan(search={"out": hits(BIKE, CORE)})
    answer = bench.search("cargo bike?")
    assert answer["backend"] == answer["provider"] == "qmd"
    assert (answer["mode"], answer["citations"]) == ("keyword", "on")
    assert "warning" not in answer
    assert "stale" not in answer
    first = answer["results"][0]
    assert first == {
        "path": "memory/2025-12-01.md",
        "startLine": 1,
        "endLine": 3,
        "score": 0.67,
        "textScore": 0.67,
        "snippet": "# 1 December\n\n- Bought a cargo bike for 1200 euros.\n\nSource: memory/2025-12-01.md#L1-L3",
        "source": "memory",
        "corpus": "memory",
        "citation": "memory/2025-12-01.md#L1-L3",
    }
    words = "search --json -n 18 -c memory-root -c memory-dir -c memory-bank --"
    assert stand_in.calls[0]["words"] == [*words.split(), "cargo bike"]


def test_scores_fall_strictly(bench: Bench, stand_in: StandIn) -> None:
    bench.set_up()
    rows = json.loads(
        hits(BIKE, CORE, ("qmd://memory-dir/2025-12-02.md", 3, ""), ("qmd://memory-bank/opinions.md", 1, ""))
    )
    stand_in.plan(search={"out": json.dumps([row | {"score": 0} for row in rows])})
    scores = [result["score"] for result in bench.search("cargo")["results"]]
    assert len(scores) == 4
    assert all(0 < low < high <= 1 for high, low in pairwise(scores))


def test_the_least_score_is_on_that_of_qmd(bench: Bench, stand_in: StandIn) -> None:
    bench.set_up()
    stand_in.plan(search={"out": hits(BIKE, CORE)})
    assert paths(bench.search("cargo", min_score=0.5)) == ["memory/2025-12-01.md"]
    bench.configure({"search": {"query": {"minScore": 0.99}}})
    assert bench.search("cargo")["results"] == []


def test_citations_are_as_configured_and_by_the_chat(bench: Bench, stand_in: StandIn) -> None:
    bench.set_up()
    stand_in.plan(search={"out": hits(BIKE)})
    group = "agent:main:telegram:group:-1"
    everyone = {"scope": {"default": "allow"}}
    bench.configure({}, **everyone)
    assert "citation" not in bench.search("cargo", session_key=group)["results"][0]
    assert "citation" in bench.search("cargo", session_key="agent:main:main")["results"][0]
    assert "Source:" in bench.search("cargo", session_key=group, citations=True)["results"][0]["snippet"]
    bench.configure({"citations": "off"}, **everyone)
    assert "Source:" not in bench.search("cargo")["results"][0]["snippet"]
    bench.configure({"citations": "on"}, **everyone)
    assert "citation" in bench.search("cargo", session_key=group)["results"][0]


def test_a_chat_out_of_scope_finds_nothing_and_is_told(bench: Bench, stand_in: StandIn) -> None:
    bench.set_up()
    stand_in.plan(search={"out": hits(BIKE)})
    answer = bench.search("cargo", session_key="agent:main:discord:channel:42")
    assert answer["results"] == []
    assert "channel=discord" in answer["warning"]
    assert "chatType=channel" in answer["warning"]
    assert stand_in.calls == []
    assert paths(bench.search("cargo", session_key="agent:main:discord:dm:42")) == ["memory/2025-12-01.md"]


def test_a_file_in_two_collections_comes_once(bench: Bench, stand_in: StandIn) -> None:
    bench.configure(paths=[{"path": ".", "name": "all"}])
    bench.set_up()
    stand_in.plan(search={"out": hits(("qmd://all/memory/2025-12-01.md", 3, ""), BIKE, ("qmd://all/notes.md", 1, ""))})
    bench.write({"notes.md": "# Notes\n"})
    assert paths(bench.search("cargo")) == ["memory/2025-12-01.md", "qmd/all/notes.md"]


@pytest.mark.parametrize(
    "file",
    [
        "qmd://memory-dir/../../secret.md",
        "qmd://memory-dir/.hidden/x.md",
        "qmd://memory-root/other.md",
        "qmd://theirs/x.md",
        "qmd://memory-dir//etc/passwd",
        "/etc/passwd",
        "qmd://memory-dir/link.md",
        "qmd://memory-dir/loop/2025-12-01.md",
    ],
)
def test_what_may_not_be_read_is_no_result(bench: Bench, stand_in: StandIn, file: str) -> None:
    bench.write({"secret.md": "the secret\n", "memory/.hidden/x.md": "hidden\n", "other.md": "other\n"})
    os.symlink(bench.root / "secret.md", bench.root / "memory" / "link.md")
    os.symlink(bench.root / "memory", bench.root / "memory" / "loop")
    bench.set_up()
    stand_in.plan(search={"out": hits((file, 1, "the secret"), BIKE)})
    assert paths(bench.search("secret")) == ["memory/2025-12-01.md"]


def test_a_file_that_is_gone_makes_the_answer_stale(bench: Bench, stand_in: StandIn) -> None:
    bench.set_up()
    stand_in.plan(search={"out": hits(("qmd://memory-dir/2024-01-01.md", 1, ""), BIKE)})
    answer = bench.search("cargo")
    assert paths(answer) == ["memory/2025-12-01.md"]
    assert answer["stale"] is True


def test_lines_are_those_of_the_file_as_it_is_now(bench: Bench, stand_in: StandIn) -> None:
    bench.write(
        {"memory/2025-12-01.md": "# 1 December\n" + "\nA new line.\n" * 60 + "- Bought a cargo bike for 1200 euros.\n"}
    )
    bench.set_up()
    stand_in.plan(vsearch={"out": hits(BIKE)})
    bench.configure(searchMode="vsearch", limits={"maxSnippetChars": 60})
    bench.set_up()
    result = bench.search("means of transport")["results"][0]
    assert "cargo bike" in result["snippet"]
    assert result["endLine"] == 122
    assert (result["vectorScore"], result["textScore"]) == (0.5, 0.0)


def test_snippets_and_all_of_them_are_bounded(bench: Bench, stand_in: StandIn) -> None:
    bench.write(
        {f"memory/n{n}.md": f"# Note {n}\n" + "words and more words\n" * 60 + f"gannet {n}\n" for n in range(8)}
    )
    bench.configure(limits={"maxSnippetChars": 100, "maxInjectedChars": 450, "maxResults": 8})
    bench.set_up()
    stand_in.plan(search={"out": hits(*((f"qmd://memory-dir/n{n}.md", 62, "") for n in range(8)))})
    answer = bench.search("gannet")
    snippets = [result["snippet"] for result in answer["results"]]
    assert 3 <= len(snippets) < 8
    assert sum(map(len, snippets)) <= 450
    for snippet in snippets:
        text, _, source = snippet.rpartition("\n\nSource: ")
        assert "gannet" in text
        assert len(text) <= 100
        assert source


def test_no_more_than_the_limit(bench: Bench, stand_in: StandIn) -> None:
    bench.configure(limits={"maxResults": 2})
    bench.set_up()
    stand_in.plan(search={"out": hits(BIKE, CORE, ("qmd://memory-dir/2025-12-02.md", 3, ""))})
    assert len(bench.search("cargo")["results"]) == 2
    assert len(bench.search("cargo", max_results=50)["results"]) == 2
    assert len(bench.search("cargo", max_results=1)["results"]) == 1


def test_any_of_the_words_where_no_file_has_all(bench: Bench, stand_in: StandIn) -> None:
    bench.set_up()
    stand_in.plan(search={"out": "[]"}, query={"out": hits(BIKE)})
    answer = bench.search("How much did the cargo bike cost?")
    assert paths(answer) == ["memory/2025-12-01.md"]
    assert answer["mode"] == "keyword"
    assert stand_in.calls[0]["words"][-1] == "cargo bike cost"
    assert stand_in.calls[1]["words"][:3] == ["query", "--no-rerank", "--json"]
    assert stand_in.calls[1]["words"][-1] == "lex: cargo\nlex: bike\nlex: cost"


def test_that_any_word_cannot_be_asked_for_is_a_note(bench: Bench, stand_in: StandIn) -> None:
    bench.set_up()
    stand_in.plan(search={"out": "[]"}, query={"code": 1, "err": "no models"})
    answer = bench.search("cargo ships")
    assert answer["results"] == []
    assert "no models" in answer["warning"]


@pytest.mark.parametrize(
    "complaint", ["Unknown command: search", "error: unknown option '-c'", "unrecognized argument --json"]
)
def test_a_refused_command_or_option_is_tried_as_query(bench: Bench, stand_in: StandIn, complaint: str) -> None:
    bench.set_up()
    stand_in.plan(search={"code": 1, "err": f"{complaint}\nRun 'qmd --help'\n"}, query={"out": hits(BIKE)})
    answer = bench.search("how much was the cargo bike?")
    assert paths(answer) == ["memory/2025-12-01.md"]
    assert answer["mode"] == "hybrid"
    assert "asked by `query`" in answer["warning"]
    assert stand_in.calls[1]["words"][0] == "query"
    assert stand_in.calls[1]["words"][-1] == "how much was the cargo bike?"


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (
            {"code": 1, "err": "Error: database is locked"},
            "`search` failed with exit code 1: Error: database is locked",
        ),
        ({"out": "Searching…"}, "its answer is no JSON"),
        ({"out": ""}, "it answered nothing"),
        ({"out": '[{"file": "qmd://memory-dir/x.m'}, "its answer is no JSON"),
        ({"out": '[{"score": 1}]'}, "its answer names no files"),
        ({"sleep": 60}, "`search` was not done within"),
        ({"out": "[" + " " * 100_000, "times": 100}, "said more than"),
    ],
)
def test_what_keeps_it_from_answering(bench: Bench, stand_in: StandIn, step: dict[str, Any], reason: str) -> None:
    bench.configure(limits={"timeoutMs": 1500})
    bench.set_up()
    stand_in.plan(search=step)
    began = time.monotonic()
    with pytest.raises(QmdUnavailable) as caught:
        bench.search("cargo")
    assert reason in caught.value.reason
    assert "\n" not in str(caught.value)
    assert time.monotonic() - began < 6


def test_what_it_prints_before_the_answer_does_no_harm(bench: Bench, stand_in: StandIn) -> None:
    bench.set_up()
    stand_in.plan(
        search={"out": "Warning: 6 documents need embeddings.\n[hint] run embed\n" + hits(BIKE), "err": "(node) old\n"}
    )
    assert paths(bench.search("cargo")) == ["memory/2025-12-01.md"]


def test_no_program(bench: Bench) -> None:
    bench.set_up()
    with pytest.raises(QmdUnavailable, match="no such program"):
        bench.search("cargo", settings=bench.settings._replace(command="/no/such/qmd"))


def test_before_it_is_set_up(bench: Bench, stand_in: StandIn) -> None:
    with pytest.raises(QmdUnavailable, match="not set up yet"):
        bench.search("cargo")
    assert stand_in.calls == []


def test_why_it_is_not_set_up(bench: Bench) -> None:
    bench.set_up(made={}, update=Work(time.time(), 0.0, 1, "`update` failed with exit code 1: no space"))
    with pytest.raises(QmdUnavailable, match="no space"):
        bench.search("cargo")


def test_an_index_that_is_not_kept_up_still_answers(bench: Bench, stand_in: StandIn) -> None:
    bench.set_up(update=Work(time.time(), time.time() + 2, 3, "`update` failed with exit code 1: no space"))
    stand_in.plan(search={"out": hits(BIKE)})
    answer = bench.search("cargo")
    assert paths(answer) == ["memory/2025-12-01.md"]
    assert "no space" in answer["warning"]


def test_a_file_just_written_makes_the_answer_stale(bench: Bench, stand_in: StandIn) -> None:
    bench.set_up(update=Work(time.time() - 60, time.time() - 60))
    for path in bench.root.rglob("*"):
        os.utime(path, (time.time() - 600,) * 2)
    stand_in.plan(search={"out": hits(BIKE)})
    assert "stale" not in bench.search("cargo")
    bench.write({"memory/2025-12-03.md": "- new\n"})
    assert bench.search("cargo")["stale"] is True


def test_the_first_search_waits_where_it_is_told_to(bench: Bench, stand_in: StandIn) -> None:
    stand_in.plan(search={"out": hits(BIKE)})
    bench.configure(update={"waitForBootSync": True})
    assert paths(bench.search("cargo")) == ["memory/2025-12-01.md"]
    assert stand_in.commands()[0] == "collection list"
    assert stand_in.commands()[-2:] == ["update", "search"]
    bench.search("cargo")
    assert stand_in.commands()[-2:] == ["search", "search"]


def test_a_folder_that_is_not_there_is_told(bench: Bench, stand_in: StandIn) -> None:
    bench.configure(paths=[{"path": "nowhere", "name": "docs"}])
    bench.set_up()
    stand_in.plan(search={"out": hits(BIKE)})
    answer = bench.search("cargo")
    assert paths(answer) == ["memory/2025-12-01.md"]
    assert "memory.qmd.paths[0]" in answer["warning"]


def test_sessions_only_where_they_are_exported(bench: Bench, stand_in: StandIn) -> None:
    bench.set_up()
    answer = bench.search("cargo", corpus="sessions")
    assert answer["results"] == []
    assert "memory.qmd.sessions.enabled is false" in answer["warning"]
    assert stand_in.calls == []


@pytest.mark.parametrize(
    "query", ["", "   ", "?!", '"', "-x", "--json", "lex: x", "a\nb", "x" * 9000, "\0", "'; drop table"]
)
def test_any_question_can_be_asked(bench: Bench, stand_in: StandIn, query: str) -> None:
    bench.set_up()
    stand_in.plan(search={"out": "[]"}, query={"out": "[]"})
    assert bench.search(query)["results"] == []
    assert all(call["words"][-2] == "--" for call in stand_in.calls)


def test_vectors_that_are_not_there_yet_are_told(bench: Bench, stand_in: StandIn) -> None:
    bench.configure(searchMode="vsearch")
    bench.set_up()
    stand_in.plan(vsearch={"out": "[]"})
    with pytest.raises(QmdUnavailable, match="embedded nothing yet"):
        bench.search("cargo")
    bench.set_up(embed=Work(time.time(), 0.0, 1, "`embed` was not done within 120 s, and was ended"))
    with pytest.raises(QmdUnavailable, match="not done within 120 s"):
        bench.search("cargo")
    bench.set_up(embed=Work(time.time(), time.time()))
    assert bench.search("cargo")["results"] == []


def test_a_question_of_nothing_is_not_asked(bench: Bench, stand_in: StandIn) -> None:
    bench.set_up()
    assert bench.search(" \n")["results"] == []
    assert stand_in.calls == []


def test_it_is_what_memory_search_asks(bench: Bench, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it cannot answer, the built-in index does, and says why."""
    for name, value in bench.environ.items():
        monkeypatch.setenv(name, value)
    bench.set_up()
    stand_in.plan(search={"out": hits(BIKE)})
    now = datetime(2025, 12, 6, 12, tzinfo=UTC)
    assert memory_search(bench.workspace, "cargo bike", now=now)["backend"] == "qmd"
    assert not memory_search(bench.workspace, "cargo", now=now, session_key="agent:main:discord:channel:1")["results"]
    stand_in.plan(search={"code": 1, "err": "Error: broken\n"})
    answer = memory_search(bench.workspace, "cargo bike", now=now)
    assert paths(answer)[0] == "memory/2025-12-01.md"
    assert "Error: broken" in answer["warning"]
    assert answer.get("backend") != "qmd"
    assert not memory_search(bench.workspace, "cargo", now=now, session_key="agent:main:discord:channel:1")["results"]


def test_sessions_of_either_kind_are_found(bench: Bench, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in bench.environ.items():
        monkeypatch.setenv(name, value)
    talk = {"type": "message", "message": {"role": "user", "content": "The umbrella is in the lighthouse."}}
    bench.write({"sessions/0a1b.jsonl": json.dumps(talk) + "\n"}, bench.folder / "state" / "agents" / "main")
    now = datetime(2025, 12, 6, 12, tzinfo=UTC)
    bench.configure(sessions={"enabled": True})
    export_sessions(bench.settings, bench.home, time.time())
    bench.set_up()
    stand_in.plan(search={"out": hits(("qmd://sessions/0a1b.md", 3, ""))})
    for corpus in ("", "sessions", "all"):
        assert paths(memory_search(bench.workspace, "umbrella", now=now, corpus=corpus)) == ["qmd/sessions/0a1b.md"]
    assert paths(memory_search(bench.workspace, "umbrella", now=now, corpus="memory")) == []
    bench.configure({"search": {"sources": ["memory", "sessions"], "rememberAcrossConversations": True}})
    bench.set_up()
    answer = memory_search(bench.workspace, "umbrella", now=now, corpus="sessions")
    assert [one["source"] for one in answer["results"]] == ["sessions"]
    assert "memory.qmd.sessions.enabled is false" in answer["warning"]


def test_what_came_too_late_is_left_alone_for_a_minute(
    bench: Bench, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.configure(limits={"timeoutMs": 500})
    bench.set_up()
    stand_in.plan(search={"sleep": 60})
    for _ in range(2):
        with pytest.raises(QmdUnavailable, match=r"not done within 0\.5"):
            bench.search("cargo")
    assert len(stand_in.calls) == 1
    stand_in.plan(search={"out": hits(BIKE)})
    with pytest.raises(QmdUnavailable, match="asked again within a minute"):
        bench.search("cargo")
    monkeypatch.setattr(time, "time", lambda real=time.time: real() + 61)
    assert paths(bench.search("cargo")) == ["memory/2025-12-01.md"]
    monkeypatch.undo()
    with pytest.raises(QmdUnavailable):
        bench.search("cargo")
    bench.configure(limits={"timeoutMs": 9000})
    assert paths(bench.search("cargo")) == ["memory/2025-12-01.md"]
