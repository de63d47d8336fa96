"""A bullet of reflect's, put under one heading of the core memory."""

from __future__ import annotations

import re

from ..bank.files import BOM, decode, newline_of
from ..parsers.lines import Lines, read_lines

#: Where what names no section goes.
HEADING = "Learned"
_HEADING = re.compile(r" {0,3}(?P<marks>#{1,6})\s+(?P<title>.*?)(?:\s+#+)?\s*$")
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,9}[.)])\s")


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
