"""What a person has agreed to, added to the core memory: bullets under one heading, within the core's budget."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..bank.errors import MemoryFault
from ..bank.files import (
    BOM,
    ChangedMeanwhile,
    FileMissing,
    FileText,
    decode,
    newline_of,
    read_text,
    write_atomic,
    writer_lock,
)
from ..bank.workspace import Workspace
from ..parsers.lines import Lines, read_lines
from ..parsers.secrets import looks_secret
from .suggestion_lines import Proposal

HEADING = "Learned"
#: Characters of the whole file; ``budget: 6000`` in its front matter says another number.
BUDGET = 4000
_ATTEMPTS = 5
_HEADING = re.compile(r" {0,3}(?P<marks>#{1,6})\s+(?P<title>.*?)(?:\s+#+)?\s*$")
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,9}[.)])\s")


class Added(NamedTuple):
    """``path``: of the core, relative to the workspace. ``keys``: of the proposals that stand in it now. ``problems``:
    for each of the others, by key, why it was not added."""

    path: str
    keys: tuple[str, ...]
    problems: dict[str, str]


def add_to_core(
    workspace: Workspace,
    proposals: Sequence[Proposal],
    *,
    heading: str = HEADING,
    budget: int = BUDGET,
    timeout: float = 10.0,
) -> Added:
    """Append proposals as bullets with their citations; one that stands there word for word counts as added.

    The file and the heading are made where they are missing; no other byte changes. What would make the file longer
    than its budget is not added, what is shorter still may be. Raises ``Busy`` when the lock is not had in ``timeout``
    seconds, ``PathNotAllowed`` and ``MemoryFault`` when the core cannot be written.
    """
    name = workspace.relative(workspace.core_path())
    if not proposals:
        return Added(name, (), {})
    path = workspace.resolve(name)
    with writer_lock(workspace.journal_lock_path, timeout, "adding to the core memory"):
        for attempt in range(_ATTEMPTS):
            old: FileText | None
            try:
                old = read_text(path)
            except FileMissing:
                old = None
            data, keys, problems = _with(old.data if old else b"", proposals, heading, budget, name)
            if data == (old.data if old else b""):
                break
            try:
                write_atomic(path, data, old.stamp if old else None)
            except ChangedMeanwhile:
                if attempt == _ATTEMPTS - 1:
                    raise
            else:
                break
    return Added(name, tuple(keys), problems)


def _with(
    data: bytes, proposals: Sequence[Proposal], heading: str, budget: int, name: str
) -> tuple[bytes, list[str], dict[str, str]]:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise MemoryFault("not added: the core memory is UTF-16", name, "save it as UTF-8")
    most = budget_of(decode(data), budget)
    keys: list[str] = []
    problems: dict[str, str] = {}
    for one in proposals:
        bullet = f"- {one.text} ({one.citation})"
        if looks_secret(one.text):
            problems[one.key] = "it looks like a key or a password"
            continue
        if bullet in (line.strip() for line in read_lines(decode(data)).plain):
            keys.append(one.key)
            continue
        more = with_bullet(data, bullet, heading)
        size = len(decode(more))
        if size > most:
            problems[one.key] = f"{name} would have {size:,} of {most:,} characters"
        else:
            data = more
            keys.append(one.key)
    return data, keys, problems


def budget_of(text: str, default: int = BUDGET) -> int:
    """How many characters the core may have: ``budget`` of its front matter, where that is a number."""
    given = read_lines(text).front.values.get("budget", "")
    number = re.sub(r"(?<=\d)[_,. ](?=\d{3}\b)", "", given.strip()) if isinstance(given, str) else ""
    return int(number) if re.fullmatch(r"[1-9]\d{0,8}", number) else default


def with_bullet(data: bytes, bullet: str, heading: str = HEADING) -> bytes:
    """The file with a bullet at the end of the section of that heading, which is made at the file's end where it is
    missing. All other bytes stay; line ends are the file's own."""
    if data in (b"", BOM):
        return data + f"# Memory\n\n## {heading}\n\n{bullet}\n".encode()
    lines = read_lines(decode(data))
    index, in_section = _place(lines, heading)
    above = lines.raw[index - 1] if index else ""
    following = lines.raw[index] if index < len(lines.raw) else ""
    if not in_section:
        added = [*([""] if above.strip() else []), f"## {heading}", "", bullet]
    elif _ITEM.match(above) or (above[:1].isspace() and above.strip()):
        added = [bullet]
    else:
        added = ["", bullet]
    if following.strip():
        added.append("")
    newline = newline_of(data)
    block = newline.join(added).encode("utf-8", "replace")
    pieces = data.split(b"\n")
    if index < len(lines.raw):
        return (
            b"\n".join(pieces[:index])
            + (b"\n" if index else b"")
            + block
            + newline.encode()
            + b"\n".join(pieces[index:])
        )
    if data.endswith(b"\n"):
        return data + block + newline.encode()
    return data + newline.encode() + block


def _place(lines: Lines, heading: str) -> tuple[int, bool]:
    """Before which line (0-based) the bullet goes, and whether the heading's section ends there. What hides the rest of
    the file (a fence or a comment that never ends) is not entered."""
    end = len(lines.raw) if lines.open_at is None else lines.open_at
    level = 0
    place: int | None = None
    for number in range(lines.front.end, end):
        line = lines.plain[number]
        found = None if lines.fenced[number] or lines.managed[number] else _HEADING.match(line)
        if found and place is not None and len(found["marks"]) <= level:
            break
        if found and place is None and found["title"].casefold() == heading.casefold():
            level, place = len(found["marks"]), number + 1
        elif place is not None and lines.raw[number].strip() and not lines.managed[number]:
            place = number + 1
    return (end, False) if place is None else (place, True)
