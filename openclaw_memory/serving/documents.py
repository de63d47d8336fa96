"""The memory's files as documents that a program can list and read, by an address each.

``memory://core``: the core memory. ``memory://page/entities/Mara.md``: a page, below ``bank/``.
``memory://day/2025-11-27``: a day's log.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import date
from typing import NamedTuple
from urllib.parse import quote, unquote

from ..bank.errors import MemoryFault, UsageFault
from ..bank.files import read_text
from ..bank.scan import scan
from ..bank.workspace import CORE_NAMES, Workspace

CORE, PAGE, DAY = "memory://core", "memory://page/", "memory://day/"
_LOG = re.compile(r"memory/(\d{4}-\d{2}-\d{2})\.md")


class Document(NamedTuple):
    """``address``; ``name``, ``title`` and ``description`` for a person."""

    address: str
    name: str
    title: str
    description: str


class Template(NamedTuple):
    """Addresses of one kind (RFC 6570). ``values``: those that are there, for each start."""

    address: str
    name: str
    description: str
    values: Callable[[Workspace, str], list[str]]


def documents(workspace: Workspace) -> list[Document]:
    """What there is: the core, the pages, the logs from the newest on."""
    found = scan(workspace).files
    core = [name for name in CORE_NAMES if name in found]
    told = [Document(CORE, name, "Core memory", "What every session begins with.") for name in core[:1]]
    told += [
        Document(PAGE + quote(name), f"bank/{name}", name.removesuffix(".md"), "A page of the memory.")
        for name in _pages(found)
    ]
    return told + [Document(DAY + day, f"memory/{day}.md", day, "The log of a day.") for day in _days(found)]


def read_document(workspace: Workspace, address: str) -> str:
    """The text at an address. Raises ``UsageFault`` for an address of no kind, ``MemoryFault`` for a file that is not
    there or may not be read."""
    if address == CORE:
        path = workspace.relative(workspace.core_path())
    elif address.startswith(PAGE):
        path = f"bank/{unquote(address[len(PAGE) :])}"
    elif address.startswith(DAY):
        written = address[len(DAY) :]
        try:
            path = workspace.relative(workspace.log_path(date.fromisoformat(written)))
        except ValueError:
            raise UsageFault("no day", address, f"write it like {DAY}2025-11-27") from None
    else:
        raise UsageFault("no such document", address, f"use {CORE}, {PAGE}…, {DAY}…")
    try:
        return read_text(workspace.resolve(path)).text
    except MemoryFault as fault:
        raise MemoryFault(fault.what, address, fault.remedy) from None


def _pages(paths: Iterable[str]) -> list[str]:
    return sorted(path.removeprefix("bank/") for path in paths if path.startswith("bank/"))


def _days(paths: Iterable[str]) -> list[str]:
    return sorted((match[1] for path in paths if (match := _LOG.fullmatch(path))), reverse=True)


TEMPLATES = (
    Template(
        f"{PAGE}{{+path}}",
        "page",
        "A page of the memory, by its path below bank/: entities/Mara.md.",
        lambda workspace, start: [name for name in _pages(scan(workspace).files) if name.startswith(start)],
    ),
    Template(
        f"{DAY}{{date}}",
        "day",
        "The log of a day: 2025-11-27.",
        lambda workspace, start: [day for day in _days(scan(workspace).files) if day.startswith(start)],
    ),
)
