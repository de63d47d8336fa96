"""A resident process reads what changed before anybody asks for it, so that a question seldom waits for that."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ..bank.errors import MemoryFault
from ..memory import Memory


@contextlib.contextmanager
def refreshed(memory: Memory) -> Iterator[None]:
    """Sync in the background whenever files have changed and come to rest, where the configuration wants them watched.
    A question that comes first does it itself, as ever."""
    settings = memory.workspace.settings.sync
    if not settings.watch:
        yield
        return
    from ..bank.watching import Watcher

    def refresh() -> None:
        # A fault is told to whoever asks next.
        with contextlib.suppress(MemoryFault):
            memory.refresh()

    with Watcher(memory.workspace, refresh, settings.debounce):
        yield
