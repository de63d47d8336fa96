"""Pages on the disk: planned from what is there, written only where bytes differ, and never over somebody's change."""

from __future__ import annotations

import difflib
import hashlib
import os
import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import date
from typing import NamedTuple

from ..bank.errors import fault_of
from ..bank.files import ChangedMeanwhile, FileMissing, Stamp, read_text, write_atomic
from ..bank.guard import DEVICES
from ..bank.workspace import Workspace
from ..parsers.blocks import Damage
from ..parsers.names import fold
from .blocks import Edit, Line, merge

#: How long a page's file name may be, in bytes of UTF-8, suffix included: backups and clones add to it.
NAME_BYTES = 120
_SUFFIX = ".md"
_UNSAFE = re.compile(r'[/\\:*?"<>|]')
_DIGEST = 8


class PageChange(NamedTuple):
    """A page as it is and as it should be. ``path``: below the workspace. ``old``: None where there is no file yet.
    ``edits`` and ``damage``: see ``blocks.Merged``; a damaged page keeps its bytes. ``stamp``: of the file as it was
    read. The rest is what the page was made of, should it have to be made again."""

    path: str
    old: bytes | None
    new: bytes
    edits: tuple[Edit, ...]
    damage: Damage | None
    stamp: Stamp | None
    block: str
    lines: tuple[Line, ...]
    today: date
    head: bytes

    @property
    def changes(self) -> bool:
        """Whether there is anything to write."""
        return self.new != (self.old or b"")


def plan(
    workspace: Workspace, path: str, block: str, lines: Sequence[Line], today: date, head: bytes = b""
) -> PageChange:
    """Read the page at ``path`` (posix, below the workspace) and merge ``lines`` into its ``block``; write nothing.

    Raises ``PathNotAllowed`` for a path that reflect may not write, symbolic links among them, and ``MemoryFault``
    for a file that cannot be read.
    """
    stamp: Stamp | None = None
    try:
        stamp = read_text(workspace.resolve(path)).stamp
    except FileMissing:
        pass
    old = stamp.data if stamp else None
    merged = merge(old or b"", block, lines, today, head)
    return PageChange(path, old, merged.data, merged.edits, merged.damage, stamp, block, tuple(lines), today, head)


def apply(workspace: Workspace, change: PageChange) -> PageChange:
    """Write what was planned, if it changes anything; the change that was made.

    Where somebody else wrote the file meanwhile it is read and merged once more, then ``ChangedMeanwhile`` is raised.
    """
    try:
        return _write(workspace, change)
    except ChangedMeanwhile:
        again = plan(workspace, change.path, change.block, change.lines, change.today, change.head)
        return _write(workspace, again)


def _write(workspace: Workspace, change: PageChange) -> PageChange:
    if change.changes:
        place = workspace.resolve(change.path)
        try:
            os.makedirs(os.path.dirname(place), exist_ok=True)
        except OSError as error:
            raise fault_of(error, "cannot make the folder", os.path.dirname(place)) from None
        write_atomic(workspace.resolve(change.path), change.new, change.stamp)
    return change


def unified_diff(path: str, old: bytes | None, new: bytes) -> str:
    """What changes on a page, as ``diff -u`` shows it; "" for nothing. Bytes that are no UTF-8 are shown as U+FFFD."""
    if new == (old or b""):
        return ""
    before, after = (_shown(old) if old is not None else [], _shown(new))
    heads = ("/dev/null" if old is None else f"a/{path}", f"b/{path}")
    lines = []
    for line in difflib.unified_diff(before, after, *heads):
        lines.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(lines)


def _shown(data: bytes) -> list[str]:
    lines = data.decode("utf-8", "replace").split("\n")
    last = lines.pop()
    return [*(f"{line}\n" for line in lines), *([last] if last else [])]


def entity_file_name(name: str) -> str:
    """The file name of an entity's page: the name as it was first written, in a form that every platform can store.

    ``C++`` gives ``C++.md``, ``A/B`` ``A-B.md``, ``CON`` ``CON_.md``; what is too long is cut and gets a short hash.
    """
    stem = "".join(
        "-" if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") else char
        for char in unicodedata.normalize("NFC", name)
    )
    stem = _tidied(_UNSAFE.sub("-", stem)) or "_"
    if stem.startswith("."):
        stem = f"_{stem}"
    first, dot, rest = stem.partition(".")
    if first.rstrip(" ").casefold() in DEVICES:
        stem = f"{first.rstrip(' ')}_{dot}{rest}"
    if len(stem.encode()) + len(_SUFFIX) > NAME_BYTES:
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
        room = NAME_BYTES - len(_SUFFIX) - len(digest) - 1
        stem = f"{_tidied(stem.encode()[:room].decode('utf-8', 'ignore'))}-{digest}"
    return stem + _SUFFIX


def _tidied(stem: str) -> str:
    """Without blanks around it and without dots at its end, which some platforms drop."""
    stem = stem.strip()
    while stem.endswith(".") or stem != stem.strip():
        stem = stem.rstrip(".").strip()
    return stem


def collisions(names: Iterable[str]) -> list[tuple[str, ...]]:
    """The groups of entities' names or pages (``Ana-Maria``, ``ana maria``) that would share a page: one file where
    case or Unicode forms do not count, or two spellings of one name. Sorted; a name that stands alone is in none."""
    groups: dict[str, set[str]] = {}
    for name in names:
        stem = entity_file_name(name.removesuffix(_SUFFIX)).removesuffix(_SUFFIX)
        groups.setdefault(fold(stem) or stem, set()).add(name)
    return sorted(tuple(sorted(group)) for group in groups.values() if len(group) > 1)
