"""Real processes that stay open, over a copy of the demo workspace."""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from openclaw_memory.bank.sync import sync
from openclaw_memory.bank.template import copy_template
from openclaw_memory.bank.workspace import Workspace

KEPT = ("SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "PATHEXT", "TEMP", "TMP", "LD_LIBRARY_PATH", "VIRTUAL_ENV")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """What a process gets of the machine: no configuration, nobody's home."""
    home = tmp_path / "home"
    home.mkdir()
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.defpath])
    return kept | {"PATH": path, "HOME": str(home), "USERPROFILE": str(home), "TZ": "UTC", "LANG": "C.UTF-8"}


@pytest.fixture(scope="session")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo workspace with its index; never to be changed."""
    folder = tmp_path_factory.mktemp("indexed") / "workspace"
    copy_template(str(folder), True)
    sync(Workspace(str(folder)))
    return folder


@pytest.fixture
def workspace(indexed: Path, tmp_path: Path) -> Path:
    """A copy of the demo workspace that a test may change, with an index."""
    folder = tmp_path / "workspace"
    shutil.copytree(indexed, folder)
    return folder


class Serving:
    """A process of ``serve`` that is asked line by line."""

    def __init__(self, workspace: Path, environment: dict[str, str], *arguments: str) -> None:
        command = [sys.executable, "-m", "openclaw_memory", "serve", "--workspace", str(workspace), *arguments]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment)
        self._lines: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self._next = 0

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def send(self, line: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        line = self._lines.get(timeout=60)
        assert line.endswith(b"\n"), "the process has ended"
        return json.loads(line)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The whole answer to one request."""
        self._next += 1
        request = {"jsonrpc": "2.0", "id": self._next, "method": method, "params": params}
        self.send(json.dumps(request).encode())
        answer = self.receive()
        assert (answer["jsonrpc"], answer["id"]) == ("2.0", self._next)
        return answer

    def end(self) -> tuple[int, bytes, bytes]:
        """Close its stdin; the exit code, and what it still said on stdout and stderr."""
        assert self.process.stdin
        self.process.stdin.close()
        return self.ended()

    def ended(self) -> tuple[int, bytes, bytes]:
        code = self.process.wait(timeout=60)
        rest = b""
        while line := self._lines.get(timeout=10):
            rest += line
        assert self.process.stderr
        return code, rest, self.process.stderr.read()


@pytest.fixture(scope="session")
def faulty(indexed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """One process for all faults: none of them ends it."""
    home = tmp_path_factory.mktemp("faulty")
    server = Serving(indexed, {**os.environ, "HOME": str(home), "USERPROFILE": str(home)})
    assert server.receive()["method"] == "ready"
    yield server
    assert server.end()[:2] == (0, b"")
    for stream in (server.process.stdout, server.process.stderr):
        assert stream
        stream.close()


@pytest.fixture
def serve(workspace: Path, environment: dict[str, str]) -> Iterator[Callable[..., Serving]]:
    """``serve()`` starts a process over the copy, past its ready line."""
    started: list[Serving] = []

    def start(*arguments: str, ready: bool = True) -> Serving:
        started.append(Serving(workspace, environment, *arguments))
        if ready:
            assert started[-1].receive()["method"] == "ready"
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.wait()
        for stream in (one.process.stdin, one.process.stdout, one.process.stderr):
            if stream:
                stream.close()
