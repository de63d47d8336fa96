"""How full a session is, and from where on that is too full: by the caller, else by what OpenClaw knows of it."""

from __future__ import annotations

import os
from typing import NamedTuple

from .flush_settings import RESERVE, FlushSettings
from .session_store import Session, Sessions, count_in

#: OpenClaw's reserve, where none is set, is at most this share of the window.
_SHARE = 4


class FlushRequest(NamedTuple):
    """Whom it is about. ``tokens``, ``window``: None for what the session's entry says. ``cycle``: None likewise.
    ``access``: what the caller knows of the workspace (rw, ro, none), "" for what the configuration says.
    ``transcript``: its size in bytes; None: the size of the session's file, where it has one."""

    session: str
    tokens: int | None = None
    window: int | None = None
    agent: str = "main"
    cycle: int | None = None
    access: str = ""
    transcript: int | None = None


def size_of(sessions: Sessions, session: Session, request: FlushRequest) -> tuple[int | None, int | None]:
    """(tokens, context window), as asked, else as the session's entry says; a count that OpenClaw calls stale is
    none."""
    fresh = session.entry.get("totalTokensFresh") is not False
    tokens, window = request.tokens, request.window
    if tokens is None and fresh:
        tokens = count_in(sessions, session, "totalTokens")
    if window is None:
        window = count_in(sessions, session, "contextTokens")
    return tokens, window


def transcript_of(sessions: Sessions, session: Session, request: FlushRequest) -> int:
    """Bytes of what was said, 0 where that is not known."""
    if request.transcript is not None:
        return request.transcript
    name = session.entry.get("sessionId")
    if not isinstance(name, str) or os.path.basename(name) != name:
        return 0
    try:
        return os.path.getsize(os.path.join(os.path.dirname(sessions.path), f"{name}.jsonl"))
    except (OSError, ValueError):
        return 0


def threshold_of(settings: FlushSettings, window: int | None, warnings: list[str]) -> tuple[int, int, int | None]:
    """(reserve, soft threshold, the tokens above which it is due; None without a window).

    A reserve that is set counts as it is. Where none is set, or where what is set leaves nothing of the window, it is
    at most a quarter of it, and the soft threshold at most half of the rest, as in today's OpenClaw.
    """
    reserve, soft = RESERVE if settings.reserve is None else settings.reserve, settings.soft_threshold
    if not window:
        return reserve, soft, None
    if settings.reserve is not None and reserve + soft < window:
        return reserve, soft, window - reserve - soft
    if settings.reserve is not None:
        place = settings.places["reserve"]
        warnings.append(f"{place}: {reserve:,} and {soft:,} leave nothing of {window:,} tokens; a quarter is kept free")
    reserve = min(reserve, window // _SHARE)
    soft = min(soft, (window - reserve) // 2)
    return reserve, soft, window - reserve - soft
