"""``--json``: stdout holds one document that keeps to its schema in ``docs/schemas``; everything else is on stderr."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openclaw_memory.recall.signals import WEIGHTS
from referencing import Registry, Resource

ROOT = Path(__file__).parent.parent.parent
SCHEMAS = {path.stem: json.loads(path.read_text("utf-8")) for path in (ROOT / "docs" / "schemas").glob("*.json")}
REGISTRY: Registry[Any] = Registry().with_resources(
    (schema["$id"], Resource.from_contents(schema)) for schema in SCHEMAS.values()
)
NOW = "2025-12-06T12:00:00"
BROKEN = b"# Log\n\n## Retain\n- W @a:\n- Q: what?\n- W(c=7) @b: x\n"


def check(name: str, data: bytes) -> Any:
    """The document in ``data``, held to a schema."""
    document = json.loads(data.decode("utf-8"))
    if name == "status":
        (document,) = document
    validator = Draft202012Validator(SCHEMAS[name], registry=REGISTRY)
    problems = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(document)]
    assert not problems
    return document


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_schemas_are_schemas_and_documented(name: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[name])
    assert SCHEMAS[name]["$id"] == f"{name}.json"
    text = (ROOT / "docs" / "json.md").read_text("utf-8")
    assert f"\n## {name}\n" in text
    section = text.split(f"\n## {name}\n", 1)[1].split("\n## ", 1)[0]
    missing = [
        field for field in sorted(_fields(SCHEMAS[name])) if not re.search(rf"(?<![a-z]){field}(?![a-z])", section)
    ]
    assert missing == []


def test_every_signal_is_documented() -> None:
    section = (ROOT / "docs" / "json.md").read_text("utf-8").split("\n## recall\n", 1)[1].split("\n## ", 1)[0]
    assert [name for name in (*WEIGHTS, "repeat") if f"`{name}`" not in section] == []


def _fields(schema: Any) -> set[str]:
    """All property names of a schema, but those of a few sub-objects that are written out as ``{a, b}``."""
    if isinstance(schema, list):
        return set().union(*map(_fields, schema))
    if not isinstance(schema, dict):
        return set()
    found = set(schema.get("properties", ())) - {"first", "last", "precision", "value", "share", "rank", "from", "to"}
    found -= {"reason", "results", "disabled", "unavailable", "error", "warning", "action", "status"}
    return found.union(*(_fields(value) for value in schema.values()))


READING = [
    ("recall", ["what does Mara prefer?"]),
    ("recall", ["what does Mara prefer?", "--explain"]),
    ("recall", ["last week", "--explain", "-k", "50", "--budget", "9000"]),
    ("recall", ["", "-k", "3"]),
    ("recall", ["zzzzzz"]),
    ("recall", ["ZX-4417", "--kind", "world,note", "--since", "60d"]),
    ("recall", ["猫", "--explain"]),
    ("recall", ["who lives in Flensburg?", "--budget", "10"]),
    ("recall", ["gannet", "--no-sync", "-k", "1"]),
    ("search", ["why was Kittiwake moved?"]),
    ("search", ["--query", "ZX-4417", "--max-results", "2", "--min-score", "0.2"]),
    ("search", ["zzzzzz"]),
    ("search", ["passports", "--corpus", "sessions"]),
    ("search", ["passports", "--corpus", "all", "--no-sync"]),
    ("get", ["memory.md"]),
    ("get", ["memory/2025-11-07.md#L3-L5"]),
    ("get", ["memory/2025-11-07.md", "--from", "9999"]),
    ("get", ["memory/2025-11-07.md", "--lines", "2"]),
    ("entity", ["Mara"]),
    ("entity", ["wang fang", "-k", "2", "--budget", "60"]),
]


@pytest.mark.parametrize(("command", "arguments"), READING, ids=lambda value: str(value)[:40])
def test_reading(run, at, command: str, arguments: list[str]) -> None:
    ran = run(command, *arguments, *at, "--json")
    assert ran.code == 0
    check(command, ran.out)
    assert ran.err == b""


def test_recall_has_every_field(run, at) -> None:
    answer = check("recall", run("recall", "what does Mara prefer?", *at, "--json").out)
    assert list(answer) == (
        "query results tokens truncated omitted confident stale provider model reason fallback warning".split()
    )
    assert (answer["provider"], answer["model"], answer["fallback"]) == ("static", "openclaw-static-256", None)
    fields = "id kind timestamp occurred entities content source places origin confidence stated_confidence"
    fields += " valid_from valid_to superseded_by score"
    for result in answer["results"]:
        assert list(result) == fields.split()
        assert result["source"] == result["places"][0]
    assert answer["results"][0]["confidence"] == 0.7
    assert answer["truncated"] == (answer["omitted"] > 0)


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["memory/1999-01-01.md"], "not_found"),
        (["../secret.md"], "error"),
        (["memory.md", "--from", "0"], "error"),
        (["memory.md", "--lines", "0"], "error"),
    ],
)
def test_get_without_an_answer(run, at, arguments: list[str], status: str) -> None:
    ran = run("get", *arguments, *at, "--json")
    assert ran.code == 1
    assert check("get", ran.out)["status"] == status


def test_facts_and_lint(run, at, tmp_path: Path, workspace: Path) -> None:
    (tmp_path / "broken.md").write_bytes(BROKEN)
    ran = run("facts", "broken.md", "--as", "memory/2025-12-01.md", "--json")
    answer = check("facts", ran.out)
    assert (ran.code, ran.err) == (0, b"")
    assert answer["day"] == "2025-12-01"
    assert [d["code"] for d in answer["diagnostics"]] == ["empty-fact", "untyped-bullet", "bad-confidence"]
    assert check("facts", run("facts", "-", "--as", "bank/world.md", "--json", stdin=b"- W @a: b\n").out)["facts"]

    ran = run("lint", *at[:2], "--json")
    assert (ran.code, check("lint", ran.out), ran.err) == (0, [], b"")
    (workspace / "memory" / "2025-12-02.md").write_bytes(BROKEN)
    ran = run("lint", "--workspace", str(workspace), "--json")
    assert ran.code == 1
    assert {entry["path"] for entry in check("lint", ran.out)} == {"memory/2025-12-02.md"}


def test_entities(run, at, workspace: Path) -> None:
    answer = check("entities", run("entities", *at[:2], "--json").out)
    assert answer["entities"][0]["name"] == "gannet"
    for name in ("Ann", "Anna"):
        page = f"---\naliases: [Annie]\n---\n# {name}\n\n- W @{name}: Sings.\n"
        (workspace / "bank" / "entities" / f"{name}.md").write_text(page, encoding="utf-8")
    answer = check("entities", run("entities", "--workspace", str(workspace), "--json").out)
    assert answer["ambiguous"] == [{"name": "Annie", "pages": ["ann", "anna"]}]


def test_retain(run, workspace: Path) -> None:
    named = ("--workspace", str(workspace), "--now", NOW, "--json")
    ran = run("retain", "W @Peter: Has a dog.", "- B: Went home.", *named)
    answer = check("retain", ran.out)
    assert (ran.code, ran.err) == (0, b"")
    assert [entry["source"] for entry in answer["retained"]] == ["memory/2025-12-06.md#L5", "memory/2025-12-06.md#L6"]
    said = check("recall", run("recall", "who has a dog?", *named).out)["results"][0]
    assert (said["id"], said["source"]) == (answer["retained"][0]["id"], answer["retained"][0]["source"])
    ran = run("retain", "-", *named, stdin="W @王芳: 喜欢茶。\nO(c=0.5) @Peter: Is shy.\n".encode())
    assert [entry["bullet"] for entry in check("retain", ran.out)["retained"]] == [
        "- W @王芳: 喜欢茶。",
        "- O(c=0.5) @Peter: Is shy.",
    ]


def test_upkeep(run, tmp_path: Path) -> None:
    """init, index, status, reset, doctor, from nothing to an index and back."""
    folder = tmp_path / "new"
    named = ("--workspace", str(folder), "--json")
    created = check("init", run("init", str(folder), "--json").out)
    assert created["kept"] == []
    assert check("init", run("init", str(folder), "--json").out) == {
        "workspace": str(folder),
        "created": [],
        "kept": created["created"],
    }
    before = check("status", run("status", *named).out)
    assert before["index"] == {
        "path": str(folder / ".memory" / "index.sqlite"),
        "exists": False,
        "usable": False,
        "stale": True,
    }
    (folder / "memory" / "2025-12-01.md").write_text("- one\n", encoding="utf-8")
    assert check("index", run("index", *named).out)["added"] == [
        "bank/experience.md",
        "bank/opinions.md",
        "bank/world.md",
        "memory.md",
        "memory/2025-12-01.md",
    ]
    (folder / "memory" / "2025-12-01.md").rename(folder / "memory" / "2025-12-01-late.md")
    (folder / "memory" / "2025-12-03.md").write_text("- two\n", encoding="utf-8")
    assert check("status", run("status", *named).out)["index"]["pending"] == 3
    done = check("index", run("index", *named).out)
    assert done["renamed"] == [{"from": "memory/2025-12-01.md", "to": "memory/2025-12-01-late.md"}]
    assert done["added"] == ["memory/2025-12-03.md"]
    status = check("status", run("status", "--deep", *named).out)["index"]
    assert (status["stale"], status["pending"], status["integrity"]) == (False, 0, "ok")
    assert check("doctor", run("doctor", *named).out)["checks"]
    assert check("reset", run("reset", "--yes", *named).out)["removed"] == [".memory/index.sqlite"]
    assert check("reset", run("reset", "--yes", *named).out)["removed"] == []


def configure(tmp_path: Path, environment: dict[str, str], search: dict[str, Any]) -> None:
    path = tmp_path / "openclaw.json"
    path.write_text(json.dumps({"memory": {"search": search}}), encoding="utf-8")
    environment["OPENCLAW_CONFIG_PATH"] = str(path)


def test_the_built_in_model_is_told(run, workspace: Path) -> None:
    named = ("--workspace", str(workspace), "--json")
    built_in = {"provider": "static", "model": "openclaw-static-256", "reason": "no other model is configured"}
    built_in |= {"fallbackFrom": None, "warnings": []}
    done = check("index", run("index", *named).out)
    assert done["embeddings"] == built_in
    told = check("status", run("status", *named).out)
    assert (told["provider"], told["embeddings"]) == ("static", built_in)
    assert (told["index"]["vectors"], told["index"]["modelVectors"]) == (done["passages"], 0)
    assert bool(told["sqlite"]["vec"]) != bool(told["sqlite"]["noVec"])
    answer = check("recall", run("recall", "Where does Peter live?", *named).out)
    assert (answer["provider"], answer["model"], answer["fallback"]) == ("static", "openclaw-static-256", None)
    assert answer["warning"] is None
    found = check("search", run("search", "Where does Peter live?", *named).out)
    assert (found["provider"], found["mode"], "fallback" in found) == ("static", "hybrid", False)
    assert found["debug"] == {"providerReason": "no other model is configured", "merge": "rank fusion"}
    assert any(result.get("vectorScore", 0) > 0 for result in found["results"])


@pytest.mark.parametrize("fallback", ["", "none"])
def test_a_provider_that_cannot_be_had_is_told(
    run, environment: dict[str, str], workspace: Path, tmp_path: Path, fallback: str
) -> None:
    """No key: the built-in model answers, or words alone do; both say so."""
    configure(tmp_path, environment, {"provider": "openai", **({"fallback": fallback} if fallback else {})})
    named = ("--workspace", str(workspace), "--json")
    provider, model = ("none", None) if fallback else ("static", "openclaw-static-256")
    ran = run("index", *named)
    done = check("index", ran.out)["embeddings"]
    assert ran.code == 0
    assert (done["provider"], done["model"], done["fallbackFrom"]) == (provider, model, "openai")
    assert "no key was found" in done["warnings"][0]
    told = check("status", run("status", *named).out)
    assert (told["provider"], told["embeddings"]["fallbackFrom"]) == (provider, "openai")
    answer = check("recall", run("recall", "Where does Peter live?", *named).out)
    assert (answer["provider"], answer["model"], answer["fallback"]) == (provider, model, "openai")
    assert "no key was found" in answer["warning"]
    assert answer["results"]
    found = check("search", run("search", "Where does Peter live?", *named).out)
    assert (found["mode"], found["fallback"]["from"]) == ("keyword" if fallback else "hybrid", "openai")
    assert found["fallback"]["reason"] == found["debug"]["providerReason"] == answer["reason"]
    assert "no key was found" in found["warning"]
    assert found["results"]


def test_a_provider_that_does_not_answer_is_told(
    run, environment: dict[str, str], workspace: Path, tmp_path: Path
) -> None:
    """Nobody listens there: passages wait, which is partly done, and questions are answered meanwhile."""
    remote = {"baseUrl": "http://127.0.0.1:9/v1"}
    configure(tmp_path, environment, {"provider": "openai-compatible", "model": "some-model", "remote": remote})
    named = ("--workspace", str(workspace), "--json")
    ran = run("index", *named)
    done = check("index", ran.out)
    assert ran.code == 3
    assert (done["embeddings"]["embedded"], done["embeddings"]["cached"]) == (0, 0)
    assert done["embeddings"]["pending"] == done["passages"]
    assert done["embeddings"]["warnings"]
    told = check("status", run("status", *named).out)
    assert told["provider"] == told["embeddings"]["provider"] == done["embeddings"]["provider"]
    assert told["embeddings"]["pending"] == done["passages"]
    assert (told["index"]["vectors"], told["index"]["modelVectors"]) == (done["passages"], 0)
    answer = check("recall", run("recall", "Where does Peter live?", *named).out)
    assert (answer["provider"], answer["fallback"]) == ("static", told["provider"])
    assert answer["warning"]
    assert answer["results"]
    found = check("search", run("search", "Where does Peter live?", *named).out)
    assert (found["mode"], found["fallback"]["from"]) == ("hybrid", told["provider"])
    assert found["results"]


def test_reset_forgets_a_providers_vectors_only_when_told_to(
    run, environment: dict[str, str], workspace: Path, tmp_path: Path
) -> None:
    named = ("--workspace", str(workspace), "--json")
    assert run("index", *named).code == 0
    cache = workspace / ".memory" / "embeddings.sqlite"
    cache.write_bytes(b"")
    assert check("reset", run("reset", "--yes", *named).out)["removed"] == [".memory/index.sqlite"]
    assert cache.exists()
    removed = check("reset", run("reset", "--yes", "--embeddings", *named).out)["removed"]
    assert removed == [".memory/embeddings.sqlite"]
    assert not cache.exists()


def test_vector_search_that_is_switched_off_is_told(
    run, environment: dict[str, str], workspace: Path, tmp_path: Path
) -> None:
    configure(tmp_path, environment, {"store": {"vector": {"enabled": False}}})
    told = check("status", run("status", "--workspace", str(workspace), "--json").out)
    assert (told["sqlite"]["vec"], told["sqlite"]["noVec"]) == (None, "memory.search.store.vector.enabled is false")
    checks = {
        c["name"]: c for c in check("doctor", run("doctor", "--workspace", str(workspace), "--json").out)["checks"]
    }
    assert checks["vectors"]["status"] == "ok"


@pytest.mark.parametrize("there", [False, True])
def test_an_extension_that_cannot_be_loaded(
    run, environment: dict[str, str], workspace: Path, tmp_path: Path, there: bool
) -> None:
    path = tmp_path / "vec0.so"
    if there:
        path.write_text("no library", encoding="utf-8")
    configure(tmp_path, environment, {"store": {"vector": {"extensionPath": str(path)}}})
    told = check("status", run("status", "--workspace", str(workspace), "--json").out)["sqlite"]
    assert told["noVec"].startswith(f"memory.search.store.vector.extensionPath: {path}: ")
    assert ("No such file" in told["noVec"], ".so.so" in told["noVec"]) == (not there, False)


def test_settings_at_fault_are_told_as_such(run, environment: dict[str, str], workspace: Path, tmp_path: Path) -> None:
    """They were told as a fault of the workspace."""
    named = ("--workspace", str(workspace), "--json")
    configure(tmp_path, environment, {"provider": 3})
    ran = run("doctor", *named)
    checks = {c["name"]: c for c in check("doctor", ran.out)["checks"]}
    assert (ran.code, checks["configuration"]["status"], checks["workspace"]["status"]) == (1, "fail", "ok")
    assert "memory.search.provider: expected a string" in checks["configuration"]["message"]
    configure(tmp_path, environment, {"provder": "static"})
    ran = run("doctor", *named)
    checks = {c["name"]: c for c in check("doctor", ran.out)["checks"]}
    assert (ran.code, checks["configuration"]["status"], "embeddings" in checks) == (0, "warn", True)
    assert "did you mean memory.search.provider?" in checks["configuration"]["message"]


def test_unusable_index(run, workspace: Path) -> None:
    named = ("--workspace", str(workspace), "--json")
    (workspace / ".memory").mkdir()
    (workspace / ".memory" / "index.sqlite").write_bytes(b"no database at all, but long enough to be looked at" * 50)
    status = check("status", run("status", *named).out)["index"]
    assert (status["exists"], status["usable"]) == (True, False)
    assert "damaged" in status["problem"]
    checks = {c["name"]: c for c in check("doctor", run("doctor", *named).out)["checks"]}
    assert checks["index"]["status"] == "warn"
    answer = check("recall", run("recall", "Lisbon", *named).out)
    assert "set aside" in answer["warning"]
    assert answer["results"]
    (workspace / ".memory" / "index.sqlite").write_bytes(b"broken again" * 500)
    assert "set aside" in check("index", run("index", *named).out)["note"]


def test_doctor_without_a_workspace(run) -> None:
    ran = run("doctor", "--json")
    assert ran.code == 1
    assert check("doctor", ran.out)["checks"][-1]["status"] == "fail"


def test_markers(run, workspace: Path) -> None:
    (workspace / "memory" / "2025-12-02.md").write_text(
        "- The vault code changed. <!-- importance: 8 --> <!-- trigger: vault -->\n"
        "- Vault door oiled. <!-- project: house -->\n",
        encoding="utf-8",
    )
    answer = check("search", run("search", "vault", "--workspace", str(workspace), "--json").out)
    hit = answer["results"][0]
    assert (hit["importance"], hit["triggers"], hit["projectKey"]) == (8, ["vault"], "house")


@pytest.mark.skipif(os.name == "nt", reason="a byte that is no text cannot be an argument there")
def test_bytes_that_are_no_text(run, at) -> None:
    ran = run("recall", b"caf\xe9 gannet", *at, "--json")
    answer = json.loads(ran.out.decode("utf-8"))
    assert (ran.code, answer["query"]) == (0, "caf\udce9 gannet")
    check("get", run("get", b"\xff.md", *at, "--json").out)


def test_reflect_opinions_and_why(run, workspace: Path) -> None:
    (workspace / "memory" / "2025-12-03.md").write_text(
        "## Retain\n- W @Peter: Moved to Porto. (replaces memory/2025-12-01.md#L6)\n"
        "- W @Peter: Sent the coffee back. (supports memory/2025-12-01.md#L7)\n",
        encoding="utf-8",
    )
    at = ("--workspace", str(workspace), "--now", "2025-12-06T04:00:00", "--judge", "none", "--json")
    assert check("reflect", run("reflect", *at, "--dry-run").out)["diff"]
    assert check("reflect", run("reflect", *at).out)["pages"]
    opinions = check("opinions", run("opinions", *at).out)
    assert check("why", run("why", opinions[0]["id"], *at).out)["witnesses"]
    found = check("recall", run("recall", "Lisbon", *at[:4], "--json").out)["results"]
    closed = next(one for one in found if one["valid_to"])
    assert check("why", run("why", closed["id"], *at).out)["state"] == "superseded"
