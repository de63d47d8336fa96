"""Which paths may be opened at all: rules on the text, then a walk down the disk that follows no link.

The rules are the same on every platform, so that a path that is safe here is safe where the workspace is
cloned.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from typing import NoReturn

from .errors import MemoryFault, one_line

NAME_BYTES = 255
PATH_BYTES = 4096
#: Names that Windows takes for devices, whatever their suffix.
DEVICES = frozenset(f"{name}{digit}" for name in ("com", "lpt") for digit in "0123456789¹²³") | {
    "con",
    "prn",
    "aux",
    "nul",
    "conin$",
    "conout$",
    "clock$",
}


class PathNotAllowed(MemoryFault):
    """The path is outside what may be read, or is written in a way that could lead outside."""

    code = "MEMORY_PATH_NOT_ALLOWED"


def refuse(reason: str, path: str) -> NoReturn:
    """Raise ``PathNotAllowed``, with ``path`` cut to what fits on a line."""
    shown = one_line(ascii(path)[1:-1] if any(not c.isprintable() for c in path) else path)
    if len(shown) > 120:
        shown = shown[:100] + "…"
    raise PathNotAllowed(
        f"path not allowed: {reason}", shown, "name a .md file of the workspace, such as memory/2026-01-05.md"
    )


def check_text(path: str) -> None:
    """Refuse what is no path on any platform: empty, control characters, not encodable, too long."""
    if not path.strip():
        refuse("it is empty", path)
    if any(char < " " or char == "\x7f" for char in path):
        refuse("it holds a control character", path)
    try:
        length = len(os.fsencode(path))
    except UnicodeEncodeError:
        refuse("it holds a character that no file name can hold", path)
    if length > PATH_BYTES:
        refuse("it is too long", path)


def split(path: str) -> tuple[str, ...]:
    """The parts of a relative posix path. Doubled slashes and one leading ``./`` are dropped.

    Raises ``PathNotAllowed`` for backslashes, drive letters, a trailing slash, and for parts that start with
    a dot (so also ``..``), end with a dot or a blank, are device names, or are longer than 255 bytes.
    """
    if "\\" in path:
        refuse("it holds a backslash", path)
    if path[1:2] == ":" and path[0].isalpha():
        refuse("it starts with a drive letter", path)
    if path.endswith("/"):
        refuse("it names a folder", path)
    parts = tuple(part for part in path.removeprefix("./").split("/") if part)
    for part in parts:
        if part == "..":
            refuse("it climbs with '..'", path)
        if part.startswith("."):
            refuse("a part starts with a dot", path)
        if part[-1] in ". ":
            refuse("a part ends with a dot or a blank", path)
        if part.split(".", 1)[0].rstrip(" ").casefold() in DEVICES:
            refuse("a part is a device name", path)
        if os.name == "nt" and ":" in part:
            refuse("a part holds a colon", path)
        if len(os.fsencode(part)) > NAME_BYTES:
            refuse("a name is too long", path)
    return parts


def descend(base: str, parts: Sequence[str]) -> str:
    """The absolute path of ``parts`` below the real folder ``base``, spelled as on the disk.

    A name is found in either Unicode form (composed or decomposed), but only in the case that it has on the
    disk. What does not exist is returned as written. Raises ``PathNotAllowed`` for a symbolic link (or
    junction) anywhere below ``base``, a name in another case, and for anything at the end that is not a
    regular file.
    """
    path = base
    for position, part in enumerate(parts):
        written = os.path.join(path, *parts[position:])
        path = os.path.join(path, _spelling(path, part))
        try:
            mode = os.lstat(path).st_mode
        except (FileNotFoundError, NotADirectoryError):
            return written
        except (OSError, ValueError):
            refuse("it cannot be looked up", written)
        if stat.S_ISLNK(mode):
            refuse("a part is a symbolic link", written)
        if position == len(parts) - 1 and not stat.S_ISREG(mode):
            refuse("it is not a regular file", written)
    if not parts and os.path.lexists(path) and not os.path.isfile(path):
        refuse("it is not a regular file", path)
    if os.path.normcase(os.path.realpath(path)) != os.path.normcase(path):
        refuse("its real path is another", path)
    return path


def _spelling(folder: str, name: str) -> str:
    """``name`` as ``folder`` spells it: itself, or the entry that is the same in another Unicode form."""
    try:
        entries = os.listdir(folder)
    except OSError:
        return name
    if name in entries:
        return name
    from unicodedata import normalize

    wanted = normalize("NFC", name)
    for entry in sorted(entries):
        if normalize("NFC", entry) == wanted:
            return entry
    folded = wanted.casefold()
    if any(normalize("NFC", entry).casefold() == folded for entry in entries) and os.path.lexists(
        os.path.join(folder, name)
    ):
        refuse("upper and lower case differ from the name on the disk", os.path.join(folder, name))
    return name
