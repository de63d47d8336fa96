"""The plug-in in a real OpenClaw: installed, its command line, a turn of an agent, a gateway, and taken away again."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from .conftest import CORE, Place
from .model import Model, offered

QUESTION = "How much did the cargo bike cost?"
TOOLS = {
    "memory_recall",
    "memory_search",
    "memory_get",
    "memory_retain",
    "memory_reflect",
    "memory_entity",
    "memory_opinions",
    "core_memory_append",
    "core_memory_replace",
    "core_memory_insert",
}
README = Path(__file__).parent.parent.parent / "README.md"
TOKEN = "token-of-the-tests"


def ask(tool: str, **arguments: Any) -> str:
    return "CALL " + json.dumps({"name": tool, "arguments": arguments})


def served(place: Place) -> list[int]:
    """The memory processes of the workspace."""
    seen = subprocess.run(["ps", "-ww", "-eo", "pid=,args="], capture_output=True, text=True, check=True).stdout
    wanted = f"serve --workspace {place.workspace}"
    return [int(line.split()[0]) for line in seen.splitlines() if wanted in line]


def until(holds: Any, seconds: float, what: str) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := holds():
            return found
        time.sleep(0.2)
    raise AssertionError(f"not within {seconds} s: {what}")


# Installing


def test_the_two_commands_of_the_readme(installed, place):
    config = place.config()["plugins"]
    section = README.read_text("utf-8").split("\n## OpenClaw\n", 1)[1].split("\n## ", 1)[0]
    (told,) = re.findall(r"```json\n(.*?)```", section, re.DOTALL)
    told = json.loads(told)["plugins"]
    assert config["slots"]["memory"] == told["slots"]["memory"]
    assert {name: config["entries"][name]["enabled"] for name in told["entries"]} == {
        name: entry["enabled"] for name, entry in told["entries"].items()
    }
    assert config["load"]["paths"] == [str(next(place.binaries.parent.rglob("openclaw_plugin")))]


def test_openclaw_says_that_it_is_loaded_with_its_tools(installed, openclaw):
    done = openclaw("plugins", "inspect", "openclaw-memory", "--runtime", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["plugin"]["status"] == "loaded", told["plugin"]
    assert {name for tool in told["tools"] for name in tool["names"]} == TOOLS
    assert not [line for line in told.get("diagnostics", []) if line.get("level") == "error"]


# The command line


def test_the_command_line_is_this_projects(installed, openclaw, place):
    status = openclaw("memory", "status", "--json")
    assert status.returncode == 0, status.stderr
    (told,) = json.loads(status.stdout)
    assert (told["workspace"], told["agent"]) == (str(place.workspace), "main")
    recalled = openclaw("memory", "recall", QUESTION, "--k", "1", "--json")
    assert json.loads(recalled.stdout)["results"][0]["source"] == "memory/2025-10-28.md#L16"
    assert recalled.stderr == ""


@pytest.mark.parametrize(
    ("words", "code"), [(["get", "../secret.md"], 1), (["nonsense"], 2), (["recall", "--help"], 0)]
)
def test_exit_codes_and_help(installed, openclaw, words, code):
    done = openclaw("memory", *words)
    assert done.returncode == code
    assert "openclaw-memory" in done.stdout + done.stderr or "not allowed" in done.stderr


def test_both_commands_named_openclaw_on_one_path(installed, place):
    """The Python package's comes first here: ``memory`` is its own, everything else goes to the real one."""
    path = os.pathsep.join([str(place.binaries), str(Path(place.real).parent), place.environment["PATH"]])
    for words, expected in ((["memory", "status"], str(place.workspace)), (["--version"], "OpenClaw 2026.9.6")):
        done = subprocess.run(
            [str(place.binaries / "openclaw"), *words],
            capture_output=True,
            encoding="utf-8",
            env=place.environment | {"PATH": path},
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        assert expected in done.stdout


# A turn


def test_a_turn_of_an_agent(installed, openclaw, place, model: Model):
    model.requests.clear()
    done = openclaw(
        "agent", "--local", "--agent", "main", "--json", "--message", ask("memory_recall", query=QUESTION, k=2)
    )
    assert done.returncode == 0, done.stderr
    first, *_, last = [request for request in model.requests if offered(request)]
    assert set(offered(first)) >= TOOLS
    assert offered(first)["memory_recall"]["parameters"]["properties"]["asOf"]
    system = json.dumps(first["messages"])
    assert json.dumps(CORE.strip())[1:-1].split("\\n")[-1] in system
    assert "## Memory" in system
    answer = next(message for message in last["messages"] if message["role"] == "tool")
    told = json.loads(answer["content"])
    assert told["results"][0]["source"] == "memory/2025-10-28.md#L16"
    assert "1,350 euros" in told["results"][0]["content"]
    assert "1,350 euros" in json.loads(done.stdout)["payloads"][0]["text"]
    until(lambda: not served(place), 10, "the memory process ends with the command")


# A gateway


@contextmanager
def gateway(place: Place) -> Iterator[subprocess.Popen[bytes]]:
    """A gateway that is ready; its log is in ``gateway.log``. It and all that it has started are ended."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    place.configure(
        gateway={"mode": "local", "port": port, "bind": "loopback", "auth": {"mode": "token", "token": TOKEN}}
    )
    with open(place.home / "gateway.log", "wb") as log:
        running = subprocess.Popen(
            [place.real, "gateway", "run"],
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
            env=place.environment,
            cwd=place.home,
            start_new_session=True,
        )
    try:
        until(lambda: running.poll() is not None or _is_ready(port), 240, "the gateway is ready")
        assert running.poll() is None, (place.home / "gateway.log").read_text("utf-8")
        yield running
    finally:
        if running.poll() is None:
            running.terminate()
            try:
                running.wait(60)
            except subprocess.TimeoutExpired:
                pass
        try:
            os.killpg(running.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        running.wait()


def _is_ready(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=2) as told:
            return bool(told.status == 200)
    except OSError:
        return False


def turn(openclaw, message: str) -> str:
    done = openclaw("agent", "--agent", "main", "--json", "--message", message)
    assert done.returncode == 0, done.stderr
    told: str = json.loads(done.stdout)["result"]["payloads"][0]["text"]
    return told


def test_a_gateway(installed, openclaw, place, model: Model):
    plugins = place.config()["plugins"]
    plugins["entries"]["openclaw-memory"] |= {
        "hooks": {"allowConversationAccess": True},
        "config": {"recallInjection": {"enabled": True}},
    }
    place.configure(plugins=plugins)
    with gateway(place) as running:
        (first,) = until(lambda: served(place), 120, "the gateway starts the default agent's memory process")

        written = turn(openclaw, ask("memory_retain", facts=["W @Peter @Lisbon: Peter has moved to Lisbon."]))
        assert written.startswith("TOLD "), written
        logs = "".join(path.read_text("utf-8") for path in (place.workspace / "memory").glob("*.md"))
        assert "- W @Peter @Lisbon: Peter has moved to Lisbon." in logs

        os.kill(first, signal.SIGKILL)
        (second,) = until(lambda: [pid for pid in served(place) if pid != first], 30, "it is started again")
        assert "Peter has moved to Lisbon." in turn(
            openclaw, ask("memory_recall", query="Where has Peter moved to?", k=3)
        )
        assert served(place) == [second]

        model.requests.clear()
        turn(openclaw, QUESTION)
        put_before = json.dumps(model.requests[-1]["messages"])
        assert "<relevant-memories>" in put_before
        assert "memory/2025-10-28.md#L16" in put_before

        nightly = openclaw(
            *("automations", "create", "0 3 * * *", "--name", "memory-reflect", "--no-deliver"),
            *("--command", f"{place.binaries / 'openclaw-memory'} reflect"),
        )
        assert nightly.returncode == 0, nightly.stderr

        running.terminate()
        assert running.wait(60) == 0
        until(lambda: not served(place), 10, "the memory process ends with the gateway")
    log = (place.home / "gateway.log").read_text("utf-8")
    assert "plugin tool name conflict" not in log
    assert "the memory process is gone (ended by SIGKILL); it is started again" in log


# Undoing


def test_it_is_taken_away_as_the_readme_says(installed, openclaw, place):
    readme = (Path(__file__).parent.parent.parent / "integrations" / "openclaw" / "README.md").read_text("utf-8")
    undo = readme.split("**Undo it**", 1)[1].split("```")[1].strip().splitlines()
    for line in undo:
        done = openclaw(*line.split()[1:])
        assert done.returncode == 0, done.stdout + done.stderr
    plugins = place.config()["plugins"]
    assert plugins["slots"]["memory"] == "memory-core"
    assert "openclaw-memory" not in plugins.get("entries", {}) or not plugins["entries"]["openclaw-memory"].get(
        "enabled"
    )
    done = openclaw("memory", "status", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[0]["agentId"] == "main"
    assert (place.workspace / "MEMORY.md").read_text("utf-8") == CORE
