"""``reflect --forget``: what a person wants off the pages, noted on each page that shows it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..bank.errors import MemoryFault, UsageFault
from ..bank.files import FileMissing, newline_of, read_text, write_atomic
from ..bank.workspace import Workspace
from ..parsers.relations import parse_target
from .assembly import Page
from .block_edits import Tombstone, tombstones
from .blocks import Line


def forget(workspace: Workspace, pages: Sequence[Page], wanted: Iterable[str]) -> list[str]:
    """Put a tombstone (``<!-- forget … -->``) at the end of every page that shows what is named; the pages' paths.

    ``wanted``: ids or starts of ids, citations, or words of a line. Raises ``MemoryFault`` where no page shows it, and
    ``UsageFault`` for what no tombstone can name. The next planning takes the lines off.
    """
    notes: dict[str, list[str]] = {}
    for name in wanted:
        found = {page.path: mark for page in pages for line in page.lines if (mark := _mark(name, line))}
        if not found:
            raise MemoryFault("no page shows this", name, "name an id, a citation or words of a line in bank/")
        for path, mark in found.items():
            notes.setdefault(path, []).append(mark)
    return [path for path, marks in sorted(notes.items()) if _note(workspace, path, marks)]


def _mark(name: str, line: Line) -> str:
    """The tombstone by which a line is known when ``name`` means it, else ""."""
    target = parse_target(name)
    if target is None:
        mark = f"<!-- forget: {name.strip()} -->"
        told = tombstones([mark], [0])
        if not told:
            raise UsageFault("too short to forget by, or not on one line", name, "give more of the line's words")
        return mark if told[0].names(line) else ""
    if target.id:
        anchor = next((one for one in line.anchors if one.startswith(f"^{target.id}")), "")
    else:
        anchor = f"{target.path}#L{target.line}"
        shown = Tombstone(0, anchor, "").names(line)
        # An id lasts when the cited line moves, and never comes to mean another fact.
        anchor = next((one for one in line.anchors if one.startswith("^")), anchor) if shown else ""
    return f"<!-- forget {anchor} -->" if anchor else ""


def _note(workspace: Workspace, path: str, marks: Sequence[str]) -> bool:
    """Add tombstones to a page that does not have them yet."""
    place = workspace.resolve(path)
    try:
        page = read_text(place)
    except FileMissing:
        return False
    new = [mark for mark in dict.fromkeys(marks) if mark not in page.text]
    if not new:
        return False
    end = newline_of(page.data)
    head = "" if page.data.endswith(b"\n") else end
    write_atomic(place, page.data + (head + end + end.join(new) + end).encode(), page.stamp)
    return True
