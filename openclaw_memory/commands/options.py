"""Options that many commands share."""

from __future__ import annotations

from typing import Annotated

import typer


def _not_empty(context: typer.Context, value: str) -> str:
    """``--workspace "$UNSET"`` must not mean another workspace than the one that was to be named."""
    source = context.get_parameter_source("workspace")
    if source is not None and source.name == "COMMANDLINE" and not value.strip():
        raise typer.BadParameter("it is empty; give the folder of a workspace")
    return value


Workspace = Annotated[
    str,
    typer.Option(
        "--workspace",
        metavar="DIR",
        callback=_not_empty,
        help="The workspace; else $OPENCLAW_WORKSPACE, the configuration, ~/.openclaw/workspace.",
    ),
]
Agent = Annotated[
    str, typer.Option("--agent", metavar="ID", help="The agent whose workspace is meant, by the configuration.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON (docs/json.md).")]
Now = Annotated[
    str, typer.Option("--now", metavar="TIME", help="Answer as if it were this ISO date or date-time, in local time.")
]
Debug = Annotated[bool, typer.Option("--debug", help="Show a traceback when something goes wrong.")]
NoSync = Annotated[
    bool, typer.Option("--no-sync", help="Answer from the index as it is; the first one is built all the same.")
]
