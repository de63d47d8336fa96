"""Embedding that would keep a question waiting is left to a process of its own, which outlives the question."""

import os
import subprocess
import sys

from .model_space import is_running
from .workspace import Workspace

#: Set to 0, false or no: nothing is started; ``index`` has to be run.
BACKGROUND = "OPENCLAW_MEMORY_BACKGROUND"
#: What this process has started and has not been told the end of.
_started: dict[str, "subprocess.Popen[bytes]"] = {}


def start_indexing(workspace: Workspace) -> bool:
    """Start ``openclaw-memory index`` for a workspace, unless one is at it already; whether one is at it now."""
    if os.environ.get(BACKGROUND, "").strip().casefold() in ("0", "false", "no"):
        return False
    last = _started.get(workspace.root)
    if (last and last.poll() is None) or is_running(workspace):
        return True
    # -P: not from whatever lies in the folder that this process stands in.
    command = [sys.executable, "-P", "-m", "openclaw_memory", "index", "--workspace", workspace.root]
    nothing = subprocess.DEVNULL
    try:
        _started[workspace.root] = subprocess.Popen(
            [*command, "--agent", workspace.models.agent],
            stdin=nothing,
            stdout=nothing,
            stderr=nothing,
            start_new_session=True,
            close_fds=True,
        )
    except OSError:
        return False
    return True
