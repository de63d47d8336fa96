"""The core memory's one way in: read, edit, check, write.

Whoever writes to it, a person at the command line, an agent's tool, what was promoted or what a person ticked on
reflect's page, comes through here: under the lock of whoever appends to the logs, against the rules of ``core_rules``,
as a whole or not at all, and refused where the file is not any more what was read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from ..bank.errors import UsageFault
from ..bank.files import ChangedMeanwhile, FileMissing, FileText, decode, read_text, write_atomic, writer_lock
from ..bank.workspace import Workspace
from ..parsers.lines import read_lines
from . import core_edits as edits
from .core_bullets import HEADING, with_bullet
from .core_rules import CoreRefused, Edit, applied, check, check_readable
from .core_sections import BUDGET, Core, Usage, budget_of
from .suggestion_lines import Proposal

__all__ = ["BUDGET", "HEADING", "Added", "Written", "add_to_core", "budget_of", "with_bullet"]

_ATTEMPTS = 5


class Written(NamedTuple):
    """What an edit came to. ``path``: of the core, relative to the workspace. ``hash``: of the file by now, as
    ``core_sections.hash_of`` makes it. ``section``: the heading that it stands under, "" above all. ``first``,
    ``last``: the lines (1-based) of the text, 0 where lines were only taken out. ``changed``: false where the text
    stood there already."""

    path: str
    hash: str
    usage: Usage
    section: str
    first: int
    last: int
    changed: bool

    @property
    def citation(self) -> str:
        """``MEMORY.md#L5`` or ``MEMORY.md#L5-L7``, "" where nothing was added."""
        if not self.first:
            return ""
        return f"{self.path}#L{self.first}" + (f"-L{self.last}" if self.last > self.first else "")


class Added(NamedTuple):
    """``path``: of the core, relative to the workspace. ``keys``: of the proposals that stand in it now. ``problems``:
    for each of the others, by key, why it was not added."""

    path: str
    keys: tuple[str, ...]
    problems: dict[str, str]


def core_name(workspace: Workspace) -> str:
    """The core's path, relative to the workspace, whether there is one or not."""
    return workspace.relative(workspace.core_path())


def read_core(workspace: Workspace) -> Core:
    """The core as it is; an empty one where there is no file."""
    try:
        return Core(read_text(workspace.resolve(core_name(workspace))).data)
    except FileMissing:
        return Core(b"")


def append_to_core(
    workspace: Workspace, text: str, section: str = "", *, expect_hash: str = "", timeout: float = 10.0
) -> Written:
    """Put ``text`` at the end of a section (``Learned`` for ""), which is made where it is missing.

    Text that stands there already, line for line, changes nothing. ``expect_hash``: of the file that the caller has
    read; another one refuses. ``timeout``: seconds to wait for other writers. Raises ``CoreRefused`` where a rule is
    against it, ``UsageFault`` for an empty text, ``Busy``, ``PathNotAllowed`` and ``MemoryFault`` where the file cannot
    be written.
    """
    return _edit(workspace, lambda core, path: edits.append(core, section, text, path), expect_hash, timeout)


def replace_in_core(
    workspace: Workspace, old: str, new: str, *, section: str = "", expect_hash: str = "", timeout: float = 10.0
) -> Written:
    """Put ``new`` where ``old`` stands exactly once, in the file or in a section. Raises as ``append_to_core`` does;
    ``CoreRefused`` with the lines where ``old`` stands in several places, or with the nearest where it stands in
    none."""
    return _edit(workspace, lambda core, path: edits.replace(core, old, new, section, path), expect_hash, timeout)


def insert_into_core(
    workspace: Workspace,
    text: str,
    *,
    line: int | None = None,
    after: str = "",
    section: str = "",
    expect_hash: str = "",
    timeout: float = 10.0,
) -> Written:
    """Put ``text`` as lines of their own below a line of the file (1-based, 0 for the top), or below the one where
    the text ``after`` ends, which must stand there exactly once. Raises as ``append_to_core`` does."""
    return _edit(
        workspace, lambda core, path: edits.insert(core, text, line, after, section, path), expect_hash, timeout
    )


