"""OpenClaw's state folder with real transcripts in it: files, compressed files, and rows of its database."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from openclaw_memory.bank.transcripts.reading import zstandard

#: As the tables of OpenClaw 2026.9.6 are made, but for what they refer to and check.
TABLES = """
CREATE TABLE session_windows (session_id TEXT NOT NULL PRIMARY KEY, session_key TEXT NOT NULL);
CREATE TABLE transcript_events (
  session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT, created_at INTEGER NOT NULL, event_zstd BLOB,
  event_utf8_bytes INTEGER, navigation_json TEXT, PRIMARY KEY (session_id, seq)) STRICT;
CREATE TABLE transcript_rewrite_watermarks (session_id TEXT NOT NULL PRIMARY KEY, generation TEXT, updated_at INTEGER);
"""


def event(role: str, text: Any, when: Any = None, **more: Any) -> dict[str, Any]:
    """One message as OpenClaw writes it."""
    told: dict[str, Any] = {"type": "message", "message": {"role": role, "content": text, **more}}
    return told if when is None else told | {"timestamp": when}


def said(*texts: str, start: int = 0) -> bytes:
    """A transcript in which user and assistant say these in turn."""
    roles = ("user", "assistant")
    return jsonl(event(roles[(start + number) % 2], text) for number, text in enumerate(texts))


def jsonl(events: Iterable[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(one, ensure_ascii=False).encode() + b"\n" for one in events)


class State:
    """A state folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @property
    def path(self) -> str:
        return str(self.root)

    def sessions(self, agent: str = "main") -> Path:
        folder = self.root / "agents" / agent / "sessions"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def write(self, name: str, data: bytes, agent: str = "main") -> Path:
        """A file, compressed where its name says so."""
        place = self.sessions(agent) / name
        place.write_bytes(zstandard().compress(data) if name.endswith(".zst") else data)
        return place

    def append(self, name: str, data: bytes, agent: str = "main") -> None:
        with (self.sessions(agent) / name).open("ab") as file:
            file.write(data)

    def database(self, agent: str = "main") -> Path:
        place = self.root / "agents" / agent / "agent" / "openclaw-agent.sqlite"
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(place)
            connection.executescript(TABLES)
            connection.close()
        return place

    def insert(
        self, session: str, events: Iterable[dict[str, Any]], agent: str = "main", key: str = "", packed: bool = False
    ) -> None:
        """Events as rows, after those that are there."""
        connection = sqlite3.connect(self.database(agent))
        with connection:
            insert_events(connection, session, events, key or f"agent:{agent}:main", packed)
        connection.close()


def insert_events(
    connection: sqlite3.Connection, session: str, events: Iterable[dict[str, Any]], key: str, packed: bool = False
) -> None:
    connection.execute("INSERT OR IGNORE INTO session_windows VALUES (?, ?)", (session, key))
    last = connection.execute("SELECT coalesce(max(seq), 0) FROM transcript_events WHERE session_id = ?", (session,))
    for seq, one in enumerate(events, last.fetchone()[0] + 1):
        data = json.dumps(one, ensure_ascii=False)
        row = (None, seq, zstandard().compress(data.encode())) if packed else (data, seq, None)
        connection.execute(
            "INSERT INTO transcript_events VALUES (?, ?, ?, ?, ?, ?, NULL)",
            (session, row[1], row[0], 1_760_000_000_000 + seq, row[2], len(data.encode())),
        )


@pytest.fixture
def state(tmp_path: Path) -> State:
    root = tmp_path / "state"
    root.mkdir()
    return State(root)
