"""The edits of the core memory that a caller may ask for, each a pure function: a core and what is wanted, to an edit.

Line ends are the file's own. A caller's text is put as it is, but for a line that would run on the list item above it:
it becomes an item too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches

from ..bank.errors import UsageFault
from .core_bullets import HEADING
from .core_matches import match, named, names, only
from .core_rules import CoreRefused, Edit, read_only
from .core_sections import Core, Section

_BLOCK = re.compile(r"\s*(?:[-*+•]\s|\d{1,9}[.)]\s|#{1,6}(?:\s|$)|`{3}|~{3}|>|\||<!--)")
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,9}[.)])\s")
_NUMBER = re.compile(r"\d+")
#: Names are alike from this share of common characters on (``difflib``).
_ALIKE = 0.8
_PROMOTION = re.compile(r"<!--\s*openclaw-memory-promotion:[^>]*?-->")


def append(core: Core, section: str, text: str, path: str) -> Edit:
    """``text`` at the end of a section, before those that stand in it. A section that is not there is made at the end
    of the file; one that is there but for a slip is named instead. Text that stands there already changes nothing."""
    lines = _content(text)
    name = " ".join(section.split()) or HEADING
    found = named(core, name)
    if not found:
        slip = _nearly(core, name)
        if slip is not None:
            where = f"{path}:{slip.line}"
            raise CoreRefused("no-section", f"no section {name}", where, f"is it {slip.name}?", **names(core))
        name = name.lstrip("# ")
        if not name or "<!--" in name or "-->" in name:
            raise UsageFault("no name of a section", section, "write its heading without marks")
        if ">" in name:
            only(core, name, path)
        return _new_section(core, name, lines, path)
    target = only(core, name, path)
    if target.read_only:
        raise read_only(target, path)
    inner = _no_heading(lines, target.level)
    raw, start, end = core.lines.raw, target.body - 1, min(target.own_end, _visible(core))
    if _stands(raw[start : target.end if inner else end], lines):
        return Edit(0, 0, "", target.line, target.name, 0, 0)
    last = end
    while last > start and (not raw[last - 1].strip() or core.lines.managed[last - 1]):
        last -= 1
    above = raw[last - 1] if last else ""
    in_list = last > start and bool(_ITEM.match(above) or above[:1].isspace())
    if len(lines) == 1 and not _BLOCK.match(lines[0]) and (in_list or last == start):
        lines = [f"- {lines[0]}"]
    goes_on = in_list and _ITEM.match(lines[0])
    following = raw[last] if last < len(raw) else ""
    after = [""] if following.strip() else []
    return _below(core, last, [] if goes_on else [""], lines, after, target.name)


def _nearly(core: Core, name: str) -> Section | None:
    """The section whose name differs by a slip; other numbers are no slip (``Plans for 2026``)."""
    wanted = name.casefold().lstrip("# ")
    alike = {
        one.name.casefold(): one
        for one in core.sections
        if one.line and _NUMBER.findall(one.name) == _NUMBER.findall(name)
    }
    near = get_close_matches(wanted, [*alike], 1, _ALIKE)
    return alike[near[0]] if near else None


def replace(core: Core, old: str, new: str, section: str, path: str) -> Edit:
    """``new`` where ``old`` stands; it has to stand in the file, or in the section, exactly once."""
    if not old:
        raise UsageFault("there is no text to replace", remedy="give a piece of the core memory as it stands there")
    start, end = match(core, old, section, path)
    line = core.line_at(start)
    if "\n" in core.text[:start] + core.text[end:]:
        new = re.sub(r"\r?\n", core.newline, new)
    return Edit(start, end, new, line, core.section_at(line).name, 0, len(new))


def insert(core: Core, text: str, line: int | None, after: str, section: str, path: str) -> Edit:
    """``text`` as lines of their own below a line (1-based; 0: at the top), or below the one where ``after`` ends."""
    if (line is None) == (not after):
        raise UsageFault(
            "one of line and after is needed", remedy="say below which line (--line N) or which text (--after TEXT)"
        )
    lines = text.replace("\r\n", "\n").split("\n") if text.strip() else []
    if not lines:
        raise UsageFault("there is nothing to insert", remedy="give a text")
    while len(lines) > 1 and not lines[-1]:
        lines.pop()
    if line is None:
        at = core.line_at(max(0, match(core, after, section, path)[1] - 1))
    else:
        size, front = len(core.lines.raw), core.lines.front.end
        target = only(core, section, path) if section else None
        first, last = (target.line, target.end) if target else (front, size)
        if not first <= line <= last:
            raise CoreRefused(
                "no-match",
                f"line {line} is not in {f'the section {target.name}' if target else path}",
                path,
                f"give a line from {first} to {last}",
                **names(core),
            )
        at = line
    inside = core.section_at(at)
    if inside.read_only:
        raise read_only(inside, path)
    return _below(core, at, [], lines, [], inside.name)


def rethink(core: Core, section: str, text: str, path: str) -> Edit:
    """``text`` instead of what stands in a section, up to those that stand in it.

    Its settings stay, and so do blocks that programs maintain. A line that is in both keeps its marks, and the marks of
    what was promoted (which keep it from being promoted again) outlive their lines.
    """
    target = only(core, section, path)
    if not target.line:
        raise CoreRefused("no-section", f"no section {section!r}", path, "name a heading", **names(core))
    if target.read_only:
        raise read_only(target, path)
    lines = _content(text) if text.strip() else []
    _no_heading(lines, target.level)
    start, end = target.body - 1, min(target.own_end, _visible(core))
    raw = core.lines.raw[start:end]
    kept = [line for line, managed in zip(raw, core.lines.managed[start:end], strict=True) if managed]
    body = _with_marks(core, lines, start, end)
    texts = [number for number, line in enumerate(raw) if line.strip()]
    head, tail = [""], [""] if end < len(core.lines.raw) else []
    if texts:
        head, tail = raw[: texts[0]], raw[texts[-1] + 1 :]
    new = [*(head if body or kept else []), *body, *([""] if body and kept else []), *kept, *tail]
    at, to = core.starts[min(start, len(core.starts) - 1)], core.starts[min(end, len(core.starts) - 1)]
    joined = "".join(line + core.newline for line in new)
    if not core.text[:to].endswith("\n"):
        joined = joined.removesuffix(core.newline)
    if at and not core.text[:at].endswith("\n"):
        joined = core.newline + joined
    text = joined.strip("\r\n")
    return Edit(at, to, joined, target.line, target.name, joined.find(text), len(text))


def _with_marks(core: Core, lines: Sequence[str], start: int, end: int) -> list[str]:
    """A new body with the marks that its lines had in the old one (lines ``start`` to ``end``, 0-based)."""
    old: dict[str, list[str]] = {}
    above: list[str] = []
    promoted: list[str] = []
    for number in range(start, end):
        raw, plain = core.lines.raw[number], core.lines.plain[number].strip()
        if core.lines.managed[number] or core.lines.fenced[number]:
            above = []
            continue
        promoted += _PROMOTION.findall(raw)
        if plain:
            old.setdefault(plain, [*above, raw])
            above = []
        else:
            above = [*above, raw] if raw.strip() else []
    body: list[str] = []
    for line in lines:
        there = [] if "<!--" in line else old.pop(line.strip(), [])
        marks = [one for one in there[:-1] if one.strip() not in [other.strip() for other in lines]]
        body += [*marks, there[-1]] if there and there[-1].strip() != line.strip() else [*marks, line]
    said = "\n".join(body)
    return body + [mark for mark in dict.fromkeys(promoted) if mark not in said]


def _content(text: str) -> list[str]:
    """A caller's text as lines, without blank ones around it."""
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").strip("\n").split("\n")]
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise UsageFault("there is nothing to add", remedy="give a text")
    return lines


