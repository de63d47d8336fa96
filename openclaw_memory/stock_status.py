"""The entry of one agent in ``status --json``, under the names that scripts know from OpenClaw's own command."""

from __future__ import annotations

from typing import Any

from .bank.workspace import Workspace


def stock_entry(bank: Workspace, told: dict[str, Any], deep: bool = False) -> dict[str, Any]:
    """``{agentId, status, scan, embeddingProbe?}`` of what ``status_of`` tells. ``deep`` asks the model once; a missing
    key or a provider that does not answer is told, never raised."""
    index, embeddings, settings = told["index"], told["embeddings"], bank.settings
    stale, files = index["stale"], index.get("files", 0)
    issues = [index["problem"]] if "problem" in index else []
    status: dict[str, Any] = {
        "backend": told["backend"],
        "files": files,
        "chunks": index.get("chunks", 0),
        "dirty": stale,
        "workspaceDir": bank.root,
        "dbPath": bank.index_path,
        "storage": {"databaseBytes": index.get("bytes", 0)},
        "provider": told["provider"],
        "model": embeddings["model"],
        "requestedProvider": bank.models.settings.provider,
        "sources": list(settings.sources),
        "extraPaths": [extra.path for extra in bank.extra_paths],
        "sourceCounts": [
            {"source": "memory", "files": files, "chunks": index.get("chunks", 0), "dirty": stale, "issues": issues}
        ],
        "cache": {
            "enabled": bank.models.settings.cache_enabled,
            "maxEntries": bank.models.settings.cache_max_entries,
        },
        "fts": {"enabled": True, "available": told["sqlite"]["fts5"]},
        "vector": {"enabled": bank.models.settings.vector_extension, "available": told["sqlite"]["vec"] is not None},
    }
    if embeddings["fallbackFrom"]:
        status["fallback"] = {"from": embeddings["fallbackFrom"], "reason": embeddings["reason"]}
    pending = index.get("pending", 0) if index["exists"] else 0
    entry: dict[str, Any] = {
        "agentId": told["agent"],
        "status": status,
        "scan": {
            "sources": [{"source": "memory", "totalFiles": files, "issues": issues}],
            "totalFiles": files,
            "issues": [*issues, *([f"{pending} files changed since they were indexed"] if pending else [])],
        },
    }
    return entry | ({"embeddingProbe": _probe(bank)} if deep else {})


def _probe(bank: Workspace) -> dict[str, Any]:
    from .bank.embeddings.protocol import EmbeddingFault

    embedder = bank.models.choice().embedder
    if embedder is None:
        return {"ok": False, "error": "no model is configured; words alone are searched"}
    try:
        embedder.embed_query("status")
    except EmbeddingFault as fault:
        return {"ok": False, "error": str(fault)}
    return {"ok": True}
