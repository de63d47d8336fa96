"""The Python door: a workspace as an object with the same answers as the command line (``docs/python.md``)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import date, datetime
from types import TracebackType
from typing import Any

from .bank.config import DEFAULT_AGENT, read_configuration
from .bank.errors import UsageFault
from .bank.model_space import fill_chosen
from .bank.resident import Resident
from .bank.retained import bullet_for, log_day, retain_facts
from .bank.sync import Progress, SyncReport, sync
from .bank.workspace import Workspace
from .core import CoreMemory
from .recall.about import about
from .recall.engine import DEFAULT_BUDGET, DEFAULT_K, recall
from .recall.filters import make_filters
from .recall.get import memory_get
from .recall.search import memory_search


class Memory:
    """One workspace. ``Memory("~/notes").recall("what does Peter prefer?")``.

    Every method raises ``openclaw_memory.MemoryFault`` (one line, with what to do) for faults in the input or the
    workspace; ``search`` and ``get`` report theirs in what they return. ``now`` is the clock's time where none is
    given. The answers are the objects of ``docs/json.md``.
    """

    def __init__(self, path: str, *, extra_paths: Sequence[str] = (), agent: str = DEFAULT_AGENT) -> None:
        """``agent``: whose models and settings the configuration (``openclaw.json``, if there is one) is asked for."""
        configuration = read_configuration(os.environ)
        self.workspace = Workspace.configured(os.path.expanduser(path), configuration, agent, extra_paths)
        self.agent = agent
        self._readers = Resident(self.workspace)
        self.workspace.readers = self._readers

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of what is kept open. The object can still be asked."""
        self.workspace.readers = None
        self._readers.close()

    def __del__(self) -> None:
        if hasattr(self, "_readers"):
            self.close()

    def recall(
        self,
        query: str,
        *,
        k: int = DEFAULT_K,
        budget: int = DEFAULT_BUDGET,
        explain: bool = False,
        no_sync: bool = False,
        now: datetime | None = None,
        progress: Progress | None = None,
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
            progress=progress,
        )

    def search(
        self, query: str, *, max_results: int | None = None, now: datetime | None = None, **options: Any
    ) -> dict[str, Any]:
        """OpenClaw's tool ``memory_search`` (``docs/json.md``, search). ``options``: min_score, corpus, citations,
        chat_type, session_key, no_sync, progress."""
        return memory_search(self.workspace, query, now=now or _now(), max_results=max_results, **options)

    def get(
        self, path: str, from_line: int = 1, lines: int | None = None, *, session_key: str | None = None
    ) -> dict[str, Any]:
        """OpenClaw's tool ``memory_get`` (``docs/json.md``, get)."""
        return memory_get(self.workspace, path, from_line, lines, session_key=session_key)

    def retain(
        self, facts: str | Sequence[str], *, day: date | str = "", now: datetime | None = None
    ) -> dict[str, Any]:
        """Append facts such as ``W @Peter: Lives in Lisbon.`` (or one of them) to a day's log (today's), all or none
        (``docs/json.md``, retain)."""
        given = [facts] if isinstance(facts, str) else facts
        if not given:
            raise UsageFault("there is nothing to retain", remedy="write it like 'W @Peter: Lives in Lisbon.'")
        when = day if isinstance(day, date) else log_day(day, now or _now())
        written = retain_facts(self.workspace, [bullet_for(fact) for fact in given], when)
        return {"retained": [one._asdict() for one in written]}

    def reflect(
        self,
        *,
        dry_run: bool = False,
        since: date | None = None,
        judge: str = "auto",
        now: datetime | None = None,
        progress: Callable[[str], Progress | None] | None = None,
    ) -> dict[str, Any]:
        """Bring the pages up to date with the logs (``docs/json.md``, reflect). ``dry_run`` writes nothing."""
        from .reflect.job import Options, reflect
        from .reflect.report import as_json

        report = reflect(
            self.workspace,
            now=now or _now(),
            scorer=self._scorer(judge),
            options=Options(since=since, dry_run=dry_run),
            progress=progress,
        )
        return as_json(report)

    def entity(
        self, name: str, *, k: int = DEFAULT_K, budget: int = DEFAULT_BUDGET, now: datetime | None = None
    ) -> dict[str, Any]:
        """What is known of one entity, by any of its names (``docs/json.md``, entity)."""
        if k < 1 or budget < 1:
            raise UsageFault(f"k={k}, budget={budget}: both must be 1 or more")
        return about(self.workspace, name, now=now or _now(), k=k, budget=budget)

    def opinions(self, entity: str = "", *, judge: str = "auto", now: datetime | None = None) -> list[dict[str, Any]]:
        """Opinions with their confidence by now, the surest first (``docs/json.md``, opinions)."""
        from .reflect.held import held_opinions
        from .reflect.view import look

        return held_opinions(look(self.workspace, now=now or _now(), scorer=self._scorer(judge)), entity)

    def context(
        self,
        session: str = "main",
        question: str = "",
        *,
        budget: int | None = None,
        projects: Sequence[str] = (),
        now: datetime | None = None,
    ) -> dict[str, Any]:
        """What an agent is to be given before a turn (``docs/json.md``, context). ``session``: ``main``, or ``group``,
        which never sees the core memory."""
        from .recall.context import DEFAULT_BUDGET as PLENTY
        from .recall.context import build_context

        return build_context(
            self.workspace,
            now=now or _now(),
            session=session,
            question=question,
            budget=PLENTY if budget is None else budget,
            projects=projects,
        )

    @property
    def core(self) -> CoreMemory:
        """The core memory: show, append, replace, insert, rethink."""
        return CoreMemory(self.workspace)

    def refresh(self) -> None:
        """Read what changed now, so that the next question need not."""
        self._readers.refresh()

    def sync(self, *, force: bool = False) -> SyncReport:
        """Bring the index up to date (recall and search do that by themselves), with vectors by the provider that is
        configured, however long that takes."""
        report = sync(self.workspace, force=force)
        fill_chosen(self.workspace)
        return report

    def _scorer(self, judge: str) -> Any:
        from .reflect.verdicts.choosing import choose_scorer

        return choose_scorer(
            judge, read_configuration(os.environ), self.agent, self.workspace.index_dir, lambda line: None
        )


_FILTERS = {"since", "until", "as_of", "around", "entity", "kind", "min_confidence", "source"}


def _written(value: Any) -> Any:
    """A filter's value as the command line would have it."""
    if isinstance(value, date):
        return value.isoformat()
    return ",".join(value) if isinstance(value, list | tuple | set) else value


def _now() -> datetime:
    return datetime.now().astimezone()
