"""The real QMD: what it is told, what it finds, and that it is ended when it waits for a model that is not there."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from openclaw_memory.recall.qmd.home import Record, read_record
from openclaw_memory.recall.qmd.process import QmdUnavailable, find_qmd
from openclaw_memory.recall.qmd.reading import qmd_get
from openclaw_memory.recall.qmd.status import qmd_status
from openclaw_memory.recall.qmd.upkeep import keep_up

from .conftest import Bench
from .test_process import wait_until


def keep(bench: Bench) -> Record:
    return keep_up(bench.workspace, bench.settings, agent="main", environ=bench.environ, force=True)


def paths(answer: dict[str, Any]) -> list[str]:
    return [result["path"] for result in answer["results"]]


def configure(bench: Bench, **qmd: Any) -> None:
    """With time for a slow machine."""
    bench.configure(**{"limits": {"timeoutMs": 30_000}, **qmd})


def run(bench: Bench, *words: str) -> str:
    ended = find_qmd(bench.command, bench.home, bench.environ).run(words, 60)
    assert ended.code == 0, ended
    return ended.output


@pytest.fixture(scope="module")
def settled(real_command: str, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """An index with further folders, to search alone."""
    return with_notes(Bench(tmp_path_factory.mktemp("settled"), real_command))


@pytest.fixture
def notes(real: Bench) -> Bench:
    """The same, to change."""
    return with_notes(real)


def with_notes(bench: Bench) -> Bench:
    texts = {
        "sub/Motor Notes.md": "# Motor\n\nThe motor takes 40 ml of lubricant.\n",
        "猫.md": "# 王芳\n\n王芳的猫叫咪咪。\n",
    }
    bench.write(texts, bench.folder / "notes")
    bench.write(
        {"one [a,b] (c).md": "- The gannet nests on the island.\n", "two.md": "- gannet\n"}, bench.folder / "other"
    )
    configure(
        bench, paths=[{"path": "../notes", "name": "docs"}, {"path": "../other/one [a,b] (c).md", "name": "single"}]
    )
    record = keep(bench)
    assert record.update.reason == ""
    assert record.warnings == ()
    return bench


def test_words_find_what_holds_them_all(settled: Bench) -> None:
    answer = settled.search("cargo bike")
    assert paths(answer) == ["memory/2025-12-01.md"]
    assert answer["results"][0]["snippet"].endswith("Source: memory/2025-12-01.md#L1-L3")
    assert "warning" not in answer
    assert paths(settled.search("tram")) == ["MEMORY.md"]
    assert paths(settled.search("winter swimming")) == ["bank/opinions.md"]


def test_a_sentence_finds_what_holds_any_of_its_words(settled: Bench) -> None:
    assert paths(settled.search("How much did the cargo bike cost?"))[0] == "memory/2025-12-01.md"
    assert paths(settled.search("王芳的猫叫什么？"))[0] == "qmd/docs/猫.md"


def test_what_lies_outside_is_named_by_its_collection_and_opened(settled: Bench) -> None:
    answer = settled.search("lubricant")
    assert paths(answer) == ["qmd/docs/sub/Motor Notes.md"]
    options = {"agent": "main", "environ": settled.environ}
    opened = qmd_get(settled.workspace, settled.settings, paths(answer)[0], **options)
    assert opened["text"].splitlines()[2] == "The motor takes 40 ml of lubricant."
    assert paths(settled.search("gannet")) == ["qmd/single/one [a,b] (c).md"]


@pytest.mark.parametrize(
    "query", ["-tram", "--json", '"tram', "lex: tram", "a\nb", "", "tram OR (bike", "x" * 5000, "'"]
)
def test_any_question_can_be_asked(settled: Bench, query: str) -> None:
    assert isinstance(settled.search(query)["results"], list)


def test_nothing_found(settled: Bench) -> None:
    answer = settled.search("zeppelin")
    assert answer["results"] == []
    assert "warning" not in answer


def test_changed_settings_change_the_collections_and_leave_others_alone(notes: Bench) -> None:
    run(notes, "collection", "add", str(notes.folder / "other"), "--name", "theirs")
    assert paths(notes.search("gannet")) == ["qmd/single/one [a,b] (c).md"]
    configure(notes, paths=[{"path": "../notes", "name": "docs", "pattern": "*.md"}])
    keep(notes)
    assert notes.search("lubricant")["results"] == []
    listed = run(notes, "collection", "list")
    assert "theirs (" in listed
    assert "single (" not in listed
    configure(notes, includeDefaultMemory=False, paths=[{"path": "../other", "name": "mine"}])
    record = keep(notes)
    assert record.made["mine"].name == "theirs"
    assert set(paths(notes.search("gannet"))) == {"qmd/mine/one [a,b] (c).md", "qmd/mine/two.md"}
    configure(notes)
    keep(notes)
    assert "theirs (" in run(notes, "collection", "list")


def test_a_file_just_written_is_told_and_then_found(notes: Bench) -> None:
    for path in [notes.root, *notes.root.rglob("*"), *(notes.folder / "notes").rglob("*")]:
        os.utime(path, (time.time() - 600,) * 2)
    notes.write({"memory/2025-12-03.md": "# 3 December\n\n- The zeppelin has landed.\n"})
    before = notes.search("zeppelin")
    assert before["results"] == []
    assert before["stale"] is True
    keep(notes)
    assert paths(notes.search("zeppelin")) == ["memory/2025-12-03.md"]
    (notes.root / "memory" / "2025-12-03.md").unlink()
    assert notes.search("zeppelin")["results"] == []
    keep(notes)
    assert notes.search("zeppelin")["results"] == []


def test_sessions(notes: Bench) -> None:
    event = {"type": "message", "message": {"role": "user", "content": "The umbrella is in the lighthouse."}}
    notes.write({"sessions/0a1b.jsonl": json.dumps(event) + "\n"}, notes.folder / "state" / "agents" / "main")
    configure(notes, sessions={"enabled": True})
    keep(notes)
    assert notes.search("umbrella", corpus="memory")["results"] == []
    found = notes.search("umbrella", corpus="sessions")["results"]
    assert [(one["path"], one["source"]) for one in found] == [("qmd/sessions/0a1b.md", "sessions")]


def test_the_first_search_waits_or_is_answered_by_others(real: Bench) -> None:
    configure(real)
    with pytest.raises(QmdUnavailable, match="not set up yet"):
        real.search("cargo")
    configure(real, update={"waitForBootSync": True})
    assert paths(real.search("cargo")) == ["memory/2025-12-01.md"]


def test_in_the_background(real: Bench) -> None:
    configure(real)
    real.environ["OPENCLAW_MEMORY_BACKGROUND"] = "1"
    with pytest.raises(QmdUnavailable):
        real.search("cargo")
    assert wait_until(lambda: bool(read_record(real.home).update.done), 60)
    assert paths(real.search("cargo")) == ["memory/2025-12-01.md"]


@pytest.mark.parametrize("mode", ["query", "vsearch"])
def test_without_a_model_it_is_ended_in_time(notes: Bench, mode: str) -> None:
    """Nothing is fetched here: the address of every model leads nowhere."""
    notes.environ |= dict.fromkeys(("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"), "http://127.0.0.1:9")
    notes.environ["HF_ENDPOINT"] = "http://127.0.0.1:9"
    configure(notes, searchMode=mode, limits={"timeoutMs": 2500}, paths=notes.memory["qmd"]["paths"])
    began = time.monotonic()
    with pytest.raises(QmdUnavailable):
        notes.search("means of transport")
    assert time.monotonic() - began < 10
    home = notes.home.folder
    assert wait_until(lambda: not processes_in(home), 10)


def processes_in(folder: str) -> list[str]:
    """The processes that stand in a folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(entry / "cwd") == folder:
                found.append(entry.name)
        except OSError:
            continue
    return found


def test_status(settled: Bench) -> None:
    status = qmd_status(settled.workspace, settled.settings, agent="main", environ=settled.environ)
    assert status["version"].startswith("2.")
    assert status["problem"] is None
    assert all(one["ready"] for one in status["collections"])
    assert status["lastUpdate"]
