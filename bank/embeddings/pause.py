"""A provider that failed is left alone for a while, so that not every question waits for it again.

What failed, and until when, stands in a small file beside the index. It is forgotten when the provider answers, when
another one is chosen, and when its time is up.
"""

import json
import os
import time

from .protocol import EmbeddingFault

FILE = "embedding-pause.json"
#: Seconds; the longer where asking again soon cannot help (a refused key, a missing model).
PAUSE, LONG_PAUSE = 60, 600


def paused(folder: str, fingerprint: str) -> str:
    """What the provider failed with, while it is left alone; "" when it may be asked."""
    try:
        with open(os.path.join(folder, FILE), encoding="utf-8") as file:
            told = json.load(file)
        if told["fingerprint"] == fingerprint and 0 <= told["until"] - time.time() <= LONG_PAUSE:
            return str(told["fault"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    return ""


def pause(folder: str, fingerprint: str, fault: EmbeddingFault) -> None:
    """Leave the provider alone from now on; where that cannot be written down, the next question tries again."""
    until = time.time() + (LONG_PAUSE if fault.lasting else PAUSE)
    path = os.path.join(folder, FILE)
    temporary = f"{path}.{os.getpid()}"
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump({"fingerprint": fingerprint, "until": until, "fault": str(fault)}, file)
        os.replace(temporary, path)
    except OSError:
        _remove(temporary)


def forget(folder: str) -> None:
    """The provider has answered."""
    _remove(os.path.join(folder, FILE))


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
