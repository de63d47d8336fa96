"""Where a hit lies on the disk, and how it is cited: files that ``memory_get`` opens by themselves by their own path,
others as ``qmd/<collection>/<path>``.

The rules are the guard's: no part starts with a dot, no link is followed, and only what the collection's pattern takes
in may be read.
"""

import os
from collections.abc import Mapping
from typing import NamedTuple

from ...bank.files import decode, read_below
from ...bank.guard import PathNotAllowed, check_text, descend, refuse, split
from ...bank.workspace import Workspace
from ...parsers.lines import split_lines
from .collections import Collection

PREFIX = "qmd/"


class Place(NamedTuple):
    """``shown``: as it is cited. ``real``: the file's real path. ``below``: its posix path below the root, as the disk
    spells it."""

    shown: str
    real: str
    below: str
    collection: Collection


def locate(workspace: Workspace, collection: Collection, path: str) -> Place:
    """A file of a collection; it may be missing. Raises ``PathNotAllowed``."""
    check_text(path)
    parts = split(path)
    if not parts or not collection.has("/".join(parts)):
        refuse(f"the collection {collection.name} does not take it in", path)
    real = descend(collection.root, parts)
    below = os.path.relpath(real, collection.root).replace(os.sep, "/")
    return Place(_shown(workspace, collection, real, below), real, below, collection)


def _shown(workspace: Workspace, collection: Collection, real: str, below: str) -> str:
    try:
        return workspace.relative(workspace.resolve(real))
    except PathNotAllowed:
        return f"{PREFIX}{collection.name}/{below}"


def locate_cited(workspace: Workspace, collections: Mapping[str, Collection], cited: str) -> Place:
    """The file of a citation ``qmd/<collection>/<path>``. Raises ``PathNotAllowed``."""
    check_text(cited)
    name, _, path = cited.removeprefix(PREFIX).partition("/")
    if not cited.startswith(PREFIX) or not path:
        refuse("it is not of the form qmd/<collection>/<path>", cited)
    collection = collections.get(name)
    if collection is None:
        refuse("there is no such collection", cited)
    return locate(workspace, collection, path)


def read_lines(place: Place) -> list[str]:
    """The lines of the file as it is now. Raises ``OSError``."""
    return split_lines(decode(read_below(place.collection.root, place.below)))
