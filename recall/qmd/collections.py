"""The collections that an agent's QMD should have, and bringing QMD in step with them.

Only collections that we have made are changed or removed. One that QMD had before with the same folder and pattern is
used under its own name and left alone.
"""

import os
import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import NamedTuple

from ...bank.errors import one_line
from ...bank.path_patterns import path_pattern
from ...bank.workspace import Workspace
from .home import Home, Made, Record
from .process import Qmd, QmdUnavailable
from .settings import ALL_MARKDOWN, QmdSettings

#: Names of the collections that nobody configures; the first holds the core memory file in either spelling.
CORE, LOGS, BANK, SESSIONS = "memory-root", "memory-dir", "memory-bank", "sessions"
_CORE_PATTERN = "{MEMORY,memory}.md"
_LISTED = re.compile(r"^(?P<name>\S+) \(qmd://", re.MULTILINE)
_SAME_PLACE = re.compile(r"^\s*Name:\s+(?P<name>\S+) \(qmd://", re.MULTILINE)
_SHOWN = re.compile(r"^\s*(?P<key>Path|Pattern):\s+(?P<value>.+?)\s*$", re.MULTILINE)


class Collection(NamedTuple):
    """``name``: ours, as in ``qmd/<name>/<path>``. ``root``: the real folder. ``pattern``: a glob on paths below it.
    ``source``: memory or sessions."""

    name: str
    root: str
    pattern: str
    source: str

    def has(self, path: str) -> bool:
        """Whether the pattern takes in a posix path below the root."""
        return any(path_pattern(glob).fullmatch(path) for glob in _globs(self.pattern))


def _globs(pattern: str) -> list[str]:
    """QMD takes several globs with commas between them; a comma in a brace or bracket is no such one."""
    found, depth, start = [], 0, 0
    for position, letter in enumerate(pattern):
        depth += (letter in "{[") - (letter in "}]" and depth > 0)
        if letter == "," and not depth:
            found.append(pattern[start:position].strip())
            start = position + 1
    return [glob for glob in (*found, pattern[start:].strip()) if glob]


def sessions_folder(settings: QmdSettings, home: Home) -> str:
    """Where an agent's sessions are exported to: a folder of its own in any case."""
    folder = settings.sessions.folder
    return os.path.abspath(os.path.join(folder, home.agent) if folder else os.path.join(home.folder, "sessions"))


def wanted_collections(
    workspace: Workspace, settings: QmdSettings, home: Home
) -> tuple[dict[str, Collection], list[str]]:
    """(The collections by name, warnings). Folders that do not exist have none; where they are configured, that is
    worth a warning."""
    found: dict[str, Collection] = {}
    warnings: list[str] = []
    if settings.default_memory:
        found[CORE] = Collection(CORE, workspace.root, _CORE_PATTERN, "memory")
        for name, folder in ((LOGS, "memory"), (BANK, "bank")):
            place = os.path.join(workspace.root, folder)
            if os.path.islink(place):
                warnings.append(f"{place} is a symbolic link, which is not followed")
            elif os.path.isdir(place):
                found[name] = Collection(name, place, ALL_MARKDOWN, "memory")
    if settings.sessions.enabled:
        folder = sessions_folder(settings, home)
        if os.path.isdir(folder):
            found[SESSIONS] = Collection(SESSIONS, os.path.realpath(folder), ALL_MARKDOWN, "sessions")
    for one in settings.paths:
        place = os.path.realpath(os.path.join(workspace.root, one.path))
        if os.path.isdir(place):
            root, pattern = place, one.pattern
        elif os.path.isfile(place):
            root, pattern = os.path.dirname(place), _escaped(os.path.basename(place))
        else:
            warnings.append(one_line(f"{one.key}: {place} does not exist"))
            continue
        if any((other.root, other.pattern) == (root, pattern) for other in found.values()):
            continue
        name = _name(one.name, root, pattern, found)
        found[name] = Collection(name, root, pattern, "memory")
    return found, warnings


