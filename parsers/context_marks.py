"""The marks around what an agent is given before a turn (``recall.context``), and how they are known again.

Pasted into a log, a page or a transcript, what stands between them is memory that was shown, not something that was
said: it gives no facts, no notes and no chunks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

NAME = "openclaw-memory:context"
START, END = f"<!-- {NAME} v1 -->", f"<!-- /{NAME} -->"
_START = re.compile(rf"\s*<!--\s*{NAME}(?:\s[^<>]*)?-->\s*$")


def blank_context(lines: Sequence[str], managed: Sequence[int]) -> list[str]:
    """``lines`` with those of each context block emptied. ``managed``: per line whether it stands in a block that a
    machine maintains, as ``masks.find_managed`` tells."""
    kept = list(lines)
    inside = False
    for number, line in enumerate(lines):
        inside = bool(managed[number]) and (inside or (NAME in line and _START.match(line) is not None))
        if inside:
            kept[number] = ""
        if inside and NAME in line and line.strip().startswith(f"<!-- /{NAME}"):
            inside = False
    return kept
