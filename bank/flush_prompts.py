"""What an agent is told before a compaction: OpenClaw's prompts or a person's own, with the day's log filled in."""

from __future__ import annotations

from datetime import UTC, datetime

from .silent_reply import TOKEN

DAY = "YYYY-MM-DD"
_TARGET = f"Store durable memories only in memory/{DAY}.md (create memory/ if needed)."
_APPEND = f"If memory/{DAY}.md already exists, APPEND new content only and do not overwrite existing entries."
_READ_ONLY = (
    "Treat workspace bootstrap/reference files such as MEMORY.md, DREAMS.md, SOUL.md, and AGENTS.md, and everything in"
    " bank/, as read-only during this flush; never overwrite, replace, or edit them."
)
_FORM = (
    "Write what happened as plain notes, and what will matter later as a list under a heading `## Retain`, one"
    " self-contained fact a line with full names and absolute dates: `- W @Name: fact about the world`,"
    " `- B @Name: what was done`, `- O(c=0.9) @Name: opinion or preference`, `- S @Name: summary`."
)
#: As OpenClaw 2026.9 words them, but for the pages in ``bank/`` and the form of facts; the plug-in has the same.
PROMPT = " ".join(
    (
        "Pre-compaction memory flush.",
        _TARGET,
        _READ_ONLY,
        _APPEND,
        _FORM,
        f"Do NOT create timestamped variant files (e.g., {DAY}-HHMM.md); always use the canonical {DAY}.md filename.",
        f"If nothing to store, reply with {TOKEN}.",
    )
)
SYSTEM_PROMPT = " ".join(
    (
        "Pre-compaction memory flush turn.",
        "The session is near auto-compaction; capture durable memories to disk.",
        _TARGET,
        _READ_ONLY,
        _APPEND,
        f"You may reply, but usually {TOKEN} is correct.",
    )
)
#: Added to a person's own prompt that does not say how to stay silent.
HINT = f"If no user-visible reply is needed, start with {TOKEN}."


def day_path(now: datetime) -> str:
    """The log of the day, relative to the workspace."""
    return f"memory/{now:%Y-%m-%d}.md"


def prompt_for(now: datetime, own: str = "", zone: str = "") -> str:
    """The message of the turn. ``own``: a person's, which is sent as it is but for the day and the hint; OpenClaw's
    tells the time too. ``zone``: the name of the zone that ``now`` is in."""
    return _filled(own, now) if own else f"{_filled(PROMPT, now)}\n{_time_lines(now, zone)}"


def system_prompt_for(now: datetime, own: str = "") -> str:
    """What is added to the system prompt of the turn."""
    return _filled(own or SYSTEM_PROMPT, now)


def _filled(text: str, now: datetime) -> str:
    filled = text.replace(DAY, f"{now:%Y-%m-%d}")
    return filled if TOKEN in filled else f"{filled}\n\n{HINT}"


def _time_lines(now: datetime, zone: str) -> str:
    """``Current time: Saturday, December 6th, 2025 - 12:00 PM (UTC)``, and the same in UTC; English whatever the
    locale."""
    days = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
    months = "January February March April May June July August September October November December".split()
    ending = "th" if now.day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(now.day % 10, "th")
    date = f"{days[now.weekday()]}, {months[now.month - 1]} {now.day}{ending}, {now.year}"
    clock = f"{now.hour % 12 or 12}:{now.minute:02} {'AM' if now.hour < 12 else 'PM'}"
    return f"Current time: {date} - {clock} ({zone})\nReference UTC: {now.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
