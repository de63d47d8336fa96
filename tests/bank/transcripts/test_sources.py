"""Which transcripts there are, and what stands in them: files, compressed files, rows of OpenClaw's database."""

from __future__ import annotations

import os
import sqlite3
import sys
from pathlib import Path

import pytest
from openclaw_memory.bank.transcripts.reading import read_lines, read_transcript
from openclaw_memory.bank.transcripts.sources import agent_folder, find_sources
from openclaw_memory.parsers.transcripts import LONGEST_LINE

from .conftest import State, event, insert_events, said


def texts(state: State, agent: str = "main") -> dict[str, list[str]]:
    found = find_sources(state.path, agent)
    assert not found.unread
    return {path: [t.text for t in read_transcript(one).turns] for path, one in sorted(found.sources.items())}


def test_files_of_every_kind(state: State) -> None:
    state.write("a.jsonl", said("live"))
    state.write("b.jsonl.reset.2026-01-12T10-00-00.000Z", said("reset"))
    state.write("c.jsonl.deleted.2026-01-12T10-00-00.000Z", said("deleted"))
    state.write("d.jsonl.zst", said("packed"))
    state.write("e.jsonl.deleted.2026-01-12T10-00-00.000Z.zst", said("packed and deleted"))
    state.write("sessions.json", b"{}")
    state.write("f.jsonl.lock", b"")
    state.write("a.checkpoint.0f8fad5b-d9cb-469f-a165-70867728950e.jsonl", said("live"))
    assert texts(state) == {
        "sessions/a.jsonl": ["live"],
        "sessions/b.jsonl.reset.2026-01-12T10-00-00.000Z": ["reset"],
        "sessions/c.jsonl.deleted.2026-01-12T10-00-00.000Z": ["deleted"],
        "sessions/d.jsonl.zst": ["packed"],
        "sessions/e.jsonl.deleted.2026-01-12T10-00-00.000Z.zst": ["packed and deleted"],
    }
    found = find_sources(state.path, "main").sources
    assert [path for path, one in sorted(found.items()) if not one.closed] == ["sessions/a.jsonl"]
    assert {one.session for one in found.values()} == set("abcde")


def test_nothing_there(state: State) -> None:
    assert texts(state) == {}


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need rights there")
def test_links_are_not_followed(state: State, tmp_path: Path) -> None:
    outside = tmp_path / "outside.jsonl"
    outside.write_bytes(said("secret of somebody else"))
    (state.sessions() / "a.jsonl").symlink_to(outside)
    assert texts(state) == {}
    folder = state.root / "agents" / "linked"
    folder.mkdir()
    (folder / "sessions").symlink_to(state.sessions())
    state.write("b.jsonl", said("of main"))
    found = find_sources(state.path, "linked")
    assert not found.sources
    assert "symbolic link" in found.unread[0]
    # One that is put in a file's place after it was found.
    source = find_sources(state.path, "main").sources["sessions/b.jsonl"]
    os.unlink(source.place)
    os.symlink(outside, source.place)
    with pytest.raises(OSError, match=r"."):
        read_transcript(source)


def test_an_agent_is_a_name() -> None:
    for name in ("..", "a/b", "", "../main", "a\\b", ".hidden"):
        with pytest.raises(ValueError, match="no name of an agent"):
            agent_folder("/state", name)


def test_lines_go_on_where_they_were_left(state: State) -> None:
    state.write("a.jsonl", said("one", "two", "three"))
    source = find_sources(state.path, "main").sources["sessions/a.jsonl"]
    lines = list(read_lines(source))
    assert [line.data for line in read_lines(source, lines[0].end)] == [line.data for line in lines[1:]]
    packed = state.write("b.jsonl.zst", said("one", "two", "three"))
    assert packed.stat().st_size
    source = find_sources(state.path, "main").sources["sessions/b.jsonl.zst"]
    assert [line.data for line in read_lines(source, lines[0].end)] == [line.data for line in lines[1:]]


def test_a_line_without_an_end_and_one_too_long(state: State) -> None:
    long = b'{"type":"message","message":{"role":"user","content":"' + b"x" * LONGEST_LINE + b'"}}\n'
    state.write("a.jsonl", said("first") + long + said("second") + b'{"type":"message","mess')
    source = find_sources(state.path, "main").sources["sessions/a.jsonl"]
    told = read_transcript(source)
    assert [(turn.text, turn.line) for turn in told.turns] == [("first", 1), ("second", 3)]
    assert told.skipped == 2
    lines = list(read_lines(source))
    assert [line.whole for line in lines] == [True, True, True, False]
    assert lines[-1].end == source.seen[0]


