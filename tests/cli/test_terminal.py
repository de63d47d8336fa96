"""On a terminal: colours (unless NO_COLOR), and no control character of a memory file reaches it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pty = pytest.importorskip("pty")
ESCAPE = b"\x1b["
NOW = "2025-12-06T12:00:00"


def on_a_terminal(arguments: list[str], environment: dict[str, str], cwd: Path) -> bytes:
    """What a command writes to a terminal."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "openclaw_memory", *arguments],
        stdin=slave,
        stdout=slave,
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd=cwd,
    )
    os.close(slave)
    written = b""
    try:
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:
                break
            if not part:
                break
            written += part
    finally:
        os.close(master)
        assert process.wait(60) == 0
    return written


@pytest.mark.parametrize("words", [["recall", "Mara"], ["search", "Mara"], ["entities"], ["status"]], ids=" ".join)
def test_colours(run, environment, tmp_path: Path, at, words: list[str]) -> None:
    arguments = [*words, *(at if words[-1] == "Mara" else at[:2])]
    colour = environment | {"TERM": "xterm-256color"}
    assert ESCAPE in on_a_terminal(arguments, colour, tmp_path)
    assert ESCAPE not in on_a_terminal(arguments, colour | {"NO_COLOR": "1"}, tmp_path)
    assert ESCAPE not in on_a_terminal(arguments, colour | {"NO_COLOR": ""}, tmp_path)
    assert ESCAPE not in on_a_terminal(arguments, colour | {"TERM": "dumb"}, tmp_path)
    assert ESCAPE not in run(*arguments, TERM="xterm-256color").out


def test_json_has_no_colours_on_a_terminal(environment, tmp_path: Path, at) -> None:
    arguments = ["recall", "Mara", *at, "--json"]
    assert ESCAPE not in on_a_terminal(arguments, environment | {"TERM": "xterm-256color"}, tmp_path)


@pytest.mark.parametrize(
    "words", [["recall", "beacon"], ["search", "beacon"], ["get", "memory/2025-12-02.md"]], ids=" ".join
)
def test_control_characters_stay_away(environment, tmp_path: Path, workspace: Path, words: list[str]) -> None:
    text = "- The beacon \x1b]0;title\x07 is \x1b[31mred\x1b[0m\x9b2J.\n"
    (workspace / "memory" / "2025-12-02.md").write_text(text, encoding="utf-8")
    arguments = [*words, "--workspace", str(workspace), "--now", NOW]
    written = on_a_terminal(arguments, environment | {"NO_COLOR": "1"}, tmp_path)
    assert b"beacon" in written
    assert b"\x1b" not in written
    assert b"\x07" not in written
    assert b"\xc2\x9b" not in written


def test_lines_fit_the_terminal(run, at) -> None:
    for line in run("recall", "Mara", *at).text.splitlines():
        assert len(line) <= 100 or " · " in line
