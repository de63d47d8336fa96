"""All pages of a run planned together, since writing one moves the lines that another one cites."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from ..bank.errors import MemoryFault
from ..bank.workspace import Workspace
from .assembly import Page, moved
from .blocks import Line
from .citations import Maps, line_map
from .page_files import PageChange, plan

#: Pages are planned anew until no citation of a page moves any more; the second time settles it, since the length of
#: a citation does not change how many lines a page has.
_ROUNDS = 3


class Plan(NamedTuple):
    """``pages``: as they should be. ``maps``: for those that change, where their lines will be. ``refused``: why a page
    cannot be read or written, by path; all others go on without it."""

    pages: list[PageChange]
    maps: Maps
    refused: dict[str, str]


def planned_pages(workspace: Workspace, pages: Sequence[Page], today: date) -> Plan:
    """Every page of a run, planned until no citation moves."""
    maps: Maps = {}
    earlier: dict[str, PageChange] = {}
    refused: dict[str, str] = {}
    for _ in range(_ROUNDS):
        planned: dict[str, PageChange] = {}
        for page in pages:
            try:
                planned[page.path] = _planned(workspace, page, maps, earlier.get(page.path), today)
            except MemoryFault as fault:
                refused[page.path] = told(fault)
        earlier = planned
        found = {
            change.path: dict(line_map(change.old, change.new))
            for change in planned.values()
            if change.old is not None and change.changes
        }
        if found == maps:
            break
        maps = found
    return Plan(list(earlier.values()), maps, refused)


def told(fault: MemoryFault) -> str:
    """A fault without its place, for a line that begins with it."""
    return f"{fault.what}; {fault.remedy}" if fault.remedy else fault.what


def _planned(workspace: Workspace, page: Page, maps: Maps, earlier: PageChange | None, today: date) -> PageChange:
    """A page as it should be; as it was planned before where its lines are the same."""
    lines: list[Line] = [moved(line, maps) for line in page.lines]
    if earlier and earlier.lines == tuple(lines):
        return earlier
    return plan(workspace, page.path, page.block, lines, today, page.head.encode())
