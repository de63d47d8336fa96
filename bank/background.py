"""Embedding that would keep a question waiting is left to a process of its own, which outlives the question.

That process ends at once when a command wants to embed or to delete the index, and when the settings change: each batch
is written as it comes, so that whoever is next goes on with what is missing.
"""

import os
import subprocess
import sys
import threading
import time
from typing import NoReturn

from .config import Configuration, configuration_path, read_configuration
from .embedding_lock import is_running, is_wanted
from .embeddings.models import Models
from .errors import Busy, MemoryFault
from .workspace import Workspace

#: Set to 0, false or no: nothing is started; ``index`` has to be run.
BACKGROUND = "OPENCLAW_MEMORY_BACKGROUND"
#: Seconds between two looks at whether to go on.
_LOOK = 0.25
#: What this process has started and has not been told the end of, by index and task.
_started: dict[tuple[str, str], "subprocess.Popen[bytes]"] = {}


def start_indexing(workspace: Workspace) -> bool:
    """Start embedding a workspace in a process of its own, unless one is at it already; whether one is at it now."""
    return is_running(workspace) or _start(workspace, "embed")


def start_syncing(workspace: Workspace) -> bool:
    """Start reading what changed in a process of its own, unless this one has started one; whether one is at it now.
    Two of them do no harm: the second ends at once."""
    return _start(workspace, "sync")


def _start(workspace: Workspace, task: str) -> bool:
    if os.environ.get(BACKGROUND, "").strip().casefold() in ("0", "false", "no"):
        return False
    if workspace.extra_paths != workspace.settings.extra_paths:
        # Another process would not know of what was given to this one alone.
        return False
    last = _started.get((workspace.index_path, task))
    if last and last.poll() is None:
        return True
    # -P: not from whatever lies in the folder that this process stands in.
    command = [sys.executable, "-P", "-m", __name__, workspace.root, workspace.models.agent, task]
    nothing = subprocess.DEVNULL
    try:
        _started[workspace.index_path, task] = subprocess.Popen(
            command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True, close_fds=True
        )
    except OSError:
        return False
    return True


def run(root: str, agent: str, task: str = "embed") -> int:
    """What the process does; its exit code. Nobody reads what it would say: ``index`` says the same."""
    from .model_space import fill_chosen
    from .sync import sync

    try:
        configuration = read_configuration(os.environ)
        workspace = Workspace.configured(root, configuration, agent)
        if task == "sync":
            sync(workspace, timeout=0.0)
            return 0
        threading.Thread(target=_watch, args=(workspace, configuration), daemon=True).start()
        sync(workspace)
        fill_chosen(workspace, role="background")
    except MemoryFault as fault:
        return fault.exit_code
    return 0


def _watch(workspace: Workspace, configuration: Configuration) -> NoReturn:
    """End this process where it stands as soon as it is in the way."""
    seen = _stamp(configuration.path)
    while not is_wanted(workspace):
        time.sleep(_LOOK)
        stamp = _stamp(configuration_path(os.environ))
        if stamp != seen:
            seen = stamp
            try:
                models = Models.configured(read_configuration(os.environ), workspace.models.agent)
            except MemoryFault:
                break
            if models.settings != workspace.models.settings:
                break
    os._exit(Busy.exit_code)


def _stamp(path: str) -> tuple[str, int, int, int]:
    try:
        status = os.stat(path)
    except OSError:
        return path, 0, 0, 0
    return path, status.st_mtime_ns, status.st_size, status.st_ino


if __name__ == "__main__":
    sys.exit(run(*sys.argv[1:]))