def _name(given: str, root: str, pattern: str, taken: Iterable[str]) -> str:
    """The name as it was given, in letters that QMD takes; else one made of the folder, which stays the same whatever
    else is configured."""
    digest = sha256(f"{root}\0{pattern}".encode("utf-8", "surrogateescape")).hexdigest()[:6]
    name = _slug(given) or f"{_slug(os.path.basename(root)) or 'folder'}-{digest}"
    return name if name not in {*taken, CORE, LOGS, BANK, SESSIONS} else f"{name}-{digest}"


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9_-]+", "-", text.lower()).strip("-")[:60]


def _escaped(name: str) -> str:
    """A glob for one file's name."""
    return re.sub(r"[*?\[{(!+@,|]", r"[\g<0>]", name).replace("[!]", "?")


def matching(wanted: Mapping[str, Collection], record: Record) -> dict[str, Made]:
    """The wanted collections, by our names, that are set up as they should be."""
    return {
        name: made
        for name, made in record.made.items()
        if name in wanted and (made.root, made.pattern) == (wanted[name].root, wanted[name].pattern)
    }


def mark_of(wanted: Mapping[str, Collection]) -> str:
    """What is another as soon as other collections are wanted."""
    return sha256(repr(sorted(wanted.values())).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def bring_in_step(
    qmd: Qmd, wanted: Mapping[str, Collection], made: Mapping[str, Made], timeout: float
) -> tuple[dict[str, Made], list[str]]:
    """Set up what is missing, set up anew what has changed, remove what is not wanted any more. ``made``: ours so far;
    ``timeout``: seconds for each command. (What is ours now, warnings). Raises ``QmdUnavailable`` where QMD does not
    even list its collections."""
    listed = qmd.run(["collection", "list"], timeout)
    if listed.code:
        raise QmdUnavailable(f"`collection list` failed with {listed.why}")
    there = set(_LISTED.findall(listed.output))
    ours: dict[str, Made] = {}
    warnings: list[str] = []
    for name, one in made.items():
        new = wanted.get(name)
        if one.name not in there:
            continue
        gone = new is None and not os.path.isdir(one.root)
        if gone or (new and (new.root, new.pattern) == (one.root, one.pattern)):
            # A folder that is not there may come back, and need not be read anew then.
            ours[name] = one
        elif one.name == name and _remove(qmd, name, timeout, warnings):
            there.discard(name)
    for name, new in wanted.items():
        if name not in ours:
            added = _add(qmd, new, there, timeout, warnings)
            if added:
                ours[name] = Made(new.root, new.pattern, added)
    return ours, warnings


def _remove(qmd: Qmd, name: str, timeout: float, warnings: list[str]) -> bool:
    ended = qmd.run(["collection", "remove", name], timeout)
    if ended.code:
        warnings.append(f"QMD's collection {name} cannot be removed: {ended.why}")
    return not ended.code


def _add(qmd: Qmd, one: Collection, there: set[str], timeout: float, warnings: list[str]) -> str:
    """The name under which QMD has the collection now; "" where it has it not, which is told."""
    if one.name in there:
        if _place(qmd, one.name, timeout) == (one.root, one.pattern):
            return one.name
        warnings.append(f"QMD has another collection named {one.name} that is not ours; choose another name")
        return ""
    ended = qmd.run(["collection", "add", one.root, "--name", one.name, "--mask", one.pattern], timeout)
    if not ended.code:
        return one.name
    same = _SAME_PLACE.search(ended.complaint)
    if same and _place(qmd, same["name"], timeout) == (one.root, one.pattern):
        return same["name"]
    warnings.append(f"QMD's collection {one.name} cannot be made: {ended.why}")
    return ""


def _place(qmd: Qmd, name: str, timeout: float) -> tuple[str, str]:
    """(folder, pattern) of a collection; empty where QMD does not tell."""
    ended = qmd.run(["collection", "show", name], timeout)
    shown = {found["key"]: found["value"] for found in _SHOWN.finditer(ended.output)} if not ended.code else {}
    return shown.get("Path", ""), shown.get("Pattern", "")
