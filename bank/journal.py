"""Retain: facts appended to a day's log, so that two writers lose nothing and no other byte changes."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from datetime import date

from ..parsers.masks import without_comments
from .errors import MemoryFault, UsageFault, fault_of
from .files import BOM, ChangedMeanwhile, FileMissing, decode, newline_of, read_text, write_atomic, writer_lock
from .retain_section import Place, places, reads_back
from .workspace import Workspace

HEADING = "## Retain"
ATTEMPTS = 5

_BULLET = re.compile(r"[-*+•]\s+(\S.*)$")
_STRUCTURE = re.compile(r"`{3}|~{3}|#{1,6}\s|>|[-*+•]\s|<!--")


def retain(
    workspace: Workspace, bullets: Sequence[str], day: date, *, timeout: float = 10.0, section_comment: str = ""
) -> list[str]:
    """Append bullets, written in the Retain grammar, to the log of ``day``; their citations, in order.

    The folder, the file and its Retain heading are made where they are missing. ``timeout`` is in seconds.
    Raises ``UsageFault`` for a bullet that is empty or would open another block, ``Busy`` when the lock is
    not had in time, ``PathNotAllowed`` for a log behind a symbolic link, ``MemoryFault`` when the log cannot
    be written.

    With a ``section_comment`` (one line, ``<!-- … -->``) only a section of its own is appended, and that comment stands
    below its heading: nothing is written, and the citations are none, where there is no log, where it has a Retain
    section, or where nothing that is added to its end would be read.
    """
    lines = [_one_bullet(bullet) for bullet in bullets]
    if not lines:
        return []
    name = workspace.relative(workspace.log_path(day))
    path = workspace.resolve(name)
    with writer_lock(workspace.journal_lock_path, timeout, "retaining"):
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        except OSError as error:
            raise fault_of(error, "cannot make the folder", os.path.dirname(path)) from None
        for attempt in range(ATTEMPTS):
            try:
                old = read_text(path)
            except FileMissing:
                old = None
            if section_comment and (old is None or any(place.in_section for place in places(decode(old.data)))):
                return []
            data, first = _with_bullets(old.data if old else b"", lines, day, section_comment)
            if section_comment and old and not _is_appended(data, old.data, lines, first, name):
                return []
            try:
                write_atomic(path, data, old.stamp if old else None)
            except ChangedMeanwhile:
                if attempt == ATTEMPTS - 1:
                    raise
            else:
                break
    return [f"{name}#L{first + offset}" for offset in range(len(lines))]


def _one_bullet(bullet: str) -> str:
    """``bullet`` on one line, without blanks around it."""
    line = re.sub(r"\s*[\r\n]+\s*", " ", bullet).strip()
    match = _BULLET.match(line)
    if not match:
        empty = not line.strip("-*+• ")
        what = "there is nothing to retain" if empty else "a line to retain does not start with '- '"
        raise UsageFault(what, line[:80], "write it like '- W @Peter: Lives in Lisbon.'")
    if _STRUCTURE.match(match.group(1)) or without_comments(line)[1] is not None:
        raise UsageFault(
            "a line to retain opens a code block, a comment, a quote, a heading or a list",
            line[:80],
            "put such marks between backticks",
        )
    return line


def _is_appended(data: bytes, old: bytes, bullets: list[str], first: int, path: str) -> bool:
    """Whether nothing above the bullets has moved, and they are read."""
    return data.startswith(old) and reads_back(decode(data), path, bullets, first, decode(old))


def _with_bullets(data: bytes, bullets: list[str], day: date, comment: str = "") -> tuple[bytes, int]:
    """The bytes of a log with ``bullets`` added, and the line (1-based) where the first of them stands."""
    if data in (b"", BOM):
        head = [f"# {day.isoformat()[:10]}", "", HEADING, ""]
        return data + _encode([*head, *bullets], "\n") + b"\n", len(head) + 1
    path = f"memory/{day.isoformat()[:10]}.md"
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise MemoryFault("not retained: the log is UTF-16", path, "save it as UTF-8")
    old = decode(data)
    tried = [_insert(data, bullets, place, comment) for place in places(old)]
    return next((one for one in tried if reads_back(decode(one[0]), path, bullets, one[1], old)), tried[-1])


def _insert(data: bytes, bullets: list[str], place: Place, comment: str = "") -> tuple[bytes, int]:
    """The bullets put at a place, set off by blank lines where a list does not simply go on; no other byte changes."""
    pieces = data.split(b"\n")
    ends_with_newline = not pieces[-1]
    if ends_with_newline:
        pieces.pop()
    lines = [piece.decode("utf-8", errors="replace") for piece in pieces]
    index = place.line
    above = lines[index - 1].strip() if index else ""
    before: list[str] = []
    if not place.in_section:
        before = [*([""] if above else []), HEADING, *([comment] if comment else []), ""]
    elif not _BULLET.match(above) and not lines[index - 1][:1].isspace():
        if index < len(lines) and not lines[index].strip():
            index += 1
        else:
            before = [""]
    following = lines[index].strip() if index < len(lines) else ""
    after = [""] if following and not (place.in_section and following.startswith("#")) else []
    newline = newline_of(data)
    added = _encode([*before, *bullets, *after], newline)
    line_end = newline.encode("ascii")
    first = index + len(before) + 1
    if index == len(lines):
        return (data + added + line_end if ends_with_newline else data + line_end + added), first
    offset = sum(len(piece) + 1 for piece in pieces[:index])
    return data[:offset] + added + line_end + data[offset:], first


def _encode(lines: list[str], newline: str) -> bytes:
    return newline.join(lines).encode("utf-8", errors="replace")
