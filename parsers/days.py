"""What a path says before its file is read: the day of a log, and which of the grammar's places it is."""

from __future__ import annotations

import re
from datetime import date

_DATE = re.compile(r"(?<!\d)(\d{4})([-_/])(\d{1,2})\2(\d{1,2})(?!\d)")
_TYPED_PAGES = ("world.md", "experience.md", "opinions.md")
_IGNORED_NAMES = ("template.md", "index.md")

LOG, PAGE, CORE, PLAIN, OUTSIDE = "log", "page", "core", "plain", "outside"


def dates_in(text: str) -> tuple[date | None, bool]:
    """The first real date in a text such as a path (``2026-01-05``, ``2026_01_05``, ``2026/01/05``), and whether an
    impossible one stands there instead."""
    impossible = False
    for match in _DATE.finditer(text):
        try:
            return date(int(match[1]), int(match[3]), int(match[4])), False
        except ValueError:
            impossible = True
    return None, impossible


def day_of(text: str) -> date | None:
    """The day that a heading names, if any."""
    return dates_in(text)[0]


def role_of(path: str) -> str:
    """Which place of the grammar a workspace-relative posix path is.

    ``log`` (below ``memory/``), ``page`` (``bank/{world,experience,opinions}.md``, ``bank/entities/*.md``, also below
    ``memory/bank/``), ``core`` (``MEMORY.md``), ``plain`` (other pages: text, no facts), ``outside`` (folders that
    start with a dot, templates, other documents: no facts, no lint).
    """
    parts = path.replace("\\", "/").split("/")
    name = parts[-1].casefold()
    if any(part.startswith(".") for part in parts) or name in _IGNORED_NAMES:
        return OUTSIDE
    if len(parts) == 1:
        return CORE if name == "memory.md" else PLAIN if name == "user.md" else OUTSIDE
    if parts[0] == "memory" and parts[1] == "templates":
        return OUTSIDE
    if parts[0] == "memory" and parts[1] == "bank":
        parts = parts[1:]
    if parts[0] == "bank":
        typed = (len(parts) == 2 and name in _TYPED_PAGES) or (len(parts) == 3 and parts[1] == "entities")
        return PAGE if typed else PLAIN
    return LOG if parts[0] == "memory" else OUTSIDE


def is_dream_report(path: str) -> bool:
    """Whether OpenClaw reports there what it dreamt: a machine repeats what the logs say."""
    return path.startswith("memory/dreaming/")


def log_day(path: str) -> tuple[date | None, bool]:
    """The day of a log from the date anywhere in its path (its name first), and whether the date there is impossible.

    Only logs have a day.
    """
    if role_of(path) != LOG:
        return None, False
    named, bad_name = dates_in(path.rsplit("/", 1)[-1])
    day, bad_path = (named, bad_name) if named or bad_name else dates_in(path)
    return day, bad_name or bad_path
