"""Whether any file of a workspace changed since, told by the kernel without looking at one of them.

Linux queues a change (inotify) before the call that made it returns, so that whoever reads the queue knows of every
write that was over by then. Elsewhere, on a network mount, and where the kernel has no watches left, nothing can be
told like that, and the files have to be looked at.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from .workspace import Workspace

if TYPE_CHECKING:
    import inotify_simple

#: Kinds of file systems whose every change comes from this kernel.
_LOCAL = frozenset("bcachefs btrfs exfat ext2 ext3 ext4 f2fs jfs ntfs3 overlay ramfs tmpfs vfat xfs zfs".split())
_FOLDERS = ("memory", "bank")
#: Seconds after which the files are looked at all the same: the kernel tells nothing of what is written by way of a
#: memory map, or by another name (a hard link) outside of the workspace.
TRUSTED = 5.0


class Watch:
    """A count of changes below a workspace, from 0 on."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._lock = threading.Lock()
        self._count = 0
        self._queue: inotify_simple.INotify | None = None
        self._root = -1
        self._trusted_until = 0.0
        if sys.platform == "linux":
            try:
                self._start()
            except (ImportError, OSError):
                self._stop()

    def count(self) -> int | None:
        """How many changes there were; None where that cannot be told: the files may have changed at any time."""
        with self._lock:
            if self._queue is None:
                return None
            try:
                for event in self._queue.read(timeout=0):
                    self._take(event)
            except (OSError, ValueError):
                self._stop()
                return None
            if time.monotonic() > self._trusted_until:
                self._trusted_until = time.monotonic() + TRUSTED
                self._count += 1
            return self._count

    def close(self) -> None:
        """Give the kernel its queue back; from now on nothing can be told."""
        with self._lock:
            self._stop()

    def _start(self) -> None:
        import inotify_simple

        places = list(_places(self._workspace))
        if not all(_is_local(place) for place in places):
            return
        self._queue = inotify_simple.INotify()
        flags = inotify_simple.flags
        self._flags = flags
        self._mask = flags.CREATE | flags.MODIFY | flags.ATTRIB | flags.DELETE | flags.MOVED_FROM | flags.MOVED_TO
        self._mask |= flags.DELETE_SELF | flags.MOVE_SELF | flags.ONLYDIR
        self._names: dict[int, str] = {}
        self._add_all()

    def _add_all(self) -> None:
        root = self._workspace.root
        self._root = self._add(root)
        if self._root < 0:
            raise OSError("the workspace is gone")
        for place in _places(self._workspace):
            if place != root:
                self._add_tree(place)

    def _add(self, folder: str) -> int:
        assert self._queue is not None
        try:
            watch = int(self._queue.add_watch(folder, self._mask))
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            return -1
        self._names[watch] = folder
        return watch

    def _add_tree(self, top: str) -> None:
        """Watch a folder before listing it: what is made below it meanwhile is either listed or told."""
        pending = [top]
        while pending:
            folder = pending.pop()
            if self._add(folder) < 0:
                continue
            try:
                with os.scandir(folder) as entries:
                    pending += [one.path for one in entries if one.name[0] != "." and one.is_dir(follow_symlinks=False)]
            except OSError:
                continue

    def _take(self, event: Any) -> None:
        flags = self._flags
        if event.mask & flags.Q_OVERFLOW:
            self._count += 1
            self._add_all()
        elif event.mask & flags.IGNORED:
            self._names.pop(event.wd, None)
        elif event.wd == self._root and event.mask & (flags.DELETE_SELF | flags.MOVE_SELF):
            raise OSError("the workspace is gone")
        elif event.mask & flags.ISDIR:
            if event.name[:1] != ".":
                self._count += 1
                folder = os.path.join(self._names.get(event.wd, ""), event.name)
                below_root = event.wd == self._root and event.name not in _FOLDERS
                if event.mask & (flags.CREATE | flags.MOVED_TO) and not below_root and not os.path.islink(folder):
                    self._add_tree(folder)
        elif not event.name or event.name.endswith(".md"):
            self._count += 1

    def _stop(self) -> None:
        queue, self._queue = self._queue, None
        if queue is not None:
            queue.close()


def _places(workspace: Workspace) -> Iterator[str]:
    """The folders to watch: the root alone, and those below which everything is indexed."""
    yield workspace.root
    for folder in _FOLDERS:
        place = os.path.join(workspace.root, folder)
        if not os.path.islink(place):
            yield place
    for extra in workspace.extra_paths:
        place = os.path.normpath(os.path.join(workspace.root, extra.path))
        yield os.path.dirname(place) if os.path.isfile(place) else place


def _is_local(place: str) -> bool:
    """Whether a folder, and everything that is mounted below it, lies on a file system of this machine."""
    real = os.path.realpath(place)
    kinds = list(_mounts())
    own = max((at for at, _ in kinds if _is_below(real, at)), key=len, default="/")
    return all(kind in _LOCAL for at, kind in kinds if at == own or _is_below(at, real))


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _mounts() -> Iterable[tuple[str, str]]:
    """(where, kind of file system), as the kernel lists them."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            fields, _, rest = line.partition(" - ")
            where = fields.split()[4]
            for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
                where = where.replace(code, char)
            yield where, rest.split()[0]
