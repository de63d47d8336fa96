"""Bad input of every kind: one clear line, the right exit code, never a traceback, nothing on stdout."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HUGE = "9" * 30
#: (arguments, exit code); {demo} the demo workspace, {tmp} an empty folder. ``*`` stands for the workspace and the
#: time.
BAD = [
    (["recall", "x", "--workspace", "{tmp}/missing"], 1),
    (["recall", "x", "--workspace", "{demo}/memory.md"], 1),
    (["recall", "x", "--workspace", ""], 2),
    (["status", "--workspace="], 2),
    (["recall", "x", "--workspace", "{tmp}/" + "n" * 300], 1),
    (["recall", "x"], 1),
    (["recall", "*"], 2),
    (["recall", "a", "b", "*"], 2),
    (["recall", "x", "*", "--nonsense"], 2),
    (["recall", "x", "*", "--since"], 2),
    (["recall", "x", "*", "--since", "soon"], 2),
    (["recall", "x", "*", "--since", "-30d"], 2),
    (["recall", "x", "*", "--since", "99999999d"], 2),
    (["recall", "x", "*", "--since", HUGE + "d"], 2),
    (["recall", "x", "*", "--until", "0000-00-00"], 2),
    (["recall", "x", "*", "--as-of", "2025-13-01"], 2),
    (["recall", "x", "*", "--around", "2025-11-31"], 2),
    (["recall", "x", "*", "--since", "2025-12-01", "--until", "2025-11-01"], 2),
    (["recall", "x", "*", "-k", "-1"], 2),
    (["recall", "x", "*", "--k=0"], 2),
    (["recall", "x", "*", "-k", "many"], 2),
    (["recall", "x", "*", "--budget", "0"], 2),
    (["recall", "x", "*", "--budget", "1e3"], 2),
    (["recall", "x", "*", "--kind", "rumour"], 2),
    (["recall", "x", "*", "--min-confidence", "2"], 2),
    (["recall", "x", "*", "--min-confidence", "nan"], 2),
    (["recall", "x", "*", "--min-confidence", "sure"], 2),
    (["recall", "x", "*", "--json=yes"], 2),
    (["recall", "x", "--workspace", "{demo}", "--now", "nonsense"], 2),
    (["recall", "x", "--workspace", "{demo}", "--now", "99999-01-01"], 2),
    (["recall", "x", "--workspace", "{demo}", "--now", "2025-02-30"], 2),
    (["search", "*"], 2),
    (["search", "", "*"], 2),
    (["search", "x", "*", "--max-results", "0"], 2),
    (["search", "x", "*", "--min-score", "nan"], 2),
    (["search", "x", "*", "--min-score", "5"], 2),
    (["search", "x", "*", "--corpus", "web"], 2),
    (["entity", "\udcff", "*"], 1),
    (["graph", "\udcff", "--workspace", "{demo}"], 1),
    (["get", "*"], 2),
    (["get", "", "*"], 1),
    (["get", "../../etc/passwd", "*"], 1),
    (["get", "memory/../../secret.md", "*"], 1),
    (["get", "/etc/passwd", "*"], 1),
    (["get", "memory", "*"], 1),
    (["get", ".memory/index.sqlite", "*"], 1),
    (["get", "C:\\secret.md", "*"], 1),
    (["get", "memory/1999-01-01.md", "*"], 1),
    (["get", "memory/2025-11-07.md#L", "*"], 2),
    (["get", "memory/2025-11-07.md#L9-L3", "*"], 2),
    (["get", "memory/2025-11-07.md#L0", "*"], 2),
    (["get", "memory/2025-11-07.md#L²", "*"], 2),
    (["get", "memory.md", "*", "--from", "0"], 1),
    (["get", "memory.md", "*", "--lines=-3"], 1),
    (["get", "m" * 5000 + ".md", "*"], 1),
    (["retain", "*"], 2),
    (["retain", "", "*"], 2),
    (["retain", "-", "*"], 2),
    (["retain", "hello", "*"], 2),
    (["retain", "W @A:", "*"], 2),
    (["retain", "W(c=7) @A: x", "*"], 2),
    (["retain", "x", "--kind", "Z", "*"], 2),
    (["retain", "x", "--kind", "W", "-c", "7", "*"], 2),
    (["retain", "x", "--kind", "W", "-c", "nan", "*"], 2),
    (["retain", "W @A: x", "--entity", "B", "*"], 2),
    (["retain", "W @A: x", "*", "--day", "never"], 2),
    (["retain", "W @A: x", "*", "--day", "99999999d"], 2),
    (["facts", "missing.md"], 1),
    (["facts", "{demo}"], 1),
    (["facts", "-"], 2),
    (["lint", "missing.md", "--workspace", "{demo}"], 1),
    (["lint", "/etc/passwd", "--workspace", "{demo}"], 1),
    (["entity", "nobody-of-that-name", "*"], 1),
    (["entity", "", "*"], 1),
    (["entity", "Mara", "*", "-k", "0"], 2),
    (["entity", "Mara", "*", "--budget=-3"], 2),
    (["entities", "--workspace", "{tmp}/missing"], 1),
    (["index", "--workspace", "{tmp}/missing"], 1),
    (["status", "--workspace", "{tmp}/missing"], 1),
    (["reset", "--workspace", "{demo}"], 2),
    (["reset", "--yes", "--workspace", "{tmp}/missing"], 1),
    (["init", "{demo}/memory.md"], 1),
    (["init", "{demo}/memory.md/below"], 1),
    (["init", "a", "--workspace", "b"], 2),
    (["nosuch"], 2),
    (["--nonsense"], 2),
    (["memory", "nosuch"], 2),
]
#: Odd, but not wrong.
ODD = [
    ["recall", "", "*"],
    ["recall", "   ", "*"],
    ["recall", "x", "*", "-k", HUGE],
    ["recall", "x", "*", "--budget", HUGE],
    ["recall", "x", "*", "--around", "9999-12-31"],
    ["recall", "x", "*", "--around", "0001-01-01"],
    ["recall", "next month", "--workspace", "{demo}", "--now", "9999-12-31T23:59:59"],
    ["recall", "last year", "--workspace", "{demo}", "--now", "0001-01-02T00:00:00+00:00"],
    ["recall", "x" * 100_000, "*"],
    ["recall", '"NEAR(a b, 2)" AND * OR ^x -y col:z )(', "*"],
    ["search", "'; DROP TABLE files; --", "*"],
    ["search", "x", "*", "--max-results", HUGE],
    ["get", f"memory.md#L{HUGE}", "*"],
    ["get", "memory.md", "*", "--from", HUGE],
    ["get", "memory.md", "*", "--lines", HUGE],
    ["facts", "{binary}", "--as", "memory/2025-12-01.md"],
    ["facts", "{binary}"],
]


def filled(arguments: list[str], demo: Path, tmp_path: Path, at: tuple[str, ...]) -> list[str]:
    words: list[str] = []
    for word in arguments:
        given = word.replace("{demo}", str(demo)).replace("{tmp}", str(tmp_path))
        words += at if word == "*" else [given.replace("{binary}", str(tmp_path / "binary.md"))]
    return words


def check_no_traceback(told: str) -> None:
    assert "Traceback" not in told
    assert "unexpected fault" not in told
    assert "Exception ignored" not in told


@pytest.mark.parametrize(
    ("arguments", "code"), BAD, ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else str(value)
)
def test_bad(run, demo: Path, tmp_path: Path, at, arguments: list[str], code: int) -> None:
    ran = run(*filled(arguments, demo, tmp_path, at))
    check_no_traceback(ran.told)
    assert (ran.code, ran.out) == (code, b"")
    if ran.told.startswith("openclaw memory: "):
        assert ran.told.count("\n") == 1
    else:
        assert code == 2
        assert ran.told.startswith(("Usage: openclaw-memory", "Error: "))


@pytest.mark.parametrize("arguments", ODD, ids=lambda value: " ".join(value)[:60])
def test_odd(run, demo: Path, tmp_path: Path, at, arguments: list[str]) -> None:
    (tmp_path / "binary.md").write_bytes(bytes(range(256)) * 40)
    ran = run(*filled(arguments, demo, tmp_path, at))
    check_no_traceback(ran.told)
    assert ran.code == 0


def test_debug_shows_the_traceback(run, tmp_path: Path) -> None:
    for command in (["recall", "x"], ["status"], ["facts", "missing.md"]):
        ran = run(*command, "--debug")
        assert ran.code == 1
        assert ran.told.startswith("Traceback")
        assert "MemoryFault" in ran.told or "FileMissing" in ran.told


CONFIGURATIONS = [
    ("{ agents: ", "openclaw.json:1"),
    ("[1, 2]", "expected an object, got a list"),
    ('{"agents": 7}', "agents: expected an object, got a number"),
    ('{"agents": {"defaults": {"workspace": ["a"]}}}', "agents.defaults.workspace: expected a string, got a list"),
    ('{"agents": {"entries": {"main": "x"}}}', "agents.entries.main: expected an object, got a string"),
    ('{"agents": {"list": {"id": "main"}}}', "agents.list: expected a list, got an object"),
    ('{"agents": {"list": [{"id": 3}]}}', "agents.list[0].id: expected a string, got a number"),
    ('{"agents": {"defaults": {"workspace": "${NO_SUCH_VARIABLE}/x"}}}', "NO_SUCH_VARIABLE is not set"),
    ("[" * 100_000, "nested too deeply"),
    ("", "openclaw.json"),
    (b"\xff\xfe{}", "not UTF-8"),
]


@pytest.mark.parametrize(("text", "told"), CONFIGURATIONS, ids=lambda value: str(value)[:30])
@pytest.mark.parametrize("command", [["recall", "x"], ["status"]], ids=" ".join)
def test_broken_configuration(run, environment: dict[str, str], command, text: str | bytes, told: str) -> None:
    state = Path(environment["HOME"]) / ".openclaw"
    state.mkdir()
    (state / "openclaw.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    ran = run(*command)
    check_no_traceback(ran.told)
    assert (ran.code, ran.out, ran.told.count("\n")) == (1, b"", 1)
    assert told in ran.told


def test_configuration_names_the_workspace(run, environment: dict[str, str], workspace: Path) -> None:
    state = Path(environment["HOME"]) / ".openclaw"
    state.mkdir()
    text = f"{{ /* JSON5 */ agents: {{ entries: {{ ops: {{ workspace: {str(workspace)!r} }} }}, }} }}"
    (state / "openclaw.json").write_text(text, encoding="utf-8")
    ran = run("recall", "Lisbon", "--agent", "ops")
    assert (ran.code, "Lisbon" in ran.text) == (0, True)
    ran = run("recall", "Lisbon", "--agent", "unheard-of")
    check_no_traceback(ran.told)
    assert (ran.code, ran.out, ran.told.count("\n")) == (2, b"", 1)


@pytest.mark.parametrize("arguments", [["recall", "Mara"], ["entities"], ["--help"], ["status"]], ids=" ".join)
@pytest.mark.skipif(os.name == "nt", reason="a pipe's end is noticed otherwise there")
def test_a_reader_that_leaves(demo: Path, at, environment: dict[str, str], tmp_path: Path, arguments) -> None:
    """``… | head -0``: the other end of the pipe is closed before anything is written."""
    reading, writing = os.pipe()
    os.close(reading)
    where = () if arguments == ["--help"] else at[:2]
    done = subprocess.run(
        [sys.executable, "-m", "openclaw_memory", *arguments, *where],
        stdout=writing,
        stderr=subprocess.PIPE,
        env=environment,
        cwd=tmp_path,
        check=False,
    )
    os.close(writing)
    told = done.stderr.decode()
    check_no_traceback(told)
    assert done.returncode in (0, 1)


@pytest.mark.parametrize("closed", ["0", "1", "2"])
@pytest.mark.parametrize("arguments", [["recall", "Mara"], ["recall", "Mara", "--json"], ["status"]], ids=" ".join)
@pytest.mark.skipif(os.name == "nt", reason="streams are closed otherwise there")
def test_streams_closed_before_the_start(demo: Path, at, environment, tmp_path: Path, arguments, closed: str) -> None:
    direction = "<&-" if closed == "0" else f"{closed}>&-"
    done = subprocess.run(
        ["/bin/sh", "-c", f'exec "$@" {direction}', "sh", sys.executable, "-m", "openclaw_memory", *arguments, *at[:2]],
        capture_output=True,
        env=environment,
        cwd=tmp_path,
        check=False,
    )
    check_no_traceback(done.stderr.decode())
    assert done.returncode == 0
    assert (done.stdout == b"") == (closed == "1")


@pytest.mark.parametrize(
    "arguments",
    [
        ["recall", "Neumünster"],
        ["recall", "香菜", "--json"],
        ["search", "香菜"],
        ["entities"],
        ["lint"],
        ["--help"],
        ["nosuch"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize(
    "locale",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONUTF8": "0"},
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1"},
    ],
    ids=str,
)
def test_other_locales(run, at, arguments, locale: dict[str, str]) -> None:
    where = () if arguments in (["--help"], ["nosuch"]) else at[:2]
    ran = run(*arguments, *where, **locale)
    check_no_traceback(ran.told)
    assert ran.code == (2 if arguments == ["nosuch"] else 0)


def test_json_is_utf8_in_any_locale(run, at) -> None:
    expected = run("recall", "cilantro Mara", *at, "--json").out
    for locale in ({"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}, {"PYTHONIOENCODING": "utf-16"}):
        assert run("recall", "cilantro Mara", *at, "--json", **locale).out == expected
