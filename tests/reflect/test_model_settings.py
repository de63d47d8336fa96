"""Where the judging model is configured, and what is said of what cannot be used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import json5
import pytest
from openclaw_memory.bank.config import Configuration
from openclaw_memory.bank.errors import MemoryFault, UsageFault
from openclaw_memory.reflect.verdicts.choosing import choose_scorer
from openclaw_memory.reflect.verdicts.settings import read_settings

SECRET = "sk-test-Vq7Lm2Zx9Rk4Tn8Wd3"


def configured(text: str) -> Configuration:
    return Configuration("/x/openclaw.json", json5.loads(text))


def shared(model: str) -> Configuration:
    return configured(f"{{memory: {{reflect: {{model: {model}}}}}}}")


def test_an_agents_own_word_counts_key_by_key() -> None:
    configuration = configured("""{
        memory: {reflect: {model: {baseUrl: "http://a/v1", model: "big", timeoutMs: 500, apiKey: "${KEY}"}}},
        agents: {entries: {Ada: {memory: {reflect: {model: {model: "small"}}}}, off: {memory: {reflect: {model:
            {provider: "none"}}}}},
            list: [{id: "old", memory: {reflect: {model: {modelPath: "/m.gguf", provider: "llama"}}}}]}}""")
    ada, warnings = read_settings(configuration, "ada", {"KEY": SECRET})
    assert (ada.provider, ada.model, ada.base_url, ada.timeout) == ("openai-compatible", "small", "http://a/v1", 0.5)
    assert (ada.api_key, ada.problem, warnings) == (SECRET, "", [])
    assert SECRET not in repr(ada)
    assert (ada.concurrency, read_settings(shared("{concurrency: 5}"), "", {})[0].concurrency) == (2, 5)
    assert read_settings(configuration, "", {"KEY": SECRET})[0].model == "big"
    assert read_settings(configuration, "off", {})[0].provider == "none"
    assert read_settings(configuration, "old", {"KEY": SECRET})[0].model_path == "/m.gguf"


@pytest.mark.parametrize(
    ("model", "key"),
    [
        ("3", "memory.reflect.model"),
        ("{model: 3}", "memory.reflect.model.model"),
        ("{modelPath: ['x']}", "memory.reflect.model.modelPath"),
        ("{baseUrl: 'http://a', model: 'm', timeoutMs: '60'}", "memory.reflect.model.timeoutMs"),
        ("{baseUrl: 'http://a', model: 'm', timeoutMs: 0}", "memory.reflect.model.timeoutMs"),
        ("{baseUrl: 'http://a', model: 'm', concurrency: 0}", "memory.reflect.model.concurrency"),
        ("{baseUrl: 'http://a', model: 'm', headers: {a: 1}}", "memory.reflect.model.headers.a"),
        ("{baseUrl: 'http://a', model: 'm', apiKey: 7}", "memory.reflect.model.apiKey"),
    ],
)
def test_a_wrong_type_names_its_key(model: str, key: str) -> None:
    with pytest.raises(MemoryFault) as told:
        read_settings(shared(model), "main", {})
    assert str(told.value).startswith(f"{key}: expected ")
    assert "/x/openclaw.json" in str(told.value)


@pytest.mark.parametrize("text", ["{memory: {reflect: 3}}", "{agents: {entries: {main: {memory: {reflect: []}}}}}"])
def test_a_section_of_a_wrong_type(text: str) -> None:
    with pytest.raises(MemoryFault, match=r"memory\.reflect: expected an object"):
        read_settings(configured(text), "main", {})


def test_an_unknown_key_is_told_with_the_nearest() -> None:
    _, (first, second) = read_settings(configured("{memory: {reflect: {modl: {}, model: {basUrl: 'x'}}}}"), "", {})
    assert first.endswith("did you mean memory.reflect.model?")
    assert second.endswith("did you mean memory.reflect.model.baseUrl?")


@pytest.mark.parametrize(
    ("model", "says"),
    [
        ("{provider: 'llama'}", "memory.reflect.model.modelPath is not set"),
        ("{baseUrl: 'http://a/v1'}", "memory.reflect.model.model is not set"),
        ("{provider: 'openai-compatible', model: 'm'}", "memory.reflect.model.baseUrl is not set"),
        ("{provider: 'oracle', model: 'm'}", "no such provider: oracle; use openai-compatible, llama, none"),
        ("{model: 'm'}", "names neither baseUrl nor modelPath"),
        ("{baseUrl: 'http://a/v1', model: 'm', apiKey: '${NOT_SET}'}", "NOT_SET, which is not set"),
        ("{baseUrl: '${NOT_SET}', model: 'm'}", "NOT_SET, which is not set"),
        ("{baseUrl: 'http://a/v1', model: 'm', headers: {a: '${NOT_SET}'}}", "NOT_SET, which is not set"),
        ("{baseUrl: 'a/v1', model: 'm'}", "memory.reflect.model.baseUrl is no http or https address"),
    ],
)
def test_what_cannot_be_used_is_one_line(tmp_path: Path, model: str, says: str) -> None:
    told: list[str] = []
    arguments: Any = (shared(model), "main", str(tmp_path), told.append, {})
    judge = choose_scorer("auto", *arguments)
    assert judge is not None
    assert judge.name == "learned"
    assert len(told) == 1
    assert says in told[0]
    with pytest.raises(UsageFault) as fault:
        choose_scorer("model", *arguments)
    assert says in str(fault.value)
    assert list(tmp_path.iterdir()) == []


def test_a_key_of_the_environment_goes_where_the_configuration_says() -> None:
    environ = {"OPENCLAW_REFLECT_API_KEY": SECRET}
    assert read_settings(shared("{baseUrl: 'http://a/v1', model: 'm'}"), "", environ)[0].api_key == SECRET
    own, _ = read_settings(shared("{baseUrl: 'http://a/v1', model: 'm', apiKey: 'own'}"), "", environ)
    assert own.api_key == "own"


@pytest.mark.parametrize("name", ["learned", "rules", "none"])
def test_a_named_judge_looks_at_no_model(name: str, tmp_path: Path) -> None:
    told: list[str] = []
    judge = choose_scorer(name, shared("{model: 3}"), "main", str(tmp_path), told.append, {})
    assert (judge.name if judge else "none") == name
    assert told == []


def test_the_environment_does_for_a_try(tmp_path: Path) -> None:
    environ = {"OPENCLAW_REFLECT_BASE_URL": "http://127.0.0.1:9/v1", "OPENCLAW_REFLECT_MODEL": "m"}
    judge = choose_scorer("auto", None, "", str(tmp_path), print, environ)
    assert judge is not None
    assert judge.fingerprint.startswith("model-2 chat http://127.0.0.1:9/v1 m ")
    environ = {"OPENCLAW_REFLECT_MODEL_PATH": str(tmp_path / "m.gguf")}
    judge = choose_scorer("model", None, "", str(tmp_path), print, environ)
    assert judge is not None
    assert judge.fingerprint.startswith("model-2 gguf m.gguf ")
    with pytest.raises(UsageFault, match="OPENCLAW_REFLECT_MODEL is not"):
        choose_scorer("model", None, "", "", print, {"OPENCLAW_REFLECT_BASE_URL": "http://127.0.0.1:9/v1"})
