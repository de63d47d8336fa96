"""retain, facts, lint: writing facts, and reading what a file says without an index."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from datetime import date
from typing import Annotated, Any

import typer

from ..bank.errors import MemoryFault, UsageFault
from ..bank.files import read_text
from ..bank.workspace import Workspace as Bank
from ..context import open_workspace, read_now
from ..output import emit_json, note, paint, print_table, say, visible
from ..parsers.records import Diagnostic, Fact, ParsedFile
from .options import Agent, Debug, Json, Now, Workspace


def register(app: typer.Typer, run: Callable[..., Any]) -> None:
    """Add the commands to the application."""

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
        workspace: Workspace = "",
        agent: Agent = "",
        now: Now = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Append facts to today's log, under its Retain heading."""
        run(lambda: retain_command(text, kind, entity or [], confidence, day, workspace, agent, now, as_json), debug)

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


def retain_command(
    texts: list[str],
    kind: str,
    entities: list[str],
    confidence: float | None,
    day: str,
    workspace: str,
    agent: str,
    now: str,
    as_json: bool,
) -> int:
    """Check each fact by reading it as it will be read, then append them all at once."""
    from ..bank.journal import retain
    from ..parsers.parse import parse_file
    from ..parsers.times import parse_when

    moment = read_now(now)
    when: date = moment.date()
    if day:
        try:
            days = parse_when(day, moment)
        except ValueError as error:
            raise UsageFault(f"--day {day!r}: {error}") from None
        if days.first != days.last:
            raise UsageFault(f"--day {day!r}: more than one day", remedy="name one, like 2025-11-27 or yesterday")
        when = days.first
    given = [line for text in texts for line in (_stdin_lines() if text == "-" else [text])]
    if not given:
        raise UsageFault(
            "there is nothing to retain", remedy="write one fact a line, like 'W @Peter: Lives in Lisbon.'"
        )
    bullets = [_bullet(text, kind, entities, confidence) for text in given]
    ids = []
    for bullet in bullets:
        parsed = parse_file(f"## Retain\n\n{bullet}\n", f"memory/{when.isoformat()}.md")
        if parsed.diagnostics or len(parsed.facts) != 1:
            faults = [diagnostic.message.split(";")[0] for diagnostic in parsed.diagnostics]
            problem = faults[0] if faults else "it reads as no single fact"
            raise UsageFault(f"not retained: {problem}", bullet)
        ids.append(parsed.facts[0].id)
    cited = retain(open_workspace(workspace, agent), bullets, when)
    if as_json:
        rows = zip(ids, cited, bullets, strict=True)
        emit_json({"retained": [{"id": i, "source": s, "bullet": b} for i, s, b in rows]})
    else:
        for source, bullet in zip(cited, bullets, strict=True):
            say(f"{source}  {bullet}")
    return 0


def _stdin_lines() -> list[str]:
    text = sys.stdin.buffer.read().decode("utf-8", "replace")
    return [line for line in text.splitlines() if line.strip()]


def _bullet(text: str, kind: str, entities: list[str], confidence: float | None) -> str:
    """The bullet for one given fact: typed already, or bare text with the options' type."""
    from ..parsers.prefix import parse_typed
    from ..parsers.records import KIND_BY_LETTER, LETTER_BY_KIND
    from ..parsers.retain import render_fact

    line = " ".join(text.split()).removeprefix("- ").removeprefix("* ")
    if not line:
        raise UsageFault("there is nothing to retain", remedy="write it like 'W @Peter: Lives in Lisbon.'")
    if not kind:
        if parse_typed(line) is None:
            raise UsageFault(
                "a fact needs its type", line[:80], "start it with W, B, O or S ('W @Peter: …'), or give --kind"
            )
        if entities or confidence is not None:
            raise UsageFault("--entity and --confidence go with --kind", line[:80], "or write them in the fact itself")
        return f"- {line}"
    named = KIND_BY_LETTER.get(kind.upper(), kind.casefold())
    if named not in LETTER_BY_KIND:
        raise UsageFault(f"--kind {kind!r}: no such kind", remedy="use W, B, O or S")
    if confidence is not None and not 0 <= confidence <= 1:
        raise UsageFault(f"--confidence {confidence}: must be from 0 to 1")
    return render_fact(named, [name.lstrip("@") for name in entities], confidence, line)


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
            text = read_text(real).text
        except MemoryFault as fault:
            note(str(fault))
            unread += 1
            continue
        told = sorted([*parse_file(text, path).diagnostics, *hints(text, path)])
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


def _files(bank: Bank, paths: list[str]) -> list[tuple[str, str]]:
    from ..bank.scan import scan

    if not paths:
        return [(path, os.path.join(bank.root, path)) for path in sorted(scan(bank).files)]
    real = [bank.resolve(path) for path in paths]
    return [(bank.relative(path), path) for path in real]


def _fault_line(path: str, diagnostic: Diagnostic) -> str:
    return f"{path}:{diagnostic.line}: {diagnostic.code}: {diagnostic.message}"
