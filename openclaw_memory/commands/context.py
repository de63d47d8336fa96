"""context: what an agent is given before a turn."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from ..bank.errors import UsageFault
from ..context import open_workspace, progress_bar, read_now
from ..output import emit_json, note, visible
from .options import Agent, Debug, Json, NoSync, Now, Workspace


def register(app: typer.Typer, run: Callable[..., Any]) -> None:
    """Add the command to the application."""

    @app.command()
    def context(
        session: Annotated[
            str, typer.Option("--session", metavar="NAME", help="main, or group: without the core memory.")
        ] = "main",
        question: Annotated[
            str, typer.Option("--question", "-q", metavar="TEXT", help="What is about to be answered; '-' reads stdin.")
        ] = "",
        budget: Annotated[int, typer.Option("--budget", metavar="TOKENS", help="At most so many tokens.")] = 2000,
        project: Annotated[
            list[str] | None,
            typer.Option("--project", metavar="KEY", help="A project that is worked on; may be repeated."),
        ] = None,
        no_sync: NoSync = False,
        workspace: Workspace = "",
        agent: Agent = "",
        now: Now = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Print what an agent should know before a turn. The core, two days, what is due, what answers a question."""
        run(
            lambda: context_command(session, question, budget, project or [], no_sync, workspace, agent, now, as_json),
            debug,
        )


def context_command(
    session: str,
    question: str,
    budget: int,
    projects: list[str],
    no_sync: bool,
    workspace: str,
    agent: str,
    now: str,
    as_json: bool,
) -> int:
    """The text between its marks; nothing where there is nothing to tell."""
    from ..recall.context import build_context

    if budget < 1:
        raise UsageFault(f"--budget {budget}: must be 1 or more")
    if session not in ("main", "group"):
        raise UsageFault(f"--session {session!r}: no such session", remedy="use main or group")
    asked = sys.stdin.buffer.read().decode("utf-8", "replace") if question == "-" else question
    answer = build_context(
        open_workspace(workspace, agent),
        now=read_now(now),
        session=session,
        question=asked.encode("utf-8", "surrogateescape").decode("utf-8", "replace"),
        budget=budget,
        projects=projects,
        no_sync=no_sync,
        progress=progress_bar(),
    )
    if as_json:
        emit_json(answer)
        return 0
    sys.stdout.write(visible(answer["text"]) if sys.stdout.isatty() else answer["text"])
    for part in answer["parts"]:
        left = f", {part['omitted']} left out" if part["omitted"] else ""
        count = len(part["citations"])
        note(f"{part['name']}: {count} entr{'y' if count == 1 else 'ies'}, {part['tokens']} tokens{left}")
    if answer["stale"]:
        note("this answer may be behind the files (not synced)")
    if answer["warning"]:
        note(f"warning: {answer['warning']}")
    note(f"{answer['tokens']} of {budget} tokens" if answer["text"] else "nothing to tell")
    return 0
