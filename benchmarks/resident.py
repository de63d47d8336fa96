"""A workspace that stays open: how much a warm question costs over the bare SQL that it runs, whether memory grows, and
whether a writer and a reader get in each other's way.

usage: python benchmarks/resident.py [--passages 10000] [--calls 10000] [--seconds 300] [--json]

The workspace is made up (``made_up.py``). Each question's statements are recorded once, with their parameters, and
replayed bare on a connection of the same kind; facade, MCP and replay alternate, and medians are given. MCP is a
process of its own, asked by the SDK's client over stdio. What is measured is the package that this interpreter imports.
It judges nothing but what must not happen: its exit code is 1 where a fact was lost, or an
answer failed or was not whole.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any

from made_up import PER_FILE, write_workspace

from openclaw_memory import Memory

NOW = datetime.fromisoformat("2026-01-01T09:00+00:00")
#: Facts that the writer puts down at once; a reader sees all of them or none.
BATCH = 3
#: Calls after which the process has what it will keep.
WARM = 500


class Recording:
    """A connection that notes what it is asked."""

    def __init__(self, connection: Any, log: list[tuple[str, tuple[Any, ...]]]) -> None:
        self._connection, self._log = connection, log

    def execute(self, statement: str, parameters: Any = ()) -> Any:
        self._log.append((statement, tuple(parameters)))
        return self._connection.execute(statement, parameters)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


class RecordingReaders:
    """The readers of a memory, with their statements noted."""

    def __init__(self, readers: Any) -> None:
        self._readers = readers
        self.log: list[tuple[str, tuple[Any, ...]]] = []

    def ask(self, ask: Callable[[Any], Any], **options: Any) -> Any:
        return self._readers.ask(lambda connection: ask(Recording(connection, self.log)), **options)


def recorded(memory: Memory, questions: list[str]) -> list[list[tuple[str, tuple[Any, ...]]]]:
    """The statements of each question."""
    readers = memory.workspace.readers
    logs = []
    for question in questions:
        recording = RecordingReaders(readers)
        memory.workspace.readers = recording  # type: ignore[assignment]
        memory.recall(question, now=NOW)
        logs.append(recording.log)
    memory.workspace.readers = readers
    return logs


def replay(connection: Any, log: list[tuple[str, tuple[Any, ...]]]) -> None:
    connection.execute("BEGIN")
    for statement, parameters in log:
        connection.execute(statement, parameters).fetchall()
    connection.execute("ROLLBACK")


def timed(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def warm(root: Path, questions: list[str], rounds: int) -> dict[str, float]:
    """Medians in seconds: the facade, the same statements bare."""
    from openclaw_memory.bank.index import open_to_read

    with Memory(str(root)) as memory:
        for question in questions * 2:
            memory.recall(question, now=NOW)
        logs = recorded(memory, questions)
        connection = open_to_read(memory.workspace)
        assert connection is not None
        connection.execute("COMMIT")
        connection.execute(f"PRAGMA mmap_size={1 << 28}")
        ours: list[float] = []
        bare: list[float] = []
        for _ in range(rounds):
            for question, log in zip(questions, logs, strict=True):
                ours.append(timed(lambda q=question: memory.recall(q, now=NOW)))  # type: ignore[misc]
                bare.append(timed(lambda statements=log: replay(connection, statements)))  # type: ignore[misc]
        connection.close()
    return {"facade": median(ours), "sql": median(bare), "statements": median(map(len, logs))}


def over_mcp(root: Path, questions: list[str], rounds: int) -> dict[str, float]:
    """Medians in seconds: a recall over MCP, and by the facade in this process, in turn."""
    import anyio
    from mcp import Client, StdioServerParameters, stdio_client

    async def main() -> dict[str, float]:
        arguments = ["-m", "openclaw_memory", "mcp", "--workspace", str(root)]
        parameters = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))
        there: list[float] = []
        here: list[float] = []
        with Memory(str(root)) as memory:
            async with Client(stdio_client(parameters)) as client:
                for number in range(rounds + 2):
                    for question in questions:
                        start = time.perf_counter()
                        await client.call_tool("memory_recall", {"query": question})
                        passed = time.perf_counter() - start
                        local = timed(lambda q=question: memory.recall(q))  # type: ignore[misc]
                        if number > 1:
                            there.append(passed)
                            here.append(local)
        return {"mcp": median(there), "facade": median(here)}

    return anyio.run(main)


def resident_bytes() -> int:
    """The memory that this process holds (Linux)."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def growth(root: Path, questions: list[str], calls: int) -> dict[str, float]:
    """MiB held after some warm calls, and after all of them."""
    with Memory(str(root)) as memory:
        for number in range(min(WARM, calls)):
            memory.recall(questions[number % len(questions)], now=NOW)
        before = resident_bytes()
        for number in range(calls):
            memory.recall(questions[number % len(questions)], now=NOW)
        return {"before": before / 2**20, "after": resident_bytes() / 2**20, "calls": calls}


