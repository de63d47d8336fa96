"""A resident process reads what changed before anybody asks for it, so that a question seldom waits for that."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

from ..bank.errors import MemoryFault
from ..bank.workspace import Workspace
from ..memory import Memory

#: Seconds between two looks at whether QMD has something to do; its own settings say what is due.
_LOOK = 15.0


@contextlib.contextmanager
def refreshed(memory: Memory) -> Iterator[None]:
    """Sync in the background, as the configuration wants it: at the start, whenever files have changed and come to
    rest, at an interval; and have QMD kept up to date, where it is the back end. A question that comes first does it
    itself, as ever."""
    from ..bank.watching import Watcher

    settings = memory.workspace.settings.sync
    ended = threading.Event()
    with contextlib.ExitStack() as running:
        if settings.watch:
            # It also tells of a change when it begins.
            running.enter_context(Watcher(memory.workspace, lambda: _refresh(memory), settings.debounce))
        elif settings.on_session_start:
            running.enter_context(_thread(lambda: _refresh(memory)))
        if settings.interval:
            running.enter_context(_thread(lambda: _every(settings.interval, ended, lambda: _refresh(memory))))
        if memory.workspace.settings.backend == "qmd":
            running.enter_context(_thread(lambda: _keep_qmd(memory.workspace, ended)))
        running.callback(ended.set)
        yield


def _refresh(memory: Memory) -> None:
    # A fault is told to whoever asks next.
    with contextlib.suppress(MemoryFault):
        memory.refresh()


def _keep_qmd(workspace: Workspace, ended: threading.Event) -> None:
    from ..recall.qmd.settings import read_qmd
    from ..recall.qmd.upkeep import begin, tick

    agent = workspace.models.agent
    with contextlib.suppress(MemoryFault):
        settings = read_qmd(workspace.configuration, agent)[0]
        begin(workspace, settings, agent=agent)

        def look() -> None:
            with contextlib.suppress(MemoryFault):
                tick(workspace, settings, agent=agent)

        _every(_LOOK, ended, look)


def _every(seconds: float, ended: threading.Event, work: Callable[[], None]) -> None:
    while not ended.wait(seconds):
        work()


@contextlib.contextmanager
def _thread(work: Callable[[], None]) -> Iterator[None]:
    """Work beside the body; what is begun when that ends is not waited for."""
    threading.Thread(target=work, daemon=True).start()
    yield
