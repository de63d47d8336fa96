"""The flush before a compaction: whether an agent is to write down now what should outlive its conversation, and how it
is asked to.

Due when a session's tokens pass ``context window - reserve - soft threshold``, once in each compaction cycle, where the
workspace can be written. ``flush_plan`` only looks; ``claim_flush`` looks and takes the cycle, so that of several
processes one alone is told to run it. When it ran, ``mark_flush`` notes that; a failure gives the cycle back, up to
three times.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from .config import Configuration
from .errors import UsageFault, fault_of, one_line
from .flush_marks import claimed, failures_of, flushed, given_back, last_flush
from .flush_prompts import day_path, prompt_for, system_prompt_for
from .flush_settings import FlushSettings, read_flush
from .flush_size import FlushRequest, size_of, threshold_of, transcript_of
from .sandbox import not_writable
from .session_store import (
    Session,
    Sessions,
    count_in,
    find_session,
    locked_store,
    read_sessions,
    store_path,
    write_entry,
)
from .workspace import Workspace

__all__ = ["FlushPlan", "FlushRequest", "Mark", "claim_flush", "flush_plan", "mark_flush"]

#: A cycle is given up after so many failures.
MOST_FAILURES = 3


class FlushPlan(NamedTuple):
    """``due``: whether to flush now. ``code``: due, or why not: disabled, read-only, unknown-size, below-threshold,
    flushed. ``reason``: the same in words. ``claimed``: whether this call took the cycle. ``model``: for the turn, ""
    for the session's own. ``tokens``, ``window``, ``reserve``, ``soft_threshold``, ``threshold``: in tokens; due above
    it. ``path``: of the day's log, below the workspace. ``cycle``: how often the session was compacted; ``flushed``: in
    which cycle a flush ran last, None for none. ``session``: the key as the file spells it. ``warnings``: lines for a
    person."""

    due: bool
    code: str
    reason: str
    claimed: bool
    prompt: str
    system_prompt: str
    model: str
    tokens: int | None
    window: int | None
    reserve: int
    soft_threshold: int
    threshold: int | None
    path: str
    agent: str
    session: str
    store: str
    cycle: int
    flushed: int | None
    warnings: tuple[str, ...] = ()


class Mark(NamedTuple):
    """What was noted. ``done``: whether the cycle counts as flushed now. ``failures``: how often it failed so far."""

    session: str
    store: str
    cycle: int
    done: bool
    failures: int


def flush_plan(
    workspace: Workspace,
    configuration: Configuration,
    request: FlushRequest,
    *,
    now: datetime,
    environ: Mapping[str, str] | None = None,
) -> FlushPlan:
    """Whether a flush is due, and what to say then. Writes nothing, and may be asked again.

    ``now``: aware, in the person's zone, unless ``userTimezone`` names another. Raises ``MemoryFault`` for a
    configuration or sessions that do not read, ``UsageFault`` for numbers below 0 and names of no agent.
    """
    environ = os.environ if environ is None else environ
    settings, warnings = _settings(configuration, request, environ)
    sessions = read_sessions(store_path(request.agent, environ, settings.store))
    return _plan(workspace, sessions, request, settings, warnings, now)


def claim_flush(
    workspace: Workspace,
    configuration: Configuration,
    request: FlushRequest,
    *,
    now: datetime,
    environ: Mapping[str, str] | None = None,
    timeout: float = 10.0,
) -> FlushPlan:
    """The same, and when it is due, the cycle is taken: nobody else is told so again before the next compaction.

    ``timeout``: seconds to wait for other writers of the sessions. Raises as ``flush_plan`` does, and ``Busy``.
    """
    environ = os.environ if environ is None else environ
    plan = flush_plan(workspace, configuration, request, now=now, environ=environ)
    if not plan.due:
        return plan
    settings, warnings = _settings(configuration, request, environ)
    _make_folder(plan.store)
    with locked_store(plan.store, timeout):
        sessions = read_sessions(plan.store)
        plan = _plan(workspace, sessions, request, settings, warnings, now)
        if not plan.due:
            return plan
        session = find_session(sessions, request.session, request.agent, settings.main_key)
        write_entry(sessions, session.key, claimed(session, plan.cycle, _moment(now)))
    return plan._replace(claimed=True)


def mark_flush(
    configuration: Configuration,
    request: FlushRequest,
    *,
    now: datetime,
    failed: bool = False,
    environ: Mapping[str, str] | None = None,
    timeout: float = 10.0,
) -> Mark:
    """Note that the flush of this cycle ran, or ``failed``: then it is due again, until it has failed three times.

    Noting the same twice changes nothing more. Raises as ``claim_flush`` does.
    """
    environ = os.environ if environ is None else environ
    settings, _ = _settings(configuration, request, environ)
    path = store_path(request.agent, environ, settings.store)
    _make_folder(path)
    with locked_store(path, timeout):
        sessions = read_sessions(path)
        session = find_session(sessions, request.session, request.agent, settings.main_key)
        cycle = _cycle(sessions, session, request)
        failures = (failures_of(sessions, session) + 1) if failed else 0
        done = not failed or failures >= MOST_FAILURES
        moment = _moment(now)
        changes = flushed(session, cycle, moment) if done else given_back(session, cycle, failures, moment)
        if not failed and last_flush(sessions, session, cycle) == cycle:
            # The claim has noted it already; its moment stays.
            changes.pop("memoryFlushAt")
        write_entry(sessions, session.key, changes)
    return Mark(session.key, path, cycle, done, failures)


def _settings(
    configuration: Configuration, request: FlushRequest, environ: Mapping[str, str]
) -> tuple[FlushSettings, list[str]]:
    key = request.session.strip()
    if not key or not key.isprintable():
        raise UsageFault("no session is named", one_line(key), "give its key, such as agent:main:main")
    for name, value in (
        ("tokens", request.tokens),
        ("context window", request.window),
        ("cycle", request.cycle),
        ("transcript", request.transcript),
    ):
        if value is not None and value < 0:
            raise UsageFault(f"{name}: {value} is below 0", remedy="give a number of 0 or more")
    return read_flush(configuration, request.agent, environ)


def _plan(
    workspace: Workspace,
    sessions: Sessions,
    request: FlushRequest,
    settings: FlushSettings,
    warnings: list[str],
    now: datetime,
) -> FlushPlan:
    warnings = list(warnings)
    session = find_session(sessions, request.session, request.agent, settings.main_key)
    cycle = _cycle(sessions, session, request)
    last = last_flush(sessions, session, cycle)
    tokens, window = size_of(sessions, session, request)
    reserve, soft, threshold = threshold_of(settings, window, warnings)
    local, zone = _local(now, settings, warnings)
    path = day_path(local)
    forced = transcript_of(sessions, session, request) if settings.force_bytes else 0
    forced = forced if forced >= settings.force_bytes else 0
    locked = not_writable(workspace, settings, session, request.agent, path, request.access)
    if not settings.enabled:
        code, reason = "disabled", f"{settings.places['enabled']} is false"
    elif locked:
        code, reason = "read-only", locked
    elif forced and last != cycle:
        code, reason = "due", f"its transcript has {forced:,} bytes; due from {settings.force_bytes:,} on"
    elif tokens is None or threshold is None:
        missing = "how many tokens it has" if tokens is None else "the context window"
        code, reason = "unknown-size", f"nobody says {missing}, nor does the session's entry"
    elif tokens <= threshold:
        code, reason = "below-threshold", f"{tokens:,} tokens; due above {threshold:,}"
    elif last == cycle:
        code, reason = "flushed", f"a flush ran in this compaction cycle already ({cycle})"
    else:
        code, reason = "due", f"{tokens:,} tokens are more than {threshold:,}"
    return FlushPlan(
        code == "due",
        code,
        reason,
        False,
        prompt_for(local, settings.prompt, zone),
        system_prompt_for(local, settings.system_prompt),
        settings.model,
        tokens,
        window,
        reserve,
        soft,
        threshold,
        path,
        request.agent,
        session.key,
        sessions.path,
        cycle,
        last,
        tuple(warnings),
    )


def _local(now: datetime, settings: FlushSettings, warnings: list[str]) -> tuple[datetime, str]:
    """The moment in the person's zone, and that zone's name."""
    if settings.zone:
        from zoneinfo import ZoneInfo

        try:
            return now.astimezone(ZoneInfo(settings.zone)), settings.zone
        except (KeyError, OSError, ValueError):
            warnings.append(f"{settings.places['zone']}: no such time zone: {settings.zone}; this machine's is used")
    return now, now.tzname() or "local time"


def _cycle(sessions: Sessions, session: Session, request: FlushRequest) -> int:
    return request.cycle if request.cycle is not None else count_in(sessions, session, "compactionCount") or 0


def _make_folder(path: str) -> None:
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    except OSError as error:
        raise fault_of(error, "cannot make the folder of the sessions", os.path.dirname(path)) from None


def _moment(now: datetime) -> int:
    """Milliseconds since the epoch, as OpenClaw counts."""
    return int(now.timestamp() * 1000)
