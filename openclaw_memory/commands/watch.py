"""watch: the index kept up to date while a workspace changes."""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any

import typer

from ..bank.errors import MemoryFault, UsageFault
from ..bank.workspace import Workspace as Bank
from ..context import open_workspace
from ..output import note, say
from .options import Agent, Debug, Json, Workspace


def register(app: typer.Typer, run: Callable[..., Any]) -> None:
    """Add the command to the application."""

    @app.command()
    def watch(
        debounce: Annotated[
            float | None,
            typer.Option(metavar="SECONDS", help="Wait so long after the last change (default: as configured, 1.5)."),
        ] = None,
        interval: Annotated[
            float | None,
            typer.Option(
                metavar="SECONDS", help="Also look so often without being told (default: as configured; 0: never)."
            ),
        ] = None,
        workspace: Workspace = "",
        agent: Agent = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Keep the index up to date as files change, until interrupted. A recall sees changes without it, too."""
        run(lambda: watch_command(debounce, interval, workspace, agent, as_json), debug)


def watch_command(debounce: float | None, interval: float | None, workspace: str, agent: str, as_json: bool) -> int:
    """Sync whenever something changed, and at each interval; a line on stdout for each sync that found something."""
    from ..bank.watching import Watcher

    for option, value in (("--debounce", debounce), ("--interval", interval)):
        if value is not None and not 0 <= value <= 86_400:
            raise UsageFault(f"{option} {value:g}: must be 0 to 86400 seconds")
    bank = open_workspace(workspace, agent)
    settings = bank.settings.sync
    debounce = settings.debounce if debounce is None else debounce
    interval = settings.interval if interval is None else interval
    if not settings.watch and not interval:
        raise UsageFault(
            "memory.search.sync.watch is false and no interval is set",
            remedy="give --interval SECONDS, or set it otherwise in the configuration",
        )
    wake, ended = threading.Event(), threading.Event()

    def end(*_: object) -> None:
        ended.set()
        wake.set()

    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), end)
    watcher = Watcher(bank, wake.set, debounce)
    wake.set()
    if settings.watch:
        watcher.start()
    note(f"watching {bank.root}; stop with Ctrl-C")
    told = ""
    try:
        while True:
            # Never an endless wait: Windows would not see Ctrl-C.
            due = time.monotonic() + interval if interval else None
            while not wake.wait(0.5) and (due is None or time.monotonic() < due):
                if watcher.problem != told:
                    told = watcher.problem
                    note(f"warning: {told}; files are looked at every {interval:g} s" if interval else _without(told))
            if ended.is_set():
                return 0
            wake.clear()
            _sync(bank, as_json)
    finally:
        watcher.stop()


def _without(problem: str) -> str:
    return f"warning: {problem}; give --interval SECONDS" if problem else "changes are watched again"


def _sync(bank: Bank, as_json: bool) -> None:
    from ..bank.model_space import fill_chosen
    from ..bank.sync import sync

    try:
        report = sync(bank, timeout=60.0)
        filled = fill_chosen(bank, role="question")
        if bank.settings.searches_sessions:
            from ..bank.transcripts.index import index_of
            from ..bank.transcripts.sync import sync_transcripts

            sync_transcripts(index_of(bank))
    except MemoryFault as fault:
        # What stands in the way now may be gone at the next change.
        note(f"warning: {fault}")
        return
    counts = {word: len(getattr(report, word)) for word in ("added", "changed", "renamed", "removed")}
    counts["embedded"] = filled.embedded if filled else 0
    moment = datetime.now().astimezone().replace(microsecond=0)
    if any(counts.values()):
        parts = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
        say(json.dumps({"time": moment.isoformat(), **counts}) if as_json else f"{moment:%H:%M:%S} {parts}")
        sys.stdout.flush()
    for path, why in report.skipped:
        note(f"{path}: not read ({why}); its last indexed text stays")
