"""The faults that a person can do something about: one line each, with the exit code of the command.

A fault says what is wrong, where (``path`` or ``path:line``) and what to do, in this order:
``what (where); what to do``.
"""

from __future__ import annotations


def one_line(text: str) -> str:
    """``text`` with every run of white space and control characters turned into one space."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


class MemoryFault(Exception):
    """A fault in the input or in the workspace. ``str(fault)`` is one line for a person.

    ``what``: the fault itself. ``where``: ``path`` or ``path:line``, or "". ``remedy``: what to do, or "".
    """

    exit_code = 1

    def __init__(self, what: str, where: str = "", remedy: str = "") -> None:
        self.what, self.where, self.remedy = one_line(what), one_line(where), one_line(remedy)
        super().__init__(what, where, remedy)

    def __str__(self) -> str:
        place = f" ({self.where})" if self.where else ""
        advice = f"; {self.remedy}" if self.remedy else ""
        return f"{self.what}{place}{advice}"


class UsageFault(MemoryFault):
    """The command or the call was written wrongly."""

    exit_code = 2


class Busy(MemoryFault):
    """A lock was not had in time. Nothing was changed, so it is safe to try again."""

    exit_code = 75


def fault_of(error: OSError, doing: str, where: str) -> MemoryFault:
    """The one-line fault for an operating system error; ``doing`` reads like ``cannot write``."""
    import errno

    reasons = {
        errno.ENOSPC: ("the disk is full", "free some space and try again"),
        errno.EDQUOT: ("the disk quota is used up", "free some space and try again"),
        errno.EACCES: ("permission denied", "check who owns it and its permissions"),
        errno.EPERM: ("permission denied", "check who owns it and its permissions"),
        errno.EROFS: ("the file system is read-only", "mount it for writing or choose another workspace"),
        errno.ENOTDIR: ("a part of the path is a file, not a folder", "move that file away"),
        errno.ENAMETOOLONG: ("the name is too long", "use a shorter name"),
    }
    reason, remedy = reasons.get(error.errno or 0, (error.strerror or type(error).__name__, ""))
    return MemoryFault(f"{doing}: {reason}", where, remedy)
