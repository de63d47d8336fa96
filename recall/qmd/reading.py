"""``memory_get`` for what QMD found outside of the workspace: ``qmd/<collection>/<path>``, read from the collection's
folder."""

import os
from collections.abc import Mapping
from typing import Any

from ...bank.errors import MemoryFault, fault_of
from ...bank.guard import PathNotAllowed
from ...bank.workspace import Workspace
from ..get import READ_FAILED, error_answer, page_answer
from .collections import wanted_collections
from .home import home_of
from .places import PREFIX, locate_cited, read_lines
from .scope import allows, denial, read_chat
from .settings import QmdSettings


def qmd_get(
    workspace: Workspace,
    settings: QmdSettings,
    path: str,
    from_line: int = 1,
    lines: int | None = None,
    *,
    agent: str,
    session_key: str | None = None,
    environ: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Lines of a collection's file, in the form of ``memory_get``. A chat that may not search may not read either.
    Never raises for a path; QMD itself is not run."""
    environ = os.environ if environ is None else environ
    chat = None if session_key is None else read_chat(session_key)
    try:
        if chat and not allows(settings.scope, chat):
            raise PathNotAllowed(denial(chat))
        collections, _ = wanted_collections(workspace, settings, home_of(agent, environ))
        place = locate_cited(workspace, collections, path)
    except PathNotAllowed as fault:
        return error_answer(path, PathNotAllowed.code, fault)
    except MemoryFault as fault:
        return error_answer(path, READ_FAILED, fault)
    try:
        whole = read_lines(place)
    except (FileNotFoundError, NotADirectoryError):
        return {"status": "not_found", "text": "", "path": path}
    except OSError as error:
        return error_answer(path, READ_FAILED, fault_of(error, "cannot read", path))
    return page_answer(path, f"{PREFIX}{place.collection.name}/{place.below}", whole, from_line, lines)
