"""init, index, status, reset, doctor: the workspace and its index kept in order."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..bank.errors import MemoryFault, UsageFault
from ..context import choose, open_all, open_workspace, progress_bar
from ..output import emit_json, note, paint, say, visible
from ..status import embeddings_of, status_of
from .options import Agent, Debug, Json, Workspace

if TYPE_CHECKING:
    from ..bank.workspace import Workspace as Bank


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
    def index(
        force: Annotated[bool, typer.Option("--force", help="Read and parse every file again.")] = False,
        verbose: Annotated[bool, typer.Option("--verbose", "-v", help="List the files.")] = False,
        workspace: Workspace = "",
        agent: Agent = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Bring the index up to date. Recall and search do that by themselves."""
        run(lambda: index_command(force, verbose, workspace, agent, as_json), debug)

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
        """Tell which workspace and index are used, and whether they agree."""
        run(lambda: status_command(deep, index or fix, verbose, workspace, agent, as_json), debug)

    @app.command()
    def reset(
        yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
        embeddings: Annotated[
            bool, typer.Option("--embeddings", help="Also forget the vectors that a provider gave.")
        ] = False,
        workspace: Workspace = "",
        agent: Agent = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Delete the index. No Markdown is touched; the next command builds it again."""
        run(lambda: reset_command(yes, embeddings, workspace, agent, as_json), debug)

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


def index_command(force: bool, verbose: bool, workspace: str, agent: str, as_json: bool) -> int:
    """Sync, and say what changed; exit code 3 when some files could not be read."""
    from ..bank.freshness import open_fresh
    from ..bank.model_space import fill_chosen
    from ..bank.store import count_rows
    from ..bank.sync import sync

    bank = open_workspace(workspace, agent)
    report = sync(bank, force=force, progress=progress_bar())
    filled = fill_chosen(bank, progress=progress_bar("embedding"))
    said = _index_transcripts(bank, force) if bank.settings.searches_sessions else None
    fresh = open_fresh(bank, no_sync=True)
    counts = count_rows(fresh.connection)
    fresh.connection.close()
    told: dict[str, Any] = {
        "added": report.added,
        "changed": report.changed,
        "renamed": [{"from": old, "to": new} for old, new in report.renamed],
        "removed": report.removed,
        "skipped": [{"path": path, "reason": why} for path, why in report.skipped],
        "unread": list(report.unread),
        "note": report.note or None,
        **counts,
        "embeddings": embeddings_of(bank, filled),
        **({} if said is None else {"sessions": said}),
    }
    if as_json:
        emit_json(told)
    else:
        _print_report(report, verbose)
        if said is not None:
            print(f"{len(said['read'])} transcripts read, {len(said['removed'])} removed")
        for entry in said["skipped"] if said else ():
            note(f"skipped  {entry['path']}: {entry['reason']}")
        for line in said["unread"] if said else ():
            note(line)
        print(f"{counts['files']} files, {counts['passages']} passages, {counts['chunks']} chunks")
        _print_embeddings(told["embeddings"])
    return (
        3 if report.is_partial or (filled and filled.pending) or (said and (said["skipped"] or said["unread"])) else 0
    )


def _index_transcripts(bank: Bank, force: bool) -> dict[str, Any]:
    """Index all that the agent's transcripts say."""
    from ..bank.transcripts.index import index_of, remove
    from ..bank.transcripts.sync import sync_transcripts

    index = index_of(bank)
    if force:
        remove(index)
    told = sync_transcripts(index, progress=progress_bar("transcripts"))
    return {
        "read": told.read,
        "removed": told.removed,
        "skipped": [{"path": path, "reason": why} for path, why in told.skipped],
        "unread": list(told.unread),
    }


def _print_embeddings(told: dict[str, Any]) -> None:
    for line in told["warnings"]:
        note(f"warning: {line}")
    if "embedded" in told:
        left = f", {told['pending']} still without a vector" if told["pending"] else ""
        print(f"{told['embedded']} texts embedded, {told['cached']} known, by {told['provider']} {told['model']}{left}")


def _print_report(report: Any, verbose: bool) -> None:
    if report.note:
        note(report.note)
    if verbose:
        for word in ("added", "changed", "removed"):
            for path in getattr(report, word):
                say(f"{word:<8} {path}")
        for old, new in report.renamed:
            say(f"renamed  {old} -> {new}")
    for path, why in report.skipped:
        note(f"{path}: not read ({why}); its last indexed text stays")
    for folder in report.unread:
        note(f"{folder}: cannot be read; what was indexed of it stays")
    parts = [(len(getattr(report, word)), word) for word in ("added", "changed", "renamed", "removed")]
    changes = ", ".join(f"{count} {word}" for count, word in parts if count)
    print(changes or "up to date")


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


def _remove_transcripts(bank: Bank) -> list[str]:
    """Delete the index of the agent's transcripts, switched on or not."""
    from ..bank.transcripts.index import index_of, remove
    from ..bank.transcripts.lock import transcripts_lock

    index = index_of(bank)
    if not os.path.exists(index.index_path):
        return []
    with transcripts_lock(index, 60.0, "resetting"):
        return remove(index)


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


def reset_command(yes: bool, embeddings: bool, workspace: str, agent: str, as_json: bool) -> int:
    """Delete the index, after asking where a terminal is there to answer."""
    from ..bank.embedding_lock import embedding_lock
    from ..bank.embeddings import cache
    from ..bank.files import writer_lock
    from ..bank.index import remove

    bank = open_workspace(workspace, agent)
    if not yes:
        if not sys.stdin.isatty():
            raise UsageFault("reset asks first, and nobody is there to answer", remedy="add --yes")
        if not typer.confirm(f"Delete the index of {bank.root}? No Markdown is touched.", err=True):
            raise MemoryFault("nothing was deleted")
    removed: list[str] = []
    if os.path.isdir(bank.index_dir):
        with embedding_lock(bank, 10.0, "command"), writer_lock(bank.lock_path, 10.0, "resetting"):
            removed = remove(bank)
            if embeddings and cache.remove(bank.index_dir):
                removed.append(f".memory/{cache.FILE}")
    removed += _remove_transcripts(bank)
    if as_json:
        emit_json({"removed": removed})
    else:
        for name in removed:
            print(f"deleted {name}")
        if not removed:
            note("there was no index")
    return 0
