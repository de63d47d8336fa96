"""plugin-path: where the plug-in for OpenClaw is, which ships with this package."""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources
from typing import Any

import typer

from ..bank.errors import MemoryFault
from ..output import emit_json, say
from .options import Agent, Debug, Json, Workspace


def register(app: typer.Typer, run: Callable[..., Any]) -> None:
    """Add the command to the application."""

    @app.command("plugin-path")
    def plugin_path(
        workspace: Workspace = "",
        agent: Agent = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Print the folder to install OpenClaw's plug-in from."""
        run(lambda: plugin_path_command(as_json), debug)


def plugin_path_command(as_json: bool) -> int:
    """Print it."""
    folder = str(resources.files("openclaw_memory.openclaw_plugin"))
    if not resources.files("openclaw_memory.openclaw_plugin").joinpath("openclaw.plugin.json").is_file():
        raise MemoryFault("the plug-in is not there", folder, "install openclaw-memory again")
    if as_json:
        emit_json({"path": folder})
    else:
        say(folder)
    return 0
