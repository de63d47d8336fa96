"""retain: facts appended to a day's log, with what they say of others outright."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from ..bank.errors import UsageFault
from ..context import open_workspace, read_now
from ..output import emit_json, say
from .options import Agent, Debug, Json, Now, Workspace


def register(app: typer.Typer, run: Callable[..., Any]) -> None:
    """Add the command to the application."""

    @app.command()
    def retain(
        text: Annotated[
            list[str],
            typer.Argument(help="Facts: 'W @Peter: Lives in Lisbon.', or bare text with --kind. '-' reads stdin."),
        ],
        kind: Annotated[
            str,
            typer.Option(
                "--kind", metavar="KIND", help="W world, B experience, O opinion, S observation; for bare text."
            ),
        ] = "",
        entity: Annotated[
            list[str] | None, typer.Option("--entity", "-e", metavar="NAME", help="Whom it is about; may be repeated.")
        ] = None,
        confidence: Annotated[
            float | None, typer.Option("--confidence", "-c", metavar="C", help="How sure, 0..1.")
        ] = None,
        day: Annotated[
            str,
            typer.Option("--day", metavar="DAY", help="The log to write to: 2025-11-27, yesterday (default: today)."),
        ] = "",
        supports: Annotated[
            list[str] | None,
            typer.Option("--supports", metavar="ID", help="An opinion that this is evidence for; may be repeated."),
        ] = None,
        contradicts: Annotated[
            list[str] | None,
            typer.Option("--contradicts", metavar="ID", help="An opinion that this is evidence against."),
        ] = None,
        replaces: Annotated[
            list[str] | None,
            typer.Option("--replaces", metavar="ID", help="A fact that holds no more, since this took its place."),
        ] = None,
        retracts: Annotated[
            list[str] | None,
            typer.Option("--retracts", metavar="ID", help="A fact that was wrong. IDs may be citations, path#L5."),
        ] = None,
        strongly: Annotated[
            bool, typer.Option("--strongly", help="The evidence for or against an opinion is strong.")
        ] = False,
        workspace: Workspace = "",
        agent: Agent = "",
        now: Now = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Append facts to today's log, under its Retain heading."""
        told = {
            "supports": supports or [],
            "contradicts": contradicts or [],
            "replaces": replaces or [],
            "retracts": retracts or [],
        }
        run(
            lambda: retain_command(
                text, kind, entity or [], confidence, day, told, strongly, workspace, agent, now, as_json
            ),
            debug,
        )


def retain_command(
    texts: list[str],
    kind: str,
    entities: list[str],
    confidence: float | None,
    day: str,
    told: dict[str, list[str]],
    strongly: bool,
    workspace: str,
    agent: str,
    now: str,
    as_json: bool,
) -> int:
    """Check each fact by reading it as it will be read, then append them all at once."""
    from ..bank.retained import bullet_for, log_day, relations_text, retain_facts

    moment = read_now(now)
    when = log_day(day, moment)
    given = [line for text in texts for line in (_stdin_lines() if text == "-" else [text])]
    if not given:
        raise UsageFault(
            "there is nothing to retain", remedy="write one fact a line, like 'W @Peter: Lives in Lisbon.'"
        )
    bank = open_workspace(workspace, agent)
    linked = relations_text(bank, told, strongly)
    retained = retain_facts(bank, [bullet_for(text, kind, entities, confidence) + linked for text in given], when)
    if as_json:
        emit_json({"retained": [one._asdict() for one in retained]})
    else:
        for one in retained:
            say(f"{one.source}  {one.bullet}")
    return 0


def _stdin_lines() -> list[str]:
    text = sys.stdin.buffer.read().decode("utf-8", "replace")
    return [line for line in text.splitlines() if line.strip()]
