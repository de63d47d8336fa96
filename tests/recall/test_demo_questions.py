"""Questions about the demo workspace: how many find the line that answers among the first five results."""

from __future__ import annotations

import json
from pathlib import Path

CASES = Path(__file__).parent.parent / "cases" / "demo_questions.jsonl"
FIRST = 5
#: What is reached, rounded down to a whole 5 percent. It may only rise.
SHARE = 0.95


def lines(citation: str) -> tuple[str, range]:
    path, _, span = citation.partition("#L")
    first, _, last = span.partition("-L")
    return path, range(int(first), int(last or first) + 1)


def overlap(one: str, other: str) -> bool:
    (path, own), (other_path, others) = lines(one), lines(other)
    return path == other_path and own.start < others.stop and others.start < own.stop


def test_share_of_answered_questions(demo, ask) -> None:
    rows = [json.loads(line) for line in CASES.read_text("utf-8").splitlines() if line.strip()]
    missed = []
    for row in rows:
        results = ask(demo, row["question"], k=FIRST, **row.get("args", {}))["results"]
        places = [place for result in results for place in result["places"]]
        if not any(overlap(place, expected) for place in places for expected in row["expect"]):
            missed.append(f"{row['how']} ({row['lang']}): {row['question']} -> {row['expect']}")
    share = 1 - len(missed) / len(rows)
    told = f"{len(rows) - len(missed)} of {len(rows)} answered; missed:\n" + "\n".join(missed)
    print(told)
    assert share >= SHARE, told
