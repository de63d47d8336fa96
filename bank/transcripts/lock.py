"""Who may write the index of transcripts: one process at a time, of which one in the background makes way for a
command that somebody waits for. What it has committed by then is kept."""

import contextlib
import os
from collections.abc import Iterator

from ..errors import Busy, MemoryFault
from ..files import writer_lock
from .index import TranscriptIndex, make_folder

#: Seconds to wait before somebody in the background is asked to make way.
_GLANCE = 0.5


@contextlib.contextmanager
def transcripts_lock(index: TranscriptIndex, timeout: float, purpose: str = "indexing transcripts") -> Iterator[None]:
    """Be the one that writes for the body. ``timeout``: seconds to wait, 0 not at all; whoever waits makes a process in
    the background stop. Raises ``Busy``."""
    make_folder(index)
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(writer_lock(index.lock_path, min(timeout, _GLANCE), purpose))
        except Busy:
            if timeout <= 0:
                raise
            with writer_lock(_wanted(index), timeout, f"waiting, {purpose}"):
                held.enter_context(writer_lock(index.lock_path, timeout, purpose))
        yield


def is_running(index: TranscriptIndex) -> bool:
    """Whether some process writes the index, or none can, as the lock cannot be had."""
    return _is_held(index.lock_path)


def is_wanted(index: TranscriptIndex) -> bool:
    """Whether a command waits for the process in the background to make way."""
    return _is_held(_wanted(index))


def _wanted(index: TranscriptIndex) -> str:
    return os.path.join(index.root, "transcripts.wanted")


def _is_held(path: str) -> bool:
    if not os.path.exists(path):
        return False
    try:
        with writer_lock(path, 0.0, "looking"):
            return False
    except MemoryFault:
        return True
