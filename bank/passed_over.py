"""What stands in a workspace's folder and is no part of the memory, and why: what ``scan`` goes past.

Looked at by name only; no file is opened.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from .scan import Scan
from .workspace import ROOT_FILES, ROOT_FOLDERS, Workspace

#: Files of an agent's workspace that OpenClaw gives to the agent by itself.
BOOTSTRAP = ("AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "HEARTBEAT.md", "BOOTSTRAP.md", "BOOT.md")
_TEXT = (".markdown", ".mdx", ".mdown", ".txt", ".org", ".rst")
#: Folders that nobody looks for their notes in.
_QUIET = frozenset((".git", ".memory", "node_modules", "__pycache__"))
#: What is not UTF-8 in a name comes as a lone surrogate.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
#: Entries of one folder tree that are looked at.
_MOST = 20_000

#: (path, code, what it is counted with).
_Told = tuple[str, str, tuple[str, str]]

REASONS = {
    "template": "a template or an index of other files, by its name",
    "hidden": "its name starts with a dot",
    "symbolic-link": "links are not followed",
    "other-format": "only .md files are read; rename it to have it read",
    "attachment": "not Markdown",
    "folder-name": "a folder that is named like a file is not looked into; rename it",
    "instructions": "OpenClaw gives it to the agent itself; it is not memory",
    "diary": "OpenClaw's dream diary: it can be opened, but is not recalled",
    "other-spelling": "the name is spelt otherwise than MEMORY.md, USER.md, memory/ or bank/; rename it",
    "outside": "only MEMORY.md, USER.md, memory/ and bank/ are read, and what memory.search.extraPaths names",
    "unreadable": "it cannot be read; check its permissions",
    "missing": "it is not there; correct memory.search.extraPaths, or bring it back",
    "unprintable-name": "no citation could name it; rename it",
}


class PassedOver(NamedTuple):
    """``path``: relative to the workspace, a folder with a final ``/``; of several of one kind the first. ``files``:
    how many there are of that kind in that folder, 0 for a folder that was not looked into."""

    path: str
    code: str
    files: int

    @property
    def reason(self) -> str:
        return REASONS[self.code]


def passed_over(workspace: Workspace, found: Scan) -> list[PassedOver]:
    """Everything that is passed over, by path; attachments and files of other formats as one entry for each folder and
    suffix."""
    told: dict[tuple[str, str, str], PassedOver] = {}
    for path, code, group in _all(workspace, found):
        key = (code, *group)
        before = told.get(key)
        told[key] = before._replace(files=before.files + 1) if before else PassedOver(path, code, _first(path, code))
    return sorted(told.values())


def _first(path: str, code: str) -> int:
    return 0 if path.endswith("/") and code != "outside" else 1


def _all(workspace: Workspace, found: Scan) -> Iterator[_Told]:
    seen = {workspace.relative(path) for path in found.files}
    for name in found.unread:
        yield name, _unread_code(workspace, name), (name, "")
    for entry in _entries(workspace.root):
        name = entry.name
        if name in _QUIET or name in seen or name in found.unread:
            continue
        if entry.is_symlink():
            if name.endswith(".md") or name.casefold() in ROOT_FOLDERS:
                yield name, "symbolic-link", (name, "")
        elif entry.is_dir(follow_symlinks=False):
            if name in ROOT_FOLDERS:
                yield from _below(workspace, entry.path, name, seen)
            elif name.casefold() in ROOT_FOLDERS:
                yield f"{name}/", "other-spelling", (name, "")
            elif name.startswith("."):
                yield f"{name}/", "hidden", (name, "")
            else:
                yield from _markdown_in(workspace, entry.path, name, seen)
        elif name.casefold() in {one.casefold() for one in ROOT_FILES} - {"dreams.md"}:
            yield name, "other-spelling", (name, "")
        elif name.casefold() == "dreams.md":
            yield name, "diary", (name, "")
        elif name in BOOTSTRAP:
            yield name, "instructions", (name, "")
        elif name.casefold().endswith(".md") and not name.startswith("."):
            yield name, "outside", (name, "")


def _below(
    workspace: Workspace, folder: str, prefix: str, seen: set[str]
) -> Iterator[tuple[str, str, tuple[str, str]]]:
    """What is passed over in ``memory/`` or ``bank/``."""
    for entry in _entries(folder):
        path = f"{prefix}/{entry.name}"
        name = entry.name
        suffix = os.path.splitext(name)[1].casefold()
        if path in seen or name in _QUIET:
            continue
        if not path.isprintable():
            # Markdown is among what could not be looked at, and was told of.
            if not name.endswith(".md"):
                yield _CONTROL.sub("?", path), "unprintable-name", (path, "")
        elif entry.is_symlink():
            yield path, "symbolic-link", (path, "")
        elif entry.is_dir(follow_symlinks=False):
            if name.startswith("."):
                yield f"{path}/", "hidden", (path, "")
            elif name.endswith(".md"):
                yield f"{path}/", "folder-name", (path, "")
            elif path == "memory/templates":
                yield f"{path}/", "template", (path, "")
            else:
                yield from _below(workspace, entry.path, path, seen)
        elif name.startswith("."):
            yield path, "hidden", (path, "")
        elif name.casefold() in ("template.md", "index.md"):
            yield path, "template", (path, "")
        elif suffix in _TEXT or suffix == ".md":
            yield path, "other-format", (prefix, suffix)
        else:
            yield path, "attachment", (prefix, suffix)


def _markdown_in(workspace: Workspace, folder: str, name: str, seen: set[str]) -> Iterator[_Told]:
    """The Markdown in a folder that is no part of the memory, unless an extra path has it."""
    pending, left = [folder], _MOST
    while pending and left > 0:
        for entry in _entries(pending.pop()):
            left -= 1
            if entry.is_symlink() or entry.name.startswith(".") or entry.name in _QUIET:
                continue
            if entry.is_dir(follow_symlinks=False):
                pending.append(entry.path)
            elif entry.name.endswith(".md") and workspace.relative(entry.path) not in seen:
                yield f"{name}/", "outside", (name, "")


def _unread_code(workspace: Workspace, name: str) -> str:
    if os.path.islink(os.path.join(workspace.root, name)):
        return "symbolic-link"
    if os.path.lexists(os.path.join(workspace.root, name)):
        return "unreadable"
    return "unprintable-name" if "?" in name else "missing" if is_missing(workspace, name) else "unreadable"


def is_missing(workspace: Workspace, name: str) -> bool:
    """Whether an extra path that could not be read is not there at all, rather than closed to this user."""
    try:
        os.lstat(os.path.join(workspace.root, name))
    except (OSError, ValueError) as error:
        return isinstance(error, FileNotFoundError)
    return False


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []
