"""The MCP server, asked by the SDK's own client as a separate process, over stdio and streamable HTTP."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from jsonschema import Draft202012Validator
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from openclaw_memory.bank.errors import UsageFault

from openclaw_memory.serving.mcp_http import is_loopback, split_address
from openclaw_memory.serving.tools import TOOLS

ROOT = Path(__file__).parent.parent.parent
COMMAND = [sys.executable, "-m", "openclaw_memory", "mcp"]
README = (ROOT / "README.md").read_text("utf-8").split("\n## MCP\n", 1)[1].split("\n## ", 1)[0]
CONFIGURATIONS = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", README, re.DOTALL)]


@pytest.fixture
def start(workspace: Path, environment: dict[str, str]) -> Iterator[Callable[..., tuple[subprocess.Popen[str], str]]]:
    """``start("--http", ":0")``: a process that listens, and its address ("" where it ended instead)."""
    started: list[subprocess.Popen[str]] = []

    def run(*arguments: str, **variables: str) -> tuple[subprocess.Popen[str], str]:
        process = subprocess.Popen(
            [*COMMAND, "--workspace", str(workspace), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment | variables,
        )
        started.append(process)
        assert process.stderr
        found = re.search(r"http://\S+", process.stderr.readline())
        return process, found[0] if found else ""

    yield run
    for process in started:
        process.kill()
        process.communicate()


@asynccontextmanager
async def over_stdio(workspace: Path, environment: dict[str, str]) -> AsyncIterator[Client]:
    parameters = StdioServerParameters(
        command=COMMAND[0], args=[*COMMAND[1:], "--workspace", str(workspace)], env=environment
    )
    async with Client(stdio_client(parameters)) as client:
        yield client


@asynccontextmanager
async def over_http(address: str, token: str = "") -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(address, http_client=http)) as client,
    ):
        yield client


async def use(client: Client, workspace: Path) -> None:
    """Everything a client does, over any transport."""
    listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert list(listed) == list(TOOLS)
    for name, tool in TOOLS.items():
        told = listed[name]
        assert (told.input_schema, told.output_schema) == (tool.parameters, tool.output)
        hints = told.annotations
        assert hints
        assert (hints.read_only_hint, hints.destructive_hint) == (tool.reads, tool.destructive)
        assert hints.idempotent_hint == tool.idempotent
    answer = await client.call_tool("memory_recall", {"query": "What does Mara prefer?", "k": 1})
    best = answer.structured_content["results"][0]
    assert best["content"].startswith("Prefers releases on Tuesday mornings")
    assert json.loads(answer.content[0].text) == answer.structured_content
    Draft202012Validator(TOOLS["memory_recall"].output).validate(answer.structured_content)
    path, _, line = best["source"].partition("#L")
    read = await client.call_tool("memory_get", {"path": path, "from": int(line), "lines": 1})
    assert "Tuesday" in read.structured_content["text"]

    written = await client.call_tool("memory_retain", {"facts": ["W @Ines: Owns a wombat."], "day": "2025-12-08"})
    source = written.structured_content["retained"][0]["source"]
    again = await client.call_tool("memory_recall", {"query": "Who owns a wombat?", "k": 1})
    assert again.structured_content["results"][0]["source"] == source

    for name, arguments in (("memory_recall", {"query": 3}), ("memory_entity", {"name": "Nobody"}), ("memory_get", {})):
        refused = await client.call_tool(name, arguments)
        assert refused.is_error
        assert "\n" not in refused.content[0].text
    with pytest.raises(MCPError, match="no such tool"):
        await client.call_tool("memory_forget", {})

    told_progress: list[float] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        told_progress.append(done)

    report = await client.call_tool("memory_reflect", {"dryRun": True}, progress_callback=progress)
    assert report.structured_content["dry_run"]
    assert len(told_progress) > 1
    assert told_progress == sorted(set(told_progress))

    addresses = [str(one.uri) for one in (await client.list_resources()).resources]
    assert addresses[0] == "memory://core"
    assert "memory://page/entities/Mara.md" in addresses
    days = [one for one in addresses if one.startswith("memory://day/")]
    assert days == sorted(days, reverse=True)
    assert "memory://day/2025-11-07" in days
    for address, file in (
        ("memory://core", "memory.md"),
        ("memory://page/entities/Mara.md", "bank/entities/Mara.md"),
        ("memory://day/2025-11-07", "memory/2025-11-07.md"),
    ):
        (content,) = (await client.read_resource(address)).contents
        assert content.text == (workspace / file).read_text("utf-8")
    for address in ("memory://day/1999-01-01", "memory://day/x", "memory://page/..%2f..%2fx.md", "memory://other"):
        with pytest.raises(MCPError):
            await client.read_resource(address)
    templates = (await client.list_resource_templates()).resource_templates
    assert [one.uri_template for one in templates] == ["memory://page/{+path}", "memory://day/{date}"]

    assert [one.name for one in (await client.list_prompts()).prompts] == ["session_start"]
    prompt = await client.get_prompt("session_start", {"question": "What does Mara prefer?"})
    assert "Tuesday mornings" in prompt.messages[0].content.text
    alone = await client.get_prompt("session_start", {"session": "group"})
    assert "Core memory" not in alone.messages[0].content.text


def test_over_stdio(workspace: Path, environment: dict[str, str]) -> None:
    async def main() -> None:
        async with over_stdio(workspace, environment) as client:
            await use(client, workspace)

    anyio.run(main)


def test_over_http(start, workspace: Path) -> None:
    process, address = start("--http", "127.0.0.1:0")

    async def main() -> None:
        async with over_http(address) as client:
            await use(client, workspace)

    anyio.run(main)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=30) == 0
    assert process.stdout.read() == ""


def status_of(address: str, **headers: str) -> int:
    request = urllib.request.Request(address, b"{}", {"Content-Type": "application/json", **headers})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_no_web_page_reaches_it(start) -> None:
    _, address = start("--http", ":0")
    assert status_of(address, Host="evil.example") == 421
    assert status_of(address, Origin="http://evil.example") == 403
    assert status_of(address) in (400, 406)


def test_others_need_the_token(start) -> None:
    process, address = start("--http", "0.0.0.0:0")
    assert (process.wait(timeout=30), address) == (2, "")
    process, address = start("--http", "0.0.0.0:0", OPENCLAW_MEMORY_TOKEN="made-up-token")
    address = address.replace("0.0.0.0", "127.0.0.1")
    for given in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "made-up-token"}):
        assert status_of(address, **given) == 401

    async def main() -> None:
        async with over_http(address, "made-up-token") as client:
            answer = await client.call_tool("memory_get", {"path": "memory.md", "lines": 1})
            assert answer.structured_content["status"] == "ok"

    anyio.run(main)


@pytest.mark.parametrize("number", range(len(CONFIGURATIONS)))
def test_the_configurations_of_the_readme_start_it(
    start, workspace: Path, environment: dict[str, str], number: int
) -> None:
    told = CONFIGURATIONS[number]
    server = told.get("mcpServers", told.get("servers"))["memory"]
    variables = environment | {"OPENCLAW_WORKSPACE": str(workspace)}

    async def ask(transport: Any) -> None:
        async with Client(transport) as client:
            assert len((await client.list_tools()).tools) == len(TOOLS)

    if "url" in server:
        # The port that is written there may be taken here.
        assert server["url"] == "http://127.0.0.1:8765/mcp"
        _, address = start("--http", "127.0.0.1:0")
        anyio.run(ask, streamable_http_client(address))
    else:
        command = str(Path(sys.executable).parent / server["command"])
        anyio.run(ask, stdio_client(StdioServerParameters(command=command, args=server["args"], env=variables)))


def test_three_ways_are_shown() -> None:
    assert len(CONFIGURATIONS) == 3


def test_without_the_package_it_says_what_to_install(workspace: Path, environment: dict[str, str]) -> None:
    code = (
        "import sys; sys.modules['mcp'] = sys.modules['mcp_types'] = None\n"
        "from openclaw_memory.entry import main\n"
        f"sys.argv = ['openclaw-memory', 'mcp', '--workspace', {str(workspace)!r}]; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (1, b"", 1)
    assert b"pip install 'openclaw-memory[mcp]'" in done.stderr


def test_addresses() -> None:
    assert split_address("127.0.0.1") == ("127.0.0.1", 8765)
    assert split_address(":9000") == ("127.0.0.1", 9000)
    assert split_address("[::1]:9000") == ("::1", 9000)
    assert split_address("[::1]") == ("::1", 8765)
    assert split_address("memory.example:80") == ("memory.example", 80)
    for wrong in ("127.0.0.1:x", "127.0.0.1:99999", "http://127.0.0.1/mcp"):
        with pytest.raises(UsageFault):
            split_address(wrong)
    assert [is_loopback(host) for host in ("127.0.0.1", "127.1.2.3", "::1", "localhost")] == [True] * 4
    assert [is_loopback(host) for host in ("0.0.0.0", "::", "10.0.0.1", "memory.example")] == [False] * 4
