"""Speed of the index of transcripts, each measure beside reading and JSON-parsing the same bytes.

usage: python benchmarks/transcripts.py [--megabytes 200] [--folder DIR] [--json]

The transcripts are generated, always the same for the same size: sessions of 2 MB whose events are what agents write
(a user's message, thinking with a tool call, tool results of up to some kilobytes, the assistant's answer). Processor
time in one process, imports done: the first index, the bytes that a growing session adds (20 kB and 100 kB, median of
several), the look that finds nothing new, and a search.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Any

from made_up import Vocabulary
from openclaw_memory.bank.transcripts.changes import Thresholds
from openclaw_memory.bank.transcripts.freshness import ask_transcripts
from openclaw_memory.bank.transcripts.index import TranscriptIndex, opened_to_read
from openclaw_memory.bank.transcripts.reading import read_transcript
from openclaw_memory.bank.transcripts.sources import find_sources
from openclaw_memory.bank.transcripts.sync import sync_transcripts
from openclaw_memory.recall.engine import rank
from openclaw_memory.recall.filters import Filters

SESSION_BYTES = 2_000_000
NOW = datetime(2026, 1, 12, 9, tzinfo=UTC)
QUESTIONS = ("what does {name} think about the {a} {b}?", "when did {name} change the {a}?", "{a} {b} {c}")


class Writer:
    """Makes up what is said, in the words of the other workspaces that are measured."""

    def __init__(self) -> None:
        self.words = Vocabulary(200)
        self.random = self.words.random
        self.when = datetime(2025, 1, 1, tzinfo=UTC)

    def text(self, least: int, most: int) -> str:
        """So many sentences of about a dozen words."""
        return " ".join(self.words.sentence() for _ in range(self.random.randint(least, most)))

    def event(self, role: str, *content: dict[str, Any]) -> bytes:
        message = {"role": role, "content": content, "timestamp": int(self.when.timestamp() * 1000)}
        told = {"type": "message", "id": f"{self.random.getrandbits(32):08x}", "message": message}
        return json.dumps(told).encode() + b"\n"

    def turn(self) -> bytes:
        """A user's message, what the assistant does, and its answer."""
        chance = self.random
        self.when += timedelta(minutes=chance.randint(1, 60))
        events = [self.event("user", {"type": "text", "text": self.text(1, 3)})]
        for _ in range(chance.choice([0, 1, 1, 2, 4])):
            call = {"type": "toolCall", "name": "exec", "arguments": {"command": self.text(1, 1)}}
            events.append(self.event("assistant", {"type": "thinking", "thinking": self.text(3, 3)}, call))
            events.append(self.event("toolResult", {"type": "text", "text": self.text(2, 50)}))
        events.append(self.event("assistant", {"type": "text", "text": self.text(2, 16)}))
        return b"".join(events)

    def turns(self, size: int) -> bytes:
        told: list[bytes] = []
        while sum(map(len, told)) < size:
            told.append(self.turn())
        return b"".join(told)


def write_sessions(folder: str, size: int, writer: Writer) -> list[str]:
    os.makedirs(folder)
    places: list[str] = []
    left = size
    while left > 0:
        data = writer.turns(min(left, SESSION_BYTES))
        places.append(os.path.join(folder, f"{len(places):04d}.jsonl"))
        with open(places[-1], "wb") as file:
            file.write(data)
        left -= len(data)
    return places


def parsed(place: str, start: int = 0) -> int:
    """The peer: every line from ``start`` on read and parsed."""
    count = 0
    with open(place, "rb") as file:
        file.seek(start)
        for line in file:
            json.loads(line)
            count += 1
    return count


def seconds(work: Callable[[], Any]) -> float:
    """Of the processor: other work on the machine does not count."""
    start = time.process_time()
    work()
    return time.process_time() - start


def measure(size: int, folder: str) -> list[dict[str, Any]]:
    writer = Writer()
    places = write_sessions(os.path.join(folder, "agents", "main", "sessions"), size, writer)
    total = sum(os.path.getsize(place) for place in places)
    index = TranscriptIndex(folder, "main")
    small = TranscriptIndex(folder, "warm")
    write_sessions(os.path.join(folder, "agents", "warm", "sessions"), 50_000, Writer())
    sync_transcripts(small)
    rows = []

    def row(measure: str, ours: float, peer: float, **more: Any) -> None:
        rows.append({"measure": measure, "seconds": ours, "peer": peer, "ratio": ours / peer if peer else None, **more})

    sum(map(parsed, places[:2]))
    peer = seconds(lambda: sum(map(parsed, places)))
    first = seconds(lambda: sync_transcripts(index))
    connection = opened_to_read(index)
    assert connection is not None
    passages = connection.execute("SELECT count(*) FROM passages").fetchone()[0]
    connection.close()
    more = {"MB/s": total / 1e6 / first, "messages": passages, "index_MB": os.path.getsize(index.index_path) / 1e6}
    row(f"first index of {total / 1e6:.0f} MB", first, peer, **more)
    for added in (20_000, 100_000):
        ours, theirs = [], []
        for number in range(7):
            place = places[number % len(places)]
            end = os.path.getsize(place)
            with open(place, "ab") as file:
                file.write(writer.turns(added))
            theirs.append(seconds(lambda place=place, end=end: parsed(place, end)))
            ours.append(seconds(lambda: sync_transcripts(index)))
        row(f"{added // 1000} kB more", median(ours), median(theirs))
    limits = Thresholds()
    look = median(seconds(lambda: ask_transcripts(index, lambda _: None, thresholds=limits)) for _ in range(9))
    row("a look, nothing new", look, peer)
    said = [turn.text for turn in read_transcript(find_sources(folder, "main").sources["sessions/0000.jsonl"]).turns]
    queries = [writer.words.question(QUESTIONS[number % 3], said)[0] for number in range(20)]

    def ask(query: str) -> None:
        ask_transcripts(
            index, lambda connection: rank(index, connection, query, now=NOW, filters=Filters()), thresholds=limits
        )

    for query in queries:
        ask(query)
    row("a search", median(seconds(lambda query=query: ask(query)) for query in queries), peer)
    return rows


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--megabytes", type=float, default=200)
    arguments.add_argument("--folder", default="", help="an empty folder to work in (default: a temporary one)")
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        rows = measure(int(given.megabytes * 1e6), given.folder or temporary)
    if given.json:
        print(json.dumps(rows, indent=2))
        return 0
    for one in rows:
        named = [f"{key} {one[key]:,.1f}" for key in ("MB/s", "messages", "index_MB") if key in one]
        told = f"{one['seconds']:10.4f} s  read and parsed {one['peer']:8.4f} s  x {one['ratio']:.4f}"
        print(f"{one['measure']:28} {told}  {'  '.join(named)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
