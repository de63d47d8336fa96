"""The core memory as agents' tools: plain values in, one JSON object out, never an exception for what was refused.

``{ok: true, path, hash, usage, section, lines, citation, changed}``, or ``{ok: false, why, error, path, hash, usage}``
and what helps on (``entries``, ``matches``, ``sections``). A schema of both is ``docs/schemas/core.json``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..bank.errors import Busy, MemoryFault, UsageFault
from ..bank.workspace import Workspace
from .core_memory import (
    Written,
    append_to_core,
    core_name,
    insert_into_core,
    read_core,
    replace_in_core,
    rethink_core,
)
from .core_rules import CoreRefused
from .core_sections import Usage


def core_memory_append(workspace: Workspace, content: str, section: str = "", expect_hash: str = "") -> dict[str, Any]:
    """``core_memory_append {section?, content, expectHash?}``: add to the end of a section (``Learned``)."""
    return answer(workspace, lambda: append_to_core(workspace, content, section, expect_hash=expect_hash))


def core_memory_replace(
    workspace: Workspace, old: str, new: str, section: str = "", expect_hash: str = ""
) -> dict[str, Any]:
    """``core_memory_replace {old, new, section?, expectHash?}``: change a text that stands there exactly once."""
    return answer(workspace, lambda: replace_in_core(workspace, old, new, section=section, expect_hash=expect_hash))


def core_memory_insert(
    workspace: Workspace,
    content: str,
    line: int | None = None,
    after: str = "",
    section: str = "",
    expect_hash: str = "",
) -> dict[str, Any]:
    """``core_memory_insert {content, line|after, section?, expectHash?}``: add lines below a line or a text."""
    return answer(
        workspace,
        lambda: insert_into_core(workspace, content, line=line, after=after, section=section, expect_hash=expect_hash),
    )


def core_memory_rethink(workspace: Workspace, section: str, content: str, expect_hash: str = "") -> dict[str, Any]:
    """The same for ``core rethink``: say a section anew."""
    return answer(workspace, lambda: rethink_core(workspace, section, content, expect_hash=expect_hash))


def core_memory_show(workspace: Workspace) -> dict[str, Any]:
    """The core with its sections: ``{path, hash, usage, text, sections: [{name, trail, level, line, endLine,
    characters, description, readOnly}]}``. Raises ``MemoryFault`` where it cannot be read."""
    core = read_core(workspace)
    raw = core.lines.raw
    return {
        "path": core_name(workspace),
        "hash": core.hash,
        "usage": usage_json(core.usage),
        "text": core.text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"),
        "sections": [
            {
                "name": one.name,
                "trail": one.trail,
                "level": one.level,
                "line": one.line,
                "endLine": one.end,
                "characters": sum(len(line) + 1 for line in raw[one.line - 1 : one.end]),
                "description": one.description,
                "readOnly": one.read_only,
            }
            for one in core.sections
            if one.line
        ],
    }


def answer(workspace: Workspace, write: Callable[[], Written]) -> dict[str, Any]:
    """What a write came to, or why it was refused."""
    try:
        done = write()
    except MemoryFault as fault:
        return refusal(workspace, fault)
    return written_json(done)


def written_json(done: Written) -> dict[str, Any]:
    """What a write came to."""
    return {
        "ok": True,
        "path": done.path,
        "hash": done.hash,
        "usage": usage_json(done.usage),
        "section": done.section,
        "lines": {"from": done.first, "to": done.last} if done.first else None,
        "citation": done.citation or None,
        "changed": done.changed,
    }


def refusal(workspace: Workspace, fault: MemoryFault) -> dict[str, Any]:
    """A refused write; ``hash`` and ``usage`` are null where the core cannot be read either."""
    told: dict[str, Any] = {"ok": False, "why": _why(fault), "error": str(fault), "path": core_name(workspace)}
    try:
        core = read_core(workspace)
    except MemoryFault:
        told |= {"hash": None, "usage": None}
    else:
        told |= {"hash": core.hash, "usage": usage_json(core.usage)}
    return told | (fault.details if isinstance(fault, CoreRefused) else {})


def usage_json(usage: Usage) -> dict[str, Any]:
    """``{characters, budget, text}``"""
    return {"characters": usage.characters, "budget": usage.budget, "text": usage.text}


def _why(fault: MemoryFault) -> str:
    if isinstance(fault, CoreRefused):
        return fault.why
    return "usage" if isinstance(fault, UsageFault) else "busy" if isinstance(fault, Busy) else "fault"
