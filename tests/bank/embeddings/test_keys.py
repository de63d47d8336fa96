"""Where a key is found: the environment, OpenClaw's profiles in either store, references, and in which order."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from openclaw_memory.bank.config import Configuration
from openclaw_memory.bank.embeddings.keys import Key, find_key, resolve_secret, state_folder
from openclaw_memory.bank.embeddings.settings import EmbeddingSettings, read_settings

PLAIN = EmbeddingSettings()


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / ".openclaw"
    folder.mkdir()
    return folder


def store(state: Path, agent: str, profiles: dict[str, Any], **more: Any) -> Path:
    path = state / "agents" / agent / "agent" / "auth-profiles.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"version": 1, "profiles": profiles, **more}), encoding="utf-8")
    return path


def profile(provider: str, key: str) -> dict[str, str]:
    return {"type": "api_key", "provider": provider, "key": key}


def find(provider: str, state: Path, agent: str = "main", **environ: str) -> Key:
    return find_key(provider, PLAIN, environ, agent, str(state))


@pytest.mark.parametrize(
    ("provider", "variable"),
    [("openai", "OPENAI_API_KEY"), ("gemini", "GEMINI_API_KEY"), ("gemini", "GOOGLE_API_KEY"),
     ("voyage", "VOYAGE_API_KEY"), ("mistral", "MISTRAL_API_KEY")],
)  # fmt: skip
def test_the_environment(provider: str, variable: str, state: Path) -> None:
    assert find(provider, state) == Key("", "")
    found = find(provider, state, **{variable: " the-key "})
    assert (found.value, found.source) == ("the-key", variable)
    assert find(provider, state, **{variable: " "}).value == ""
    assert "the-key" not in repr(found)


def test_the_own_variable_before_the_shared_one(state: Path) -> None:
    assert find("gemini", state, GEMINI_API_KEY="own", GOOGLE_API_KEY="shared").value == "own"


def test_a_profile(state: Path) -> None:
    path = store(state, "main", {"openai:default": profile("openai", "o"), "google:default": profile("google", "g")})
    assert find("openai", state).value == "o"
    found = find("gemini", state)
    assert (found.value, found.source) == ("g", f"the profile for google in {path}")
    assert find("voyage", state).value == ""
    assert find("openai", state, OPENAI_API_KEY="e").value == "e"


def test_whose_profile_counts(state: Path) -> None:
    store(state, "main", {"openai:default": profile("openai", "of main"), "v": profile("voyage", "of main")})
    store(state, "work", {"openai:default": profile("openai", "of work")})
    assert find("openai", state, "work").value == "of work"
    assert find("voyage", state, "work").value == "of main"
    assert find("openai", state, "stranger").value == "of main"


def test_the_order_of_profiles(state: Path) -> None:
    profiles = {
        "openai:first": profile("openai", "first"),
        "openai:default": profile("openai", "default"),
        "openai:paid": profile("openai", "paid"),
    }
    store(state, "main", profiles)
    assert find("openai", state).value == "default"
    store(state, "main", profiles, order={"openai": ["openai:gone", 3, "openai:paid"]})
    assert find("openai", state).value == "paid"


def test_only_keys_count(state: Path) -> None:
    store(
        state,
        "main",
        {
            "openai:default": {"type": "oauth", "provider": "openai", "access": "a", "refresh": "r", "expires": 1},
            "openai:token": {"type": "token", "provider": "openai", "token": "t"},
            "openai:empty": profile("openai", ""),
            "openai:odd": {"type": "api_key", "provider": "openai", "key": 5},
            "openai:reference": {"type": "api_key", "provider": "openai", "keyRef": {"source": "env", "id": "MINE"}},
            "openai:broken": None,
        },
    )
    assert find("openai", state).value == ""
    assert find("openai", state, MINE="m").value == "m"


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"profiles": 3}', "\ufeff{}", '{"profiles": {"a": 1}, "order": 1}']
)
def test_a_store_that_cannot_be_read_holds_nothing(content: str, state: Path) -> None:
    path = store(state, "main", {})
    path.write_text(content, encoding="utf-8")
    (path.parent / "openclaw-agent.sqlite").write_bytes(b"no database" * 100)
    assert find("openai", state) == Key()


def test_todays_store(state: Path) -> None:
    folder = state / "agents" / "main" / "agent"
    folder.mkdir(parents=True)
    path = folder / "openclaw-agent.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE other (x)")
        connection.commit()
    assert find("openai", state) == Key()
    kept = {"version": 1, "profiles": {"openai:default": profile("openai", "from the table")}}
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "CREATE TABLE auth_profile_store (store_key TEXT PRIMARY KEY, store_json TEXT, updated_at INT)"
        )
        connection.execute("INSERT INTO auth_profile_store VALUES ('primary', ?, 1)", (json.dumps(kept),))
        connection.commit()
        connection.execute("PRAGMA journal_mode=WAL")
    before = path.read_bytes()
    found = find("openai", state)
    assert (found.value, found.source) == ("from the table", f"the profile for openai in {path}")
    assert path.read_bytes() == before
    assert [one.name for one in folder.iterdir()] == [path.name]
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE auth_profile_store SET store_json=replace(store_json, 'the table', 'the log')")
        connection.commit()
        assert find("openai", state).value == "from the log"


def test_models_providers(state: Path) -> None:
    providers = {
        "google": {"apiKey": "g", "baseUrl": "https://generativelanguage.googleapis.com/v1beta"},
        "voyage": {"apiKey": "v"},
        "openai": {"apiKey": "for the gateway", "baseUrl": "https://gateway.example/v1"},
    }
    settings, _ = read_settings(Configuration("c", {"models": {"providers": providers}}), "main", {})
    found = find_key("gemini", settings, {}, "main", str(state))
    assert (found.value, found.source) == ("g", "models.providers.google.apiKey")
    assert find_key("voyage", settings, {}, "main", str(state)).value == "v"
    # A key goes to the end point that it is written with, and to no other.
    assert find_key("openai", settings, {}, "main", str(state)) == Key()


def test_where_the_state_is(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}
    assert state_folder(environ) == str(tmp_path / ".openclaw")
    (tmp_path / ".clawdbot").mkdir()
    assert state_folder(environ) == str(tmp_path / ".clawdbot")
    assert state_folder(environ | {"OPENCLAW_STATE_DIR": "/srv/state"}) == "/srv/state"
    assert state_folder(environ | {"OPENCLAW_STATE_DIR": "~/state"}) == str(tmp_path / "state")
    store(tmp_path / ".clawdbot", "main", {"openai:default": profile("openai", "o")})
    assert find_key("openai", PLAIN, environ, "main").value == "o"


# Secrets


@pytest.mark.parametrize(
    "written",
    ["${MINE}", "$MINE", "secretref-env:MINE", "__env__:MINE", {"source": "env", "provider": "default", "id": "MINE"},
     {"source": "env", "id": " MINE "}],
)  # fmt: skip
def test_ways_to_name_a_variable(written: object) -> None:
    nothing = Configuration("", {})
    assert resolve_secret(written, nothing, {"MINE": "m"}) == ("m", "")
    secret, problem = resolve_secret(written, nothing, {})
    assert secret == ""
    assert problem == "names the environment variable MINE, which is not set"


def test_a_secret_that_is_itself() -> None:
    nothing = Configuration("", {})
    assert resolve_secret(" sk-1 ", nothing, {}) == ("sk-1", "")
    assert resolve_secret("$money", nothing, {}) == ("$money", "")
    assert resolve_secret("GEMINI_API_KEY", nothing, {"GEMINI_API_KEY": "g"}) == ("g", "")
    assert resolve_secret(None, nothing, {}) == ("", "")


def test_a_secret_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "keys.json").write_text('{"providers": {"open/ai": {"apiKey": "from the file"}}}', encoding="utf-8")
    (tmp_path / "one").write_text("the only one\n", encoding="utf-8")
    providers = {
        "mounted": {"source": "file", "path": str(tmp_path / "keys.json"), "mode": "json"},
        "single": {"source": "file", "path": "~/one", "mode": "singleValue"},
        "gone": {"source": "file", "path": str(tmp_path / "gone")},
    }
    values = {"secrets": {"providers": providers, "defaults": {"file": "mounted"}}}
    configuration, environ = Configuration("c", values), {"HOME": str(tmp_path)}

    def resolve(provider: str | None, identity: str) -> tuple[str, str]:
        reference = {"source": "file", "id": identity} | ({"provider": provider} if provider else {})
        return resolve_secret(reference, configuration, environ)

    assert resolve("mounted", "/providers/open~1ai/apiKey") == ("from the file", "")
    assert resolve(None, "/providers/open~1ai/apiKey") == ("from the file", "")
    assert resolve("single", "value") == ("the only one", "")
    assert "is not there" in resolve("mounted", "/providers/nobody")[1]
    assert "is not there" in resolve("gone", "/x")[1]
    assert "does not have" in resolve("unknown", "/x")[1]
