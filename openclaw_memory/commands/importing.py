"""import: what an existing workspace holds, what is passed over, and what to do next. Nothing is written."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Annotated, Any

import typer

from ..bank.errors import UsageFault
from ..context import progress_bar
from ..output import emit_json, note, paint, print_table, say
from .options import Agent, Debug, Json, Workspace


def register(app: typer.Typer, run: Callable[..., Any]) -> None:
    """Add the command to the application."""

    @app.command("import")
    def import_(
        path: Annotated[
            str, typer.Argument(help="A workspace, or OpenClaw's folder; the workspace that is meant by default.")
        ] = "",
        workspace: Workspace = "",
        agent: Agent = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Look through an existing workspace. What is there, what is passed over, what to do next. Changes nothing."""
        run(lambda: import_command(path, workspace, agent, as_json), debug)


def import_command(path: str, workspace: str, agent: str, as_json: bool) -> int:
    """The report; exit code 3 where some files could not be read."""
    from ..moving_in import find, report

    if path and workspace:
        raise UsageFault("two workspaces are named", f"{path}, --workspace {workspace}", "name one")
    told = report(find(path, workspace, agent, os.environ), progress_bar("reading"))
    if as_json:
        emit_json(told)
    else:
        _print(told)
    unread = [one for one in told["ignored"] if one["code"] in ("unreadable", "missing")]
    return 3 if told["skipped"] or unread else 0


def _print(told: dict[str, Any]) -> None:
    say(f"{told['workspace']} ({told['workspaceSource']})")
    facts, days = told["facts"], told["days"]
    span = f", {days['from']} to {days['to']}" if days["from"] else ""
    say(
        f"{told['files']} files ({told['bytes']:,} bytes), {told['notes']} notes, {facts['total']} typed facts,"
        f" {told['entities']['count']} entities{span}"
    )
    if told["roles"]:
        _head("What is there")
        rows = [
            (one["role"], str(one["files"]), str(one["notes"]), str(one["facts"]), ", ".join(one["examples"]))
            for one in told["roles"]
        ]
        print_table(rows, ("role", "files", "notes", "facts", "such as"))
        if told["entities"]["most"]:
            say(f"named most: {', '.join(told['entities']['most'])}")
        if told["languages"]:
            say("languages: " + ", ".join(f"{one['language']} ({one['files']})" for one in told["languages"]))
    if told["marks"]:
        _head("Marks and links")
        print_table(
            [(one["kind"], str(one["count"]), ", ".join(one["places"])) for one in told["marks"]],
            ("kind", "count", "where"),
        )
    if told["issues"]:
        _head("Not used as it was meant")
        for one in told["issues"]:
            say(f"{one['count']} × {one['code']}: {one['message']}")
            say(f"  {', '.join(one['places'])}" + (" …" if one["count"] > len(one["places"]) else ""))
    if told["ignored"] or told["skipped"]:
        _head("Passed over")
        for one in told["ignored"]:
            more = f" ({one['count']} files)" if one["count"] > 1 else ""
            say(f"{one['path']}{more}: {one['reason']}")
        for one in told["skipped"]:
            say(f"{one['path']}: cannot be read ({one['reason']})")
    _print_configuration(told["configuration"], told["homes"])
    _head("Next")
    for one in told["steps"]:
        say(f"- {one['what']}")
        if one["command"]:
            say(f"    {one['command']}")
    note("nothing was changed")


def _print_configuration(told: dict[str, Any], homes: list[dict[str, Any]]) -> None:
    if not told["path"] and not told["problem"] and len(homes) < 2:
        return
    _head("Configuration")
    say(told["path"] or "none was found; defaults are used")
    if told["problem"]:
        say(f"it cannot be used: {told['problem']}")
    rows = []
    for one in told["keys"]:
        today = f"today {one['today']}" if one["status"] == "renamed" else ""
        rows.append((one["status"], one["key"], "; ".join(filter(None, (today, one["note"])))))
    if rows:
        print_table(rows, ("status", "key", ""))
    for line in told["warnings"]:
        say(f"warning: {line}")
    for one in homes if len(homes) > 1 else ():
        say(f"{one['path']}: {'used' if one['used'] else 'there, and not used'}")


def _head(title: str) -> None:
    print()
    print(paint(title, "bold"))
