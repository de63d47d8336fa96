"""init, status, doctor: a workspace begun, looked at and checked."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..bank.errors import UsageFault
from ..context import choose, open_all, progress_bar
from ..output import emit_json, note, paint, say, visible
from ..status import status_of
from .options import Agent, Debug, Json, Workspace

if TYPE_CHECKING:
    pass


def register(app: typer.Typer, run: Callable[..., Any]) -> None:
    """Add the commands to the application."""

    @app.command()
    def init(
        path: Annotated[str, typer.Argument(help="The folder; the workspace that is meant by default.")] = "",
        demo: Annotated[
            bool, typer.Option("--demo", help="Fill it with five invented weeks to try things on.")
        ] = False,
        workspace: Workspace = "",
        agent: Agent = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Create a workspace. Files that are there already are left as they are."""
        run(lambda: init_command(path, demo, workspace, agent, as_json), debug)

    @app.command()
    def status(
        deep: Annotated[bool, typer.Option("--deep", help="Also check the index's integrity.")] = False,
        index: Annotated[bool, typer.Option("--index", help="Bring the index up to date first.")] = False,
        fix: Annotated[bool, typer.Option("--fix", help="Build an unusable index again.")] = False,
        verbose: Annotated[bool, typer.Option("--verbose", "-v", help="List the files that changed.")] = False,
        workspace: Workspace = "",
        agent: Agent = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Tell which workspace and index are used, and if they agree."""
        run(lambda: status_command(deep, index or fix, verbose, workspace, agent, as_json), debug)

    @app.command()
    def doctor(
        workspace: Workspace = "",
        agent: Agent = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Check the workspace, the index and the installation. Exit code 1 when something is broken."""
        from .doctor import doctor_command

        run(lambda: doctor_command(workspace, agent, as_json), debug)


def init_command(path: str, demo: bool, workspace: str, agent: str, as_json: bool) -> int:
    """Copy the template into a folder, never over a file that is there."""
    from ..bank.template import copy_template

    if path and workspace:
        raise UsageFault("two workspaces are named", f"{path}, --workspace {workspace}", "name one")
    target = os.path.abspath(os.path.expanduser(path)) if path else choose(workspace, agent).path
    created, kept = copy_template(target, demo)
    if as_json:
        emit_json({"workspace": target, "created": created, "kept": kept})
        return 0
    for name in created:
        say(f"created {name}")
    for name in kept:
        note(f"kept {name} as it is")
    where = "" if target == choose("", agent).path else f" --workspace {target}"
    note(f"the workspace is {target}; next: openclaw memory retain 'W @Peter: Lives in Lisbon.'{where}")
    return 0


def status_command(deep: bool, fix: bool, verbose: bool, workspace: str, agent: str, as_json: bool) -> int:
    """Where things are and whether the index says what the files say; of every configured agent where none is named."""
    from ..bank.sync import sync

    entries = []
    for choice, bank in open_all(workspace, agent):
        if fix:
            report = sync(bank, progress=progress_bar())
            if report.note:
                note(report.note)
        told, changed = status_of(bank, choice, deep)
        entries.append(told)
        if as_json:
            continue
        if len(entries) > 1:
            print()
        _print_status(told)
        for path in changed if verbose else ():
            say(f"pending  {path}")
    if as_json:
        emit_json(entries)
    return 0


def _print_status(told: dict[str, Any]) -> None:
    state, engine = told["index"], told["sqlite"]
    rows = [
        ("workspace", told["workspace"]),
        ("from", told["workspaceSource"]),
        ("agent", told["agent"]),
        ("backend", _backend(told)),
        (
            "index",
            state.get("problem") or ("none yet; the next recall builds it" if not state["exists"] else state["path"]),
        ),
    ]
    if state["usable"]:
        rows.append(("holds", f"{state['files']} files, {state['passages']} passages, {state['chunks']} chunks"))
        rows.append(("fresh", "yes" if not state["stale"] else f"no, {state['pending']} files changed since"))
        if "integrity" in state:
            rows.append(("integrity", state["integrity"]))
    if "embeddingProbe" in told:
        probe = told["embeddingProbe"]
        rows.append(("probe", "the model answers" if probe["ok"] else f"the model does not answer: {probe['error']}"))
    embeddings = told["embeddings"]
    named = " ".join(filter(None, (embeddings["provider"], embeddings["model"])))
    left = f"; {embeddings['pending']} passages wait for it" if embeddings.get("pending") else ""
    rows.append(("embeddings", f"{named} ({embeddings['reason']}){left}"))
    rows.append(("vectors", f"sqlite-vec {engine['vec']}" if engine["vec"] else f"in process ({engine['noVec']})"))
    extensions = "extensions load" if engine["extensions"] else "no extensions"
    rows.append(("sqlite", f"{engine['sqlite']} ({engine['driver']}; {extensions})"))
    for name, value in rows:
        print(f"{paint(f'{name:<10}', 'dim')} {visible(str(value))}")
    for line in embeddings["warnings"]:
        note(f"warning: {line}")


def _backend(told: dict[str, Any]) -> str:
    qmd = told.get("qmd")
    if not qmd:
        return "built-in index"
    problem = f"; QMD does not answer: {qmd['problem']}; the built-in index does" if qmd["problem"] else ""
    ready = sum(1 for one in qmd["collections"] if one["ready"])
    return f"QMD {qmd['version'] or '?'} ({qmd['command']}), {ready} of {len(qmd['collections'])} collections{problem}"
