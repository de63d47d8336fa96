"""``memory_search``: the fields that OpenClaw's tool gives, and chunks that show what answers."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from openclaw_memory.bank.embeddings.models import Models
from openclaw_memory.bank.embeddings.settings import EmbeddingSettings
from openclaw_memory.bank.workspace import Workspace

FILES = {
    "MEMORY.md": "# Memory\n\n## Harbour office\n- Opens at nine.\n",
    "memory/2025-12-01.md": "# Monday\n\nThe berth of the gannet is number 14.\n\n- Bread\n- Milk\n",
    "memory/2025-12-02.md": "# Tuesday\n\nThe harbour was closed.\n",
    "bank/world.md": "- W @gannet: Is a sloop with a red hull.\n",
}
FIELDS = ["path", "startLine", "endLine", "score", "vectorScore", "textScore", "snippet", "source", "corpus"]


def test_fields(make, find) -> None:
    answer = find(make(FILES), "berth of the gannet")
    assert {name: answer[name] for name in answer if name != "results"} == {
        "provider": "static",
        "mode": "hybrid",
        "citations": "on",
        "model": "openclaw-static-256",
        "debug": {"providerReason": "no other model is configured", "merge": "rank fusion"},
    }
    first = answer["results"][0]
    assert list(first) == [*FIELDS, "citation"]
    assert (first["path"], first["source"], first["corpus"]) == ("memory/2025-12-01.md", "memory", "memory")
    assert first["startLine"] <= 3 <= first["endLine"]
    for result in answer["results"]:
        assert 0 < result["score"] <= 1
        assert 0 <= result["textScore"] <= 1
        assert 0 <= result["vectorScore"] <= 1


def test_fields_without_vectors(make, find) -> None:
    """Words alone: no field speaks of vectors."""
    workspace = make(FILES)
    workspace.models = Models(EmbeddingSettings(enabled=False))
    answer = find(workspace, "berth of the gannet")
    assert {name: answer[name] for name in answer if name != "results"} == {
        "provider": "none",
        "mode": "keyword",
        "citations": "on",
        "debug": {"providerReason": "memory.search.enabled is false", "merge": "rank fusion"},
    }
    assert answer["results"]
    for result in answer["results"]:
        assert list(result) == [*(name for name in FIELDS if name != "vectorScore"), "citation"]


def test_a_provider_that_cannot_be_had(make, find) -> None:
    workspace = make(FILES)
    workspace.models = Models(EmbeddingSettings(provider="openai"), environ={})
    answer = find(workspace, "berth of the gannet")
    assert (answer["provider"], answer["mode"], answer["fallback"]["from"]) == ("static", "hybrid", "openai")
    assert answer["fallback"]["reason"] == answer["debug"]["providerReason"] == "openai cannot be used"
    assert "no key was found" in answer["warning"]
    assert answer["results"] == find(make(FILES), "berth of the gannet")["results"]
    workspace.models = Models(EmbeddingSettings(provider="openai", fallback="none"), environ={})
    answer = find(workspace, "berth of the gannet")
    assert (answer["provider"], answer["mode"], answer["fallback"]["from"]) == ("none", "keyword", "openai")
    assert answer["results"]


def test_citations(make, find) -> None:
    workspace = make(FILES)
    for hit in find(workspace, "berth harbour")["results"]:
        span = f"#L{hit['startLine']}" + (f"-L{hit['endLine']}" if hit["endLine"] > hit["startLine"] else "")
        assert hit["citation"] == hit["path"] + span
        assert hit["snippet"].endswith(f"\n\nSource: {hit['citation']}")
    off = find(workspace, "berth harbour", citations=False)
    assert off["citations"] == "off"
    for hit in off["results"]:
        assert list(hit) == FIELDS
        assert "Source:" not in hit["snippet"]
        lines = (Path(workspace.root) / hit["path"]).read_text("utf-8").split("\n")
        assert hit["snippet"] == "\n".join(lines[hit["startLine"] - 1 : hit["endLine"]])


def test_how_many(make, find, demo) -> None:
    assert len(find(demo, "Mara and Tomasz")["results"]) == 6
    everything = find(demo, "Mara and Tomasz", max_results=1000)["results"]
    assert len(everything) > 6
    for most in (1, 3, 10):
        fewer = find(demo, "Mara and Tomasz", max_results=most)["results"]
        assert [r["citation"] for r in fewer] == [r["citation"] for r in everything[:most]]


@pytest.mark.parametrize("bound", [0.0, 0.2, 0.5, 0.9])
def test_min_score(demo, find, bound: float) -> None:
    everything = find(demo, "ZX-4417 passports gannet", max_results=50)["results"]
    kept = find(demo, "ZX-4417 passports gannet", max_results=50, min_score=bound)["results"]
    assert all(result["score"] >= bound - 1e-4 for result in kept)
    assert len(kept) == sum(1 for result in everything if result["score"] >= bound)


def test_no_two_results_show_the_same_answer(demo, find) -> None:
    for question in ("Mara", "passports", "What went wrong with the backup?", "猫"):
        cited = [result["citation"] for result in find(demo, question, max_results=30)["results"]]
        assert len(set(cited)) == len(cited)


def test_unavailable(tmp_path: Path, make, find) -> None:
    workspace = make(FILES)
    (tmp_path / ".memory").write_text("a file where the folder of the index should be", encoding="utf-8")
    answer = find(workspace, "berth")
    assert list(answer) == ["results", "disabled", "unavailable", "error", "warning", "action"]
    assert (answer["results"], answer["disabled"], answer["unavailable"]) == ([], True, True)
    assert all(answer[name] and "\n" not in answer[name] for name in ("error", "warning", "action"))
    gone = Workspace.open(str(tmp_path))
    shutil.rmtree(tmp_path)
    assert find(gone, "berth").get("results") == []


def test_corpora(make, find) -> None:
    workspace = make(FILES)
    assert find(workspace, "berth", corpus="memory")["results"]
    assert find(workspace, "berth", corpus="all")["results"] == find(workspace, "berth")["results"]
    sessions = find(workspace, "berth", corpus="sessions")
    assert sessions["results"] == []
    assert "session transcripts are not indexed" in sessions["warning"]


def test_markers(make, find) -> None:
    """Only those in the lines that are shown; a number outside 1 to 10 is none."""
    far = "\n".join(f"- Filler number {number}, about nothing at all, to keep the two apart." for number in range(40))
    workspace = make({
        "MEMORY.md": "- The vault is open. <!-- importance: 3 --> <!-- trigger: vault --><!--trigger:open door-->\n"
        "- <!-- importance: 9 --> The vault has a project. <!-- project: house --> <!-- project: other -->\n"
        f"{far}\n- The attic is dry. <!-- importance: 11 --> <!-- importance: high -->\n",
    })  # fmt: skip
    hit = find(workspace, "vault")["results"][0]
    assert (hit["importance"], hit["triggers"], hit["projectKey"]) == (9, ["vault", "open door"], "house")
    attic = find(workspace, "attic")["results"][0]
    assert {"importance", "triggers", "projectKey"} & set(attic) == set()


def test_text_that_is_no_passage_is_found_too(make, find) -> None:
    """A heading alone, or a block that a machine maintains."""
    workspace = make({
        "memory/2025-12-03.md": "# Regatta preparations\n\n- Rope.\n",
        "bank/entities/Peter.md": "# Peter\n\n<!-- openclaw-memory:summary:start -->\nOwns a catamaran.\n"
        "<!-- openclaw-memory:summary:end -->\n",
    })  # fmt: skip
    assert find(workspace, "regatta")["results"][0]["path"] == "memory/2025-12-03.md"
    hit = find(workspace, "catamaran")["results"][0]
    assert "Owns a catamaran." in hit["snippet"]


def test_only_fresh_answers_are_not_stale(make, find) -> None:
    workspace = make(FILES)
    assert "stale" not in find(workspace, "berth")
    make({"memory/2025-12-01.md": "changed\n"})
    assert find(workspace, "berth", no_sync=True)["stale"] is True
    assert "stale" not in find(workspace, "berth")
