"""All pages of a run planned together, since writing one moves the lines that another one cites."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from ..bank.workspace import Workspace
from .assembly import Page, moved
from .blocks import Line
from .citations import Maps, line_map
from .page_files import PageChange, plan

#: Pages are planned anew until no citation of a page moves any more; the second time settles it, since the length of
#: a citation does not change how many lines a page has.
_ROUNDS = 3


def planned_pages(workspace: Workspace, pages: Sequence[Page], today: date) -> tuple[list[PageChange], Maps]:
    """Every page as it should be, and for those that change where their lines will be."""
    maps: Maps = {}
    earlier: dict[str, PageChange] = {}
    planned: list[PageChange] = []
    for _ in range(_ROUNDS):
        planned = [_planned(workspace, page, maps, earlier.get(page.path), today) for page in pages]
        earlier = {change.path: change for change in planned}
        found = {
            change.path: dict(line_map(change.old, change.new))
            for change in planned
            if change.old is not None and change.changes
        }
        if found == maps:
            break
        maps = found
    return planned, maps


def _planned(workspace: Workspace, page: Page, maps: Maps, earlier: PageChange | None, today: date) -> PageChange:
    """A page as it should be; as it was planned before where its lines are the same."""
    lines: list[Line] = [moved(line, maps) for line in page.lines]
    if earlier and earlier.lines == tuple(lines):
        return earlier
    return plan(workspace, page.path, page.block, lines, today, page.head.encode())
