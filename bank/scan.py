"""Which Markdown files a workspace holds, by one pass of ``stat`` over the tree.

A file counts as absent only if the folder that would hold it was read in full, or is itself absent from one that was:
an unreadable folder proves nothing.
"""

import os
import re
import stat
from typing import NamedTuple

from .path_patterns import path_pattern
from .search_settings import ExtraPath
from .workspace import CORE_NAMES, Workspace

_ROOT_FILES = (*CORE_NAMES, "USER.md")
_FOLDERS = ("memory", "bank")
_TEMPLATES = "memory/templates"
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_NOT_INDEXED = frozenset(("template.md", "index.md"))


#: A file as ``stat`` saw it: size in bytes, when its text and when its inode last changed (nanoseconds), its inode.
Seen = tuple[int, int, int, int]


class Scan(NamedTuple):
    """``files`` by path (posix, relative to the workspace; absolute for one under an extra path outside it).
    ``unread``: folders (same form of path) and files that could not be looked at: nothing below them is known to be
    absent."""

    files: dict[str, Seen]
    unread: tuple[str, ...]

    def proves_absent(self, path: str) -> bool:
        """Whether a path that is not in ``files`` is known not to exist."""
        return path not in self.files and not any(
            path == folder or path.startswith(folder + "/") or not folder for folder in self.unread
        )


def scan(workspace: Workspace) -> Scan:
    """Stat every Markdown file that belongs to the index: not templates, symbolic links, folders that start with a
    dot. An extra path that leads to a file once more (it holds the workspace, or spells it otherwise) adds nothing: the
    core memory is known by its own name, by which groups are kept from it."""
    files: dict[str, Seen] = {}
    unread: list[str] = []
    root = workspace.root
    seen: set[tuple[int, int]] = set()
    for name in _ROOT_FILES:
        _add_file(os.path.join(root, name), name, files, unread, seen)
    for folder in _FOLDERS:
        place = os.path.join(root, folder)
        if os.path.islink(place):
            unread.append(folder)
        else:
            _walk(place, folder, files, unread, seen)
    for extra in workspace.extra_paths:
        place = os.path.normpath(os.path.join(root, extra.path))
        if os.path.islink(place):
            continue
        if os.path.isfile(place):
            if place.endswith(".md"):
                _add_file(place, workspace.relative(place), files, unread, seen)
        elif os.path.isdir(place):
            _walk(place, workspace.relative(place), files, unread, seen, extra)
        else:
            # A disk that is not mounted says nothing about what is on it.
            unread.append(workspace.relative(place))
    return Scan(files, tuple(unread))


def _add_file(path: str, name: str, files: dict[str, Seen], unread: list[str], seen: set[tuple[int, int]]) -> None:
    """``MEMORY.md`` and ``memory.md`` may be one file twice, where the disk ignores case: then it is one."""
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError:
        unread.append(name)
        return
    if stat.S_ISREG(status.st_mode) and (status.st_dev, status.st_ino) not in seen:
        seen.add((status.st_dev, status.st_ino))
        files[name] = _seen(status)


def _walk(
    top: str,
    prefix: str,
    files: dict[str, Seen],
    unread: list[str],
    seen: set[tuple[int, int]],
    extra: ExtraPath | None = None,
) -> None:
    """Add what lies below ``top``, shown below ``prefix``; for an ``extra`` path only what its pattern matches below
    ``top``, and no file that was ``seen``."""
    matches = path_pattern(extra.pattern).fullmatch if extra and extra.pattern else None
    cut = len(prefix) + 1 if prefix else 0
    pending = [(top, prefix)]
    while pending:
        folder, prefix = pending.pop()
        start = f"{prefix}/" if prefix else ""
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    name = entry.name
                    if name.endswith(".md"):
                        if matches and not matches((start + name)[cut:]):
                            continue
                        if name[0] != "." and name.lower() not in _NOT_INDEXED:
                            _see(entry, start + name, files, unread, seen, extra is not None)
                    elif name[0] != "." and entry.is_dir(follow_symlinks=False) and start + name != _TEMPLATES:
                        pending.append((entry.path, start + name))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            unread.append(_shown(prefix))


def _see(
    entry: os.DirEntry[str],
    path: str,
    files: dict[str, Seen],
    unread: list[str],
    seen: set[tuple[int, int]],
    only_once: bool,
) -> None:
    try:
        status = entry.stat(follow_symlinks=False)
        # Where a folder's own list tells no inodes (Windows), the file does.
        identity = status if status.st_ino else os.lstat(entry.path)
    except FileNotFoundError:
        return
    except OSError:
        unread.append(_shown(path))
        return
    if stat.S_ISREG(status.st_mode):
        if only_once and (identity.st_dev, identity.st_ino) in seen:
            return
        seen.add((identity.st_dev, identity.st_ino))
        if path.isprintable() or _shown(path) == path:
            files[path] = _seen(status)
        else:
            unread.append(_shown(path))


def _shown(path: str) -> str:
    """A path with ``?`` for what is not UTF-8 in it or a control character: no citation could name such a file, so none
    is read."""
    return path if path.isprintable() else _CONTROL.sub("?", path.encode("utf-8", "replace").decode("utf-8"))


def _seen(status: os.stat_result) -> Seen:
    """The inode is cut to what SQLite's integers hold; some file systems use all 64 bits."""
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino & 0x7FFF_FFFF_FFFF_FFFF
