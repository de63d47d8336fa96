"""What ``status`` and ``doctor`` tell of QMD."""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ...bank.errors import MemoryFault
from ...bank.files import writer_lock
from ...bank.workspace import Workspace
from .collections import matching
from .home import Home, Work, home_of, read_record
from .process import QmdUnavailable, find_qmd
from .settings import QmdSettings
from .upkeep import what_is_due


def qmd_status(
    workspace: Workspace, settings: QmdSettings, *, agent: str, environ: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """``{backend, command, binary, version, searchMode, home, collections, stale, updating, lastUpdate, lastEmbed,
    lastFailure, warnings, problem}``.

    ``binary``, ``version``: null where there is none. ``collections``: ``{name, root, pattern, source, ready}``.
    ``lastUpdate``, ``lastEmbed``: when they last began with success, ISO 8601 in UTC, or null. ``lastFailure``:
    ``{of: update|embed, at, reason, failures}`` of what has failed since, or null. ``problem``: why QMD cannot answer
    at the moment, or null. Never raises.
    """
    environ = os.environ if environ is None else environ
    told: dict[str, Any] = {
        "backend": "qmd",
        "command": settings.command,
        "binary": None,
        "version": None,
        "searchMode": settings.search_mode,
        "home": None,
        "collections": [],
        "stale": True,
        "updating": False,
        "lastUpdate": None,
        "lastEmbed": None,
        "lastFailure": None,
        "warnings": [],
        "problem": None,
    }
    try:
        home = home_of(agent, environ)
        told["home"] = home.folder
        record = read_record(home)
        due = what_is_due(workspace, settings, home, record, datetime.now(UTC).timestamp())
        ready = matching(due.wanted, record)
        told |= {
            "collections": [one._asdict() | {"ready": name in ready} for name, one in due.wanted.items()],
            "stale": due.behind,
            "updating": _is_updating(home),
            "lastUpdate": _iso(record.update.done),
            "lastEmbed": _iso(record.embed.done),
            "lastFailure": _failure("update", record.update) or _failure("embed", record.embed),
            "warnings": list(dict.fromkeys((*due.warnings, *record.warnings))),
        }
        qmd = find_qmd(settings.command, home, environ)
        told["binary"] = qmd.words[0]
        ended = qmd.run(["--version"], settings.upkeep.command_timeout)
        if ended.code:
            raise QmdUnavailable(f"`--version` failed with {ended.why}")
        told["version"] = ended.output.strip().removeprefix("qmd ") or None
        if not ready:
            told["problem"] = record.update.reason or "QMD is not set up yet"
    except QmdUnavailable as problem:
        told["problem"] = problem.reason
    except MemoryFault as fault:
        told["problem"] = str(fault)
    return told


def _iso(moment: float) -> str | None:
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds") if moment else None


def _failure(of: str, work: Work) -> dict[str, Any] | None:
    if not work.failures:
        return None
    return {"of": of, "at": _iso(work.tried), "reason": work.reason, "failures": work.failures}


def _is_updating(home: Home) -> bool:
    if not os.path.exists(home.lock_path):
        return False
    try:
        with writer_lock(home.lock_path, 0.0, "looking"):
            return False
    except MemoryFault:
        return True
