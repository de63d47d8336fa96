"""``schedule install``, ``show`` and ``remove`` as a shell runs them, with stand-ins for crontab and systemctl."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

pty = pytest.importorskip("pty")
SCHEMA = json.loads((Path(__file__).parent.parent.parent / "docs" / "schemas" / "schedule.json").read_text("utf-8"))
CRONTAB = """#!/bin/sh
case "$1" in
-l) [ -e "$TABLE" ] || { echo "no crontab for you" >&2; exit 1; }; cat "$TABLE" ;;
-) cat > "$TABLE" ;;
esac
"""


@pytest.fixture
def table(tmp_path: Path, environment: dict[str, str]) -> Path:
    """The crontab of a machine that has cron and nothing else."""
    folder = tmp_path / "tools"
    folder.mkdir()
    (folder / "crontab").write_text(CRONTAB, "utf-8")
    (folder / "crontab").chmod(0o755)
    (folder / "systemctl").write_text("#!/bin/sh\necho 'Failed to connect to bus' >&2\nexit 1\n", "utf-8")
    (folder / "systemctl").chmod(0o755)
    path = tmp_path / "table"
    environment |= {"PATH": f"{folder}:{os.defpath}:/usr/bin", "TABLE": str(path)}
    return path


def check(data: bytes) -> Any:
    document = json.loads(data.decode("utf-8"))
    Draft202012Validator(SCHEMA).validate(document)
    return document


def test_install_show_remove(run, table: Path, workspace: Path) -> None:
    table.write_bytes(b"0 1 * * * backup # \xff\n")
    mine = table.read_bytes()
    named = ("--workspace", str(workspace))
    ran = run("schedule", "show", *named)
    assert (ran.code, ran.out, ran.told) == (0, b"", "nothing is installed\n")
    ran = run("schedule", "install", "--backend", "cron", "--at", "5:07", "--yes", *named)
    assert (ran.code, ran.text) == (0, "cron: every day at 05:07\n")
    assert "7 5 * * * cd " in ran.told
    held = table.read_bytes()
    assert held.startswith(mine)
    ran = run("schedule", "install", "--at", "05:07", *named)
    assert (ran.code, ran.text) == (0, "cron: every day at 05:07\n")
    assert "it was installed already" in ran.told
    assert table.read_bytes() == held
    ran = run("schedule", "show", *named)
    assert f"--workspace {workspace} >>.memory/reflect.log" in ran.text
    assert run("schedule", "remove", *named).code == 2
    assert table.read_bytes() == held
    ran = run("schedule", "remove", "--yes", *named)
    assert (ran.code, ran.text) == (0, "removed from cron\n")
    assert table.read_bytes() == mine
    ran = run("schedule", "remove", *named)
    assert (ran.code, ran.told) == (0, "nothing was installed\n")


def test_nobody_to_ask(run, table: Path, workspace: Path) -> None:
    ran = run("schedule", "install", "--backend", "cron", "--workspace", str(workspace))
    assert (ran.code, ran.out) == (2, b"")
    assert ran.told == "openclaw memory: schedule install asks first, and nobody is there to answer; add --yes\n"
    assert not table.exists()


def test_a_workspace_that_is_gone(run, table: Path, workspace: Path) -> None:
    named = ("--workspace", str(workspace))
    assert run("schedule", "install", "--backend", "cron", "--yes", *named).code == 0
    workspace.rename(workspace.with_name("elsewhere"))
    assert run("schedule", "install", "--backend", "cron", "--yes", *named).code == 1
    assert check(run("schedule", "show", *named, "--json").out)["jobs"][0]["backend"] == "cron"
    assert run("schedule", "remove", "--yes", *named).code == 0
    assert table.read_bytes() == b""


def test_json(run, table: Path, workspace: Path) -> None:
    named = ("--workspace", str(workspace), "--json")
    assert check(run("schedule", "show", *named).out) == {
        "workspace": str(workspace),
        "jobs": [],
        "changed": False,
        "notes": [],
    }
    ran = run("schedule", "install", "--backend", "cron", "--yes", *named)
    told = check(ran.out)
    assert (told["changed"], told["jobs"][0]["at"], told["jobs"][0]["where"]) == (True, "03:30", ["crontab"])
    assert table.read_text("utf-8") == told["jobs"][0]["text"]
    assert check(run("schedule", "install", *named).out)["changed"] is False
    ran = run("schedule", "install", "--backend", "systemd", "--yes", *named)
    both = check(ran.out)
    assert ran.code == 3
    assert "Failed to connect to bus; when it can, run `systemctl --user daemon-reload" in both["notes"][0]
    assert both["notes"][1] == "it is installed in cron too; take that away with --backend cron"
    assert {job["backend"] for job in check(run("schedule", "show", *named).out)["jobs"]} == {"cron", "systemd"}
    assert run("schedule", "remove", "--backend", "cron", "--yes", *named).code == 0
    assert [job["backend"] for job in check(run("schedule", "show", *named).out)["jobs"]] == ["systemd"]


@pytest.mark.parametrize(
    "words", [["install", "--at", "noon"], ["install", "--backend", "at"], ["show", "--backend", "x"], ["remove", "-b"]]
)
def test_wrong_usage(run, table: Path, workspace: Path, words: list[str]) -> None:
    ran = run("schedule", *words, "--workspace", str(workspace))
    assert (ran.code, ran.out) == (2, b"")
    assert not table.exists()


@pytest.mark.parametrize(("answer", "code"), [(b"y\n", 0), (b"n\n", 1), (b"\n", 1)])
def test_a_terminal_is_asked(
    environment: dict[str, str], table: Path, workspace: Path, answer: bytes, code: int
) -> None:
    """The text is shown before the question, and written only after a yes."""
    master, slave = pty.openpty()
    words = ["schedule", "install", "--backend", "cron", "--workspace", str(workspace)]
    process = subprocess.Popen(
        [sys.executable, "-m", "openclaw_memory", *words],
        stdin=slave,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )
    os.close(slave)
    os.write(master, answer)
    out, err = process.communicate(timeout=60)
    os.close(master)
    assert process.returncode == code
    shown = err.decode().split("Install this")[0]
    assert "30 3 * * * cd " in shown
    assert table.exists() == (code == 0)
    assert (b"cron: every day" in out) == (code == 0)
