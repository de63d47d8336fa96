"""What ``init`` puts into a workspace: a copy of the template that ships with the package."""

from __future__ import annotations

import os
from importlib import resources
from importlib.resources.abc import Traversable

from .errors import MemoryFault, fault_of
from .files import write_atomic
from .workspace import CORE_NAMES

#: Files of the template that have another name in a workspace ("" : they stay in the package).
RENAMED = {"gitignore": ".gitignore", "AGENTS-snippet.md": ""}


def copy_template(target: str, demo: bool) -> tuple[list[str], list[str]]:
    """Copy the template into a folder, which is made if need be; the names created, and those that were there already.

    ``demo`` takes the demo workspace, and only into a folder that holds no notes. No file is ever overwritten; a core
    file under its other name counts as there.
    """
    if demo and _holds_notes(target):
        raise MemoryFault("this workspace holds notes already", target, "name an empty folder for the demo")
    created: list[str] = []
    kept: list[str] = []
    folder = resources.files("openclaw_memory.workspace_template") / ("demo" if demo else "new")
    try:
        os.makedirs(target, exist_ok=True)
        if demo:
            _copy(
                resources.files("openclaw_memory.workspace_template") / "new" / "gitignore", target, "", created, kept
            )
        for entry in sorted(folder.iterdir(), key=lambda e: e.name):
            _copy(entry, target, "", created, kept)
    except FileExistsError:
        raise MemoryFault("the workspace is not a folder", target, "name a folder") from None
    except OSError as error:
        raise fault_of(error, "cannot create the workspace", target) from None
    return created, kept


def _holds_notes(target: str) -> bool:
    """Whether somebody's logs or core memory are there, which invented ones must not be mixed with."""
    memory = os.path.join(target, "memory")
    logs = os.path.isdir(memory) and any(name.endswith(".md") for name in os.listdir(memory))
    return logs or any(os.path.lexists(os.path.join(target, name)) for name in CORE_NAMES)


def _copy(entry: Traversable, target: str, prefix: str, created: list[str], kept: list[str]) -> None:
    name = prefix + RENAMED.get(entry.name, entry.name)
    path = os.path.join(target, name)
    if entry.is_dir():
        os.makedirs(path, exist_ok=True)
        for inner in sorted(entry.iterdir(), key=lambda e: e.name):
            _copy(inner, target, f"{name}/", created, kept)
    elif entry.name in RENAMED and not RENAMED[entry.name]:
        return
    elif os.path.lexists(path) or (name == "memory.md" and os.path.lexists(os.path.join(target, "MEMORY.md"))):
        kept.append(name)
    else:
        write_atomic(path, entry.read_bytes(), None)
        created.append(name)
