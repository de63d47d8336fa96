"""Keeping QMD's index up: sessions are exported, collections set up, ``qmd update`` and ``qmd embed`` run when due.

One process at a time does so. What fails is tried again later and later, an hour apart at most.
"""

import os
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from ...bank.errors import Busy, MemoryFault
from ...bank.files import writer_lock
from ...bank.workspace import Workspace
from .collections import Collection, bring_in_step, mark_of, wanted_collections
from .freshness import changed_since
from .home import Home, Made, Record, Work, home_of, make_home, read_record, write_record
from .process import QmdUnavailable, find_qmd
from .sessions import export_sessions, sessions_behind
from .settings import QmdSettings

_SOONEST_RETRY = 30.0
_LATEST_RETRY = 3600.0


def update_due(settings: QmdSettings, record: Record, now: float, *, behind: bool = False, boot: bool = False) -> bool:
    """Whether QMD should update at ``now`` (seconds since the epoch). ``behind``: whether something is known to have
    changed; ``boot``: whether a long-lived process begins."""
    work = record.update
    if not _may_try(work, now, settings.upkeep.debounce):
        return False
    if not work.done or behind or (boot and settings.upkeep.on_boot):
        return True
    return _is_over(work, now, settings.upkeep.interval)


def embed_due(settings: QmdSettings, record: Record, now: float) -> bool:
    """Whether QMD should embed: only where searching needs vectors, and at an interval of its own."""
    interval = settings.upkeep.embed_interval
    if settings.search_mode == "search" or not interval or not _may_try(record.embed, now, 0.0):
        return False
    return not record.embed.done or _is_over(record.embed, now, interval)


def _may_try(work: Work, now: float, least: float) -> bool:
    wait = least
    if work.failures:
        wait = max(least, min(_LATEST_RETRY, _SOONEST_RETRY * 2 ** min(work.failures - 1, 10)))
    # A clock that was set back is no reason to wait.
    return not 0 <= now - work.tried < wait


def _is_over(work: Work, now: float, interval: float) -> bool:
    return interval > 0 and not 0 <= now - work.done < interval


class Due(NamedTuple):
    """``behind``: whether the index is known not to hold what it should. ``wanted``: the collections."""

    update: bool
    embed: bool
    behind: bool
    wanted: dict[str, Collection]
    warnings: list[str]


def what_is_due(
    workspace: Workspace, settings: QmdSettings, home: Home, record: Record, now: float, boot: bool = False
) -> Due:
    """What is due at ``now``, by the record and the files."""
    wanted, warnings = wanted_collections(workspace, settings, home)
    memory = [one for one in wanted.values() if one.source != "sessions"]
    behind = (
        mark_of(wanted) != record.asked
        or changed_since(memory, record.update.done, now)
        or sessions_behind(settings, home, now)
    )
    update = update_due(settings, record, now, behind=behind, boot=boot)
    return Due(update, embed_due(settings, record, now), behind, wanted, warnings)


def keep_up(
    workspace: Workspace,
    settings: QmdSettings,
    *,
    agent: str,
    environ: Mapping[str, str] | None = None,
    boot: bool = False,
    force: bool = False,
    wait: float = 0.0,
) -> Record:
    """Do what is due (``force``: whether it is due or not) and say how it went: failures are written into the record,
    and are no faults. ``wait``: seconds to wait for another process that does it. Raises ``Busy`` where that one is
    not done by then, ``MemoryFault`` where the agent's folder cannot be written to."""
    environ = os.environ if environ is None else environ
    home = home_of(agent, environ)
    make_home(home)
    with writer_lock(home.lock_path, wait, "updating QMD"):
        record = read_record(home)
        began = time.time()
        due = what_is_due(workspace, settings, home, record, began, boot)
        if force or due.update:
            record = _update(workspace, settings, home, environ, record, began)
            write_record(home, record)
        # Nothing is embedded of what is not indexed.
        with_vectors = settings.search_mode != "search"
        if with_vectors and not record.update.failures and (force or embed_due(settings, record, time.time())):
            record = record._replace(embed=_embed(settings, home, environ, record.embed))
            write_record(home, record)
        return record


