"""What is known of one entity: its names, its page, and a bundle of what is said of it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ..bank.entities import find_entity
from ..bank.freshness import ask_fresh
from ..bank.sync import Progress
from ..bank.workspace import Workspace
from .engine import DEFAULT_BUDGET, DEFAULT_K, recall
from .filters import Filters

_OF_RECALL = ("results", "tokens", "truncated", "omitted", "stale", "warning")


def about(
    workspace: Workspace,
    name: str,
    *,
    now: datetime,
    k: int = DEFAULT_K,
    budget: int = DEFAULT_BUDGET,
    no_sync: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """The object that ``entity --json`` prints (``docs/json.md``); ``name``: any spelling, or an alias. Raises
    ``MemoryFault`` when nothing mentions it."""
    (known, page), _ = ask_fresh(
        workspace, lambda connection: find_entity(connection, name), no_sync=no_sync, progress=progress
    )
    answer = recall(workspace, name, now=now, k=k, budget=budget, filters=Filters(entity=name), no_sync=no_sync)
    return {
        "name": known.name,
        "slug": known.slug,
        "names": list(known.names),
        "page": page or None,
        **{field: answer[field] for field in _OF_RECALL},
    }
