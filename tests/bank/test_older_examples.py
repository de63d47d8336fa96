"""The configuration examples of OpenClaw's older documentation, each loaded as it stands there, and what it does."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from openclaw_memory.bank.config import read_configuration
from openclaw_memory.bank.embeddings.choice import choose
from openclaw_memory.bank.embeddings.remote import RemoteEmbedder
from openclaw_memory.bank.search_settings import Hybrid
from openclaw_memory.bank.sync import sync
from openclaw_memory.bank.workspace import Workspace
from openclaw_memory.recall.get import memory_get
from openclaw_memory.recall.search import memory_search

EXAMPLES = Path(__file__).parent.parent / "cases" / "configuration"
NOW = datetime(2026, 1, 10, 12, tzinfo=UTC)

Configured = Callable[..., Workspace]


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Configured:
    """A workspace under an example; ``replace`` puts folders of the test in place of those of the documentation."""
    root = tmp_path / "workspace"
    (root / "memory").mkdir(parents=True)
    (root / "memory" / "2025-02-03.md").write_text("# Log\n\n- The router answers on port 8431.\n", encoding="utf-8")

    def open_with(example: str, agent: str = "main", **replace: str) -> Workspace:
        text = (EXAMPLES / f"{example}.json5").read_text(encoding="utf-8")
        for old, new in replace.items():
            text = text.replace(old, new)
        path = tmp_path / "openclaw.json"
        path.write_text(text, encoding="utf-8")
        configuration = read_configuration({"OPENCLAW_CONFIG_PATH": str(path)})
        workspace = Workspace.configured(str(root), configuration, agent)
        assert (workspace.warnings, workspace.models.warnings) == ((), ())
        return workspace

    return open_with


def search(workspace: Workspace, query: str, **options: Any) -> dict[str, Any]:
    return memory_search(workspace, query, now=NOW, **options)


def test_extra_paths(configured: Configured, tmp_path: Path) -> None:
    shared = tmp_path / "shared-notes"
    shared.mkdir()
    (shared / "overview.md").write_text("- The overview names the lighthouse keeper Ada.\n", encoding="utf-8")
    (shared / "other.md").write_text("- Nobody may read this one about the lighthouse.\n", encoding="utf-8")
    team = tmp_path / "team-docs" / "deep"
    team.mkdir(parents=True)
    (team / "plan.md").write_text("- The plan is to paint the boathouse green.\n", encoding="utf-8")
    (team / "plan.txt").write_text("- The boathouse in text form.\n", encoding="utf-8")
    (tmp_path / "secret.md").write_text("- The boathouse secret.\n", encoding="utf-8")
    (team / "link.md").symlink_to(tmp_path / "secret.md")
    workspace = configured("extra-paths", **{"/srv/shared-notes": str(shared)})
    plan, overview = (team / "plan.md").as_posix(), (shared / "overview.md").as_posix()
    assert sync(workspace).added == sorted([plan, overview, "memory/2025-02-03.md"])
    assert search(workspace, "boathouse")["results"][0]["path"] == plan
    assert search(workspace, "lighthouse")["results"][0]["path"] == overview
    assert memory_get(workspace, plan)["status"] == "ok"
    assert memory_get(workspace, (shared / "other.md").as_posix())["code"] == "MEMORY_PATH_NOT_ALLOWED"
    assert memory_get(workspace, (team / "link.md").as_posix())["code"] == "MEMORY_PATH_NOT_ALLOWED"


def remote_of(workspace: Workspace) -> RemoteEmbedder:
    embedder = choose(workspace.models.settings, {"HOME": "/nowhere"}, "main").embedder
    assert isinstance(embedder, RemoteEmbedder)
    return embedder


def test_gemini(configured: Configured) -> None:
    workspace = configured("gemini")
    embedder = remote_of(workspace)
    assert (embedder.provider, embedder.model) == ("gemini", "gemini-embedding-001")
    assert workspace.models.settings.remote.api_key == "YOUR_GEMINI_API_KEY"


@pytest.mark.parametrize(
    ("example", "headers"),
    [
        ("openai-compatible", {"X-Custom-Header": "value"}),
        ("openai-headers", {"X-Organization": "org-id", "X-Project": "project-id"}),
    ],
)
def test_a_server_of_the_openai_protocol(configured: Configured, example: str, headers: dict[str, str]) -> None:
    workspace = configured(example)
    embedder = remote_of(workspace)
    assert (embedder.provider, embedder.model) == ("openai", "text-embedding-3-small")
    assert workspace.models.settings.remote.base_url == "https://api.example.com/v1/"
    assert workspace.models.settings.remote.headers == headers


def test_batches(configured: Configured) -> None:
    settings = configured("batch").models.settings
    assert (settings.provider, settings.fallback) == ("openai", "openai")
    assert (settings.remote.batch.enabled, settings.remote.batch.concurrency) == (True, 2)
    assert configured("batch").settings.sync.watch


def test_no_key_still_answers(configured: Configured) -> None:
    answer = search(configured("batch"), "router port")
    assert [found["path"] for found in answer["results"]] == ["memory/2025-02-03.md"]
    assert answer["fallback"]["from"] == "openai"


def test_hybrid_weights(configured: Configured) -> None:
    workspace = configured("hybrid")
    assert workspace.settings.hybrid == Hybrid(True, True, 0.7, 0.3, 4)
    answer = search(workspace, "router port")
    assert answer["debug"]["merge"] == "weighted"
    (found,) = answer["results"]
    assert found["score"] == pytest.approx(0.7 * found["vectorScore"] + 0.3 * found["textScore"], abs=1e-5)
    assert found["textScore"] == 1


def test_the_cache(configured: Configured) -> None:
    settings = configured("cache").models.settings
    assert (settings.cache_enabled, settings.cache_max_entries) == (True, 50_000)


def test_session_memory(configured: Configured) -> None:
    settings = configured("session-memory").settings
    assert settings.sources == ("memory", "sessions")
    assert settings.searches_sessions


def test_session_deltas(configured: Configured) -> None:
    sync_settings = configured("session-deltas").settings.sync
    assert (sync_settings.delta_bytes, sync_settings.delta_messages) == (100_000, 50)


def test_an_extension_that_is_not_there_answers_in_the_process(configured: Configured) -> None:
    workspace = configured("sqlite-vec")
    assert workspace.models.settings.extension_path == "/path/to/sqlite-vec"
    assert search(workspace, "router port")["mode"] == "hybrid"


def test_qmd(configured: Configured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("OPENCLAW_STATE_DIR", raising=False)
    (tmp_path / "notes" / "deep").mkdir(parents=True)
    (tmp_path / "notes" / "deep" / "plan.md").write_text("The plan.\n", encoding="utf-8")
    workspace = configured("qmd")
    assert (workspace.settings.backend, workspace.settings.citations) == ("qmd", "auto")
    assert memory_get(workspace, "qmd/docs/deep/plan.md")["text"] == "The plan."
    group = "agent:main:telegram:group:7"
    assert memory_get(workspace, "qmd/docs/deep/plan.md", session_key=group)["status"] == "error"
    answer = search(workspace, "router port")
    assert [found["path"] for found in answer["results"]] == ["memory/2025-02-03.md"]
    assert "QMD does not answer" in answer["warning"]
