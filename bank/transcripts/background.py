"""Transcripts indexed by a process of their own, which outlives the question that started it.

It makes way for a command that wants to index or to delete the index.
"""

import os
import subprocess
import sys

from ..background import BACKGROUND
from ..errors import MemoryFault
from .index import TranscriptIndex
from .lock import is_running

#: What this process has started and has not been told the end of.
_started: dict[str, "subprocess.Popen[bytes]"] = {}


def start_indexing(index: TranscriptIndex) -> bool:
    """Start indexing all that differs, unless some process is at it already; whether one is at it now."""
    last = _started.get(index.index_path)
    if (last and last.poll() is None) or is_running(index):
        return True
    if os.environ.get(BACKGROUND, "").strip().casefold() in ("0", "false", "no"):
        return False
    # -P: not from whatever lies in the folder that this process stands in.
    command = [sys.executable, "-P", "-m", __name__, index.state, index.agent]
    nothing = subprocess.DEVNULL
    try:
        _started[index.index_path] = subprocess.Popen(
            command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True, close_fds=True
        )
    except OSError:
        return False
    return True


def run(state: str, agent: str) -> int:
    """What the process does; its exit code."""
    from .sync import sync_transcripts

    try:
        sync_transcripts(TranscriptIndex(state, agent), timeout=0.0, gives_way=True)
    except MemoryFault as fault:
        return fault.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(run(*sys.argv[1:]))
