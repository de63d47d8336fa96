"""A part of a workspace as a workspace of its own, to try models on: copied files, spread over the whole.

Files are taken whole, so that what stands around a passage stays around it; the last one that fits is cut after the
passage that fills the sample, and every line keeps its number.
"""

import hashlib
import os
from collections.abc import Collection, Sequence
from typing import NamedTuple

from ..bank.driver import Connection
from ..bank.embeddings.choice import Choice
from ..bank.embeddings.models import Models
from ..bank.files import read_below
from ..bank.freshness import ask_fresh
from ..bank.sync import Progress
from ..bank.workspace import Workspace


class Extent(NamedTuple):
    """How many files (with any passage) and passages."""

    files: int
    passages: int


def without_models(workspace: Workspace) -> Workspace:
    """The same workspace, searched by words; syncing it asks no provider."""
    models = Models(workspace.models.settings, choice=Choice(None, "none", ""))
    return Workspace(workspace.root, workspace.extra_paths, models)


def read_files(workspace: Workspace, progress: Progress | None = None) -> dict[str, list[int]]:
    """The workspace's files that have passages, with the last line of each passage, in order."""

    def ask(connection: Connection) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        rows = connection.execute(
            "SELECT f.path, p.end_line FROM passages p JOIN files f ON f.id = p.file ORDER BY f.path, p.position"
        )
        for path, line in rows:
            found.setdefault(path, []).append(line)
        return found

    return ask_fresh(without_models(workspace), ask, progress=progress)[0]


def copy_sample(root: str, target: str, files: dict[str, list[int]], most: int, wanted: Collection[str]) -> Extent:
    """Copy files of the workspace ``root`` until ``most`` passages are there; the ``wanted`` ones all and whole.

    Which ones depends on their paths only, by whose hashes they come. What has gone meanwhile is left out.
    """
    count = taken = 0
    for path in _in_turn(files, wanted):
        ends = files[path]
        room = len(ends) if path in wanted else most - taken
        if room <= 0:
            break
        try:
            data = read_below(root, path)
        except OSError:
            continue
        if room < len(ends):
            data = b"".join(data.splitlines(keepends=True)[: ends[room - 1]])
        place = os.path.join(target, *path.split("/"))
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "xb") as file:
            file.write(data)
        count, taken = count + 1, taken + min(room, len(ends))
    return Extent(count, taken)


def _in_turn(files: dict[str, list[int]], wanted: Collection[str]) -> Sequence[str]:
    inside = [path for path in files if not os.path.isabs(path)]
    rest = [path for path in inside if path not in wanted]
    rest.sort(key=lambda path: hashlib.sha256(path.encode("utf-8", "surrogatepass")).digest())
    return [*(path for path in inside if path in wanted), *rest]
