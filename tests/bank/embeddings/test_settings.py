"""How embeddings are configured: both eras of names, whose word counts, wrong types, unknown keys, variables."""

from __future__ import annotations

from typing import Any

import pytest
from openclaw_memory.bank.config import Configuration
from openclaw_memory.bank.embeddings.settings import BatchSettings, EmbeddingSettings, read_settings
from openclaw_memory.bank.errors import MemoryFault

FULL: dict[str, Any] = {
    "enabled": False,
    "provider": "OpenAI",
    "model": "text-embedding-3-large",
    "fallback": "none",
    "outputDimensionality": 256,
    "remote": {
        "baseUrl": "https://example.org/v1",
        "apiKey": "the-key-itself",
        "headers": {"X-Team": "memory"},
        "nonBatchConcurrency": 4,
        "batch": {"enabled": True, "wait": False, "concurrency": 3, "pollIntervalMs": 1500, "timeoutMinutes": 7},
    },
    "local": {"modelPath": "/models/m.gguf", "modelCacheDir": "/cache", "contextSize": 4096},
    "cache": {"enabled": False, "maxEntries": 10},
    "store": {"driver": "sqlite", "path": "x", "fts": {"tokenizer": "trigram"},
              "vector": {"enabled": False, "extensionPath": "/vec.so"}},
    "rerank": {"model": "reranker"},
    "sources": ["memory"], "extraPaths": [], "query": {"maxResults": 3, "hybrid": {}}, "sync": {"watch": True},
    "chunking": {"tokens": 400}, "experimental": {"sessionMemory": True}, "multimodal": {}, "qmd": {},
}  # fmt: skip


def read(values: dict[str, Any], agent: str = "main", **environ: str) -> tuple[EmbeddingSettings, list[str]]:
    return read_settings(Configuration("/home/x/openclaw.json", values), agent, environ)


def today(search: Any) -> dict[str, Any]:
    return {"memory": {"search": search}}


def older(search: Any) -> dict[str, Any]:
    return {"agents": {"defaults": {"memorySearch": search}}}


def test_no_configuration() -> None:
    assert read_settings(Configuration("", {}), "main") == (EmbeddingSettings(), [])


def test_a_configuration_that_says_nothing_of_embeddings_is_one() -> None:
    for values in ({}, {"gateway": {"port": 1}}, today(None)):
        assert read(values) == (EmbeddingSettings(configured=True), [])


def test_batches_are_on_unless_they_are_switched_off() -> None:
    assert read({})[0].remote.batch.enabled
    assert read(today({"remote": {"batch": {"wait": False}}}))[0].remote.batch.enabled
    assert not read(today({"remote": {"batch": {"enabled": False}}}))[0].remote.batch.enabled


@pytest.mark.parametrize(("era", "key"), [(today, "memory.search"), (older, "agents.defaults.memorySearch")])
def test_every_setting_in_both_eras(era: Any, key: str) -> None:
    settings, warnings = read(era(FULL))
    assert warnings == []
    remote = settings.remote
    assert remote.base_url == "https://example.org/v1"
    assert (remote.api_key, remote.key_source) == ("the-key-itself", f"{key}.remote.apiKey")
    assert remote.headers == {"X-Team": "memory"}
    assert remote.batch == BatchSettings(True, False, 3, 1.5, 7.0)
    assert settings._replace(remote=EmbeddingSettings().remote) == EmbeddingSettings(
        enabled=False,
        provider="openai",
        model="text-embedding-3-large",
        fallback="none",
        dimensions=256,
        model_path="/models/m.gguf",
        model_cache_dir="/cache",
        cache_enabled=False,
        cache_max_entries=10,
        vector_extension=False,
        extension_path="/vec.so",
        rerank_model="reranker",
        source=f"{key}.provider in /home/x/openclaw.json",
        configured=True,
    )
    assert "the-key" not in repr(settings)


