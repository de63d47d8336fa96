"""What QMD has to do for its index is left to a process of its own, which outlives the question."""

import os
import subprocess
import sys
from collections.abc import Mapping

from ...bank.background import BACKGROUND
from ...bank.config import read_configuration
from ...bank.errors import MemoryFault
from ...bank.workspace import Workspace

#: What this process has started and has not been told the end of, by workspace and agent.
_started: dict[tuple[str, str], "subprocess.Popen[bytes]"] = {}


def start_upkeep(workspace: Workspace, agent: str, environ: Mapping[str, str], *, boot: bool = False) -> bool:
    """Start a process that does what is due, unless one of ours is at it; whether one is at it now."""
    if environ.get(BACKGROUND, "").strip().casefold() in ("0", "false", "no"):
        return False
    key = (workspace.root, agent)
    last = _started.get(key)
    if last and last.poll() is None:
        return True
    # -P: not from whatever lies in the folder that this process stands in.
    command = [sys.executable, "-P", "-m", __name__, workspace.root, agent, *(["boot"] if boot else [])]
    nothing = subprocess.DEVNULL
    try:
        _started[key] = subprocess.Popen(
            command, stdin=nothing, stdout=nothing, stderr=nothing, env=dict(environ), start_new_session=True
        )
    except OSError:
        return False
    return True


def run(root: str, agent: str, *words: str) -> int:
    """What the process does; its exit code. Nobody reads what it would say: the record says it."""
    from .settings import read_qmd
    from .upkeep import keep_up

    try:
        configuration = read_configuration(os.environ)
        workspace = Workspace.configured(root, configuration, agent)
        settings, _ = read_qmd(configuration, agent)
        keep_up(workspace, settings, agent=agent, boot="boot" in words)
    except MemoryFault as fault:
        return fault.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(run(*sys.argv[1:]))
