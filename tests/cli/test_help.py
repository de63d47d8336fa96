"""Every command and every option is documented in ``docs/commands.md``, and nothing else is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.main import get_command

from openclaw_memory.commands.application import application

DOCUMENT = (Path(__file__).parent.parent.parent / "docs" / "commands.md").read_text("utf-8")
#: Every command by its name; one of a group by the group's and its own.
COMMANDS = {
    f"{name} {inner}".strip(): one
    for name, command in get_command(application()).commands.items()  # type: ignore[attr-defined]
    for inner, one in getattr(command, "commands", {"": command}).items()
}
EVERYWHERE = {"--workspace", "--agent", "--json", "--debug"}


def section(name: str) -> str:
    assert f"\n## {name}\n" in DOCUMENT, f"docs/commands.md has no section {name}"
    return DOCUMENT.split(f"\n## {name}\n", 1)[1].split("\n## ", 1)[0]


def options(name: str) -> set[str]:
    return {option for parameter in COMMANDS[name].params for option in parameter.opts if option.startswith("-")}


@pytest.mark.parametrize("group", ["", "core", "flush", "schedule", "bench"])
def test_no_line_of_a_list_of_commands_is_cut(run, environment: dict[str, str], group: str) -> None:
    environment["COLUMNS"] = "80"
    _, listed = run(*group.split(), "--help").text.split("Commands:\n")
    assert [line for line in listed.splitlines() if line.endswith("...")] == []


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_option_is_documented(name: str) -> None:
    shared = section("Options of every command")
    assert all(f"`{option} " in shared or f"`{option}`" in shared for option in EVERYWHERE)
    documented = set(re.findall(r"(?<!\S)\|? ?`(--?[a-z][a-z-]*)|, `(--?[a-z][a-z-]*)", section(name)))
    named = {one or other for one, other in documented}
    assert options(name) >= EVERYWHERE
    assert named == options(name) - EVERYWHERE - {"--help", "-h"}


def test_no_command_is_documented_that_is_none() -> None:
    sections = set(re.findall(r"^## (.*)$", DOCUMENT, re.MULTILINE))
    assert sections - {"Options of every command", "Exit codes", "WHEN"} == set(COMMANDS)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_help_of_every_command(run, name: str) -> None:
    ran = run(*name.split(), "--help", NO_COLOR="1")
    assert (ran.code, ran.err) == (0, b"")
    assert f"Usage: openclaw-memory {name} " in ran.text
    assert all(option in ran.text for option in options(name))
    assert run(*name.split(), "-h", NO_COLOR="1").out == ran.out


def test_help_names_the_defaults(run) -> None:
    told = run("recall", "--help", NO_COLOR="1").text
    assert "default: 20" in told
    assert "default: 1200" in told
    assert "default: 6" in run("search", "--help", NO_COLOR="1").text


def test_help_lists_every_command(run) -> None:
    ran = run("--help")
    assert all(re.search(rf"^\W*{name.split()[0]} ", ran.text, re.MULTILINE) for name in COMMANDS)
