"""OpenClaw's ``sessions.json``: what it knows of each conversation of an agent, by session key.

OpenClaw owns the file. Here one session's entry is found in it, and a few members of that entry are set under the lock
that OpenClaw itself takes; all other bytes stay. A file that does not read is left as it is.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .embeddings.keys import state_folder
from .errors import Busy, MemoryFault, UsageFault, fault_of
from .files import BOM, FileMissing, FileText, read_text, write_atomic, writer_lock
from .json_edits import with_members

FILE = "sessions.json"
#: Seconds after which OpenClaw takes a lock for one of a process that died, and how long to wait between two looks.
_STALE, _PAUSE = 30.0, 0.025
_AGENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
_OWNED = re.compile(r"agent:([^:]+):", re.IGNORECASE)
_REMEDY = "OpenClaw writes this file; mend it or move it away; nothing was changed"


class Sessions(NamedTuple):
    """``file``: as read, None where there is none. ``entries``: what each session key stands for."""

    path: str
    file: FileText | None
    entries: Mapping[str, Any]


class Session(NamedTuple):
    """``key``: as the file spells it, or would. ``entry``: {} where the file has none."""

    key: str
    entry: Mapping[str, Any]


def agent_of(session: str) -> str:
    """The agent that a session key names (``agent:ID:…``), "" for a key that names none."""
    owned = _OWNED.match(session)
    return owned[1].casefold() if owned else ""


def store_path(agent: str, environ: Mapping[str, str], store: str = "") -> str:
    """Where the sessions of an agent are kept: ``store`` (``session.store`` of the configuration), or the agent's
    folder. Raises ``UsageFault`` for what is no name of an agent."""
    if not _AGENT.fullmatch(agent) or ".." in agent:
        raise UsageFault("no name of an agent", agent, "give an id such as main")
    if not store:
        return os.path.join(os.path.abspath(state_folder(environ)), "agents", agent, "sessions", FILE)
    path = store.replace("{agentId}", agent)
    home = environ.get("USERPROFILE" if os.name == "nt" else "HOME") or os.path.expanduser("~")
    return os.path.abspath(os.path.join(home, path[2:]) if path.startswith("~/") else path)


def read_sessions(path: str) -> Sessions:
    """The file as it is; no entries where there is none. Raises ``MemoryFault`` for one that does not read."""
    try:
        file = read_text(path)
    except FileMissing:
        return Sessions(path, None, {})
    try:
        text = file.data.removeprefix(BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        line = file.data.count(b"\n", 0, error.start) + 1
        raise MemoryFault("the sessions are not UTF-8 text", f"{path}:{line}", _REMEDY) from None
    try:
        entries = json.loads(text)
    except json.JSONDecodeError as error:
        raise MemoryFault(f"the sessions are not JSON: {error.msg}", f"{path}:{error.lineno}", _REMEDY) from None
    except RecursionError:
        raise MemoryFault("the sessions are nested too deeply", path, _REMEDY) from None
    if not isinstance(entries, dict):
        raise MemoryFault("the sessions: an object was expected", f"{path}:1", _REMEDY)
    return Sessions(path, file, entries)


def find_session(sessions: Sessions, session: str, agent: str, main_key: str = "main") -> Session:
    """The entry of a session, by its key as it is given, in any case, or with or without ``agent:ID:`` before it.

    ``main`` is the agent's main session. Raises ``MemoryFault`` for an entry that is no object.
    """
    wanted = session.strip()
    bare = re.sub(rf"^agent:{re.escape(agent)}:", "", wanted, flags=re.IGNORECASE)
    spelt = [wanted, f"agent:{agent}:{bare}"]
    if bare.casefold() in ("main", main_key.casefold()):
        spelt += [f"agent:{agent}:{main_key}", f"agent:{agent}:main", main_key, "main"]
    else:
        spelt.append(bare)
    by_case = {key.casefold(): key for key in sessions.entries}
    for key in spelt:
        found = key if key in sessions.entries else by_case.get(key.casefold())
        if found is not None:
            entry = sessions.entries[found]
            if not isinstance(entry, dict):
                where = f"{sessions.path}:{_line_of(sessions, found)}"
                raise MemoryFault(f"the session {found}: an object was expected", where, _REMEDY)
            return Session(found, entry)
    return Session(spelt[1] if bare.casefold() in ("main", main_key.casefold()) else wanted, {})


def count_in(sessions: Sessions, session: Session, name: str) -> int | None:
    """A whole number of 0 or more in an entry, None without one. Raises ``MemoryFault`` for anything else there."""
    value = session.entry.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e15 or value != int(value):
        where = f"{sessions.path}:{_line_of(sessions, session.key)}"
        raise MemoryFault(f"the session {session.key}: {name} is no whole number", where, _REMEDY)
    return int(value)


def _line_of(sessions: Sessions, key: str) -> int:
    """The line on which a session's key stands, the first where it cannot be told."""
    text = sessions.file.text if sessions.file else ""
    at = text.find(json.dumps(key, ensure_ascii=False))
    return text.count("\n", 0, max(at, 0)) + 1


def write_entry(sessions: Sessions, key: str, changes: Mapping[str, Any]) -> None:
    """Set members of a session's entry, or take out those that are None. Call it within ``locked_store`` with what was
    read there. Raises ``MemoryFault`` where the file cannot be written, or changed meanwhile."""
    file = sessions.file
    if file is None:
        entry = {name: value for name, value in changes.items() if value is not None}
        write_atomic(sessions.path, (json.dumps({key: entry}, ensure_ascii=False, indent=2) + "\n").encode(), None)
        return
    text = file.data.removeprefix(BOM).decode("utf-8")
    data = with_members(text, key, changes).encode("utf-8")
    write_atomic(sessions.path, (BOM if file.bom else b"") + data, file.stamp)


@contextlib.contextmanager
def locked_store(path: str, timeout: float = 10.0) -> Iterator[None]:
    """Nobody else writes the sessions meanwhile, neither another process of ours nor a gateway: that makes
    ``sessions.json.lock``, and takes one that is half a minute old for a dead process's.

    Raises ``Busy`` when it is not had in ``timeout`` seconds, ``MemoryFault`` where the folder cannot be written.
    """
    with writer_lock(os.path.join(os.path.dirname(path), ".openclaw-memory.lock"), timeout, "noting a flush"):
        lock = f"{path}.lock"
        until = time.monotonic() + timeout
        while not _made(lock):
            if _age(lock) > _STALE:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(lock)
            elif time.monotonic() >= until:
                raise Busy("busy: OpenClaw is writing its sessions", lock, "try again in a moment")
            else:
                time.sleep(_PAUSE)
        try:
            yield
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(lock)


def _made(lock: str) -> bool:
    try:
        handle = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        return False
    except OSError as error:
        raise fault_of(error, "cannot lock the sessions", lock) from None
    with open(handle, "w", encoding="utf-8") as file:
        json.dump({"pid": os.getpid(), "startedAt": int(time.time() * 1000)}, file)
    return True


def _age(lock: str) -> float:
    try:
        return time.time() - os.stat(lock).st_mtime
    except FileNotFoundError:
        return 0.0
