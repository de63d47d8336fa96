"""The core memory on the command line: real processes, and real git."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

SCHEMA = Draft202012Validator(
    json.loads((Path(__file__).parent.parent.parent / "docs" / "schemas" / "core.json").read_text("utf-8"))
)


def check(data: bytes) -> Any:
    answer = json.loads(data.decode("utf-8"))
    assert [f"{one.json_path}: {one.message}" for one in SCHEMA.iter_errors(answer)] == []
    return answer


@pytest.fixture
def core(run, workspace: Path):
    """``core("append", …)`` runs ``core append …`` for the small workspace."""

    def call(*arguments: str, stdin: bytes = b""):
        return run("core", *arguments, "--workspace", str(workspace), stdin=stdin)

    return call


def test_what_is_appended_is_shown(core, workspace: Path) -> None:
    ran = core("append", "Harbour", "- The key hangs inside.")
    assert (ran.code, ran.text) == (0, "MEMORY.md#L5\n")
    assert "MEMORY.md: 74/4,000 characters, hash " in ran.told
    shown = core("show")
    assert shown.out == (workspace / "MEMORY.md").read_bytes()
    assert shown.text == "# Memory\n\n## Harbour\n- The boat lies at berth 14.\n- The key hangs inside.\n"
    assert core("show", "--section", "harbour", "-n").text == (
        "3  ## Harbour\n4  - The boat lies at berth 14.\n5  - The key hangs inside.\n"
    )
    again = core("append", "Harbour", "- The key hangs inside.", "--json")
    assert check(again.out)["changed"] is False
    assert core("append", "Harbour", "-", stdin="Über\nuns\n".encode()).code == 0
    assert core("show").text.endswith("\n\nÜber\nuns\n")


def test_every_write_answers_in_json(core) -> None:
    first = check(core("append", "People", "Mara sails.", "--json").out)
    assert (first["ok"], first["section"], first["citation"]) == (True, "People", "MEMORY.md#L8")
    second = check(core("replace", "sails", "rows", "--expect-hash", first["hash"], "--json").out)
    assert second["usage"]["text"] == f"{second['usage']['characters']}/4,000"
    third = check(core("insert", "- Peter too.", "--after", "Mara rows.", "--section", "People", "--json").out)
    assert third["lines"] == {"from": 9, "to": 9}
    assert check(core("insert", "- top", "--line", "2", "--json").out)["citation"] == "MEMORY.md#L3"
    fourth = core("rethink", "People", "--json", stdin=b"- Nobody.\n")
    assert check(fourth.out)["section"] == "People"
    shown = check(core("show", "--json").out)
    assert shown["hash"] == check(fourth.out)["hash"]
    assert shown["text"].endswith("## People\n\n- Nobody.\n")
    assert [one["trail"] for one in shown["sections"]] == ["Memory", "Memory > Harbour", "Memory > People"]
    assert check(core("show", "--json", "--section", "People").out)["text"] == "## People\n\n- Nobody.\n"


@pytest.mark.parametrize(
    ("code", "why", "arguments"),
    [
        (1, "no-match", ["replace", "berth 15", "x"]),
        (1, "several-matches", ["replace", "r", "x"]),
        (1, "no-section", ["append", "Harbor", "x"]),
        (1, "changed", ["append", "Harbour", "x", "--expect-hash", "0123456789abcdef"]),
        (1, "over-budget", ["append", "Harbour", "x" * 4000]),
        (1, "secret", ["append", "Harbour", "ghp_" + "a1B2" * 10]),
        (2, "", ["insert", "x"]),
        (2, "", ["append", "Harbour", "x", "--reason", "why"]),
        (2, "", ["append", "Harbour", " "]),
        (2, "", ["replace", "", "x"]),
    ],
)
def test_refusals(core, workspace: Path, code: int, why: str, arguments: list[str]) -> None:
    before = (workspace / "MEMORY.md").read_bytes()
    ran = core(*arguments)
    assert (ran.code, ran.out) == (code, b"")
    assert ran.told.count("\n") == 1
    assert ran.told.startswith("openclaw memory: ")
    told = core(*arguments, "--json")
    assert told.code == code
    if why:
        assert check(told.out)["why"] == why
        assert check(told.out)["error"] == ran.told.strip().removeprefix("openclaw memory: ")
    assert (workspace / "MEMORY.md").read_bytes() == before


def test_a_missing_core_is_empty_and_then_made(core, workspace: Path) -> None:
    (workspace / "MEMORY.md").unlink()
    ran = core("show")
    assert (ran.code, ran.out) == (0, b"")
    assert "MEMORY.md: 0/4,000" in ran.told
    empty = check(core("show", "--json").out)
    assert core("append", "People", "Mara sails.", "--expect-hash", empty["hash"]).code == 0
    assert (workspace / "MEMORY.md").read_text("utf-8") == "# Memory\n\n## People\n\n- Mara sails.\n"


def test_sections_tell_what_they_are_for(core, workspace: Path) -> None:
    (workspace / "MEMORY.md").write_text("# M\n\n## Rules\n<!-- description: Of the house | read_only -->\n- Hush.\n")
    assert "MEMORY.md:3: Rules: Of the house; read-only" in core("show").told
    assert check(core("append", "Rules", "x", "--json").out)["section"] == "Rules"


def test_lint_tells_of_a_core_that_grew_by_hand(run, workspace: Path) -> None:
    named = ("--workspace", str(workspace))
    assert run("lint", *named).code == 0
    (workspace / "MEMORY.md").write_text("---\nbudget: 50\n---\n# Memory\n\n- " + "long " * 10 + "\n", "utf-8")
    ran = run("lint", *named)
    assert (ran.code, ran.text.count("\n")) == (1, 1)
    assert "MEMORY.md:1: core-over-budget: the core memory has 82/50 characters" in ran.text


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_commit_holds_the_core_alone(core, workspace: Path, environment: dict[str, str]) -> None:
    def git(*words: str) -> str:
        kept = environment | {"GIT_CONFIG_GLOBAL": "/dev/null", "PATH": "/usr/bin:/bin:/usr/local/bin"}
        done = subprocess.run(["git", *words], cwd=workspace, env=kept, capture_output=True, check=True)
        return done.stdout.decode()

    git("init", "-q")
    git("config", "user.name", "Ada")
    git("config", "user.email", "ada@example.org")
    git("add", "MEMORY.md")
    git("commit", "-qm", "start")
    ran = core("append", "People", "Mara sails.", "--commit", "--reason", "Mara told us", "--json")
    made = check(ran.out)["commit"]
    assert git("log", "-1", "--format=%H %s").split(" ", 1) == [made["id"], "Mara told us\n"]
    assert git("show", "--name-only", "--format=", "HEAD").split() == ["MEMORY.md"]
    assert "committed " in core("replace", "sails", "rows", "--commit").told
    assert git("log", "-1", "--format=%s") == "Core memory: change People\n"
    core("append", "People", "not committed")
    left = check(core("append", "People", "Peter too", "--commit", "--json").out)["commit"]
    assert left == {"id": None, "reason": "it had changes that were not committed"}
    assert core("append", "People", "Peter too", "--commit").told.count("not committed: nothing changed") == 1


def test_what_is_shown_is_what_is_in_the_file(core, workspace: Path) -> None:
    data = "# A\r\n\r\n- one\u2028two\x0bthree\r\n\r\n## B\r\n- b\r\n".encode()
    (workspace / "MEMORY.md").write_bytes(data)
    assert core("show").out == data
    assert core("show", "--section", "B").out == b"## B\r\n- b\r\n"
    assert check(core("show", "--section", "B", "--json").out)["text"] == "## B\r\n- b\r\n"
    assert core("show", "-n", "--section", "B").text == "5  ## B\n6  - b\n"
