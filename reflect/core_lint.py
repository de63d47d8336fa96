"""What ``lint`` says of a core memory that was edited by hand."""

from __future__ import annotations

from ..parsers.records import Diagnostic
from .core_sections import Core, read_budget

_NAMED = 3


def core_faults(data: bytes) -> list[Diagnostic]:
    """``bad-budget`` for a budget that is no number, ``core-over-budget`` for a core that is longer than its budget,
    in line order. Pure: a file's bytes in."""
    core = Core(data)
    found: list[Diagnostic] = []
    given = core.lines.front.values.get("budget")
    if given is not None and read_budget(given) is None:
        line = next(n for n, text in enumerate(core.lines.raw, 1) if text.lstrip().startswith("budget"))
        message = f"the budget is no number; {core.usage.budget:,} counts"
        found.append(Diagnostic(line, "bad-budget", message))
    if core.usage.characters > core.usage.budget:
        largest = "; ".join(f"line {one.line} ({one.characters:,})" for one in core.entries[:_NAMED])
        message = f"the core memory has {core.usage.text} characters, and nothing more can be added; largest: {largest}"
        found.append(Diagnostic(1, "core-over-budget", message))
    return sorted(found)
