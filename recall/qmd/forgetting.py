"""What ``reset`` removes of an agent's QMD: its index, what is written down of it, and the exported sessions.

QMD's configuration and the models that it has fetched stay; collections of others are indexed anew with ours.
"""

import contextlib
import os
from collections.abc import Mapping

from ...bank.files import writer_lock
from .home import home_of
from .sessions import remove_export
from .settings import QmdSettings

#: Seconds to wait for a process that updates.
_PATIENCE = 5.0
_INDEX = "index.sqlite"


def forget(settings: QmdSettings, *, agent: str, environ: Mapping[str, str] | None = None) -> list[str]:
    """Remove it, and say which files of QMD's index there were. Raises ``Busy`` while an update goes on."""
    home = home_of(agent, os.environ if environ is None else environ)
    removed: list[str] = []
    if not os.path.isdir(home.folder):
        return removed
    with writer_lock(home.lock_path, _PATIENCE, "removing QMD's index"):
        remove_export(settings, home)
        for path in (
            home.record_path,
            *(os.path.join(home.cache, "qmd", _INDEX + tail) for tail in ("", "-wal", "-shm")),
        ):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
                removed.append(path)
    return removed
