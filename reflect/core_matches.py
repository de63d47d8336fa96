"""What a caller names in the core memory, a section or a text, and where it is: one place, or a refusal that helps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from .core_rules import CoreRefused
from .core_sections import Core, Section

_NEAR, _LISTED, _SHOWN, _ALIKE = 3, 10, 60, 0.6


def named(core: Core, name: str) -> list[Section]:
    """The sections of that heading, or of that trail of headings (``People > Family``)."""
    wanted = [_plain_name(part) for part in name.split(">")]
    return [
        one
        for one in core.sections
        if one.line and [_plain_name(part) for part in one.trail.split(" > ")][-len(wanted) :] == wanted
    ]


def _plain_name(name: str) -> str:
    return " ".join(name.strip().lstrip("#").casefold().split())


def only(core: Core, name: str, path: str) -> Section:
    """The one section of a name. Raises ``CoreRefused`` where there is none, or more than one."""
    found = named(core, name)
    if not found:
        headings = ", ".join(one.name for one in core.sections if one.line) or "none yet"
        raise CoreRefused("no-section", f"no section {name}", path, f"there are: {headings}", **names(core))
    if len(found) > 1:
        lines = ", ".join(str(one.line) for one in found)
        what = f"{len(found)} sections are called {found[0].name}: lines {lines}"
        raise CoreRefused("several-matches", what, path, "name the heading above too: People > Family", **names(core))
    return found[0]


def names(core: Core) -> dict[str, list[str]]:
    return {"sections": [one.trail for one in core.sections if one.line]}


def match(core: Core, wanted: str, section: str, path: str) -> tuple[int, int]:
    """Where a text stands in the core, or in a section of it. Raises ``CoreRefused`` unless that is one place."""
    first, last = 0, len(core.text)
    if section:
        target = only(core, section, path)
        first = core.starts[target.line - 1]
        last = core.starts[target.end] if target.end < len(core.starts) else len(core.text)
    parts = map(re.escape, re.split(r"\r?\n", wanted))
    # Places that overlap are several too.
    pattern = re.compile("(?=(" + r"(?:\r\n|(?<!\r)\n)".join(parts) + "))")
    found = [match.span(1) for match in pattern.finditer(core.text, first, last)]
    if len(found) == 1:
        return found[0]
    scope = f" in the section {section}" if section else ""
    if found:
        lines = list(dict.fromkeys(core.line_at(start) for start, _ in found))
        listed = ", ".join(map(str, lines[:_LISTED])) + (" and more" if len(lines) > _LISTED else "")
        raise CoreRefused(
            "several-matches",
            f"this text stands there {len(found)} times{scope}: lines {listed}",
            path,
            "give more of the text around it, or its section",
            matches=[_place(core, line) for line in lines[:_LISTED]],
        )
    near = list(_near(core, wanted, core.line_at(first), core.line_at(last)))
    told = "; ".join(f"line {one['line']}: {one['text']}" for one in near)
    remedy = f"is it one of these? {told}" if near else "see `openclaw memory core show`"
    raise CoreRefused("no-match", f"no text like this{scope}: {wanted[:_SHOWN]}", path, remedy, matches=near)


def _place(core: Core, line: int) -> dict[str, int | str]:
    return {"line": line, "text": core.lines.raw[line - 1].strip()[:200]}


def _near(core: Core, wanted: str, first: int, last: int) -> Iterator[dict[str, int | str]]:
    """The lines most like a text, best first."""
    asked = " ".join(wanted.casefold().split())[:400]
    scored: list[tuple[float, int]] = []
    for number in range(first, min(last, len(core.lines.raw)) + 1):
        line = " ".join(core.lines.raw[number - 1].casefold().split())[:400]
        if not line or not asked:
            continue
        longest = SequenceMatcher(None, line, asked, autojunk=False).find_longest_match()
        share = longest.size / len(asked)
        scored.append((max(share, SequenceMatcher(None, line, asked, autojunk=False).ratio()), number))
    for score, number in sorted(scored, key=lambda one: (-one[0], one[1]))[:_NEAR]:
        if score >= _ALIKE:
            yield _place(core, number)
