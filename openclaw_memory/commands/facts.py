"""facts, lint: what a file says, read without an index."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from ..bank.errors import MemoryFault, UsageFault
from ..bank.files import read_text
from ..bank.workspace import Workspace as Bank
from ..context import open_workspace
from ..output import emit_json, note, paint, print_table, visible
from ..parsers.records import Diagnostic, Fact, ParsedFile
from .options import Agent, Debug, Json, Workspace


def register(app: typer.Typer, run: Callable[..., Any]) -> None:
    """Add the commands to the application."""

    @app.command()
    def facts(
        file: Annotated[str, typer.Argument(help="A Markdown file; '-' reads stdin.")],
        as_path: Annotated[
            str, typer.Option("--as", metavar="PATH", help="Read it as if it stood at this path in a workspace.")
        ] = "",
        workspace: Workspace = "",
        agent: Agent = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Print the typed facts and the faults of one file."""
        run(lambda: facts_command(file, as_path, workspace, agent, as_json), debug)

    @app.command()
    def lint(
        paths: Annotated[
            list[str] | None, typer.Argument(help="Files of the workspace; all of them by default.")
        ] = None,
        workspace: Workspace = "",
        agent: Agent = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Report what does not parse as meant. Exit code 1 when there is anything."""
        run(lambda: lint_command(paths or [], workspace, agent, as_json), debug)


def facts_command(file: str, as_path: str, workspace: str, agent: str, as_json: bool) -> int:
    """Parse one file and print it in the shape of the grammar's cases."""
    from ..bank.files import decode
    from ..parsers.parse import parse_file

    path = as_path or _path_of(file, workspace, agent)
    text = decode(sys.stdin.buffer.read()) if file == "-" else read_text(_where(file, workspace, agent)).text
    parsed = parse_file(text, path)
    if as_json:
        emit_json(facts_json(parsed))
        return 0
    rows = [
        (str(f.line), f.kind, "" if f.confidence is None else f"{f.confidence:.2f}", " ".join(f.entities), f.text)
        for f in parsed.facts
    ]
    if rows:
        print_table(rows, ("line", "kind", "c", "entities", "text"))
    for diagnostic in parsed.diagnostics:
        note(_fault_line(path, diagnostic))
    note(f"{len(rows)} fact{'' if len(rows) == 1 else 's'}")
    return 0


def facts_json(parsed: ParsedFile) -> dict[str, Any]:
    """A parsed file as ``facts --json`` prints it."""
    return {
        "path": parsed.path,
        "day": parsed.day.isoformat() if parsed.day else None,
        "facts": [_fact_json(fact) for fact in parsed.facts],
        "diagnostics": [{"line": d.line, "code": d.code} for d in parsed.diagnostics],
    }


def _fact_json(fact: Fact) -> dict[str, Any]:
    return {
        "kind": fact.kind,
        "entities": list(fact.entities),
        "confidence": fact.confidence,
        "text": fact.text,
        "line": fact.line,
        "end_line": fact.end_line,
        "details": list(fact.details),
        "evidence": list(fact.evidence),
    }


def _path_of(file: str, workspace: str, agent: str) -> str:
    """Where a file stands in the workspace, or its path as given where it stands in none."""
    if file == "-":
        raise UsageFault("stdin has no path", remedy="say what to read it as: --as memory/2026-01-05.md")
    real = os.path.realpath(file)
    try:
        bank = open_workspace(workspace, agent)
    except MemoryFault:
        return file.replace(os.sep, "/")
    relative = bank.relative(real)
    return relative if relative != real.replace(os.sep, "/") else file.replace(os.sep, "/")


def _where(file: str, workspace: str, agent: str) -> str:
    """The file itself: as given, or below the workspace where only that one exists."""
    if not os.path.lexists(file) and not os.path.isabs(file):
        try:
            inside = os.path.join(open_workspace(workspace, agent).root, file)
        except MemoryFault:
            return file
        return inside if os.path.isfile(inside) else file
    return file


def lint_command(paths: list[str], workspace: str, agent: str, as_json: bool) -> int:
    """Parse the workspace's files (or those named) and print their faults."""
    from ..parsers.hints import hints
    from ..parsers.parse import parse_file

    bank = open_workspace(workspace, agent)
    found: list[tuple[str, Diagnostic]] = []
    unread = 0
    for path, real in _files(bank, paths):
        try:
            file = read_text(real)
        except MemoryFault as fault:
            note(str(fault))
            unread += 1
            continue
        text = file.text
        told = sorted([*parse_file(text, path).diagnostics, *hints(text, path), *_core_faults(path, file.data)])
        found += [(path, diagnostic) for diagnostic in told]
    if as_json:
        emit_json([{"path": p, "line": d.line, "code": d.code, "message": d.message} for p, d in found])
    else:
        for path, diagnostic in found:
            line = _fault_line(path, diagnostic)
            print(paint(visible(line), "yellow"))
        if not found:
            note("nothing to report")
    return 1 if found else 3 if unread else 0


def _core_faults(path: str, data: bytes) -> list[Diagnostic]:
    from ..parsers.days import CORE, role_of

    if role_of(path) != CORE:
        return []
    from ..reflect.core_lint import core_faults

    return core_faults(data)


def _files(bank: Bank, paths: list[str]) -> list[tuple[str, str]]:
    from ..bank.scan import scan

    if not paths:
        return [(path, os.path.join(bank.root, path)) for path in sorted(scan(bank).files)]
    real = [bank.resolve(path) for path in paths]
    return [(bank.relative(path), path) for path in real]


def _fault_line(path: str, diagnostic: Diagnostic) -> str:
    return f"{path}:{diagnostic.line}: {diagnostic.code}: {diagnostic.message}"
