"""Which embedder is used and why; no key in any word of it, and no connection."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from openclaw_memory.bank.config import Configuration
from openclaw_memory.bank.embeddings import choice as module
from openclaw_memory.bank.embeddings.choice import OFFLINE, Choice, choose
from openclaw_memory.bank.embeddings.protocol import EmbeddingFault
from openclaw_memory.bank.embeddings.remote import RemoteEmbedder
from openclaw_memory.bank.embeddings.settings import EmbeddingSettings, read_settings
from openclaw_memory.bank.embeddings.transport import FOR_DOCUMENTS, FOR_QUERY

from .conftest import SECRET


@pytest.fixture(autouse=True)
def no_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr("socket.socket.connect", refuse)
    monkeypatch.setattr("socket.getaddrinfo", refuse)


@pytest.fixture
def chosen(tmp_path: Path) -> Any:
    """Chooses for what stands below ``memory.search`` (and beside it) and for an environment."""

    def choose_for(
        search: dict[str, Any] | None = None, beside: dict[str, Any] | None = None, **environ: str
    ) -> Choice:
        values = {"memory": {"search": search or {}}, **(beside or {})}
        environ = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path), **environ}
        settings, _ = read_settings(Configuration("/c/openclaw.json", values), "main", environ)
        found = choose(settings, environ, "main")
        shown = repr((found.requested, found.reason, found.fallback_from, found.warning, settings))
        shown += getattr(found.embedder, "fingerprint", "")
        assert SECRET not in shown
        assert "\n" not in found.warning
        assert bool(found.fallback_from) <= bool(found.warning)
        return found

    return choose_for


def provider_of(found: Choice) -> str | None:
    return found.embedder.provider if found.embedder else None


def remote(found: Choice) -> RemoteEmbedder:
    assert isinstance(found.embedder, RemoteEmbedder)
    return found.embedder


def key_of(found: Choice) -> str:
    return remote(found).transport._headers.get("Authorization", "").removeprefix("Bearer ")


# auto


def test_nothing_is_configured(chosen: Any) -> None:
    found = chosen()
    assert provider_of(found) == "static"
    assert found[1:] == ("auto", "no other model is configured", "", "")


@pytest.mark.parametrize(
    ("variable", "provider"),
    [("OPENAI_API_KEY", "openai"), ("GEMINI_API_KEY", "gemini"), ("GOOGLE_API_KEY", "gemini"),
     ("VOYAGE_API_KEY", "voyage")],
)  # fmt: skip
def test_a_key_in_the_environment(chosen: Any, variable: str, provider: str) -> None:
    found = chosen(**{variable: SECRET})
    assert provider_of(found) == provider
    assert found.reason == f"{variable} is set"


def test_a_key_alone_opens_no_connection(tmp_path: Path) -> None:
    """Many have a key in their environment, for something else. Where there is no configuration, nobody has asked for
    the network."""
    environ = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path), "OPENAI_API_KEY": SECRET, "GEMINI_API_KEY": SECRET}
    folder = tmp_path / ".openclaw" / "agents" / "main" / "agent"
    folder.mkdir(parents=True)
    profiles = {"google:default": {"type": "api_key", "provider": "google", "key": SECRET}}
    (folder / "auth-profiles.json").write_text(json.dumps({"profiles": profiles}), encoding="utf-8")
    settings, _ = read_settings(Configuration("", {}), "main", environ)
    found = choose(settings, environ, "main")
    assert (provider_of(found), found.reason) == ("static", "no other model is configured")
    assert provider_of(choose(settings._replace(provider="openai"), environ, "main")) == "openai"
    settings, _ = read_settings(Configuration("/c/openclaw.json", {}), "main", environ)
    assert provider_of(choose(settings, environ, "main")) == "openai"


def test_a_question_waits_less_than_indexing() -> None:
    settings, _ = read_settings(
        Configuration("/c/openclaw.json", {"memory": {"search": {"provider": "ollama"}}}), "main", {}
    )
    patience = [
        remote(choose(settings, {}, "main", download=indexing)).transport._patience for indexing in (False, True)
    ]
    assert patience == [FOR_QUERY, FOR_DOCUMENTS]


def test_the_order_of_auto(chosen: Any) -> None:
    keys = {"VOYAGE_API_KEY": SECRET, "GEMINI_API_KEY": SECRET}
    assert provider_of(chosen(**keys)) == "gemini"
    assert provider_of(chosen(**keys, OPENAI_API_KEY=SECRET)) == "openai"


def test_a_profile_is_a_key(chosen: Any, tmp_path: Path) -> None:
    folder = tmp_path / ".openclaw" / "agents" / "main" / "agent"
    folder.mkdir(parents=True)
    profiles = {"google:default": {"type": "api_key", "provider": "google", "key": SECRET}}
    (folder / "auth-profiles.json").write_text(json.dumps({"profiles": profiles}), encoding="utf-8")
    found = chosen()
    assert provider_of(found) == "gemini"
    assert found.reason.startswith("a key is in the profile for google in ")


def test_a_model_of_another_provider_is_left_to_it(chosen: Any) -> None:
    found = chosen({"model": "voyage-4", "outputDimensionality": 512}, OPENAI_API_KEY=SECRET)
    assert (provider_of(found), remote(found).model, remote(found).dimensions) == (
        "openai",
        "text-embedding-3-small",
        None,
    )
    found = chosen({"model": "text-embedding-3-large", "outputDimensionality": 512}, OPENAI_API_KEY=SECRET)
    assert (remote(found).model, remote(found).dimensions) == ("text-embedding-3-large", 512)


def test_what_is_set_below_remote_belongs_to_the_provider_it_names(chosen: Any) -> None:
    found = chosen({"remote": {"apiKey": SECRET}})
    assert (provider_of(found), found.reason) == ("openai", "memory.search.remote.apiKey is set")
    found = chosen({"remote": {"baseUrl": "http://127.0.0.1:8080/v1"}}, VOYAGE_API_KEY=SECRET)
    assert (provider_of(found), found.reason) == ("openai", "memory.search.remote.baseUrl is set")
    assert key_of(found) == ""
    found = chosen({"remote": {"headers": {"X-Org": "o"}}}, OPENAI_API_KEY=SECRET)
    assert (provider_of(found), found.reason) == ("openai", "memory.search.remote.headers is set")
    assert key_of(found) == SECRET
    google = {"baseUrl": "https://generativelanguage.googleapis.com/v1beta/openai/", "apiKey": SECRET}
    found = chosen({"remote": google})
    assert provider_of(found) == "gemini"
    assert remote(found).transport.base_url == "https://generativelanguage.googleapis.com/v1beta"
    assert provider_of(chosen({"remote": {"apiKey": SECRET}, "model": "voyage-4-lite"})) == "voyage"


def test_auto_goes_on_where_what_is_set_cannot_be_used(chosen: Any) -> None:
    found = chosen({"remote": {"apiKey": "${NOT_SET}"}}, VOYAGE_API_KEY=SECRET)
    assert provider_of(found) == "voyage"
    assert "NOT_SET" in found.warning
    assert provider_of(chosen({"remote": {"apiKey": "${NOT_SET}"}})) == "static"
    assert provider_of(chosen({"remote": {"baseUrl": "nonsense"}})) == "static"


def test_a_local_model_that_is_here(chosen: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tmp_path / "m.gguf"
    search = {"local": {"modelPath": str(model)}}
    monkeypatch.setattr(module, "_llama_is_here", lambda: True)
    assert provider_of(chosen(search, OPENAI_API_KEY=SECRET)) == "openai"
    model.write_bytes(b"GGUF")
    found = chosen(search, OPENAI_API_KEY=SECRET)
    assert (provider_of(found), found.reason) == ("local", "memory.search.local.modelPath is set")
    monkeypatch.setattr(module, "_llama_is_here", lambda: False)
    assert provider_of(chosen(search, OPENAI_API_KEY=SECRET)) == "openai"


# Named


@pytest.mark.parametrize("name", ["openai", "gemini", "voyage"])
def test_a_named_provider(chosen: Any, name: str) -> None:
    found = chosen({"provider": name, "remote": {"apiKey": SECRET}})
    assert provider_of(found) == name
    assert found[1:] == (name, "memory.search.provider in /c/openclaw.json", "", "")


@pytest.mark.parametrize("name", ["openai", "gemini", "voyage", "mistral", "deepinfra"])
def test_a_named_provider_without_a_key(chosen: Any, name: str) -> None:
    found = chosen({"provider": name})
    assert provider_of(found) == "static"
    assert (found.requested, found.fallback_from) == (name, name)
    assert "no key was found" in found.warning
    assert "_API_KEY" in found.warning
    assert "memory.search.remote.apiKey" in found.warning
    assert "the built-in model answers" in found.warning


def test_static_and_none_and_disabled(chosen: Any) -> None:
    assert provider_of(chosen({"provider": "static"}, OPENAI_API_KEY=SECRET)) == "static"
    for search in ({"provider": "none"}, {"enabled": False}, {"enabled": False, "provider": "openai"}):
        found = chosen(search, OPENAI_API_KEY=SECRET)
        assert found.embedder is None
        assert (found.fallback_from, found.warning) == ("", "")


def test_an_unknown_provider(chosen: Any) -> None:
    found = chosen({"provider": "bedrock"})
    assert provider_of(found) == "static"
    assert found.fallback_from == "bedrock"
    assert "no such provider" in found.warning
    assert "voyage" in found.warning
    assert "did you mean openai-compatible?" in chosen({"provider": "openai-compatibel"}).warning


def test_the_fallback(chosen: Any) -> None:
    search = {"provider": "voyage", "model": "voyage-4", "outputDimensionality": 256, "fallback": "openai"}
    found = chosen(search, OPENAI_API_KEY=SECRET)
    assert (provider_of(found), remote(found).model, remote(found).dimensions) == (
        "openai",
        "text-embedding-3-small",
        None,
    )
    assert (found.fallback_from, found.reason) == ("voyage", "memory.search.fallback is set")
    assert "voyage" in found.warning
    assert "openai answers" in found.warning
    found = chosen(search)
    assert provider_of(found) == "static"
    assert "nor can the fallback openai" in found.warning
    for name in ("nobody", "auto", "static", "voyage"):
        assert provider_of(chosen(search | {"fallback": name})) == "static"


def test_no_fallback_leaves_keyword_search(chosen: Any) -> None:
    found = chosen({"provider": "openai", "fallback": "none"})
    assert found.embedder is None
    assert (found.fallback_from, found.reason) == ("openai", "memory.search.fallback is none")
    assert "keyword search answers" in found.warning


def test_a_local_provider_that_cannot_be_had(chosen: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_llama_is_here", lambda: False)
    found = chosen({"provider": "local", "local": {"modelPath": str(tmp_path / "m.gguf")}})
    assert "llama-cpp-python is not installed" in found.warning
    monkeypatch.setattr(module, "_llama_is_here", lambda: True)
    found = chosen({"provider": "local", "local": {"modelPath": str(tmp_path / "m.gguf")}})
    assert (provider_of(found), found.fallback_from) == ("static", "local")
    assert "m.gguf" in found.warning


def test_an_unset_variable(chosen: Any) -> None:
    found = chosen({"provider": "openai", "remote": {"apiKey": "${NOT_SET}"}}, OPENAI_API_KEY=SECRET)
    assert provider_of(found) == "static"
    assert "memory.search.remote.apiKey names the environment variable NOT_SET" in found.warning


def test_a_damaged_install_leaves_keyword_search(chosen: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged() -> None:
        raise EmbeddingFault("the table is cut short", kind="missing", lasting=True)

    monkeypatch.setattr(module, "_static", damaged)
    for search in ({}, {"provider": "static"}, {"provider": "openai"}):
        found = chosen(search)
        assert found.embedder is None
        assert "the table is cut short; keyword search answers" in found.warning


# Services that speak the OpenAI protocol


def test_ollama_needs_nothing(chosen: Any) -> None:
    found = chosen({"provider": "ollama"}, OPENAI_API_KEY=SECRET)
    assert (provider_of(found), found.requested, remote(found).model) == ("ollama", "ollama", "nomic-embed-text")
    assert remote(found).transport.base_url == "http://127.0.0.1:11434/v1"
    assert key_of(found) == ""
    found = chosen({"provider": "ollama", "model": "qwen3-embedding", "remote": {"baseUrl": "http://gpu:11434/"}})
    assert (remote(found).model, remote(found).transport.base_url) == ("qwen3-embedding", "http://gpu:11434/v1")


def test_an_openai_compatible_server(chosen: Any) -> None:
    found = chosen({"provider": "openai-compatible"})
    assert "memory.search.remote.baseUrl" in found.warning
    search = {"provider": "openai-compatible", "remote": {"baseUrl": "https://example.org/v1"}}
    found = chosen(search, OPENAI_API_KEY=SECRET)
    assert key_of(found) == ""  # It does not inherit the key of OpenAI.
    search["remote"]["apiKey"] = SECRET
    assert key_of(chosen(search)) == SECRET


def test_a_key_of_the_environment_is_not_sent_in_the_open(chosen: Any) -> None:
    search = {"provider": "openai", "remote": {"baseUrl": "http://example.org/v1"}}
    assert key_of(chosen(search, OPENAI_API_KEY=SECRET)) == ""
    search["remote"]["baseUrl"] = "https://example.org/v1"
    assert key_of(chosen(search, OPENAI_API_KEY=SECRET)) == SECRET


def test_an_own_header_is_a_key(chosen: Any) -> None:
    found = chosen({"provider": "openai", "remote": {"headers": {"authorization": f"Bearer {SECRET}"}}})
    assert (provider_of(found), found.warning) == ("openai", "")


def test_a_key_goes_to_the_end_point_that_it_is_written_with(chosen: Any) -> None:
    gateway = {"models": {"providers": {"openai": {"apiKey": SECRET, "baseUrl": "https://gateway.example/v1"}}}}
    assert provider_of(chosen(beside=gateway)) == "static"
    found = chosen({"provider": "openai"}, gateway)
    assert (remote(found).transport.base_url, key_of(found)) == ("https://gateway.example/v1", SECRET)
    found = chosen(beside=gateway, OPENAI_API_KEY="another")
    assert (remote(found).transport.base_url, key_of(found)) == ("https://api.openai.com/v1", "another")
    own = {
        "models": {"providers": {"box": {"api": "openai-completions", "baseUrl": "http://box/v1", "apiKey": SECRET}}}
    }
    found = chosen({"provider": "box", "model": "m"}, own, OPENAI_API_KEY="another")
    assert (remote(found).transport.base_url, key_of(found)) == ("http://box/v1", SECRET)


# Off line


@pytest.mark.parametrize("value", ["1", "true", "yes"])
def test_off_line(chosen: Any, value: str) -> None:
    environ = {OFFLINE: value, "OPENAI_API_KEY": SECRET}
    found = chosen(**environ)
    assert (provider_of(found), found.reason) == ("static", f"{OFFLINE} is set")
    for name in ("openai", "ollama"):
        found = chosen({"provider": name, "fallback": "gemini"}, GEMINI_API_KEY=SECRET, **environ)
        assert (provider_of(found), found.fallback_from) == ("static", name)
        assert OFFLINE in found.warning


@pytest.mark.parametrize("value", ["", "0", "false", "no"])
def test_not_off_line(chosen: Any, value: str) -> None:
    assert provider_of(chosen(**{OFFLINE: value, "OPENAI_API_KEY": SECRET})) == "openai"


# Cost


def test_choosing_costs_next_to_nothing(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}
    choose(EmbeddingSettings(), environ, "main")
    best = 1.0
    for _ in range(20):
        began = time.perf_counter()
        choose(EmbeddingSettings(), environ, "main")
        best = min(best, time.perf_counter() - began)
    assert best < 0.001


def test_the_default_imports_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "import openclaw_memory\n"
        "before = set(sys.modules)\n"
        "from openclaw_memory.bank.config import Configuration\n"
        "from openclaw_memory.bank.embeddings.settings import read_settings\n"
        "from openclaw_memory.bank.embeddings import choice\n"
        "choice._static = lambda: None\n"
        "settings, _ = read_settings(Configuration('', {}), 'main')\n"
        f"choice.choose(settings, {{'HOME': {str(tmp_path)!r}}}, 'main')\n"
        "print(sorted(name for name in set(sys.modules) - before if not name.startswith('openclaw_memory')))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr
