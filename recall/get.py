"""``memory_get``: the lines of one memory file, a page at a time, as OpenClaw's tool of that name gives them."""

from __future__ import annotations

import os
from typing import Any

from ..bank.errors import MemoryFault, fault_of
from ..bank.files import FileMissing, decode, read_below, read_text
from ..bank.workspace import PathNotAllowed, Workspace
from ..parsers.lines import split_lines

DEFAULT_LINES = 120
MOST_CHARACTERS = 12_000
READ_FAILED = "MEMORY_READ_FAILED"


def memory_get(
    workspace: Workspace, path: str, from_line: int = 1, lines: int | None = None, *, session_key: str | None = None
) -> dict[str, Any]:
    """Lines ``from_line`` (1-based) on, at most ``lines`` (120 by default) and 12,000 characters.

    ``{status:"ok", text, path, from, lines, truncated?, nextFrom?}``, where ``lines`` counts what is given (0 past
    the end) and a cut text ends in a note that says where to go on; ``{status:"not_found", text:"", path}``;
    ``{status:"error", code, error, text:"", path}`` with code ``MEMORY_PATH_NOT_ALLOWED`` or ``MEMORY_READ_FAILED``.
    With the back end ``qmd`` also files of its collections (``qmd/<collection>/<path>``), for chats that may search
    them by ``session_key``. Never raises for a path.
    """
    if path.startswith("qmd/") and workspace.settings.backend == "qmd":
        return _of_qmd(workspace, path, from_line, lines, session_key)
    try:
        real = workspace.resolve(path)
        shown = workspace.relative(real)
        whole = split_lines(read_text(real).text if os.path.isabs(shown) else decode(_read(workspace, shown)))
    except PathNotAllowed as fault:
        return error_answer(path, PathNotAllowed.code, fault)
    except FileMissing:
        return {"status": "not_found", "text": "", "path": path}
    except MemoryFault as fault:
        return error_answer(path, READ_FAILED, fault)
    return page_answer(path, shown, whole, from_line, lines)


def _of_qmd(
    workspace: Workspace, path: str, from_line: int, lines: int | None, session_key: str | None
) -> dict[str, Any]:
    from .qmd.reading import qmd_get
    from .qmd.settings import read_qmd

    agent = workspace.models.agent
    try:
        settings = read_qmd(workspace.configuration, agent)[0]
    except MemoryFault as fault:
        return error_answer(path, READ_FAILED, fault)
    return qmd_get(workspace, settings, path, from_line, lines, agent=agent, session_key=session_key)


def page_answer(path: str, shown: str, whole: list[str], from_line: int, lines: int | None) -> dict[str, Any]:
    """The answer for lines of a file that was read as a whole: asked for as ``path``, cited as ``shown``."""
    if from_line < 1 or (lines is not None and lines < 1):
        return error_answer(path, READ_FAILED, MemoryFault("from and lines count from 1"))
    taken, end = _page(whole, from_line - 1, DEFAULT_LINES if lines is None else lines)
    answer: dict[str, Any] = {
        "status": "ok",
        "text": "\n".join(taken),
        "path": shown,
        "from": from_line,
        "lines": len(taken),
    }
    if end < len(whole):
        answer["text"] += f"\n\n[More content available. Use from={end + 1} to continue.]"
        answer |= {"truncated": True, "nextFrom": end + 1}
    return answer


def _read(workspace: Workspace, path: str) -> bytes:
    try:
        return read_below(workspace.root, path)
    except FileNotFoundError:
        raise FileMissing("no such file", path) from None
    except OSError as error:
        raise fault_of(error, "cannot read", path) from None


def _page(whole: list[str], start: int, most: int) -> tuple[list[str], int]:
    """The lines of a page, and the index of the first line after it; a line longer than a page is cut."""
    taken: list[str] = []
    size = 0
    for line in whole[start : start + most]:
        if taken and size + len(line) + 1 > MOST_CHARACTERS:
            break
        taken.append(line if len(line) <= MOST_CHARACTERS else line[:MOST_CHARACTERS] + " […]")
        size += len(line) + 1
    return taken, min(start, len(whole)) + len(taken)


def error_answer(path: str, code: str, fault: MemoryFault) -> dict[str, Any]:
    """The answer where nothing can be read."""
    return {"path": path, "text": "", "status": "error", "code": code, "error": str(fault)}
