"""Which transcripts an agent has: files below its ``sessions`` folder, and the sessions in OpenClaw's own database.

``<id>.jsonl`` is a session that goes on; ``<id>.jsonl.reset.<when>`` and ``<id>.jsonl.deleted.<when>`` are closed, and
any of them may be compressed (``.zst``). Symbolic links are not followed, and nothing is written here.
"""

import os
import re
import stat
from collections.abc import Iterator
from typing import NamedTuple

from ...parsers.transcripts import is_generated_key
from ..scan import Seen

FOLDER = "sessions"
_NAME = re.compile(r"(?P<session>.+?)\.jsonl(?P<closed>\.(?:reset|deleted)\.[^/]+?)?(?P<packed>\.zst)?")
#: Copies that OpenClaw keeps beside a session, which say what the session says.
_CHECKPOINT = re.compile(r"\.checkpoint\.[0-9a-fA-F-]{36}$|\.trajectory$")
_AGENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")


class Source(NamedTuple):
    """One transcript. ``path``: as it is cited, ``sessions/<file name>``, or ``sessions/<session>`` for one in the
    database. ``session``: its id. ``place``: the file, or the database. ``seen``: the file as ``stat`` saw it, or, for
    a session in the database, (bytes 0, newest event's time, 0, last event's number). ``events``: how many events a
    session in the database has, None for a file. ``closed``: whether nothing more is added."""

    path: str
    session: str
    place: str
    seen: Seen
    closed: bool
    packed: bool
    events: int | None = None


class Found(NamedTuple):
    """``sources`` by path; ``unread``: lines for a person on what could not be looked at: nothing of it is known to be
    absent. ``folder`` and ``database``: whether the files, and the sessions of the database, are all there, but for
    the paths ``cold``, which are packed away."""

    sources: dict[str, Source]
    unread: tuple[str, ...]
    folder: bool
    database: bool
    cold: frozenset[str] = frozenset()


def agent_folder(state: str, agent: str) -> str:
    """OpenClaw's folder of an agent; raises ``ValueError`` for a name that would lead elsewhere."""
    if not _AGENT.fullmatch(agent) or ".." in agent:
        raise ValueError(f"no name of an agent: {agent!r}")
    return os.path.join(state, "agents", agent)


def find_sources(state: str, agent: str) -> Found:
    """The transcripts of one agent below OpenClaw's ``state`` folder."""
    from .events import find_sessions

    sources: dict[str, Source] = {}
    unread: list[str] = []
    folder = os.path.join(agent_folder(state, agent), FOLDER)
    complete = True
    try:
        for source in _files(folder):
            sources[source.path] = source
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        complete = False
        unread.append(f"{folder}: cannot be read ({error.strerror or type(error).__name__})")
    database = os.path.join(agent_folder(state, agent), "agent", "openclaw-agent.sqlite")
    sessions = find_sessions(database)
    for source in sessions.found:
        sources[source.path] = source
    if sessions.problem:
        unread.append(f"{database}: cannot be read ({sessions.problem})")
    return Found(sources, tuple(unread), complete, not sessions.problem, sessions.cold)


def generated_sessions(state: str, agent: str) -> frozenset[str]:
    """The sessions of which ``sessions.json`` says that they are a machine talking to itself."""
    import json

    try:
        with open(os.path.join(agent_folder(state, agent), FOLDER, "sessions.json"), encoding="utf-8") as file:
            told = json.load(file)
    except (OSError, ValueError, RecursionError):
        return frozenset()
    entries = told.items() if isinstance(told, dict) else ()
    found = (entry.get("sessionId") for key, entry in entries if is_generated_key(key) and isinstance(entry, dict))
    return frozenset(session for session in found if isinstance(session, str))


def _files(folder: str) -> Iterator[Source]:
    if os.path.islink(folder):
        raise OSError(0, "it is a symbolic link")
    with os.scandir(folder) as entries:
        for entry in entries:
            source = _source(entry)
            if source:
                yield source


def _source(entry: "os.DirEntry[str]") -> Source | None:
    name = _NAME.fullmatch(entry.name)
    if not name or not entry.name.isprintable() or _CHECKPOINT.search(name["session"]):
        return None
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    seen = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino & 0x7FFF_FFFF_FFFF_FFFF)
    packed = bool(name["packed"])
    closed = bool(name["closed"]) or packed
    return Source(f"{FOLDER}/{entry.name}", name["session"], entry.path, seen, closed, packed)