def _no_heading(lines: Sequence[str], level: int) -> bool:
    """Refuse text that would leave its section; whether it has sections of its own."""
    headings = [one for one in Core("\n".join(lines).encode("utf-8", "replace")).sections if one.line]
    for heading in headings:
        if heading.level <= level:
            raise CoreRefused(
                "structure",
                f"not written: the heading {heading.name!r} would end the section",
                "",
                f"use more than {level} # for it, or name it as the section",
            )
    return bool(headings)


def _visible(core: Core) -> int:
    """How many lines there are before a fence or a comment that never ends."""
    return len(core.lines.raw) if core.lines.open_at is None else core.lines.open_at


def _stands(lines: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether the wanted lines stand there one below the other, as they are or as an item."""
    there = [line.strip() for line in lines]
    for form in (list(wanted), [f"- {wanted[0]}", *wanted[1:]]):
        stripped = [line.strip() for line in form]
        if any(there[at : at + len(stripped)] == stripped for at in range(len(there))):
            return True
    return False


def _new_section(core: Core, name: str, lines: list[str], path: str) -> Edit:
    """A section at the end of what is visible. In an empty file it gets a title above it; where there are several
    headings with one ``#`` it is one of these, else it has two."""
    level = 1 if sum(one.level == 1 for one in core.sections) > 1 else 2
    _no_heading(lines, level)
    if len(lines) == 1 and not _BLOCK.match(lines[0]):
        lines = [f"- {lines[0]}"]
    end = _visible(core)
    above = core.lines.raw[end - 1] if end else ""
    head = ["# Memory", ""] if not core.text else [""] if above.strip() else []
    following = core.lines.raw[end] if end < len(core.lines.raw) else ""
    after = [""] if following.strip() else []
    return _below(core, end, [*head, f"{'#' * level} {name}", ""], lines, after, name)


def _below(
    core: Core, line: int, before: Sequence[str], lines: Sequence[str], after: Sequence[str], section: str
) -> Edit:
    """New lines below a line (1-based; 0: at the top), between others that set them off."""
    at = core.starts[min(line, len(core.starts) - 1)]
    head = "".join(one + core.newline for one in before)
    text = core.newline.join(lines)
    tail = "".join(core.newline + one for one in after)
    if at == 0 or core.text[:at].endswith("\n"):
        tail += core.newline
    else:
        # A file whose last line has no end keeps it so.
        head = core.newline + head
    return Edit(at, at, head + text + tail, line, section, len(head), len(text))
