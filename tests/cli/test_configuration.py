"""The configuration as the command line sees it: which file, what is effective, what is wrong with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .conftest import Run

EXAMPLES = Path(__file__).parent.parent / "cases" / "configuration"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "notes"
    (root / "memory").mkdir(parents=True)
    (root / "memory" / "2025-12-01.md").write_text("- The heron nests by the lock.\n", encoding="utf-8")
    return root


@pytest.fixture
def config(tmp_path: Path) -> Any:
    def write(text: str) -> str:
        path = tmp_path / "mine.json"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def settings_of(answer: str) -> dict[str, tuple[Any, str]]:
    return {one["key"]: (one["value"], one["source"]) for one in json.loads(answer)["settings"]}


def test_doctor_shows_what_is_effective_and_where_it_came_from(run: Run, workspace: Path, config: Any) -> None:
    text = """{ // JSON5, of both eras
      memory: {citations: 'off', search: {query: {maxResults: 2}}},
      agents: {defaults: {memorySearch: {remote: {apiKey: 'sk-hush', baseUrl: 'https://me:hush@example.org/v1'},
                                         sync: {interval: '5m'}}}}}"""
    done = run("doctor", "--json", "--workspace", str(workspace), "--config", config(text))
    told = settings_of(done.text)
    assert told["configuration"][1] == "OPENCLAW_CONFIG_PATH"
    assert told["workspace"] == (str(workspace), "--workspace")
    assert told["memory.citations"] == ("off", "memory.citations")
    assert told["memory.search.query.maxResults"] == (2, "memory.search.query.maxResults")
    assert told["memory.search.sync.interval"] == ("300s", "agents.defaults.memorySearch.sync.interval")
    assert told["memory.search.remote.apiKey"] == ("(hidden)", "agents.defaults.memorySearch.remote.apiKey")
    assert told["memory.search.sync.watch"] == (True, "default")
    assert told["memory.qmd.limits.timeoutMs"] == ("4s", "default")
    assert b"hush" not in done.out + done.err
    shown = run("doctor", "--workspace", str(workspace), "--config", config(text))
    assert "memory.search.query.maxResults" in shown.text
    assert b"hush" not in shown.out


def test_a_wrong_value_names_its_key_and_a_misspelt_one_what_was_meant(run: Run, workspace: Path, config: Any) -> None:
    broken = config("{memory: {search: {query: {maxResults: 'six'}}}}")
    for command in (("recall", "heron"), ("search", "heron"), ("status",)):
        done = run(*command, "--workspace", str(workspace), "--config", broken)
        assert done.code == 1
        assert "memory.search.query.maxResults: expected a whole number" in done.told
        assert done.told.count("\n") == 1
    assert run("doctor", "--workspace", str(workspace), "--config", broken).code == 1
    misspelt = config("{memory: {citation: 'on', search: {sinc: {}, query: {maxResult: 1}}}}")
    shown = run("doctor", "--workspace", str(workspace), "--config", misspelt)
    assert shown.code == 0
    for meant in ("memory.citations", "memory.search.sync", "memory.search.query.maxResults"):
        assert f"did you mean {meant}?" in shown.text


def test_a_configuration_that_is_not_there(run: Run, workspace: Path) -> None:
    for arguments in (("--config", "nowhere.json"), ("--config=nowhere.json",), ("--config",)):
        done = run("recall", "heron", "--workspace", str(workspace), *arguments)
        assert done.code == 2
        assert done.told.startswith("openclaw memory: --config")
        assert done.told.count("\n") == 1
    # After the end of the options it is a word like any other.
    assert run("retain", "--workspace", str(workspace), "--", "W @Ada: Reads --config twice.").code == 0


def test_limits_citations_and_weights_of_search(run: Run, workspace: Path, config: Any) -> None:
    for day in range(10, 20):
        (workspace / "memory" / f"2025-11-{day}.md").write_text(f"- Heron number {day}.\n", encoding="utf-8")

    def search(text: str, *more: str) -> dict[str, Any]:
        done = run("search", "heron", "--json", "--workspace", str(workspace), "--config", config(text), *more)
        assert done.code == 0, done.told
        found: dict[str, Any] = json.loads(done.text)
        return found

    plain = search("{}")
    assert len(plain["results"]) == 6
    assert plain["citations"] == "on"
    assert plain["results"][0]["snippet"].endswith(plain["results"][0]["citation"])
    few = search("{memory: {citations: 'off', search: {query: {maxResults: 2}}}}")
    assert len(few["results"]) == 2
    assert few["citations"] == "off"
    assert "citation" not in few["results"][0]
    assert "Source:" not in few["results"][0]["snippet"]
    assert len(search("{memory: {search: {query: {maxResults: 2}}}}", "--max-results", "3")["results"]) == 3
    strict = "{memory: {search: {query: {minScore: 0.999}}}}"
    assert len(search(strict)["results"]) < 6
    assert len(search(strict, "--min-score", "0")["results"]) == 6
    weighted = search((EXAMPLES / "hybrid.json5").read_text(encoding="utf-8"))
    assert weighted["debug"]["merge"] == "weighted"
    scores = [found["score"] for found in weighted["results"]]
    assert scores == sorted(set(scores), reverse=True)


@pytest.mark.parametrize("text", ["{memory: {search: {enabled: false}}}", "{plugins: {slots: {memory: 'none'}}}"])
def test_memory_that_is_switched_off(run: Run, workspace: Path, config: Any, text: str) -> None:
    done = run("search", "heron", "--json", "--workspace", str(workspace), "--config", config(text))
    answer = json.loads(done.text)
    assert done.code == 1
    assert (answer["disabled"], answer["results"]) == (True, [])
    assert "switched off" in answer["error"]


def checks_of(answer: str) -> dict[str, dict[str, str]]:
    return {one["name"]: one for one in json.loads(answer)["checks"]}


def test_doctor_looks_at_the_other_back_end_and_the_other_source(run: Run, workspace: Path, config: Any) -> None:
    def checks(text: str) -> dict[str, dict[str, str]]:
        done = run("doctor", "--json", "--workspace", str(workspace), "--config", config(text))
        assert done.code == 0, done.told
        return checks_of(done.text)

    assert not {"qmd", "transcripts"} & set(checks("{}"))
    missing = checks("{memory: {backend: 'qmd', qmd: {command: 'no-such-qmd'}}}")["qmd"]
    assert missing["status"] == "warn"
    assert "no-such-qmd" in missing["message"]
    assert "the built-in index answers" in missing["message"]
    half = checks("{memory: {search: {sources: ['memory', 'sessions']}}}")["transcripts"]
    assert (half["status"], "rememberAcrossConversations" in half["message"]) == ("warn", True)
    whole = "{memory: {search: {sources: ['memory', 'sessions'], rememberAcrossConversations: true}}}"
    assert checks(whole)["transcripts"]["status"] == "ok"


def test_status_of_every_configured_agent(run: Run, tmp_path: Path, workspace: Path, config: Any) -> None:
    other = tmp_path / "other"
    (other / "memory").mkdir(parents=True)
    agents = {"ada": {"workspace": str(other)}, "main": {"workspace": str(workspace), "default": True}}
    path = config(json.dumps({"agents": {"entries": agents}}))
    told = json.loads(run("status", "--json", "--config", path).text)
    assert [(one["agentId"], one["status"]["workspaceDir"]) for one in told] == [
        ("main", str(workspace)),
        ("ada", str(other)),
    ]
    (one,) = json.loads(run("status", "--json", "--agent", "ada", "--config", path).text)
    assert one["agentId"] == "ada"
    (deep,) = json.loads(run("status", "--deep", "--json", "--workspace", str(workspace), "--config", path).text)
    assert deep["embeddingProbe"] == {"ok": True}
    remote = config("{memory: {search: {provider: 'openai'}}}")
    (deep,) = json.loads(run("status", "--deep", "--json", "--workspace", str(workspace), "--config", remote).text)
    assert deep["status"]["requestedProvider"] == "openai"
    assert deep["status"]["fallback"]["from"] == "openai"
    assert deep["embeddingProbe"] == {"ok": True}
