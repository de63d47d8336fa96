"""Who may embed a workspace: one process at a time, of which one in the background makes way for a person's command."""

import contextlib
import os
from collections.abc import Iterator
from typing import Literal

from .errors import Busy, MemoryFault
from .files import writer_lock
from .workspace import Workspace

#: Seconds to wait for another who may only be looking whether somebody embeds.
_GLANCE = 0.5
_LOCK, _WANTED = "embedding.lock", "embedding.wanted"
_BEHIND = "embedding in the background"
#: On whose behalf: of a command that somebody waits for, of a question, or in a process of its own.
Role = Literal["command", "question", "background"]


def is_running(workspace: Workspace) -> bool:
    """Whether some process is embedding this workspace, or none can, as its lock cannot be had."""
    return _is_held(_path(workspace, _LOCK))


def is_wanted(workspace: Workspace) -> bool:
    """Whether a command waits for the process in the background to make way."""
    return _is_held(_path(workspace, _WANTED))


@contextlib.contextmanager
def embedding_lock(workspace: Workspace, timeout: float, role: Role) -> Iterator[None]:
    """Be the one that embeds for the body. A ``command`` gets a process in the background to make way; ``timeout``:
    seconds to wait for that. Raises ``Busy``, which names who embeds, where another goes on."""
    path = _path(workspace, _LOCK)
    purpose = _BEHIND if role == "background" else "embedding"
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(writer_lock(path, min(timeout, _GLANCE), purpose))
        except Busy as busy:
            if role != "command" or _BEHIND not in busy.what:
                raise
            with writer_lock(_path(workspace, _WANTED), timeout, "waiting to embed"):
                held.enter_context(writer_lock(path, timeout, purpose))
        yield


def _path(workspace: Workspace, name: str) -> str:
    return os.path.join(workspace.index_dir, name)


def _is_held(path: str) -> bool:
    if not os.path.exists(path):
        return False
    try:
        with writer_lock(path, 0.0, "looking"):
            return False
    except MemoryFault:
        return True
