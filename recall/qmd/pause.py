"""QMD that did not answer in time is left alone for a minute, so that not every question waits for it in vain.

Until when, stands in a small file in the agent's QMD home. Other settings are another QMD.
"""

import contextlib
import json
import os
import time

from .home import Home
from .settings import QmdSettings

#: Seconds.
PAUSE = 60.0
_FILE = "openclaw-memory-pause.json"


def paused(home: Home, settings: QmdSettings) -> str:
    """Why QMD is left alone at the moment; "" when it may be asked."""
    try:
        with open(_path(home), encoding="utf-8") as file:
            told = json.load(file)
        if told["of"] == _mark(settings) and 0 <= told["until"] - time.time() <= PAUSE:
            return str(told["reason"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    return ""


def pause(home: Home, settings: QmdSettings, reason: str) -> None:
    """Leave it alone from now on; where that cannot be written down, the next question waits again."""
    path = _path(home)
    temporary = f"{path}.{os.getpid()}"
    with contextlib.suppress(OSError):
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump({"of": _mark(settings), "until": time.time() + PAUSE, "reason": reason}, file)
        os.replace(temporary, path)


def _path(home: Home) -> str:
    return os.path.join(home.folder, _FILE)


def _mark(settings: QmdSettings) -> str:
    return f"{settings.search_mode} {settings.limits.timeout:g} {settings.command}"
