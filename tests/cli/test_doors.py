"""The three ways in are one command line, and ``openclaw`` hands every other word to the OpenClaw that is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BIN = Path(sys.executable).parent
OURS = BIN / "openclaw"
pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="the scripts have other names there"),
    pytest.mark.skipif(not OURS.exists(), reason="the console scripts are not installed"),
]


@pytest.fixture
def call(environment, tmp_path: Path):
    """Run a command with a PATH of its own."""

    def run(*words: str | Path, path: tuple[Path, ...] = (BIN,), **variables: str) -> tuple[int, bytes, bytes]:
        done = subprocess.run(
            [str(word) for word in words],
            env=environment | {"PATH": os.pathsep.join(map(str, path))} | variables,
            capture_output=True,
            cwd=tmp_path,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    return run


def script(folder: Path, text: str, name: str = "openclaw") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    "words",
    [
        ["recall", "what does Mara prefer?", "--json"],
        ["recall", "what does Mara prefer?"],
        ["recall", "x", "--since", "soon"],
        ["search", "ZX-4417", "--json"],
        ["get", "memory.md"],
        ["get", "../x.md"],
        ["entity", "Mara"],
    ],
    ids=" ".join,
)
def test_same_bytes(call, at, words: list[str]) -> None:
    expected = call(BIN / "openclaw-memory", *words, *at)
    assert call(OURS, "memory", *words, *at) == expected
    assert call(sys.executable, "-m", "openclaw_memory", *words, *at) == expected
    assert call(BIN / "openclaw-memory", "memory", *words, *at) == expected


def test_help_names_the_program(call) -> None:
    code, out, _ = call(OURS, "memory", "--help")
    assert (code, b"Usage: openclaw memory [OPTIONS] COMMAND" in out) == (0, True)
    code, out, _ = call(BIN / "openclaw-memory", "recall", "--help")
    assert (code, b"Usage: openclaw-memory recall [OPTIONS]" in out) == (0, True)


def test_other_words_go_on(call, tmp_path: Path) -> None:
    other = script(tmp_path / "other", '#!/bin/sh\nprintf "%s|" "$0" "$@"\nexit 7\n')
    code, out, err = call(OURS, "gateway", "run now", "--port", "1", path=(BIN, other.parent))
    assert (code, out, err) == (7, f"{other}|gateway|run now|--port|1|".encode(), b"")
    assert call(OURS, path=(BIN, other.parent))[:2] == (7, f"{other}|".encode())
    # A word that only starts like ours is not ours.
    assert call(OURS, "memory-x", path=(BIN, other.parent))[1] == f"{other}|memory-x|".encode()
    # Found by PATH, wherever this one stands in it.
    assert call("openclaw", "status", path=(other.parent, BIN))[0] == 7


def test_none_installed(call, tmp_path: Path) -> None:
    for path in ((BIN,), (tmp_path,), ()):
        code, out, err = call(OURS, "status", path=path)
        assert (code, out) == (2, b"")
        assert err.count(b"\n") == 1
        assert b"install OpenClaw" in err


def test_never_comes_back_to_itself(call, tmp_path: Path) -> None:
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "openclaw").symlink_to(OURS)
    (tmp_path / "copy").mkdir()
    shutil.copy(OURS, tmp_path / "copy" / "openclaw")
    (tmp_path / "folder" / "openclaw").mkdir(parents=True)
    plain = script(tmp_path / "plain", "#!/bin/sh\nexit 9\n")
    plain.chmod(0o644)
    everywhere = tuple(tmp_path / name for name in ("link", "copy", "folder", "plain"))
    for own in (OURS, tmp_path / "link" / "openclaw", tmp_path / "copy" / "openclaw"):
        code, _, err = call(own, "status", path=(*everywhere, BIN, *everywhere))
        assert (code, err.count(b"\n")) == (2, 1)
    real = script(tmp_path / "real", "#!/bin/sh\nexit 5\n")
    assert call(OURS, "status", path=(*everywhere, BIN, real.parent))[0] == 5
