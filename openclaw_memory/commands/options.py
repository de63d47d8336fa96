"""Options that many commands share."""

from __future__ import annotations

from typing import Annotated

import typer

Workspace = Annotated[
    str,
    typer.Option(
        "--workspace",
        metavar="DIR",
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
NoSync = Annotated[bool, typer.Option("--no-sync", help="Answer from the index as it is, without looking for changes.")]
