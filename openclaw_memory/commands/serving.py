"""serve, mcp: a workspace that stays open, for programs that ask often."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Annotated, Any, NoReturn

import typer

from ..bank.errors import MemoryFault, UsageFault, one_line
from ..output import emit_json, note
from .options import Agent, Debug, Json, Workspace


def register(app: typer.Typer, run: Callable[..., Any]) -> None:
    """Add the commands to the application."""

    @app.command()
    def serve(
        workspace: Workspace = "",
        agent: Agent = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Answer requests on stdin, one JSON object a line. JSON-RPC 2.0, until stdin ends."""
        run(lambda: serve_command(workspace, agent, as_json), debug)

    @app.command()
    def mcp(
        http: Annotated[
            str,
            typer.Option("--http", metavar="HOST:PORT", help="Serve streamable HTTP instead, at /mcp; 127.0.0.1:8765."),
        ] = "",
        token: Annotated[
            str,
            typer.Option(
                "--token",
                metavar="TOKEN",
                envvar="OPENCLAW_MEMORY_TOKEN",
                show_envvar=False,
                help="What clients over HTTP must send as bearer token; also $OPENCLAW_MEMORY_TOKEN.",
            ),
        ] = "",
        workspace: Workspace = "",
        agent: Agent = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Serve the memory by the Model Context Protocol. On stdin and stdout, or over HTTP."""
        run(lambda: mcp_command(http, token, workspace, agent, as_json), debug)


def with_address(arguments: list[str]) -> list[str]:
    """The words of a command line; an ``--http`` that nothing follows means the address that is usual."""
    told: list[str] = []
    for word, following in zip(arguments, [*arguments[1:], "-"], strict=True):
        told.append(f"{word}=127.0.0.1" if word == "--http" and following.startswith("-") else word)
    return told


class _Ended(BaseException):
    """The process was told to end."""


def serve_command(workspace: str, agent: str, as_json: bool) -> int:
    """Serve until stdin ends, ``shutdown`` is asked for, or the process is told to end."""
    if as_json:
        from ..serving.tools import table

        emit_json(table())
        return 0
    from .. import __version__
    from ..bank.config import read_configuration
    from ..context import choose
    from ..memory import Memory
    from ..serving.json_lines import JsonLines
    from ..serving.methods import methods
    from ..serving.refreshing import refreshed

    choice = choose(workspace, agent, read_configuration(os.environ))
    memory = Memory(choice.path, agent=choice.agent)
    signal.signal(signal.SIGTERM, _end)
    # Only answers go where stdout leads; what a library prints goes to stderr.
    sys.stdout.flush()
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as sink, memory:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        server = JsonLines(methods(memory, choice), sys.stdin.buffer, sink, note)
        server.notify("ready", {"version": __version__, "workspace": memory.workspace.root, "agent": choice.agent})
        try:
            with refreshed(memory):
                server.run()
        except (_Ended, KeyboardInterrupt):
            server.close(wait=False)
    return 0


def _end(number: int, frame: FrameType | None) -> NoReturn:
    raise _Ended


def mcp_command(http: str, token: str, workspace: str, agent: str, as_json: bool) -> int:
    """Serve until stdin ends, or the process is told to end."""
    if as_json:
        from ..serving.tools import table

        emit_json(table())
        return 0
    from ..bank.config import read_configuration
    from ..context import choose
    from ..memory import Memory
    from ..serving.refreshing import refreshed

    try:
        import anyio

        from ..serving.mcp_server import serve_stdio
    except ImportError as error:
        raise MemoryFault(
            f"the MCP server needs the package mcp ({one_line(str(error))})",
            remedy="install it: pip install 'openclaw-memory[mcp]'",
        ) from None
    choice = choose(workspace, agent, read_configuration(os.environ))
    if not http:
        with Memory(choice.path, agent=choice.agent) as memory:
            signal.signal(signal.SIGTERM, _end)
            try:
                with refreshed(memory):
                    anyio.run(serve_stdio, memory)
            except (_Ended, KeyboardInterrupt):
                # The thread that reads stdin would wait for its next line.
                sys.stderr.flush()
                os._exit(0)
        return 0
    from ..serving.mcp_http import PATH, is_loopback, listening, serve_http, split_address

    host, port = split_address(http)
    if not token and not is_loopback(host):
        raise UsageFault(
            f"--http {http}: others can reach this address",
            remedy="give a token that they must send, in OPENCLAW_MEMORY_TOKEN or with --token",
        )
    listener = listening(host, port)
    shown = f"[{host}]" if ":" in host else host
    with listener, Memory(choice.path, agent=choice.agent) as memory:
        note(f"serving {memory.workspace.root} at http://{shown}:{listener.getsockname()[1]}{PATH}")
        with refreshed(memory):
            anyio.run(serve_http, memory, host, listener.getsockname()[1], token, listener)
    return 0