def rethink_core(
    workspace: Workspace, section: str, text: str, *, expect_hash: str = "", timeout: float = 10.0
) -> Written:
    """Put ``text`` in the place of all that stands in a section (``core_edits.rethink``); "" empties it. Raises as
    ``append_to_core`` does."""
    return _edit(workspace, lambda core, path: edits.rethink(core, section, text, path), expect_hash, timeout)


def add_to_core(
    workspace: Workspace,
    proposals: Sequence[Proposal],
    *,
    heading: str = HEADING,
    budget: int = BUDGET,
    timeout: float = 10.0,
) -> Added:
    """Append proposals as bullets with their citations; one that stands there word for word counts as added.

    The file and the heading are made where they are missing; no other byte changes. What would make the file longer
    than its budget is not added, what is shorter still may be. Raises ``Busy`` when the lock is not had in ``timeout``
    seconds, ``PathNotAllowed`` and ``MemoryFault`` when the core cannot be written.
    """
    name = core_name(workspace)
    if not proposals:
        return Added(name, (), {})
    keys: list[str] = []
    problems: dict[str, str] = {}

    def add(core: Core, path: str) -> bytes:
        keys.clear()
        problems.clear()
        for one in proposals:
            bullet = f"- {one.text} ({one.citation})"
            if bullet in (line.strip() for line in read_lines(decode(core.data)).plain):
                keys.append(one.key)
                continue
            try:
                core = check(core, with_bullet(core.data, bullet, heading), path, bullet)
            except CoreRefused as refused:
                problems[one.key] = refused.what.removeprefix("not written: ")
            else:
                keys.append(one.key)
        return core.data

    with _core_lock(workspace, timeout):
        _rewrite(workspace, add, budget)
    return Added(name, tuple(keys), problems)


def _edit(workspace: Workspace, make: Callable[[Core, str], Edit], expect_hash: str, timeout: float) -> Written:
    path = core_name(workspace)
    expected = expect_hash.strip().casefold()
    if expected and (len(expected) != 16 or set(expected) - set("0123456789abcdef")):
        raise UsageFault(f"{expect_hash!r} is no hash of the core memory", remedy="give the one that an answer had")
    made: Edit | None = None
    old = Core(b"")

    def change(core: Core, _: str) -> bytes:
        nonlocal made, old
        check_readable(core, path)
        if expected and core.hash != expected:
            raise CoreRefused(
                "changed",
                f"not written: the core memory has changed since it was read (it is {core.hash} now)",
                path,
                "read it again with `openclaw memory core show`",
            )
        made, old = make(core, path), core
        return check(core, applied(core, made), path, made.new, made.line).data

    with _core_lock(workspace, timeout):
        core = _rewrite(workspace, change, BUDGET)
    assert made is not None
    first, last = _lines_of(core, made)
    section = core.section_at(first).name if first else made.section
    return Written(path, core.hash, core.usage, section, first, last, core.data != old.data)


def _lines_of(core: Core, edit: Edit) -> tuple[int, int]:
    """The lines of the caller's text in the core as it is now; (0, 0) where it says nothing."""
    if not edit.new.strip():
        return 0, 0
    start = edit.start + edit.at
    return core.line_at(start), core.line_at(max(start, start + edit.size - 1))


@contextmanager
def _core_lock(workspace: Workspace, timeout: float) -> Iterator[None]:
    with writer_lock(workspace.journal_lock_path, timeout, "writing the core memory"):
        yield


def _rewrite(workspace: Workspace, change: Callable[[Core, str], bytes], budget: int) -> Core:
    """Write what ``change`` makes of the core, again where the file changed meanwhile; the core as it then is."""
    name = core_name(workspace)
    path = workspace.resolve(name)
    for attempt in range(_ATTEMPTS):
        old: FileText | None
        try:
            old = read_text(path)
        except FileMissing:
            old = None
        before = old.data if old else b""
        core = Core(before, budget)
        check_readable(core, name)
        data = change(core, name)
        if data == before:
            return core
        try:
            write_atomic(path, data, old.stamp if old else None)
        except ChangedMeanwhile:
            if attempt == _ATTEMPTS - 1:
                raise
        else:
            return Core(data, budget)
    raise AssertionError("unreachable")
