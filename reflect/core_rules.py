"""What no writer of the core memory may do. Every edit of every writer passes ``check``; nothing else decides.

An edit is one stretch of characters that others take the place of. What it must leave: the budget, the front matter,
read-only sections, what other machines maintain, and how everything outside of it reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..bank.errors import MemoryFault
from ..bank.files import BOM
from ..parsers.secrets import looks_secret
from .core_sections import Core, Entry, Section, Usage

#: So many of the largest entries are named where the budget does not last.
_NAMED = 3


class CoreRefused(MemoryFault):
    """An edit that was not made; nothing was written. ``why``: a word for programs: over-budget, read-only, secret,
    front-matter, managed, structure, encoding, no-match, several-matches, no-section, changed. ``details``: what helps
    on, as ``core --json`` shows it (docs/json.md)."""

    def __init__(self, why: str, what: str, where: str = "", remedy: str = "", **details: Any) -> None:
        super().__init__(what, where, remedy)
        self.why, self.details = why, details


class Edit(NamedTuple):
    """``text[start:end]`` of a core becomes ``new``. ``line``: the line (1-based) that it starts on or is put below, 0
    for the top. ``section``: the heading of the section that it is made in, "" above all. ``at``, ``size``: where in
    ``new`` the caller's text stands, and its characters; the rest sets it off."""

    start: int
    end: int
    new: str
    line: int
    section: str
    at: int
    size: int


def applied(core: Core, edit: Edit) -> bytes:
    """The bytes of a core after an edit."""
    text = core.text[: edit.start] + edit.new + core.text[edit.end :]
    return (BOM if core.bom else b"") + text.encode("utf-8", "surrogateescape")


def check_readable(core: Core, path: str) -> None:
    """Raises ``CoreRefused`` where a core's bytes cannot be edited as text."""
    if core.data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise CoreRefused("encoding", "not written: the core memory is UTF-16", path, "save it as UTF-8")


def check(core: Core, data: bytes, path: str, added: str, line: int = 0) -> Core:
    """The core that ``data`` would be in the place of ``core``.

    ``added``: the text that is new. ``line``: where the edit is made, for what is said. Raises ``CoreRefused``.
    """
    check_readable(core, path)
    new = Core(data)
    new.usage = Usage(new.usage.characters, core.usage.budget)
    where = f"{path}:{line}" if line else path
    if looks_secret(added):
        raise CoreRefused("secret", "not written: it looks like a key or a password", where, "keep it out of memory")
    if _front(core) != _front(new):
        what = "not written: the front matter is for people to change"
        raise CoreRefused("front-matter", what, where, f"edit {path} by hand")
    hidden = _hidden(core, new)
    remedy = "close code fences and comments in the text, and keep both marks of those that are there"
    if hidden:
        raise CoreRefused("structure", f"not written: line {hidden} would not be read as before", where, remedy)
    if _tail(new) > _tail(core):
        raise CoreRefused("structure", "not written: a code fence or a comment would never end", where, remedy)
    _check_read_only(core, new, path)
    if _managed(core) != _managed(new):
        what = "not written: a block that a program maintains would change"
        raise CoreRefused("managed", what, where, "leave the lines between its marks, and the marks, as they are")
    if new.usage.characters > max(new.usage.budget, core.usage.characters):
        raise over_budget(core, new, path)
    return new


def over_budget(core: Core, new: Core, path: str) -> CoreRefused:
    """The refusal of what is too long, which names the largest entries that are there."""
    named = "; ".join(f"line {one.line} ({one.characters:,}): {one.text}" for one in core.entries[:_NAMED])
    return CoreRefused(
        "over-budget",
        f"not written: {path} would have {new.usage.characters:,} of {new.usage.budget:,} characters",
        "",
        f"shorten or take out an entry first, the largest are: {named}" if named else "write less",
        wanted=new.usage.characters,
        entries=[entry_json(one) for one in core.entries],
    )


def entry_json(one: Entry) -> dict[str, Any]:
    """``{line, endLine, characters, section, text}``"""
    place = {"line": one.line, "endLine": one.end_line, "characters": one.characters}
    return {**place, "section": one.section, "text": one.text}


def read_only(section: Section, path: str) -> CoreRefused:
    """The refusal to write to a section."""
    return CoreRefused(
        "read-only",
        f"not written: the section {section.name} is read-only",
        f"{path}:{section.line}",
        "choose another section, or ask the person whose memory it is",
        section=section.name,
    )


def _front(core: Core) -> list[str]:
    return core.lines.raw[: core.lines.front.end]


def _managed(core: Core) -> list[str]:
    lines = core.lines
    return [line for line, managed in zip(lines.raw, lines.managed, strict=True) if managed]


def _check_read_only(core: Core, new: Core, path: str) -> None:
    """Each section that is read-only by itself must be there as it was."""
    before, after = _guarded(core), _guarded(new)
    for section, lines in before:
        if lines not in [there for _, there in after]:
            raise read_only(section, path)
    if len(before) > len(after):
        raise read_only(before[0][0], path)


def _guarded(core: Core) -> list[tuple[Section, list[str]]]:
    found = []
    for one in core.sections:
        if one.read_only:
            lines = core.lines.raw[one.line - 1 : one.end]
            while lines and not lines[-1].strip():
                lines.pop()
            found.append((one, lines))
    return found


def _hidden(core: Core, new: Core) -> int:
    """The first line (1-based, as it is now) outside of the edit that reads otherwise after it, 0 for none."""
    old_lines, new_lines = core.lines.raw, new.lines.raw
    above = _common(old_lines, new_lines)
    below = _common(old_lines[above:][::-1], new_lines[above:][::-1])
    shift = len(new_lines) - len(old_lines)
    outside: list[int] = [*range(above), *range(len(old_lines) - below, len(old_lines))]
    for number in outside:
        there = number if number < above else number + shift
        if core.lines.plain[number].strip() and (
            core.lines.plain[number] != new.lines.plain[there] or core.lines.fenced[number] != new.lines.fenced[there]
        ):
            return number + 1
    return 0


def _tail(core: Core) -> int:
    """How many lines at the end a fence or a comment hides that never ends."""
    return 0 if core.lines.open_at is None else len(core.lines.raw) - core.lines.open_at


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines two files have in common from their start."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
