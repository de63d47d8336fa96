"""Whether what QMD has indexed may be behind the files: by their times of change, below the folders that it reads."""

import os
from collections.abc import Iterable

from .collections import Collection

#: So many files and folders are looked at; below larger folders only the interval of updates counts.
MOST_LOOKED_AT = 5000
#: Folders that QMD does not read.
_UNREAD = frozenset(("node_modules", "vendor", "dist", "build"))
#: Seconds by which a file system's clock may be behind.
_TOLERANCE = 1.0


def changed_since(collections: Iterable[Collection], moment: float, now: float) -> bool:
    """Whether a file was added, changed or removed between about ``moment`` and ``now`` (seconds since the epoch), as
    far as that can be told at once. A time after ``now`` tells nothing."""

    def is_new(status: os.stat_result) -> bool:
        return moment - _TOLERANCE < status.st_mtime < now + _TOLERANCE

    left = MOST_LOOKED_AT
    for one in collections:
        flat = "/" not in one.pattern and "**" not in one.pattern
        folders = [one.root]
        while folders:
            folder = folders.pop()
            try:
                # A folder's own time tells of what was added and removed; the workspace's tells of much else.
                if not flat and is_new(os.stat(folder)):
                    return True
                with os.scandir(folder) as entries:
                    for entry in entries:
                        left -= 1
                        if left < 0:
                            return False
                        if entry.name.startswith(".") or entry.is_symlink():
                            continue
                        if entry.is_dir():
                            if not flat and entry.name not in _UNREAD:
                                folders.append(entry.path)
                        elif is_new(entry.stat()) and one.has(
                            os.path.relpath(entry.path, one.root).replace(os.sep, "/")
                        ):
                            return True
            except OSError:
                continue
    return False