def test_the_nearest_word_counts_key_by_key() -> None:
    values = {
        "memory": {"search": {"provider": "voyage", "model": "shared-new", "remote": {"batch": {"wait": False}}}},
        "agents": {
            "defaults": {"memorySearch": {"provider": "openai", "model": "shared-old", "fallback": "static",
                                          "remote": {"batch": {"wait": True, "concurrency": 9}}}},
            "entries": {"Work": {"memory": {"search": {"model": "own-new"}},
                                 "memorySearch": {"model": "own-old", "outputDimensionality": 7}}},
            "list": [{"id": "old-timer", "memorySearch": {"provider": "gemini"}}, {"id": "other"}, {}],
        },
    }  # fmt: skip
    main, warnings = read(values)
    assert (main.provider, main.model, main.fallback) == ("voyage", "shared-new", "static")
    assert main.remote.batch == BatchSettings(wait=False, concurrency=9)
    work = read(values, "work")[0]
    assert (work.provider, work.model, work.dimensions) == ("voyage", "own-new", 7)
    assert work.source == "memory.search.provider in /home/x/openclaw.json"
    old = read(values, "old-timer")[0]
    assert (old.provider, old.model) == ("gemini", "shared-new")
    assert old.source == "agents.list[0].memorySearch.provider in /home/x/openclaw.json"
    assert warnings == []


def test_an_agent_whose_name_has_a_dot() -> None:
    values = {"agents": {"entries": {"a.b": {"memory": {"search": {"model": "m"}}}}}}
    assert read(values, "a.b")[0].model == "m"
    assert read(values, "a")[0].model == ""


@pytest.mark.parametrize(
    ("written", "provider"),
    [("gemini", "gemini"), ("google", "gemini"), ("AUTO", "auto"), (" voyage ", "voyage"), ("voyageai", "voyage"),
     ("", "auto"), ("none", "none"), ("static", "static"), ("local", "local"), ("ollama", "ollama"),
     ("openai-compatible", "openai-compatible"), ("bedrock", "bedrock")],
)  # fmt: skip
def test_names_of_providers(written: str, provider: str) -> None:
    assert read(today({"provider": written, "fallback": written}))[0].provider == provider


def test_a_provider_of_ones_own() -> None:
    values = {
        "models": {"providers": {
            "ollama-5080": {"api": "ollama", "baseUrl": "http://gpu:11435", "apiKey": "${GPU_KEY}", "models": []},
            "chat": {"api": "anthropic-messages", "apiKey": 3},
            "broken": None,
        }},
        "memory": {"search": {"provider": "ollama-5080"}},
    }  # fmt: skip
    settings, _ = read(values, GPU_KEY="g-key")
    assert settings.provider == "ollama"
    assert settings.remote.base_url == "http://gpu:11435"
    assert settings.remote.api_key == "g-key"
    assert read(values | today({"provider": "chat"}))[0].provider == "chat"
    assert read(values | today({"provider": "nobody"}))[0].provider == "nobody"


