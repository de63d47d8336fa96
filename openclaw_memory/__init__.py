"""openclaw-memory: an offline-first Retain / Recall / Reflect memory for agents, over plain Markdown in git.

The doors: ``Memory`` for Python, ``openclaw memory …`` on the command line. The rooms behind them are
``openclaw_memory.parsers``, ``.bank`` and ``.recall``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .bank.errors import MemoryFault as MemoryFault
    from .memory import Memory as Memory

__version__ = "0.1.0"
__all__ = ["Memory", "MemoryFault", "__version__"]


def __getattr__(name: str) -> Any:
    if name == "Memory":
        from .memory import Memory

        return Memory
    if name == "MemoryFault":
        from .bank.errors import MemoryFault

        return MemoryFault
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
