"""serve: a workspace that stays open, for programs that ask often."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, NoReturn

import typer

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
        """Answer requests on stdin, one JSON object a line, until it ends (JSON-RPC 2.0)."""
        run(lambda: serve_command(workspace, agent, as_json), debug)


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
            server.run()
        except (_Ended, KeyboardInterrupt):
            server.close(wait=False)
    return 0


def _end(number: int, frame: FrameType | None) -> NoReturn:
    raise _Ended