# Wrong types


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("enabled", "yes", "true or false, got a string"),
        ("provider", 1, "a string, got a number"),
        ("model", ["m"], "a string, got a list"),
        ("fallback", False, "a string, got a boolean"),
        ("outputDimensionality", "256", "a whole number of 1 or more, got a string"),
        ("outputDimensionality", 0, "a whole number of 1 or more"),
        ("dimensions", 1.5, "a whole number of 1 or more"),
        ("dimensions", float("inf"), "a whole number of 1 or more"),
        ("dimensions", float("nan"), "a whole number of 1 or more"),
        ("dimensions", True, "a whole number of 1 or more, got a boolean"),
        ("remote", "x", "an object, got a string"),
        ("remote.baseUrl", {}, "a string, got an object"),
        ("remote.apiKey", 5, "a string, got a number"),
        ("remote.headers", [], "an object, got a list"),
        ("remote.headers.X-Team", 1, "a string, got a number"),
        ("remote.batch", True, "an object, got a boolean"),
        ("remote.batch.enabled", 1, "true or false, got a number"),
        ("remote.batch.concurrency", 0, "a whole number of 1 or more"),
        ("remote.batch.pollIntervalMs", -1, "a number of 0 or more"),
        ("remote.batch.timeoutMinutes", 0, "a number above 0"),
        ("local", [], "an object, got a list"),
        ("local.modelPath", 1, "a string, got a number"),
        ("cache.maxEntries", "many", "a whole number of 1 or more"),
        ("store.vector", 1, "an object, got a number"),
        ("store.vector.enabled", "on", "true or false"),
        ("rerank.model", {}, "a string, got an object"),
        ("inputType", 1, "a string, got a number"),
    ],
)
@pytest.mark.parametrize(("era", "key"), [(today, "memory.search"), (older, "agents.defaults.memorySearch")])
def test_a_wrong_type_names_its_key(era: Any, key: str, path: str, value: object, expected: str) -> None:
    search: Any = value
    for part in reversed(path.split(".")):
        search = {part: search}
    with pytest.raises(MemoryFault) as caught:
        read(era(search))
    assert str(caught.value).startswith(f"{key}.{path}: expected {expected}")
    assert "(/home/x/openclaw.json)" in str(caught.value)


@pytest.mark.parametrize(
    ("values", "key"),
    [
        ({"memory": []}, "memory"),
        ({"memory": {"search": "openai"}}, "memory.search"),
        ({"memorySearch": 1}, "memorySearch"),
        ({"agents": []}, "agents"),
        ({"agents": {"defaults": 1}}, "agents.defaults"),
        ({"agents": {"defaults": {"memorySearch": 1}}}, "agents.defaults.memorySearch"),
        ({"agents": {"entries": []}}, "agents.entries"),
        ({"agents": {"entries": {"main": 1}}}, "agents.entries.main"),
        ({"agents": {"entries": {"main": {"memory": 1}}}}, "agents.entries.main.memory"),
        ({"agents": {"list": [{"id": "main", "memorySearch": []}]}}, "agents.list[0].memorySearch"),
    ],
)
def test_a_wrong_type_on_the_way(values: dict[str, Any], key: str) -> None:
    with pytest.raises(MemoryFault) as caught:
        read(values)
    assert str(caught.value).startswith(f"{key}: expected ")


def test_null_is_as_if_it_were_not_there() -> None:
    empty = dict.fromkeys(FULL) | {"remote": {"batch": None, "apiKey": None}, "store": {"vector": None}}
    settings, warnings = read(today(empty))
    assert settings == EmbeddingSettings(source="memory.search in /home/x/openclaw.json", configured=True)
    assert warnings == []


# Unknown keys


def test_a_typing_error_is_said_with_what_was_meant() -> None:
    search = {"proivder": "openai", "remote": {"baseURL": "x", "batch": {"enable": True}}, "flavour": 1,
              "store": {"vector": {"extension_path": "x"}}, "query": {"anything": 1}}  # fmt: skip
    settings, warnings = read(today(search))
    assert settings.provider == "auto"
    assert [line.split(" (")[0] for line in warnings] == [
        "memory.search.proivder: no such setting",
        "memory.search.remote.baseURL: no such setting",
        "memory.search.remote.batch.enable: no such setting",
        "memory.search.flavour: no such setting",
        "memory.search.store.vector.extension_path: no such setting",
        "memory.search.query.anything: no such setting",
    ]
    assert "did you mean memory.search.provider?" in warnings[0]
    assert "did you mean memory.search.remote.baseUrl?" in warnings[1]
    assert "did you mean memory.search.remote.batch.enabled?" in warnings[2]
    assert "it has no effect" in warnings[3]
    assert all("openclaw.json" in line and "\n" not in line for line in warnings)


