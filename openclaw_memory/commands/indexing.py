"""index, reset: everything that is built from the Markdown, brought up to date or deleted."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from ..bank.errors import Busy, MemoryFault, UsageFault
from ..bank.workspace import Workspace as Bank
from ..context import open_workspace, progress_bar
from ..output import emit_json, note, say
from ..status import embeddings_of
from .options import Agent, Debug, Json, Workspace


def register(app: typer.Typer, run: Callable[..., Any]) -> None:
    """Add the commands to the application."""

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
    qmd = _index_by_qmd(bank) if bank.settings.backend == "qmd" else None
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
        **({} if qmd is None else {"qmd": qmd}),
    }
    if as_json:
        emit_json(told)
    else:
        _print_report(report, verbose)
        if said is not None:
            _print_transcripts(said)
        if qmd is not None:
            _print_qmd(qmd)
        print(f"{counts['files']} files, {counts['passages']} passages, {counts['chunks']} chunks")
        _print_embeddings(told["embeddings"])
    partly = report.is_partial or bool(filled and filled.pending) or bool(said and (said["skipped"] or said["unread"]))
    return 3 if partly or (qmd and qmd["problem"]) else 0


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


def _index_by_qmd(bank: Bank) -> dict[str, Any]:
    """Have QMD read everything, whether it is due or not."""
    from ..recall.qmd.settings import read_qmd
    from ..recall.qmd.upkeep import index_now

    agent = bank.models.agent
    try:
        return index_now(bank, read_qmd(bank.configuration, agent)[0], agent=agent)
    except Busy as busy:
        return {"collections": 0, "embedded": None, "warnings": [], "problem": str(busy)}


def _print_transcripts(said: dict[str, Any]) -> None:
    print(f"{len(said['read'])} transcripts read, {len(said['removed'])} removed")
    for entry in said["skipped"]:
        note(f"skipped  {entry['path']}: {entry['reason']}")
    for line in said["unread"]:
        note(line)


def _print_qmd(qmd: dict[str, Any]) -> None:
    for line in qmd["warnings"]:
        note(f"warning: {line}")
    if qmd["problem"]:
        note(f"warning: QMD did not index: {qmd['problem']}; the built-in index answers")
    else:
        print(f"QMD has read {qmd['collections']} collections")


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


def _remove_transcripts(bank: Bank) -> list[str]:
    """Delete the index of the agent's transcripts, switched on or not."""
    from ..bank.transcripts.index import index_of, remove
    from ..bank.transcripts.lock import transcripts_lock

    index = index_of(bank)
    if not os.path.exists(index.index_path):
        return []
    with transcripts_lock(index, 60.0, "resetting"):
        folder = os.path.dirname(index.index_path)
        return [os.path.join(folder, name) for name in remove(index)]


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
    if bank.settings.backend == "qmd":
        from ..recall.qmd.forgetting import forget
        from ..recall.qmd.settings import read_qmd

        removed += forget(read_qmd(bank.configuration, bank.models.agent)[0], agent=bank.models.agent)
    if as_json:
        emit_json({"removed": removed})
    else:
        for name in removed:
            print(f"deleted {name}")
        if not removed:
            note("there was no index")
    return 0