def _update(
    workspace: Workspace,
    settings: QmdSettings,
    home: Home,
    environ: Mapping[str, str],
    record: Record,
    began: float,
) -> Record:
    limits = settings.upkeep
    made: Mapping[str, Made] = record.made
    warnings: list[str] = []
    try:
        qmd = find_qmd(settings.command, home, environ)
        warnings += export_sessions(settings, home, began)
        wanted, missing = wanted_collections(workspace, settings, home)
        made, problems = bring_in_step(qmd, wanted, made, limits.command_timeout)
        warnings += missing + problems
        ended = qmd.run(["update"], limits.update_timeout)
        if ended.code:
            raise QmdUnavailable(f"`update` failed with {ended.why}")
    except QmdUnavailable as problem:
        return record._replace(made=made, update=record.update.failed(began, problem.reason))
    return Record(made, record.update.succeeded(began), record.embed, tuple(warnings), mark_of(wanted))


def _embed(settings: QmdSettings, home: Home, environ: Mapping[str, str], work: Work) -> Work:
    began = time.time()
    try:
        ended = find_qmd(settings.command, home, environ).run(["embed"], settings.upkeep.embed_timeout)
        if ended.code:
            raise QmdUnavailable(f"`embed` failed with {ended.why}")
    except QmdUnavailable as problem:
        return work.failed(began, problem.reason)
    return work.succeeded(began)


def begin(workspace: Workspace, settings: QmdSettings, *, agent: str, environ: Mapping[str, str] | None = None) -> str:
    """What a long-lived process does first: update in the background, or here where ``waitForBootSync`` says so. Why
    QMD could not be updated here, or ""."""
    environ = os.environ if environ is None else environ
    if settings.upkeep.wait:
        return wait_for_update(workspace, settings, agent=agent, environ=environ, boot=True)
    from .background import start_upkeep

    start_upkeep(workspace, agent, environ, boot=True)
    return ""


def tick(workspace: Workspace, settings: QmdSettings, *, agent: str, environ: Mapping[str, str] | None = None) -> bool:
    """What a long-lived process does from time to time: start what is due in the background; whether that goes on."""
    from .background import start_upkeep

    environ = os.environ if environ is None else environ
    home = home_of(agent, environ)
    due = what_is_due(workspace, settings, home, read_record(home), time.time())
    return (due.update or due.embed) and start_upkeep(workspace, agent, environ)


def index_now(
    workspace: Workspace, settings: QmdSettings, *, agent: str, environ: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """What a person's command does: everything, whether it is due or not. ``{collections, embedded, warnings,
    problem}``: how many collections there are, whether QMD embedded (null with the mode ``search``), and why it could
    not update or embed, or null. Raises ``MemoryFault`` where the agent's folder cannot be written to, ``Busy`` where
    another process is at it for too long."""
    wait = settings.upkeep.update_timeout
    record = keep_up(workspace, settings, agent=agent, environ=environ, force=True, wait=wait)
    with_vectors = settings.search_mode != "search"
    return {
        "collections": len(record.made),
        "embedded": (not record.update.failures and not record.embed.failures) if with_vectors else None,
        "warnings": list(record.warnings),
        "problem": record.update.reason or (record.embed.reason if with_vectors else "") or None,
    }


def wait_for_update(
    workspace: Workspace, settings: QmdSettings, *, agent: str, environ: Mapping[str, str], boot: bool = False
) -> str:
    """Do what is due, or wait for the process that does it; why that did not succeed, or ""."""
    try:
        wait = settings.upkeep.update_timeout
        return keep_up(workspace, settings, agent=agent, environ=environ, boot=boot, wait=wait).update.reason
    except Busy:
        return "another process is still updating it"
    except MemoryFault as fault:
        return str(fault)
