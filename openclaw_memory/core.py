"""The core memory for Python: what every session begins with, within its budget."""

from __future__ import annotations

from typing import Any

from .bank.workspace import Workspace


class CoreMemory:
    """``memory.core``. Each write answers ``{ok: true, …}``, or ``{ok: false, why, error, …}`` where it was refused
    (``docs/json.md``, core); ``expect_hash``: refuse when the core memory has changed since an answer had that hash."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def show(self) -> dict[str, Any]:
        """Its text, sections, hash, and how much of the budget is used. Raises ``MemoryFault``."""
        from .reflect.core_tools import core_memory_show

        return core_memory_show(self._workspace)

    def append(self, content: str, *, section: str = "", expect_hash: str = "") -> dict[str, Any]:
        """Add to the end of a section (``Learned``)."""
        from .reflect.core_tools import core_memory_append

        return core_memory_append(self._workspace, content, section, expect_hash)

    def replace(self, old: str, new: str, *, section: str = "", expect_hash: str = "") -> dict[str, Any]:
        """Change a text that stands there exactly once."""
        from .reflect.core_tools import core_memory_replace

        return core_memory_replace(self._workspace, old, new, section, expect_hash)

    def insert(
        self, content: str, *, line: int | None = None, after: str = "", section: str = "", expect_hash: str = ""
    ) -> dict[str, Any]:
        """Add lines below a line or a text."""
        from .reflect.core_tools import core_memory_insert

        return core_memory_insert(self._workspace, content, line, after, section, expect_hash)

    def rethink(self, section: str, content: str, *, expect_hash: str = "") -> dict[str, Any]:
        """Say a section anew."""
        from .reflect.core_tools import core_memory_rethink

        return core_memory_rethink(self._workspace, section, content, expect_hash)
