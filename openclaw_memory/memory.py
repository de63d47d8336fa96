"""The Python door: a workspace as an object with the same answers as the command line."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from .bank.config import DEFAULT_AGENT, read_configuration
from .bank.errors import UsageFault
from .bank.journal import retain
from .bank.model_space import fill_chosen
from .bank.sync import SyncReport, sync
from .bank.workspace import Workspace
from .recall.engine import DEFAULT_BUDGET, DEFAULT_K, recall
from .recall.filters import make_filters
from .recall.get import memory_get
from .recall.search import DEFAULT_RESULTS, memory_search


class Memory:
    """One workspace. ``Memory("~/notes").recall("what does Peter prefer?")``.

    Every method raises ``openclaw_memory.MemoryFault`` (one line, with what to do) for faults in the
    input or the workspace; ``memory_search`` and ``memory_get`` report theirs in what they return. ``now`` is the
    clock's time where none is given.
    """

    def __init__(self, path: str, *, extra_paths: Sequence[str] = (), agent: str = DEFAULT_AGENT) -> None:
        """``agent``: whose models and settings the configuration (``openclaw.json``, if there is one) is asked for."""
        configuration = read_configuration(os.environ)
        self.workspace = Workspace.configured(os.path.expanduser(path), configuration, agent, extra_paths)

    def recall(
        self,
        query: str,
        *,
        k: int = DEFAULT_K,
        budget: int = DEFAULT_BUDGET,
        explain: bool = False,
        no_sync: bool = False,
        now: datetime | None = None,
        **filters: Any,
    ) -> dict[str, Any]:
        """A cited bundle (``docs/json.md``, recall). ``filters``: since, until, as_of, around, entity, kind,
        min_confidence, source, as on the command line; days may be dates, and kinds a list."""
        moment = now or _now()
        if k < 1 or budget < 1:
            raise UsageFault(f"k={k}, budget={budget}: both must be 1 or more")
        unknown = sorted(set(filters) - _FILTERS)
        if unknown:
            raise UsageFault(f"no such filter: {', '.join(unknown)}", remedy=f"use {', '.join(sorted(_FILTERS))}")
        return recall(
            self.workspace,
            query,
            now=moment,
            k=k,
            budget=budget,
            filters=make_filters(moment, **{name: _written(value) for name, value in filters.items()}),
            explain=explain,
            no_sync=no_sync,
        )

    def memory_search(
        self, query: str, *, max_results: int = DEFAULT_RESULTS, now: datetime | None = None, **options: Any
    ) -> dict[str, Any]:
        """OpenClaw's tool of that name (``docs/json.md``, search). ``options``: min_score, corpus, citations,
        no_sync."""
        return memory_search(self.workspace, query, now=now or _now(), max_results=max_results, **options)

    def memory_get(self, path: str, from_line: int = 1, lines: int | None = None) -> dict[str, Any]:
        """OpenClaw's tool of that name (``docs/json.md``, get)."""
        return memory_get(self.workspace, path, from_line, lines)

    def retain(self, facts: str | Sequence[str], *, day: date | None = None) -> list[str]:
        """Append facts such as ``W @Peter: Lives in Lisbon.`` (or one of them) to a day's log; their citations."""
        given = [facts] if isinstance(facts, str) else facts
        return retain(self.workspace, [f"- {fact.removeprefix('- ')}" for fact in given], day or _now().date())

    def sync(self, *, force: bool = False) -> SyncReport:
        """Bring the index up to date (recall and search do that by themselves), with vectors by the provider that is
        configured, however long that takes."""
        report = sync(self.workspace, force=force)
        fill_chosen(self.workspace)
        return report


_FILTERS = {"since", "until", "as_of", "around", "entity", "kind", "min_confidence", "source"}


def _written(value: Any) -> Any:
    """A filter's value as the command line would have it."""
    if isinstance(value, date):
        return value.isoformat()
    return ",".join(value) if isinstance(value, list | tuple | set) else value


def _now() -> datetime:
    return datetime.now().astimezone()
