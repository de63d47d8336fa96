"""What a session's entry says of its flushes, as the older OpenClaw writes it (``memoryFlushAt``,
``memoryFlushCompactionCount``, ``memoryFlushFailureCount``) and as today's does (``memoryFlush{kind, …}``).

The older members are always written, since the file is the older form; the newer one is kept in step where it is there,
since today's OpenClaw asks it first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import MemoryFault
from .session_store import Session, Sessions, count_in


def last_flush(sessions: Sessions, session: Session, cycle: int) -> int | None:
    """In which cycle a flush ran last, as either era writes it: in this ``cycle``, if one of them says so."""
    found = [
        _newer(sessions, session).get("compactionCount"),
        count_in(sessions, session, "memoryFlushCompactionCount"),
    ]
    counts = [count for count in found if isinstance(count, int)]
    return cycle if cycle in counts else next(iter(counts), None)


def failures_of(sessions: Sessions, session: Session) -> int:
    """How often the flush of this cycle has failed."""
    newer = _newer(sessions, session).get("failureCount")
    older = count_in(sessions, session, "memoryFlushFailureCount") or 0
    return max(older, newer if isinstance(newer, int) else 0)


def _newer(sessions: Sessions, session: Session) -> Mapping[str, Any]:
    """``memoryFlush``, which today's OpenClaw has in the place of the single members."""
    value = session.entry.get("memoryFlush")
    if value is not None and not isinstance(value, dict):
        raise MemoryFault(
            f"the session {session.key}: memoryFlush: an object was expected", sessions.path, "mend it; nothing changed"
        )
    return value or {}


def claimed(session: Session, cycle: int, moment: int) -> dict[str, Any]:
    """What to set in an entry so that both eras read that a flush ran in this cycle. ``moment``: milliseconds."""
    changes: dict[str, Any] = {"memoryFlushAt": moment, "memoryFlushCompactionCount": cycle}
    if "memoryFlush" in session.entry:
        changes["memoryFlush"] = {"kind": "succeeded", "compactionCount": cycle}
    return changes


def flushed(session: Session, cycle: int, moment: int) -> dict[str, Any]:
    """The same, when it did run: earlier failures are forgotten."""
    forgotten = dict.fromkeys(("memoryFlushFailureCount", "memoryFlushLastFailedAt", "memoryFlushLastFailureError"))
    return claimed(session, cycle, moment) | forgotten


def given_back(session: Session, cycle: int, failures: int, moment: int) -> dict[str, Any]:
    """What to set so that the cycle is open again."""
    changes: dict[str, Any] = {
        "memoryFlushFailureCount": failures,
        "memoryFlushLastFailedAt": moment,
    }
    if session.entry.get("memoryFlushCompactionCount") == cycle:
        changes |= {"memoryFlushCompactionCount": None, "memoryFlushAt": None}
    if "memoryFlush" in session.entry:
        changes["memoryFlush"] = {"kind": "failed", "failureCount": failures}
    return changes
