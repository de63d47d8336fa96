"""What ``status`` tells: which workspace and index are used, and whether they agree."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from .bank.config import WorkspaceChoice
from .bank.workspace import Workspace
from .stock_status import stock_entry

if TYPE_CHECKING:
    from .bank.model_space import FillReport


def status_of(bank: Workspace, choice: WorkspaceChoice, deep: bool = False) -> tuple[dict[str, Any], list[str]]:
    """The entry of one agent that ``status --json`` prints (``docs/json.md``), and the paths that changed since they
    were indexed. ``deep``: also check the integrity of the index, and whether the model answers."""
    from .bank import spaces
    from .bank.driver import describe
    from .bank.index import IndexUnusable, open_to_read
    from .bank.store import count_rows
    from .bank.sync import pending_changes

    embeddings = embeddings_of(bank)
    told: dict[str, Any] = {
        "workspace": bank.root,
        "workspaceSource": choice.source,
        "agent": choice.agent,
        "backend": bank.settings.backend,
        "provider": embeddings["provider"],
        "embeddings": embeddings,
        "index": {"path": bank.index_path, "exists": os.path.isfile(bank.index_path), "usable": False, "stale": True},
        "sqlite": describe(),
    }
    told["sqlite"] |= vector_engine(bank)
    if bank.settings.backend == "qmd":
        from .recall.qmd.settings import read_qmd
        from .recall.qmd.status import qmd_status

        qmd = qmd_status(bank, read_qmd(bank.configuration, choice.agent)[0], agent=choice.agent)
        told |= {"backend": "builtin" if qmd["problem"] else "qmd", "qmd": qmd}
    state = told["index"]
    changed: list[str] = []
    try:
        connection = open_to_read(bank)
    except IndexUnusable as problem:
        state["problem"] = f"the index {problem}"
        connection = None
    if connection is not None:
        changes = pending_changes(bank, connection)
        changed = [*changes.read, *changes.absent]
        state |= {
            "usable": True,
            "stale": bool(changes),
            "pending": len(changed),
            "bytes": os.path.getsize(bank.index_path),
        }
        state |= count_rows(connection)
        state |= {"vectors": spaces.count(connection, spaces.STATIC), "modelVectors": 0}
        embedder = bank.models.choice().embedder
        if embedder and embedder.provider != "static":
            embeddings["pending"] = spaces.pending(connection, embedder.fingerprint)
            state["modelVectors"] = spaces.count(connection, spaces.MODEL)
        if deep:
            from .commands.doctor import integrity

            state["integrity"] = integrity(connection) or "ok"
        connection.close()
    return stock_entry(bank, told, deep) | told, changed


def embeddings_of(bank: Workspace, filled: FillReport | None = None) -> dict[str, Any]:
    """What turned the passages into vectors: the provider, and what it did just now."""
    choice = bank.models.choice()
    told: dict[str, Any] = {
        "provider": choice.embedder.provider if choice.embedder else "none",
        "model": choice.embedder.model if choice.embedder else None,
        "reason": choice.reason,
        "fallbackFrom": choice.fallback_from or None,
        "warnings": [*bank.warnings, *bank.models.warnings, *([choice.warning] if choice.warning else [])],
    }
    if filled:
        told |= {"embedded": filled.embedded, "cached": filled.cached, "pending": filled.pending}
        told["warnings"] += filled.notes
    return told


def vector_engine(bank: Workspace) -> dict[str, Any]:
    """``vec``: the version of sqlite-vec, or None; ``noVec``: why it is not used, or None."""
    from .bank.driver import connect, load_vectors

    settings = bank.models.settings
    if not settings.vector_extension:
        return {"vec": None, "noVec": "memory.search.store.vector.enabled is false"}
    connection = connect(":memory:")
    try:
        problem = load_vectors(connection, settings.extension_path)
        if problem and settings.extension_path:
            problem = f"memory.search.store.vector.extensionPath: {problem}"
        version = None if problem else connection.execute("SELECT vec_version()").fetchone()[0]
        return {"vec": version, "noVec": problem or None}
    finally:
        connection.close()
