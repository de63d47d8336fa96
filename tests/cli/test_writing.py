"""init, retain and facts: what they write, and that nothing that was there is lost."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

CASES = Path(__file__).parent.parent / "cases" / "parser"
NOW = "2025-12-06T12:00:00"


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_init(run, tmp_path: Path) -> None:
    ran = run("init", "new")
    made = tree(tmp_path / "new")
    assert ran.code == 0
    assert ran.text.splitlines() == [f"created {name}" for name in sorted(made, key=lambda n: ran.text.index(n))]
    assert {"memory.md", "bank/world.md", "bank/opinions.md", "bank/experience.md", ".gitignore"} <= set(made)
    assert ".memory" in made[".gitignore"].decode()
    assert "AGENTS-snippet.md" not in made
    assert run("lint", "--workspace", "new").code == 0


def test_init_never_overwrites(run, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    (folder / "bank").mkdir(parents=True)
    mine = {"MEMORY.md": b"mine\n", "bank/world.md": b"- W @me: mine\r\n", ".gitignore": b"*.tmp\n", "notes.txt": b"\0"}
    for name, data in mine.items():
        (folder / name).write_bytes(data)
    for _ in range(2):
        ran = run("init", "mine")
        assert ran.code == 0
        found = tree(folder)
        assert {name: found[name] for name in mine} == mine
        assert "memory.md" not in found
        assert "kept bank/world.md as it is" in ran.told
    before = tree(folder)
    ran = run("init", "mine", "--demo")
    assert (ran.code, "holds notes already" in ran.told) == (1, True)
    assert tree(folder) == before


def test_init_in_the_default_place(run, environment) -> None:
    assert run("init").code == 0
    home = Path(environment["HOME"])
    assert (home / ".openclaw" / "workspace" / "memory.md").is_file()
    assert run("retain", "W @Peter: Lives in Lisbon.", "--now", NOW).code == 0
    assert "Lives in Lisbon." in run("recall", "where does Peter live?", "--now", NOW).text


def test_init_demo(run, tmp_path: Path) -> None:
    assert run("init", "--demo", "try").code == 0
    assert (tmp_path / "try" / ".gitignore").is_file()
    ran = run("recall", "what does Mara prefer?", "--workspace", "try", "--now", NOW)
    assert "Prefers releases on Tuesday mornings" in ran.text
    assert run("lint", "--workspace", "try").code == 0


def test_reading_commands_change_no_markdown(run, own_demo: Path) -> None:
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in own_demo.rglob("*.md")}
    named = ("--workspace", str(own_demo))
    for words in (["recall", "Mara"], ["search", "Mara"], ["get", "memory.md"], ["entity", "Mara"], ["entities"]):
        assert run(*words, *named).code == 0
    for words in (["status"], ["doctor"], ["lint"], ["index", "--force"], ["reset", "--yes"]):
        assert run(*words, *named).code == 0
    assert {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in own_demo.rglob("*.md")} == before


def test_retain_all_or_nothing(run, workspace: Path) -> None:
    before = tree(workspace)
    ran = run("retain", "W @Peter: Fine.", "no type here", "--workspace", str(workspace), "--now", NOW)
    assert (ran.code, ran.out) == (2, b"")
    assert tree(workspace) == before


def test_retain_forms(run, workspace: Path) -> None:
    named = ("--workspace", str(workspace), "--now", NOW)
    ran = run("retain", "Likes rain.", "--kind", "O", "-e", "Peter", "-e", "Ana Maria", "-c", "0.8", *named)
    assert ran.code == 0
    source, _, bullet = ran.text.strip().partition("  ")
    assert source == "memory/2025-12-06.md#L5"
    assert (workspace / "memory" / "2025-12-06.md").read_text("utf-8").splitlines()[4] == bullet
    told = json.loads(run("facts", str(workspace / "memory" / "2025-12-06.md"), *named[:2], "--json").text)
    assert told["path"] == "memory/2025-12-06.md"
    assert [(f["kind"], f["entities"], f["confidence"], f["text"]) for f in told["facts"]] == [
        ("opinion", ["Peter", "Ana Maria"], 0.8, "Likes rain.")
    ]
    assert run("retain", "W: Sun.", "--day", "yesterday", *named).text.startswith("memory/2025-12-05.md#L5  ")
    assert run("retain", "W: Sun.", "--day", "2025-11-27", *named).text.startswith("memory/2025-11-27.md#L5  ")


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, bytes, bytes]]:
    """What ``facts --json`` prints for every case of the grammar."""
    import subprocess
    import sys

    cwd = tmp_path_factory.mktemp("facts")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENCLAW_")} | {"HOME": str(cwd)}

    def facts(case: Path) -> tuple[str, tuple[int, bytes, bytes]]:
        path = (case / "path.txt").read_text("utf-8").rstrip("\n")
        done = subprocess.run(
            [sys.executable, "-m", "openclaw_memory", "facts", str(case / "input.md"), "--as", path, "--json"],
            capture_output=True,
            env=environment,
            cwd=cwd,
            check=False,
        )
        return case.name, (done.returncode, done.stdout, done.stderr)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(pool.map(facts, CASES.iterdir()))


@pytest.mark.parametrize("case", sorted(path.name for path in CASES.iterdir()))
def test_facts_of_every_case(printed, case: str) -> None:
    code, out, err = printed[case]
    assert (code, err) == (0, b"")
    assert json.loads(out.decode("utf-8")) == json.loads((CASES / case / "expect.json").read_text("utf-8"))
