"""Whether an agent may write its workspace: by the sandbox that its session runs in, and by the file system."""

from __future__ import annotations

import os

from .flush_settings import FlushSettings
from .session_store import Session
from .workspace import Workspace


def not_writable(
    workspace: Workspace, settings: FlushSettings, session: Session, agent: str, path: str, access: str = ""
) -> str:
    """Why an agent could not write the log at ``path`` in a session, "" where it can: by the sandbox that the session
    runs in, or by the file system. ``access``: what the caller knows of that sandbox, "" where it knows nothing."""
    place = "the caller"
    if not access:
        access, place = _sandboxed(settings, session, agent)
    if access != "rw":
        return f'{place} says workspaceAccess "{access}"'
    found = os.path.join(workspace.root, *path.split("/"))
    while not os.path.lexists(found) and len(found) > len(workspace.root):
        found = os.path.dirname(found)
    if not os.access(found, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        return f"{found} cannot be written"
    return ""


def _sandboxed(settings: FlushSettings, session: Session, agent: str) -> tuple[str, str]:
    """(what the agent may do with the workspace, who says so). A session outside a sandbox may write."""
    own = session.entry.get("sandbox")
    told = own.get("workspaceAccess") if isinstance(own, dict) else session.entry.get("workspaceAccess")
    if told in ("ro", "none"):
        return told, f"the session {session.key}"
    access = settings.access or "none"
    place = settings.places.get("access", "the sandbox, which names none,")
    if own == "required":
        return ("ro", f"the sandbox that the session {session.key} requires") if access == "rw" else (access, place)
    if session.entry.get("sandboxMode") == "off" or settings.sandbox == "off":
        return "rw", ""
    if not settings.sandbox:
        # Nobody who writes "ro" there and leaves out the mode means that it may be written.
        return (access, place) if settings.access in ("ro", "none") else ("rw", "")
    if settings.sandbox == "non-main" and _is_main(settings, session, agent):
        return "rw", ""
    return access, place


def _is_main(settings: FlushSettings, session: Session, agent: str) -> bool:
    agent = agent.casefold()
    names = {"main", settings.main_key.casefold()}
    main = {"global"} if settings.scope == "global" else set()
    return session.key.casefold() in {*main, *names, *(f"agent:{agent}:{name}" for name in names)}