def write_facts(root: str, seconds: float, written: Any) -> None:
    """The writer: a batch of facts at a time, as long as there is time; how many batches."""
    memory = Memory(root)
    until, number = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        facts = [f"W @Quagga: Batch b{number}x holds piece {piece} of {BATCH}." for piece in range(BATCH)]
        memory.retain(facts, day=NOW.date())
        number += 1
        written.value = number
    memory.close()


def side_by_side(root: Path, seconds: float) -> dict[str, Any]:
    """One process writes, this one reads: what was written before a question is in its answer, whole."""
    context = multiprocessing.get_context("spawn")
    written = context.Value("i", 0)
    writer = context.Process(target=write_facts, args=(str(root), seconds, written))
    faults: list[str] = []
    reads = stale = 0
    with Memory(str(root)) as memory:
        writer.start()
        while writer.is_alive():
            known = written.value
            if not known:
                time.sleep(0.01)
                continue
            try:
                answer = memory.recall(f"b{known - 1}x", k=10, entity="Quagga", now=NOW)
            except Exception as error:
                faults.append(f"{type(error).__name__}: {error}")
                continue
            reads += 1
            stale += answer["stale"]
            pieces = [one for one in answer["results"] if f"Batch b{known - 1}x holds" in one["content"]]
            if len(pieces) != BATCH and not (answer["stale"] and not pieces):
                faults.append(f"batch {known - 1}: {len(pieces)} of {BATCH} pieces")
        writer.join()
        total = written.value
        memory.sync()
        log = (root / "memory" / f"{NOW.date().isoformat()}.md").read_text("utf-8")
        lost = sum(f"Batch b{n}x holds piece {p} of" not in log for n in range(total) for p in range(BATCH))
    if writer.exitcode:
        faults.append(f"the writer ended with {writer.exitcode}")
    return {"seconds": seconds, "batches": total, "reads": reads, "stale": stale, "lost": lost, "faults": faults[:10]}


def measure(passages: int, calls: int, seconds: float, rounds: int = 10) -> dict[str, Any]:
    """Everything, on a new workspace."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "workspace"
        _, asked = write_workspace(root, max(1, passages // PER_FILE))
        questions = [question for question, _ in asked]
        with Memory(str(root)) as memory:
            memory.sync()
        told: dict[str, Any] = {"passages": passages, "warm": warm(root, questions, rounds)}
        told["mcp"] = over_mcp(root, questions, rounds)
        if calls:
            told["memory"] = growth(root, questions, calls)
        told["side_by_side"] = side_by_side(root, seconds)
    return told


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    told = measure(options.passages, options.calls, options.seconds)
    if options.json:
        print(json.dumps(told, indent=2))
    else:
        one, two, side = told["warm"], told["mcp"], told["side_by_side"]
        print(f"{told['passages']} passages")
        print(f"warm recall      {one['facade'] * 1e3:6.1f} ms, bare SQL {one['sql'] * 1e3:6.1f} ms", end="")
        print(f": {one['facade'] / one['sql']:.2f} x ({one['statements']:.0f} statements)")
        print(f"over MCP         {two['mcp'] * 1e3:6.1f} ms, facade   {two['facade'] * 1e3:6.1f} ms", end="")
        print(f": {two['mcp'] / two['facade']:.2f} x")
        if "memory" in told:
            grown = told["memory"]
            print(
                f"memory           {grown['before']:.1f} MiB, after {grown['calls']} calls {grown['after']:.1f} MiB",
                end="",
            )
            print(f": {grown['after'] / grown['before'] - 1:+.1%}")
        print(f"side by side     {side['seconds']:.0f} s: {side['batches']} batches, {side['reads']} reads", end="")
        print(f", {side['stale']} stale, {side['lost']} lost, {len(side['faults'])} faults")
        for fault in side["faults"]:
            print(f"  {fault}")
    return 1 if told["side_by_side"]["lost"] or told["side_by_side"]["faults"] else 0


if __name__ == "__main__":
    sys.exit(main())
