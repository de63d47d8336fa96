"""The index of transcripts says what they say, whatever became of them; growth is read on from where it was left."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openclaw_memory.bank.errors import Busy, MemoryFault
from openclaw_memory.bank.files import writer_lock
from openclaw_memory.bank.transcripts import reading, segments, sync
from openclaw_memory.bank.transcripts.changes import Thresholds
from openclaw_memory.bank.transcripts.index import (
    Known,
    TranscriptIndex,
    cited_path,
    known_transcripts,
    opened_to_read,
    opened_to_write,
    remove,
)
from openclaw_memory.bank.transcripts.sync import Report, sync_transcripts

from .conftest import State, event, insert_events, jsonl, said


def index_of(state: State, agent: str = "main") -> TranscriptIndex:
    return TranscriptIndex(state.path, agent)


def rows(index: TranscriptIndex) -> list[tuple[Any, ...]]:
    """What the index holds, whenever and in whatever order it was put there."""
    connection = opened_to_read(index)
    assert connection is not None
    try:
        told = connection.execute(
            "SELECT f.path, p.position, p.key, p.text, p.origin, p.line, p.day, p.spans, length(v.vector)"
            " FROM passages p JOIN files f ON f.id = p.file LEFT JOIN static_vectors v ON v.passage = p.id"
            " ORDER BY f.path, p.position"
        ).fetchall()
        told += connection.execute(
            "SELECT f.path, c.line, c.end_line, c.text FROM chunks c JOIN files f ON f.id = c.file ORDER BY 1, 2, 3, 4"
        ).fetchall()
        return [tuple(row) for row in told]
    finally:
        connection.close()


def texts(index: TranscriptIndex) -> dict[str, list[tuple[int, str]]]:
    """(line, text) of each message, by the path that is cited."""
    told: dict[str, list[tuple[int, str]]] = {}
    for row in rows(index):
        if len(row) == 9:
            told.setdefault(cited_path(row[0]), []).append((row[5], row[3]))
    return told


def matches(index: TranscriptIndex, word: str) -> int:
    connection = opened_to_read(index)
    assert connection is not None
    try:
        found = connection.execute("SELECT count(*) FROM passage_terms WHERE passage_terms MATCH ?", (word,))
        return int(found.fetchone()[0])
    finally:
        connection.close()


def known(index: TranscriptIndex) -> dict[str, Known]:
    connection = opened_to_read(index)
    assert connection is not None
    try:
        return known_transcripts(connection)
    finally:
        connection.close()


def test_all_kinds_of_transcripts(state: State) -> None:
    state.write("a.jsonl", said("Where is the gannet?", "At berth 14."))
    state.write("b.jsonl.reset.2026-01-12T10-00-00.000Z", said("The mast is made of spruce."))
    state.write("c.jsonl.deleted.2026-01-12T10-00-00.000Z.zst", said("The sails are in the loft."))
    state.insert("d", [event("user", "The anchor weighs ten kilos.", "2026-01-12T10:00:00Z")])
    index = index_of(state)
    report = sync_transcripts(index)
    assert sorted(report.read) == sorted(texts(index))
    assert texts(index) == {
        "sessions/a.jsonl": [(1, "Where is the gannet?"), (2, "At berth 14.")],
        "sessions/b.jsonl.reset.2026-01-12T10-00-00.000Z": [(1, "The mast is made of spruce.")],
        "sessions/c.jsonl.deleted.2026-01-12T10-00-00.000Z.zst": [(1, "The sails are in the loft.")],
        "sessions/d": [(1, "The anchor weighs ten kilos.")],
    }
    assert sync_transcripts(index) == Report([], [], [], [], ())
    assert matches(index, "spruce") == 1


def test_nothing_to_index(state: State) -> None:
    index = index_of(state)
    assert sync_transcripts(index) == Report([], [], [], [], ())
    assert rows(index) == []


@pytest.fixture
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "SEGMENT", 400)


@pytest.mark.usefixtures("small_segments")
def test_growth_is_read_on(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the beginning of the last segment, and not from that of the file."""
    state.write("a.jsonl", said(*(f"message number {n}" for n in range(200))))
    index = index_of(state)
    sync_transcripts(index)
    size = (state.sessions() / "a.jsonl").stat().st_size
    starts: list[int] = []
    original = reading._lines

    def watched(file: Any, at: int) -> Any:
        starts.append(at)
        return original(file, at)

    monkeypatch.setattr(reading, "_lines", watched)
    state.append("a.jsonl", said("the very last"))
    assert sync_transcripts(index).read == ["sessions/a.jsonl"]
    assert starts
    assert min(starts) >= size - 500
    assert texts(index)["sessions/a.jsonl"][-1] == (201, "the very last")
    grown = rows(index)
    remove(index)
    sync_transcripts(index)
    assert rows(index) == grown


