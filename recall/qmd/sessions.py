"""Sessions as Markdown for QMD: what the user and the assistant said, one file for each session, in a folder of the
agent's own.

Only what has changed is written anew. A file is removed when its session is proven gone, or silent for longer than
``retentionDays``; files that were not written here are left alone.
"""

import contextlib
import json
import os
import re
from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

from ...bank.errors import fault_of, one_line
from ...bank.files import FileMissing, read_text, write_atomic
from ...bank.guard import DEVICES
from ...bank.scan import Seen
from ...bank.transcripts.reading import read_transcript
from ...bank.transcripts.sources import Found, Source, find_sources, generated_sessions
from ...parsers.transcripts import USER, Turn
from .collections import sessions_folder
from .home import Home
from .settings import QmdSettings

#: What was written of which transcript; its name starts with a dot, so that QMD does not read it.
_LIST = ".exported.json"
_DAY = 86_400
_LONGEST_NAME = 120


class Exported(NamedTuple):
    """``seen``: the transcript as it was written. ``file``: the name of what was written, "" where nothing was said.
    ``database``: whether it is a session of OpenClaw's database."""

    seen: Seen
    file: str
    database: bool


def export_sessions(settings: QmdSettings, home: Home, now: float) -> list[str]:
    """Bring the agent's export in step with its transcripts at ``now`` (seconds since the epoch); warnings. Raises
    ``MemoryFault`` where it cannot be written. Switched off, it removes what it has written."""
    if not settings.sessions.enabled:
        remove_export(settings, home)
        return []
    folder = sessions_folder(settings, home)
    exported = _read_list(folder)
    _make_folder(folder)
    state = _compare(settings, home, exported, now)
    warnings = list(state.unread)
    kept = dict(state.left)
    for path, source in sorted(state.sources.items()):
        before = exported.get(path)
        if before and before.seen == source.seen and _is_there(folder, before.file):
            kept[path] = before
        else:
            kept[path] = _export(folder, source, before, warnings)
    for path, entry in exported.items():
        if path not in kept:
            _remove(folder, entry.file)
    if kept != exported:
        _write_list(folder, kept)
    return warnings


def remove_export(settings: QmdSettings, home: Home) -> None:
    """Remove every file that was written here. Raises ``MemoryFault`` where that cannot be written down."""
    folder = sessions_folder(settings, home)
    exported = _read_list(folder)
    for entry in exported.values():
        _remove(folder, entry.file)
    if exported:
        _write_list(folder, {})


def sessions_behind(settings: QmdSettings, home: Home, now: float) -> bool:
    """Whether a transcript is not exported as it is now, or one is that should not be."""
    exported = _read_list(sessions_folder(settings, home))
    if not settings.sessions.enabled:
        return bool(exported)
    state = _compare(settings, home, exported, now)
    as_it_is = {path: exported[path].seen for path in exported if path not in state.left}
    return as_it_is != {path: source.seen for path, source in state.sources.items()}


class _Compared(NamedTuple):
    """``sources``: the transcripts to have. ``left``: exports that stay though there is no transcript to be seen, as it
    is not proven gone. ``unread``: what could not be looked at."""

    sources: dict[str, Source]
    left: dict[str, Exported]
    unread: tuple[str, ...]


def _compare(settings: QmdSettings, home: Home, exported: dict[str, Exported], now: float) -> _Compared:
    found = find_sources(home.state, home.agent)
    generated = generated_sessions(home.state, home.agent)
    days = settings.sessions.retention_days
    since = (now - days * _DAY) * 1e9 if days else 0.0
    # What is second in ``seen`` is the time of the last word, in nanoseconds. A compressed copy says nothing new.
    sources = {
        path: source
        for path, source in found.sources.items()
        if source.seen[1] >= since
        and source.session not in generated
        and (not source.packed or path.removesuffix(".zst") not in found.sources)
    }
    left = {
        path: entry
        for path, entry in exported.items()
        if path not in found.sources and entry.seen[1] >= since and not _is_proven_gone(found, path, entry)
    }
    return _Compared(sources, left, found.unread)


def _is_proven_gone(found: Found, path: str, entry: Exported) -> bool:
    if entry.database:
        return found.database and path not in found.cold
    return found.folder


def _export(folder: str, source: Source, before: Exported | None, warnings: list[str]) -> Exported:
    """Write a session; what was written before stays where it cannot be read, which is told and tried again once the
    transcript is another."""
    try:
        turns = read_transcript(source).turns
    except OSError as error:
        warnings.append(one_line(f"{source.place}: cannot be read ({error.strerror or error})"))
        return Exported(source.seen, before.file if before else "", source.events is not None)
    name = _file_name(source)
    if turns:
        _write(os.path.join(folder, name), session_page(source.session, turns))
    elif before:
        _remove(folder, before.file)
    return Exported(source.seen, name if turns else "", source.events is not None)


def session_page(session: str, turns: Sequence[Turn]) -> str:
    """A session as Markdown: a heading for each day, a paragraph for each turn."""
    parts = [f"# Session {session}"]
    day = None
    for turn in turns:
        if turn.time and turn.time.date() != day:
            day = turn.time.date()
            parts.append(f"## {day.isoformat()}")
        at = f" ({turn.time:%H:%M} UTC)" if turn.time else ""
        parts.append(f"**{'User' if turn.role == USER else 'Assistant'}**{at}: {turn.text}")
    return "\n\n".join(parts) + "\n"


def _file_name(source: Source) -> str:
    """A name that can be opened on every platform: the session's, with a mark where that alone is not enough."""
    base = source.path.rpartition("/")[2]
    name = re.sub(r"[^\w.-]+", "-", base.replace(".jsonl", "", 1)).strip(".-")[:_LONGEST_NAME] or "session"
    if base != f"{name}.jsonl" or name.split(".")[0].casefold() in DEVICES:
        name = f"session-{name}-{sha256(source.path.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"
    return f"{name}.md"


def _make_folder(folder: str) -> None:
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError as error:
        raise fault_of(error, "cannot make the folder of exported sessions", folder) from None


def _write(path: str, text: str) -> None:
    """Put a text at ``path``, for its owner alone."""
    try:
        before = read_text(path).stamp
    except FileMissing:
        before = None
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            before = read_text(path).stamp
    write_atomic(path, text.encode("utf-8", "replace"), before)


def _is_there(folder: str, name: str) -> bool:
    return not name or os.path.isfile(os.path.join(folder, name))


def _remove(folder: str, name: str) -> None:
    if name:
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(folder, name))


def _read_list(folder: str) -> dict[str, Exported]:
    """What was exported, by the transcript's path; nothing where the list cannot be read."""
    try:
        with open(os.path.join(folder, _LIST), encoding="utf-8") as file:
            entries = json.load(file).items()
        found = {}
        for path, (seen, name, database) in entries:
            size, changed, status, inode = map(int, seen)
            if name and (os.path.basename(name) != name or not name.endswith(".md") or name.startswith(".")):
                continue
            found[path] = Exported((size, changed, status, inode), name, bool(database))
        return found
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}


def _write_list(folder: str, exported: dict[str, Exported]) -> None:
    _write(os.path.join(folder, _LIST), json.dumps(exported, ensure_ascii=False, indent=1) + "\n")
