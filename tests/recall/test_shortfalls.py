"""What other memories get wrong: each is a check here."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import time
from datetime import date, timedelta
from pathlib import Path

import pytest
from openclaw_memory.bank import files as files_module

CHATTER = [
    "Checked the water in the pump house again, nothing new about it.",
    "Talked with the harbour about the raw numbers; which of them takes longest is unclear.",
    "The boat is dry, the yard is closed, the kettle takes its time.",
    "Six blades of grass on the deck. The cat takes them for mice.",
]


def test_1_an_old_answer_comes_first_among_newer_notes(make, ask, find) -> None:
    files = {"memory/2025-01-08.md": "# Boat\n\n- The raw-water pump takes impeller JP-0917, six blades.\n"}
    for number in range(300):
        day = date(2025, 2, 9) + timedelta(days=number)
        files[f"memory/{day}.md"] = f"# {day}\n\n- {CHATTER[number % len(CHATTER)]}\n"
    workspace = make(files)
    question = "Which impeller does the raw-water pump take?"
    assert ask(workspace, question)["results"][0]["source"] == "memory/2025-01-08.md#L3"
    hit = find(workspace, question)["results"][0]
    assert hit["path"] == "memory/2025-01-08.md"
    assert hit["score"] > 0.5


@pytest.mark.parametrize("separator", ["\n- ", " "], ids=["many lines", "one long line"])
def test_2_the_snippet_shows_the_answer_wherever_it_stands(make, find, separator: str) -> None:
    filler = [f"Item {number} is about the weather in {word}." for number, word in enumerate("abcdefghijklmnopqrst")]
    said = [*filler, "The code of the side door is 8431-K.", *filler[:5]]
    workspace = make({"memory/2025-11-20.md": "- " + separator.join(said) + "\n"})
    text = (Path(workspace.root) / "memory/2025-11-20.md").read_text("utf-8")
    assert text.index("8431-K") > 700
    hit = find(workspace, "what is the code of the side door?", citations=False)["results"][0]
    assert "8431-K" in hit["snippet"]
    assert len(hit["snippet"]) <= 700
    lines = text.split("\n")[hit["startLine"] - 1 : hit["endLine"]]
    assert any("8431-K" in line for line in lines)


def test_3_the_next_search_sees_what_was_just_written(make, ask, find) -> None:
    workspace = make({"memory/2025-12-01.md": "- Nothing yet.\n"})
    assert ask(workspace, "berth")["results"] == []
    log = Path(workspace.root) / "memory" / "2025-12-06.md"
    for number in range(10, 30):
        log.write_text(f"- The berth is number {number}.\n", encoding="utf-8")
        answer = ask(workspace, "berth")
        assert (answer["stale"], answer["results"][0]["content"]) == (False, f"The berth is number {number}.")
        assert f"number {number}." in find(workspace, "berth")["results"][0]["snippet"]
    log.write_text("- The berth is number 99.\n", encoding="utf-8")
    answer = ask(workspace, "berth", no_sync=True)
    assert (answer["stale"], answer["results"][0]["content"]) == (True, "The berth is number 29.")
    assert find(workspace, "berth", no_sync=True)["stale"] is True
    log.unlink()
    assert ask(workspace, "berth")["results"] == []


LANGUAGES = {
    "memory/2025-11-01.md": "- 王芳的猫叫豆豆，三岁。\n- 周五去办签证，带照片。\n- 今天下雨，没有出门。\n",
    "memory/2025-11-02.md": "- 玄関の鍵は青い箱の中にあります。\n- 京都で抹茶を買いました。\n- 明日は雨です。\n",
    "memory/2025-11-03.md": "- Die Heizungsablesung kommt am Dienstag um acht.\n"
    "- Der Schlüssel des alten Hauses hängt im Flur.\n"
    "- Das Klavier wurde gestimmt.\n- Wir haben zwei Kinderfahrräder verkauft.\n",
    "memory/2025-11-04.md": "- Gemi salı günü limandan ayrıldı.\n- Evde su kalmadı.\n- Annem çay istiyor.\n",
    "memory/2025-11-05.md": "- 서울에서 열쇠를 잃어버렸다.\n- 비가 왔다.\n",
}


@pytest.mark.parametrize(
    ("question", "source"),
    [
        ("王芳的猫叫什么？", "memory/2025-11-01.md#L1"),
        ("猫", "memory/2025-11-01.md#L1"),
        ("签证", "memory/2025-11-01.md#L2"),
        ("什么时候办签证？", "memory/2025-11-01.md#L2"),
        ("鍵はどこですか？", "memory/2025-11-02.md#L1"),
        ("鍵", "memory/2025-11-02.md#L1"),
        ("抹茶", "memory/2025-11-02.md#L2"),
        ("Wann ist die Ablesung?", "memory/2025-11-03.md#L1"),
        ("Ablesungen der Heizungen", "memory/2025-11-03.md#L1"),
        ("Wo sind die Schlüssel der alten Häuser?", "memory/2025-11-03.md#L2"),
        ("Wurden die Klaviere gestimmt?", "memory/2025-11-03.md#L3"),
        ("Fahrrad", "memory/2025-11-03.md#L4"),
        ("Gemi ne zaman ayrıldı?", "memory/2025-11-04.md#L1"),
        ("su", "memory/2025-11-04.md#L2"),
        ("çay", "memory/2025-11-04.md#L3"),
        ("cay", "memory/2025-11-04.md#L3"),
        ("열쇠", "memory/2025-11-05.md#L1"),
    ],
)
def test_4_every_language_finds_its_line_by_default(make, ask, find, question: str, source: str) -> None:
    workspace = make(LANGUAGES)
    assert ask(workspace, question)["results"][0]["source"] == source
    path, _, line = source.partition("#L")
    hit = find(workspace, question)["results"][0]
    assert hit["path"] == path
    assert hit["startLine"] <= int(line) <= hit["endLine"]


@pytest.mark.parametrize("provider", [None, "openai", "gemini", "voyage", "local", "no-such-provider"])
def test_5_no_key_no_model_or_another_provider_still_answers(make, tmp_path: Path, provider: str | None) -> None:
    workspace = make({"memory/2025-12-01.md": "- The berth is number 14.\n"})
    search = {"provider": provider, "model": "some-model", "local": {"modelPath": "/no/such/file"}} if provider else {}
    configuration = tmp_path / "openclaw.json"
    configuration.write_text(
        json.dumps(
            {
                "agents": {"defaults": {"workspace": workspace.root, "memorySearch": search}},
                "memory": {"search": search},
            }
        ),
        encoding="utf-8",
    )
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    environment |= {"OPENCLAW_CONFIG_PATH": str(configuration), "HOME": str(tmp_path)}
    environment.pop("OPENCLAW_WORKSPACE", None)
    for command in ("search", "recall"):
        done = subprocess.run(
            [sys.executable, "-m", "openclaw_memory", command, "which berth?", "--json"],
            env=environment,
            capture_output=True,
            check=True,
        )
        answer = json.loads(done.stdout)
        assert len(answer["results"]) == 1
        assert "disabled" not in answer


def test_6_scores_are_in_order_and_mean_something(demo, ask, find) -> None:
    for question in (
        "Which port does gannet listen on?",
        "What does Mara prefer?",
        "Where are the passports?",
        "猫",
        "ZX-4417",
    ):
        for answer in (ask(demo, question, k=50, budget=5000), find(demo, question, max_results=20)):
            scores = [result["score"] for result in answer["results"]]
            assert scores
            assert all(0 < score <= 1 for score in scores)
            assert all(better > worse for better, worse in itertools.pairwise(scores))
            assert sum(1 for score in scores if score > 0.999) <= 1
            assert format(scores[0], ".3f") != "0.000"
            # Four passages that all hold the identifier are close, but not one score.
            assert len(scores) == 1 or scores[0] > 1.1 * scores[-1]
    # More words in common, more score.
    scores = {r["content"]: r["score"] for r in ask(demo, "port gannet listens", k=50, budget=5000)["results"]}
    ports = [score for text, score in scores.items() if "port" in text and "gannet" in text]
    assert min(ports) > min(scores.values())


def test_7_a_bullet_is_found_by_the_words_of_its_heading(make, ask, find) -> None:
    core = "# Memory\n\n## Harbour office\n- Opens at nine, closed on Mondays.\n- Ask for Ole.\n"
    core += "\n## Kitchen\n- Bread on Mondays.\n"
    workspace = make({"MEMORY.md": core, "memory/2025-12-01.md": "- Opened the window at nine.\n- Bread, milk.\n"})
    for question in ("harbour office", "When does the harbour office open?"):
        # Both bullets stand below the words that are asked for; only the second question means one of them.
        assert ask(workspace, question)["results"][0]["source"] in ("MEMORY.md#L4", "MEMORY.md#L5")
    assert ask(workspace, "When does the harbour office open?")["results"][0]["source"] == "MEMORY.md#L4"
    for question in ("harbour office", "When does the harbour office open?"):
        assert find(workspace, question)["results"][0]["path"] == "MEMORY.md"
    assert "MEMORY.md#L8" in [r["source"] for r in ask(workspace, "kitchen")["results"]][:1]


def test_8_a_search_costs_little(make, ask, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work, not time: the index of 500 notes reads each file once; a question after that reads none, and in a process
    of its own loads no library."""
    files = {
        f"memory/n{number:03}.md": f"# Note {number}\n\n- Subject {number} is about thing {number % 7}.\n"
        for number in range(500)
    }
    workspace = make(files)
    earlier = time.time() - 3600
    for name in files:
        os.utime(Path(workspace.root) / name, (earlier, earlier))
    read: list[str] = []
    real = files_module.read_below

    def counted(root: str, relative: str) -> bytes:
        read.append(os.path.basename(relative))
        return real(root, relative)

    monkeypatch.setattr(files_module, "read_below", counted)
    assert ask(workspace, "Subject 77")["results"][0]["source"] == "memory/n077.md#L3"
    assert sorted(read) == sorted(os.path.basename(name) for name in files)
    read.clear()
    assert ask(workspace, "thing 3")["results"]
    assert read == []
    (Path(workspace.root) / "memory" / "n500.md").write_text("- Subject 500.\n", encoding="utf-8")
    os.utime(Path(workspace.root) / "memory" / "n500.md", (earlier, earlier))
    read.clear()
    assert ask(workspace, "Subject 500")["results"][0]["source"] == "memory/n500.md#L1"
    assert read == ["n500.md"]
    monkeypatch.undo()

    probe = (
        "import sys; from openclaw_memory.entry import main\ntry: main()\n"
        "except SystemExit: print('numpy' in sys.modules, len(sys.modules), file=sys.stderr)"
    )
    command = [sys.executable, "-c", probe, "search", "thing 3", "--workspace", workspace.root]
    done = subprocess.run(command, capture_output=True, check=True)
    heavy, count = done.stderr.decode().split()[-2:]
    assert heavy == "False"
    assert int(count) < 200