EVENTS = st.lists(
    st.sampled_from(
        [
            said("a short one"),
            said("Who painted the gannet, and when was that? " * 4),
            said("an answer of some length " * 6, start=1),
            jsonl([event("toolResult", "noise " * 80)]),
            jsonl([event("user", "[OpenClaw heartbeat poll]")]),
            jsonl([event("user", "said tomorrow", "2026-01-12T10:00:00Z")]),
            b"broken {\n",
            b"\n",
        ]
    ),
    max_size=25,
)


@given(EVENTS, st.lists(st.integers(0, 4000), max_size=4))
@settings(deadline=None, max_examples=25)
def test_growing_is_building_at_once(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], cuts: list[int]
) -> None:
    """Wherever a file was cut off when it was looked at, in the middle of a line too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "SEGMENT", 400)
        data = b"".join(parts)
        state = State(tmp_path_factory.mktemp("state"))
        index = index_of(state)
        for cut in sorted(cuts):
            state.write("a.jsonl", b"")
            with (state.sessions() / "a.jsonl").open("r+b") as file:
                file.write(data[:cut])
            sync_transcripts(index)
        with (state.sessions() / "a.jsonl" if cuts else state.write("a.jsonl", b"")).open("r+b") as file:
            file.write(data)
        sync_transcripts(index)
        grown = rows(index)
        remove(index)
        sync_transcripts(index)
        assert rows(index) == grown


def test_a_half_written_line_comes_later(state: State) -> None:
    line = said("whole", "half written")
    cut = line.index(b"half") + 2
    state.write("a.jsonl", line[:cut])
    index = index_of(state)
    sync_transcripts(index)
    assert texts(index) == {"sessions/a.jsonl": [(1, "whole")]}
    state.append("a.jsonl", line[cut:])
    sync_transcripts(index)
    assert texts(index) == {"sessions/a.jsonl": [(1, "whole"), (2, "half written")]}
    # The last line of a session that never ended.
    state.write("b.jsonl", said("no line end").rstrip(b"\n"))
    sync_transcripts(index)
    assert texts(index)["sessions/b.jsonl"] == [(1, "no line end")]
    state.append("b.jsonl", b"\n" + said("more"))
    sync_transcripts(index)
    assert texts(index)["sessions/b.jsonl"] == [(1, "no line end"), (2, "more")]


def test_a_session_that_is_closed_is_renamed(state: State) -> None:
    place = state.write("a.jsonl", said("Where is the gannet?", "At berth 14."))
    index = index_of(state)
    sync_transcripts(index)
    before = [row[1:] for row in rows(index)]
    place.rename(place.parent / "a.jsonl.reset.2026-01-12T10-00-00.000Z")
    report = sync_transcripts(index)
    assert report.renamed == [("sessions/a.jsonl", "sessions/a.jsonl.reset.2026-01-12T10-00-00.000Z")]
    assert (report.read, report.removed) == ([], [])
    assert [row[1:] for row in rows(index)] == before
    assert list(texts(index)) == ["sessions/a.jsonl.reset.2026-01-12T10-00-00.000Z"]


def test_what_is_written_anew_is_read_anew(state: State) -> None:
    place = state.write("a.jsonl", said("The old text.", "It is long enough."))
    index = index_of(state)
    sync_transcripts(index)
    place.write_bytes(said("Quite another text.", "Longer than the old one was.", "And more."))
    sync_transcripts(index)
    assert texts(index)["sessions/a.jsonl"][0] == (1, "Quite another text.")
    place.write_bytes(said("Short."))
    sync_transcripts(index)
    assert texts(index)["sessions/a.jsonl"] == [(1, "Short.")]
    assert matches(index, "old") == 0


@pytest.mark.usefixtures("small_segments")
def test_what_is_written_over_is_read_anew(state: State) -> None:
    """In place, so that only the text tells: the last segment is compared before it is read on."""
    place = state.write("a.jsonl", said(*(f"the first text {n}" for n in range(20))))
    index = index_of(state)
    sync_transcripts(index)
    assert known(index)["sessions/a.jsonl"].number > 1
    with place.open("r+b") as file:
        file.write(said(*(f"the other text {n}" for n in range(20)), "and more"))
    sync_transcripts(index)
    assert [text for _, text in texts(index)["sessions/a.jsonl"]] == [
        *(f"the other text {n}" for n in range(20)),
        "and more",
    ]


def test_deletion(state: State) -> None:
    """The rows of a transcript that is gone go, and so do the bytes of what it said."""
    kept = state.write("a.jsonl", said("The gannet is at berth 14."))
    gone = state.write("b.jsonl", said("The zanzibarite necklace is in the drawer."))
    index = index_of(state)
    sync_transcripts(index)
    assert matches(index, "zanzibarite") == 1
    gone.unlink()
    assert sync_transcripts(index).removed == ["sessions/b.jsonl"]
    assert matches(index, "zanzibarite") == 0
    assert list(texts(index)) == ["sessions/a.jsonl"]
    assert b"zanzibarite necklace" not in everything(index)
    kept.unlink()
    sync_transcripts(index)
    assert rows(index) == []


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need rights there")
def test_a_folder_that_cannot_be_read_proves_nothing(state: State) -> None:
    state.write("a.jsonl", said("The gannet is at berth 14."))
    state.insert("s", [event("user", "The mast is made of spruce.")])
    index = index_of(state)
    sync_transcripts(index)
    folder = state.sessions()
    folder.rename(folder.parent / "elsewhere")
    folder.symlink_to(folder.parent / "elsewhere")
    state.database().write_bytes(b"no database any more" * 100)
    report = sync_transcripts(index)
    assert len(report.unread) == 2
    assert report.removed == []
    assert sorted(texts(index)) == ["sessions/a.jsonl", "sessions/s"]


def everything(index: TranscriptIndex) -> bytes:
    return b"".join(one.read_bytes() for one in sorted(Path(index.root).iterdir()) if one.is_file())


def test_secrets_are_not_in_the_index(state: State) -> None:
    secrets = ["hunter2zz", "sk-proj-abcdefgh12345", "b3BlbnNzaEtFWQ", "tr0ub4dor", "c0rrecthorse"]
    state.write(
        "a.jsonl",
        said(
            f"my password is {secrets[0]} and the key {secrets[1]}",
            f"-----BEGIN OPENSSH PRIVATE KEY-----\n{secrets[2]}\n-----END OPENSSH PRIVATE KEY-----",
            f"postgres://bob:{secrets[3]}@db.example/x",
        ),
    )
    state.insert("s", [event("user", f"DB_PASS={secrets[4]}")], packed=True)
    index = index_of(state)
    sync_transcripts(index)
    data = everything(index)
    for secret in secrets:
        assert secret.encode() not in data
        assert secret[:8].lower().encode() not in data
    assert b"[redacted]" in data


@pytest.mark.skipif(sys.platform == "win32", reason="modes are another thing there")
def test_only_the_owner_may_read_it(state: State) -> None:
    state.write("a.jsonl", said("The gannet is at berth 14."))
    index = index_of(state)
    before = os.umask(0)
    try:
        connection = None
        sync_transcripts(index)
        connection = opened_to_write(index)
        for one in Path(index.root).glob("transcripts.sqlite*"):
            assert stat.S_IMODE(one.stat().st_mode) == 0o600, one
        assert stat.S_IMODE(os.stat(index.root).st_mode) == 0o700
    finally:
        os.umask(before)
        if connection:
            connection.close()


def test_agents_are_apart(state: State) -> None:
    state.write("a.jsonl", said("The gannet is at berth 14."), agent="main")
    state.write("a.jsonl", said("The heron is at berth 15."), agent="other")
    for agent in ("main", "other"):
        sync_transcripts(index_of(state, agent))
    assert texts(index_of(state, "main")) == {"sessions/a.jsonl": [(1, "The gannet is at berth 14.")]}
    assert texts(index_of(state, "other")) == {"sessions/a.jsonl": [(1, "The heron is at berth 15.")]}
    assert b"heron" not in everything(index_of(state, "main"))


def test_a_session_counts_once(state: State) -> None:
    """In a file and in the database, in an archive and its compressed copy."""
    told = ["Where is the gannet?", "At berth 14.", "Thanks to you."]
    state.write("s.jsonl", said(*told[:2]))
    state.insert("s", [event("user", told[0]), event("assistant", told[1]), event("user", told[2])])
    state.write("r.jsonl.reset.2026-01-12T10-00-00.000Z", said("The mast is made of spruce."))
    state.write("r.jsonl.reset.2026-01-12T10-00-00.000Z.zst", said("The mast is made of spruce."))
    index = index_of(state)
    sync_transcripts(index)
    found = [text for one in texts(index).values() for _, text in one]
    assert sorted(found) == sorted([*told, "The mast is made of spruce."])
    # What the file said is still said by the database when the file is gone.
    (state.sessions() / "s.jsonl").unlink()
    sync_transcripts(index)
    assert texts(index)["sessions/s"] == [(1, told[0]), (2, told[1]), (3, told[2])]
    # Another session may say the same.
    state.write("t.jsonl", said(told[1]))
    sync_transcripts(index)
    assert texts(index)["sessions/t.jsonl"] == [(1, told[1])]


def test_a_session_in_the_database_grows_and_is_rewritten(state: State) -> None:
    state.insert("s", [event("user", "one"), event("assistant", "two")])
    index = index_of(state)
    sync_transcripts(index)
    state.insert("s", [event("user", "three")])
    assert sync_transcripts(index).read == ["sessions/s"]
    assert texts(index)["sessions/s"] == [(1, "one"), (2, "two"), (3, "three")]
    connection = sqlite3.connect(state.database())
    with connection:
        connection.execute("DELETE FROM transcript_events WHERE session_id = 's'")
        insert_events(connection, "s", [event("user", "uno"), event("assistant", "due"), event("user", "tre")], "k")
        connection.execute("INSERT INTO transcript_rewrite_watermarks VALUES ('s', 'g2', 1760000000999)")
    connection.close()
    sync_transcripts(index)
    assert texts(index)["sessions/s"] == [(1, "uno"), (2, "due"), (3, "tre")]
    connection = sqlite3.connect(state.database())
    with connection:
        connection.execute("DELETE FROM transcript_events WHERE session_id = 's'")
    connection.close()
    assert sync_transcripts(index).removed == ["sessions/s"]


def test_a_session_that_is_packed_away_stays(state: State) -> None:
    state.insert("s", [event("user", "one"), event("assistant", "two")])
    index = index_of(state)
    sync_transcripts(index)
    connection = sqlite3.connect(state.database())
    with connection:
        connection.execute("CREATE TABLE session_transcript_cold_archives (session_id TEXT PRIMARY KEY)")
        connection.execute("INSERT INTO session_transcript_cold_archives VALUES ('s')")
        connection.execute("DELETE FROM transcript_events")
    connection.close()
    assert sync_transcripts(index).removed == []
    assert texts(index)["sessions/s"] == [(1, "one"), (2, "two")]


def test_a_session_that_turns_out_to_be_generated_is_taken_out(state: State) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "SEGMENT", 100)
        state.write("a.jsonl", said("before the dream", "more before the dream"))
        index = index_of(state)
        sync_transcripts(index)
        state.append("a.jsonl", jsonl([{"type": "custom", "data": {"runId": "dreaming-narrative-1"}}]))
        state.append("a.jsonl", said("the dream"))
        sync_transcripts(index)
        assert rows(index) == []


def test_sessions_of_schedules_are_left_out(state: State) -> None:
    """Where the events do not say so, ``sessions.json`` does."""
    store = {"agent:main:main": {"sessionId": "a"}, "agent:main:cron:backup:run:7": {"sessionId": "b"}, "x": None}
    (state.sessions() / "sessions.json").write_text(json.dumps(store))
    state.write("a.jsonl", said("The gannet is at berth 14."))
    state.write("b.jsonl", said("Back up the disk.", "It is done."))
    index = index_of(state)
    sync_transcripts(index)
    assert list(texts(index)) == ["sessions/a.jsonl"]
    (state.sessions() / "sessions.json").write_text("no json")
    state.append("b.jsonl", said("Once more."))
    sync_transcripts(index)
    assert list(texts(index)) == ["sessions/a.jsonl"]


def test_one_that_cannot_be_read_stops_no_other(state: State) -> None:
    state.write("a.jsonl.zst", said("x")).write_bytes(b"no zstd")
    state.write("b.jsonl", said("still read"))
    index = index_of(state)
    report = sync_transcripts(index)
    assert [path for path, _ in report.skipped] == ["sessions/a.jsonl.zst"]
    assert "compression" in report.skipped[0][1]
    assert texts(index) == {"sessions/b.jsonl": [(1, "still read")]}
    # It is not tried again until it changes.
    assert sync_transcripts(index) == Report([], [], [], [], ())
    state.write("a.jsonl.zst", said("mended"))
    assert sync_transcripts(index).read == ["sessions/a.jsonl.zst"]


def test_what_was_committed_is_kept(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is ended in the middle is gone on with."""
    monkeypatch.setattr(segments, "SEGMENT", 400)
    monkeypatch.setattr(sync, "BATCH", 1000)
    state.write("a.jsonl", said(*(f"message number {n} of a long session" for n in range(100))))
    index = index_of(state)

    def interrupted(done: int, total: int) -> None:
        if done:
            raise KeyboardInterrupt

    original = sync.parse_transcript
    calls = 0

    def failing(lines: Any, state: Any = None) -> Any:
        nonlocal calls
        calls += 1
        if calls == 20:
            raise KeyboardInterrupt
        return original(lines, state)

    monkeypatch.setattr(sync, "parse_transcript", failing)
    with pytest.raises(KeyboardInterrupt):
        sync_transcripts(index, progress=interrupted)
    kept = len(texts(index)["sessions/a.jsonl"])
    assert 0 < kept < 100
    sync_transcripts(index)
    assert [line for line, _ in texts(index)["sessions/a.jsonl"]] == list(range(1, 101))
    grown = rows(index)
    remove(index)
    sync_transcripts(index)
    assert rows(index) == grown