def test_broken_compression_is_an_error(state: State) -> None:
    place = state.write("a.jsonl.zst", said(*(f"text {n}" for n in range(2000))))
    data = place.read_bytes()
    source = find_sources(state.path, "main").sources["sessions/a.jsonl.zst"]
    for broken in (b"not zstd at all", data[: len(data) // 2], data[:-4]):
        place.write_bytes(broken)
        with pytest.raises(OSError, match=r"compression"):
            read_transcript(source)


def test_sessions_in_the_database(state: State) -> None:
    state.insert("s-1", [event("user", "in the table"), event("assistant", "answered")])
    state.insert("s-2", [event("user", "packed in the table")], packed=True)
    state.insert("s-3", [event("user", "back up the disk")], key="agent:main:cron:backup:run:7")
    state.insert("s-4", [event("user", "of another agent")], agent="other")
    assert texts(state) == {"sessions/s-1": ["in the table", "answered"], "sessions/s-2": ["packed in the table"]}
    source = find_sources(state.path, "main").sources["sessions/s-1"]
    assert source.events == 2
    assert [line.end for line in read_lines(source, 1)] == [2]


def test_an_older_database_without_compression(state: State) -> None:
    place = state.root / "agents" / "main" / "agent" / "openclaw-agent.sqlite"
    place.parent.mkdir(parents=True)
    connection = sqlite3.connect(place)
    connection.execute(
        "CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, created_at INTEGER)"
    )
    row = ("s", 0, said("older").decode(), 1_760_000_000_000)
    with connection:
        connection.execute("INSERT INTO transcript_events VALUES (?, ?, ?, ?)", row)
    connection.close()
    assert texts(state) == {"sessions/s": ["older"]}


def test_the_database_is_left_alone(state: State) -> None:
    """Not a byte of it changes and nothing appears beside it, whether it is open, closed, or was left by a crash."""
    state.insert("s-1", [event("user", "closed")])
    place = state.database()
    before = place.read_bytes()
    assert texts(state) == {"sessions/s-1": ["closed"]}
    assert place.read_bytes() == before
    assert [one.name for one in place.parent.iterdir()] == [place.name]

    writer = sqlite3.connect(place, isolation_level=None)
    writer.execute("PRAGMA journal_mode=WAL")
    writer.close()
    # Closed in the mode in which even a reader would make files.
    assert texts(state) == {"sessions/s-1": ["closed"]}
    assert [one.name for one in place.parent.iterdir()] == [place.name]

    writer = sqlite3.connect(place, isolation_level=None)
    insert_events(writer, "s-2", [event("user", "in the log")], "agent:main:main")
    beside = {one.name: one.read_bytes() for one in place.parent.iterdir() if not one.name.endswith("-shm")}
    assert texts(state)["sessions/s-2"] == ["in the log"]
    assert {one.name: one.read_bytes() for one in place.parent.iterdir() if not one.name.endswith("-shm")} == beside

    # As after a crash, or a copy: a log without the file that its readers share.
    copy = State(state.root / "copied")
    folder = copy.root / "agents" / "main" / "agent"
    folder.mkdir(parents=True)
    for name, data in beside.items():
        (folder / name).write_bytes(data)
    # As after a crash that left both.
    crashed = State(state.root / "crashed")
    left = crashed.root / "agents" / "main" / "agent"
    left.mkdir(parents=True)
    for one in place.parent.iterdir():
        (left / one.name).write_bytes(one.read_bytes())
    writer.close()
    assert texts(crashed)["sessions/s-2"] == ["in the log"]
    assert {one.name: one.read_bytes() for one in left.iterdir() if not one.name.endswith("-shm")} == beside
    assert len(list(left.iterdir())) == 3
    assert texts(copy)["sessions/s-2"] == ["in the log"]
    assert {one.name: one.read_bytes() for one in folder.iterdir()} == beside


def test_a_database_in_the_middle_of_a_change(state: State) -> None:
    """What was not finished is not read as if it were."""
    state.insert("s", [event("user", "finished")])
    place = state.database()
    writer = sqlite3.connect(place, isolation_level=None)
    writer.execute("PRAGMA cache_size=1")
    writer.execute("BEGIN IMMEDIATE")
    changed = said("unfinished").decode()
    writer.execute("UPDATE transcript_events SET event_json = ?", (changed,))
    insert_events(writer, "s", [event("user", f"not finished {n} " * 50) for n in range(300)], "agent:main:main")
    assert (place.parent / f"{place.name}-journal").exists()
    found = find_sources(state.path, "main")
    if not found.unread:
        assert [t.text for t in read_transcript(found.sources["sessions/s"]).turns] == ["finished"]
    writer.execute("ROLLBACK")
    writer.close()
    assert texts(state) == {"sessions/s": ["finished"]}


def test_a_database_that_is_none(state: State) -> None:
    place = state.root / "agents" / "main" / "agent" / "openclaw-agent.sqlite"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"not a database, but long enough to be looked at as one" * 100)
    state.write("a.jsonl", said("still read"))
    found = find_sources(state.path, "main")
    assert list(found.sources) == ["sessions/a.jsonl"]
    assert "cannot be read" in found.unread[0]
    assert (found.folder, found.database) == (True, False)
