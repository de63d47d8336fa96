"""What every command starts from: which workspace, what time it is, and how to show that long work goes on."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from .bank.config import Configuration, WorkspaceChoice, configured_agents, find_workspace, read_configuration
from .bank.errors import UsageFault
from .bank.workspace import Workspace

#: Fewer things than this are done before a progress bar could be seen.
_LONG = 300


def choose(workspace: str = "", agent: str = "", configuration: Configuration | None = None) -> WorkspaceChoice:
    """Which workspace is meant: the option, the environment, the configuration, or the default."""
    return find_workspace(workspace or None, agent or None, os.environ, configuration)


def open_workspace(workspace: str = "", agent: str = "") -> Workspace:
    """The workspace that is meant, with the models and settings that are configured for the agent. Raises
    ``MemoryFault`` where there is none, or where the configuration is broken."""
    return open_chosen(workspace, agent)[1]


def open_chosen(workspace: str = "", agent: str = "") -> tuple[WorkspaceChoice, Workspace]:
    """The same, with why it is that one."""
    configuration = read_configuration(os.environ)
    choice = choose(workspace, agent, configuration)
    return choice, Workspace.configured(choice.path, configuration, choice.agent)


def open_all(workspace: str = "", agent: str = "") -> Iterator[tuple[WorkspaceChoice, Workspace]]:
    """The workspace that is meant; where neither it nor an agent is named, that of every configured agent."""
    configuration = read_configuration(os.environ)
    named = workspace or agent or os.environ.get("OPENCLAW_WORKSPACE", "").strip()
    for one in [agent] if named else configured_agents(configuration) or [agent]:
        choice = choose(workspace, one, configuration)
        yield choice, Workspace.configured(choice.path, configuration, choice.agent)


def read_now(given: str) -> datetime:
    """``--now``, or the clock, in the local zone. Raises ``UsageFault`` for what is no ISO date or date-time."""
    if not given:
        return datetime.now().astimezone()
    try:
        moment = datetime.fromisoformat(given)
    except ValueError:
        raise UsageFault(f"--now {given!r}: not a date or date-time", remedy="write 2025-12-06T09:00") from None
    try:
        return moment if moment.tzinfo else moment.astimezone()
    except (ValueError, OverflowError, OSError):
        # The local zone does not reach to the ends of the calendar.
        return moment.replace(tzinfo=UTC)


def progress_bar(doing: str = "indexing") -> Callable[[int, int], None] | None:
    """Shows (things done, things to do) on stderr while a terminal looks on; None where none does."""
    if not sys.stderr.isatty():
        return None

    def show(done: int, total: int) -> None:
        if total >= _LONG and (done % 16 == 0 or done == total):
            filled = 30 * done // total
            end = "\r\033[K" if done == total else ""
            print(
                f"\r{doing} [{'#' * filled}{'.' * (30 - filled)}] {done}/{total}{end}",
                end="",
                file=sys.stderr,
                flush=True,
            )

    return show