@pytest.mark.parametrize("damage", [b"", b"no database" * 1000, "truncated"])
def test_a_damaged_index_is_built_again(state: State, damage: bytes | str) -> None:
    state.write("a.jsonl", said("The gannet is at berth 14."))
    index = index_of(state)
    sync_transcripts(index)
    whole = rows(index)
    place = Path(index.index_path)
    data = place.read_bytes()
    place.write_bytes(data[: len(data) // 2] if isinstance(damage, str) else damage)
    sync_transcripts(index)
    assert rows(index) == whole
    assert not list(Path(index.root).glob("*.set-aside"))


def test_another_format_is_built_again(state: State) -> None:
    state.write("a.jsonl", said("The gannet is at berth 14."))
    index = index_of(state)
    sync_transcripts(index)
    whole = rows(index)
    connection = sqlite3.connect(index.index_path)
    with connection:
        connection.execute("UPDATE meta SET value = '0' WHERE key = 'transcripts'")
    connection.close()
    assert sync_transcripts(index).read == ["sessions/a.jsonl"]
    assert rows(index) == whole


def test_one_writer_at_a_time(state: State) -> None:
    state.write("a.jsonl", said("The gannet is at berth 14."))
    index = index_of(state)
    sync_transcripts(index)
    with writer_lock(index.lock_path, 0.0), pytest.raises(Busy):
        sync_transcripts(index, timeout=0.0)


def test_a_place_that_cannot_be_written(state: State) -> None:
    state.write("a.jsonl", said("The gannet is at berth 14."))
    (state.root / "agents" / "main" / "openclaw-memory").write_text("a file in the way")
    with pytest.raises(MemoryFault):
        sync_transcripts(index_of(state))


def test_skipped_lines_are_counted(state: State) -> None:
    state.write("a.jsonl", b"broken\n" + said("one") + b"{broken\n" + said("two"))
    index = index_of(state)
    sync_transcripts(index)
    assert known(index)["sessions/a.jsonl"].skipped == 2
    state.append("a.jsonl", said("three") + b"broken\n")
    sync_transcripts(index)
    assert known(index)["sessions/a.jsonl"].skipped == 3


def read_with(state: State, thresholds: Thresholds) -> list[str]:
    return sync_transcripts(index_of(state), thresholds).read


def test_thresholds(state: State) -> None:
    """A session that goes on is left until enough came; new, closed and rewritten ones are not."""
    limits = Thresholds(2000, 5)
    state.write("a.jsonl", said("first"))
    assert read_with(state, limits) == ["sessions/a.jsonl"]
    state.append("a.jsonl", said(*"abcd"))
    assert read_with(state, limits) == []
    state.append("a.jsonl", said("e"))
    assert read_with(state, limits) == ["sessions/a.jsonl"]
    state.append("a.jsonl", said("x" * 1900))
    assert read_with(state, limits) == []
    state.append("a.jsonl", said("y" * 200))
    assert read_with(state, limits) == ["sessions/a.jsonl"]
    state.append("a.jsonl", said("the last words"))
    assert read_with(state, limits) == []
    place = state.sessions() / "a.jsonl"
    place.rename(place.parent / "a.jsonl.reset.2026-01-12T10-00-00.000Z")
    assert read_with(state, limits) == ["sessions/a.jsonl.reset.2026-01-12T10-00-00.000Z"]
    state.insert("s", [event("user", "one")])
    assert read_with(state, limits) == ["sessions/s"]
    state.insert("s", [event("user", f"text {n}") for n in range(1)])
    assert read_with(state, limits) == []
    state.insert("s", [event("user", f"text {n}") for n in range(5)])
    assert read_with(state, limits) == ["sessions/s"]


@pytest.mark.parametrize("limits", [Thresholds(0, 50), Thresholds(100_000, 0)])
def test_no_threshold_is_at_once(state: State, limits: Thresholds) -> None:
    state.write("a.jsonl", said("first"))
    read_with(state, limits)
    state.append("a.jsonl", said("second"))
    assert read_with(state, limits) == ["sessions/a.jsonl"]
    state.insert("s", [event("user", "one")])
    read_with(state, limits)
    state.insert("s", [event("user", "two")])
    assert read_with(state, limits) == ["sessions/s"]
