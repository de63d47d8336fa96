"""import on the command line: real processes over sample workspaces and the homes of all releases."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from typer.main import get_command

from openclaw_memory.commands.application import application

ROOT = Path(__file__).parent.parent
SAMPLES = ROOT / "cases" / "workspaces"
SCHEMA = Draft202012Validator(json.loads((ROOT.parent / "docs" / "schemas" / "import.json").read_text("utf-8")))
OLDER = """
{
  // As somebody had it in 2025.
  agents: {
    defaults: {
      workspace: "~/.clawdbot/workspace",
      memorySearch: {
        provider: "openai",
        fallback: "none",
        remote: { apiKey: "sk-not-to-be-shown-0123456789", headers: { "X-Team": "bakery" } },
        query: { hybrid: { vectorWeight: 0.7, textWeigth: 0.3 } },
        extraPaths: ["../recipes"],
      },
      compaction: { reserveTokensFloor: 20000, memoryFlush: { prompt: "Write to memory/YYYY-MM-DD.md or NO_REPLY" } },
    },
    list: [{ id: "main", memorySearch: { provider: "gemini" } }],
  },
  memory: { qmd: { limits: { maxResults: 4 } } },
  channels: { telegram: { enabled: true } },
}
"""


def check(data: bytes) -> Any:
    answer = json.loads(data.decode("utf-8"))
    assert [f"{one.json_path}: {one.message}" for one in SCHEMA.iter_errors(answer)] == []
    return answer


def stamps(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in sorted(folder.rglob("*"))
    }


@pytest.fixture
def sample(tmp_path: Path):
    def copied(name: str, place: str = "w") -> Path:
        target = tmp_path / place
        shutil.copytree(SAMPLES / name, target)
        return target

    return copied


@pytest.mark.parametrize("name", ["2025", "2026", "messy"])
def test_it_agrees_with_the_index_and_changes_nothing(run, sample, name: str) -> None:
    root = sample(name)
    before = stamps(root)
    told = check(run("import", str(root), "--json").out)
    assert stamps(root) == before
    indexed = json.loads(run("index", "--workspace", str(root), "--json").out)
    assert (told["files"], told["notes"] + told["facts"]["total"]) == (indexed["files"], indexed["passages"])
    assert sum(one["files"] for one in told["roles"]) == told["files"]


def test_a_workspace_of_2025(run, sample) -> None:
    root = sample("2025")
    told = check(run("import", str(root), "--json").out)
    assert (told["workspace"], told["workspaceSource"]) == (str(root), "the path that was given")
    assert told["days"] == {"from": "2025-10-28", "to": "2025-11-03", "count": 3, "undated": 1}
    assert told["facts"] == {"total": 2, "world": 1, "experience": 0, "opinion": 1, "observation": 0}
    assert told["languages"] == [{"language": "en", "files": 5}]
    assert [one["code"] for one in told["ignored"]] == ["instructions", "instructions"]
    assert told["configuration"] == {"path": None, "problem": None, "keys": [], "warnings": []}
    ran = run("import", str(root))
    assert ran.code == 0
    assert ran.told == "nothing was changed\n"
    assert "7 files (909 bytes), 15 notes, 2 typed facts, 1 entities, 2025-10-28 to 2025-11-03\n" in ran.text
    assert "3 of 4 logs have no typed facts; add bullets under ## Retain" in ran.text


def test_a_workspace_of_2026(run, sample) -> None:
    root = sample("2026")
    told = check(run("import", str(root), "--json", "--config", str(root / "openclaw.json")).out)
    assert {one["kind"]: one["count"] for one in told["marks"]} == {
        "dreaming:light": 1, "dreaming:rem": 1, "importance": 1, "promotion": 2, "trigger": 1,
    }  # fmt: skip
    assert {one["path"]: one["code"] for one in told["ignored"]} == {
        "AGENTS.md": "instructions",
        "DREAMS.md": "diary",
        "memory/.dreams/": "hidden",
    }
    assert {one["key"]: one["status"] for one in told["configuration"]["keys"]} == {
        "memory.citations": "understood",
        "memory.search.query.maxResults": "understood",
        "agents.defaults.compaction.memoryFlush.softThresholdTokens": "understood",
    }


def test_a_messy_one(run, sample) -> None:
    told = check(run("import", str(sample("messy")), "--json").out)
    assert {one["language"] for one in told["languages"]} == {"de", "en", "fr"}
    where = {one["code"]: one["places"] for one in told["issues"]}
    assert where["unclosed-fence"] == ["memory/2026_01_05.md:7"]
    assert where["not-utf-8"] == ["memory/2026-01-08.md:3"]
    steps = " ".join(one["what"] for one in told["steps"])
    assert 'memory.search.extraPaths: ["TODO.md", "notes"]' in steps
    assert "Close what hides the rest of 2 files." in steps


def test_every_command_that_it_names_exists_and_the_first_answers(run, sample) -> None:
    known = set(get_command(application()).commands)  # type: ignore[attr-defined]
    named = set()
    for name in ("2025", "2026", "messy"):
        root = sample(name, name)
        steps = check(run("import", str(root), "--json").out)["steps"]
        for one in steps:
            words = shlex.split(one["command"] or "")
            if words[:2] == ["openclaw", "memory"]:
                named.add(words[2])
                assert words[-2:] == ["--workspace", str(root)]
                assert run(*words[2:-2], "--help").code == 0
        first = run(*shlex.split(steps[0]["command"])[2:])
        assert (first.code, bool(first.out)) == (0, True)
    assert named <= known
    assert {"recall", "lint", "retain", "reflect", "schedule"} <= named


def test_a_core_over_its_budget_and_a_missing_one(run, sample) -> None:
    root = sample("2025")
    (root / "MEMORY.md").write_text("# M\n\n" + "- a long line of words\n" * 400, encoding="utf-8")
    told = check(run("import", str(root), "--json").out)
    assert "core-over-budget" in {one["code"] for one in told["issues"]}
    assert f"openclaw memory core show --workspace {root}" in {one["command"] for one in told["steps"]}
    (root / "MEMORY.md").unlink()
    told = check(run("import", str(root), "--json").out)
    assert f"openclaw memory promote --workspace {root}" in {one["command"] for one in told["steps"]}


@pytest.fixture
def older_home(tmp_path: Path) -> Path:
    """The folder of a release of 2025, in the home that the processes of a test have."""
    folder = tmp_path / "home" / ".clawdbot"
    folder.mkdir(parents=True)
    shutil.copytree(SAMPLES / "2025", folder / "workspace")
    (folder / "clawdbot.json").write_text(OLDER, encoding="utf-8")
    (tmp_path / "home" / ".clawdbot" / "recipes").mkdir()
    (tmp_path / "home" / ".clawdbot" / "recipes" / "rye.md").write_text("# Rye\n", encoding="utf-8")
    return folder


def test_the_home_of_an_older_release_is_found(run, older_home: Path) -> None:
    before = stamps(older_home)
    ran = run("import", "--json")
    told = check(ran.out)
    assert told["workspace"] == str(older_home / "workspace")
    assert "agents.defaults.workspace in " in told["workspaceSource"]
    assert told["homes"] == [
        {
            "path": str(older_home),
            "configuration": str(older_home / "clawdbot.json"),
            "workspace": str(older_home / "workspace"),
            "used": True,
        }
    ]
    assert [one["examples"] for one in told["roles"] if one["role"] == "extra"] == [
        [str(older_home / "recipes/rye.md")]
    ]
    assert told["steps"][0]["command"] == "openclaw memory recall 'what is known of Rosa?'"
    assert run(*shlex.split(told["steps"][0]["command"])[2:]).out
    assert b"sk-not-to-be-shown" not in ran.out + run("import").out
    shutil.rmtree(older_home / "workspace" / ".memory")
    assert {path: one[1] for path, one in stamps(older_home).items()} == {path: one[1] for path, one in before.items()}


def test_keys_of_both_eras(run, older_home: Path) -> None:
    keys = {one["key"]: one for one in check(run("import", "--json").out)["configuration"]["keys"]}
    assert {key: one["status"] for key, one in keys.items()} == {
        "memory.qmd.limits.maxResults": "understood",
        "agents.defaults.memorySearch.provider": "overridden",
        "agents.defaults.memorySearch.fallback": "renamed",
        "agents.defaults.memorySearch.remote.apiKey": "renamed",
        "agents.defaults.memorySearch.remote.headers.X-Team": "renamed",
        "agents.defaults.memorySearch.query.hybrid.vectorWeight": "renamed",
        "agents.defaults.memorySearch.query.hybrid.textWeigth": "ignored",
        "agents.defaults.memorySearch.extraPaths": "renamed",
        "agents.defaults.compaction.reserveTokensFloor": "understood",
        "agents.defaults.compaction.memoryFlush.prompt": "understood",
        "agents.defaults.workspace": "understood",
        "agents.list[0].memorySearch.provider": "renamed",
    }
    assert keys["agents.defaults.memorySearch.fallback"]["today"] == "memory.search.fallback"
    assert keys["agents.list[0].memorySearch.provider"]["today"] == "agents.entries.main.memory.search.provider"
    assert "textWeight?" in keys["agents.defaults.memorySearch.query.hybrid.textWeigth"]["note"]
    assert "no such key" in keys["agents.defaults.compaction.memoryFlush.prompt"]["note"]
    ran = run("import")
    assert re.search(
        r"^renamed +agents\.defaults\.memorySearch\.fallback +today memory\.search\.fallback$", ran.text, re.M
    )


def test_a_home_that_was_copied_from_elsewhere(run, older_home: Path, tmp_path: Path) -> None:
    moved = tmp_path / "backup"
    older_home.rename(moved)
    told = check(run("import", str(moved), "--json").out)
    assert (told["workspace"], told["workspaceSource"]) == (str(moved / "workspace"), f"the workspace in {moved}")
    assert told["configuration"]["path"] == str(moved / "clawdbot.json")
    assert told["steps"][0]["command"].endswith(f" --workspace {moved / 'workspace'}")


def test_two_homes(run, older_home: Path) -> None:
    (older_home.parent / ".openclaw" / "workspace" / "memory").mkdir(parents=True)
    (older_home.parent / ".openclaw" / "openclaw.json").write_text("{}", encoding="utf-8")
    told = check(run("import", "--json").out)
    assert [(Path(one["path"]).name, one["used"]) for one in told["homes"]] == [
        (".openclaw", True),
        (".clawdbot", False),
    ]
    assert f"{older_home}: there, and not used\n" in run("import").text


def test_a_broken_configuration_is_told_where_a_path_was_given(run, sample, older_home: Path) -> None:
    (older_home / "clawdbot.json").write_text("{\n nonsense", encoding="utf-8")
    root = sample("2025")
    told = check(run("import", str(root), "--json").out)
    assert (told["files"], told["configuration"]["path"]) == (7, None)
    assert f"{older_home / 'clawdbot.json'}:2" in told["configuration"]["problem"]
    (older_home / "clawdbot.json").write_text("{agents: {defaults: {memorySearch: {provider: 3}}}}", encoding="utf-8")
    told = check(run("import", str(root), "--json").out)
    assert "memorySearch.provider: expected a string" in told["configuration"]["problem"]
    assert told["steps"][0]["what"] == "Correct the configuration: no other command runs before."
    assert run(*shlex.split(told["steps"][1]["command"])[2:]).code == 1
    (older_home / "clawdbot.json").write_text("{", encoding="utf-8")
    ran = run("import")
    assert (ran.code, ran.out, ran.told.count("\n")) == (1, b"", 1)


def test_an_extra_path_that_is_not_there_is_no_matter_of_permissions(run, sample, older_home: Path) -> None:
    (older_home / "clawdbot.json").write_text("{memory: {search: {extraPaths: ['../gone']}}}", encoding="utf-8")
    root = sample("2025")
    ran = run("import", str(root), "--json")
    gone = [one for one in check(ran.out)["ignored"] if one["code"] == "missing"]
    assert (ran.code, [Path(one["path"]).name for one in gone]) == (3, ["gone"])
    told = run("doctor", "--workspace", str(root))
    assert told.code == 1
    assert f"{root.parent / 'gone'}: is not there; correct memory.search.extraPaths" in told.text


def test_faults_are_one_line(run, tmp_path: Path) -> None:
    missing = run("import", str(tmp_path / "nowhere"))
    assert (missing.code, missing.out, missing.told.count("\n")) == (1, b"", 1)
    both = run("import", "a", "--workspace", "b")
    assert (both.code, both.told.count("\n")) == (2, 1)
    (tmp_path / "empty").mkdir()
    told = check(run("import", str(tmp_path / "empty"), "--json").out)
    assert (told["files"], told["roles"], told["days"]["from"]) == (0, [], None)
    assert run("import", str(tmp_path / "empty")).code == 0