@pytest.mark.parametrize(
    ("values", "meant"),
    [
        ({"memory": {"serach": {"provider": "openai"}}}, "memory.serach memory.search"),
        ({"memroy": {"search": {}}}, "memroy memory"),
        ({"agents": {"defaults": {"memorysearch": {}}}}, "agents.defaults.memorysearch agents.defaults.memorySearch"),
        ({"agents": {"entries": {"main": {"memory": {"Search": {}}}}}},
         "agents.entries.main.memory.Search agents.entries.main.memory.search"),
    ],
)  # fmt: skip
def test_a_section_with_a_typing_error(values: dict[str, Any], meant: str) -> None:
    """What stood below it had no effect, and nothing said so."""
    (warning,) = read(values)[1]
    wrong, right = meant.split()
    assert warning == f"{wrong}: no such setting (/home/x/openclaw.json); did you mean {right}?"


def test_other_sections_are_openclaws_own() -> None:
    values = {"gateway": {}, "models": {}, "messages": {}, "meta": {}, "memory": {"backend": "qmd", "citations": "on"}}
    assert read(values | {"agents": {"defaults": {"model": {}, "memory": {"qmd": {}}}}})[1] == []


def test_both_eras_are_looked_through() -> None:
    values = today({"modle": "x"}) | older({"modle": "y"})
    assert [line.split(":")[0] for line in read(values)[1]] == [
        "memory.search.modle",
        "agents.defaults.memorySearch.modle",
    ]


# Variables and secrets


def test_variables_are_filled_in() -> None:
    remote = {"baseUrl": "https://${HOST}/v1", "apiKey": "${K}", "headers": {"X-Org": "a-${ORG}-b"}}
    search = {"model": "${M}", "remote": remote, "local": {"modelPath": "${DIR}/m.gguf"}}
    settings, warnings = read(today(search), M="m", HOST="h", K="k", ORG="o", DIR="/d")
    assert (settings.model, settings.model_path) == ("m", "/d/m.gguf")
    assert settings.remote.base_url == "https://h/v1"
    assert settings.remote.headers == {"X-Org": "a-o-b"}
    assert settings.remote.api_key == "k"
    assert (settings.remote.problem, warnings) == ("", [])


@pytest.mark.parametrize(
    ("remote", "said"),
    [
        ({"apiKey": "${K}"}, "memory.search.remote.apiKey names the environment variable K, which is not set"),
        ({"apiKey": {"source": "env", "id": "K"}}, "memory.search.remote.apiKey names the environment variable K,"),
        ({"apiKey": {"source": "exec", "id": "x"}}, "memory.search.remote.apiKey is a secret of the source 'exec'"),
        ({"apiKey": {"source": "env"}}, "memory.search.remote.apiKey is a reference without an id"),
        ({"apiKey": {"source": "file", "id": "/a"}}, "names the secret provider 'default'"),
        ({"baseUrl": "http://${H}/v1"}, "memory.search.remote.baseUrl names the environment variable H,"),
        ({"headers": {"X": "${H}"}}, "memory.search.remote.headers.X names the environment variable H,"),
    ],
)
def test_a_variable_that_is_not_set_is_a_problem_of_the_provider_and_no_fault(remote: Any, said: str) -> None:
    settings, warnings = read(today({"remote": remote}))
    assert said in settings.remote.problem
    assert warnings == []


def test_a_variable_that_is_not_set_elsewhere_is_a_warning() -> None:
    settings, warnings = read(today({"local": {"modelPath": "${DIR}/m.gguf"}}))
    assert settings.model_path == "${DIR}/m.gguf"
    assert "memory.search.local.modelPath names the environment variable DIR" in warnings[0]


def test_the_environment_of_the_process_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENCLAW_MEMORY_TEST_MODEL", "m")
    values = today({"model": "${OPENCLAW_MEMORY_TEST_MODEL}"})
    assert read_settings(Configuration("c", values), "main")[0].model == "m"
